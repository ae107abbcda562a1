"""`iparam kinematics compute`: where the tool is and how it moves, in one state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

import iparam
from iparam.cli.console.printing import print_json, print_line, print_table
from iparam.cli.options.joint_state import JointStateOptions
from iparam.robot.model import Robot
from iparam.rounding import number, numbers
from iparam.spatial.transforms import rpy_from_rotation

if TYPE_CHECKING:
    from iparam.robot.kinematics import Tool0Twist


@dataclass(frozen=True, kw_only=True)
class Compute(JointStateOptions):
    r"""Pose, velocity and acceleration of the tool frame in one joint state.

    Example:
      iparam kinematics compute --robot ur5e --q 0 -1.57 0 -1.57 0 0 \
          --dq 0.1 0 0 0 0 0 --ddq 0 0 0 0 0 0
    """

    frame: Literal["tool", "base"] = "tool"
    """Axes of the velocities and accelerations. The pose is always in the base."""

    def run(self) -> None:
        """Compute and print."""
        robot = self.load_robot()
        state = self.joint_state(robot)

        motion = iparam.tool_motion(robot, state.q, state.dq, state.ddq)
        motion = motion.in_base() if self.frame == "base" else motion
        measure = float(iparam.manipulability(robot, state.q))
        smallest = float(iparam.smallest_singular_value(robot, state.q))
        singular = bool(iparam.is_singular(robot, state.q))
        if not self.json:
            print_pose(robot, motion)
            print_line()
            print_motion(robot, motion)
            print_line()
            print_line(f"manipulability           {measure:.6g}")
            print_line(f"smallest singular value  {smallest:.6g}")
            print_line(f"singular                 {'yes' if singular else 'no'}")
            return
        print_json(
            {
                "robot": robot.name,
                "base_frame": robot.base_frame,
                "tool_frame": robot.tool_frame,
                "axes": motion.axes,
                "q": state.q,
                "dq": state.dq,
                "ddq": state.ddq,
                "position": motion.pose[:3, 3],
                "rotation": motion.pose[:3, :3],
                "rpy": rpy_from_rotation(motion.pose[:3, :3]),
                "linear_velocity": motion.linear_velocity,
                "angular_velocity": motion.angular_velocity,
                "linear_acceleration": motion.linear_acceleration,
                "angular_acceleration": motion.angular_acceleration,
                "manipulability": measure,
                "smallest_singular_value": smallest,
                "singular": singular,
            }
        )


def print_pose(robot: Robot, motion: Tool0Twist) -> None:
    """Print where the tool is."""
    rotation = motion.pose[:3, :3]
    rpy = rpy_from_rotation(rotation)
    rows = [["position [m]", *numbers(motion.pose[:3, 3])]]
    rows += [[f"rotation, row {name}", *numbers(row)] for name, row in zip("xyz", rotation, strict=True)]
    print_table(f"{robot.name}: pose of {robot.tool_frame} in {robot.base_frame}", ["", "x", "y", "z"], rows)
    print_line()
    print_table(
        "Its rotation as fixed-axis angles, Rz(yaw) Ry(pitch) Rx(roll)",
        ["", "roll", "pitch", "yaw"],
        [["rpy [rad]", *numbers(rpy)], ["rpy [deg]", *numbers(np.degrees(rpy), 4)]],
    )


def print_motion(robot: Robot, motion: Tool0Twist) -> None:
    """Print how the tool moves."""
    vectors = {
        "linear velocity [m/s]": motion.linear_velocity,
        "angular velocity [rad/s]": motion.angular_velocity,
        "linear acceleration [m/s^2]": motion.linear_acceleration,
        "angular acceleration [rad/s^2]": motion.angular_acceleration,
    }
    axes = robot.tool_frame if motion.axes == "tool" else robot.base_frame
    rows = [[name, *numbers(vector), number(float(np.linalg.norm(vector)))] for name, vector in vectors.items()]
    print_table(f"Motion of the origin of {robot.tool_frame}, in the axes of {axes}", ["", "x", "y", "z", "norm"], rows)
