"""How well models predict the torques of a run that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.torque.drives.encoder_feedback import EncoderFeedback
from iparam.estimation.torque.joint_data import JointDataSource
from iparam.estimation.torque.torque_fit import with_directions
from iparam.estimation.torque.torque_model import TorqueModel

MOVES = 0.01
"""Range from which a joint counts as moving [rad]."""


@dataclass(frozen=True, eq=False)
class TorquePrediction:
    """Residuals of predicted torques.

    Attributes:
        rms: (n,) [N m]; NaN for joints that are left out or have no sensor.
        relative: (n,) norm of the residuals over the norm of the torques; NaN for the same.
        moves: (n,) whether the joint moves.
        samples: how many.
    """

    rms: FloatArray
    relative: FloatArray
    moves: FloatArray
    samples: int


def predict_torques(
    model: TorqueModel,
    parameters: FloatArray,
    source: JointDataSource,
    scale: FloatArray,
    feedback: EncoderFeedback | None = None,
) -> TorquePrediction:
    """Compare the torques that a model predicts with those of a run.

    Args:
        model: of the torques; its first run's friction is taken.
        parameters: (p,) of it.
        source: the run.
        scale: (n,) that turns its efforts into torques.
        feedback: what the controllers make of the errors of their encoders, which is no part of the model.
    """
    count = model.num_joints
    squares, total = np.zeros(count), np.zeros(count)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    samples = 0
    for data, directions in with_directions(model, source):
        torque = data.effort * scale
        residual = torque - model.torques(data, 0, directions, parameters)
        if feedback is not None:
            residual = residual - feedback.torques(source, data.time)
        squares += (residual**2).sum(axis=0)
        total += (torque**2).sum(axis=0)
        low, high = np.minimum(low, data.q.min(axis=0)), np.maximum(high, data.q.max(axis=0))
        samples += len(residual)
    squares[[*model.left_out, *source.unmeasured]] = np.nan
    return TorquePrediction(
        np.sqrt(squares / samples), np.sqrt(squares / np.maximum(total, 1e-300)), high - low > MOVES, samples
    )
