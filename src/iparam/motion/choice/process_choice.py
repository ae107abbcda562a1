"""Chooses the motion model of each joint from its angle samples: order, bandwidth, noise, and where it is at rest.

Order and bandwidth minimise the generalised cross-validation score, an estimate of how well the smoothed angles predict
samples that were left out. It needs no noise level, and unlike the likelihood it does not depend on the model being a
true description of the motion: excitation motions hold almost nothing above their highest harmonic, which no chain of
integrators says, and the likelihood then asks for three times the bandwidth that is best.

Models are compared on the stretches in which a joint moves most: averaged with long rests, a score asks for less
bandwidth than the motion has. Where a joint moves less, or rests, it then gets the share of that bandwidth that
Mallows' criterion finds best there, so that a long rest brings no noise into the accelerations.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from iparam.arrays import FloatArray, remembered
from iparam.motion.angle_samples import resolution
from iparam.motion.joint_process import JointProcess, TimeSteps, residual_sums, smooth_joint
from iparam.motion.motion import checked_angles
from iparam.robot.batching import get_num_threads

ORDERS = (3, 4, 5, 6, 7)
LEAST_SAMPLES = 16
LEAST_NOISE = 1e-10
"""[rad] Floor of the noise level: far below any encoder, so that exact angles do not divide by zero."""

HIGHEST = 0.2
"""The highest bandwidth that is tried, as a share of the rate of the samples that models are compared on."""

EXACT = 1e-8
"""[rad] Noise below which angles are computed and not measured: any bandwidth is right for them."""

HIDDEN = 2.0
"""Times the noise of the samples that models are compared on, that of all from which on the others have errors of their
own, as where a slow sensor is seen at every sample that is its own: then all samples are compared on."""

FOLLOWED = 0.95
"""Share of the variance that rounding makes, from which on less is a sign that a model follows its steps."""

CAUTION = 1.4
"""Weight of the degrees of freedom that a model spends. Plain cross-validation, 1, now and then follows the noise; Kim
and Gu (2004) found 1.4 to prevent that at hardly any cost."""

SEARCH_SAMPLES = 2500
"""Samples in a stretch on which models are compared; the noise of the best one is found from all in the stretch."""

SEARCH_STRETCHES = 2
"""Stretches of a long run, those with the most motion, on which models are compared."""

SEARCH_RATE = 250.0
"""Samples a second that a run is not thinned out below for the comparison [Hz]: no arm moves at a hundred hertz."""

COARSE_SAMPLES = 1000
COARSE_RATE = 100.0
"""The same for learning where the search starts: enough to see where a motion ends and its noise begins, at a fraction
of the cost."""

ACTIVE = 0.2
"""Acceleration, as a share of the largest of a run, from which on a joint counts as moving."""

_REST_LEVEL = 4.5
"""Standard deviations by which any derivative of any joint may differ from zero at an end for an arm at rest."""

_END = 20.0  # periods of the bandwidth beyond which samples tell nothing about an end
_LAG = 0.1  # s between the angles whose second difference tells how much a joint accelerates
_SECOND = 1.0  # s over which that is summed up
_SHARES = (1.0, 0.63, 0.4, 0.25, 0.16, 0.1, 0.063, 0.04)
_CAREFUL = 2  # steps above the best share: it is the best for angles, and accelerations need more
_SHARE_RATE = 40.0  # samples in a period of the bandwidth that shares of it are compared on
_WINDOW = 4.0  # periods of the bandwidth over which a share of it is chosen
_WIDENING = 1.25
_GAIN = 4.0  # by which Mallows' criterion, in units of the noise's variance, must improve for less than the whole


@remembered
def choose_processes(time: FloatArray, q: FloatArray) -> tuple[JointProcess, ...]:
    """The models for smoothing angles q (T, n) at times (T,), one a joint."""
    checked_angles(time, q, LEAST_SAMPLES)
    plain = JointProcess(4, 1.0, 1.0)
    share = _thinning(time, SEARCH_SAMPLES, SEARCH_RATE)
    few = [_Samples(time[::share], np.ascontiguousarray(angle)) for angle in q[::share].T]
    stretches = [samples.most_active() for samples in few]
    least = _rounding_noise(q)
    scores = [_cross_validation(pieces, floor) for pieces, floor in zip(stretches, least, strict=True)]

    def look(angle: FloatArray, pieces: list[_Samples], score: _Remembered, floor: float) -> JointProcess:
        coarse = [piece.thinned(_thinning(piece.time, COARSE_SAMPLES, COARSE_RATE)) for piece in pieces]
        start = _search(coarse, _cross_validation(coarse, floor), plain, (4,))
        return _search(pieces, score, plain, (4,), start=math.log(start.bandwidth))

    first = _each_joint(look, q, stretches, scores, least)
    tests = _each_joint(lambda angle, process: _rest_at_ends(time, angle, _for_all(process, share)), q, first)
    starts, ends = (all(test[end] for test in tests) for end in (0, 1))

    def finish(
        angle: FloatArray,
        samples: _Samples,
        pieces: list[_Samples],
        score: _Remembered,
        process: JointProcess,
        floor: float,
    ) -> JointProcess:
        template = dataclasses.replace(plain, order=5, starts_at_rest=starts, ends_at_rest=ends)
        whole = [piece.of_all(time, angle) for piece in pieces]

        def completed(found: JointProcess) -> JointProcess:
            found = _for_all(found, 1.0 / (sum(piece.moving for piece in pieces) / len(pieces)))
            found = dataclasses.replace(found, shares=() if samples.always_moving() else _shares(samples, found))
            found = _for_all(found, share)
            return dataclasses.replace(found, noise=_cross_validation(whole, floor).of(found)[1])

        seen = _search(pieces, score, template, ORDERS, start=math.log(process.bandwidth))
        found = completed(seen)
        if found.noise > max(HIDDEN * seen.noise, EXACT):
            found = completed(_for_all(_search(whole, _cross_validation(whole, floor), template, ORDERS), 1.0 / share))
        return found

    return tuple(_each_joint(finish, q, few, stretches, scores, first, least))


def adapted_processes(time: FloatArray, q: FloatArray, processes: Sequence[JointProcess]) -> tuple[JointProcess, ...]:
    """Models of given order and bandwidth with the noise of these angles, and with where they rest.

    Args:
        time: (T,) [s].
        q: (T, n) [rad].
        processes: one a joint.
    """
    thin = _thinning(time, SEARCH_SAMPLES, SEARCH_RATE)
    plain = [dataclasses.replace(one, starts_at_rest=False, ends_at_rest=False, shares=()) for one in processes]

    def noisy(angle: FloatArray, process: JointProcess, floor: float) -> JointProcess:
        return dataclasses.replace(process, noise=_cross_validation([_Samples(time, angle)], floor).of(process)[1])

    known = _each_joint(noisy, q, plain, _rounding_noise(q))
    tests = _each_joint(lambda angle, process: _rest_at_ends(time, angle, process), q, known)
    starts, ends = (all(test[end] for test in tests) for end in (0, 1))

    def rests(angle: FloatArray, process: JointProcess) -> JointProcess:
        process = dataclasses.replace(process, starts_at_rest=starts, ends_at_rest=ends)
        samples = _Samples(time[::thin], np.ascontiguousarray(angle[::thin]))
        shares = () if samples.always_moving() else _shares(samples, _for_all(process, 1.0 / thin))
        return dataclasses.replace(process, shares=shares)

    return tuple(_each_joint(rests, q, known))


def processes_with_velocities(
    time: FloatArray, q: FloatArray, dq: FloatArray, processes: Sequence[JointProcess]
) -> tuple[JointProcess, ...]:
    """Models whose bandwidth is the best for angles and velocities together; those without a velocity noise stay.

    Args:
        time: (T,) [s].
        q: (T, n) [rad].
        dq: (T, n) measured [rad/s].
        processes: one a joint, what the angles alone ask for, with the noise of the velocities.
    """

    def refined(angle: FloatArray, velocity: FloatArray, process: JointProcess, floor: float) -> JointProcess:
        if not process.velocity_noise:
            return process
        samples = [_Samples(time, angle, velocity=velocity)]
        scores = _cross_validation(samples, floor)
        return _search(samples, scores, process, (process.order,), start=math.log(process.bandwidth))

    columns = [np.ascontiguousarray(column) for column in dq.T]
    return tuple(_each_joint(refined, q, columns, processes, _rounding_noise(q)))


def widest_as_good(
    time: FloatArray, q: FloatArray, processes: Sequence[JointProcess], allowance: float
) -> tuple[JointProcess, ...]:
    """Models with the widest bandwidth that cross-validation finds hardly worse: what it cannot tell may be motion.

    Args:
        time: (T,) [s].
        q: (T, n) [rad].
        processes: the best ones, one a joint.
        allowance: how much worse, in the squared noise of samples.
    """
    highest = highest_bandwidth(time)

    def widened(angle: FloatArray, process: JointProcess, floor: float) -> JointProcess:
        scores = _cross_validation([_Samples(time, angle)], floor)
        allowed, best = scores.of(process)[0] + allowance / time.size, process
        while True:
            wider = dataclasses.replace(best, bandwidth=_WIDENING * best.bandwidth)
            if wider.bandwidth > highest or scores.of(wider)[0] > allowed:
                return best
            best = wider

    return tuple(_each_joint(widened, q, processes, _rounding_noise(q)))


def cross_validation_scores(time: FloatArray, q: FloatArray, processes: Sequence[JointProcess]) -> FloatArray:
    """(n,) logarithms of the generalised cross-validation scores of models of angles q (T, n) at times (T,)."""

    def score(angle: FloatArray, process: JointProcess, floor: float) -> float:
        return _cross_validation([_Samples(time, angle)], floor).of(process)[0]

    return np.array(_each_joint(score, q, processes, _rounding_noise(q)))


def highest_bandwidth(time: FloatArray) -> float:
    """The highest bandwidth that is tried for angles at times (T,) [Hz]."""
    return HIGHEST / float(np.median(np.diff(time[:: _thinning(time, SEARCH_SAMPLES, SEARCH_RATE)])))


def _rounding_noise(q: FloatArray) -> list[float]:
    """(n,) standard deviation of what rounding to their resolution does to angles (T, n); 0 where there is none."""
    return [float(step) / math.sqrt(12.0) for step in resolution(q)]


def _thinning(time: FloatArray, samples: int, rate: float) -> int:
    """Every how many samples to take to have at least so many, and at least so many a second."""
    own = 1.0 / float(np.median(np.diff(time)))
    return max(1, min(time.size // samples, int(own / rate + 0.01)))  # 499.99 Hz is 500 Hz


@dataclass(frozen=True, eq=False)
class _Samples:
    """Successive samples of a joint.

    Attributes:
        time: (T,) [s].
        angle: (T,) [rad].
        moving: share of them during which the joint moves much.
        first, last: whether nothing was recorded before, or after.
        velocity: (T,) [rad/s]; None where it is not used.
    """

    time: FloatArray
    angle: FloatArray
    moving: float = 1.0
    first: bool = True
    last: bool = True
    velocity: FloatArray | None = None

    @cached_property
    def steps(self) -> TimeSteps:
        return TimeSteps.of(self.time)

    @property
    def duration(self) -> float:
        return float(self.time[-1] - self.time[0])

    def of_all(self, time: FloatArray, angle: FloatArray) -> _Samples:
        """The same stretch of the samples that it was thinned out from."""
        first, last = np.searchsorted(time, [self.time[0], self.time[-1]]).tolist()
        stop = time.size if self.last else last + 1
        return dataclasses.replace(self, time=time[first:stop], angle=angle[first:stop])

    def always_moving(self) -> bool:
        """Whether there is no second of rest, or close to it."""
        activity = self._activity()
        return bool((activity >= ACTIVE * activity.max()).all())

    def thinned(self, step: int) -> _Samples:
        kept = slice(None, None, step)
        return dataclasses.replace(self, time=self.time[kept], angle=np.ascontiguousarray(self.angle[kept]))

    def most_active(self) -> list[_Samples]:
        """The stretches in which the joint moves most; the whole where it is short."""
        activity = self._activity()
        active = activity >= ACTIVE * activity.max()
        if self.time.size <= SEARCH_STRETCHES * SEARCH_SAMPLES:
            return [dataclasses.replace(self, moving=float(active.mean()))]
        count = self.time.size // SEARCH_SAMPLES
        starts = np.linspace(0, self.time.size - SEARCH_SAMPLES, count).astype(np.int64)
        most = np.array([activity[start : start + SEARCH_SAMPLES].max() for start in starts])
        pieces = []
        for start in np.sort(starts[np.argsort(-most, kind="stable")[:SEARCH_STRETCHES]]).tolist():
            stop = start + SEARCH_SAMPLES
            part, last = slice(start, stop), stop == self.time.size
            pieces.append(_Samples(self.time[part], self.angle[part], float(active[part].mean()), start == 0, last))
        return pieces

    def _activity(self) -> FloatArray:
        """(T,) how much the joint accelerates in the second around each sample; not an acceleration, but like it."""
        period = float(np.median(np.diff(self.time)))
        lag = min(max(1, round(_LAG / period)), (self.time.size - 1) // 2)
        bends = np.abs(self.angle[2 * lag :] - 2.0 * self.angle[lag:-lag] + self.angle[: -2 * lag])
        size = min(max(8, round(_SECOND / period)), bends.size)
        count = bends.size // size
        # An upper quartile: a single sample that is off, and its neighbours, do not make a second of motion.
        each = np.quantile(bends[: count * size].reshape(count, size), 0.75, axis=1)
        # How a motion begins and ends belongs to it.
        each = np.maximum(each, np.maximum(np.append(each[1:], 0.0), np.append(0.0, each[:-1])))
        return np.asarray(each[np.clip((np.arange(self.time.size) - lag) // size, 0, count - 1)])


def _shares(samples: _Samples, process: JointProcess) -> tuple[tuple[float, float], ...]:
    """Where less than the whole bandwidth is better, and how much of it; see `JointProcess.shares`."""
    thin = _thinning(samples.time, LEAST_SAMPLES, _SHARE_RATE * process.bandwidth)
    samples, process = samples.thinned(thin), _for_all(process, 1.0 / thin)
    windows = int(min(samples.duration * process.bandwidth / _WINDOW, samples.time.size // 8))
    if windows < 3:
        return ()
    edges = np.linspace(samples.time[0], samples.time[-1], windows + 1)
    # A gap in the samples may leave windows empty; they take the share of a neighbour with samples.
    numbers = np.clip(np.searchsorted(edges, samples.time, "right") - 1, 0, windows - 1)
    criteria = []
    for share in _SHARES:
        candidate = dataclasses.replace(process, bandwidth=share * process.bandwidth, shares=())
        smoothed = smooth_joint(samples.time, samples.angle, candidate, depth=1, exact=False)
        misfit = ((samples.angle - smoothed.means[:, 0]) / process.noise) ** 2
        spent = smoothed.covariances[:, 0, 0] / process.noise**2
        criteria.append(np.bincount(numbers, misfit + 2.0 * CAUTION * spent, minlength=windows))
    table = np.array(criteria)
    # Motion begins and ends within a window: each is judged with its neighbours.
    table[:, 1:-1] = table[:, :-2] + table[:, 1:-1] + table[:, 2:]
    table[:, 0], table[:, -1] = table[:, 1], table[:, -2]
    best = np.where(table[0] - table.min(axis=0) > _GAIN, np.argmin(table, axis=0), 0)
    best = np.maximum(best - _CAREFUL, 0)
    if not best.any():
        return ()
    changes = [0, *(np.flatnonzero(np.diff(best)) + 1).tolist()]
    return tuple((float(edges[at]), _SHARES[int(best[at])]) for at in changes)


def _for_all(process: JointProcess, share: float) -> JointProcess:
    """The model for all samples, from the best one for every ``share``-th of them.

    The best bandwidth of a smoother of order m grows with the number of samples to the power 1 / (2 m + 1): noise
    falls with it, and the motion that is cut off with the bandwidth to the power -m. The same holds for samples that
    only bring noise into a comparison, those at rest: without them the bandwidth is as much larger.
    """
    grown = process.bandwidth * share ** (1.0 / (2 * process.order + 1))
    return dataclasses.replace(process, bandwidth=grown)


def _each_joint(work: Callable[..., object], q: FloatArray, *more: object) -> list:  # type: ignore[type-arg]
    columns = [np.ascontiguousarray(q[:, joint]) for joint in range(q.shape[1])]
    with ThreadPoolExecutor(max_workers=min(get_num_threads(), len(columns))) as pool:
        return list(pool.map(work, columns, *more))  # type: ignore[arg-type]


class _Remembered:
    """A score of a model and the noise level found with it, remembered, so that a search may ask twice."""

    def __init__(self, score: Callable[[JointProcess], tuple[float, float]]) -> None:
        self._score = score
        self._known: dict[JointProcess, tuple[float, float]] = {}

    def of(self, process: JointProcess) -> tuple[float, float]:
        if process not in self._known:
            self._known[process] = self._score(process)
        return self._known[process]


def _cross_validation(pieces: Sequence[_Samples], floor: float = 0.0) -> _Remembered:
    """The scores of models on pieces of a run.

    Args:
        pieces: of the samples.
        floor: standard deviation that their errors have at least [rad]. Rounded angles of a slow motion are steps,
            which a wide bandwidth follows: what a model explains below the floor is not to its credit.
    """

    def score(process: JointProcess) -> tuple[float, float]:
        squares, spent, count = 1e-300, 0.0, 0
        for piece in pieces:
            here = process
            if not (piece.first and piece.last):
                starts, ends = process.starts_at_rest and piece.first, process.ends_at_rest and piece.last
                here = dataclasses.replace(process, starts_at_rest=starts, ends_at_rest=ends)
            sums = residual_sums(piece.time, piece.steps, piece.angle, here, piece.velocity)
            squares, spent = squares + sums[0], spent + sums[1]
            count += piece.time.size * (1 if piece.velocity is None else 2)
        noise = max(math.sqrt(squares / max(count - spent, 1.0)), LEAST_NOISE, floor)
        squares = max(squares, FOLLOWED * floor**2 * (count - spent))
        return math.log(squares) - 2.0 * math.log(max(count - CAUTION * spent, 1e-3)), noise

    return _Remembered(score)


def _search(
    pieces: Sequence[_Samples],
    scores: _Remembered,
    template: JointProcess,
    orders: tuple[int, ...],
    start: float | None = None,
) -> JointProcess:
    """The order and bandwidth with the least score: downhill in both from the template's order.

    ``start`` is the logarithm of the bandwidth to start from; None looks for it.
    """
    lowest = math.log(0.5 / max(piece.duration for piece in pieces))
    highest = max(math.log(HIGHEST / float(np.median(np.diff(pieces[0].time)))), lowest)

    def score(order: int, value: float) -> float:
        return scores.of(dataclasses.replace(template, order=order, bandwidth=math.exp(value)))[0]

    def descend(order: int, start: float, step: float) -> float:
        best = start
        for sign in (1.0, -1.0):
            while True:
                following = min(max(best + sign * step, lowest), highest)
                if following == best or score(order, following) >= score(order, best):
                    break
                best = following
            if best != start:
                break
        return best

    order = template.order
    if start is None:  # a few anchors, then downhill: low bandwidths, which take longest, are looked at only if need be
        anchors = np.linspace(lowest, highest, max(2, math.ceil((highest - lowest) / 2.1) + 1)).tolist()[1:]
        start = descend(order, min(anchors, key=lambda value: score(order, value)), 0.7)
    best = descend(order, start, 0.35)
    for direction in (1, -1):
        at = orders.index(order) + direction
        while 0 <= at < len(orders):
            value = descend(orders[at], best, 0.2)
            if score(orders[at], value) >= score(order, best):
                break
            order, best, at = orders[at], value, at + direction
    chosen = dataclasses.replace(template, order=order, bandwidth=math.exp(descend(order, best, 0.1)))
    return dataclasses.replace(chosen, noise=scores.of(chosen)[1])


def _rest_at_ends(time: FloatArray, angle: FloatArray, process: JointProcess) -> tuple[bool, bool]:
    """Whether the derivatives at the first and at the last sample are zero as far as the data can tell."""
    reach, least = _END / process.bandwidth, 8 * process.order
    first = slice(0, max(least, int(np.searchsorted(time, time[0] + reach))))
    last = slice(min(max(0, time.size - least), int(np.searchsorted(time, time[-1] - reach))), time.size)
    found = []
    for end, part in ((0, first), (-1, last)):
        smoothed = smooth_joint(time[part], angle[part], process, depth=process.order)
        derivatives, covariance = smoothed.means[end, 1:], smoothed.covariances[end, 1:, 1:]
        scale = np.sqrt(np.diag(covariance))
        found.append(bool(np.all(np.abs(derivatives) <= _REST_LEVEL * scale)))
    return found[0], found[1]
