"""`as_result`: the file of a result at rest as a result file of which mass and centre of mass are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from iparam.arrays import covariance_problem
from iparam.files.json import JsonSection
from iparam.rounding import NORMAL_95

STATIC_FORMAT = "iparam-static-result/1"

_KNOWN = 4  # of the ten parameters: mass and first moment
_NULLS = [None] * 6


def as_result(document: JsonSection) -> JsonSection:
    """What a file of the format ``iparam-static-result/1`` says, in the keys of ``iparam-result/1``.

    Few rests have wide tails: deviations are widened to those of a normal distribution with the same 95 %.

    Args:
        document: the file; one that holds something else raises a `FileFormatError` that says where.
    """
    mass, center = document.number("mass"), document.array("center_of_mass", 1)
    stated = document.array("covariance_mass_first_moment_bias", 2)
    for key, values, shape in (
        ("center_of_mass", center, (3,)),
        ("covariance_mass_first_moment_bias", stated, (10, 10)),
    ):
        if values.shape != shape:
            raise document.error(key, f"must have shape {shape}, got {values.shape}")
    if problem := covariance_problem(stated):
        raise document.error("covariance_mass_first_moment_bias", problem)
    wider = document.number("interval_95_factor") / NORMAL_95
    if wider < 1.0:
        raise document.error("interval_95_factor", f"must be at least {NORMAL_95:.4g}, that of many rests")
    covariance = wider**2 * stated[:_KNOWN, :_KNOWN]
    deviation, rest = document.section("standard_deviation"), document.section("residual_rms")
    samples = sum(one.count("samples") for one in document.sections("rests"))
    residual = [*rest.array("force", 1).tolist(), *rest.array("torque", 1).tolist()]
    content: dict[str, Any] = {
        **document.content,
        "inertia_about_origin": None,
        "phi": [mass, *(mass * center).tolist(), *_NULLS],
        "standard_deviation": {
            "mass": wider * deviation.number("mass"),
            "center_of_mass": (wider * deviation.array("center_of_mass", 1)).tolist(),
            "inertia_about_com": None,
            "phi": [*np.sqrt(np.maximum(np.diag(covariance), 0.0)).tolist(), *_NULLS],
        },
        "covariance_phi": [*([*row, *_NULLS] for row in covariance.tolist()), *([None] * 10 for _ in _NULLS)],
        "physically_consistent": mass > 0.0,
        "condition_number": None,
        "residual_norm": math.sqrt(samples) * float(np.linalg.norm(residual)),
        "samples": samples,
    }
    return JsonSection(document.file, document.key, content)
