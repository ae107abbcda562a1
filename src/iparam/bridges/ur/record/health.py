"""`RecordingHealth`: what a recording is worth while it runs: rate, gaps, delay, saturation, and how precisely the load
is known so far, with the time until it is known as precisely as wanted.

The load is fitted to the rows as they come, by weighted least squares on y = A phi + b with the residuals' own size and
correlation: a look at the data, not the result, which `identify_payload` finds with more care from all of them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ur.record.recorder import ArmRecorder
from iparam.errors import IparamError
from iparam.estimation.assessment.derived_values import parameter_scales
from iparam.estimation.assessment.verdict import COARSE
from iparam.excitation.prediction import Prediction, Target
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95, percent
from iparam.sensing.saturation import clipped_samples
from iparam.spatial.derived import derived_covariance
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.trajectory import Trajectory

WINDOW = 0.1
"""Time over which angles are smoothed for their derivatives [s]."""

PLAN_RATE = 50.0
"""Samples of a plan a second from which the precision to come is reckoned [Hz]."""

LONGEST = 600.0
"""Time to come beyond which nothing is said [s]."""

MARGIN = 1.25
"""By which the estimator's standard deviations may exceed those of this fit: what nine tenths of the runs of
`benchmarks/bench_recording_health.py` keep (arms, loads, motions). What is wanted counts as reached with it."""

LOOK_EVERY = 0.25
"""Time between two looks of `HealthWatch` [s]."""

LOOKED_AT = 5000
"""Rows that are looked at for saturation: the last ones."""

_SIZE = 16  # ten parameters and six offsets
_LEAST_EIGENVALUE = 1e-10  # of the matrix with unit diagonal: below it, parameters cannot be told apart
_LEAST_DEVIATION = np.array([1e-3] * 3 + [1e-4] * 3)  # N, N m: no sensor is better


@dataclass(frozen=True, eq=False)
class Health:
    """A recording at one moment.

    Attributes:
        duration: of what was recorded [s].
        rate: samples a second of it [Hz].
        gaps: in it.
        delay: by which the wrench lags behind the joints [s]; None while nothing shows it.
        saturated: share of the last samples in which a channel of the wrench stands at its limit.
        prediction: precision of the load so far; None while the motion does not tell all of it.
        excess: for each target, the standard deviation over the wanted one; () without a prediction.
        remaining: time until all targets are reached [s], 0 if they are; None if it cannot be told, infinite if not by
            the plan.
        targets: that are wanted.
    """

    duration: float
    rate: float
    gaps: int
    delay: float | None
    saturated: float
    prediction: Prediction | None
    excess: tuple[float, ...]
    remaining: float | None
    targets: tuple[Target, ...]

    @property
    def reached(self) -> bool:
        """Whether the load is known as precisely as wanted."""
        return self.prediction is not None and _worst(self.targets, self.prediction) <= 1.0

    def as_json(self) -> dict[str, object]:
        """For machines: standard deviations [kg, m, share of the inertia] and what is wanted."""
        known = self.prediction
        return {
            "rate": self.rate,
            "gaps": self.gaps,
            "delay": self.delay,
            "saturated": self.saturated,
            "mass": None if known is None else known.mass,
            "center_of_mass": None if known is None else known.worst_center_of_mass,
            "relative_inertia": None if known is None else known.relative_inertia,
            "targets": [str(target) for target in self.targets],
            "reached": self.reached,
        }

    def words(self, stage: str = "") -> tuple[str, ...]:
        """All of it, what matters most first: when what is wanted will be known, then what is wrong, then the stage of
        the run, what is known, and the rest. The first has less than 40 characters.
        """
        known = () if self.prediction is None else tuple(_known(target, self.prediction) for target in self.targets)
        wrong = [f"SATURATED {100 * self.saturated:.0f} %"] if self.saturated > 0.0 else []
        wrong += [f"{self.gaps} gaps"] if self.gaps else []
        rest = [f"{self.duration:.1f} s", *known, f"{self.rate:.0f} Hz"]
        rest += [] if self.delay is None else [f"delay {round(1e3 * self.delay)} ms"]
        return tuple(word for word in (self.outlook, *wrong, stage, *rest) if word)

    @property
    def outlook(self) -> str:
        """When what is wanted will be known; "" if it cannot be told."""
        if self.prediction is None:
            return "not all of the load is told yet"
        if self.reached:
            return "precision reached"
        if self.remaining is None:
            return ""
        what = self._lacking(self.prediction)
        if not np.isfinite(self.remaining):
            return f"{what} not in this motion"
        return f"{what} in about {max(self.remaining, 1.0):.0f} s"

    def _lacking(self, found: Prediction) -> str:
        """What is furthest from being known as well as wanted."""
        worst = max(self.targets, key=lambda target: target.excess(found))
        return _wanted(worst) if worst.excess(found) >= untold(found) else "all of the load"

    @property
    def precision(self) -> str:
        """What is known of the load, and what of it is not known as well as wanted."""
        found = self.prediction
        if found is None:
            return "not all of the load is told yet"
        known = ", ".join(_known(target, found) for target in self.targets)
        return f"{known}: reached" if self.reached else f"{known}; not reached: {self._lacking(found)}"


class RecordingHealth:
    """Takes rows as they come and says what they are worth.

    Args:
        robot: the arm.
        rate: samples a second that are expected [Hz].
        targets: what is wanted.
        gravity: (3,) in base axes [m/s^2].
        plan: the motion that is going to be played, if it is known.
    """

    def __init__(
        self, robot: Robot, rate: float, targets: Sequence[Target], gravity: FloatArray, plan: Trajectory | None = None
    ) -> None:
        self._robot, self._rate, self._gravity = robot, rate, gravity
        self._targets = tuple(targets)
        half = max(2, round(0.5 * WINDOW * rate))
        steps = np.arange(-half, half + 1) / rate
        self._smooth = np.linalg.pinv(np.vander(steps, 4, increasing=True))[:3] * np.array([[1.0], [1.0], [2.0]])
        self._half = half
        self._rows = np.empty((0, 13))  # time, angles, wrench: what the next window still needs
        self._gram, self._right = np.zeros((6, _SIZE, _SIZE)), np.zeros((6, _SIZE))
        self._squares, self._samples = np.zeros(6), 0
        self._last: tuple[FloatArray, FloatArray] = np.empty((0, 6, _SIZE)), np.empty((0, 6))
        self._recent = np.empty((0, 6))
        self._seen, self._begun, self._until, self._gaps = 0, 0.0, 0.0, 0
        self._moved = 0.0
        self._plan = None if plan is None else self._planned(plan)

    def add(self, time: FloatArray, q: FloatArray, wrench: FloatArray) -> None:
        """Take rows: times (R,) [s], joint angles (R, 6) [rad] and the wrench (R, 6) in the tool frame [N, N m]."""
        if not len(time):
            return
        if not self._seen:
            self._begun = float(time[0])
        before = time[0] if not self._seen else self._until
        self._gaps += int(np.count_nonzero(np.diff(time, prepend=before) > 1.5 / self._rate))
        self._seen += len(time)
        self._until = float(time[-1])
        self._recent = np.concatenate([self._recent, wrench])[-LOOKED_AT:]
        self._rows = np.concatenate([self._rows, np.column_stack([time, q, wrench])])
        rows, half = self._rows, self._half
        if len(rows) <= 2 * half:
            return
        windows = np.lib.stride_tricks.sliding_window_view(rows[:, 1:7], 2 * half + 1, axis=0)  # (N, 6, window)
        q, dq, ddq = (windows @ weights for weights in self._smooth)
        middle = rows[half : len(rows) - half]
        even = np.ptp(np.lib.stride_tricks.sliding_window_view(rows[:, 0], 2 * half + 1), axis=1) < 1.5 * WINDOW
        finite = even & np.isfinite(rows[half : len(rows) - half]).all(axis=1) & np.isfinite(ddq).all(axis=1)
        self._take(q[finite], dq[finite], ddq[finite], middle[finite, 7:])
        self._rows = rows[len(rows) - 2 * half :]

    def _take(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, wrench: FloatArray) -> None:
        if not len(q):
            return
        rows = _with_offsets(wrench_regressor(self._robot, q, dq, ddq, self._gravity))
        by_channel = np.moveaxis(rows, 1, 0)  # (6, N, 16)
        self._gram += np.matmul(by_channel.transpose(0, 2, 1), by_channel)
        self._right += np.einsum("cni,nc->ci", by_channel, wrench)
        self._squares += (wrench**2).sum(axis=0)
        self._samples += len(q)
        self._moved += float(np.count_nonzero(np.abs(dq).max(axis=1) > 0.02)) / self._rate
        self._last = rows, wrench

    def report(self, played: float | None = None) -> Health:
        """What the rows so far are worth.

        Args:
            played: share of the plan that has been played; None without a plan.
        """
        rate = (self._seen - 1) / (self._until - self._begun) if self._until > self._begun else 0.0
        clipped = clipped_samples(self._recent).any(axis=1) if len(self._recent) else np.zeros(1, dtype=bool)
        found = self._fit()
        delay, prediction, remaining = None, None, None
        excess: tuple[float, ...] = ()
        if found is not None:
            solution, variance = found
            delay = self._delay(solution, variance)
            prediction = _prediction(solution, self._gram, variance, self._until - self._begun, self._samples)
        if prediction is not None:
            excess = tuple(target.excess(prediction) for target in self._targets)
            remaining = self._remaining(prediction, variance, solution, played) if excess else None
        return Health(
            self._until - self._begun,
            rate,
            self._gaps,
            delay,
            float(np.mean(clipped)),
            prediction,
            excess,
            remaining,
            self._targets,
        )

    def _fit(self) -> tuple[FloatArray, FloatArray] | None:
        """(16,) parameters and offsets, and (6,) variances that a residual of each channel counts with; or None."""
        if self._samples < 100:
            return None
        variance = np.array([0.25] * 3 + [0.0025] * 3)
        solution = np.zeros(_SIZE)
        for _ in range(3):
            weighted = np.tensordot(1.0 / variance, self._gram, axes=1)
            inverse = _inverse(weighted)
            if inverse is None:
                return None
            solution = inverse @ ((1.0 / variance) @ self._right)
            explained = np.einsum("i,cij,j->c", solution, self._gram, solution)
            residual_squares = self._squares - 2.0 * self._right @ solution + explained
            variance = np.maximum(residual_squares / self._samples, _LEAST_DEVIATION**2)
        return solution, variance * self._correlation(solution)

    def _correlation(self, solution: FloatArray) -> FloatArray:
        """(6,) by how much residuals that resemble their neighbours tell less than as many independent ones."""
        rows, wrench = self._last
        residual = wrench - rows @ solution
        residual = residual - residual.mean(axis=0)
        if len(residual) < 50:
            return np.ones(6)
        next_to = (residual[1:] * residual[:-1]).sum(axis=0) / np.maximum((residual**2).sum(axis=0), 1e-300)
        near = np.clip(next_to, 0.0, 0.95)
        return np.asarray((1.0 + near) / (1.0 - near))

    def _delay(self, solution: FloatArray, variance: FloatArray) -> float | None:
        """By how much the wrench lags, to first order: residuals are then that much of its derivative [s]."""
        rows, wrench = self._last
        predicted = rows @ solution
        if len(predicted) < 50:
            return None
        slope = np.gradient(predicted, 1.0 / self._rate, axis=0)
        residual = wrench - predicted
        power = float((slope**2 / variance).sum())
        if power < 1e6:  # 1 ms is then below the noise
            return None
        return -float((residual * slope / variance).sum()) / power

    def _planned(self, plan: Trajectory) -> FloatArray:
        """(K + 1, 6, 16, 16) what each channel will have told by each time of the plan."""
        motion = plan.sample(PLAN_RATE)
        rows = _with_offsets(wrench_regressor(self._robot, motion.q, motion.dq, motion.ddq, self._gravity))
        each = np.einsum("nci,ncj->ncij", rows, rows) * (self._rate / PLAN_RATE)
        return np.concatenate([np.zeros((1, 6, _SIZE, _SIZE)), np.cumsum(each, axis=0)])

    def _remaining(
        self, prediction: Prediction, variance: FloatArray, solution: FloatArray, played: float | None
    ) -> float | None:
        worst = _worst(self._targets, prediction)
        if worst <= 1.0:
            return 0.0
        if self._plan is None or played is None:
            more = self._moved * (worst**2 - 1.0)  # as much a second as so far
            return more if 0.0 < more < LONGEST else None
        plan = self._plan
        now = min(int(played * (len(plan) - 1)), len(plan) - 1)
        low, high = now, len(plan) - 1

        def excess(place: int) -> float:
            later = _prediction(solution, self._gram + plan[place] - plan[now], variance, 0.0, 0)
            return np.inf if later is None else _worst(self._targets, later)

        if excess(high) > 1.0:
            return np.inf
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if excess(middle) <= 1.0 else (middle, high)
        return (high - now) / PLAN_RATE


class HealthWatch:
    """Looks at a running recording from a thread of its own, so that whoever guards an arm does not wait for it.

    Args:
        recorder: running.
        health: that takes its rows, from the next one on.

    Attributes:
        latest: what was found last; None before.
        played: share of the plan that has been played, to be set by whoever plays it.
    """

    def __init__(self, recorder: ArmRecorder, health: RecordingHealth) -> None:
        self._recorder, self._health = recorder, health
        self._count = recorder.num_samples
        self._stop = threading.Event()
        self.latest: Health | None = None
        self.played: float | None = None
        self._thread = threading.Thread(target=self._look, name="recording health", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        with contextlib.suppress(IparamError, np.linalg.LinAlgError):  # a look that fails costs the look alone
            while not self._stop.wait(LOOK_EVERY):
                self._count, time, signals = self._recorder.signals_since(self._count)
                if "wrench" in signals:
                    self._health.add(time, signals["q"], signals["wrench"])
                    self.latest = self._health.report(self.played)


def _with_offsets(regressor: FloatArray) -> FloatArray:
    return np.concatenate([regressor, np.broadcast_to(np.eye(6), (len(regressor), 6, 6))], axis=2)


def _inverse(gram: FloatArray) -> FloatArray | None:
    scale = np.sqrt(np.diag(gram))
    if not (scale > 0.0).all():
        return None
    values, vectors = np.linalg.eigh(gram / np.multiply.outer(scale, scale))
    if values[0] <= _LEAST_EIGENVALUE * values[-1]:
        return None
    return np.asarray((vectors / values) @ vectors.T / np.multiply.outer(scale, scale))


def _prediction(
    solution: FloatArray, gram: FloatArray, variance: FloatArray, duration: float, samples: int
) -> Prediction | None:
    """The precision of a fit; None if the data tell no body with a mass."""
    inverse = _inverse(np.tensordot(1.0 / variance, gram, axes=1))
    if inverse is None or not solution[0] > 0.0:
        return None
    covariance = inverse[:10, :10]
    body = InertialParameters.from_phi(solution[:10])
    return Prediction(body, covariance, derived_covariance(solution[:10], covariance), duration, samples)


def untold(prediction: Prediction) -> float:
    """How far the data are from telling all of the load, 1 where they just do.

    That is where the verdict on an estimate stops being "too uncertain": where the half width of each 95 % interval is
    at most `COARSE` of the parameter's scale. Before, `identify_payload` counts sensors aside and turned that such data
    cannot show, and its intervals are several times as wide as those of this fit, of mass and centre of mass too.
    """
    half_widths = NORMAL_95 * np.sqrt(np.diag(prediction.covariance_derived))
    return float((half_widths / parameter_scales(prediction.payload)).max()) / COARSE


def _worst(targets: Sequence[Target], prediction: Prediction) -> float:
    """The largest excess of what is wanted, and of all that has to be told for it, with the margin."""
    return MARGIN * max(untold(prediction), *(target.excess(prediction) for target in targets))


def _known(target: Target, prediction: Prediction) -> str:
    share = target.excess(prediction) * target.value
    if target.relative and share > 1.0:
        return f"{_NAMES[target.quantity]} not yet"
    if target.relative:
        return f"{_NAMES[target.quantity]} to {percent(share)}"
    return f"{_NAMES[target.quantity]} to {1e3 * share:.2g} {'mm' if target.quantity == 'com' else 'g'}"


def _wanted(target: Target) -> str:
    value = f"{100 * target.value:g} %" if target.relative else f"{1e3 * target.value:g} "
    unit = "" if target.relative else "mm" if target.quantity == "com" else "g"
    return f"{_NAMES[target.quantity]} to {value}{unit}"


_NAMES = {"mass": "mass", "com": "CoM", "inertia": "inertia"}
