"""Bandwidths that are chosen by what the motion predicts."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.arrays import FloatArray
from iparam.motion import KalmanMotion
from iparam.motion.choice.effort_prediction import prediction_of
from iparam.motion.choice.prediction_choice import choose_by_prediction
from iparam.motion.choice.process_choice import choose_processes
from iparam.recording import Recording

ROBOT = iparam.load_robot("ur5e")
LOAD = iparam.InertialParameters.box(2.0, [0.1, 0.15, 0.2])
RATE = 500.0


def moved() -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(1)
    time = np.arange(0.0, 8.0, 1.0 / RATE)
    phases, rates = rng.uniform(0.0, 6.0, 6), rng.uniform(3.0, 9.0, 6)
    q = 0.3 * np.sin(np.outer(time, rates) + phases)
    return time, q, 0.3 * rates * np.cos(np.outer(time, rates) + phases), -(rates**2) * q


def recorded(error: FloatArray) -> Recording:
    time, q, dq, ddq = moved()
    rng = np.random.default_rng(2)
    wrench = iparam.wrench_regressor(ROBOT, q, dq, ddq) @ LOAD.phi
    wrench = wrench + rng.standard_normal(wrench.shape) * [0.3, 0.3, 0.3, 0.01, 0.01, 0.01]
    run = Recording("ur5e").with_signal("q", time=time, values=q + error)
    return run.with_signal("wrench", time=time, values=wrench)


def lasting(level: float) -> FloatArray:
    """Errors that last for some samples, as rounding and a controller's own filter make them."""
    rng = np.random.default_rng(3)
    steps = rng.standard_normal((int(8.0 * RATE), 6))
    error = np.zeros_like(steps)
    for k in range(1, len(steps)):
        error[k] = 0.8 * error[k - 1] + steps[k]
    return np.asarray(level * error / error.std())


def test_errors_that_last_do_not_pass_for_motion() -> None:
    run = recorded(lasting(3e-4))
    truth = moved()[3]
    angles, judged = (KalmanMotion(predicts=judge).motion(run, ROBOT) for judge in ("", "wrench"))
    assert (angles.judge, judged.judge) == ("", "wrench")
    wrong = [float(np.sqrt(np.mean((one.ddq - truth) ** 2))) for one in (angles, judged)]
    assert wrong[0] > 5.0, "the angles alone ask for much of it"
    assert wrong[1] < 0.2 * wrong[0]


def test_white_noise_is_smoothed_as_the_angles_ask_for() -> None:
    run = recorded(2e-5 * np.random.default_rng(4).standard_normal((int(8.0 * RATE), 6)))
    angles = run.signal("q")
    plain = choose_processes(angles.time, angles.values)
    prediction = prediction_of(run, ROBOT, "wrench")
    assert prediction is not None
    assert choose_by_prediction(angles.time, angles.values, prediction, plain) == plain
    assert KalmanMotion().motion(run, ROBOT).judge == ""


@pytest.mark.parametrize("step", [1, 5])
def test_the_bandwidth_hardly_depends_on_the_rate(step: int) -> None:
    run = recorded(lasting(3e-4))
    for name in ("q", "wrench"):
        signal = run.signal(name)
        run = run.with_signal(name, time=signal.time[::step], values=signal.values[::step])
    motion = KalmanMotion().motion(run, ROBOT)
    found = [process.bandwidth for process in motion.processes]
    assert max(found) < 40.0
    assert min(found) > 0.3, "the fastest joint moves at 1.4 Hz"
