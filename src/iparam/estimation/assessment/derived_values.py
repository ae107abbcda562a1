"""The ten numbers that people ask for, mass, centre of mass and inertia about it, in units that suit them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.rounding import NORMAL_95
from iparam.spatial.parameters import InertialParameters, inertia_entries

if TYPE_CHECKING:
    from iparam.estimation.estimate import Estimate

__all__ = ["NAMES", "NORMAL_95", "SCALES", "UNITS", "DerivedValues", "derived_of", "derived_values", "parameter_scales"]

ENTRIES = ("xx", "xy", "xz", "yy", "yz", "zz")
NAMES = ("mass", *(f"CoM {axis}" for axis in "xyz"), *(f"inertia {entry}" for entry in ENTRIES))
"""CoM: centre of mass. The inertia is about it, in the tool frame's axes."""

UNITS = ("kg", *["mm"] * 3, *["kg\N{NO-BREAK SPACE}m²"] * 6)
SCALES = np.array([1.0, *[1e3] * 3, *[1.0] * 6])
"""From SI to UNITS."""

_SIX = np.triu_indices(3)


@dataclass(frozen=True, eq=False)
class DerivedValues:
    """The ten numbers of an estimate, in SI units; NaN for what the data do not determine.

    Attributes:
        values: (10,) mass [kg], centre of mass [m], inertia about it [kg m^2].
        half_widths: (10,) of their 95 % intervals.
    """

    values: FloatArray
    half_widths: FloatArray

    def holds(self, truth: FloatArray) -> NDArray[np.bool_]:
        """(10,) whether the interval of each holds ``truth`` (10,)."""
        return np.asarray(np.abs(self.values - truth) <= self.half_widths)


def derived_values(estimate: Estimate) -> DerivedValues:
    """Those of an estimate."""
    standard_deviation = estimate.standard_deviation
    deviations = np.array(
        [
            standard_deviation.mass,
            *standard_deviation.center_of_mass,
            *standard_deviation.inertia_about_com[_SIX],
        ]
    )
    inertia = estimate.inertia_about_com[_SIX]
    return DerivedValues(np.array([estimate.mass, *estimate.center_of_mass, *inertia]), NORMAL_95 * deviations)


def derived_of(body: InertialParameters) -> FloatArray:
    """(10,) those of a body, in SI units."""
    return np.array([body.mass, *body.center_of_mass, *inertia_entries(body.inertia_about_com)])


def parameter_scales(body: InertialParameters | Estimate) -> FloatArray:
    """(10,) what an error of each is small or large compared with: mass, radius of gyration, largest moment.

    Of an inertia that is known in part, the largest moment is that of its known ones; NaN without any.
    """
    mass, inertia = max(abs(body.mass), 1e-12), body.inertia_about_com
    moments = np.diag(inertia) if np.isnan(inertia).any() else np.linalg.eigvalsh(inertia)
    known = np.abs(moments[~np.isnan(moments)])
    largest = max(float(known.max()), 1e-12) if known.size else np.nan
    return np.array([mass, *[np.sqrt(largest / mass)] * 3, *[largest] * 6])
