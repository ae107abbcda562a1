"""`assemble_estimate`: from a fitted vector and its covariance to an `Estimate` with its remarks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np

from iparam.arrays import FloatArray, frozen
from iparam.estimation.assessment.residual_structure import ResidualStructure, residual_structure
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import SUCCESS, Estimate, StandardDeviations, Wrench
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import channel_floor, load_follows, residuals
from iparam.regressor.identifiability import PARAMETER_NAMES
from iparam.remarks import Remark, remark
from iparam.spatial.consistency import check_consistency, may_be_body
from iparam.spatial.derived import derived_part, symmetric

POORLY_KNOWN = 0.2
"""Standard deviation of a parameter, as a share of its scale, from which a remark says so."""


CORRELATED = 1.5
"""Inflation of the covariance by correlation in time from which a remark says so."""

STRUCTURE = ("residuals-follow-motion", "residuals-keep-sign")
"""Codes of remarks on residuals whose cause the standard deviations do not cover."""

VISIBLE = 1e-3
"""Residual, as a share of the force and of the torque, below which nobody needs to hear of its structure."""


def assemble_estimate(
    method: str,
    problem: PayloadProblem,
    parameters: FloatArray,
    covariance: FloatArray,
    *,
    inflation: float = 1.0,
    data_share: FloatArray | None = None,
    remarks: tuple[Remark, ...] = (),
    status: str = SUCCESS,
    unconstrained_phi: FloatArray | None = None,
) -> Estimate:
    """Put an estimate together.

    Args:
        method: name of the estimator.
        problem: the data.
        parameters: (p,) phi and, if estimated, the bias.
        covariance: (p, p) of them.
        inflation: of the covariance, by correlation in time.
        data_share: (10,) see `Estimate`.
        remarks: in addition to those found here.
        status: one sentence.
        unconstrained_phi: (10,) see `Estimate`.
    """
    phi = parameters[:NUM_PARAMETERS]
    if not (np.isfinite(parameters).all() and np.isfinite(covariance).all()) or phi[0] == 0.0:
        raise IdentificationError(f"method {method} found no finite solution: the data do not determine the parameters")
    residual = residuals(problem, parameters)
    rms = np.sqrt(np.mean(residual**2, axis=0))
    own = _noise_and_motion(problem, phi, rms, covariance[:NUM_PARAMETERS, :NUM_PARAMETERS], inflation)
    terms = summed_terms(own, _of_delay(problem, phi), problem.covariance_terms)
    phi_covariance = sum_of_terms(terms)
    standard_deviation = np.sqrt(np.maximum(np.diag(phi_covariance), 0.0))
    found = [*problem.remarks, *remarks, *precision_remarks(phi, standard_deviation)]
    report = check_consistency(phi)
    if not report:
        found.append(remark("not-a-rigid-body", violation=report.violations[0], fix={"method": "consistent"}))
    unexplained, shown = (values.reshape(2, 3).mean(axis=1) for values in (rms**2, np.mean(problem.y**2, axis=0)))
    if inflation > CORRELATED and (unexplained > VISIBLE**2 * shown).any():
        found.append(correlation_remark(residual_structure(problem, residual), inflation))
    return estimate_of(
        method,
        phi,
        terms,
        condition_number=condition_number(problem.A),
        residual_norm=float(np.linalg.norm(residual)),
        residual_rms=Wrench(frozen(rms[:3]), frozen(rms[3:])),
        sensor_bias=Wrench(frozen(parameters[10:13]), frozen(parameters[13:16])) if problem.bias else None,
        samples=problem.num_samples * problem.averaged,
        data_share=None if data_share is None else frozen(data_share),
        time_correlation=inflation,
        remarks=found,
        status=status,
        unconstrained_phi=unconstrained_phi,
    )


def _noise_and_motion(
    problem: PayloadProblem, phi: FloatArray, rms: FloatArray, covariance: FloatArray, inflation: float
) -> dict[str, FloatArray]:
    """The covariance (10, 10) of a fit in two: what the errors of the motion have in it by what is known of them, never
    more than all, and the rest. Channels weigh as in a fit by what it leaves of them, rms (6,).
    """
    uncertainty = problem.uncertainty
    if uncertainty is None:
        return {"noise": covariance}
    weights, kept = np.maximum(rms, channel_floor(problem)) ** -2.0, uncertainty.kept
    design = problem.A[kept]
    if problem.bias:
        design = np.concatenate([design, np.broadcast_to(np.eye(6), (kept.size, 6, 6))], axis=2)
    rows = design * np.sqrt(uncertainty.counts)[:, None, None]
    weighted = rows * weights[:, None]
    gram = np.einsum("nci,ncj->ij", weighted, rows, optimize=True)
    scores = np.einsum("nci,ncd,ndj->ij", weighted, uncertainty.wrench_covariance(phi), weighted, optimize=True)
    follows = np.linalg.pinv(gram, hermitian=True)[:NUM_PARAMETERS]
    values, vectors = np.linalg.eigh(covariance)
    root = np.sqrt(np.maximum(values, 1e-14 * max(float(values[-1]), 1e-300)))
    shares = (vectors.T @ (inflation * follows @ scores @ follows.T) @ vectors) / np.outer(root, root)
    part, axes = np.linalg.eigh(0.5 * (shares + shares.T))
    turned = (vectors * root) @ axes
    part = np.clip(part, 0.0, 1.0)
    return {"noise": (turned * (1.0 - part)) @ turned.T, "motion": (turned * part) @ turned.T}


def _of_delay(problem: PayloadProblem, phi: FloatArray) -> dict[str, FloatArray]:
    """The term of a delay which is not known better: its error is the same in all samples."""
    if not problem.delay_deviation:
        return {}
    change = problem.delay_deviation * np.gradient(problem.A @ phi, problem.time, axis=0)
    moved = load_follows(problem, change[:, :, None])[:, 0]
    return {"delay": np.outer(moved, moved)}


def correlation_remark(structure: ResidualStructure, inflation: float) -> Remark:
    """A remark on residuals that are correlated in time."""
    if structure.follows_motion:
        return remark("residuals-follow-motion")
    if structure.lasts:
        return remark("residuals-keep-sign")
    return remark("residuals-correlated", inflation=inflation)


def estimate_of(
    method: str,
    phi: FloatArray,
    covariance: FloatArray | Mapping[str, FloatArray],
    *,
    condition_number: float,
    residual_norm: float,
    samples: int,
    remarks: Iterable[Remark] = (),
    residual_rms: Wrench | None = None,
    sensor_bias: Wrench | None = None,
    data_share: FloatArray | None = None,
    time_correlation: float = 1.0,
    status: str = SUCCESS,
    unconstrained_phi: FloatArray | None = None,
) -> Estimate:
    """An `Estimate` from phi (10,) and its covariance (10, 10), NaN for what is not known; the covariance may be NaN
    alone; or the terms that it is the sum of, by name. The rest as in there, no wrench residual as zeros.
    """
    terms = covariance if isinstance(covariance, Mapping) else {"noise": covariance}
    covariance = sum_of_terms(terms)
    values = derived_part(phi, covariance)[0]
    return Estimate(
        method=method,
        mass=float(phi[0]),
        center_of_mass=frozen(values[1:4]),
        inertia_about_com=frozen(symmetric(values[4:])),
        inertia_about_origin=frozen(symmetric(phi[4:])),
        phi=frozen(phi),
        standard_deviation=StandardDeviations.of(phi, covariance),
        covariance_phi=frozen(covariance),
        covariance_terms=terms,
        physically_consistent=may_be_body(phi),
        condition_number=condition_number,
        residual_norm=residual_norm,
        residual_rms=Wrench(frozen(np.zeros(3)), frozen(np.zeros(3))) if residual_rms is None else residual_rms,
        sensor_bias=sensor_bias,
        samples=samples,
        data_share=data_share,
        time_correlation=time_correlation,
        remarks=tuple(remarks),
        status=status,
        unconstrained_phi=None if unconstrained_phi is None else frozen(unconstrained_phi),
    )


def widened(estimate: Estimate, covariance: FloatArray, term: str) -> Estimate:
    """The estimate, or the part of one, with more uncertainty: (10, 10) that is added to a term of the covariance."""
    terms = summed_terms(estimate.covariance_terms or {"noise": estimate.covariance_phi}, {term: covariance})
    total = sum_of_terms(terms)
    return dataclasses.replace(
        estimate,
        covariance_phi=frozen(total),
        covariance_terms=terms,
        standard_deviation=StandardDeviations.of(estimate.phi, total),
    )


def summed_terms(*parts: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """All terms; those of the same name are added."""
    found: dict[str, FloatArray] = {}
    for name, term in (item for part in parts for item in part.items()):
        found[name] = found[name] + term if name in found else np.asarray(term)
    return found


def sum_of_terms(terms: Mapping[str, FloatArray]) -> FloatArray:
    """(10, 10) the covariance of phi: the one place where its terms are added."""
    total = np.sum(list(terms.values()), axis=0)
    return np.asarray(0.5 * (total + total.T))


def condition_number(A: FloatArray) -> float:
    """Of the stacked regressors A (N, 6, 10), in SI units."""
    rows = A.reshape(-1, NUM_PARAMETERS)
    values = np.linalg.eigvalsh(rows.T @ rows)
    if values[0] > 1e-8 * values[-1]:
        return float(np.sqrt(values[-1] / values[0]))
    return float(np.linalg.cond(np.linalg.qr(rows, mode="r")))  # a Gram matrix holds half the digits only


def precision_remarks(phi: FloatArray, standard_deviation: FloatArray) -> list[Remark]:
    """A remark for each parameter that the data leave open.

    The mass is compared with itself, a first moment with the mass times the body's reach, an inertia with the largest
    moment of inertia.
    """
    mass = max(abs(float(phi[0])), 1e-12)
    largest = max(float(np.abs(phi[[4, 7, 9]]).max()), 1e-12)
    reach = np.sqrt(largest / mass)
    scales = np.array([mass, *[mass * reach] * 3, *[largest] * 6])
    meaning = ["of the estimate"] + ["of the mass times the load's radius of gyration"] * 3
    meaning += ["of the largest moment of inertia"] * 6
    return [
        remark("parameter-open", parameter=name, share=100.0 * share, scale=scale)
        for name, share, scale in zip(PARAMETER_NAMES, standard_deviation / scales, meaning, strict=True)
        if share > POORLY_KNOWN
    ]
