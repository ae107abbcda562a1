"""Signals come into a recording in SI units, or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import iparam
from iparam.errors import ContradictionError
from iparam.recording import CHANNELS, Recording, Signal
from iparam.recording.units import QUANTITIES, UNITS, plain_unit

POUND, INCH = 4.4482216152605, 0.0254


def made(name: str, unit: str, width: int = 6) -> Signal:
    return Recording("", {name: Signal([0.0, 1.0], np.ones((2, width)), unit)}).signal(name)


@pytest.mark.parametrize(
    ("name", "unit", "factors"),
    [
        ("q", "deg", [np.pi / 180] * 6),
        ("q", "degrees", [np.pi / 180] * 6),
        ("dq", "deg/s", [np.pi / 180] * 6),
        ("target_ddq", "deg/s^2", [np.pi / 180] * 6),
        ("wrench", "N, Nmm", [1.0] * 3 + [1e-3] * 3),
        ("wrench", "lbf; lbf in", [POUND] * 3 + [POUND * INCH] * 3),
        ("wrench", "N", [1.0] * 6),
        ("tau", "N mm", [1e-3] * 6),
        ("current", "mA", [1e-3] * 6),
    ],
)
def test_known_units_are_converted(name: str, unit: str, factors: list[float]) -> None:
    signal = made(name, unit)
    assert signal.unit == CHANNELS[name].unit
    assert np.allclose(signal.values, factors, rtol=1e-12)


@pytest.mark.parametrize("unit", ["N, N m", ""])
def test_si_units_are_left_to_the_bit(unit: str) -> None:
    signal = Signal([0.0], np.random.default_rng(0).normal(size=(1, 6)), unit)
    assert Recording("", {"wrench": signal}).signal("wrench") is signal


@pytest.mark.parametrize(("name", "unit"), [("wrench", "lbf"), ("wrench", "N, Nm, s"), ("q", "mm"), ("tau", "foo")])
def test_other_units_are_refused_with_those_that_are_known(name: str, unit: str) -> None:
    with pytest.raises(ContradictionError, match=rf"{name} is in '{unit}', and is needed in .*can be converted"):
        made(name, unit)


def test_names_without_a_fixed_meaning_keep_their_unit() -> None:
    assert made("temperature", "degrees").unit == "degrees"
    assert made("q", "m").unit == "m"  # sliding joints


def test_units_are_known_by_many_spellings() -> None:
    spellings = {
        "Nm": ("N m", "N*m", "N·m", "N.m", "newton metre"),
        "rad/s2": ("rad/s^2", "rad/s²", "radians/sec2"),
        "deg/s": ("dps", "degrees/second", "°/s"),
        "us": ("µs", "microseconds", "usec"),
    }
    for plain, others in spellings.items():
        assert {plain_unit(other) for other in others} == {plain}


def test_every_channel_has_quantities_whose_first_unit_is_its_own() -> None:
    assert set(QUANTITIES) == set(CHANNELS)
    for name, channel in CHANNELS.items():
        parts = [plain_unit(part) for part in channel.unit.split(",")]
        assert parts == [next(iter(UNITS[quantity])) for quantity in QUANTITIES[name]]


def table_of_others(path: str, of_columns: dict[str, str], **metadata: str) -> None:
    """A table as pandas or a logger writes it."""
    columns = ["time", *(f"q{i}" for i in range(6)), "fx", "fy", "fz", "tx", "ty", "tz"]
    fields = [
        pyarrow.field(name, pyarrow.float64(), metadata={"unit": of_columns[name]} if name in of_columns else None)
        for name in columns
    ]
    rng = np.random.default_rng(0)
    arrays = [np.arange(30) / 100, *rng.normal(size=(12, 30))]
    schema = pyarrow.schema(fields, metadata=metadata or None)
    pyarrow.parquet.write_table(pyarrow.table(arrays, schema=schema), path)


def test_units_with_the_columns_of_somebody_elses_table_are_used(tmp_path: Path) -> None:
    path = str(tmp_path / "log.parquet")
    table_of_others(path, {})
    plain = Recording.load(path)
    assert (plain.robot, dict(plain.metadata)) == ("", {})
    units = {f"q{i}": "deg" for i in range(6)} | dict.fromkeys(("fx", "fy", "fz"), "N")
    units |= dict.fromkeys(("tx", "ty", "tz"), "Nmm")
    table_of_others(path, units, robot="ur5e", gravity="[0, 0, -9.8]", comment="x")
    found = Recording.load(path)
    assert np.allclose(found.signal("q").values, np.radians(plain.signal("q").values))
    assert np.allclose(found.signal("wrench").values, plain.signal("wrench").values * ([1.0] * 3 + [1e-3] * 3))
    assert (found.robot, dict(found.metadata)) == ("ur5e", {"gravity": [0, 0, -9.8]})
    table_of_others(path, {}, units='{"angle": "deg"}')
    with pytest.raises(ContradictionError, match=r"units\.angle = 'deg'"):
        Recording.load(path)
    table_of_others(path, {"time": "min"})
    assert np.allclose(Recording.load(path).signal("q").time, 60.0 * plain.signal("q").time)
    assert np.allclose(Recording.load(path, time_unit="min").signal("q").time, 60.0 * plain.signal("q").time)
    with pytest.raises(ContradictionError, match="in min by the file's metadata and in ms as stated"):
        Recording.load(path, time_unit="ms")
    table_of_others(path, {"time": "fortnights"})
    with pytest.raises(ContradictionError, match="column time is in 'fortnights' by its metadata; units that can be"):
        Recording.load(path)


def test_a_unit_in_a_file_is_refused_with_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "log.parquet")
    table_of_others(path, {"q0": "turns"})
    with pytest.raises(ContradictionError, match=r"log\.parquet: q is in 'turns'"):
        iparam.Recording.load(path)
