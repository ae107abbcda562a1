"""The weighted linear fit that estimators share: the noise model of the residuals and the weights it means; the
triangular factor of a weighted problem, all that a fit needs to know of it in at most 17 x 17 numbers; what that
determines; and the solution, with the correction for errors of the regressor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.errors import IdentificationError, NotIdentifiableError
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.noise_spectrum import ENOUGH_MEANS, FEWEST_MEANS, Bands, Means, SpectralFit, spectral_fit
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.regular import solve_regular
from iparam.recording.units import USUAL_RATES, time_hint
from iparam.regressor.identifiability import PARAMETER_NAMES, IdentifiabilityReport, payload_identifiability

SHRINKAGE = 0.05
"""Share of the estimated correlations between channels that is not believed: keeps the covariance regular."""

UNCORRELATED = 20.0
"""Samples that weigh as much as the expectation that channels have noise of their own: fewer do not tell the fifteen
correlations of six channels, and a fit that believes them favours what it follows by chance."""

NEGLIGIBLE = 0.01
"""Share of a channel's variance below which errors of the motion do not change the weights."""

_FLOOR = 1e-12
"""Least standard deviation of a channel, as a share of the largest value in it: exact data do not divide by zero."""

RESOLVED = 1e-6
"""Least standard deviation of a mean, as a share of the largest value of its channel, where noise has a spectrum: no
sensor tells more, and priors would be lost beside it to rounding."""

SAMPLES_A_BLOCK = 20_000
"""How much of the data is whitened at a time: bounds the memory."""

WELL_CONDITIONED = 1e-2
"""Least part of a column, relative, that the columns before it leave, for the faster factorisation."""

MOSTLY_NOISE = 0.5
"""Share of errors in the regressor's power from which a direction counts as not excited."""

TURNED = 0.05
"""Change of the pull of gravity along a second axis of the sensor, as a share of it, that only a motion makes."""

LEAST_SIGNAL = 1e-9
"""Share of a channel's size below which its changes count as none."""

SMOOTH_MORE = "Smooth the angles more (the motion 'butterworth'), or move faster"
"""What helps where the motion is known too badly."""

NEVER = 1e12
"""Information before any data on what these are not to correct."""

ROUNDS = 2
"""How often the weights follow from the residuals of the fit before."""


@dataclass(frozen=True, eq=False)
class NoiseWeights:
    """Covariances of the residuals and their inverse roots.

    Attributes:
        covariance: (6, 6) for all samples, or (M, 6, 6) at the samples kept by the problem's uncertainty.
        whiten: (6, 6) or (N, 6, 6) W with W' W the inverse covariance, lower triangular.
        sensor: (6, 6) the part of the covariance that is the wrench's own.
    """

    covariance: FloatArray
    whiten: FloatArray
    sensor: FloatArray

    @property
    def constant(self) -> bool:
        """Whether all samples weigh the same."""
        return self.whiten.ndim == 2

    @property
    def precision(self) -> FloatArray:
        """Inverse covariance, (6, 6) or (M, 6, 6)."""
        return np.asarray(np.linalg.inv(self.covariance))

    def rows(self, values: FloatArray) -> FloatArray:
        """Whitened values (N, 6, ...)."""
        return np.asarray(self.whiten @ values)

    def vectors(self, values: FloatArray) -> FloatArray:
        """Whitened vectors (N, 6)."""
        return np.asarray((self.whiten @ values[..., None])[..., 0])

    def weighted(self, values: FloatArray) -> FloatArray:
        """W' W times vectors (N, 6)."""
        inner = self.whiten @ values[..., None]
        return np.asarray((np.swapaxes(self.whiten, -1, -2) @ inner)[..., 0])


def constant_weights(covariance: FloatArray) -> NoiseWeights:
    """The same weights for all samples."""
    return NoiseWeights(covariance, np.linalg.inv(np.linalg.cholesky(covariance)), covariance)


def first_weights(problem: PayloadProblem) -> NoiseWeights:
    """Weights before anything is fitted: the covariance given, or the standard deviation of the wrench itself."""
    if problem.wrench_covariance is not None:
        return constant_weights(problem.wrench_covariance)
    deviation = np.maximum(problem.y.std(axis=0), channel_floor(problem))
    stuck = np.ptp(problem.y, axis=0) <= LEAST_SIGNAL * np.abs(problem.y).max(axis=0)
    deviation[stuck] = deviation.max()  # a channel that says nothing is not one that is known exactly
    return constant_weights(np.diag(deviation**2))


def residual_weights(problem: PayloadProblem, residual: FloatArray, phi: FloatArray) -> NoiseWeights:
    """Weights from residuals (N, 6) of a fit phi (10,), and from what is known of the regressor's errors."""
    freedom = max(problem.num_samples - problem.num_unknowns / 6.0, 1.0)
    total = residual.T @ residual / freedom
    doubt = max(SHRINKAGE, UNCORRELATED / (UNCORRELATED + freedom))
    total = (1.0 - doubt) * total + doubt * np.diag(np.diag(total))
    total += np.diag(channel_floor(problem) ** 2)
    base = total if problem.wrench_covariance is None else problem.wrench_covariance
    if problem.uncertainty is None:
        return constant_weights(base)
    motion = problem.uncertainty.wrench_covariance(phi)
    mean = problem.uncertainty.mean(motion)
    if (np.diag(mean) < NEGLIGIBLE * np.diag(total)).all():
        return constant_weights(base)
    if problem.wrench_covariance is None:  # what the motion explains is not the sensor's; keep at least a tenth
        base = _positive_part(total - mean, 0.1 * total)
    covariance = base + motion
    whiten = np.linalg.inv(np.linalg.cholesky(covariance))
    return NoiseWeights(covariance, problem.uncertainty.at_all_samples(whiten), base)


def channel_floor(problem: PayloadProblem) -> FloatArray:
    """(6,) a standard deviation that is as good as none."""
    size = np.abs(problem.y).max(axis=0)
    return np.asarray(_FLOOR * np.maximum(size, max(float(size.max()), 1e-6)))


def _positive_part(matrix: FloatArray, least: FloatArray) -> FloatArray:
    """``matrix``, with directions in which it is below ``least`` (positive definite) raised to that."""
    root = np.linalg.cholesky(least)
    inverse = np.linalg.inv(root)
    values, vectors = np.linalg.eigh(inverse @ matrix @ inverse.T)
    return np.asarray(root @ (vectors * np.maximum(values, 1.0)) @ vectors.T @ root.T)


def triangular_factor(problem: PayloadProblem, weights: NoiseWeights, bias_first: bool = False) -> FloatArray:
    """R (p + 1, p + 1), upper triangular, with R' R the Gram matrix of the whitened [design, y].

    Args:
        problem: the data.
        weights: what they are whitened with.
        bias_first: put the bias before phi: the trailing block is then that of the data with the bias projected out.
    """
    size = problem.num_unknowns + 1
    factor = np.zeros((0, size))
    for start in range(0, problem.num_samples, SAMPLES_A_BLOCK):
        part = slice(start, min(start + SAMPLES_A_BLOCK, problem.num_samples))
        whiten = weights.whiten if weights.constant else weights.whiten[part]
        count = part.stop - part.start
        rows = np.empty((count, 6, size))
        first = 6 if bias_first and problem.bias else 0
        rows[:, :, first : first + 10] = whiten @ problem.A[part]
        if problem.bias:
            place = slice(0, 6) if bias_first else slice(10, 16)
            rows[:, :, place] = whiten
        rows[:, :, -1] = (whiten @ problem.y[part, :, None])[..., 0]
        factor = _factor(np.concatenate([factor, rows.reshape(-1, size)]) if len(factor) else rows.reshape(-1, size))
    padded = np.zeros((size, size))
    padded[: len(factor)] = factor
    return padded


def _factor(rows: FloatArray) -> FloatArray:
    """The triangular factor of rows: by Cholesky where that keeps ten digits, otherwise by reflections."""
    gram = rows.T @ rows
    scale = np.sqrt(np.diag(gram))
    if (scale > 0.0).all():
        try:
            root = np.linalg.cholesky(gram / np.outer(scale, scale))
        except np.linalg.LinAlgError:
            return np.asarray(np.linalg.qr(rows, mode="r"))
        if root.diagonal().min() > WELL_CONDITIONED:
            return np.asarray(root.T * scale)
    return np.asarray(np.linalg.qr(rows, mode="r"))


def solve_triangle(factor: FloatArray) -> FloatArray:
    """The least-squares solution (p,) of a triangular factor (p + 1, p + 1)."""
    return np.asarray(np.linalg.solve(factor[:-1, :-1], factor[:-1, -1]))


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
    if report.rank == NUM_PARAMETERS and problem.hidden:
        raise NotIdentifiableError(
            f"these data do not tell {', '.join(problem.hidden)}: the linear acceleration of the sensor is not known. "
            "Record it (columns ax, ay, az), or the joint angles of the arm",
            problem.hidden,
        )
    if report.rank < NUM_PARAMETERS:
        names = ", ".join(report.undetermined) or "some combinations of parameters"
        if hidden_by_motion_errors(problem):
            raise NotIdentifiableError(
                f"this motion would show all 10 parameters, but the errors of its accelerations hide all but "
                f"{report.rank}: {names} cannot be told. {_if_in_seconds(problem, SMOOTH_MORE)}",
                report.undetermined,
            )
        raise NotIdentifiableError(
            f"this motion determines only {report.rank} of the 10 parameters: {names} cannot be told. "
            f"{_advice(problem)}",
            report.undetermined,
        )
    return report


def hidden_by_motion_errors(problem: PayloadProblem) -> bool:
    """Whether it is how badly the motion is known that hides parameters, and not the motion.

    That of an arm at rest seems to show everything, too, as its errors go anywhere; but they do not turn the load.
    """
    if problem.uncertainty is None or problem.num_samples < 3:
        return False
    pull = problem.A[:, :3, 0]  # acceleration minus gravity, in the sensor's axes
    if np.linalg.svd(pull - pull.mean(axis=0), compute_uv=False)[1] <= TURNED * np.linalg.norm(pull):
        return False
    return payload_identifiability(without_bias(problem, first_weights(problem))).rank == NUM_PARAMETERS


def _advice(problem: PayloadProblem) -> str:
    """What would help a motion that shows too little."""
    return _if_in_seconds(
        problem,
        "Move all wrist joints, faster, through more orientations (see iparam excite optimize), or give a prior "
        "(the method 'logchol')",
    )


def _if_in_seconds(problem: PayloadProblem, advice: str) -> str:
    """The advice; with few samples a second, the right unit of time comes first."""
    hint = time_hint(problem.time, slowest=USUAL_RATES[0])
    if not hint or not problem.A[:, :, 4:].any():  # at rest no time counts
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


@dataclass(frozen=True, eq=False)
class WeightedFit:
    """A linear fit.

    Attributes:
        parameters: (p,) phi and, where it is estimated, the bias.
        information: (p, p) B, the curvature of half the weighted squares, corrected for errors of the regressor.
        covariance: (p, p) of the parameters.
        residual: (N, 6) [N, N m].
        weights: of the last round.
        identifiability: what the motion determines.
        inflation: of the covariance, by correlation in time.
    """

    parameters: FloatArray
    information: FloatArray
    covariance: FloatArray
    residual: FloatArray
    weights: NoiseWeights
    identifiability: IdentifiabilityReport
    inflation: float

    @property
    def phi(self) -> FloatArray:
        """(10,) the load."""
        return self.parameters[:NUM_PARAMETERS]


def weighted_fit(problem: PayloadProblem, correct: bool = True) -> WeightedFit:
    """Fit phi and bias by weighted least squares.

    Args:
        problem: the data.
        correct: subtract the errors' expected part from the regressor's Gram matrix, which otherwise pulls the
            estimate towards zero.
    """
    weights = first_weights(problem)
    report = require_identifiable(problem, weights)
    parameters, information, shift = solve_weighted(problem, weights, correct=False)
    for _ in range(ROUNDS):
        residual = residuals(problem, parameters)
        weights = residual_weights(problem, residual, parameters[:NUM_PARAMETERS])
        parameters, information, shift = solve_weighted(problem, weights, correct)
    if Means.of(problem.time).count >= ENOUGH_MEANS:
        found = stationary_fit(problem, residuals(problem, parameters))
        parameters, information = found.solution.copy(), found.information
        if problem.bias and problem.missing is None:  # what it was on average: slow noise is a part of it
            parameters[NUM_PARAMETERS:] = np.mean(problem.y - problem.A @ parameters[:NUM_PARAMETERS], axis=0)
        return WeightedFit(
            parameters, information, found.covariance, residuals(problem, parameters), weights, report, 1.0
        )
    residual = residuals(problem, parameters)
    constant = shift @ parameters / problem.num_samples
    scores = Scores(problem.design, weights.weighted(residual), constant)
    covariance, inflation = estimate_covariance(information, scores)
    return WeightedFit(parameters, information, covariance, residual, weights, report, inflation)


def stationary_fit(
    problem: PayloadProblem,
    residual: FloatArray,
    further: FloatArray | None = None,
    precision: FloatArray | None = None,
) -> SpectralFit:
    """The fit with stationary noise of a free spectrum.

    Args:
        problem: the data, of at least `FEWEST_MEANS` means.
        residual: (N, 6) of a fit: its correlations between channels are taken out.
        further: (M, 6, k) means of columns beside those of load and bias.
        precision: (k,) of their unknowns before any data, about 0.
    """
    means = Means.of(problem.time)
    used = None if problem.missing is None else means.all((~problem.missing).astype(np.float64)) >= 1.0
    stretches, start = [], 0
    for A, y in zip(means.each(problem.A), means.each(problem.y), strict=True):
        parts = [A, np.broadcast_to(np.eye(6), (len(A), 6, 6))] if problem.bias else [A]
        if further is not None:
            parts.append(further[start : start + len(A)])
        rows = np.concatenate([*parts, y[:, :, None]], axis=2)
        stretches.append(rows if used is None else rows * used[start : start + len(A), :, None])
        start += len(A)
    known = np.concatenate([np.zeros(problem.num_unknowns), [] if precision is None else precision])
    floor, together = RESOLVED / _FLOOR * channel_floor(problem), problem.missing is None
    whiten = whitening(means.all(residual), floor, together)
    for _ in range(ROUNDS):
        white = [whiten @ rows for rows in stretches]
        bands = Bands.of(white)
        found = spectral_fit(bands, known, np.abs(whiten) @ floor)
        left = [bands.whitened(rows[:, :, -1] - rows[:, :, :-1] @ found.solution, found.levels) for rows in white]
        whiten = whitening(np.concatenate(left), 0.0 * floor, together) @ whiten
    return found


def plain_solution(problem: PayloadProblem) -> FloatArray:
    """(p,) load and bias by least squares, all channels by their size; the shortest where some of it is not shown."""
    weights = 1.0 / np.maximum(problem.y.std(axis=0), channel_floor(problem))
    rows = (problem.design * weights[:, None]).reshape(-1, problem.num_unknowns)
    return solve_regular(rows.T @ rows, rows.T @ (problem.y * weights).ravel())


def load_follows(problem: PayloadProblem, columns: FloatArray) -> FloatArray:
    """(10, k) by how much the load changes where the wrench has more of columns (N, 6, k)."""
    parameters, count, means = plain_solution(problem), problem.num_unknowns, Means.of(problem.time)
    if means.count >= FEWEST_MEANS:
        never = np.full(columns.shape[2], NEVER)
        fit = stationary_fit(problem, residuals(problem, parameters), means.all(columns), never)
        return solve_regular(fit.information[:count, :count], fit.information[:count, count:])[:NUM_PARAMETERS]
    weights = 1.0 / np.maximum(residuals(problem, parameters).std(axis=0), channel_floor(problem))
    rows = (problem.design * weights[:, None]).reshape(-1, count)
    right = (columns * weights[:, None]).reshape(len(rows), -1)
    return solve_regular(rows.T @ rows, rows.T @ right)[:NUM_PARAMETERS]


def whitening(residual: FloatArray, floor: FloatArray, together: bool) -> FloatArray:
    """(6, 6) lower triangular: what makes residuals (M, 6) independent and of size 1; each channel by itself if they
    are not taken together.
    """
    count = len(residual)
    total = residual.T @ residual / count
    doubt = max(SHRINKAGE, UNCORRELATED / (UNCORRELATED + count)) if together else 1.0
    total = (1.0 - doubt) * total + doubt * np.diag(np.diag(total)) + np.diag(np.maximum(floor, 1e-100) ** 2)
    size = np.sqrt(np.diag(total))
    return np.asarray(np.linalg.inv(np.linalg.cholesky(total / np.outer(size, size))) / size)


def solve_weighted(
    problem: PayloadProblem, weights: NoiseWeights, correct: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Parameters (p,), information (p, p), and the part (p, p) of the Gram matrix that was taken for errors."""
    factor = triangular_factor(problem, weights)
    gram, p = factor[:-1, :-1].T @ factor[:-1, :-1], problem.num_unknowns
    shift = np.zeros((p, p))
    if not correct or problem.uncertainty is None:
        return solve_triangle(factor), gram, shift
    shift[:NUM_PARAMETERS, :NUM_PARAMETERS] = problem.uncertainty.gram(weights.precision)
    corrected = gram - shift
    if np.linalg.eigvalsh(corrected)[0] <= 0.0:
        require_identifiable(problem, weights)  # says what cannot be told
        return solve_triangle(factor), gram, np.zeros((p, p))
    solution = np.linalg.solve(corrected, factor[:-1, :-1].T @ factor[:-1, -1])
    return np.asarray(solution, float), corrected, shift


def residuals(problem: PayloadProblem, parameters: FloatArray) -> FloatArray:
    """(N, 6) what a solution leaves unexplained [N, N m]."""
    residual = problem.y - problem.A @ parameters[:NUM_PARAMETERS]
    return np.asarray(residual - parameters[NUM_PARAMETERS:] if problem.bias else residual)
