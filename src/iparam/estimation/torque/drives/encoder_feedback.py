"""`EncoderFeedback`: what a joint's controller makes of the errors of its own encoder.

A controller damps the speed that its encoder shows, errors of the encoder included. Where the torque is recorded as
fast as the controller runs, part of it is therefore an answer to what smoothing takes from the angle: it belongs
neither to the bodies nor to friction, and would stand among the residuals. The controller's filter is not known, so
the torque is fitted with the last `LAGS` changes of those errors, beside a model of the arm that is fitted already: the
two have no frequency in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.torque.joint_data import LAGS, JointDataSource
from iparam.estimation.torque.torque_fit import with_directions
from iparam.estimation.torque.torque_model import TorqueModel

BLOCKS = 10
"""Stretches of time that are predicted from the others."""

SURE = 3.0
"""Standard errors by which it must improve the prediction of the stretches: it says nothing of the arm, so that there
is no reason to have it where it is not plain to see."""

LEAST_GAIN = 0.01
"""Share of the squares of a joint that it must save."""

SAME_RATE = 0.01
"""Share by which two sampling rates may differ."""


@dataclass(frozen=True, eq=False)
class EncoderFeedback:
    """Of every joint of an arm.

    Attributes:
        coefficients: (n, LAGS) torque by the rates of the last changes [N m s/rad]; zeros where there is none to see.
        rate: at which the runs were sampled that it was found in [Hz]; changes over other periods are others.
    """

    coefficients: FloatArray
    rate: float

    @property
    def damping(self) -> FloatArray:
        """(n,) for an error that goes on, as it shows at that rate [N m s/rad]; 0 where there is none to see."""
        return np.asarray(0.0 - self.coefficients.sum(axis=1))

    def torques(self, source: JointDataSource, time: FloatArray) -> FloatArray:
        """(T, n) at the times (T,) of a segment of a run [N m]; zeros for a run that was sampled at another rate."""
        if not _same_rate(source.rate, self.rate) or not self.coefficients.any():
            return np.zeros((time.size, len(self.coefficients)))
        return np.asarray(np.einsum("tjk,jk->tj", source.error_rates(time), self.coefficients))


def encoder_feedback(
    model: TorqueModel, parameters: FloatArray, sources: Sequence[JointDataSource], scale: FloatArray
) -> EncoderFeedback:
    """Of the joints whose torques, in stretches of time that were not fitted, it predicts for sure.

    Args:
        model: of the torques; its first run's friction is taken.
        parameters: (p,) of it.
        sources: the runs; those that are sampled as the first one is are looked at.
        scale: (n,) that turns efforts into torques.
    """
    count, rate = model.num_joints, sources[0].rate
    sources = [source for source in sources if _same_rate(source.rate, rate)]
    gram, right = np.zeros((BLOCKS, count, LAGS, LAGS)), np.zeros((BLOCKS, count, LAGS))
    squares, done, total = np.zeros(count), 0, sum(source.num_samples for source in sources)
    for source in sources:
        for data, directions in with_directions(model, source):
            rates = source.error_rates(data.time)
            residual = data.effort * scale - model.torques(data, 0, directions, parameters)
            squares += (residual**2).sum(axis=0)
            blocks = (done + np.arange(len(residual))) * BLOCKS // total
            for block in np.unique(blocks).tolist():
                own = blocks == block
                gram[block] += np.einsum("tjk,tjl->jkl", rates[own], rates[own])
                right[block] += np.einsum("tjk,tj->jk", rates[own], residual[own])
            done += len(residual)
    found = np.zeros((count, LAGS))
    for joint in model.measured:
        found[joint] = _sure(gram[:, joint], right[:, joint], float(squares[joint]))
    return EncoderFeedback(found, rate)


def _sure(gram: FloatArray, right: FloatArray, squares: float) -> FloatArray:
    """(LAGS,) the coefficients, from the normal equations of the blocks; zeros if they predict nothing for sure."""
    nothing = np.zeros(LAGS)
    whole, side = gram.sum(axis=0), right.sum(axis=0)
    if not np.trace(whole) > 0.0:
        return nothing
    saved = []
    for own, own_side in zip(gram, right, strict=True):
        others = np.linalg.pinv(whole - own, rcond=1e-10, hermitian=True) @ (side - own_side)
        saved.append(2.0 * others @ own_side - others @ own @ others)
    gain = np.array(saved)
    scatter = float(gain.std(ddof=1)) / np.sqrt(len(gain))
    if gain.mean() <= SURE * scatter or gain.sum() <= LEAST_GAIN * squares:
        return nothing
    coefficients = np.linalg.pinv(whole, rcond=1e-10, hermitian=True) @ side
    # A controller that drives what its encoder shows is none that an arm could be run with.
    return coefficients if coefficients.sum() < 0.0 else nothing


def _same_rate(one: float, other: float) -> bool:
    return abs(one / other - 1.0) < SAME_RATE
