"""The tables of `iparam demo`: estimates beside the truth that only a simulation knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from iparam.cli.output import number, numbers
from iparam.estimation.estimate import Estimate
from iparam.estimation.metrics import accuracy
from iparam.report.derived_values import SCALES, derived_of, derived_values
from iparam.report.method_comparison import MethodComparison
from iparam.spatial.parameters import InertialParameters

_NAMES = (
    *("mass [kg]", "CoM x [mm]", "CoM y [mm]", "CoM z [mm]"),
    *(f"inertia {entry} [g m^2]" for entry in ("xx", "xy", "xz", "yy", "yz", "zz")),
)


def parameter_rows(estimate: Estimate, truth: InertialParameters) -> list[list[str]]:
    """A row for each of the ten numbers: name, estimate, 95 % half width, truth, error, whether the interval holds."""
    found, true = derived_values(estimate), SCALES * derived_of(truth)
    values, half = SCALES * found.values, SCALES * found.half_widths
    inside = found.holds(derived_of(truth))
    return [
        [name, *numbers([values[i], half[i], true[i], values[i] - true[i]], 4), "yes" if inside[i] else "no"]
        for i, name in enumerate(_NAMES)
    ]


def demo_summary(comparison: MethodComparison, truth: InertialParameters) -> dict[str, Any]:
    """For machines: the truth, and each method's estimate with its errors."""
    found = {}
    for name, estimate in comparison.estimates.items():
        errors = accuracy(estimate.phi, truth.phi)
        found[name] = {
            **estimate.to_document(),
            "error": {
                "mass_percent": errors.mass_percent,
                "center_of_mass": errors.center_of_mass_distance,
                "inertia_percent": errors.inertia_percent,
            },
            "truth_inside_95_percent": derived_values(estimate).holds(derived_of(truth)),
        }
    return {"simulated": True, "truth": {"phi": truth.phi}, "methods": found, "failures": dict(comparison.failures)}


def method_rows(estimates: Mapping[str, Estimate], truth: InertialParameters) -> list[list[str]]:
    """A row for each method: mass, and the errors of mass, centre of mass and inertia with 95 % half widths."""
    largest = float(np.linalg.eigvalsh(truth.inertia_about_com)[-1])
    rows = []
    for name, estimate in estimates.items():
        found, errors = derived_values(estimate), accuracy(estimate.phi, truth.phi)
        half = found.half_widths
        rows.append(
            [
                name,
                *numbers([estimate.mass, half[0]], 4),
                f"{errors.mass_percent:.3f} %",
                number(1e3 * errors.center_of_mass_distance, 2),
                number(1e3 * float(half[1:4].max()), 2),
                f"{float(errors.inertia_percent.max()):.2f} %",
                f"{100.0 * float(half[4:].max()) / largest:.2f}",
                f"{int(found.holds(derived_of(truth)).sum())}/10",
            ]
        )
    return rows
