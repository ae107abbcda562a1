"""Chooses the motion model of each joint from its angle samples: order, bandwidth, noise, and whether it is at rest.

Order and bandwidth minimise the generalised cross-validation score, an estimate of how well the smoothed angles predict
samples that were left out. It needs no noise level, and unlike the likelihood it does not depend on the model being a
true description of the motion: excitation motions hold almost nothing above their highest harmonic, which no chain of
integrators says, and the likelihood then asks for three times the bandwidth that is best.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from iparam.arrays import FloatArray
from iparam.recording.joint_process import JointProcess, filter_joint, smooth_joint
from iparam.robot.batching import get_num_threads

ORDERS = (3, 4, 5, 6, 7)
CAUSAL_ORDERS = (3, 4)
LEAST_SAMPLES = 16
LEAST_NOISE = 1e-10
"""[rad] Floor of the noise level: far below any encoder, so that exact angles do not divide by zero."""

CAUTION = 1.4
"""Weight of the degrees of freedom that a model spends. Plain cross-validation, 1, now and then follows the noise; Kim
and Gu (2004) found 1.4 to prevent that at hardly any cost."""

SEARCH_SAMPLES = 2500
"""Samples, spread over the run, that models are compared on; the noise of the best one is found from all."""

COARSE_SAMPLES = 1000
"""Samples, spread over the run, from which the search learns where to start: enough to see where a motion ends and its
noise begins, at a fraction of the cost."""

_REST_LEVEL = 4.5
"""Standard deviations by which any derivative of any joint may differ from zero at an end for an arm at rest."""


def choose_processes(time: FloatArray, q: FloatArray) -> tuple[JointProcess, ...]:
    """The models for smoothing angles q (T, n) at times (T,), one a joint."""
    plain = JointProcess(4, 1.0, 1.0)
    share = max(1, time.size // SEARCH_SAMPLES)
    few, coarse = slice(None, None, share), slice(None, None, max(1, time.size // COARSE_SAMPLES))
    scores = _each_joint(lambda angle: _cross_validation(time[few], np.ascontiguousarray(angle[few])), q)

    def look(angle: FloatArray, score: _Remembered) -> JointProcess:
        start = _search(time[coarse], _cross_validation(time[coarse], np.ascontiguousarray(angle[coarse])), plain, (4,))
        return _search(time[few], score, plain, (4,), start=math.log(start.bandwidth))

    first = _each_joint(look, q, scores)
    tests = _each_joint(lambda angle, process: _rest_at_ends(time, angle, _for_all(process, share)), q, first)
    starts, ends = (all(test[end] for test in tests) for end in (0, 1))

    def finish(angle: FloatArray, score: _Remembered, process: JointProcess) -> JointProcess:
        template = dataclasses.replace(plain, order=5, starts_at_rest=starts, ends_at_rest=ends)
        found = _search(time[few], score, template, ORDERS, start=math.log(process.bandwidth))
        if share == 1:
            return found
        found = _for_all(found, share)
        return dataclasses.replace(found, noise=_cross_validation(time, angle).of(found)[1])

    return tuple(_each_joint(finish, q, scores, first))


def _for_all(process: JointProcess, share: int) -> JointProcess:
    """The model for all samples, from the best one for every ``share``-th of them.

    The best bandwidth of a smoother of order m grows with the number of samples to the power 1 / (2 m + 1): noise
    falls with it, and the motion that is cut off with the bandwidth to the power -m.
    """
    grown = process.bandwidth * share ** (1.0 / (2 * process.order + 1))
    return dataclasses.replace(process, bandwidth=grown)


def choose_causal_processes(time: FloatArray, q: FloatArray) -> tuple[JointProcess, ...]:
    """The models for filtering angles as they come: those whose accelerations come closest to the smoother's."""

    def work(angle: FloatArray, process: JointProcess) -> JointProcess:
        reference = smooth_joint(time, angle, process).means[:, 2]

        def score(candidate: JointProcess) -> tuple[float, float]:
            difference = filter_joint(time, angle, candidate).means[:, 2] - reference
            return float(np.mean(difference[time.size // 10 :] ** 2)), process.noise

        return _search(time, _Remembered(score), dataclasses.replace(process, order=3), CAUSAL_ORDERS)

    return tuple(_each_joint(work, q, choose_processes(time, q)))


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


def _cross_validation(time: FloatArray, angle: FloatArray) -> _Remembered:
    def score(process: JointProcess) -> tuple[float, float]:
        smoothed = smooth_joint(time, angle, process, depth=1, exact=False)
        spent = float(smoothed.covariances.sum()) / process.noise**2
        squares = max(float(np.sum((angle - smoothed.means[:, 0]) ** 2)), 1e-300)
        noise = max(math.sqrt(squares / max(time.size - spent, 1.0)), LEAST_NOISE)
        return math.log(squares) - 2.0 * math.log(max(time.size - CAUTION * spent, 1e-3)), noise

    return _Remembered(score)


def _search(
    time: FloatArray,
    scores: _Remembered,
    template: JointProcess,
    orders: tuple[int, ...],
    start: float | None = None,
) -> JointProcess:
    """The order and bandwidth with the least score: downhill in both from the template's order.

    ``start`` is the logarithm of the bandwidth to start from; None looks for it.
    """
    lowest = math.log(0.5 / float(time[-1] - time[0]))
    highest = max(math.log(0.2 / float(np.median(np.diff(time)))), lowest)

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
    smoothed = smooth_joint(time, angle, process, depth=process.order)
    found = []
    for end in (0, -1):
        derivatives, covariance = smoothed.means[end, 1:], smoothed.covariances[end, 1:, 1:]
        scale = np.sqrt(np.diag(covariance))
        found.append(bool(np.all(np.abs(derivatives) <= _REST_LEVEL * scale)))
    return found[0], found[1]
