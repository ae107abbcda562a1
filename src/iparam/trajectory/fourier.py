"""`FourierTrajectory`: a finite Fourier series about a pose. It does not start at rest; see `BlendedTrajectory`."""

from __future__ import annotations

from dataclasses import dataclass

from iparam.arrays import FloatArray
from iparam.trajectory.harmonic_series import HarmonicSeries
from iparam.trajectory.harmonics import harmonic_basis


@dataclass(frozen=True, eq=False)
class FourierTrajectory(HarmonicSeries):
    """q(t) = q0 + sum_k (a_k sin(2 pi k f t) + b_k cos(2 pi k f t)).

    Attributes as in `HarmonicSeries`; q0 is the centre of the motion, whose period is 1 / f, whatever its duration.
    """

    @staticmethod
    def _functions(times: FloatArray, num_harmonics: int, base_freq: float, duration: float) -> FloatArray:
        return harmonic_basis(times, num_harmonics, base_freq)
