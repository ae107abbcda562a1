"""Names in any case, and units behind them: what a header says counts, and is converted or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from iparam.errors import ContradictionError, FileFormatError
from iparam.recording import Recording
from iparam.recording.files.headers import bare_header, read_headers

COUNT = 300
TIME = np.arange(COUNT) / 100
Q = 0.5 * np.sin(TIME[:, None] + np.arange(2))
DQ = 0.5 * np.cos(TIME[:, None] + np.arange(2))
WRENCH = np.random.default_rng(0).normal(size=(COUNT, 6))
AXES = ("fx", "fy", "fz", "tx", "ty", "tz")


def write(path: Path, header: list[str], *columns: np.ndarray) -> Path:
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=",".join(header), comments="", fmt="%.17g")
    return path


@pytest.mark.parametrize(
    ("header", "name", "unit"),
    [
        ("time [s]", "time", "s"),
        ("Time (ms)", "time", "ms"),
        ("time_ns", "time", "ns"),
        ("t[us]", "time", "us"),
        ("q0 (rad)", "q0", "rad"),
        ("Q3 [°]", "q3", "deg"),
        ("dq1 [deg/s]", "dq1", "deg/s"),
        ("q0_deg", "q0", "deg"),
        ("fx_N", "fx", "N"),
        ("FZ [kN]", "fz", "kN"),
        ("tx [Nmm]", "tx", "Nmm"),
        ("ty (N m)", "ty", "Nm"),
        ("ax [g]", "ax", "g"),
        ("alx [rad/s^2]", "alx", "rad/s2"),
        ("current2 [mA]", "current2", "mA"),
        ("q1 [m]", "q1", "m"),  # of a joint that slides
    ],
)
def test_a_unit_stands_behind_a_name(header: str, name: str, unit: str) -> None:
    found = read_headers([header], "log.csv")
    assert found.names == (name,)
    assert found.units == {name: unit}


@pytest.mark.parametrize(
    "header", ["pos [deg]", "q[0]", "q0_target", "fx_max", "ax_g", "temperature (C)", "[s]", "_", ""]
)
def test_what_says_nothing_stays_as_it_is(header: str) -> None:
    found = read_headers(["time", header], "log.csv")
    assert found.names == ("time", header)
    assert not found.units


def test_case_counts_where_both_are_there() -> None:
    assert read_headers(["TIME", " Q0", "FX"], "log.csv").names == ("time", "q0", "fx")
    assert read_headers(["time", "tx", "Tx", "T"], "log.csv").names == ("time", "tx", "Tx", "t")
    assert bare_header("a [b] (c)") == ("a [b]", "c")


@pytest.mark.parametrize("header", ["q0 [parsec]", "fx [Nm]", "time [fortnight]", "wx [N]"])
def test_an_unknown_unit_is_refused(header: str, tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", ["time", header] if "time" not in header else [header, "q0"], TIME, Q[:, 0])
    with pytest.raises(ContradictionError, match=r"is in '.*', which is not known for .*can be converted: .*rename it"):
        Recording.load(path)


def test_numbers_are_converted_and_that_is_told_once(tmp_path: Path) -> None:
    header = ["time [ms]", "q0 [deg]", "q1 [rad]", "dq0 (deg/s)", "dq1 (deg/s)"]
    header += [f"{axis} [{'N' if axis[0] == 'f' else 'N mm'}]" for axis in AXES]
    angles = np.column_stack([np.degrees(Q[:, 0]), Q[:, 1], np.degrees(DQ)])
    path = write(tmp_path / "log.csv", header, 1e3 * TIME, angles, WRENCH * [1, 1, 1, 1e3, 1e3, 1e3])
    found = Recording.load(path)
    for name, expected in (("q", Q), ("dq", DQ), ("wrench", WRENCH)):
        np.testing.assert_allclose(found.signal(name).values, expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(found.signal(name).time, TIME, rtol=1e-12)
    told = {"signals": "time from ms, q from deg, dq from deg/s, wrench from Nmm"}
    assert [(one.code, one.values) for one in found.remarks] == [("units-converted", told)]


def test_si_units_need_no_word_and_the_advice_can_be_followed(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", ["my stamp [s]", "p0 [deg]", "p1 [deg]"], TIME, np.degrees(Q))
    with pytest.raises(FileFormatError, match=r"map = time=my stamp \[s\]"):
        Recording.load(path)
    for given in ("time=my stamp [s],q=p?", "time=my stamp,q=p*", "time=my stamp,q=p0,p1 [deg]"):
        found = Recording.load(path, map=given)
        np.testing.assert_allclose(found.signal("q").values, Q, rtol=1e-12)
    write(path, ["time [s]", "q0 [rad]", "q1 [rad]"], TIME, Q)
    for given in (None, "time=time [s]"):
        found = Recording.load(path, map=given)
        assert found.remarks == ()
        np.testing.assert_array_equal(found.signal("q").values, Q)


def test_an_option_does_not_contradict_the_header(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", ["time [ms]", "q0 [deg]", "q1 [deg]"], 1e3 * TIME, np.degrees(Q))
    found = Recording.load(path, time_unit="ms", angles="degrees")  # said twice, converted once
    np.testing.assert_allclose(found.signal("q").values, Q, rtol=1e-12)
    with pytest.raises(ContradictionError, match="in ms by the file's header and in s as stated"):
        Recording.load(path, time_unit="s")
    with pytest.raises(ContradictionError, match="q0 is in deg by the header and in radians by angles="):
        Recording.load(path, angles="radians")
