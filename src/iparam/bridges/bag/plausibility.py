"""Whether a wrench behaves like the weight of a load: its sign and its size, seen against the arm's motion."""

from __future__ import annotations

import numpy as np

from iparam.errors import InputError
from iparam.recording.recording import Recording
from iparam.recording.synchronization import align
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.sensing.wrench_source import Measures

HEAVIEST = 100.0
"""Kilograms: no arm that this is for carries more."""

_TURNED = 0.02  # variance of the direction of gravity from which it tells something
_CLEAR = 0.7  # correlation from which a sign is believed
_LIGHTEST = 0.1  # kg; less is lost in what else the force holds


def wrench_remarks(recording: Recording, robot: Robot, measures: Measures) -> list[str]:
    """What is odd about the wrench, one sentence each; nothing if the motion does not tell.

    As the tool turns, the weight turns in it: the part of the force that follows "up" is m g, whatever the sensor's
    bias. It is positive for what the robot exerts on the load, if the arm stands upright.

    Args:
        recording: with q and wrench.
        robot: the arm.
        measures: what the sensor was said to report; the wrench has been turned accordingly.
    """
    try:
        samples = align(recording, ["wrench", "q"], method="linear")
    except InputError:
        return []  # other checks speak about signals without common times
    up = forward_kinematics(robot, samples["q"])[:, 2, :3]
    up = up - up.mean(axis=0)
    force = samples["wrench"][:, :3] - samples["wrench"][:, :3].mean(axis=0)
    spread, size = float(np.mean(np.sum(up**2, axis=1))), float(np.mean(np.sum(force**2, axis=1)))
    if spread < _TURNED or size == 0.0:
        return []
    weight = float(np.mean(np.sum(up * force, axis=1))) / spread
    correlation = weight * np.sqrt(spread / size)
    mass = abs(weight) / 9.81
    if abs(correlation) < _CLEAR or mass < _LIGHTEST:
        return []
    if mass > HEAVIEST:
        return [
            f"the force follows the weight of {mass:.4g} kg: is it in N? If not, say its unit, e.g. --units force=mN"
        ]
    if weight < 0:
        other = "reaction" if measures == "action" else "action"
        remark = (
            f"the force follows gravity like the weight of {mass:.3g} kg pulling downwards, and should push upwards if "
            f"the arm stands upright: does the sensor report the {other}? Then say --wrench-measures {other}"
        )
        return [remark]
    return []
