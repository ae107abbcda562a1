"""`RestCriterion`: how much rests tell of a load whose shape says how centre of mass and inertia go together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.spatial.derived import derived_covariance
from iparam.spatial.inertia import symmetric_array
from iparam.spatial.parameters import InertialParameters

BIAS = np.array([10.0] * 3 + [1.0] * 3)
"""Standard deviations of a sensor's bias [N, N m]: next to nothing is known of it."""

SILENT = 100.0
"""How many times the load's own size what no rest shows may be off."""

GRAVITY = float(np.linalg.norm(STANDARD_GRAVITY))


@dataclass(frozen=True, eq=False)
class RestCriterion:
    """What rests add to what the shape says already: Bayesian D-optimality, the information that both share.

    Attributes:
        payload: the load that is expected, in the tool frame.
        covariance: (10, 10) of phi before any data, as its shape leaves it.
        noise: (6,) standard deviations of the mean wrench of a rest [N, N m].
    """

    payload: InertialParameters
    covariance: FloatArray
    noise: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", frozen(symmetric_array(self.covariance, "covariance", 10)))
        noise = as_float_array(self.noise, "noise", (6,))
        if not (noise > 0.0).all():
            raise InputError(argument="noise", value=noise, expected="six positive numbers")
        object.__setattr__(self, "noise", frozen(noise))

    def values(self, candidates: FloatArray, chosen: FloatArray) -> FloatArray:
        """(C,) logarithm of by how much phi and bias are better known with each candidate beside those chosen.

        Args:
            candidates: (C, 6, 10) regressors of m g, m g c and the bias, in units of g.
            chosen: (P, 6, 10) likewise.
        """
        given = self._information(chosen).sum(axis=0)
        return np.asarray(np.linalg.slogdet(np.eye(16) + self._prior @ (given + self._information(candidates)))[1])

    def relative_inertia(self, regressors: FloatArray) -> float:
        """Root mean square of ``|error of the inertia about the centre of mass| / |that inertia|``, Frobenius norms,
        after rests (P, 6, 10), if loads of the shape differ as `covariance` says and no more.
        """
        information = self._information(regressors).sum(axis=0)
        # (P^-1 + W)^-1 without inverting P, of which a shape leaves some directions next to nothing.
        found = np.linalg.solve(np.eye(16) + self._prior @ information, self._prior)[:10, :10]
        return self.relative(0.5 * (found + found.T))

    def relative(self, covariance: FloatArray) -> float:
        """The same from a covariance (10, 10) of phi."""
        variances = np.diag(derived_covariance(self.payload.phi, covariance))[4:]
        counted = np.array([1.0, 2.0, 2.0, 1.0, 2.0, 1.0]) @ np.maximum(variances, 0.0)
        return float(np.sqrt(counted) / np.linalg.norm(self.payload.inertia_about_com))

    def by_rests_alone(self, regressors: FloatArray) -> FloatArray:
        """(10, 10) covariance of phi by rests (P, 6, 10) without the shape: the inertia is next to unknown."""
        mass, largest = self.payload.mass, float(np.linalg.eigvalsh(self.payload.inertia_about_com)[-1])
        before = SILENT * np.array([mass] * 4 + [largest] * 6 + [*(BIAS / SILENT)])
        found = np.linalg.inv(np.diag(before**-2) + self._information(regressors).sum(axis=0))[:10, :10]
        return np.asarray(0.5 * (found + found.T))

    @property
    def _prior(self) -> FloatArray:
        """(16, 16) covariance of phi and bias before any data."""
        found = np.zeros((16, 16))
        found[:10, :10], found[10:, 10:] = self.covariance, np.diag(BIAS**2)
        return found

    def _information(self, regressors: FloatArray) -> FloatArray:
        """(P, 16, 16) about phi and bias."""
        rows = np.zeros((len(regressors), 6, 16))
        rows[:, :, :4], rows[:, :, 10:] = GRAVITY * regressors[:, :, :4], regressors[:, :, 4:]
        weighed = rows / self.noise[:, None]
        return np.asarray(np.swapaxes(weighed, 1, 2) @ weighed)
