"""Estimates say their arm, frame and data, and are not used with others, twice, or against what they say."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError
from iparam.estimation import Estimate, compensate_wrench, fuse_estimates, identify_payload
from iparam.estimation.assessment.applicability import check_frame
from iparam.estimation.errors import NotIdentifiableError
from iparam.estimation.static.identify import identify_static
from iparam.motion.motion import MotionEstimate
from iparam.recording import Recording


@pytest.fixture(scope="module")
def motion(excitation: iparam.TrajectorySamples) -> MotionEstimate:
    return MotionEstimate(excitation.time, excitation.q, excitation.dq, excitation.ddq)


@dataclasses.dataclass(frozen=True)
class KnownMotion:
    """A source that was there."""

    known: MotionEstimate

    def motion(self, recording: Recording, robot: iparam.Robot) -> MotionEstimate:
        return self.known


@pytest.fixture(scope="module")
def make_run(ur5e: iparam.Robot, load: np.ndarray, excitation: iparam.TrajectorySamples) -> Callable[..., Recording]:
    def make(seed: int = 0, robot: str = "ur5e", **metadata: object) -> Recording:
        y = iparam.wrench_regressor(ur5e, excitation.q, excitation.dq, excitation.ddq) @ load
        y = y + np.random.default_rng(seed).normal(size=y.shape) * ([0.5] * 3 + [0.05] * 3)
        made = Recording(robot, metadata={"source": "simulation", **metadata})
        made = made.with_signal("q", time=excitation.time, values=excitation.q)
        return made.with_signal("wrench", time=excitation.time, values=y)

    return make


@pytest.fixture(scope="module")
def estimate(make_run: Callable[..., Recording], motion: MotionEstimate) -> Estimate:
    return identify_payload(make_run(), method="wls", motion=motion)


def test_an_estimate_says_its_arm_frame_and_data(
    estimate: Estimate, make_run: Callable[..., Recording], tmp_path: Path
) -> None:
    assert (estimate.robot, estimate.frame) == ("ur5e", "tool0")
    assert estimate.measurements == (make_run().signal("wrench").fingerprint,)
    assert estimate.remarks == ()
    estimate.save(tmp_path / "result.json")
    again = Estimate.load(tmp_path / "result.json")
    assert (again.robot, again.frame, again.measurements) == (estimate.robot, estimate.frame, estimate.measurements)
    make_run().save(tmp_path / "run.csv")
    assert Recording.load(tmp_path / "run.csv").signal("wrench").fingerprint in again.measurements


def test_another_arm_gravity_or_delay_is_refused(make_run: Callable[..., Recording], motion: MotionEstimate) -> None:
    with pytest.raises(ContradictionError, match="belongs to a ur5e, and ur5 is another arm"):
        identify_payload(make_run(), "ur5", motion=motion)
    with pytest.raises(ContradictionError, match=r"gravity is .* as given"):
        identify_payload(make_run(gravity=[0, 0, -1.62]), motion=motion, gravity=(0, 0, -9.81))
    with pytest.raises(ContradictionError, match=r"a delay of 4 s.*is it in ms"):
        identify_payload(make_run(), motion=motion, delay=4.0)


def test_the_gravity_of_the_recording_is_used(
    ur5e: iparam.Robot, load: np.ndarray, excitation: iparam.TrajectorySamples, motion: MotionEstimate
) -> None:
    wall = (9.81, 0.0, 0.0)
    y = iparam.wrench_regressor(ur5e, excitation.q, excitation.dq, excitation.ddq, wall) @ load
    y = y + np.random.default_rng(0).normal(size=y.shape) * ([0.5] * 3 + [0.05] * 3)
    made = Recording("ur5e", metadata={"gravity": list(wall)}).with_signal(
        "q", time=excitation.time, values=excitation.q
    )
    found = identify_payload(made.with_signal("wrench", time=excitation.time, values=y), method="wls", motion=motion)
    assert abs(found.mass - load[0]) < 4.0 * found.standard_deviation.mass
    assert "gravity-unusual" not in [one.code for one in found.remarks], "a mounting that is stated is no doubt"


@pytest.mark.parametrize(
    ("scales", "code"), [([1.0] * 3 + [1e3] * 3, "lever-too-long"), ([1e3] * 6, "forces-too-large")]
)
def test_wrenches_in_other_units_are_told_by_what_an_arm_can_hold(
    scales: list[float], code: str, make_run: Callable[..., Recording], motion: MotionEstimate
) -> None:
    wrench = make_run().signal("wrench")
    odd = make_run().with_signal("wrench", time=wrench.time, values=scales * wrench.values)
    found = identify_payload(odd, method="wls", motion=motion)
    assert code in [one.code for one in found.remarks if one.lowers]


def slowed(
    recording: Recording, motion: MotionEstimate, factor: float, known: float
) -> tuple[Recording, MotionEstimate]:
    """A recording and its motion whose time is in another unit: slower, and accelerating less, by its powers."""
    for name in ("q", "wrench"):
        signal = recording.signal(name)
        recording = recording.with_signal(name, time=factor * signal.time, values=signal.values)
    covariance = np.full((6, 3, 3), known**2) * np.eye(3)
    return recording, MotionEstimate(
        factor * motion.time, motion.q, motion.dq / factor, motion.ddq / factor**2, covariance
    )


def test_a_time_in_other_units_is_refused_or_told(make_run: Callable[..., Recording], motion: MotionEstimate) -> None:
    """In ms 100 Hz are a sample every 10 s; in a unit that is less absurd, what comes out of it is."""
    recording, slow = slowed(make_run(), motion, 1e3, 1e-9)
    with pytest.raises(ContradictionError, match=r"a sample every 10 s\. .* in ms, .* 100 Hz"):
        identify_payload(recording, method="wls", motion=slow)
    recording, slow = slowed(make_run(), motion, 50.0, 1e-2)
    with pytest.raises(NotIdentifiableError, match=r"a sample every 0\.5 s\. .* in seconds: .*faster"):
        identify_payload(recording, method="wls", motion=slow, partial=False)
    part = identify_payload(recording, method="wls", motion=slow)
    assert "time-unit-doubtful" in [one.code for one in part.remarks]
    recording, slow = slowed(make_run(), motion, 50.0, 1e-9)
    found = identify_payload(recording, method="wls", motion=slow)
    assert "load-larger-than-arm" in [one.code for one in found.remarks]


def test_a_rest_in_which_the_arm_turns_is_none(ur5e: iparam.Robot, make_run: Callable[..., Recording]) -> None:
    recording = make_run()
    for name in ("q", "wrench"):
        signal = recording.signal(name)
        recording = recording.with_signal(name, time=1e3 * signal.time, values=signal.values)
    with pytest.raises(ContradictionError, match=r"seems to rest, and turns by .* rad: .* in ms, .* 100 Hz"):
        identify_static(recording, ur5e)


def test_one_measurement_does_not_count_twice(
    estimate: Estimate, make_run: Callable[..., Recording], motion: MotionEstimate
) -> None:
    with pytest.raises(ContradictionError, match="results 1 and 2 are the same result"):
        fuse_estimates([estimate, dataclasses.replace(estimate, measurements=())])
    other_method = identify_payload(make_run(), method="ls", motion=motion)
    with pytest.raises(ContradictionError, match="results 1 and 2 come from the same measured signal"):
        fuse_estimates([estimate, other_method])
    other_run = identify_payload(make_run(1), method="wls", motion=motion)
    fused = fuse_estimates([estimate, other_run])
    assert (fused.robot, fused.frame) == ("ur5e", "tool0")
    assert fused.standard_deviation.mass < estimate.standard_deviation.mass
    with pytest.raises(ContradictionError, match="results 1 and 2 come from the same"):
        fuse_estimates([fused, other_run])


def test_estimates_of_other_frames_are_not_fused_and_of_other_arms_only_with_a_word(
    estimate: Estimate, make_run: Callable[..., Recording], motion: MotionEstimate
) -> None:
    other = identify_payload(make_run(1), method="wls", motion=motion)
    with pytest.raises(ContradictionError, match="different frames, 'flange' and 'tool0'"):
        fuse_estimates([estimate, dataclasses.replace(other, frame="flange")])
    fused = fuse_estimates([estimate, dataclasses.replace(other, robot="ur10e")])
    (arms,) = (one for one in fused.remarks if one.code == "estimates-of-different-arms")
    assert arms.values["arms"] == "ur10e, ur5e"
    assert fused.robot == ""


def test_a_load_is_taken_out_once(
    estimate: Estimate, make_run: Callable[..., Recording], motion: MotionEstimate, ur5e: iparam.Robot
) -> None:
    source = KnownMotion(motion)
    clean = compensate_wrench(make_run(), ur5e, estimate, motion=source)
    assert clean.remarks == ()
    with pytest.raises(ContradictionError, match=r"a load of 2\.\d+ kg has been taken out of this wrench already"):
        compensate_wrench(clean, ur5e, estimate, motion=source)
    rest = identify_payload(clean, method="ls", motion=motion)
    assert "load-already-removed" in [one.code for one in rest.remarks]
    twice = compensate_wrench(clean, ur5e, rest, motion=source)  # what was found in what the first left
    assert twice.metadata["compensated_mass_kg"] == pytest.approx(estimate.mass + rest.mass)


def test_a_load_that_is_not_in_the_wrench_is_told(
    estimate: Estimate, make_run: Callable[..., Recording], motion: MotionEstimate, ur5e: iparam.Robot
) -> None:
    clean = compensate_wrench(make_run(), ur5e, estimate, motion=KnownMotion(motion))
    unmarked = dataclasses.replace(clean, metadata={})  # as a CSV loses it
    (said,) = compensate_wrench(unmarked, ur5e, estimate, motion=KnownMotion(motion)).remarks
    assert (said.code, str(said.severity)) == ("load-not-in-wrench", "doubt")
    assert said.values["after"] > said.values["before"]


def test_a_load_of_another_arm_or_frame_is_not_taken_out(
    estimate: Estimate, make_run: Callable[..., Recording], motion: MotionEstimate, ur5e: iparam.Robot
) -> None:
    with pytest.raises(ContradictionError, match="the result belongs to a ur10e, and ur5e is another arm"):
        compensate_wrench(make_run(), ur5e, dataclasses.replace(estimate, robot="ur10e"), motion=KnownMotion(motion))
    with pytest.raises(ContradictionError, match=r"in the frame 'flange'.*tool frame of ur5e is 'tool0'.*tip = flange"):
        compensate_wrench(make_run(), ur5e, dataclasses.replace(estimate, frame="flange"), motion=KnownMotion(motion))


def test_a_frame_of_another_name_in_the_same_place_is_taken(ur5e: iparam.Robot) -> None:
    for frame in ("", "tool0", "wrist_3_link"):
        check_frame(frame, ur5e)
    with pytest.raises(ContradictionError, match="'gripper'"):
        check_frame("gripper", ur5e)
