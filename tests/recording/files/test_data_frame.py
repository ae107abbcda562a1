"""Recordings and frames of pandas: nothing is lost on the way, and a frame is read as a file with its columns is."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas
import pyarrow.parquet
import pytest

from iparam.errors import FileFormatError, InputError, IparamError, MissingExtraError
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.remarks import remark

FAN = remark("samples-dropped", signal="fan_speed", count=3)


@pytest.fixture
def recording() -> Recording:
    rng = np.random.default_rng(5)
    time = 0.1 + np.cumsum(rng.uniform(0.001, 0.003, 2000))
    signals = {
        "q": Signal(time, np.sin(time)[:, None] * rng.normal(size=6), "rad", "joint"),
        "wrench": Signal(time[::3], rng.normal(size=(667, 6)), "N, N m", "flange"),
        "fan_speed": Signal(time[::100], rng.normal(size=(20, 2)), "rpm", ""),
    }
    return Recording("ur5e", signals, {"seed": 5, "tool_frame": "flange"}, (FAN,))


def assert_same(found: Recording, expected: Recording) -> None:
    assert found.signals.keys() == expected.signals.keys()
    for name, signal in expected.signals.items():
        np.testing.assert_array_equal(found.signal(name).time, signal.time)
        np.testing.assert_array_equal(found.signal(name).values, signal.values)
        assert (found.signal(name).unit, found.signal(name).frame) == (signal.unit, signal.frame)
    assert found.robot == expected.robot
    assert found.metadata == expected.metadata


def test_there_and_back_is_exact(recording: Recording) -> None:
    frame = recording.to_pandas()
    assert list(frame.columns[:2]) == ["time", "q0"]
    assert frame["fx"].notna().sum() == 667
    back = Recording.from_pandas(frame)
    assert_same(back, recording)
    assert back.remarks[0] == FAN
    assert_same(Recording.from_pandas(frame.set_index("time")), recording)


def test_an_arrow_table_is_a_recording_on_disk(recording: Recording, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(recording.to_arrow(), tmp_path / "run.parquet")
    assert_same(Recording.load(tmp_path / "run.parquet"), recording)


def frame_like_csv() -> pandas.DataFrame:
    time = np.arange(500) / 100.0
    angles = {f"q{i} [deg]": 40.0 * np.sin(time + i) for i in range(6)}
    return pandas.DataFrame({"time [ms]": 1e3 * time, **angles, "note": ["x"] * 500})


def test_a_frame_is_read_as_the_csv_of_it(tmp_path: Path) -> None:
    frame = frame_like_csv()
    frame.to_csv(tmp_path / "run.csv", index=False)
    expected, found = Recording.load(tmp_path / "run.csv", robot="ur5e"), Recording.from_pandas(frame, robot="ur5e")
    assert_same(found, expected)
    np.testing.assert_allclose(found.signal("q").values[:, 0], np.radians(40.0 * np.sin(np.arange(500) / 100.0)))
    assert "units-converted" in [one.code for one in found.remarks]


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (lambda frame: frame.rename(columns={"time [ms]": "zeit"}), {}),
        (lambda frame: frame[["time [ms]"]], {}),
        (lambda frame: frame.drop(columns="q5 [deg]"), {"robot": "ur5e"}),
        (lambda frame: frame, {"angles": "radians"}),
        (lambda frame: frame, {"angles": "gradians"}),
        (lambda frame: frame, {"time_unit": "us"}),
        (lambda frame: frame[:0], {}),
    ],
)
def test_what_a_csv_is_refused_for_a_frame_is(change: object, options: dict[str, str], tmp_path: Path) -> None:
    frame = change(frame_like_csv())  # type: ignore[operator]
    frame.to_csv(tmp_path / "run.csv", index=False)
    with pytest.raises(IparamError) as of_file:
        Recording.load(tmp_path / "run.csv", **options)  # type: ignore[arg-type]
    with pytest.raises(type(of_file.value)):
        Recording.from_pandas(frame, **options)


def test_headers_of_other_names_and_cells_without_a_number() -> None:
    frame = pandas.DataFrame(
        {"stamp": np.arange(200) / 100.0, **{f"pos_{i}": np.sin(0.05 * np.arange(200.0)) for i in range(6)}}
    )
    frame.loc[3, "pos_2"] = np.nan
    found = Recording.from_pandas(frame, robot="ur5e", map="time=stamp,q=pos_*")
    assert found.signal("q").num_samples == 199
    assert [one.values["count"] for one in found.remarks if one.code == "samples-not-finite"] == [1]


def test_units_in_the_attributes_of_a_frame() -> None:
    frame = pandas.DataFrame(
        {"time": np.arange(200) / 100.0, **{f"q{i}": 30.0 * np.sin(0.05 * np.arange(200.0)) for i in range(6)}}
    )
    frame.attrs = {"units": {f"q{i}": "deg" for i in range(6)}, "robot": "ur5e"}
    found = Recording.from_pandas(frame)
    assert found.robot == "ur5e"
    np.testing.assert_allclose(found.signal("q").values[:, 0], np.radians(frame["q0"]))


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"time": [0.0]}, InputError, "pandas.DataFrame, got dict"),
        (pandas.DataFrame(np.zeros((3, 2))), InputError, "names as text.*got 0"),
        (pandas.DataFrame(np.zeros((3, 3)), columns=["time", "q0", "q0"]), FileFormatError, "'q0' more than once"),
        (pandas.DataFrame({"time": [0.0, 1.0], "q0": [1.0, "a"]}), FileFormatError, "the frame"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(given: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Recording.from_pandas(given)


def test_attributes_that_json_cannot_hold_are_refused() -> None:
    frame = frame_like_csv()
    frame.attrs = {"iparam": object()}
    with pytest.raises(InputError, match="attrs"):
        Recording.from_pandas(frame)


def test_without_pandas_the_extra_is_named(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for call in (recording.to_pandas, lambda: Recording.from_pandas(object())):
        with pytest.raises(MissingExtraError, match=r"pandas.*iparam\[pandas\]"):
            call()
    assert recording.to_arrow().num_rows == 2000


def test_a_recording_without_signals_is_no_table() -> None:
    with pytest.raises(InputError, match="no signals"):
        Recording("").to_arrow()
