"""Inertial parameters of what a robot arm carries, and of the arm itself.

Names are loaded on first use: ``import iparam`` itself stays fast, and the compiled kernels are only loaded by the
functions that need them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from iparam.errors import FileFormatError as FileFormatError
    from iparam.errors import InputError as InputError
    from iparam.errors import IparamError as IparamError
    from iparam.errors import MissingExtraError as MissingExtraError
    from iparam.errors import RobotModelError as RobotModelError
    from iparam.errors import UnknownNameError as UnknownNameError
    from iparam.estimation.estimate import Estimate as Estimate
    from iparam.estimation.identify import identify_payload as identify_payload
    from iparam.estimation.online import OnlineIdentifier as OnlineIdentifier
    from iparam.estimation.online import OnlineSettings as OnlineSettings
    from iparam.estimation.static import StaticEstimate as StaticEstimate
    from iparam.estimation.static import identify_static as identify_static
    from iparam.estimation.torque.fusion import fuse_estimates as fuse_estimates
    from iparam.estimation.torque.payload_from_torque import TorquePayloadEstimate as TorquePayloadEstimate
    from iparam.estimation.torque.payload_from_torque import (
        identify_payload_from_torque as identify_payload_from_torque,
    )
    from iparam.estimation.torque.robot_identification import RobotEstimate as RobotEstimate
    from iparam.estimation.torque.robot_identification import identify_robot as identify_robot
    from iparam.excitation.geometry import PayloadBox as PayloadBox
    from iparam.excitation.optimizer import OptimizationResult as OptimizationResult
    from iparam.excitation.optimizer import optimize_excitation as optimize_excitation
    from iparam.excitation.setup import planning_problem as planning_problem
    from iparam.recording.recording import Recording as Recording
    from iparam.recording.signal import Signal as Signal
    from iparam.regressor.identifiability import BaseParameters as BaseParameters
    from iparam.regressor.identifiability import base_parameters as base_parameters
    from iparam.regressor.joint_torque import joint_torque_regressor as joint_torque_regressor
    from iparam.regressor.wrench import WrenchRegressorDerivatives as WrenchRegressorDerivatives
    from iparam.regressor.wrench import wrench_regressor as wrench_regressor
    from iparam.regressor.wrench import wrench_regressor_derivatives as wrench_regressor_derivatives
    from iparam.robot.batching import get_num_threads as get_num_threads
    from iparam.robot.batching import set_num_threads as set_num_threads
    from iparam.robot.catalog import robot_names as robot_names
    from iparam.robot.dh import StandardDH as StandardDH
    from iparam.robot.dh import dh_table as dh_table
    from iparam.robot.dynamics import LinkMotion as LinkMotion
    from iparam.robot.dynamics import NewtonEulerResult as NewtonEulerResult
    from iparam.robot.dynamics import backward_pass as backward_pass
    from iparam.robot.dynamics import coriolis_centrifugal as coriolis_centrifugal
    from iparam.robot.dynamics import forward_dynamics as forward_dynamics
    from iparam.robot.dynamics import forward_pass as forward_pass
    from iparam.robot.dynamics import gravity_torques as gravity_torques
    from iparam.robot.dynamics import inverse_dynamics as inverse_dynamics
    from iparam.robot.dynamics import mass_matrix as mass_matrix
    from iparam.robot.dynamics import newton_euler as newton_euler
    from iparam.robot.dynamics_derivatives import InverseDynamicsDerivatives as InverseDynamicsDerivatives
    from iparam.robot.dynamics_derivatives import inverse_dynamics_derivatives as inverse_dynamics_derivatives
    from iparam.robot.kinematics import Tool0Twist as Tool0Twist
    from iparam.robot.kinematics import forward_kinematics as forward_kinematics
    from iparam.robot.kinematics import frame_poses as frame_poses
    from iparam.robot.kinematics import is_singular as is_singular
    from iparam.robot.kinematics import jacobian as jacobian
    from iparam.robot.kinematics import jacobian_derivative as jacobian_derivative
    from iparam.robot.kinematics import manipulability as manipulability
    from iparam.robot.kinematics import smallest_singular_value as smallest_singular_value
    from iparam.robot.kinematics import tool_motion as tool_motion
    from iparam.robot.loading import load_robot as load_robot
    from iparam.robot.model import Joint as Joint
    from iparam.robot.model import JointKind as JointKind
    from iparam.robot.model import JointLimits as JointLimits
    from iparam.robot.model import Link as Link
    from iparam.robot.model import Robot as Robot
    from iparam.sensing.noise import noise_preset as noise_preset
    from iparam.simulation.mujoco_simulator import MujocoSimulator as MujocoSimulator
    from iparam.simulation.payload import Payload as Payload
    from iparam.spatial.consistency import ConsistencyReport as ConsistencyReport
    from iparam.spatial.consistency import check_consistency as check_consistency
    from iparam.spatial.parameters import InertialParameters as InertialParameters
    from iparam.trajectory.storage import TrajectoryFile as TrajectoryFile
    from iparam.trajectory.storage import load_trajectory as load_trajectory
    from iparam.trajectory.storage import save_trajectory as save_trajectory
    from iparam.trajectory.trajectory import JointMotion as JointMotion
    from iparam.trajectory.trajectory import Trajectory as Trajectory
    from iparam.trajectory.windowed_fourier import WindowedFourierTrajectory as WindowedFourierTrajectory

_HOME = {
    "iparam.errors": (
        "FileFormatError",
        "InputError",
        "IparamError",
        "MissingExtraError",
        "RobotModelError",
        "UnknownNameError",
    ),
    "iparam.estimation.estimate": ("Estimate",),
    "iparam.estimation.identify": ("identify_payload",),
    "iparam.estimation.online": ("OnlineIdentifier", "OnlineSettings"),
    "iparam.estimation.static": ("StaticEstimate", "identify_static"),
    "iparam.estimation.torque.fusion": ("fuse_estimates",),
    "iparam.estimation.torque.payload_from_torque": ("TorquePayloadEstimate", "identify_payload_from_torque"),
    "iparam.estimation.torque.robot_identification": ("RobotEstimate", "identify_robot"),
    "iparam.excitation.geometry": ("PayloadBox",),
    "iparam.excitation.optimizer": ("OptimizationResult", "optimize_excitation"),
    "iparam.excitation.setup": ("planning_problem",),
    "iparam.recording.recording": ("Recording",),
    "iparam.recording.signal": ("Signal",),
    "iparam.regressor.identifiability": ("BaseParameters", "base_parameters"),
    "iparam.regressor.joint_torque": ("joint_torque_regressor",),
    "iparam.regressor.wrench": ("WrenchRegressorDerivatives", "wrench_regressor", "wrench_regressor_derivatives"),
    "iparam.robot.batching": ("get_num_threads", "set_num_threads"),
    "iparam.robot.catalog": ("robot_names",),
    "iparam.robot.dh": ("StandardDH", "dh_table"),
    "iparam.robot.dynamics": (
        "LinkMotion",
        "NewtonEulerResult",
        "backward_pass",
        "coriolis_centrifugal",
        "forward_dynamics",
        "forward_pass",
        "gravity_torques",
        "inverse_dynamics",
        "mass_matrix",
        "newton_euler",
    ),
    "iparam.robot.dynamics_derivatives": ("InverseDynamicsDerivatives", "inverse_dynamics_derivatives"),
    "iparam.robot.kinematics": (
        "Tool0Twist",
        "forward_kinematics",
        "frame_poses",
        "is_singular",
        "jacobian",
        "jacobian_derivative",
        "manipulability",
        "smallest_singular_value",
        "tool_motion",
    ),
    "iparam.robot.loading": ("load_robot",),
    "iparam.robot.model": ("Joint", "JointKind", "JointLimits", "Link", "Robot"),
    "iparam.sensing.noise": ("noise_preset",),
    "iparam.simulation.mujoco_simulator": ("MujocoSimulator",),
    "iparam.simulation.payload": ("Payload",),
    "iparam.spatial.consistency": ("ConsistencyReport", "check_consistency"),
    "iparam.spatial.parameters": ("InertialParameters",),
    "iparam.trajectory.storage": ("TrajectoryFile", "load_trajectory", "save_trajectory"),
    "iparam.trajectory.trajectory": ("JointMotion", "Trajectory"),
    "iparam.trajectory.windowed_fourier": ("WindowedFourierTrajectory",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'iparam' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
