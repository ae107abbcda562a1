"""Where the motion comes from, by the library and by the command: one path, and instruments of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.estimation import (
    METHODS,
    Estimate,
    IdentificationError,
    compensate_wrench,
    identify_payload,
    problem_from_recording,
)
from iparam.motion.sources import (
    AccelerometerMotion,
    ButterworthMotion,
    KalmanMotion,
    MotionSource,
    SetPointMotion,
)
from iparam.recording import Recording

SOURCES = {
    "kalman": KalmanMotion(),
    "angles": KalmanMotion(angles_alone=True),
    "accelerometer": AccelerometerMotion(),
    "set-points": SetPointMotion(),
    "butterworth": ButterworthMotion(),
}


@pytest.fixture(scope="module")
def run(synthetic_recording: Callable[..., Recording], excitation: iparam.TrajectorySamples) -> Recording:
    return synthetic_recording(excitation.q, excitation.dq, excitation.ddq, rate=100.0)


@pytest.fixture(scope="module")
def path(run: Recording, ur5e, excitation: iparam.TrajectorySamples, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half of the run, with an accelerometer."""
    motion = iparam.tool_motion(ur5e, excitation.q, excitation.dq, excitation.ddq)
    proper = motion.linear_acceleration + 9.81 * motion.pose[:, 2, :3]  # what one at the tool measures, in its axes
    noise = 0.02 * np.random.default_rng(4).standard_normal(proper.shape)
    whole = run.with_signal("accelerometer", time=run.signal("q").time, values=proper + noise)
    half = Recording(robot="ur5e")
    for name, signal in whole.signals.items():
        half = half.with_signal(name, time=signal.time[:500], values=signal.values[:500])
    place = tmp_path_factory.mktemp("run") / "run.parquet"
    half.save(place)
    return place


FIRST = [("kalman", "riv"), ("accelerometer", "consistent"), ("set-points", "riv"), ("butterworth", "consistent")]


@pytest.mark.thorough(keep=len(FIRST))
@pytest.mark.parametrize(
    ("name", "method"),
    [*FIRST, *(pair for pair in product(SOURCES, ("consistent", "riv")) if pair not in FIRST)],
)
def test_the_command_is_the_library(path: Path, ur5e, name: str, method: str, capsys) -> None:
    """The command once computed the motion itself, and lost how well it is known."""
    found = identify_payload(Recording.load(path), ur5e, method, motion=SOURCES[name])
    assert main(["identify", "payload", str(path), "--motion", name, "--method", method, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.to_document()))


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", SOURCES)
def test_all_methods_at_once_are_each_by_itself(path: Path, ur5e, name: str, capsys) -> None:
    recording = Recording.load(path)
    assert main(["identify", "payload", str(path), "--motion", name, "--method", "all", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert set(printed) == set(METHODS)
    for method in METHODS:
        found = identify_payload(recording, ur5e, method, motion=SOURCES[name])
        assert printed[method] == json.loads(json.dumps(found.to_document()))


def test_a_motion_without_covariance_gets_one(run: Recording, ur5e) -> None:
    assert ButterworthMotion().motion(run, ur5e).covariance is None
    assert problem_from_recording(run, ur5e, motion=ButterworthMotion()).uncertainty is not None


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "accelerometer"])
def test_instruments_are_never_the_regressors(run: Recording, ur5e, name: str) -> None:
    problem = problem_from_recording(run, ur5e, motion=SOURCES[name], instruments=True)
    assert problem.instruments is not None
    assert not np.array_equal(problem.instruments, problem.A)


@pytest.mark.parametrize(
    ("motion", "of_set_points"),
    [
        (KalmanMotion(), "instruments"),
        (AccelerometerMotion(), "instruments"),
        (ButterworthMotion(), "instruments"),
        (SetPointMotion(), "A"),
        (AccelerometerMotion(SetPointMotion()), "A"),
    ],
)
def test_set_points_are_in_one_of_the_two_motions(path: Path, ur5e, motion: MotionSource, of_set_points: str) -> None:
    """Errors of the set points in both would be taken for the motion."""
    recording = Recording.load(path)
    targets = recording.signal("target_q")
    noise = 1e-5 * np.random.default_rng(0).standard_normal(targets.values.shape)
    noisy = recording.with_signal("target_q", time=targets.time, values=targets.values + noise)
    before, after = (problem_from_recording(one, ur5e, motion=motion, instruments=True) for one in (recording, noisy))
    for name in ("A", "instruments"):
        assert np.array_equal(getattr(before, name), getattr(after, name)) == (name != of_set_points), name


def test_instruments_need_a_second_motion(run: Recording, ur5e) -> None:
    with pytest.raises(IdentificationError, match="has no target_q: record it too, or use another method"):
        identify_payload(run.without_signal("target_q"), ur5e, "riv")
    with pytest.raises(IdentificationError, match="has no q"):
        identify_payload(run.without_signal("q"), ur5e, "riv", motion=SetPointMotion())
    finished = SetPointMotion().motion(run, ur5e)
    with pytest.raises(IdentificationError, match="the instruments are the regressors themselves"):
        identify_payload(run, ur5e, "riv", motion=finished)


@pytest.fixture(scope="module")
def whole(run: Recording, ur5e) -> Estimate:
    return identify_payload(run, ur5e)


@pytest.mark.parametrize(("signals", "gap"), [(("q",), 2.0), (("q",), 3.0), (("q", "wrench"), 3.0)])
def test_a_gap_costs_no_more_than_its_samples(
    run: Recording, whole: Estimate, ur5e, load, signals: tuple[str, ...], gap: float
) -> None:
    """Two seconds without angles made 1.7 kg of 2 kg, and three were said to be a motion that tells nothing."""
    cut = run
    for name in signals:
        signal = run.signal(name)
        kept = (signal.time <= 4.0) | (signal.time >= 4.0 + gap)
        cut = cut.with_signal(name, time=signal.time[kept], values=signal.values[kept])
    found = identify_payload(cut, ur5e)
    assert (np.abs(found.phi - load) < 4.0 * found.standard_deviation.phi).all()
    assert (found.standard_deviation.phi < 2.5 * whole.standard_deviation.phi).all()
    assert ("wrench-in-motion-gaps" in [one.code for one in found.remarks]) == (signals == ("q",))
    assert not any(one.lowers for one in found.remarks)
    clean = compensate_wrench(cut, ur5e, found).signal("wrench")
    assert np.sqrt(np.mean(clean.values[:, :3] ** 2, axis=0)).max() < 1.0  # [N], of a sensor with half of that
    assert not ((clean.time > 4.0 + 1e-9) & (clean.time < 4.0 + gap - 1e-9)).any()


def test_stretches_between_gaps_that_tell_no_acceleration_are_left_out(run: Recording, ur5e, load) -> None:
    """60 ms of every second made 1.93 +- 0.03 kg of 2 kg, and the correlation was said to be accounted for."""
    cut = run
    for name in ("q", "target_q", "wrench"):
        signal = run.signal(name)
        kept = (signal.time < 5.0) | (signal.time % 1.0 < 0.06)
        cut = cut.with_signal(name, time=signal.time[kept], values=signal.values[kept])
    found = identify_payload(cut, ur5e)
    (between,) = (one for one in found.remarks if one.code == "wrench-between-gaps")
    assert between.values["seconds"] == 0.25
    assert (np.abs(found.phi - load) < 4.0 * found.standard_deviation.phi).all()
    bursts = run
    for name in ("q", "target_q", "wrench"):
        signal = run.signal(name)
        kept = signal.time % 1.0 < 0.06
        bursts = bursts.with_signal(name, time=signal.time[kept], values=signal.values[kept])
    with pytest.raises(IdentificationError, match="only 0 wrench samples lie within the recorded motion"):
        identify_payload(bursts, ur5e)


def test_the_callers_gravity_counts_as_the_recordings_own(run: Recording, ur5e) -> None:
    """Also in the choice of how to smooth the angles, by what predicts the wrench: a gravity of 15 m/s^2 predicts it
    well only where the acceleration is wrong, too.
    """
    other = np.array([0.0, 0.0, -15.0])
    stated = problem_from_recording(run.with_metadata(gravity=other.tolist()), ur5e)
    given = problem_from_recording(run, ur5e, gravity=other)
    np.testing.assert_array_equal(given.A, stated.A)
