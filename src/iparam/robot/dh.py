"""Standard Denavit-Hartenberg tables.

There are two DH conventions, and a table read in the other one gives a different robot. Here it is always the standard
(distal) one, T_i = Rz(theta) Tz(d) Tx(a) Rx(alpha), and the type's name says so. A "UR5e modified DH" table with
d1 = 0.089159 that goes round is wrong twice: the numbers are the UR5's, and they are standard DH.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError


@dataclass(frozen=True, eq=False)
class StandardDH:
    """A standard (distal) DH table of n revolute joints.

    Frame i is at the far end of link i: T_(i-1)_i = Rz(q_i + theta_offset_i) Tz(d_i) Tx(a_i) Rx(alpha_i).

    Attributes:
        a: (n,) link lengths along x [m].
        d: (n,) link offsets along z [m].
        alpha: (n,) link twists about x [rad].
        theta_offset: (n,) added to the joint angles [rad]; zero if not given.
    """

    a: FloatArray
    d: FloatArray
    alpha: FloatArray
    theta_offset: FloatArray = field(default_factory=lambda: frozen([]))

    def __post_init__(self) -> None:
        a = as_float_array(self.a, "a")
        if a.ndim != 1 or a.size == 0:
            raise InputError(argument="a", problem=f"must have shape (n,) with n >= 1, got {a.shape}")
        offset = self.theta_offset if np.size(self.theta_offset) else np.zeros(a.size)
        for name, column in (("a", a), ("d", self.d), ("alpha", self.alpha), ("theta_offset", offset)):
            value = as_float_array(column, name)
            if value.shape != a.shape:
                raise InputError(argument=name, problem=f"must have shape {a.shape} like a, got {value.shape}")
            object.__setattr__(self, name, frozen(value))

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return int(self.a.size)

    def transforms(self, q: ArrayLike) -> FloatArray:
        """T_(i-1)_i of every joint, (..., n, 4, 4), for joint angles ``q`` (..., n) [rad]."""
        theta = as_float_array(q, "q", (self.num_joints,)) + self.theta_offset
        return _standard_transforms(theta, self.d, self.a, self.alpha)

    def forward_kinematics(self, q: ArrayLike) -> FloatArray:
        """T_0_n, base to the last frame, (..., 4, 4) [m], for joint angles ``q`` (..., n) [rad]."""
        steps = self.transforms(q)
        pose = steps[..., 0, :, :]
        for i in range(1, self.num_joints):
            pose = pose @ steps[..., i, :, :]
        return np.ascontiguousarray(pose)


def _standard_transforms(theta: FloatArray, d: FloatArray, a: FloatArray, alpha: FloatArray) -> FloatArray:
    cos_theta, sin_theta = np.cos(theta), np.sin(theta)
    cos_alpha, sin_alpha = np.cos(alpha), np.sin(alpha)
    result = np.zeros((*theta.shape, 4, 4))
    result[..., 0, 0] = cos_theta
    result[..., 0, 1] = -sin_theta * cos_alpha
    result[..., 0, 2] = sin_theta * sin_alpha
    result[..., 0, 3] = a * cos_theta
    result[..., 1, 0] = sin_theta
    result[..., 1, 1] = cos_theta * cos_alpha
    result[..., 1, 2] = -cos_theta * sin_alpha
    result[..., 1, 3] = a * sin_theta
    result[..., 2, 1] = sin_alpha
    result[..., 2, 2] = cos_alpha
    result[..., 2, 3] = d
    result[..., 3, 3] = 1.0
    return result
