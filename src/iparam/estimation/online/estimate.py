"""`OnlineEstimate`: the load as known at an instant."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.payload.problem import NUM_PARAMETERS
from iparam.spatial.consistency import is_physically_consistent
from iparam.spatial.derived import derived_covariance, derived_part
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.phi import inertia_entries

LEAST_MASS = 1e-6
"""Mass of the nearest possible load where the samples show next to none [kg]."""

WELL_PLACED = 0.15
"""Deviation up to which a centre of mass is known: of a load that weighs next to nothing, nobody knows it [m]."""


@dataclass(frozen=True, eq=False)
class OnlineEstimate:
    """The load as known at an instant. What the samples do not determine yet is NaN.

    Attributes:
        time: of the last sample that counts, ``lag`` samples before the newest [s].
        phi: (10,).
        covariance_phi: (10, 10), a change of load that cannot be noticed yet included.
        samples: since the start or the last change of load.
        restarts: changes of load so far.
        sensor_bias: (6,) [force, torque] where it is estimated and known, else None [N, N m].
        undetected: (10, 10) what of the covariance is a change that cannot be noticed yet; None where the load is said
            to be constant.
    """

    time: float
    phi: FloatArray
    covariance_phi: FloatArray
    samples: int
    restarts: int
    sensor_bias: FloatArray | None = None
    undetected: FloatArray | None = None

    @property
    def complete(self) -> bool:
        """Whether all ten parameters are known."""
        return not np.isnan(self.phi).any()

    @property
    def parameters(self) -> InertialParameters:
        """Mass, centre of mass and inertia of a load that is known completely."""
        return InertialParameters.from_phi(self.phi)

    @property
    def possible(self) -> OnlineEstimate:
        """The same with the nearest parameters, by its own covariance, that a rigid body can have."""
        if not self.complete:
            mass = self.phi[0]
            return self if not mass < LEAST_MASS else replace(self, phi=np.where(np.arange(10) > 0, np.nan, LEAST_MASS))
        if is_physically_consistent(self.phi):
            return self
        unit = 1.0 / np.sqrt(np.maximum(np.diag(self.covariance_phi), 1e-300))
        scaled = np.linalg.pinv(self.covariance_phi * np.outer(unit, unit), hermitian=True)
        return replace(self, phi=nearest_consistent(self.phi, scaled * np.outer(unit, unit)))

    def without(self, known: Estimate) -> OnlineEstimate:
        """What is left without a load that is known, such as the gripper, given in the tool frame."""
        return replace(
            self, phi=self.phi - known.phi, covariance_phi=self.covariance_phi + np.asarray(known.covariance_phi)
        )

    @property
    def mass(self) -> float:
        """[kg]."""
        return float(self.phi[0])

    @property
    def center_of_mass(self) -> FloatArray:
        """(3,) [m]."""
        return self.derived[0][1:4]

    @property
    def derived(self) -> tuple[FloatArray, FloatArray]:
        """(10,) mass, centre of mass and inertia about it [kg, m, kg m^2], and (10,) their standard deviations."""
        if not self.complete:
            values, variances = derived_part(self.phi, self.covariance_phi)
            deviations = np.sqrt(variances)
            vague = np.zeros(NUM_PARAMETERS, dtype=bool)
            vague[1:4] = deviations[1:4] > WELL_PLACED
            vague[4:] = vague[1:4].any()
            values[vague] = deviations[vague] = np.nan
            return values, deviations
        body = self.parameters
        values = np.array([body.mass, *body.center_of_mass, *inertia_entries(body.inertia_about_com)])
        return values, np.sqrt(np.maximum(np.diag(derived_covariance(self.phi, self.covariance_phi)), 0.0))

    @property
    def derived_deviation(self) -> FloatArray:
        """(10,) standard deviations of mass, centre of mass and inertia about it."""
        return self.derived[1]
