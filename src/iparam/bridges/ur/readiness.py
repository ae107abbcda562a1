"""Whether a controller is ready for a motion, and whether it is the arm that the motion was planned for."""

from __future__ import annotations

import numpy as np

from iparam.bridges.ur.controller_sample import ControllerSample
from iparam.bridges.ur.controller_state import MOVING_STATES, RUNNING, robot_mode_name, safety_name
from iparam.bridges.ur.run_guard import RunStoppedError
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.spatial.transforms import exp_so3, inverse_transform, transform_from

SAME_ARM = 0.02
"""Distance of the flange between model and controller up to which they are one model [m]: arms are calibrated."""

FULL_SPEED = 0.99
"""Position of the speed slider from which on it is all the way up."""


def check_ready(sample: ControllerSample) -> None:
    """Refuse an arm that cannot move, or not at the speed of the plan."""
    if sample.safety not in MOVING_STATES:
        raise RunStoppedError(
            f"the controller reports: {safety_name(sample.safety)}. Find the reason, clear it on the teach pendant and "
            "try again"
        )
    if sample.robot_mode != RUNNING:
        raise RunStoppedError(
            f"the arm is {robot_mode_name(sample.robot_mode)}: switch it on and release the brakes on the teach pendant"
        )
    fraction = sample.field("target_speed_fraction")
    if fraction is not None and fraction[0] < FULL_SPEED:
        raise RunStoppedError(
            f"the speed slider is at {100.0 * fraction[0]:.0f} %, which would distort the motion: set it to 100 %; for "
            "a slower motion plan one with --limit-fraction, for a smaller one use --dry-run"
        )


def check_model(sample: ControllerSample, robot: Robot, name_on_dashboard: str | None) -> str:
    """Refuse a plan for another arm; return a sentence on what could be checked.

    Args:
        sample: of the controller.
        robot: that the motion was planned for.
        name_on_dashboard: the arm's catalogue name if the controller says it.
    """
    if name_on_dashboard is not None and robot.name.startswith("ur") and robot.name != name_on_dashboard:
        raise RunStoppedError(f"the motion is for a {robot.name}, but the controller's arm is a {name_on_dashboard}")
    pose, offset = sample.field("actual_TCP_pose"), sample.field("tcp_offset")
    if pose is None or offset is None:
        return "by its name" if name_on_dashboard is not None else "not checked: the controller does not tell"
    tool, tip = (transform_from(exp_so3(vector[3:]), vector[:3]) for vector in (pose, offset))
    flange = (tool @ inverse_transform(tip))[:3, 3]
    distance = float(np.linalg.norm(flange - forward_kinematics(robot, sample.q)[:3, 3]))
    if not distance <= SAME_ARM:
        raise RunStoppedError(
            f"the controller has the flange {1e3 * distance:.0f} mm from where {robot.name} would have it: this is "
            "another arm. Plan for the right one"
        )
    return f"flange within {1e3 * distance:.1f} mm of the controller's"
