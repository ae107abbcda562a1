"""`OnlineIdentifier`: the load while the arm moves. One sample in, the present estimate out, at a constant cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError, UnknownNameError
from iparam.estimation.causes.plausible_load import load_remarks
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.recursive import RecursiveLeastSquaresState, RecursiveState
from iparam.estimation.estimators.recursive_total import RecursiveTotalLeastSquaresState
from iparam.estimation.online.change_detection import SHAPE, Change, ChangeDetector
from iparam.estimation.online.estimate import OnlineEstimate
from iparam.estimation.online.innovation_scatter import InnovationScatter
from iparam.estimation.online.noise_watch import NoiseWatch
from iparam.estimation.online.partial_solution import (
    MOSTLY_NOISE,
    OnlineSolution,
    partial_solution,
)
from iparam.estimation.online.result import OnlineQuality, WrenchMoments, online_quality, online_result
from iparam.estimation.online.sample_history import UNKNOWNS, Belief, SampleHistory, SampleSums
from iparam.estimation.payload.problem import NUM_PARAMETERS
from iparam.estimation.payload.problem_from_recording import Bias
from iparam.estimation.payload.regressor_uncertainty import (
    covariance_root,
    sample_error_gram,
    write_linear_acceleration,
)
from iparam.motion.joint_process import JointProcess
from iparam.motion.lagged_filter import LaggedKalmanFilter
from iparam.motion.motion import MotionSample
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot
from iparam.sensing.offset import resting_regressor

LEAST_SAMPLES = 6
"""Before that many samples nothing is said."""

REFRESH = 5
"""Samples for which a covariance is used before it is computed anew; it only shrinks in between."""

SETTLING = 200
"""Samples during which it is computed every time."""

AT_REST = 4.0
"""Standard deviations of their errors within which velocities and accelerations are none."""

RESTING = 10
"""Samples in a row within them after which the arm stands still."""

TRUSTED_AFTER = 2.0
"""Time in motion after which it is known whether a load explains what the sensor shows [s]."""

TRUSTED = 1.2
"""Mean square of the whitened residuals up to which it does."""

UNSETTLED = 20
"""Samples of a new load before something is said of it: until then it may still be on its way."""

SAME_CHANGE = 1.0
"""Time within which a load that goes on changing the same way is one that is lifted, or put down, slowly [s]."""

LOOK_EVERY = 10
"""Samples between two looks at how errors of the motion enter the regressor."""

LOOK_AT = 3
"""The sample of these at which to look: not one at which a covariance is due, so that no sample takes much longer."""


@dataclass(frozen=True)
class OnlineSettings:
    """How to identify on-line.

    Attributes:
        period: time between samples [s].
        method: "rtls" or "rls".
        bias: of the sensor, see `problem_from_recording`; "zeroed" means zeroed with the load on it, at rest in
            the pose of the first sample.
        zero_samples: how many samples the sensor was averaged over when it was zeroed; their noise stays in all others.
        wrench_deviation: (6,) standard deviation of the noise of [force, torque] [N, N m].
        accelerometer_deviation: of the noise of an accelerometer at the tool frame, where one is used [m/s^2].
        process: motion model of the joints; its noise is that of the angles.
        lag: samples by which the estimate runs behind, for the sake of better accelerations.
        restart: whether to start anew when the load changes.
        gravity: (3,) in base axes [m/s^2].
    """

    period: float = 0.002
    method: Literal["rtls", "rls"] = "rtls"
    bias: Bias = "estimate"
    zero_samples: int = 50
    wrench_deviation: tuple[float, ...] = (0.5, 0.5, 0.5, 0.05, 0.05, 0.05)
    accelerometer_deviation: float = 0.05
    process: JointProcess = field(default_factory=lambda: JointProcess(4, 15.0, 5e-5))
    lag: int = 25
    restart: bool = True
    gravity: tuple[float, float, float] = STANDARD_GRAVITY

    def __post_init__(self) -> None:
        if self.method not in ("rtls", "rls"):
            raise UnknownNameError("on-line method", self.method, ("rtls", "rls"))
        if self.bias not in ("estimate", "none", "zeroed"):
            raise UnknownNameError("treatment of the bias", self.bias, ("estimate", "none", "zeroed"))
        if self.zero_samples < 1:
            raise InputError(argument="zero_samples", value=self.zero_samples, expected="at least 1")
        deviation = np.asarray(self.wrench_deviation, dtype=float)
        if deviation.shape != (6,) or not (deviation > 0).all():
            raise InputError(argument="wrench_deviation", value=self.wrench_deviation, expected="six positive numbers")


class OnlineIdentifier:
    """Identifies the load sample by sample, and starts anew when the load changes (grasp or release).

    Args:
        robot: the arm.
        settings: how.

    Attributes:
        restarts: changes of load so far.
        starts: how often the estimation began anew for them; more often, where a load is lifted slowly.
    """

    def __init__(self, robot: Robot, settings: OnlineSettings | None = None) -> None:
        self.settings = OnlineSettings() if settings is None else settings
        self._robot, self._n = robot, robot.num_joints
        self._filter = LaggedKalmanFilter(self.settings.process, self.settings.period, self.settings.lag, self._n)
        self._root = covariance_root(self._filter.covariance)
        self._error_rate = np.zeros((NUM_PARAMETERS, NUM_PARAMETERS))  # of errors of the motion, a sample
        self._least = AT_REST * np.sqrt(np.diagonal(self._filter.covariance[0]))  # of q, dq, ddq
        self._whiten = np.diag(1.0 / np.asarray(self.settings.wrench_deviation))
        self._waiting: list[tuple[FloatArray, FloatArray | None]] = []
        self._zero: FloatArray | None = None  # regressor at rest where the sensor was zeroed with the load on it
        self._calm = self._followed = 0  # samples in a row: at rest, and of which the motion is known
        self._settling = 0
        self.restarts = self.starts = 0
        self._changed: tuple[float, float] | None = None  # when the load changed last, and by how much [s, kg]
        self._lifting = 0, 0.0  # samples for which it may go on doing so, and by how much [kg]
        self._history = SampleHistory()
        self._noise = NoiseWatch(np.asarray(self.settings.wrench_deviation))
        self._detector = ChangeDetector(
            np.asarray(self.settings.wrench_deviation) ** -2.0, self.settings.period, 2 * self.settings.lag
        )
        self._start(bias=self.settings.bias == "estimate")

    def interrupt(self) -> None:
        """Say that samples are missing before the next one, or that the arm may already move at the first one.

        The motion is estimated anew and the load is not: what was learned of it stays. The motion filter starts as if
        at rest, so the samples that follow serve it alone until a wrong start is forgotten (`LaggedKalmanFilter`).
        """
        self._filter.restart()
        self._waiting.clear()
        self._settling, self._followed = self._filter.settling, 0

    @property
    def resting(self) -> bool:
        """Whether the arm stands still."""
        return self._calm >= RESTING

    @property
    def moving(self) -> bool:
        """Whether it is known that it does not."""
        return self._followed >= RESTING and self._calm < RESTING

    @property
    def changed_by(self) -> float:
        """Mass by which the load changed last, roughly, as it was noticed [kg]; 0 while it has not."""
        return 0.0 if self._changed is None else self._changed[1]

    @property
    def noise(self) -> FloatArray:
        """(6,) standard deviations of the sensor's noise [N, N m]: as stated, or as seen where that is more."""
        return self._noise.deviation

    def result(self) -> Estimate | None:
        """The present estimate as the off-line estimators give theirs, or None while there is none."""
        if self._present is None or not self._present.known[:NUM_PARAMETERS].any():
            return None
        found = online_result(self.settings.method, self._present, self._moments, self.noise)
        heavy = load_remarks(self._robot, found.mass, found.standard_deviation.mass)
        remarks = (*found.remarks, *heavy)
        return replace(found, remarks=remarks, robot=self._robot.name, frame=self._robot.tool_frame)

    def quality(self) -> OnlineQuality | None:
        """How good the present estimate is, or None while there is none; cheaper than `result`."""
        if self._present is None or not self._present.known[0]:
            return None
        return online_quality(self._present, self._moments, self.restarts)

    def step(
        self, time: float, q: ArrayLike, wrench: ArrayLike, accelerometer: ArrayLike | None = None
    ) -> OnlineEstimate | None:
        """Take one sample in.

        Args:
            time: [s], later than the one before.
            q: (n,) measured angles [rad].
            wrench: (6,) measured [force, torque] [N, N m].
            accelerometer: (3,) proper acceleration of the tool, in its axes [m/s^2]; None takes it from the joints.

        Returns:
            The estimate, or None while the samples do not determine one.
        """
        angles, measured = as_float_array(q, "q", (self._n,)), as_float_array(wrench, "wrench", (6,))
        proper = None if accelerometer is None else as_float_array(accelerometer, "accelerometer", (3,))
        if self._zero is None and self.settings.bias == "zeroed":
            self._zero = resting_regressor(self._robot, angles, self.settings.gravity)
        motion = self._filter.step(float(time), angles)
        self._detector.noise = self._noise.add(measured)
        self._waiting.append((measured, proper))
        if motion is None:
            return None
        y, acceleration = self._waiting.pop(0)
        if self._settling:
            self._settling -= 1
            return None
        A = self._regressor(motion, acceleration)
        self._followed += 1
        # In motion, what is not known yet and what is wrong with the sensor look like another load before all is known.
        telling = self._present is not None and (self._excited or self._calm >= RESTING)
        if telling and self._present is not None:
            self._scatter.add(self._whiten, A, y, self._present.parameters, self._present.covariance)
        self._state.take(A, y)
        self._state.solve()
        self._moments.add(A, y)
        if self._zeroed:
            self._pull += (self._whiten @ A).T
        if self.settings.restart:
            whole = A + self._zero if self._zeroed and self._zero is not None else A
            self._history.add(whole, y, self._error_rate if self._calm < RESTING else None, telling)
        found = self._estimate(motion.time)
        if self.settings.restart:
            # One of both with a sample, so that each takes about as long.
            if self._history.full:
                self._detector.completed(self._history, self._history.close(self._belief()))
            elif (change := self._detector.examine(self._history)) is not None:
                self._restart(motion.time, change)
                return None
        return found

    @property
    def _zeroed(self) -> bool:
        """Whether the sensor was zeroed with this very load on it, which is then known by its differences alone."""
        return self.settings.bias == "zeroed" and not self._bias

    def _start(self, *, bias: bool, known: Belief | None = None, since: SampleSums | None = None) -> None:
        """Begin with a load.

        Args:
            bias: whether the sensor's bias is estimated.
            known: what was known before, of which the bias stays.
            since: sums over samples that are of this load already.
        """
        self._bias = bias
        self._errors = np.zeros((NUM_PARAMETERS + 1, NUM_PARAMETERS + 1))
        self._state: RecursiveState
        if self.settings.method == "rtls":
            self._state = RecursiveTotalLeastSquaresState(self._errors, self._whiten, bias)
        else:
            self._state = RecursiveLeastSquaresState(self._whiten, bias)
        self._scatter = InnovationScatter(NUM_PARAMETERS + 6 * bias)
        self._moments = WrenchMoments(bias)
        self._excited, self._moving = False, 0
        if bias and known is not None:
            part = slice(NUM_PARAMETERS, None)
            self._state.seed_bias(known.parameters[part], known.covariance[part, part])
        if since is not None:
            kept = [*range(NUM_PARAMETERS + 6 * bias), UNKNOWNS]
            products = since.products[:, kept][:, :, kept]
            self._errors[:-1, :-1] += since.errors
            self._errors[-1, -1] += 6.0 * since.samples
            self._state.seed_samples(np.tensordot(np.diag(self._whiten) ** 2, products, 1), since.samples)
            self._moments.seed(products, since.samples)
            self._moving = since.moving
        self._pull = np.zeros((NUM_PARAMETERS, 6))
        self._mass = 0.0
        self._present: OnlineSolution | None = None
        self._history.clear()
        self._detector.forget()

    def _restart(self, time: float, change: Change) -> None:
        """Begin with the load that there is since a change."""
        before = self._changed
        same = before is not None and time - before[0] < SAME_CHANGE and before[1] * change.mass > 0.0
        self.restarts += not same
        self.starts += 1
        self._changed = time, change.mass
        # It changed by so much within so many samples, and may go on as it did.
        lasted = max(change.samples, self._state.samples if same else 0)
        self._lifting = lasted + (0 if change.since is None else change.since.samples), change.mass
        self._start(bias=self.settings.bias != "none", known=change.before, since=change.since)

    def _on_its_way(self, time: float) -> bool:
        """Whether the load may still be changing, as one that is lifted slowly."""
        if self._changed is None or time - self._changed[0] > SAME_CHANGE:
            return False
        samples = self._state.samples
        return samples < UNSETTLED or (samples < self._lifting[0] and self._detector.suspicious)

    def _belief(self) -> Belief | None:
        """[phi, bias] as known now; a bias that is not estimated is known, or follows from how it was zeroed."""
        if self._present is None or self._present.covariance is None:
            return None
        parameters, covariance = self._present.parameters, self._present.covariance
        if self._bias:
            return Belief(parameters, covariance)
        lift = np.zeros((UNKNOWNS, NUM_PARAMETERS))
        lift[:NUM_PARAMETERS] = np.eye(NUM_PARAMETERS)
        whole = np.zeros((UNKNOWNS, UNKNOWNS))
        if self._zeroed and self._zero is not None:  # what the load weighed there is what was taken from all samples
            lift[NUM_PARAMETERS:] = -self._zero
            noise = np.asarray(self.settings.wrench_deviation) ** 2 / self.settings.zero_samples
            whole[NUM_PARAMETERS:, NUM_PARAMETERS:] = np.diag(noise)
        return Belief(lift @ parameters, lift @ covariance @ lift.T + whole)

    def _regressor(self, motion: MotionSample, acceleration: FloatArray | None) -> FloatArray:
        self._errors[-1, -1] += 6.0
        matrix = self._resting_regressor(motion) if acceleration is None else None
        if matrix is None:
            matrix = self._moving_regressor(motion, acceleration)
        return matrix - self._zero if self._zeroed and self._zero is not None else matrix

    def _resting_regressor(self, motion: MotionSample) -> FloatArray | None:
        """Of an arm that stands still, None if it does not. What the errors of its motion would add is left out: it
        tells nothing, and there is no end to it.
        """
        calm = (np.abs(motion.dq) < self._least[1]).all() and (np.abs(motion.ddq) < self._least[2]).all()
        self._calm = self._calm + 1 if calm else 0
        if self._calm < RESTING:
            return None
        return resting_regressor(self._robot, motion.q, self.settings.gravity)

    def _moving_regressor(self, motion: MotionSample, acceleration: FloatArray | None) -> FloatArray:
        state, settings = (motion.q, motion.dq, motion.ddq), self.settings
        matrix = wrench_regressor(self._robot, *state, settings.gravity)
        if acceleration is not None:
            write_linear_acceleration(matrix, acceleration)
        counted = self._moving
        self._moving += 1
        if counted == 0 or counted % LOOK_EVERY == LOOK_AT:
            noise = None if acceleration is None else settings.accelerometer_deviation
            found = sample_error_gram(self._robot, state, self._root, self._whiten, noise, settings.gravity)
            self._errors[:-1, :-1] += (LOOK_EVERY if counted else LOOK_AT) * found
            self._error_rate = found
        return matrix

    def _estimate(self, time: float) -> OnlineEstimate | None:
        samples = self._state.samples
        if samples < LEAST_SAMPLES:
            return None
        if samples % REFRESH == 0 or (self._excited and samples < SETTLING):
            solution = self._whole_solution() or self._part_solution()
            self._present = solution
        elif self._excited and self._present is not None:
            found = self._state.solution
            if found is not None:
                self._present = replace(self._present, parameters=found)
        if self._present is None or not self._present.known[:NUM_PARAMETERS].any():
            return None
        if self._on_its_way(time):
            return None
        phi, covariance = self._present.published
        undetected = self._detector.undetected if self.settings.restart else None
        if undetected is not None:
            if samples < self._lifting[0]:
                undetected = undetected + np.diag((self._lifting[1] * SHAPE) ** 2)
            covariance = covariance + undetected
        bias = self._present.parameters[NUM_PARAMETERS:] if self._present.known[NUM_PARAMETERS:].all() else None
        return OnlineEstimate(time, phi, covariance, samples, self.restarts, bias if self._bias else None, undetected)

    def _whole_solution(self) -> OnlineSolution | None:
        """By the recursion itself; None while the samples do not determine all ten parameters."""
        found = self._state.solution if self._moving else None  # rounding determines everything, in the end
        if found is None:
            return None
        try:
            inverse, variance = self._state.inverse_information, self._state.variance
        except np.linalg.LinAlgError:
            return None
        # Residuals smaller than the sensor's noise are luck.
        covariance = inverse * (self._scatter.inflation * variance / min(variance, 1.0))
        if self._zeroed:
            covariance = covariance + self._zeroing_covariance(inverse)
        if not (covariance.diagonal() > 0.0).all():  # NaN fails too
            return None
        if not self._excited and self._noise_share(inverse) > MOSTLY_NOISE:
            return None
        self._excited = True
        if self._moving * self.settings.period > TRUSTED_AFTER and variance < TRUSTED:
            self._detector.trusted = True
        return OnlineSolution(found, covariance, np.ones(len(found), dtype=bool))

    def _part_solution(self) -> OnlineSolution:
        products, errors = self._state.cross_products, self._errors[:-1, :-1]
        found = partial_solution(products, errors, self._state.samples, self._mass, self._scatter.inflation)
        self._mass = float(found.parameters[0]) if found.known[0] else 0.0
        if self._zeroed:
            inverse = found.covariance
            found = replace(found, covariance=inverse + self._zeroing_covariance(inverse))
        return found

    def _zeroing_covariance(self, inverse: FloatArray) -> FloatArray:
        """(10, 10) what the noise of the zeroing, the same in all samples, makes of the estimate."""
        shift = inverse @ self._pull
        return np.asarray(shift @ shift.T) / self.settings.zero_samples

    def _noise_share(self, inverse: FloatArray) -> float:
        """Largest share of the errors of the motion in the power of the regressor, over all directions."""
        part = slice(NUM_PARAMETERS)
        return float(np.linalg.eigvals(self._errors[part, part] @ inverse[part, part]).real.max())
