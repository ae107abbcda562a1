"""What a controller makes of the errors of its encoder is found, and nothing else is taken for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import iparam
from iparam.estimation.torque.drives.drive_gains import torque_gains
from iparam.estimation.torque.drives.encoder_feedback import encoder_feedback
from iparam.estimation.torque.joint_data import LAGS, JointDataSource
from iparam.estimation.torque.torque_fit import fit_torques
from iparam.estimation.torque.torque_model import TorqueModel
from iparam.estimation.torque.validation import predict_torques
from iparam.recording import Recording

RATE = 500.0
DAMPING = 60.0  # of the controller of joint 1 [N m s/rad]
JITTER = 1e-4  # of the encoders [rad]


def answered(run: Recording, seed: int, damping: float) -> Recording:
    """The run with encoders that err and, of joint 1, a controller that damps what its own shows."""
    angles, torques = run.signal("q"), run.signal("tau")
    errors = np.random.default_rng(100 + seed).normal(0.0, JITTER, angles.values.shape)
    shown = np.convolve(np.diff(errors[:, 0], prepend=errors[0, 0]) * RATE, [0.25, 0.5, 0.25])[: len(errors)]
    answer = np.zeros_like(torques.values)
    answer[:, 0] = -damping * shown
    moved = run.with_signal("q", time=angles.time, values=angles.values + errors)
    return moved.with_signal("tau", time=torques.time, values=torques.values + answer)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("damping", [DAMPING, 0.0, -DAMPING])
def test_a_damping_controller_is_found_where_there_is_one(
    make_run: Any, truth: Any, robot: iparam.Robot, damping: float
) -> None:
    fitted, other = (
        JointDataSource(answered(make_run(seed, duration=10.0, rate=RATE), seed, damping), robot, "tau")
        for seed in (0, 1)
    )
    model, ones = TorqueModel(robot, truth.friction), np.ones(6)
    parameters = fit_torques(model, [fitted], torque_gains(6)).solution.parameters
    feedback = encoder_feedback(model, parameters, [fitted], ones)
    assert (feedback.damping[1:] == 0.0).all()
    if damping <= 0.0:
        assert feedback.damping[0] == 0.0, "none, or one that no arm could be run with"
        return
    assert feedback.damping[0] == pytest.approx(DAMPING, rel=0.1)
    without, given = (predict_torques(model, parameters, other, ones, one).rms for one in (None, feedback))
    assert given[0] < 0.9 * without[0]
    np.testing.assert_array_equal(given[1:], without[1:])


def test_changes_follow_one_another_over_the_edges_of_segments(make_run: Any, robot: iparam.Robot) -> None:
    source = JointDataSource(answered(make_run(0, duration=2.0, rate=RATE), 0, 0.0), robot, "tau")
    time = np.concatenate([data.time for data in source.segments()])
    whole = source.error_rates(time)
    parts = [source.error_rates(part) for part in np.array_split(time, 7)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    for lag in range(1, LAGS):
        np.testing.assert_array_equal(whole[lag:, :, lag], whole[:-lag, :, 0])


def test_a_run_at_another_rate_has_other_changes(make_run: Any, truth: Any, robot: iparam.Robot) -> None:
    fitted = JointDataSource(answered(make_run(0, duration=10.0, rate=RATE), 0, DAMPING), robot, "tau")
    model, ones = TorqueModel(robot, truth.friction), np.ones(6)
    parameters = fit_torques(model, [fitted], torque_gains(6)).solution.parameters
    feedback = encoder_feedback(model, parameters, [fitted], ones)
    slower = JointDataSource(make_run(1, duration=10.0, rate=RATE / 2.0), robot, "tau")
    without, given = (predict_torques(model, parameters, slower, ones, one).rms for one in (None, feedback))
    np.testing.assert_array_equal(given, without)
