"""A time that is not in seconds is found by dates, by velocities, and by what an arm can do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from iparam.errors import ContradictionError
from iparam.recording import Recording, Signal
from iparam.recording.units import time_hint

FACTORS = {"ms": 1e3, "us": 1e6, "ns": 1e9, "min": 1 / 60}


def saved(path: Path, factor: float = 1.0, begin: float = 0.0, names: tuple[str, ...] = ("q", "dq")) -> Path:
    """3 s at 500 Hz of six joints at up to 1.5 rad/s with some noise, whose time is multiplied."""
    time = np.arange(1500) / 500
    phase = np.outer(time, [1.0, 1.3, 0.8, 1.5, 1.1, 0.9]) + np.arange(6)
    rng = np.random.default_rng(0)
    values = {
        "q": 0.7 * np.sin(2 * phase) + rng.normal(0, 1e-5, (1500, 6)),
        "dq": 1.4 * np.cos(2 * phase) * [1.0, 1.3, 0.8, 1.5, 1.1, 0.9] + rng.normal(0, 1e-3, (1500, 6)),
    }
    signals = {name: Signal(factor * time + begin, values[name], frame="joint") for name in names}
    Recording(
        "", {name: Signal(s.time, s.values, "rad" if name == "q" else "rad/s", "joint") for name, s in signals.items()}
    ).save(path)
    return path


@pytest.mark.parametrize("begin", [0.0, 12.5, 1.75e9])
def test_seconds_are_taken_in_silence(tmp_path: Path, begin: float) -> None:
    """From zero, or from any time, the seconds since 1970 too."""
    assert Recording.load(saved(tmp_path / "run.csv", begin=begin), robot="ur5e").remarks == ()


@pytest.mark.parametrize("unit", FACTORS)
def test_velocities_tell_the_unit(tmp_path: Path, unit: str) -> None:
    path = saved(tmp_path / "run.csv", FACTORS[unit])
    with pytest.raises(ContradictionError) as refused:
        Recording.load(path)
    assert refused.value.fix == {"time_unit": unit}
    found = Recording.load(path, time_unit=unit)  # type: ignore[arg-type]
    assert found.remarks == ()
    np.testing.assert_allclose(found.signal("q").time, np.arange(1500) / 500, rtol=1e-14)
    said = [one.fix for one in Recording.load(path, time_unit="s").remarks if one.code == "time-unit-doubtful"]
    assert {"time_unit": unit} in said  # said, and not refused: the unit was given


def test_joints_that_do_not_tell_are_not_asked(tmp_path: Path) -> None:
    """Dead velocities, of the wrong sign, and noise of the size of the signal itself: the other joints tell."""
    recording = Recording.load(saved(tmp_path / "run.csv"))
    dq = recording.signal("dq").values.copy()
    dq[:, 0], dq[:, 1] = 0.0, -dq[:, 1]
    dq[:, 2:] += np.random.default_rng(0).normal(0.0, 1.0, (1500, 4))
    odd = Recording().with_signal("q", time=1e3 * recording.signal("q").time, values=recording.signal("q").values)
    odd.with_signal("dq", time=odd.signal("q").time, values=dq).save(tmp_path / "odd.csv")
    with pytest.raises(ContradictionError) as refused:
        Recording.load(tmp_path / "odd.csv")
    assert refused.value.fix == {"time_unit": "ms"}


def test_degrees_beside_a_time_in_ms(tmp_path: Path) -> None:
    recording = Recording.load(saved(tmp_path / "run.csv"))
    time = 1e3 * recording.signal("q").time
    odd = Recording().with_signal("q", time=time, values=0.01 * np.degrees(recording.signal("q").values))
    odd.with_signal("dq", time=time, values=0.01 * recording.signal("dq").values).save(tmp_path / "odd.csv")
    with pytest.raises(ContradictionError) as refused:
        Recording.load(tmp_path / "odd.csv")
    assert refused.value.fix == {"time_unit": "ms"}
    (note,) = Recording.load(tmp_path / "odd.csv", time_unit="ms").remarks
    assert (note.code, note.values["signal"], note.values["other"]) == ("angles-from-degrees", "q", "dq")
    assert note.values["scale"] == pytest.approx(np.pi / 180.0, rel=1e-3)


@pytest.mark.parametrize(("key", "unit"), [("rate", "ms"), ("sample_rate_hz", "us"), ("sampling_rate", "min")])
def test_a_stated_rate_tells_the_unit(tmp_path: Path, key: str, unit: str) -> None:
    time = FACTORS[unit] * np.arange(300) / 500
    made = Recording(metadata={key: 500}).with_signal("q", time=time, values=np.zeros((300, 6)))
    made.save(tmp_path / "run.parquet")
    with pytest.raises(ContradictionError) as refused:
        Recording.load(tmp_path / "run.parquet")
    assert refused.value.fix == {"time_unit": unit}
    found = Recording.load(tmp_path / "run.parquet", time_unit=unit)  # type: ignore[arg-type]
    assert found.rate("q") == pytest.approx(500)
    assert found.remarks == ()


def test_a_rate_that_is_only_another_one_is_no_other_unit(tmp_path: Path) -> None:
    made = Recording(metadata={"rate": 125}).with_signal("q", time=np.arange(300) / 500, values=np.zeros((300, 6)))
    made.save(tmp_path / "run.parquet")
    assert Recording.load(tmp_path / "run.parquet").remarks == ()


@pytest.mark.parametrize(("factor", "unit"), [(1e6, "us"), (1e-3, "min")])
def test_impossible_rates_are_refused(tmp_path: Path, factor: float, unit: str) -> None:
    path = saved(tmp_path / "run.csv", factor, names=("q",))
    with pytest.raises(ContradictionError) as refused:
        Recording.load(path)
    assert refused.value.fix == {"time_unit": unit}
    assert Recording.load(path, time_unit="s").remarks[0].code == "time-unit-doubtful"


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_dates_tell_the_unit(tmp_path: Path, unit: str) -> None:
    path = saved(tmp_path / "run.csv", FACTORS[unit], 1.75e9 * FACTORS[unit], ("q",))
    with pytest.raises(ContradictionError) as refused:
        Recording.load(path)
    assert refused.value.fix == {"time_unit": unit}


@pytest.mark.parametrize("factor", [1e-3, 1 / 60])
def test_an_arm_is_not_that_fast(tmp_path: Path, factor: float) -> None:
    path = saved(tmp_path / "run.csv", factor, names=("q",))
    with pytest.raises(ContradictionError, match=r"q0 .* ur5e .* 3\.142") as refused:
        Recording.load(path, robot="ur5e")
    assert refused.value.argument == "time_unit"
    assert Recording.load(path, robot="ur5e", angles="radians", time_unit="s").has(
        "q"
    )  # told to take the angles as they are


def test_without_velocities_an_odd_rate_is_told_once(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.csv", 1e3, names=("q",))
    (said,) = Recording.load(path, robot="ur5e").remarks
    assert (said.code, said.fix) == ("time-unit-doubtful", {"time_unit": "ms"})
    assert "500 Hz" in said.message


def test_degrees_on_request_leave_velocities_that_are_in_rad(tmp_path: Path) -> None:
    recording = Recording.load(saved(tmp_path / "run.csv"))
    q = recording.signal("q")
    recording.with_signal("q", time=q.time, values=np.degrees(q.values)).save(tmp_path / "odd.csv")
    found = Recording.load(tmp_path / "odd.csv", angles="degrees")
    for name in ("q", "dq"):
        np.testing.assert_allclose(found.signal(name).values, recording.signal(name).values, rtol=1e-12)
    assert [(one.code, one.values) for one in found.remarks] == [("angles-left-in-rad", {"lower": "q", "higher": "dq"})]


@pytest.mark.parametrize("factor", [180 / np.pi, np.pi / 180])
def test_velocities_or_angles_alone_in_degrees_are_converted(tmp_path: Path, factor: float) -> None:
    recording = Recording.load(saved(tmp_path / "run.csv"))
    time, dq = recording.signal("dq").time, recording.signal("dq").values
    names = ("dq", "q") if factor > 1 else ("q", "dq")
    alone = recording.signal(names[0]).values
    recording.with_signal(names[0], time=time, values=np.degrees(alone)).save(tmp_path / "odd.csv")
    for robot in (None, "ur5e"):
        found = Recording.load(tmp_path / "odd.csv", robot=robot)
        for name in names:
            np.testing.assert_allclose(found.signal(name).values, recording.signal(name).values, rtol=1e-12)
        (note,) = found.remarks
        assert (note.code, note.values["signal"], note.values["other"]) == ("angles-from-degrees", *names)
    kept = Recording.load(tmp_path / "odd.csv", angles="radians").remarks[0]
    assert (kept.code, kept.fix) == ("time-unit-doubtful", None)
    assert f"{names[0]} is in deg" in kept.message
    recording.with_signal("dq", time=time, values=3.0 * dq).save(tmp_path / "odd.csv")
    (odd,) = Recording.load(tmp_path / "odd.csv").remarks
    assert (odd.code, odd.values["higher"], odd.values["lower"]) == ("scales-disagree", "dq", "q")
    assert odd.values["scale"] == pytest.approx(3.0, rel=1e-2)


def test_velocities_that_tell_nothing_are_passed_over(tmp_path: Path) -> None:
    """Zeros, as a driver sends that does not measure them, and those of an arm that stands still."""
    recording = Recording.load(saved(tmp_path / "run.csv"))
    time = recording.signal("dq").time
    recording.with_signal("dq", time=time, values=np.zeros((1500, 6))).save(tmp_path / "zero.csv")
    assert Recording.load(tmp_path / "zero.csv").remarks == ()
    still = recording.with_signal("q", time=time, values=np.random.default_rng(1).normal(0, 1e-5, (1500, 6)))
    still.save(tmp_path / "still.csv")
    assert Recording.load(tmp_path / "still.csv").remarks == ()


def test_the_hint_asks_where_data_have_proved_useless() -> None:
    time = np.arange(100.0)  # 1 kHz in ms
    assert "1000 Hz" in time_hint(time)
    assert time_hint(0.5 * time) == ""
    assert "2000 Hz" in time_hint(0.5 * time, slowest=20.0)
    assert time_hint(0.01 * time, slowest=20.0) == ""
    assert time_hint(time[:2]) == ""
    assert " ns" not in time_hint(1e9 * time)
