"""The precision that a motion will reach, predicted before it is run, and targets for it:
"mass=0.5%,com=1mm,inertia=5%".
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, frozen
from iparam.errors import InputError, UnknownNameError
from iparam.excitation.constraints.constraint import InfeasibleError
from iparam.motion import JointProcess, choose_processes
from iparam.regressor.wrench import wrench_regressor, wrench_regressor_derivatives
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot
from iparam.sensing.noise import MeasurementNoise
from iparam.spatial.derived import derived_covariance
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.phi import inertia_matrix
from iparam.trajectory.trajectory import Trajectory, TrajectorySamples

EXAMPLE = "mass=0.5%,com=1mm,inertia=5%"

_UNITS = {
    "mass": {"%": 0.01, "g": 0.001, "kg": 1.0},
    "com": {"mm": 0.001, "cm": 0.01, "m": 1.0},
    "inertia": {"%": 0.01},
}


@dataclass(frozen=True)
class Target:
    """A standard deviation that an estimate should reach.

    Attributes:
        quantity: "mass"; "com", the centre of mass in its worst direction; "inertia", the whole tensor about the
            centre of mass in the Frobenius norm.
        value: the largest standard deviation [kg, m, or a share if ``relative``].
        relative: whether it is a share of the quantity itself.
    """

    quantity: str
    value: float
    relative: bool

    def __str__(self) -> str:
        if self.relative:
            return f"{self.quantity}={100 * self.value:g}%"
        return f"{self.quantity}={1000 * self.value:g}{'mm' if self.quantity == 'com' else 'g'}"

    def excess(self, prediction: Prediction) -> float:
        """Predicted over wanted standard deviation: at most 1 where the target is reached."""
        if self.quantity == "mass":
            return (prediction.relative_mass if self.relative else prediction.mass) / self.value
        if self.quantity == "com":
            return prediction.worst_center_of_mass / self.value
        return prediction.relative_inertia / self.value


def parse_targets(text: str) -> tuple[Target, ...]:
    """The targets in a text such as "mass=0.5%,com=1mm,inertia=5%", each at most once.

    Units: mass in %, g or kg; com in mm, cm or m; inertia in %. All are standard deviations.
    """
    targets: list[Target] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([A-Za-z_]+)\s*=\s*([0-9.eE+-]+?)\s*([A-Za-z%]*)\s*", part)
        if match is None:
            raise _refused(f"{part.strip()!r} is not of the form name=number and unit; example: {EXAMPLE}")
        name, number, unit = match[1].lower(), match[2], match[3]
        if name not in _UNITS:
            raise UnknownNameError("target", match[1], _UNITS, hint=f"Example: {EXAMPLE}.", argument="targets")
        if unit not in _UNITS[name]:
            units = ", ".join(_UNITS[name])
            raise _refused(f"{part.strip()!r} needs a unit that fits {name}: {units}; example: {EXAMPLE}")
        try:
            value = float(number) * _UNITS[name][unit]
        except ValueError:
            raise _refused(f"{part.strip()!r}: {number!r} is not a number; example: {EXAMPLE}") from None
        if not (math.isfinite(value) and value > 0.0):
            raise _refused(f"{part.strip()!r} must be positive and finite")
        if name in (target.quantity for target in targets):
            raise _refused(f"{name} is given twice in {text!r}")
        targets.append(Target(name, value, unit == "%"))
    return tuple(targets)


def _refused(problem: str) -> InputError:
    return InputError(argument="targets", problem=problem)


_LEAST_EIGENVALUE = 1e-12  # of the Gram matrix with unit columns: below it, parameters cannot be told apart
_BLOCK = 2000  # samples whose derivatives are in memory at a time


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predicted precision of a payload's parameters, all in the tool frame.

    Attributes:
        payload: the guess that it holds for.
        covariance_phi: (10, 10) of phi.
        covariance_derived: (10, 10) of [m, c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the centre of mass].
        duration: of the measurement, repetitions included [s].
        samples: number of wrench samples.
    """

    payload: InertialParameters
    covariance_phi: FloatArray
    covariance_derived: FloatArray
    duration: float
    samples: int

    @property
    def phi(self) -> FloatArray:
        """(10,) standard deviations of phi [kg, kg m, kg m^2]."""
        return np.sqrt(np.diag(self.covariance_phi))

    @property
    def mass(self) -> float:
        """Standard deviation of the mass [kg]."""
        return float(np.sqrt(self.covariance_derived[0, 0]))

    @property
    def center_of_mass(self) -> FloatArray:
        """(3,) standard deviations [m]."""
        return np.sqrt(np.diag(self.covariance_derived)[1:4])

    @property
    def inertia_about_com(self) -> FloatArray:
        """(3, 3) standard deviations of the entries [kg m^2]."""
        return inertia_matrix(np.sqrt(np.diag(self.covariance_derived)[4:]))

    @property
    def relative_mass(self) -> float:
        """Standard deviation of the mass, in masses."""
        return self.mass / self.payload.mass

    @property
    def worst_center_of_mass(self) -> float:
        """Standard deviation of the centre of mass in the direction in which it is largest [m]."""
        return float(np.sqrt(np.linalg.eigvalsh(self.covariance_derived[1:4, 1:4])[-1]))

    @property
    def relative_inertia(self) -> float:
        """Root mean square of |error of the inertia about the CoM| / |inertia about the CoM|, Frobenius norms."""
        variances = inertia_matrix(np.diag(self.covariance_derived)[4:])
        size = float(np.linalg.norm(self.payload.inertia_about_com))
        return float(np.sqrt(variances.sum())) / size if size > 0.0 else np.inf


def predict_precision(
    trajectory: Trajectory,
    robot: Robot,
    payload: InertialParameters,
    noise: MeasurementNoise,
    *,
    rate: float = 500.0,
    repetitions: int = 1,
    bias: bool = True,
    weighted: bool = True,
    gravity: ArrayLike = STANDARD_GRAVITY,
) -> Prediction:
    """The covariance of least squares on y = A phi + b, for a motion that is followed exactly.

    Exact for white noise of the wrench. Noise of the joint angles is carried through the smoother and the regressor to
    first order, see `joint_noise_covariance`; the bias that it causes is of second order and left out.

    Args:
        trajectory: the motion.
        robot: the arm.
        payload: a guess of what it carries, in the tool frame; its mass must be positive. With exact joint angles the
            covariance of phi does not depend on it.
        noise: of the sensors.
        rate: samples of the wrench and the angles a second [Hz].
        repetitions: how often the motion is run.
        bias: whether the sensor's six offsets are estimated along with phi.
        weighted: whether the estimator weights force and torque by their noise, or takes N and N m alike.
        gravity: (3,) in base axes [m/s^2].

    Raises:
        InfeasibleError: the motion cannot tell the parameters apart.
    """
    _check(trajectory, robot, payload, repetitions)
    motion = trajectory.sample(rate)
    rows = wrench_regressor(robot, motion.q, motion.dq, motion.ddq, gravity)
    if bias:
        rows = np.concatenate([rows, np.broadcast_to(np.eye(6), (len(rows), 6, 6))], axis=2)
    squares = 1.0 / noise.wrench**2 if weighted else np.ones(6)
    weighed = rows * squares[:, None]
    size = rows.shape[2]
    inverse = _inverse_gram(weighed.reshape(-1, size).T @ rows.reshape(-1, size))[:10]
    # With weights that are not the noise's own, the inverse of the Gram matrix is not yet the covariance.
    noisy = (weighed * noise.wrench[:, None]).reshape(-1, size)
    covariance = inverse @ (noisy.T @ noisy) @ inverse.T
    if noise.joint_angle > 0.0:
        models = expected_processes(motion.time, motion.q, noise.joint_angle)
        effect = _wrench_changes(robot, payload.phi, motion, gravity)  # (3, T, n, 6)
        weights = effect @ (weighed @ inverse.T)
        covariance = covariance + joint_noise_covariance(weights, rate, models, noise.joint_angle)
    covariance = 0.5 * (covariance + covariance.T) / (repetitions * noise.kept)
    return Prediction(
        payload,
        frozen(covariance),
        frozen(derived_covariance(payload.phi, covariance)),
        repetitions * trajectory.duration,
        int(repetitions * motion.num_samples * noise.kept),
    )


def _check(trajectory: Trajectory, robot: Robot, payload: InertialParameters, repetitions: int) -> None:
    if trajectory.num_joints != robot.num_joints:
        raise InputError(f"the trajectory moves {trajectory.num_joints} joints, {robot.name} has {robot.num_joints}")
    if payload.mass <= 0.0:
        raise InputError(f"the guess of the payload's mass must be positive, got {payload.mass:g} kg")
    if isinstance(repetitions, bool) or not isinstance(repetitions, int) or repetitions < 1:
        raise InputError(argument="repetitions", value=repetitions, expected="a whole number from 1")


def _inverse_gram(gram: FloatArray) -> FloatArray:
    scale = np.sqrt(np.diag(gram))
    if (scale > 0.0).all():
        values, vectors = np.linalg.eigh(gram / np.multiply.outer(scale, scale))
        if values[0] > _LEAST_EIGENVALUE * values[-1]:
            result: FloatArray = (vectors / values) @ vectors.T / np.multiply.outer(scale, scale)
            return result
    raise InfeasibleError(
        "this motion cannot tell all ten parameters apart: it has to turn the payload about two axes at least, and "
        "with acceleration; 'iparam excite optimize' plans one that does"
    )


def _wrench_changes(robot: Robot, phi: FloatArray, motion: TrajectorySamples, gravity: ArrayLike) -> FloatArray:
    """(3, T, n, 6) the derivatives of the wrench A phi by q, dq and ddq of each joint."""
    result = np.empty((3, motion.num_samples, robot.num_joints, 6))
    for first in range(0, motion.num_samples, _BLOCK):
        part = slice(first, first + _BLOCK)
        found = wrench_regressor_derivatives(robot, motion.q[part], motion.dq[part], motion.ddq[part], gravity)
        for order, derivative in enumerate((found.by_q, found.by_dq, found.by_ddq)):
            result[order, part] = derivative @ phi
    return result


_CHOICE_SEED = 0


def expected_processes(times: FloatArray, q: FloatArray, joint_angle: float) -> tuple[JointProcess, ...]:
    """The models that the smoother will choose for angles q (T, n) measured with this noise, from one such run."""
    noise = joint_angle * np.random.default_rng(_CHOICE_SEED).standard_normal(q.shape)
    return choose_processes(times, q + noise)


def joint_noise_covariance(
    weights: FloatArray, rate: float, processes: Sequence[JointProcess], joint_angle: float
) -> FloatArray:
    """(p, p) what white noise of the joint angles adds to the covariance of an estimate, to first order.

    The smoother turns angles into q, dq and ddq, whose errors are therefore correlated over time and with each other.
    Away from its ends it is a linear filter with the response H = 1 / (1 + (f / bandwidth)^(2 m)), followed by
    derivatives; the adjoint of that filter carries the weight of each error back to the angle samples, which are
    independent. Samples before and after the motion are taken to exist, with the arm at rest.

    Args:
        weights: (3, T, n, p) by how much the estimate changes with an error of q, dq and ddq of each sample and joint.
        rate: of the samples [Hz].
        processes: the smoother's models, one a joint.
        joint_angle: standard deviation of an angle sample [rad].
    """
    from scipy.fft import irfft, next_fast_len, rfft

    orders, count, joints, size = weights.shape
    padded = next_fast_len(2 * count)
    frequencies = np.arange(padded // 2 + 1) * (rate / padded)
    total = np.zeros((size, size))
    for joint in range(joints):
        process = processes[joint]
        response = 1.0 / (1.0 + (frequencies / process.bandwidth) ** (2 * process.order))
        spectrum = np.zeros((frequencies.size, size), dtype=np.complex128)
        for order in range(orders):
            adjoint = response * (-2j * np.pi * frequencies) ** order
            spectrum += adjoint[:, None] * rfft(weights[order, :, joint], padded, axis=0)
        per_sample = irfft(spectrum, padded, axis=0)
        total += joint_angle**2 * (per_sample.T @ per_sample)
    return total
