"""What a fit leaves: the standard deviations are said to cover it only where they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation

import iparam
from iparam.estimation import identify_payload
from iparam.recording import Recording

TOLD = {"residuals-follow-motion", "residuals-keep-sign", "residuals-counted"}
"""Codes of remarks on residuals that hold more than noise of a moment."""


@pytest.fixture(scope="module")
def good(synthetic_recording: Callable[..., Recording], excitation: iparam.TrajectorySamples) -> Recording:
    return synthetic_recording(excitation.q, excitation.dq, excitation.ddq, rate=100.0)


def with_wrench(recording: Recording, values: np.ndarray) -> Recording:
    return recording.with_signal("wrench", time=recording.signal("wrench").time, values=values)


def turned(wrench: np.ndarray, degrees: float) -> np.ndarray:
    matrix = Rotation.from_euler("x", degrees, degrees=True).as_matrix()
    return np.hstack([wrench[:, :3] @ matrix.T, wrench[:, 3:] @ matrix.T])


def mistakes(good: Recording) -> Iterator[tuple[str, Recording]]:
    """Small ones, that could pass for noise, and a gross one; others: tests/estimation/causes/test_judgement.py."""
    q, wrench = good.signal("q"), good.signal("wrench").values
    time, signs = q.time, np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
    yield "forces with the other sign", with_wrench(good, wrench * signs)
    yield "a sensor turned by 5 deg", with_wrench(good, turned(wrench, 5.0))
    yield "one channel 5 % too strong", with_wrench(good, wrench * np.array([1.05, 1, 1, 1, 1, 1]))
    fast = good.with_signal("q", time=0.9 * time, values=q.values)
    yield "a clock 10 % fast", fast.with_signal("wrench", time=0.9 * time, values=wrench)
    offset = good.with_signal("q", time=time, values=q.values + np.array([0, 0, 0, 0, 0.05, 0]))
    yield "a joint 3 deg off", offset
    grown = wrench.copy()
    grown[600:] *= 1.3
    yield "a load that changed", with_wrench(good, grown)


@pytest.mark.thorough
def test_no_mistake_is_said_to_be_covered(good: Recording, ur5e: iparam.Robot, load: np.ndarray) -> None:
    for name, recording in mistakes(good):
        found = identify_payload(recording, ur5e)
        codes = {one.code for one in found.remarks}
        assert "residuals-correlated" not in codes, name
        told = bool(TOLD & codes)
        assert found.refutation is not None or (told and found.causes), name


def test_a_good_recording_is_accused_of_nothing(good: Recording, ur5e: iparam.Robot) -> None:
    assert identify_payload(good, ur5e).remarks == ()


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("seed", range(2))
def test_noise_that_is_correlated_for_a_moment_is_covered(
    good: Recording, ur5e: iparam.Robot, load: np.ndarray, seed: int
) -> None:
    random = np.random.default_rng(seed)
    noise = lfilter([0.3], [1.0, -0.7], random.standard_normal((1001, 6)), axis=0) * ([3.0] * 3 + [0.3] * 3)
    found = identify_payload(with_wrench(good, good.signal("wrench").values + noise), ur5e)
    assert np.abs((found.phi - load) / found.standard_deviation.phi).max() < 4.0


def test_a_tilted_base_is_not_taken_for_noise(good: Recording, ur5e: iparam.Robot, load) -> None:
    poses = iparam.forward_kinematics(ur5e, good.signal("q").values)[:, :3, :3]
    tilt = 9.81 * load[0] * np.einsum("tji,j->ti", poses, [np.sin(np.radians(2.0)), 0.0, np.cos(np.radians(2.0)) - 1.0])
    extra = np.hstack([tilt, np.cross(load[1:4] / load[0], tilt)])
    found = identify_payload(with_wrench(good, good.signal("wrench").values + extra), ur5e)
    assert "gravity-direction" in [cause.cause for cause in found.causes[:2]]
