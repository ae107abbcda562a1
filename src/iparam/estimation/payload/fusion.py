"""`fuse_estimates`: one load from several independent estimates, such as wrist wrench and joint torques."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from iparam.errors import ContradictionError, InputError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.payload.estimate_assembly import estimate_of, precision_warnings
from iparam.spatial.consistency import is_physically_consistent

METHOD = "fusion"


def fuse_estimates(estimates: Sequence[Estimate], *, accept_refuted: bool = False) -> Estimate:
    """The weighted mean of estimates of one load in one frame, each weighing by the inverse of its covariance.

    For independent errors that is the least squares estimate from all data together, and its covariance is below that
    of each. Estimates that differ by more than their covariances allow are still combined, with a warning, and the
    covariance is raised by what they differ.

    Args:
        estimates: two or more, e.g. from the wrist wrench and from joint torques of the same or of different runs.
            Their errors must be independent: estimates from the same signals, by whatever method, are refused.
        accept_refuted: take results that their own data refute; what is fused is then marked in the same way.
    """
    if len(estimates) < 2:
        raise InputError(f"fusion needs at least two estimates, got {len(estimates)}")
    for estimate in estimates:
        estimate.require_complete("fusion weighs all ten parameters")
        if not accept_refuted:
            estimate.require_credit("fusion believes each of its results")
    _require_independent(estimates)
    frame = _one_frame(estimates)
    try:
        informations = [np.linalg.inv(estimate.covariance_phi) for estimate in estimates]
        for estimate in estimates:
            np.linalg.cholesky(estimate.covariance_phi)
    except np.linalg.LinAlgError:
        raise IdentificationError("an estimate has a singular covariance and cannot be weighed") from None
    total = sum(informations[1:], start=informations[0])
    covariance = np.linalg.inv(total)
    covariance = 0.5 * (covariance + covariance.T)
    pulls = [information @ one.phi for information, one in zip(informations, estimates, strict=True)]
    phi = covariance @ sum(pulls[1:], start=pulls[0])
    apart = sum(
        float((one.phi - phi) @ information @ (one.phi - phi))
        for information, one in zip(informations, estimates, strict=True)
    )
    freedom = 10 * (len(estimates) - 1)
    warnings: list[str] = []
    if apart > freedom + 3.0 * np.sqrt(2.0 * freedom):
        warnings.append(
            f"The estimates do not agree: they differ by {np.sqrt(apart / freedom):.1f} times what their standard "
            "deviations allow, by which those of the result were raised."
        )
        covariance = covariance * (apart / freedom)
    if not is_physically_consistent(phi):
        phi = nearest_consistent(phi, np.asarray(np.linalg.inv(covariance), dtype=np.float64))
    arms = sorted({one.robot for one in estimates if one.robot})
    if len(arms) > 1:
        warnings.append(
            f"The estimates come from different arms ({', '.join(arms)}): the load must hang on all of them alike."
        )
    earlier = [warning for one in estimates for warning in one.warnings if "not determined" not in warning]
    fused = estimate_of(
        METHOD,
        phi,
        covariance,
        condition_number=float(np.sqrt(np.linalg.cond(total))),
        residual_norm=float(np.sqrt(sum(one.residual_norm**2 for one in estimates))),
        residual_rms=next((one.residual_rms for one in estimates if one.residual_rms.force.any()), None),
        sensor_bias=next((one.sensor_bias for one in estimates if one.sensor_bias is not None), None),
        samples=sum(one.samples for one in estimates),
        warnings=[*earlier, *warnings, *precision_warnings(phi, np.sqrt(np.diag(covariance)))],
    )
    return dataclasses.replace(
        fused,
        robot=arms[0] if len(arms) == 1 else "",
        frame=frame,
        measurements=tuple(mark for one in estimates for mark in one.measurements),
        refutation=next((one.refutation for one in estimates if one.refutation is not None), None),
    )


def _require_independent(estimates: Sequence[Estimate]) -> None:
    """Refuse one measurement that counts twice: the result would seem more precise than it is."""
    for (i, one), (j, other) in combinations(enumerate(estimates, 1), 2):
        same = np.array_equal(one.phi, other.phi) and np.array_equal(one.covariance_phi, other.covariance_phi)
        if same or set(one.measurements) & set(other.measurements):
            what = "are the same result" if same else "come from the same measured signal"
            raise ContradictionError(
                f"results {i} and {j} {what}, and together they say no more than one of them: fuse results of "
                "different runs, or of the wrist sensor and of the joint torques"
            )


def _one_frame(estimates: Sequence[Estimate]) -> str:
    """The frame of all estimates, "" if none says; refuses several."""
    frames = sorted({one.frame for one in estimates if one.frame})
    if len(frames) > 1:
        raise ContradictionError(
            f"the results are in different frames, {' and '.join(map(repr, frames))}: identify the load in one of "
            "them, with the same --tip"
        )
    return frames[0] if frames else ""
