"""Matrices that make forces linear in inertial parameters."""

from iparam.regressor.joint_torque import joint_torque_regressor
from iparam.regressor.wrench import WrenchRegressorDerivatives, wrench_regressor, wrench_regressor_derivatives

__all__ = [
    "WrenchRegressorDerivatives",
    "joint_torque_regressor",
    "wrench_regressor",
    "wrench_regressor_derivatives",
]
