"""Motion sources give the motion that was, each within what its sensor allows."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.errors import InputError, UnknownNameError
from iparam.motion import (
    AccelerometerMotion,
    ButterworthMotion,
    KalmanMotion,
    MotionEstimate,
    MotionSource,
    SetPointMotion,
)
from iparam.recording import Recording, Signal
from iparam.sensing import BaseFrameWrench, SensorWrench, WrenchSource
from iparam.trajectory import TrajectorySamples, WindowedFourierTrajectory

PHI = np.array([2.0, 0.06, -0.04, 0.2, 0.03, 0.002, -0.001, 0.04, 0.003, 0.02])
GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def robot() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="module")
def truth() -> TrajectorySamples:
    rng = np.random.default_rng(2)
    a, b = rng.normal(scale=0.2, size=(2, 6, 5))
    return WindowedFourierTrajectory(np.array([0, -1.2, 1.4, -1.6, -1.4, 0]), a, b, 0.1, 10.0).sample(250.0)


def proper_acceleration(robot: iparam.Robot, truth: TrajectorySamples) -> np.ndarray:
    motion = iparam.tool_motion(robot, truth.q, truth.dq, truth.ddq)
    down = np.einsum("tji,j->ti", motion.pose[:, :3, :3], GRAVITY)
    return motion.linear_acceleration - down


@pytest.fixture(scope="module")
def recording(robot: iparam.Robot, truth: TrajectorySamples) -> Recording:
    rng = np.random.default_rng(3)
    made = Recording("ur5e")
    for name in ("q", "dq", "ddq"):
        made = made.with_signal(f"target_{name}", time=truth.time, values=getattr(truth, name))
    made = made.with_signal("q", time=truth.time, values=truth.q + rng.normal(scale=5e-5, size=truth.q.shape))
    accelerometer = proper_acceleration(robot, truth) + rng.normal(scale=0.05, size=(truth.num_samples, 3))
    made = made.with_signal("accelerometer", time=truth.time, values=accelerometer)
    wrench = iparam.wrench_regressor(robot, truth.q, truth.dq, truth.ddq) @ PHI
    return made.with_signal("wrench", time=truth.time, values=wrench)


@pytest.mark.parametrize(
    ("source", "tolerance"),
    [
        (SetPointMotion(), 0.0),
        (KalmanMotion(), 1e-3),
        (ButterworthMotion(), 3e-3),
        (ButterworthMotion(cutoff=3.0, order=3), 2e-2),
        (AccelerometerMotion(), 1e-3),
        (AccelerometerMotion(ButterworthMotion()), 3e-3),
    ],
)
def test_every_source_finds_the_motion(
    source: MotionSource, tolerance: float, recording: Recording, robot: iparam.Robot, truth: TrajectorySamples
) -> None:
    assert isinstance(source, MotionSource)
    found = source.motion(recording, robot)
    assert isinstance(found, MotionEstimate)
    assert np.array_equal(found.time, truth.time)
    assert np.sqrt(np.mean((found.ddq - truth.ddq) ** 2)) <= tolerance
    assert np.sqrt(np.mean((found.q - truth.q) ** 2)) <= 1e-3
    assert (found.covariance is not None) == (isinstance(source, KalmanMotion) or source == AccelerometerMotion())


def test_missing_set_point_derivatives_are_made_up_for(
    recording: Recording, robot: iparam.Robot, truth: TrajectorySamples
) -> None:
    for kept in (("target_q",), ("target_q", "target_dq"), ("target_q", "target_ddq")):
        part = Recording("ur5e", {name: recording.signal(name) for name in kept})
        found = SetPointMotion().motion(part, robot)
        assert np.abs(found.dq - truth.dq).max() < 1e-6
        assert np.abs(found.ddq - truth.ddq).max() < 1e-4


def test_the_accelerometer_takes_the_place_of_the_kinematic_acceleration(
    recording: Recording, robot: iparam.Robot, truth: TrajectorySamples
) -> None:
    found = AccelerometerMotion(SetPointMotion()).motion(recording, robot)
    assert found.linear_acceleration_noise is not None
    assert np.allclose(found.linear_acceleration_noise, 0.05, rtol=0.1)
    exact = recording.with_signal("accelerometer", time=truth.time, values=proper_acceleration(robot, truth))
    matrices = AccelerometerMotion(SetPointMotion()).motion(exact, robot).regressor(robot)
    expected = iparam.wrench_regressor(robot, truth.q, truth.dq, truth.ddq)
    assert np.abs(matrices - expected).max() < 1e-10
    doubled = recording.with_signal("accelerometer", time=truth.time, values=2 * proper_acceleration(robot, truth))
    other = AccelerometerMotion(SetPointMotion()).motion(doubled, robot).regressor(robot)
    assert np.allclose(other[:, :3, 0], 2 * expected[:, :3, 0])
    assert np.allclose(other[:, 3:, 1:4], 2 * expected[:, 3:, 1:4])
    assert np.array_equal(other[:, 3:, 4:], expected[:, 3:, 4:])


def test_an_accelerometer_that_starts_late_shortens_the_motion(recording: Recording, robot: iparam.Robot) -> None:
    late = recording.with_signal("accelerometer", recording.signal("accelerometer").slice(2.0, 8.0))
    found = AccelerometerMotion().motion(late, robot)
    assert (found.time[0], found.time[-1]) == (2.0, 8.0)
    whole = KalmanMotion().motion(late, robot)
    np.testing.assert_array_equal(found.covariance_at(found.time), whole.covariance_at(found.time))
    assert found.remarks[0].code == "times-not-covered"


def test_sources_say_what_they_miss(recording: Recording, robot: iparam.Robot) -> None:
    bare = Recording("ur5e", {"wrench": recording.signal("wrench")})
    for source, name in ((KalmanMotion(), "q"), (SetPointMotion(), "target_q"), (AccelerometerMotion(), "accel")):
        with pytest.raises(UnknownNameError, match=f"unknown signal '{name}"):
            source.motion(bare, robot)
    with pytest.raises(InputError, match="6 columns, but xy has 2 joints"):
        KalmanMotion().motion(recording, _planar())
    based = recording.with_signal("accelerometer", Signal([0.0, 1.0], np.zeros((2, 3)), "m/s^2", "base"))
    with pytest.raises(InputError, match="must be given in tool0"):
        AccelerometerMotion().motion(based, robot)


@pytest.mark.parametrize("count", [1, 2, 15])
@pytest.mark.parametrize("source", [KalmanMotion(), ButterworthMotion()])
def test_a_few_samples_are_no_motion(source: MotionSource, count: int, robot: iparam.Robot) -> None:
    few = Recording("ur5e", {"q": Signal(0.002 * np.arange(count), np.zeros((count, 6)), "rad")})
    with pytest.raises(InputError, match=f"at least 16 samples are needed, got {count}"):
        source.motion(few, robot)


def _planar() -> iparam.Robot:
    links = tuple(iparam.Link(name) for name in ("base", "one", "two"))
    joints = tuple(
        iparam.Joint(f"j{i}", "revolute", links[i].name, links[i + 1].name, np.eye(4))  # type: ignore[arg-type]
        for i in range(2)
    )
    return iparam.Robot("xy", joints, links, iparam.JointLimits.unlimited(2), "two")


def test_motion_estimates_check_their_shapes() -> None:
    time, q = np.arange(3.0), np.zeros((3, 2))
    MotionEstimate(time, q, q, q, np.zeros((2, 3, 3)))
    for change, message in (
        ({"ddq": q[:2]}, "ddq must have shape"),
        ({"covariance": np.zeros((3, 3))}, "covariance must have shape"),
        ({"time": time[::-1]}, "strictly increasing"),
        ({"linear_acceleration_noise": np.ones(3)}, "come together"),
        ({"linear_acceleration_minus_gravity": np.ones((2, 3))}, "must have shape"),
    ):
        with pytest.raises(InputError, match=message):
            MotionEstimate(**{"time": time, "q": q, "dq": q, "ddq": q, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("measures", ["action", "reaction"])
def test_wrench_sources_agree_whatever_the_frame(
    measures: str, recording: Recording, robot: iparam.Robot, truth: TrajectorySamples
) -> None:
    sign = 1.0 if measures == "action" else -1.0
    expected = recording.signal("wrench").values
    turned = sign * Signal(truth.time, expected).values
    own = recording.with_signal("wrench", time=truth.time, values=turned)
    source = SensorWrench(measures=measures)  # type: ignore[arg-type]
    assert isinstance(source, WrenchSource)
    assert np.array_equal(source.read(own).values, expected)
    rotation = iparam.forward_kinematics(robot, truth.q)[:, :3, :3]
    based = np.concatenate([np.einsum("tij,tj->ti", rotation, turned[:, part]) for part in (slice(3), slice(3, 6))], 1)
    made = recording.with_signal("q", time=truth.time, values=truth.q)
    made = made.with_signal("tcp_force", Signal(truth.time, based, "N, N m", "base"))
    found = BaseFrameWrench(robot, "tcp_force", measures).read(made)  # type: ignore[arg-type]
    assert isinstance(BaseFrameWrench(robot), WrenchSource)
    assert np.abs(found.values - expected).max() < 1e-10
    assert (found.frame, found.unit) == ("tool0", "N, N m")


def test_wrench_sources_refuse_what_is_none(recording: Recording, robot: iparam.Robot) -> None:
    with pytest.raises(UnknownNameError, match="action, reaction"):
        SensorWrench(measures="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="has 3"):
        SensorWrench("accelerometer").read(recording)
    based = recording.with_signal("wrench", Signal([0.0], np.zeros((1, 6)), "N, N m", "base"))
    with pytest.raises(InputError, match="see BaseFrameWrench"):
        SensorWrench().read(based)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_a_wrong_wrench_does_not_smooth_the_motion_away(seed: int) -> None:
    """A reaction in base axes is predicted best by an arm that hardly moves; the angles say otherwise, to 0.1 mrad."""
    robot, rng = iparam.load_robot("ur10e"), np.random.default_rng(seed)
    a, b = rng.uniform(-0.35, 0.35, (6, 4)), rng.uniform(-0.35, 0.35, (6, 4))
    home = np.radians([20.0, -80.0, 90.0, -100.0, -70.0, 10.0])
    motion = iparam.WindowedFourierTrajectory(q0=home, a=a, b=b, base_freq=0.2, duration=6.0).sample(fps=250.0)
    q = motion.q + rng.normal(size=motion.q.shape) * 1e-4
    load = iparam.InertialParameters.box(0.6, [0.05, 0.05, 0.05])
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ load.phi + [
        5.0,
        -3.0,
        8.0,
        0.3,
        0.2,
        -0.1,
    ]
    turns = iparam.forward_kinematics(robot, motion.q)[:, :3, :3]
    turned = -np.einsum("tij,tkj->tki", turns, wrench.reshape(-1, 2, 3)).reshape(-1, 6)
    turned = turned + rng.normal(size=wrench.shape) * np.repeat([0.1, 0.005], 3)
    recording = Recording("ur10e").with_signal("q", time=motion.time, values=q)
    found = KalmanMotion().motion(recording.with_signal("wrench", time=motion.time, values=turned), robot)
    assert np.std(found.q - q, axis=0).max() < 2e-4
