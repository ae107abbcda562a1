"""Units to count parameters in, so that a condition number compares like with like."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.excitation.information.torque_information import TorqueInformation
from iparam.regressor.joint_torque import joint_torque_regressor
from iparam.spatial.parameters import InertialParameters


def payload_scales(guess: InertialParameters) -> FloatArray:
    """(10,) sizes of phi for a payload like the guess: mass, mass x length and mass x length^2.

    The length is the payload's largest distance scale: its radius of gyration about the tool's origin.
    """
    if guess.mass <= 0.0:
        raise InputError(f"parameters can only be scaled for a payload with mass, got {guess.mass:g} kg")
    length = float(np.sqrt(0.5 * np.trace(guess.inertia_about_origin) / guess.mass))
    return guess.mass * np.array([1.0, *[length] * 3, *[length**2] * 6])


def arm_scales(information: TorqueInformation, samples: int = 500, seed: int = 0) -> FloatArray:
    """(r,) one over the RMS of each column of the joint-torque regressor in random motion.

    Base parameters counted in these units load the joints equally, so the condition number measures how well the motion
    tells them apart and not how small they are.
    """
    robot = information.robot
    limits = robot.limits
    rng = np.random.default_rng(seed)
    lower, upper = np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi)
    speed = np.where(np.isfinite(limits.velocity), limits.velocity, 1.0)
    hurry = np.where(np.isfinite(limits.acceleration), limits.acceleration, 8.0)
    q = rng.uniform(lower, upper, (samples, robot.num_joints))
    dq, ddq = (rng.uniform(-bound, bound, q.shape) for bound in (speed, hurry))
    matrix = joint_torque_regressor(robot, q, dq, ddq)[..., information.independent]
    return np.asarray(1.0 / np.sqrt(np.mean(matrix**2, axis=(0, 1))), dtype=np.float64)
