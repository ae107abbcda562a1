"""`fuse_estimates`: one load from several independent estimates, such as wrist wrench and joint torques."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate, lasting_remarks
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.payload.estimate_assembly import estimate_of, precision_remarks
from iparam.estimation.payload.partial_estimate import part_of
from iparam.remarks import Remark, remark
from iparam.spatial.consistency import is_physically_consistent

METHOD = "fusion"


def fuse_estimates(estimates: Sequence[Estimate], *, accept_refuted: bool = False) -> Estimate:
    """The weighted mean of estimates of one load in one frame, each weighing by the inverse of its covariance.

    For independent errors that is the least squares estimate from all data together, and its covariance is below that
    of each. Estimates that differ by more than their covariances allow are still combined, with a warning, and the
    covariance is raised by what they differ. Of a result that determines a part of the load, that part weighs; what
    none determines stays open.

    Args:
        estimates: two or more, e.g. from the wrist wrench and from joint torques of the same or of different runs.
            Their errors must be independent: estimates from the same signals, by whatever method, are refused.
        accept_refuted: take results that their own data refute; what is fused is then marked in the same way.
    """
    if len(estimates) < 2:
        raise InputError(f"fusion needs at least two estimates, got {len(estimates)}")
    for estimate in estimates:
        if not accept_refuted:
            estimate.require_credit("fusion believes each of its results")
    _require_independent(estimates)
    frame = _one_frame(estimates)
    informations = [_information(estimate) for estimate in estimates]
    total = sum(informations[1:], start=informations[0])
    known = np.any([~np.isnan(one.phi) for one in estimates], axis=0)
    inside = np.ix_(known, known)
    covariance, phi = np.full((10, 10), np.nan), np.full(10, np.nan)
    covariance[inside] = _inverse(total[inside])
    pulls = [information @ one.known_phi for information, one in zip(informations, estimates, strict=True)]
    phi[known] = covariance[inside] @ sum(pulls[1:], start=pulls[0])[known]
    differences = [np.nan_to_num(one.phi - phi, nan=0.0) for one in estimates]
    apart = sum(
        float(difference @ information @ difference)
        for information, difference in zip(informations, differences, strict=True)
    )
    freedom = sum(int(np.count_nonzero(~np.isnan(one.phi))) for one in estimates) - int(np.count_nonzero(known))
    remarks: list[Remark] = []
    if freedom and apart > freedom + 3.0 * np.sqrt(2.0 * freedom):
        remarks.append(remark("estimates-disagree", factor=np.sqrt(apart / freedom)))
        covariance = covariance * (apart / freedom)
    if known.all() and not is_physically_consistent(phi):
        phi = nearest_consistent(phi, np.asarray(np.linalg.inv(covariance), dtype=np.float64))
    arms = sorted({one.robot for one in estimates if one.robot})
    if len(arms) > 1:
        remarks.append(remark("estimates-of-different-arms", arms=", ".join(arms)))
    earlier = [each for one in estimates for each in lasting_remarks(one.remarks)]
    remarks += precision_remarks(phi, np.sqrt(np.diag(covariance))) if known.all() else [part_of(phi)]
    fused = estimate_of(
        METHOD,
        phi,
        covariance,
        condition_number=float(np.sqrt(np.linalg.cond(total))) if known.all() else np.inf,
        residual_norm=float(np.sqrt(sum(one.residual_norm**2 for one in estimates))),
        residual_rms=next((one.residual_rms for one in estimates if one.residual_rms.force.any()), None),
        sensor_bias=next((one.sensor_bias for one in estimates if one.sensor_bias is not None), None),
        samples=sum(one.samples for one in estimates),
        remarks=[*earlier, *remarks],
    )
    return dataclasses.replace(
        fused,
        robot=arms[0] if len(arms) == 1 else "",
        frame=frame,
        measurements=tuple(mark for one in estimates for mark in one.measurements),
        refutation=next((one.refutation for one in estimates if one.refutation is not None), None),
    )


def _information(estimate: Estimate) -> FloatArray:
    """(10, 10) inverse of the covariance of what the estimate determines; zeros for the rest."""
    known = ~np.isnan(estimate.phi)
    if not known.any():
        estimate.require_weight("fusion weighs what its results know")
    found = np.zeros((10, 10))
    found[np.ix_(known, known)] = _inverse(estimate.covariance_phi[np.ix_(known, known)])
    return found


def _inverse(covariance: FloatArray) -> FloatArray:
    try:
        np.linalg.cholesky(covariance)
        inverse = np.linalg.inv(covariance)
    except np.linalg.LinAlgError:
        raise IdentificationError("an estimate has a singular covariance and cannot be weighed") from None
    return np.asarray(0.5 * (inverse + inverse.T))


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
            f"the results are in different frames, {' and '.join(map(repr, frames))}: identify the load in one of them"
        )
    return frames[0] if frames else ""
