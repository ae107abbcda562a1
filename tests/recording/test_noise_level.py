"""The noise of a sensor, white or filtered, beside a signal that is far stronger."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter, welch

from iparam.recording.noise_level import noise_beside, power_spectrum, white_noise_level

TIME = np.arange(5000) / 500.0
SIGNAL = np.column_stack([20.0 * np.sin(4.0 * TIME), 3.0 * np.cos(8.0 * TIME)])


def filtered(corner: float, seed: int = 0) -> np.ndarray:
    """White noise behind a first-order low-pass of that corner frequency [Hz]."""
    pole = np.exp(-2.0 * np.pi * corner / 500.0)
    white = np.random.default_rng(seed).standard_normal((5000, 2))
    return lfilter([1.0 - pole], [1.0, -pole], white, axis=0)


@pytest.mark.parametrize("corner", [1e4, 100.0, 30.0, 10.0])
def test_filtered_noise_is_found_as_strong_as_it_is(corner: float) -> None:
    noise = filtered(corner)
    found = noise_beside(noise, SIGNAL)
    assert found is not None
    assert found.level == pytest.approx(noise.std(axis=0), rel=0.1)
    assert (found.excess < 2.0).all()
    if corner <= 30.0:
        assert (white_noise_level(noise) < 0.6 * noise.std(axis=0)).all()


@pytest.mark.parametrize("corner", [1e4, 30.0])
def test_in_the_band_of_the_signal_a_filter_changes_nothing(corner: float) -> None:
    found = [noise_beside(filtered(corner, seed), SIGNAL) for seed in range(10)]
    assert np.mean([noise.in_band for noise in found if noise is not None]) == pytest.approx(1.0, rel=0.1)


def test_what_is_left_of_the_signal_is_no_noise() -> None:
    noise = 0.5 * filtered(1e4)
    found = noise_beside(noise + 0.1 * SIGNAL, SIGNAL)
    assert found is not None
    assert found.level == pytest.approx(noise.std(axis=0), rel=0.1)
    assert (found.excess > 6.0).all()


def test_a_short_run_has_no_spectrum() -> None:
    assert noise_beside(filtered(30.0)[:100], SIGNAL[:100]) is None


@pytest.mark.parametrize(("count", "detrend"), [(64, "linear"), (77, "linear"), (50, "constant")])
def test_spectra_are_those_of_scipy(count: int, detrend: str) -> None:
    values = np.cumsum(np.random.default_rng(3).standard_normal((1000, 6)), axis=0)
    expected = welch(values, nperseg=count, detrend=detrend, axis=0)[1] / count
    np.testing.assert_allclose(power_spectrum(values, count, detrend == "linear"), expected, rtol=1e-9)
