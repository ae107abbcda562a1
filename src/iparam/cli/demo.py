"""`iparam demo`: a short tour of what the library computes, with one robot in one state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.cli.dynamics import print_torques, torque_shares
from iparam.cli.joint_state import JointState
from iparam.cli.kinematics import print_motion, print_pose
from iparam.cli.output import numbers, print_line, print_table
from iparam.robot.catalog import catalog_robot
from iparam.robot.motion_input import STANDARD_GRAVITY
from iparam.spatial.parameters import InertialParameters

STATE = JointState(
    q=np.radians([0.0, -90.0, 90.0, -90.0, -90.0, 0.0]),
    dq=np.array([0.5, -0.3, 0.4, 0.0, 0.2, 1.0]),
    ddq=np.array([1.0, 0.5, -0.5, 0.0, 0.0, 2.0]),
)
PAYLOAD = InertialParameters(2.0, np.array([0.0, 0.02, 0.1]), np.diag([0.01, 0.01, 0.005]))


@dataclass(frozen=True, kw_only=True)
class Demo:
    """A short tour: kinematics, dynamics and payload wrench of a moving UR5e.

    Example:
      iparam demo
    """

    def run(self) -> None:
        """Print the tour."""
        from iparam.regressor.wrench import wrench_regressor
        from iparam.robot.kinematics import tool_motion

        robot = catalog_robot("ur5e")
        print_table(
            "A UR5e in the middle of a motion: position, velocity and acceleration of its joints",
            ["", *(f"joint {i}" for i in range(robot.num_joints))],
            [
                ["q [deg]", *numbers(np.degrees(STATE.q), 1)],
                ["dq [rad/s]", *numbers(STATE.dq, 1)],
                ["ddq [rad/s^2]", *numbers(STATE.ddq, 1)],
            ],
        )
        print_line("\n1. Kinematics: where its tool is and how it moves.\n")
        motion = tool_motion(robot, STATE.q, STATE.dq, STATE.ddq)
        print_pose(robot, motion)
        print_line()
        print_motion(robot, motion)
        print_line("\n2. Dynamics: the torques this takes, carrying a payload of 2 kg.\n")
        loaded = robot.with_payload(PAYLOAD)
        print_torques(loaded, torque_shares(loaded, STATE, np.array(STANDARD_GRAVITY), np.zeros(6)))
        print_line("\n3. The payload as a force/torque sensor at the flange sees it: y = A phi is")
        print_line("   linear in its ten inertial parameters phi, which iparam is there to find.\n")
        wrench = wrench_regressor(robot, STATE.q, STATE.dq, STATE.ddq) @ PAYLOAD.phi
        print_table(
            f"Wrench on the payload, in the axes of {robot.tool_frame}",
            ["", "x", "y", "z"],
            [["force [N]", *numbers(wrench[:3])], ["torque [N m]", *numbers(wrench[3:])]],
        )
        print_line("\nPlanning a motion, simulating it and identifying the payload are not in this")
        print_line("version yet. Next: iparam --help")
