"""What noisy joint angles do to an estimate, predicted from the response of the smoother."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iparam.arrays import FloatArray
from iparam.motion import JointProcess, choose_processes

_CHOICE_SEED = 0


def expected_processes(times: FloatArray, q: FloatArray, joint_angle: float) -> tuple[JointProcess, ...]:
    """The models that the smoother will choose for angles q (T, n) measured with this noise, from one such run."""
    noise = joint_angle * np.random.default_rng(_CHOICE_SEED).standard_normal(q.shape)
    return choose_processes(times, q + noise)


def joint_noise_covariance(
    weights: FloatArray, rate: float, processes: Sequence[JointProcess], joint_angle: float
) -> FloatArray:
    """(p, p) what white noise of the joint angles adds to the covariance of an estimate, to first order.

    The smoother turns angles into q, dq and ddq, whose errors are therefore correlated over time and with each other.
    Away from its ends it is a linear filter with the response H = 1 / (1 + (f / bandwidth)^(2 m)), followed by
    derivatives; the adjoint of that filter carries the weight of each error back to the angle samples, which are
    independent. Samples before and after the motion are taken to exist, with the arm at rest.

    Args:
        weights: (3, T, n, p) by how much the estimate changes with an error of q, dq and ddq of each sample and joint.
        rate: of the samples [Hz].
        processes: the smoother's models, one a joint.
        joint_angle: standard deviation of an angle sample [rad].
    """
    from scipy.fft import irfft, next_fast_len, rfft

    orders, count, joints, size = weights.shape
    padded = next_fast_len(2 * count)
    frequencies = np.arange(padded // 2 + 1) * (rate / padded)
    total = np.zeros((size, size))
    for joint in range(joints):
        process = processes[joint]
        response = 1.0 / (1.0 + (frequencies / process.bandwidth) ** (2 * process.order))
        spectrum = np.zeros((frequencies.size, size), dtype=np.complex128)
        for order in range(orders):
            adjoint = response * (-2j * np.pi * frequencies) ** order
            spectrum += adjoint[:, None] * rfft(weights[order, :, joint], padded, axis=0)
        per_sample = irfft(spectrum, padded, axis=0)
        total += joint_angle**2 * (per_sample.T @ per_sample)
    return total
