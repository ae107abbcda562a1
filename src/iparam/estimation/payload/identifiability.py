"""What the data of a problem determine: rank, singular values, and the parameters that they cannot tell."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.errors import IdentificationError, NotIdentifiableError
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighting import NoiseWeights, first_weights, triangular_factor
from iparam.recording.units import USUAL_RATES, time_hint
from iparam.regressor.identifiability import PARAMETER_NAMES, IdentifiabilityReport, payload_identifiability

MOSTLY_NOISE = 0.5
"""Share of errors in the regressor's power from which a direction counts as not excited."""

LEAST_SIGNAL = 1e-9
"""Share of a channel's size below which its changes count as none."""


def problem_identifiability(problem: PayloadProblem, weights: NoiseWeights | None = None) -> IdentifiabilityReport:
    """What the motion of a problem determines about phi, beside the bias where that is estimated too.

    A direction counts as determined if the regressor moves along it by more than rounding, and by more than the errors
    of the motion alone would make it seem to.
    """
    chosen = first_weights(problem) if weights is None else weights
    rows = without_bias(problem, chosen)
    report = payload_identifiability(rows)
    if report.rank < NUM_PARAMETERS or problem.uncertainty is None:
        return report
    noise = problem.uncertainty.gram(chosen.precision)
    inverse = np.linalg.inv(rows)
    share, directions = np.linalg.eigh(inverse.T @ noise @ inverse)
    blind = share > MOSTLY_NOISE
    if not blind.any():
        return report
    lost = inverse @ directions[:, blind] * np.linalg.norm(rows, axis=0)[:, None]
    involved = np.abs(lost).max(axis=1) > 0.05 * np.abs(lost).max()
    names = tuple(name for name, part in zip(PARAMETER_NAMES, involved, strict=True) if part)
    return IdentifiabilityReport(NUM_PARAMETERS - int(blind.sum()), report.singular_values, np.inf, names)


def require_identifiable(problem: PayloadProblem, weights: NoiseWeights | None = None) -> IdentifiabilityReport:
    """The report, or an error that names what cannot be told."""
    check_wrench(problem)
    report = problem_identifiability(problem, weights)
    if report.rank < NUM_PARAMETERS:
        names = ", ".join(report.undetermined) or "some combinations of parameters"
        raise NotIdentifiableError(
            f"this motion determines only {report.rank} of the 10 parameters: {names} cannot be told. "
            f"{_advice(problem)}",
            report.undetermined,
        )
    return report


def _advice(problem: PayloadProblem) -> str:
    """What would help; with few samples a second, that is first of all the right unit of time."""
    advice = (
        "Move all wrist joints, faster, through more orientations (see iparam excite optimize), or give a prior "
        "(--method logchol)"
    )
    hint = time_hint(problem.time, slowest=USUAL_RATES[0])
    if not hint:
        return advice
    return f"The wrench has {hint}. If it is in seconds: {advice}"


def check_wrench(problem: PayloadProblem) -> None:
    """Refuse a wrench that does not come from a working sensor."""
    size = float(np.abs(problem.y).max())
    if size == 0.0:
        raise IdentificationError("the wrench is zero in all samples: is the force/torque sensor connected?")
    still = np.ptp(problem.y, axis=0) <= LEAST_SIGNAL * np.abs(problem.y).max(axis=0)
    if problem.num_samples > 1 and still.all():
        raise IdentificationError(
            "the wrench is the same in all samples: either the sensor is stuck or nothing moved, and a load that is "
            "moved cannot exert a constant wrench"
        )


def without_bias(problem: PayloadProblem, weights: NoiseWeights) -> FloatArray:
    """(10, 10) triangular rows whose Gram matrix is that of the whitened regressors with the bias projected out."""
    start = 6 * problem.bias
    return triangular_factor(problem, weights, bias_first=True)[start : start + NUM_PARAMETERS, start:-1]
