"""Results made up for tests of what reads them: whole, and in agreement with themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from iparam.estimation import Estimate
from iparam.estimation.payload.estimate_assembly import estimate_of
from iparam.remarks import Remark

Rows = list[list[float]]


def made_result(
    mass: float, center: list[float], inertia_about_com: Rows, remarks: Iterable[Remark] = (), **changes: Any
) -> dict[str, Any]:
    """The document of a load with these very numbers and remarks, by which its verdict goes, and with changes."""
    c = np.asarray(center)
    about_origin = np.asarray(inertia_about_com) + mass * (c @ c * np.eye(3) - np.outer(c, c))
    phi = np.array([mass, *(mass * c), *about_origin[np.triu_indices(3)]])
    made = estimate_of(
        "ls",
        phi,
        1e-8 * np.eye(10),
        condition_number=5.0,
        residual_norm=1.0,
        samples=100,
        remarks=remarks,
    )
    known = {"mass": mass, "center_of_mass": center, "inertia_about_com": inertia_about_com}
    return made.to_document() | known | changes


def with_load(estimate: Estimate, phi: np.ndarray, covariance: np.ndarray | None = None) -> Estimate:
    """An estimate with another phi, and with another covariance if one is given, and all that follows from them."""
    made = estimate_of(
        estimate.method,
        phi,
        estimate.covariance_phi if covariance is None else covariance,
        condition_number=1.0,
        residual_norm=0.0,
        samples=1,
    )
    names = ("mass", "center_of_mass", "inertia_about_com", "inertia_about_origin", "phi")
    names += ("standard_deviation", "covariance_phi", "physically_consistent")
    return dataclasses.replace(estimate, **{name: getattr(made, name) for name in names})


def made_static(mass: float, center: list[float], remarks: Iterable[Remark] = (), **changes: Any) -> dict[str, Any]:
    """The document of a result at rest."""
    variance, lever = 1e-8, np.asarray(center) / mass
    of_center = np.sqrt(variance * (1.0 / mass**2 + lever**2)).tolist()
    zero = {"force": [0.0] * 3, "torque": [0.0] * 3}
    return {
        "format": "iparam-static-result/1",
        "method": "static",
        "status": "The inertia cannot be seen at rest.",
        "mass": mass,
        "center_of_mass": center,
        "inertia_about_com": None,
        "standard_deviation": {"mass": 1e-4, "center_of_mass": of_center, "sensor_bias": zero},
        "covariance_mass_first_moment_bias": (variance * np.eye(10)).tolist(),
        "interval_95_factor": 2.2,
        "sensor_bias": zero,
        "residual_rms": zero,
        "num_poses": 6,
        "rests": [{"samples": 100}] * 6,
        "warnings": [one.message for one in remarks],
        "remarks": [one.to_document() for one in remarks],
        "assessment": {"verdict": "usable", "sentence": "The inertia cannot be seen at rest.", "causes": []},
    } | changes
