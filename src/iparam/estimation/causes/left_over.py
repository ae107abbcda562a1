"""`left_over`: what even the best explanation leaves in the band in which a load moves, beyond the sensor's noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit
from iparam.recording.noise_level import power_spectrum
from iparam.spatial.parameters import InertialParameters

SEGMENT = 2.0
"""Time that a spectrum is of [s]."""

SLOWEST, FASTEST = 0.5, 8.0
"""Band in which arms move loads, and in which loose parts swing [Hz]."""

CHANCE = 1.5
"""Times the density of the noise that its own estimate in a few frequencies may show."""

SWINGS = 4.0
"""Power of the force at a frequency, in that of the noise, from which on something swings: with some ten segments of
three channels, noise alone does so once in a million."""

MOST_LEFT = 0.1
"""Force that nothing explains, as a share of the load's weight, before the load is refuted."""

GRAVITY = 9.81


@dataclass(frozen=True)
class LeftOver:
    """What is left in the band of a load's wrench, beyond noise.

    Attributes:
        force, torque: root mean squares [N, N m].
        hertz: where the force has most of it [Hz]; 0 where nothing stands out of the noise.
    """

    force: float = 0.0
    torque: float = 0.0
    hertz: float = 0.0

    def share(self, mass: float) -> float:
        """Of a load's weight."""
        return self.force / max(GRAVITY * mass, 1e-12)

    def covariance(self, load: InertialParameters) -> FloatArray:
        """(10, 10) of phi: a force that is not explained could be a part of the mass that is elsewhere, or loose."""
        mass = self.force / GRAVITY
        reach = float(np.sqrt(np.abs(load.phi[[4, 7, 9]]).max() / max(load.mass, 1e-12)))
        moment = self.torque / GRAVITY + mass * reach
        return np.diag(np.square([mass, *[moment] * 3, *[moment * reach] * 6]))


def left_over(run: ExaminedRun, fit: Fit) -> LeftOver:
    """What a fit leaves. The density of the noise is that of the frequencies above the band."""
    rate = 1.0 / float(np.median(np.diff(run.time)))
    count = int(SEGMENT * rate)
    if count < 16 or len(run.time) < 2 * count:
        return LeftOver()
    residual = np.where(fit.weights > 0.0, fit.residual, 0.0)
    hertz = rate * np.arange(count // 2 + 1) / count
    density = power_spectrum(residual, count, without_trend=False) * count / rate
    band, above = (hertz >= SLOWEST) & (hertz <= FASTEST), hertz > FASTEST
    if np.count_nonzero(above) < 3:
        return LeftOver()
    noise = np.median(density[above], axis=0)
    beyond = np.maximum(density[band] - CHANCE * noise, 0.0)
    force, torque = (float(np.sqrt(beyond[:, part].sum() * hertz[1])) for part in (slice(3), slice(3, 6)))
    power = density[band][:, :3].sum(axis=1)
    best = int(np.argmax(power))
    swings = power[best] > SWINGS * float(noise[:3].sum())
    return LeftOver(force, torque, float(hertz[band][best]) if swings else 0.0)
