"""`fit_corrections`: corrections that are not known are estimated along with the load, and counted in its intervals.

Weighted least squares in load, bias and corrections at once, by Gauss-Newton with the derivatives of `CorrectedModel`.
A correction that can be far off (a sensor turned by 90 deg, an arm on the ceiling) starts from the best of some places.
The load itself is then estimated by the method that was asked for, from the recording with the corrections that were
found; what their errors add to its covariance is J S J', with S their own covariance and J how the load follows them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, block_means, frozen
from iparam.errors import InputError
from iparam.estimation.corrections.model import DEVIATIONS, OF_ARM, CorrectedModel, CorrectionState
from iparam.estimation.errors import IdentificationError
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.problem import NUM_PARAMETERS
from iparam.estimation.payload.problem_from_recording import LEAST_SAMPLES, averaged, within_motion
from iparam.estimation.payload.spikes import without_spikes
from iparam.motion.angle_samples import evenly_stamped
from iparam.motion.delay import CLEAR, LEAST_DELAY, SETTLED
from iparam.motion.motion import MotionEstimate
from iparam.motion.orientation import OrientationMotion
from iparam.motion.sources import KalmanMotion, MotionSource, known_motion
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.recording.statements import with_gravity
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot
from iparam.sensing.correction import ESTIMATE, WRENCH_CHANNELS, Correction, lag_of
from iparam.sensing.held_samples import without_repeats
from iparam.sensing.run_check import check_run
from iparam.sensing.wrench_source import SensorWrench, WrenchSource, weighed_wrench
from iparam.spatial.transforms import rotation_from_rpy, rpy_from_rotation

UNDETERMINED = 0.5
"""Standard deviation, as a share of what was known beforehand, from which on the data do not tell a correction."""

CLEAR_LAG = 3.0
"""Standard deviations from which a time constant of a low-pass that was asked for is believed to be there."""

_ROUNDS = 3  # of weights that follow from the residuals of the fit before
_MOST_STEPS = 40
_SETTLED = 1e-7  # change of the squares, as a share: of some 1e4 numbers, a small part of a standard deviation
_SINGULAR = 1e-9  # least eigenvalue of the load's correlations that determines it
_START_SAMPLES = 600
_START_LAGS = (0.002, 0.008, 0.03)  # s


@dataclass(frozen=True, eq=False)
class CorrectionFit:
    """Corrections that were estimated along with a load.

    Attributes:
        correction: with the values found in place of "estimate".
        deviations: name -> standard deviations, in the units of the option.
        phi_covariance: (10, 10) that the errors of the corrections add to that of the load.
        remarks: what the data do not tell.
    """

    correction: Correction
    deviations: Mapping[str, tuple[float, ...]]
    phi_covariance: FloatArray
    remarks: tuple[Remark, ...]


def fit_corrections(
    recording: Recording,
    robot: Robot | None,
    correction: Correction,
    *,
    motion: MotionSource | MotionEstimate | None = None,
    wrench: WrenchSource | None = None,
    bias: bool = True,
    delay: float | None = None,
    gravity: ArrayLike | None = None,
) -> CorrectionFit:
    """Estimate what ``correction`` leaves to be estimated.

    Args:
        recording: as it was made.
        robot: the arm; None where the sensor's own orientation is recorded instead.
        correction: with "estimate" in some places; what else it says is applied.
        motion, wrench, gravity: see `problem_from_recording`. Where gravity is to be estimated, its size is taken.
        bias: whether the sensor has one.
        delay: of the wrench [s], instead of the correction's. Where nobody gives it, it is estimated, too, and counts
            if it is clear.
    """
    names = correction.estimated
    if robot is None and set(names) & set(OF_ARM):
        wrong = next(name for name in names if name in OF_ARM)
        raise InputError(
            argument=wrong, problem="can only be estimated from the joint angles of an arm, and this recording has none"
        )
    if wrench is not None and correction.measures is not None:
        raise InputError(
            "a source of the wrench says itself what it measures: leave that out of the correction", argument="measures"
        )
    if delay is not None:
        correction = dataclasses.replace(correction, delay=delay)
    in_base = correction.wrench_frame not in (None, "tool")
    if in_base and correction.wrench_scale == ESTIMATE:
        raise InputError(
            argument="wrench_scale",
            problem="can only be estimated for the sensor's own channels, not for a wrench in base axes",
        )
    of_sensor: dict[str, Any] = dict.fromkeys(("sensor_rotation", "sensor_offset", "external_force"))
    if not in_base:
        of_sensor |= dict.fromkeys(("wrench_axes", "wrench_scale", "measures"))
    moved = dataclasses.replace(correction, **of_sensor).applied(recording, robot)
    checked = check_run(with_gravity(moved, None if correction.gravity else gravity), robot)
    run = checked.recording
    if robot is not None and not isinstance(motion, MotionEstimate):
        run, _ = evenly_stamped(run)
    if robot is None:
        whole = motion if isinstance(motion, MotionEstimate) else OrientationMotion().motion(run)
        if wrench is None and correction.measures is None:
            wrench, _ = weighed_wrench(run, checked.gravity)
    else:
        source = KalmanMotion() if motion is None else motion
        whole = source if isinstance(source, MotionEstimate) else known_motion(run, robot, source)
    if whole.linear_acceleration_minus_gravity is not None and set(names) & set(OF_ARM):
        raise InputError(
            argument=names[0],
            problem="can only be estimated from a motion of the joints alone: leave out the accelerometer",
            fix={"motion": "kalman"},
        )
    read, _ = without_repeats((SensorWrench() if wrench is None else wrench).read(run), whole)
    measured = _means(without_spikes(read, whole, robot, checked.gravity)[0], whole, correction)
    known = np.eye(6) if in_base else correction.wrench_matrix()
    model = CorrectedModel(whole, measured.time, robot, known, correction.filter_order)
    unclear = correction.delay is None and correction.low_pass is None and robot is not None
    fit = _Fit(correction, (*names, "delay") if unclear else names, model, measured, checked.gravity, bias)
    if unclear and abs(fit.state.delay) <= max(CLEAR * fit.deviations["delay"][0], LEAST_DELAY):
        fit = _Fit(correction, names, model, measured, checked.gravity, bias)
    return fit.result()


def _means(measured: Signal, motion: MotionEstimate, correction: Correction) -> Signal:
    """The wrench within the motion, with as many successive samples averaged as an estimate averages."""
    late = correction.delay if isinstance(correction.delay, float) else 0.0
    inside, _ = within_motion(motion, measured.time - late, SETTLED * correction.lag)
    if np.count_nonzero(inside) < LEAST_SAMPLES:
        raise IdentificationError("too few samples of the wrench lie within the recorded motion to correct it by")
    times, values = measured.time[inside], measured.values[inside]
    size = averaged(times)
    return Signal(block_means(times, size), block_means(values, size), measured.unit, measured.frame)


class _Fit:
    """One fit of ``names`` along with the load.

    Args:
        correction: what else is known.
        names: what is estimated.
        model: of what is recorded.
        wrench: what was recorded.
        gravity: (3,) to start from [m/s^2].
        bias: whether the sensor has one.
    """

    def __init__(
        self,
        correction: Correction,
        names: tuple[str, ...],
        model: CorrectedModel,
        wrench: Signal,
        gravity: FloatArray,
        bias: bool,
    ) -> None:
        self._correction, self._names, self._gravity, self._model = correction, names, gravity, model
        self._observed = wrench.values
        self._used = np.array([channel not in correction.without for channel in WRENCH_CHANNELS])
        edges = np.searchsorted(wrench.time, correction.bias_starts()).tolist() if bias else []
        self._segments = [part for part in np.split(np.arange(wrench.num_samples), edges) if part.size] if bias else []
        self.state, self.phi, self._weights = self._solve()

    @cached_property
    def _covariances(self) -> tuple[FloatArray, FloatArray]:
        """(k, k) of the steps of the corrections, and (10, 10) what they add to the load's."""
        columns = self._columns(self.state, self.phi)
        residual = self._residual(self.state, self.phi)
        weighted = columns * self._weights[:, None]
        rows = weighted.reshape(-1, columns.shape[2])
        prior = np.diag([*np.zeros(NUM_PARAMETERS), *self._prior])
        information = rows.T @ rows + prior
        size = np.sqrt(np.diag(information))[:NUM_PARAMETERS]
        if not size.all() or np.linalg.eigvalsh(information[:10, :10] / np.outer(size, size))[0] < _SINGULAR:
            raise IdentificationError(
                f"nothing can be estimated along with the load ({', '.join(self._names)}): these data do not determine "
                "all ten of its parameters. Move all wrist joints, faster, through more orientations"
            )
        scores = Scores(columns, residual * self._weights**2, np.zeros(columns.shape[2]))
        covariance = estimate_covariance(information, scores)[0]
        covariance = covariance + np.linalg.solve(information, np.linalg.solve(information, prior).T)
        steps = covariance[NUM_PARAMETERS:, NUM_PARAMETERS:]
        load = information[:NUM_PARAMETERS]
        follows = -np.linalg.solve(load[:, :NUM_PARAMETERS], load[:, NUM_PARAMETERS:])
        return 0.5 * (steps + steps.T), follows @ steps @ follows.T

    @property
    def deviations(self) -> dict[str, tuple[float, ...]]:
        """Standard deviations by name, in the units of the options."""
        steps, found = self._covariances[0], {}
        for name, part in self._parts().items():
            slope = self._option_slope(name)
            found[name] = tuple(np.sqrt(np.maximum(np.diag(slope @ steps[part, part] @ slope.T), 0.0)).tolist())
        return found

    def result(self) -> CorrectionFit:
        """What was found."""
        values = {name: self._option_value(name, self.state) for name in self._names}
        if "low_pass" in values and self.state.lag <= CLEAR_LAG * self._lag_deviation:
            values["low_pass"] = None
        found = dataclasses.replace(self._correction, **values)
        return CorrectionFit(found, self.deviations, frozen(self._covariances[1]), tuple(self._undetermined()))

    @property
    def _lag_deviation(self) -> float:
        part = self._parts()["low_pass"].start
        return float(np.sqrt(self._covariances[0][part, part]))

    def _undetermined(self) -> Iterator[Remark]:
        steps = np.sqrt(np.diag(self._covariances[0]))
        if "low_pass" in self._names and self.state.lag <= CLEAR_LAG * self._lag_deviation:
            yield remark("no-low-pass")
        for name, part in self._parts().items():
            open_ones = np.flatnonzero(steps[part] > UNDETERMINED * DEVIATIONS[name])
            if not open_ones.size:
                continue
            which = f" of joint {', '.join(str(one + 1) for one in open_ones)}" if name == "joint_offset" else ""
            yield remark("correction-open", field=name, joints=which)
        if "wrench_scale" in self._names:
            yield remark("common-gain-unseen", channel=WRENCH_CHANNELS[self.state.reference])

    def _solve(self) -> tuple[CorrectionState, FloatArray, FloatArray]:
        deviation = self._centred(self._observed).std(axis=0)
        least = 1e-9 * max(float(deviation.max()), 1e-9)
        weights = self._used / np.maximum(deviation, least)
        state = self._best_start(weights)
        phi = self._load(state, weights)[0]
        for _ in range(_ROUNDS):
            state, phi = self._descend(state, phi, weights)
            scatter = self._residual(state, phi).std(axis=0)
            weights = self._used / np.maximum(scatter, least)
        if "wrench_scale" in self._names:
            state = self._most_gains_kept(state)
        state, phi = self._descend(state, phi, weights)
        return state, phi, weights

    @staticmethod
    def _most_gains_kept(state: CorrectionState) -> CorrectionState:
        """The gains with the one in the middle kept, so that as many as possible stay near 1."""
        order = np.argsort(state.log_gains)
        middle = int(order[2] if abs(state.log_gains[order[2]]) <= abs(state.log_gains[order[3]]) else order[3])
        gains = state.log_gains - state.log_gains[middle]
        return dataclasses.replace(state, log_gains=gains, reference=middle)

    def _descend(
        self, state: CorrectionState, phi: FloatArray, weights: FloatArray
    ) -> tuple[CorrectionState, FloatArray]:
        """Gauss-Newton steps, each as far as it helps."""
        damping = np.diag([*np.zeros(NUM_PARAMETERS), *self._prior])
        phi, squares = self._load(state, weights)
        for _ in range(_MOST_STEPS):
            rows = (self._columns(state, phi) * weights[:, None]).reshape(-1, NUM_PARAMETERS + self._prior.size)
            right = rows.T @ (self._residual(state, phi) * weights).ravel()
            step = np.linalg.lstsq(rows.T @ rows + damping, right, rcond=None)[0][NUM_PARAMETERS:]
            for share in (1.0, 0.5, 0.25, 0.1, 0.02):
                tried = state.moved(self._names, np.asarray(share * step))
                other, fewer = self._load(tried, weights)
                if fewer < squares:
                    break
            else:
                return state, phi
            settled = squares - fewer < _SETTLED * squares
            state, phi, squares = tried, other, fewer
            if settled:
                break
        return state, phi

    def _load(self, state: CorrectionState, weights: FloatArray, stride: int = 1) -> tuple[FloatArray, float]:
        """The load (10,) that fits best with the corrections as they are, and the weighted squares."""
        model = self._model if stride == 1 else self._thin
        rows = self._centred(model.recorded(state, model.regressor(state)), stride)
        right = self._centred(self._observed[::stride] + model.recorded(state, model.pull(state)), stride)
        flat = (rows * weights[:, None]).reshape(-1, NUM_PARAMETERS)
        target = (right * weights).ravel()
        scale = np.sqrt(np.einsum("ij,ij->j", flat, flat)) + 1e-30
        gram = flat.T @ flat / np.outer(scale, scale)
        phi = np.linalg.lstsq(gram, flat.T @ target / scale, rcond=1e-12)[0] / scale
        return phi, float(np.sum((target - flat @ phi) ** 2))

    def _columns(self, state: CorrectionState, phi: FloatArray) -> FloatArray:
        """(N, 6, 10 + k) derivatives of the recorded wrench by load and corrections."""
        load = self._model.recorded(state, self._model.regressor(state))
        slopes = self._model.slopes(self._names, state, phi)
        return np.asarray(self._centred(np.concatenate([load, slopes], axis=2)) * self._used[:, None])

    def _residual(self, state: CorrectionState, phi: FloatArray) -> FloatArray:
        tool = self._model.regressor(state) @ phi - self._model.pull(state)
        return np.asarray(self._centred(self._observed - self._model.recorded(state, tool)) * self._used)

    def _centred(self, values: FloatArray, stride: int = 1) -> FloatArray:
        """Values (N, ...) without the mean of each time between zeroings: what a bias could not explain."""
        if not self._segments:
            return values
        found = np.array(values)
        for part in self._segments:
            own = slice(-(-int(part[0]) // stride), -(-(int(part[-1]) + 1) // stride))
            if own.stop > own.start:
                found[own] -= found[own].mean(axis=0)
        return found

    def _best_start(self, weights: FloatArray) -> CorrectionState:
        """The state to start from: of all that are tried, the one that fits best with a load that has a mass."""
        starts = list(self._starts())
        if len(starts) == 1:
            return starts[0]
        stride = self._stride
        tried = [(self._load(state, weights, stride), state) for state in starts]
        possible = [entry for entry in tried if entry[0][0][0] > 0.0] or tried
        return min(possible, key=lambda entry: entry[0][1])[1]

    @cached_property
    def _stride(self) -> int:
        return max(1, len(self._observed) // _START_SAMPLES)

    @cached_property
    def _thin(self) -> CorrectedModel:
        return self._model.thinned(self._stride)

    def _starts(self) -> Iterator[CorrectionState]:
        given = self._correction
        angles = np.zeros(3) if given.sensor_rotation in (None, ESTIMATE) else np.asarray(given.sensor_rotation, float)
        turns = _quarter_turns() if given.sensor_rotation == ESTIMATE else [rotation_from_rpy(np.radians(angles))]
        pulls = _directions(self._gravity) if given.gravity == ESTIMATE else [self._gravity]
        lags = _START_LAGS if given.low_pass == ESTIMATE else [given.lag]
        joints = 0 if self._model.robot is None else self._model.robot.num_joints
        pulling = np.zeros(6)
        if given.external_force not in (None, ESTIMATE):
            pulling[: len(given.external_force or ())] = given.external_force
        for turn, pull, lag in product(turns, pulls, lags):
            yield CorrectionState(
                rotation=turn,
                offset=np.zeros(3)
                if given.sensor_offset in (None, ESTIMATE)
                else np.asarray(given.sensor_offset, float),
                log_gains=np.zeros(6),
                gravity=pull,
                log_clock=0.0,
                joint_offset=np.zeros(joints),
                force=pulling[:3],
                point=pulling[3:],
                delay=0.0 if given.delay in (None, ESTIMATE) else float(given.delay or 0.0),
                lag=lag,
            )

    @cached_property
    def _prior(self) -> FloatArray:
        """(k,) information on the corrections before the data."""
        state = next(self._starts())
        return np.concatenate([np.broadcast_to(DEVIATIONS[name] ** -2.0, state.size(name)) for name in self._names])

    def _parts(self) -> dict[str, slice]:
        found, start = {}, 0
        for name in self._names:
            found[name] = slice(start, start + self.state.size(name))
            start += self.state.size(name)
        return found

    def _option_value(self, name: str, state: CorrectionState) -> Any:
        values: dict[str, Callable[[], Any]] = {
            "sensor_rotation": lambda: tuple(np.degrees(rpy_from_rotation(state.rotation)).tolist()),
            "sensor_offset": lambda: tuple(state.offset.tolist()),
            "wrench_scale": lambda: tuple(np.exp(state.log_gains).tolist()),
            "gravity": lambda: tuple(state.gravity.tolist()),
            "clock": lambda: float(np.exp(state.log_clock)),
            "joint_offset": lambda: tuple(np.degrees(state.joint_offset).tolist()),
            "external_force": lambda: (*state.force.tolist(), *state.point.tolist()),
            "delay": lambda: state.delay,
            "low_pass": lambda: lag_of(state.lag, self._model.order),
        }
        return values[name]()

    def _option_slope(self, name: str) -> FloatArray:
        """(m, s) derivative of an option's numbers by the steps of its correction."""
        size, step, columns = self.state.size(name), 1e-6, []
        for i in range(size):
            ahead, behind = (
                np.atleast_1d(self._option_value(name, self.state.moved((name,), sign * step * np.eye(size)[i])))
                for sign in (1.0, -1.0)
            )
            change = ahead - behind
            if name == "sensor_rotation":
                change = (change + 180.0) % 360.0 - 180.0
            columns.append(change / (2.0 * step))
        return np.stack(columns, axis=1)


def _quarter_turns() -> list[FloatArray]:
    """The 24 rotations that take axes to axes."""
    found = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[np.arange(3), order] = signs
            if np.linalg.det(matrix) > 0.0:
                found.append(matrix)
    return found


def _directions(gravity: FloatArray) -> list[FloatArray]:
    """Gravity as it was said to be, along the axes, and half way between them."""
    size = float(np.linalg.norm(gravity))
    if size == 0.0:
        raise IdentificationError("gravity cannot be estimated where there is none")
    ways = [np.array(way, dtype=np.float64) for way in product((-1.0, 0.0, 1.0), repeat=3) if any(way)]
    return [gravity, *(size * way / np.linalg.norm(way) for way in ways)]
