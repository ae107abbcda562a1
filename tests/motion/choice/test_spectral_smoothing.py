"""Smoothing by spectra gives what the smoother gives, away from the ends."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.motion.choice.spectral_smoothing import SpectralSmoothing
from iparam.motion.joint_process import JointProcess, smooth_joint


@pytest.mark.parametrize(("order", "bandwidth"), [(3, 4.0), (4, 2.0), (6, 3.0)])
def test_it_is_the_smoother_away_from_the_ends(order: int, bandwidth: float) -> None:
    time = 3.0 + np.arange(2500) / 250.0  # 2499 has a prime factor of 17
    angle = np.sin(2.0 * time) + 0.3 * time + 1e-3 * np.random.default_rng(0).normal(size=time.size)
    process = JointProcess(order, bandwidth, 1e-3)
    found = SpectralSmoothing(time, np.stack([angle, -angle])).motion([process, process], time)
    exact = smooth_joint(time, angle, process).means
    inner = slice(600, -600)
    for k in range(3):
        scale = np.ptp(exact[inner, k])
        np.testing.assert_allclose(found[k, inner, 0], exact[inner, k], atol=2e-4 * scale, rtol=0)
        np.testing.assert_allclose(found[k, inner, 1], -found[k, inner, 0], atol=1e-9 * scale)


def test_it_is_for_even_and_dense_samples() -> None:
    time = np.arange(400) / 100.0
    q = np.sin(time)[None]
    slow, fast = JointProcess(4, 5.0, 1e-3), JointProcess(4, 20.0, 1e-3)
    assert SpectralSmoothing(time, q).fits([slow])
    assert not SpectralSmoothing(time, q).fits([fast])
    late = time + 1e-3 * np.random.default_rng(1).uniform(size=time.size)
    assert not SpectralSmoothing(late, q).fits([slow])
