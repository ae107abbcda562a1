"""`OnlineIdentifier`: the load while the arm moves. One sample in, the present estimate out, at a constant cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError, UnknownNameError
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.estimators.recursive import RecursiveLeastSquaresState, RecursiveState
from iparam.estimation.estimators.recursive_total import RecursiveTotalLeastSquaresState
from iparam.estimation.online.change_detection import ChangeDetector
from iparam.estimation.online.result import OnlineQuality, WrenchMoments, online_quality, online_result
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
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot
from iparam.sensing.offset import resting_regressor
from iparam.spatial.consistency import is_physically_consistent
from iparam.spatial.derived import derived_covariance
from iparam.spatial.parameters import InertialParameters

LEAST_SAMPLES = 6
"""Before that many samples nothing is said."""

REFRESH = 5
"""Samples for which a covariance is used before it is computed anew; it only shrinks in between."""

MOSTLY_NOISE = 0.2
"""Share of errors in the regressor's power, in any direction, above which the motion has not shown the load yet."""

SETTLING = 200
"""Samples during which it is computed every time."""

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
            raise InputError(f"zero_samples must be at least 1, got {self.zero_samples!r}")
        deviation = np.asarray(self.wrench_deviation, dtype=float)
        if deviation.shape != (6,) or not (deviation > 0).all():
            raise InputError(f"wrench_deviation must be six positive numbers, got {self.wrench_deviation!r}")


@dataclass(frozen=True, eq=False)
class OnlineEstimate:
    """The load as known at an instant.

    Attributes:
        time: of the last sample that counts, ``lag`` samples before the newest [s].
        phi: (10,).
        covariance_phi: (10, 10).
        samples: since the start or the last change of load.
        restarts: changes of load so far.
        sensor_bias: (6,) [force, torque] where it is estimated, else None [N, N m].
    """

    time: float
    phi: FloatArray
    covariance_phi: FloatArray
    samples: int
    restarts: int
    sensor_bias: FloatArray | None = None

    @property
    def parameters(self) -> InertialParameters:
        """Mass, centre of mass and inertia."""
        return InertialParameters.from_phi(self.phi)

    @property
    def possible(self) -> OnlineEstimate:
        """The same with the nearest parameters, by its own covariance, that a rigid body can have."""
        if is_physically_consistent(self.phi):
            return self
        unit = 1.0 / np.sqrt(np.maximum(np.diag(self.covariance_phi), 1e-300))
        scaled = np.linalg.pinv(self.covariance_phi * np.outer(unit, unit), hermitian=True)
        return replace(self, phi=nearest_consistent(self.phi, scaled * np.outer(unit, unit)))

    def without(self, known: Estimate) -> OnlineEstimate:
        """What is left without a load that is known, such as the gripper, given in the tool frame."""
        return replace(
            self, phi=self.phi - known.phi, covariance_phi=self.covariance_phi + np.asarray(known.covariance_phi)
        )

    @property
    def mass(self) -> float:
        """[kg]."""
        return float(self.phi[0])

    @property
    def center_of_mass(self) -> FloatArray:
        """(3,) [m]."""
        return self.parameters.center_of_mass

    @property
    def derived_deviation(self) -> FloatArray:
        """(10,) standard deviations of mass, centre of mass and inertia about it."""
        return np.sqrt(np.maximum(np.diag(derived_covariance(self.phi, self.covariance_phi)), 0.0))


class OnlineIdentifier:
    """Identifies the load sample by sample, and starts anew when the load changes (grasp or release).

    Args:
        robot: the arm.
        settings: how.
    """

    def __init__(self, robot: Robot, settings: OnlineSettings | None = None) -> None:
        self.settings = OnlineSettings() if settings is None else settings
        self._robot, self._n = robot, robot.num_joints
        self._filter = LaggedKalmanFilter(self.settings.process, self.settings.period, self.settings.lag, self._n)
        self._root = covariance_root(self._filter.covariance)
        self._whiten = np.diag(1.0 / np.asarray(self.settings.wrench_deviation))
        self._waiting: list[tuple[FloatArray, FloatArray | None]] = []
        self._offset: FloatArray | None = None
        self._settling = 0
        self.restarts = 0
        self._start()

    def interrupt(self) -> None:
        """Say that samples are missing before the next one, or that the arm may already move at the first one.

        The motion is estimated anew and the load is not: what was learned of it stays. The motion filter starts as if
        at rest, so the samples that follow serve it alone until a wrong start is forgotten (`LaggedKalmanFilter`).
        """
        self._filter.restart()
        self._waiting.clear()
        self._settling = self._filter.settling

    def result(self) -> Estimate | None:
        """The present estimate as the off-line estimators give theirs, or None while there is none."""
        if self._present is None or self._covariance is None:
            return None
        deviation = np.asarray(self.settings.wrench_deviation)
        found = online_result(self.settings.method, self._present, self._covariance, self._moments, deviation)
        return replace(found, robot=self._robot.name, frame=self._robot.tool_frame)

    def quality(self) -> OnlineQuality | None:
        """How good the present estimate is, or None while there is none; cheaper than `result`."""
        if self._present is None or self._covariance is None:
            return None
        return online_quality(self._present, self._covariance, self._moments, self.restarts)

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
        if self._offset is None and self.settings.bias == "zeroed":
            self._offset = resting_regressor(self._robot, angles, self.settings.gravity)
        motion = self._filter.step(float(time), angles)
        self._waiting.append((measured, proper))
        if motion is None:
            return None
        y, acceleration = self._waiting.pop(0)
        if self._settling:
            self._settling -= 1
            return None
        A = self._regressor(motion, acceleration)
        if self._present is not None:
            changed = self._detector.changed(self._whiten, A, y, self._present, self._covariance)
            if changed and self.settings.restart:
                self._start()
                self.restarts += 1
                return None
        self._state.update(A, y)
        self._moments.add(A, y)
        if self._offset is not None:
            self._pull += (self._whiten @ A).T
        return self._estimate(motion.time)

    def _start(self) -> None:
        bias = self.settings.bias == "estimate"
        self._errors = np.zeros((NUM_PARAMETERS + 1, NUM_PARAMETERS + 1))
        self._state: RecursiveState
        if self.settings.method == "rtls":
            self._state = RecursiveTotalLeastSquaresState(self._errors, self._whiten, bias)
        else:
            self._state = RecursiveLeastSquaresState(self._whiten, bias)
        self._detector = ChangeDetector(NUM_PARAMETERS + 6 * bias)
        self._moments = WrenchMoments(bias)
        self._pull = np.zeros((NUM_PARAMETERS, 6))
        self._excited = False
        self._present: FloatArray | None = None
        self._covariance: FloatArray | None = None

    def _regressor(self, motion: MotionSample, acceleration: FloatArray | None) -> FloatArray:
        from iparam.regressor.wrench import wrench_regressor

        state, settings = (motion.q, motion.dq, motion.ddq), self.settings
        matrix = wrench_regressor(self._robot, *state, settings.gravity)
        if acceleration is not None:
            write_linear_acceleration(matrix, acceleration)
        self._errors[-1, -1] += 6.0
        counted = self._state.samples
        if counted == 0 or counted % LOOK_EVERY == LOOK_AT:
            noise = None if acceleration is None else settings.accelerometer_deviation
            found = sample_error_gram(self._robot, state, self._root, self._whiten, noise, settings.gravity)
            self._errors[:-1, :-1] += (LOOK_EVERY if counted else LOOK_AT) * found
        return matrix if self._offset is None else matrix - self._offset

    def _estimate(self, time: float) -> OnlineEstimate | None:
        if self._state.samples < LEAST_SAMPLES:
            return None
        found = self._state.solution
        if found is None:
            return None
        if self._state.samples % REFRESH == 0 or (self._excited and self._state.samples < SETTLING):
            inverse, variance = self._state.inverse_information, self._state.variance
            # Residuals smaller than the sensor's noise are luck.
            covariance = inverse * (self._detector.inflation * variance / min(variance, 1.0))
            if self.settings.bias == "zeroed":
                covariance = covariance + self._zeroing_covariance(inverse)
            if not (covariance.diagonal() > 0.0).all():  # NaN fails too
                return None
            if not self._excited and self._noise_share(inverse) > MOSTLY_NOISE:
                return None
            self._covariance, self._excited = covariance, True
        if self._covariance is None:
            return None
        self._present, covariance = found, self._covariance
        phi, phi_covariance = found[:NUM_PARAMETERS], covariance[:NUM_PARAMETERS, :NUM_PARAMETERS]
        bias = found[NUM_PARAMETERS:] if self.settings.bias == "estimate" else None
        return OnlineEstimate(time, phi, phi_covariance, self._state.samples, self.restarts, bias)

    def _zeroing_covariance(self, inverse: FloatArray) -> FloatArray:
        """(10, 10) what the noise of the zeroing, the same in all samples, makes of the estimate."""
        shift = inverse @ self._pull
        return np.asarray(shift @ shift.T) / self.settings.zero_samples

    def _noise_share(self, inverse: FloatArray) -> float:
        """Largest share of the errors of the motion in the power of the regressor, over all directions."""
        part = slice(NUM_PARAMETERS)
        return float(np.linalg.eigvals(self._errors[part, part] @ inverse[part, part]).real.max())
