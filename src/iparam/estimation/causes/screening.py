"""`screened`: whether a run needs a closer look, in some milliseconds: score tests of what small mistakes of every kind
would leave in the residuals, all at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.assessment.residual_structure import LINEAR
from iparam.estimation.causes.examined_run import LEAST_MEANS, ExaminedRun, gravity_regressor
from iparam.estimation.causes.fit import REGULAR, Fit, linear_fit
from iparam.estimation.causes.hypotheses.arm_model import OffsetJoints
from iparam.estimation.causes.hypotheses.sensor_channels import curved
from iparam.estimation.causes.hypotheses.time_local import MEDIAN_OF_SIX, cut_off
from iparam.estimation.causes.left_over import left_over
from iparam.estimation.payload.problem import NUM_PARAMETERS
from iparam.sensing.correction import WRENCH_CHANNELS
from iparam.spatial.transforms import skew

SURE = 1e-5
"""Chance with which a sound run alarms, a kind of mistake."""

REMARKABLE = 0.01
"""Chance with which the intervals of a sound run count what a small mistake, of any kind, would do to the load, though
nothing is said against the run: a sensor that is further out is mostly taken for a load that is, and hardly shows in
the residuals."""

BLOCKS = 60
"""Stretches of time whose sums show how far errors that last scatter."""

LOUD = 7.0
"""Standard deviations by which the squares of a stretch must be above those of the others."""

WINDOWS = (2, 6, 20)
"""Means in a stretch."""

MOST_MEANS = 500
"""Of a run, that are looked at."""

TOLD = 1e-4
"""Least eigenvalue of the correlations of a kind's parameters, with load and bias taken out, that tells them."""

VISIBLE = 1e-3
"""Residual, as a share of the changes of the force and of the torque, below which nobody needs to hear of it."""


@dataclass(frozen=True, eq=False)
class Screening:
    """What the residuals of a load show.

    Attributes:
        alarms: kinds of mistakes that they could hold; none for a sound run.
        moves: (K, 10) what the mistakes that they speak for would change of phi, and what sampling may.
        visible: whether there are residuals that anybody needs to hear of.
    """

    alarms: tuple[str, ...]
    moves: FloatArray
    visible: bool = True


NOTHING = np.zeros((0, 10))

FEW = "few samples"
"""Alarm of a run that is too short for score tests: all hypotheses are fitted to it."""


def screened(run: ExaminedRun) -> Screening:
    """The score tests of a run, and whether some of it is loud, or swings."""
    if cut_off(run):
        return Screening(("channels",), NOTHING)
    if len(run.time) < LEAST_MEANS:
        return Screening((FEW,), NOTHING)
    run = run.coarser(MOST_MEANS)
    fit = linear_fit(run, possible=False)
    found, rest = _scored(run, fit, run.A @ fit.phi)
    moves = np.concatenate([found.moves, _averaging(run, fit)])
    if _invisible(run, fit.residual):
        return Screening((), moves, visible=False)
    alarms = list(found.alarms)
    if _loud(rest):
        alarms.append("time")
    if left_over(run, fit).hertz > 0.0:
        alarms.append("swing")
    return Screening(tuple(alarms), moves)


def _averaging(run: ExaminedRun, fit: Fit) -> FloatArray:
    """(6, 10) what a channel that is the mean over its neighbouring samples, and not of an instant, would change of
    phi, each by itself. Steps of a simulator make such: their acceleration is the second difference of the positions.
    Triangular weights over two intervals h add h^2 / 12 times the second derivative.
    """
    interval = float(np.median(np.diff(run.run.problem.time)))
    bent = np.gradient(np.gradient(run.A @ fit.phi, run.time, axis=0), run.time, axis=0)
    whiten = np.sqrt(fit.weights)
    rows = (fit.design * whiten[:, :, None]).reshape(-1, fit.design.shape[2])
    added = (interval**2 / 12.0 * bent * whiten)[:, :, None] * np.eye(6)
    moved = np.linalg.lstsq(rows, added.reshape(-1, 6), rcond=None)[0]
    return np.asarray(moved[:NUM_PARAMETERS].T)


def screened_again(run: ExaminedRun, explained: Fit) -> Screening:
    """The score tests of what an explanation leaves: a mistake rarely comes alone."""
    if _invisible(run, explained.residual):
        return Screening((), NOTHING)
    return _scored(run, explained, explained.design[:, :, :NUM_PARAMETERS] @ explained.phi)[0]


def _scored(run: ExaminedRun, fit: Fit, load: FloatArray) -> tuple[Screening, FloatArray]:
    """Rao's tests, with the scatter of the scores over stretches of time instead of white noise; and the residuals
    (N, 6) without all that they found, in units of noise. The wrench of the load is (N, 6).
    """
    columns, kinds = _small_mistakes(run, fit.phi, load, run.y - fit.residual)
    columns = run.without_drift(columns)
    whiten = np.sqrt(fit.weights)
    base, extra = fit.design * whiten[:, :, None], columns * whiten[:, :, None]
    residual = fit.residual * whiten
    flat, more = base.reshape(-1, base.shape[2]), extra.reshape(-1, extra.shape[2])
    own = np.sqrt(np.sum(flat**2, axis=0))
    own = np.where(own > 0.0, own, 1.0)
    flat = flat / own
    gram = flat.T @ flat + REGULAR * np.eye(flat.shape[1])
    follows = np.linalg.solve(gram, flat.T @ more) / own[:, None]  # (p, k) how load and bias give way to each
    beside = extra - base @ follows  # what they leave of it
    rows = beside.reshape(-1, beside.shape[2])
    full = rows.T @ rows
    before = np.sum(more**2, axis=0)
    told = np.diag(full) > REGULAR * before
    score = np.einsum("nci,nc->i", beside, residual)
    size = np.sqrt(np.where(told, np.diag(full), 1.0))
    values, vectors = np.linalg.eigh((full / np.outer(size, size))[np.ix_(told, told)])
    kept = values > 1e-6
    solution = np.zeros(size.size)
    solution[told] = (vectors[:, kept] / values[kept]) @ (vectors[:, kept].T @ (score / size)[told])
    rest = residual - beside @ (solution / size)
    sums = _block_sums(beside, rest)
    scatter = sums.T @ sums
    for lag in (1, 2):
        cross = sums[lag:].T @ sums[:-lag]
        scatter += (1.0 - lag / 3.0) * (cross + cross.T)
    alarms, moves = [], []
    for kind, chosen in kinds.items():
        chosen = chosen * told[:, None]
        of_kind = chosen.T @ full @ chosen
        if not np.diag(of_kind).any():
            continue
        chance = _chance(chosen.T @ score, chosen.T @ scatter @ chosen, of_kind)
        if chance < SURE:
            alarms.append(kind)
        if kind in SMALL and chance < REMARKABLE / len(SMALL):
            moves.append(-follows[:NUM_PARAMETERS] @ (chosen @ _told_part(of_kind, chosen.T @ score)))
    return Screening(tuple(alarms), np.array(moves).reshape(-1, NUM_PARAMETERS)), rest


def _invisible(run: ExaminedRun, residual: FloatArray) -> bool:
    """Whether next to nothing of the wrench is left, of the force and of the torque."""
    unexplained, shown = (
        np.sqrt(np.mean(np.var(values, axis=0).reshape(2, 3), axis=1)) for values in (residual, run.y)
    )
    return bool((unexplained <= VISIBLE * shown).all())


def finer_than_sensors(fit: Fit) -> bool:
    """Whether a fit leaves less, of the force and of the torque, than the best sensor would of its load's wrench."""
    load = fit.design[:, :, :NUM_PARAMETERS] @ fit.phi
    unexplained, shown = (
        np.sqrt(np.mean(values**2, axis=0).reshape(2, 3).mean(axis=1)) for values in (fit.residual, load)
    )
    return bool((unexplained <= LINEAR * shown).all())


GAINS = ("forces", "torques", *WRENCH_CHANNELS)
"""What may have a gain of its own."""

SMALL = ("place", "turn", *(f"gain of {name}" for name in GAINS), "gravity", "clock", "delay", "bent alike")
"""Kinds with few parameters, of which every arm and sensor has a little."""


def _small_mistakes(
    run: ExaminedRun, phi: FloatArray, load: FloatArray, shown: FloatArray
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """(N, 6, K) what small mistakes add to the wrench (N, 6) of a load phi (10,), and (K, k) which of them, or which
    mixtures, each kind is about. What the sensor shows (N, 6) has its bias, too.
    """
    count = len(run.time)
    mixed = np.zeros((count, 6, 36))
    for row in range(6):
        mixed[:, row, 6 * row : 6 * row + 6] = load
    parts = {"sensor": mixed}
    if run.motion.linear_acceleration_minus_gravity is None:
        parts["gravity"] = np.stack([gravity_regressor(run.path, axis) @ phi for axis in np.eye(3)], axis=2)
        parts["weight"] = run.of_gravity[:, :, :4]
        if run.robot is not None:
            parts["joints"] = OffsetJoints(run.robot, list(range(run.robot.num_joints))).slopes(
                run, np.zeros(run.robot.num_joints), phi
            )
    parts["bent"] = curved(shown)[:, :, None] * np.eye(6)
    parts["delay"] = np.gradient(load, run.time, axis=0)[:, :, None]
    force = np.concatenate([np.swapaxes(run.path.rotation, 1, 2), np.zeros((count, 3, 3))], axis=1)
    parts["force"] = force
    if run.path.position is not None:
        parts["spring"] = np.concatenate(
            [np.einsum("nji,nj->ni", run.path.rotation, run.path.position), np.zeros((count, 3))], axis=1
        )[:, :, None]
    share = (run.time - run.time[0]) / (run.time[-1] - run.time[0])
    parts["drift"] = np.concatenate([np.cos(np.pi * k * share)[:, None, None] * np.eye(6) for k in range(1, 5)], axis=2)
    parts["change"] = np.concatenate([run.A[:, :, :4] * (share > at)[:, None, None] for at in (0.33, 0.66)], axis=2)
    starts = np.cumsum([0, *(part.shape[2] for part in parts.values())])
    every = np.eye(starts[-1])
    kinds = {kind: every[:, a:b] for kind, a, b in zip(parts, starts[:-1], starts[1:], strict=True)}
    kinds["bent alike"] = kinds["bent"].sum(axis=1, keepdims=True)
    # A mistake of the sensor with few parameters is seen much better by itself than among all 36 of its matrix.
    for kind, entries in _OF_SENSOR.items():
        kinds[kind] = every[:, :36] @ entries
    if "weight" in parts:  # a clock that is fast is a share of the load's own weight
        kinds["clock"] = kinds["weight"] @ phi[:4, None]
    if run.robot is not None and "joints" in parts:
        kinds |= {f"joint {joint + 1}": kinds["joints"][:, [joint]] for joint in range(run.robot.num_joints)}
    return np.concatenate(list(parts.values()), axis=2), kinds


def _of_sensor() -> dict[str, FloatArray]:
    """(36, k) entries of the sensor's matrix: its origin elsewhere, its axes turned, a channel's gain."""
    turns, places = [], []
    for axis in np.eye(3):
        cross, zero = skew(axis), np.zeros((3, 3))
        turns.append(np.block([[cross, zero], [zero, cross]]).ravel())
        places.append(np.block([[zero, zero], [cross, zero]]).ravel())
    shares = [np.repeat([1.0, 0.0], 3), np.repeat([0.0, 1.0], 3), *np.eye(6)]
    gains = {f"gain of {name}": np.diag(share).reshape(36, 1) for name, share in zip(GAINS, shares, strict=True)}
    return {"place": np.array(places).T, "turn": np.array(turns).T, **gains}


_OF_SENSOR = _of_sensor()


def _block_sums(columns: FloatArray, residual: FloatArray) -> FloatArray:
    """(B, k) sums of columns' r over stretches of time."""
    edges = np.linspace(0, len(residual), min(BLOCKS, len(residual)) + 1).astype(np.int64)
    each = np.einsum("nci,nc->ni", columns, residual)
    return np.asarray(np.add.reduceat(each, edges[:-1], axis=0))


def _chance(score: FloatArray, scatter: FloatArray, full: FloatArray) -> float:
    """Chance of a score (k,) at least that large, with the scatter of its blocks, and not less than white noise has."""
    from scipy.special import fdtrc

    size = np.sqrt(np.maximum(np.diag(full), 1e-300))
    unit = full / np.outer(size, size)
    values, vectors = np.linalg.eigh(unit)
    kept = values > TOLD
    if not kept.any():  # what an explanation has taken in already
        return 1.0
    root = vectors[:, kept] / np.sqrt(values[kept])  # white noise has unit scatter in these directions
    turned = root.T @ (score / size)
    inner = root.T @ (scatter / np.outer(size, size)) @ root
    raised, directions = np.linalg.eigh(0.5 * (inner + inner.T))
    along = directions.T @ turned
    k = along.size
    statistic = float(np.sum(along**2 / np.maximum(raised, max(1.0, float(raised.mean())))))
    return float(fdtrc(k, max(BLOCKS - k, 8), statistic / k))


def _told_part(full: FloatArray, score: FloatArray) -> FloatArray:
    """(k,) the parameters that a score (k,) stands for, without what load and bias nearly take over."""
    size = np.sqrt(np.maximum(np.diag(full), 1e-300))
    return np.asarray(np.linalg.pinv(full / np.outer(size, size), rcond=TOLD, hermitian=True) @ (score / size) / size)


def _loud(residual: FloatArray) -> bool:
    """Whether some stretch of residuals (N, 6), in units of noise, is much louder than the run as a whole."""
    squares = np.sum(residual**2, axis=1)
    squares = squares * MEDIAN_OF_SIX / max(float(np.median(squares)), 1e-300)
    spread = np.sqrt(max(12.0, float(np.percentile(squares, 84.0) - MEDIAN_OF_SIX) ** 2))
    for window in WINDOWS:
        if window * 4 > len(squares):
            break
        sums = np.convolve(squares, np.ones(window), mode="valid")
        if float(sums.max()) > 6.0 * window * 1.5 + LOUD * spread * np.sqrt(window):
            return True
    return False
