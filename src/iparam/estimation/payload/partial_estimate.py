"""`partial_estimate`: what data determine of a load where they do not determine all of it.

The weighted fit takes place in the directions that the data show. A parameter in which a direction that they do not
show has a part is not known, however good the fit, and is NaN; the others have their values and deviations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, frozen
from iparam.estimation.assessment.residual_structure import residual_structure
from iparam.estimation.errors import NotIdentifiableError
from iparam.estimation.estimate import ONLY_A_PART, Estimate, StandardDeviations, Wrench, grouped_names
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.estimate_assembly import (
    CORRELATED,
    VISIBLE,
    correlation_remark,
    estimate_of,
    summed_terms,
)
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import (
    MOSTLY_NOISE,
    ROUNDS,
    SMOOTH_MORE,
    NoiseWeights,
    channel_floor,
    check_wrench,
    constant_weights,
    first_weights,
    hidden_by_motion_errors,
    residual_weights,
    residuals,
    triangular_factor,
)
from iparam.recording.units import USUAL_RATES, time_hint
from iparam.regressor.identifiability import PARAMETER_NAMES, beyond_arm, turning_axes
from iparam.remarks import Remark, remark
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot
from iparam.spatial.derived import derived_known

TOLERANCE = 1e-6
"""Share of the largest singular value below which a direction of unit columns is one that the data do not show."""

SHARE = 0.05
"""Part in a direction that is mostly noise, relative to the largest, from which on a parameter is not known."""

FEW = 100
"""Samples below which their own scatter tells neither the noise of each channel nor correlation in time."""

LEVEL = 0.01
"""Least deviation of a channel, as a share of the largest of the forces, or of the torques."""

EXACT = 1e-6
"""Residual, as a share of the wrench, that is none."""

LEAST_MASS = 2.0
"""Standard deviations that a mass must be from zero to be known at all."""


@dataclass(frozen=True, eq=False)
class Shown:
    """The directions of unknowns (p,), such as phi and bias, that data show.

    Attributes:
        basis: (p, r) of them: unknowns = basis @ coordinates.
        known: (p,) which unknowns no other direction has a part in.
    """

    basis: FloatArray
    known: NDArray[np.bool_]


def partial_estimate(
    problem: PayloadProblem, reason: NotIdentifiableError, arm: Robot | None = None, gravity: ArrayLike | None = None
) -> Estimate:
    """What the data determine, with NaN for the rest.

    Args:
        problem: the data.
        reason: why they do not determine everything; raised again if they determine nothing.
        arm: that moved the load, for advice that it can follow; None if unknown.
        gravity: (3,) in its base's axes [m/s^2]; None for 9.81 downwards.
    """
    check_wrench(problem)
    weights = level_weights(problem)
    shown = _shown(problem, weights)
    parameters, information = _solve(problem, weights, shown)
    for _ in range(ROUNDS):
        residual = residuals(problem, parameters)
        if np.sqrt(np.mean(residual**2)) <= EXACT * np.sqrt(np.mean(problem.y**2)):
            break  # exact data have no noise to be weighed by
        if problem.num_samples < FEW:
            weights = _pooled_weights(problem, residual, shown)
        else:
            weights = residual_weights(problem, residual, parameters[:NUM_PARAMETERS])
        parameters, information = _solve(problem, weights, shown)
    residual = residuals(problem, parameters)
    if problem.num_samples < FEW:
        covariance, inflation = np.asarray(np.linalg.inv(information), float), 1.0
    else:
        scores = Scores(problem.design @ shown.basis, weights.weighted(residual), np.zeros(shown.basis.shape[1]))
        covariance, inflation = estimate_covariance(information, scores)
    moved = _moved_by_delay(problem, parameters, weights, shown, information)
    covariance = shown.basis @ (covariance + np.outer(moved, moved)) @ shown.basis.T
    bias = parameters[NUM_PARAMETERS:] if problem.bias and shown.known[NUM_PARAMETERS:].all() else None
    return assemble_partial(
        problem,
        parameters[:NUM_PARAMETERS],
        covariance[:NUM_PARAMETERS, :NUM_PARAMETERS],
        shown.known[:NUM_PARAMETERS],
        residual,
        bias,
        inflation,
        reason,
        None if arm is None else _ArmAbility.of(arm, STANDARD_GRAVITY if gravity is None else gravity, problem.bias),
    )


@dataclass(frozen=True, eq=False)
class _ArmAbility:
    """What of a load no motion of an arm shows, and why.

    Attributes:
        unseen: (10,) mass, centre of mass, and inertia about it.
        why: a sentence without its full stop; "" if nothing is unseen.
    """

    unseen: NDArray[np.bool_]
    why: str

    @classmethod
    def of(cls, arm: Robot, gravity: ArrayLike, bias: bool) -> _ArmAbility:
        unseen = ~derived_known(~np.isin(PARAMETER_NAMES, beyond_arm(arm, gravity, bias=bias)))
        axes = ("does not turn its tool", "turns its tool about one axis only", "turns its tool about two axes only")
        count = turning_axes(arm)
        why = f"{arm.name} {axes[count]}" if count < len(axes) else f"{arm.name} cannot make a motion for it"
        return cls(unseen, why if unseen.any() else "")


def assemble_partial(
    problem: PayloadProblem,
    phi: FloatArray,
    covariance: FloatArray,
    known: NDArray[np.bool_],
    residual: FloatArray,
    bias: FloatArray | None,
    inflation: float,
    reason: NotIdentifiableError,
    ability: _ArmAbility | None = None,
) -> Estimate:
    """An `Estimate` of what is known.

    Args:
        problem: the data.
        phi: (10,), of which only what is known counts.
        covariance: (10, 10) of it.
        known: (10,) what is.
        residual: (N, 6) what is left of the wrench, or (M, 6) of its means [N, N m].
        bias: (6,) of the sensor; None if it is not known.
        inflation: of the covariance, by correlation in time.
        reason: why it is not everything; raised again if it is nothing, for `no_estimate`.
        ability: of the arm; None if it is not known, or may be any.
    """
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    known = known & ~np.isin(PARAMETER_NAMES, problem.hidden)
    known[0] = known[0] and abs(phi[0]) > LEAST_MASS * deviation[0]  # a negative one is refuted where it is judged
    derived = derived_known(known)
    if not derived.any():
        raise reason
    names = grouped_names(derived)
    found = [
        *problem.remarks,
        remark(ONLY_A_PART, known=_listed(names), advice=_advice(problem, derived, ability)),
    ]
    if problem.A[:, :, 4:].any() and (hint := time_hint(problem.time, slowest=USUAL_RATES[0])):
        found.append(remark("time-unit-doubtful", reason=f"The wrench has {hint}"))
    rms = np.sqrt(np.mean(residual**2, axis=0))
    visible = len(residual) == problem.num_samples and (rms > VISIBLE * np.sqrt(np.mean(problem.y**2, axis=0))).any()
    if visible and inflation > CORRELATED:
        found.append(correlation_remark(residual_structure(problem, residual), inflation))
    unknown = ~(known[:, None] & known[None, :])
    terms = summed_terms({"noise": covariance}, problem.covariance_terms)
    return estimate_of(
        "wls",
        np.where(known, phi, np.nan),
        {name: np.where(unknown, np.nan, term) for name, term in terms.items()},
        condition_number=np.inf,
        residual_norm=float(np.linalg.norm(residual)),
        residual_rms=Wrench(frozen(rms[:3]), frozen(rms[3:])),
        sensor_bias=None if bias is None else Wrench(frozen(bias[:3]), frozen(bias[3:])),
        samples=problem.num_samples * problem.averaged,
        time_correlation=inflation,
        remarks=found,
        status=f"Only a part was estimated: {_listed(names)}.",
    )


def no_estimate(problem: PayloadProblem, reason: NotIdentifiableError) -> Estimate:
    """The `Estimate` of data that determine nothing: NaN throughout, and why."""
    open_vector, open_matrix = frozen(np.full(NUM_PARAMETERS, np.nan)), frozen(np.full((3, 3), np.nan))
    unexplained = problem.y - problem.y.mean(axis=0) if problem.bias else problem.y
    rms = np.sqrt(np.mean(unexplained**2, axis=0))
    text = str(reason)
    return Estimate(
        method="wls",
        mass=float("nan"),
        center_of_mass=frozen(np.full(3, np.nan)),
        inertia_about_com=open_matrix,
        inertia_about_origin=open_matrix,
        phi=open_vector,
        standard_deviation=StandardDeviations(float("nan"), frozen(np.full(3, np.nan)), open_matrix, open_vector),
        covariance_phi=frozen(np.full((NUM_PARAMETERS, NUM_PARAMETERS), np.nan)),
        physically_consistent=False,
        condition_number=np.inf,
        residual_norm=float(np.linalg.norm(unexplained)),
        residual_rms=Wrench(frozen(rms[:3]), frozen(rms[3:])),
        sensor_bias=None,
        samples=problem.num_samples * problem.averaged,
        remarks=problem.remarks,
        status=f"Nothing was estimated: {text}.",
    )


def level_weights(problem: PayloadProblem) -> NoiseWeights:
    """Weights before anything is fitted that let no channel drown the others because it happens not to change."""
    if problem.wrench_covariance is not None:
        return first_weights(problem)
    deviation = problem.y.std(axis=0).reshape(2, 3)
    deviation = np.maximum(deviation, LEVEL * deviation.max(axis=1, keepdims=True)).ravel()
    return constant_weights(np.diag(np.maximum(deviation, channel_floor(problem)) ** 2))


def shown_directions(factor: FloatArray) -> Shown:
    """The directions of unknowns that a design with the triangular factor R (p, p), or any rows, determines."""
    norms = np.linalg.norm(factor, axis=0)
    scale = np.where(norms > TOLERANCE * norms.max(), norms, np.inf)
    _, values, rows = np.linalg.svd(factor / scale, full_matrices=True)
    seen = np.zeros(norms.size, dtype=bool)
    seen[: values.size] = values > TOLERANCE * values[0]
    known = (np.linalg.norm(rows[~seen], axis=0) < np.sqrt(TOLERANCE)) & np.isfinite(scale)
    return Shown(rows[seen].T / scale[:, None], known)


def _shown(problem: PayloadProblem, weights: NoiseWeights) -> Shown:
    """Directions without effect are left out. Those that the errors of the motion alone could make up are kept, since
    what they have to do with the others counts in their deviations; but what they have a part in is not known.
    """
    factor = triangular_factor(problem, weights)[:-1, :-1]
    shown = shown_directions(factor)
    if problem.uncertainty is None:
        return shown
    part, design = shown.basis[:NUM_PARAMETERS], factor @ shown.basis
    root = np.linalg.cholesky(design.T @ design)
    inverse = np.linalg.inv(root)
    noise = part.T @ problem.uncertainty.gram(weights.precision) @ part
    share, directions = np.linalg.eigh(inverse @ noise @ inverse.T)
    lost = shown.basis @ (inverse.T @ directions[:, share > MOSTLY_NOISE]) * np.linalg.norm(factor, axis=0)[:, None]
    if not lost.size:
        return shown
    return Shown(shown.basis, shown.known & (np.abs(lost).max(axis=1) <= SHARE * np.abs(lost).max()))


def _solve(problem: PayloadProblem, weights: NoiseWeights, shown: Shown) -> tuple[FloatArray, FloatArray]:
    """The unknowns (p,), and the information (r, r) on the coordinates of the directions that are shown."""
    factor = triangular_factor(problem, weights)
    design = factor[:-1, :-1] @ shown.basis
    information, target = design.T @ design, design.T @ factor[:-1, -1]
    if problem.uncertainty is not None:
        part = shown.basis[:NUM_PARAMETERS]
        corrected = information - part.T @ problem.uncertainty.gram(weights.precision) @ part
        if np.linalg.eigvalsh(corrected)[0] > 0.0:
            information = corrected
    return np.asarray(shown.basis @ np.linalg.solve(information, target)), information


def _moved_by_delay(
    problem: PayloadProblem, parameters: FloatArray, weights: NoiseWeights, shown: Shown, information: FloatArray
) -> FloatArray:
    """(r,) by how much a standard deviation of a delay, the same in all samples, moves the coordinates."""
    if not problem.delay_deviation:
        return np.zeros(shown.basis.shape[1])
    change = np.gradient(problem.A @ parameters[:NUM_PARAMETERS], problem.time, axis=0) * problem.delay_deviation
    gradient = np.einsum("nci,nc->i", problem.design @ shown.basis, weights.weighted(change))
    return np.asarray(np.linalg.solve(information, gradient))


def _pooled_weights(problem: PayloadProblem, residual: FloatArray, shown: Shown) -> NoiseWeights:
    """Weights from few residuals (N, 6): all forces alike, and all torques."""
    freedom = max(3.0 * len(residual) - 0.5 * shown.basis.shape[1], 1.0)
    pooled = np.sum(residual.reshape(-1, 2, 3) ** 2, axis=(0, 2)) / freedom
    return constant_weights(np.diag(np.repeat(pooled, 3) + channel_floor(problem) ** 2))


def _advice(problem: PayloadProblem, derived: NDArray[np.bool_], ability: _ArmAbility | None) -> str:
    """What would show the rest: another motion that the arm can make, knowing this one better, or what is no motion."""
    beyond = np.zeros(10, dtype=bool) if ability is None or problem.hidden else ability.unseen & ~derived
    possible = _possible_advice(problem, derived | beyond)
    if ability is None or not beyond.any():
        return possible
    names = _listed(grouped_names(beyond))
    ways = "the load hung on at another angle, another arm, or its shape"
    if beyond[:4].any():
        ways = "another mounting of the arm, so that gravity lies along another axis of the tool, or another arm"
    return f"{possible} No motion shows {names}, as {ability.why}: that takes {ways}.".lstrip()


def _possible_advice(problem: PayloadProblem, derived: NDArray[np.bool_]) -> str:
    """The motion that would show what of the ten is not known."""
    if not problem.hidden and hidden_by_motion_errors(problem):
        wanted = SMOOTH_MORE[0].lower() + SMOOTH_MORE[1:]
        return f"To see the rest, {wanted}: this motion would show it, but the errors of its accelerations hide it."
    return motion_advice(derived, hidden=bool(problem.hidden))


def motion_advice(derived: NDArray[np.bool_], *, hidden: bool = False) -> str:
    """The motion that would show the rest of a load.

    Args:
        derived: (10,) which of mass, centre of mass and inertia about it are known.
        hidden: whether the recording tells no accelerations.
    """
    advice = []
    if not derived[:4].all():
        axes = [axis for axis, seen in zip("xyz", derived[1:4], strict=True) if not seen]
        what = "the mass" if not derived[0] else f"the centre of mass along {' and '.join(axes)}"
        advice.append(f"turn the load so that gravity comes to lie along other axes of the sensor, which shows {what}")
    unseen = [pair for pair, seen in zip(zip(*np.triu_indices(3), strict=True), derived[4:], strict=True) if not seen]
    if hidden:
        advice.append(
            "record the acceleration of the sensor (columns ax, ay, az, in its axes) or the joint angles of the arm, "
            "and turn the load fast about all three axes, which shows the inertia"
        )
    elif unseen:
        about = sorted({axis for pair in unseen for axis in pair})
        names = ", ".join(f"{'xyz'[i]}{'xyz'[j]}" for i, j in unseen)
        advice.append(
            f"turn the load, with acceleration, about {' and '.join('xyz'[axis] for axis in about)} of the sensor, "
            f"which shows the inertia {names}"
        )
    text = "; ".join(advice)
    return f"To see the rest, {text} ('iparam excite optimize' plans such a motion of an arm)." if text else ""


def part_of(phi: FloatArray) -> Remark:
    """What of a load phi (10,), NaN where it is not known, says, and what motion would show the rest."""
    derived = derived_known(~np.isnan(phi))
    names = grouped_names(derived)
    return remark(ONLY_A_PART, known=_listed(names) if names else "nothing", advice=motion_advice(derived))


def _listed(names: tuple[str, ...]) -> str:
    words = [name.replace("_", " ") for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
