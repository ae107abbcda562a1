"""Motion and wrench are brought into step where the wrench shows clearly that they are not, and else left alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.motion import MotionEstimate
from iparam.motion.delay import align_motion
from iparam.recording import Signal

PHI = np.array([2.0, 0.06, -0.04, 0.2, 0.03, 0.002, -0.001, 0.04, 0.003, 0.02])
GRAVITY = np.array([0.0, 0.0, -9.81])
DEVIATION = np.array([0.1, 0.1, 0.1, 0.01, 0.01, 0.01])
STEP = 1e-3
DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.fixture(scope="module")
def robot() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="module")
def true() -> iparam.TrajectorySamples:
    trajectory = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    return trajectory.evaluate(np.arange(0.0, 8.0, STEP))


@pytest.fixture(scope="module")
def wrench(robot: iparam.Robot, true: iparam.TrajectorySamples) -> Signal:
    exact = iparam.wrench_regressor(robot, true.q, true.dq, true.ddq) @ PHI
    return Signal(true.time, exact + DEVIATION * np.random.default_rng(0).standard_normal(exact.shape))


def low_passed(values: np.ndarray, lag: float) -> np.ndarray:
    """The solution of lag f' + f = values, for values that are straight lines within a step."""
    from scipy.signal import lfilter

    a = np.exp(-STEP / lag)
    later = 1.0 - lag / STEP * (1.0 - a)
    start = values[0]
    return np.asarray(lfilter([later, 1.0 - a - later], [1.0, -a], values - start, axis=0)) + start


def test_a_motion_in_step_stays_as_it_is(robot: iparam.Robot, true: iparam.TrajectorySamples, wrench: Signal) -> None:
    motion = MotionEstimate(true.time, true.q, true.dq, true.ddq)
    found = align_motion(motion, wrench, robot, GRAVITY)
    assert found.motion is motion
    assert (found.delay, found.standard_deviation, found.remarks) == (0.0, 0.0, ())


@pytest.mark.parametrize("lag", [0.0053, 0.02])
def test_a_low_pass_on_the_angles_is_inverted(
    robot: iparam.Robot, true: iparam.TrajectorySamples, wrench: Signal, lag: float
) -> None:
    motion = MotionEstimate(true.time, *(low_passed(part, lag) for part in (true.q, true.dq, true.ddq)))
    found = align_motion(motion, wrench, robot, GRAVITY)
    assert found.delay == 0.0
    assert found.motion.remarks[0].code == "angles-low-passed"
    inner = slice(200, -200)  # where the filter has forgotten its start
    assert np.abs(found.motion.ddq - true.ddq)[inner].max() < 0.02 * np.abs(motion.ddq - true.ddq)[inner].max()
    assert found.standard_deviation < 5e-5


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("lag", [0.0053, 0.016])
def test_a_low_pass_on_the_wrench_is_applied_to_the_regressor(
    robot: iparam.Robot, true: iparam.TrajectorySamples, lag: float
) -> None:
    exact = iparam.wrench_regressor(robot, true.q, true.dq, true.ddq)
    noise = DEVIATION * np.random.default_rng(0).standard_normal((len(exact), 6))
    motion = MotionEstimate(true.time, true.q, true.dq, true.ddq)
    found = align_motion(motion, Signal(true.time, low_passed(exact @ PHI, lag) + noise), robot, GRAVITY)
    assert found.filtered
    assert found.motion is motion
    assert abs(found.delay - lag) < 4.0 * found.standard_deviation < 2e-4
    assert found.remarks[0].code == "wrench-low-passed"
    late = true.time[true.time > found.settling]
    rows = found.regressor(late, robot, GRAVITY)
    expected = low_passed(exact, lag)[true.time > found.settling]
    assert np.abs(rows - expected).max() < 0.02 * np.abs(exact[true.time > found.settling] - expected).max()


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("delay", [-0.003, 0.05])
def test_a_delay_is_found(robot: iparam.Robot, true: iparam.TrajectorySamples, wrench: Signal, delay: float) -> None:
    motion = MotionEstimate(true.time, true.q, true.dq, true.ddq)
    found = align_motion(motion, Signal(wrench.time + delay, wrench.values), robot, GRAVITY)
    assert found.motion is motion
    assert abs(found.delay - delay) < 4.0 * found.standard_deviation < 2e-4
    assert found.remarks[0].code == ("wrench-delayed" if delay > 0.0 else "motion-delayed")
    assert found.remarks[0].values["milliseconds"] == pytest.approx(1e3 * abs(found.delay))


def test_an_arm_at_rest_tells_no_delay(robot: iparam.Robot) -> None:
    time = np.arange(500) / 100.0
    q = np.zeros((500, 6))
    values = np.random.default_rng(1).standard_normal((500, 6))
    assert align_motion(MotionEstimate(time, q, q, q), Signal(time, values), robot, GRAVITY).delay == 0.0


@pytest.mark.thorough
def test_a_lag_that_the_noise_hides_the_kind_of_is_said_to_be_either(
    robot: iparam.Robot, true: iparam.TrajectorySamples
) -> None:
    exact = iparam.wrench_regressor(robot, true.q, true.dq, true.ddq)
    motion = MotionEstimate(true.time, true.q, true.dq, true.ddq)
    filtered = low_passed(exact @ PHI, 0.004)
    clear = align_motion(motion, Signal(true.time, filtered), robot, GRAVITY)
    assert clear.remarks[0].values["ambiguous"] == ""
    noise = 20.0 * DEVIATION * np.random.default_rng(1).standard_normal((len(exact), 6))
    vague = align_motion(motion, Signal(true.time, filtered + noise), robot, GRAVITY)
    assert vague.remarks[0].values["ambiguous"] != ""
