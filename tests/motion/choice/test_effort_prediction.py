"""How well a motion predicts the wrench or the torques beside it, in blocks that were held out."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.motion.choice.effort_prediction import Channel, prediction_errors, prediction_of
from iparam.recording import Recording

RNG = np.random.default_rng(0)


def test_the_error_of_a_true_model_is_the_noise_and_of_a_wrong_one_the_signal() -> None:
    rows = RNG.standard_normal((2000, 6))
    truth = RNG.standard_normal(6)
    noise = 0.1 * RNG.standard_normal((2000, 2))
    shared = np.arange(6)
    right = [
        Channel(shared, rows, rows @ truth + noise[:, 0]),
        Channel(shared, 3.0 * rows, 3.0 * rows @ truth + noise[:, 1]),
    ]
    np.testing.assert_allclose(prediction_errors(right), 0.1, rtol=0.1)
    unrelated = [Channel(shared, rows, RNG.standard_normal(2000))]
    assert prediction_errors(unrelated)[0] == pytest.approx(1.0, rel=0.1)


def test_columns_that_only_fit_noise_make_the_prediction_worse() -> None:
    measured = RNG.standard_normal(400)
    few, many = RNG.standard_normal((400, 2)), RNG.standard_normal((400, 150))
    errors = [prediction_errors([Channel(np.arange(one.shape[1]), one, measured)])[0] for one in (few, many)]
    assert errors[1] > 1.15 * errors[0]


@pytest.mark.parametrize("signal", ["wrench", "tau", "current"])
def test_the_true_motion_predicts_down_to_the_noise(signal: str) -> None:
    robot = iparam.load_robot("ur5e")
    load = iparam.InertialParameters.box(2.0, [0.1, 0.15, 0.2])
    time = np.arange(0.0, 8.0, 0.01)
    phases, rates = RNG.uniform(0.0, 6.0, 6), RNG.uniform(2.0, 5.0, 6)
    q = 0.5 * np.sin(np.outer(time, rates) + phases)
    dq, ddq = 0.5 * rates * np.cos(np.outer(time, rates) + phases), -(rates**2) * q
    noise = 0.05 * RNG.standard_normal((time.size, 6))
    gains = np.array([10.0, -11.0, 9.0, 8.0, 12.0, 10.0])
    values = {
        "wrench": iparam.wrench_regressor(robot, q, dq, ddq) @ load.phi + 3.0 + noise,
        "tau": iparam.inverse_dynamics(robot, q, dq, ddq) + 2.0 * dq + noise,
        "current": (iparam.inverse_dynamics(robot, q, dq, ddq) + 2.0 * dq + noise) / gains,
    }[signal]
    run = Recording("ur5e").with_signal("q", time=time, values=q).with_signal(signal, time=time, values=values)
    prediction = prediction_of(run, robot, signal, tuple(gains) if signal == "current" else ())
    assert prediction is not None
    rows = np.arange(time.size)
    right = prediction_errors(prediction.channels(q, dq, ddq, rows))
    np.testing.assert_allclose(right, 0.05, rtol=0.2)
    shaken = ddq + 20.0 * RNG.standard_normal(ddq.shape)
    assert (prediction_errors(prediction.channels(q, dq, shaken, rows))[:3] > 1.5 * right[:3]).all()


def test_currents_without_gains_and_signals_that_are_not_there_judge_nothing() -> None:
    robot = iparam.load_robot("ur5e")
    time = np.arange(0.0, 1.0, 0.01)
    run = Recording("ur5e").with_signal("current", time=time, values=np.ones((time.size, 6)))
    assert prediction_of(run, robot, "current") is None
    assert prediction_of(run, robot, "wrench") is None
    assert prediction_of(run, robot, "") is None
