"""`screened`: whether a run needs a closer look, in some milliseconds: score tests of what small mistakes of every kind
would leave in the residuals, all at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.assessment.residual_structure import LINEAR
from iparam.estimation.causes.examined_run import LEAST_MEANS, ExaminedRun, gravity_regressor
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypotheses.arm_model import OffsetJoints
from iparam.estimation.causes.hypotheses.sensor_channels import curved
from iparam.estimation.causes.hypotheses.time_local import MEDIAN_OF_SIX, cut_off
from iparam.estimation.causes.left_over import GRAVITY, MOST_LEFT
from iparam.estimation.payload.noise_spectrum import Bands, spectral_fit
from iparam.estimation.payload.problem import NUM_PARAMETERS
from iparam.estimation.payload.regular import REGULAR
from iparam.sensing.correction import WRENCH_CHANNELS
from iparam.spatial.transforms import skew

SURE = 1e-5
"""Chance with which a sound run alarms, a kind of mistake."""

FREEDOM = 60
"""Degrees of freedom of the noise in the band of a motion, which is estimated along."""

CLEAR = 5.0
"""Standard deviations by which slow noise has to be above white noise to be left of the force, and not chance."""

QUIET = 0.3
"""Least standard deviation of slow noise, in that of the sensor's white noise."""

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
        moves: (K, 10) what mistakes with few parameters, of those, would change of phi.
    """

    alarms: tuple[str, ...]
    moves: FloatArray = field(default_factory=lambda: np.zeros((0, NUM_PARAMETERS)))


FEW = "few samples"
"""Alarm of a run that is too short for score tests: all hypotheses are fitted to it."""


def screened(run: ExaminedRun) -> Screening:
    """The score tests of a run, and whether some of it is loud, or swings."""
    if cut_off(run):
        return Screening(("channels",))
    if len(run.time) < LEAST_MEANS:
        return Screening((FEW,))
    run = run.coarser(MOST_MEANS)
    fit = linear_fit(run, possible=False)
    found, rest = _scored(run, fit, run.A @ fit.phi)
    if _invisible(run, fit.residual):
        return Screening(())
    alarms = list(found.alarms)
    if _loud(rest):
        alarms.append("time")
    return Screening(tuple(alarms))


def screened_again(run: ExaminedRun, explained: Fit) -> Screening:
    """The score tests of what an explanation leaves: a mistake rarely comes alone."""
    if _invisible(run, explained.residual):
        return Screening(())
    return _scored(run, explained, explained.design[:, :, :NUM_PARAMETERS] @ explained.phi)[0]


def _scored(run: ExaminedRun, fit: Fit, load: FloatArray) -> tuple[Screening, FloatArray]:
    """Rao's tests with noise of a free spectrum; and the residuals (N, 6) without all that they found, in units of that
    noise, whatever its spectrum. The wrench of the load is (N, 6).
    """
    from scipy.fft import idct

    columns, kinds = _small_mistakes(run, fit.phi, load, run.y - fit.residual)
    rows = np.concatenate([fit.design, columns, fit.residual[:, :, None]], axis=2)
    rows = rows * ((fit.weights > 0.0) / run.noise)[:, :, None]
    bands, count = Bands.of([rows]), fit.design.shape[2]
    own = bands.of_columns([*range(count), rows.shape[2] - 1])
    found = spectral_fit(own, np.zeros(count), np.full(6, QUIET))
    whole = np.einsum("bc,bcij->ij", np.exp(-found.levels), bands.grams)
    size = np.sqrt(np.maximum(np.diag(whole), 1e-300))[:-1]
    gram = whole[:-1, :-1] / np.outer(size, size) + REGULAR * np.eye(size.size)
    follows = np.linalg.solve(gram[:count, :count], gram[:count, count:])
    full = gram[count:, count:] - gram[count:, :count] @ follows
    score = (whole[count:-1, -1] - whole[count:-1, :count] @ found.solution) / size[count:]
    told = np.diag(full) > TOLD**2
    alarms, moves = [], []
    for kind, chosen in kinds.items():
        chosen = chosen * (size[count:] * told)[:, None]
        of_kind = chosen.T @ full @ chosen
        if np.diag(of_kind).any() and _chance(chosen.T @ score, of_kind) < SURE:
            alarms.append(kind)
            if kind in SMALL:
                moved = follows[:NUM_PARAMETERS] @ (chosen @ _told_part(of_kind, chosen.T @ score))
                moves.append(-moved / size[:NUM_PARAMETERS])
    values, vectors = np.linalg.eigh(full[np.ix_(told, told)])
    kept = values > TOLD
    solution = np.zeros(size.size)
    solution[count:][told] = (vectors[:, kept] / values[kept]) @ (vectors[:, kept].T @ score[told])
    solution[:count] = found.solution * size[:count] - follows @ solution[count:]
    rest = rows[:, :, -1] - rows[:, :, :-1] @ (solution / size)
    bins = bands.whitened(rest, found.levels)
    if _swings(bins[:, :3]):
        alarms.append("swing")
    by_chance = 1.0 + CLEAR * np.sqrt(2.0 / (3.0 * bands.counts))  # of the power of so many bins of three channels
    beyond = np.maximum(np.exp(found.levels[:, 0]) - by_chance, 0.0) @ bands.counts / bands.counts.sum()
    if beyond * np.sum(run.noise[:3] ** 2) > (MOST_LEFT * GRAVITY * fit.phi[0]) ** 2:
        alarms.append("unexplained")
    every = np.array(moves).reshape(-1, NUM_PARAMETERS)
    return Screening(tuple(alarms), every), np.asarray(idct(bins, axis=0, norm="ortho"))


def _swings(bins: FloatArray) -> bool:
    """Whether the force has a frequency that stands out of its spectrum: bins (N, 3) in units of noise."""
    from scipy.special import chdtrc

    return bool(len(bins) * chdtrc(3.0, float(np.sum(bins**2, axis=1).max())) < SURE)


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
    parts["warming"] = (share[:, None] * load)[:, :, None] * np.eye(6)
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


def _chance(score: FloatArray, full: FloatArray) -> float:
    """Chance of a score (k,) at least that large, with the information (k, k) on what it is about."""
    from scipy.special import fdtrc

    size = np.sqrt(np.maximum(np.diag(full), 1e-300))
    values, vectors = np.linalg.eigh(full / np.outer(size, size))
    kept = values > TOLD
    if not kept.any():  # what an explanation has taken in already
        return 1.0
    along = vectors[:, kept].T @ (score / size)
    k = along.size
    return float(fdtrc(k, max(FREEDOM - k, 8), float(np.sum(along**2 / values[kept])) / k))


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
