"""Ready-made excitation problems."""

from __future__ import annotations

import numpy as np

from iparam.excitation.collision import ToolDisplacementConstraint, sphere_collision
from iparam.excitation.constraints import JointLimitConstraint
from iparam.excitation.geometry import PayloadBox
from iparam.excitation.information import WrenchInformation
from iparam.excitation.problem import ExcitationProblem
from iparam.robot.catalog import catalog_robot

PRESETS = ("reference",)


def reference_problem() -> ExcitationProblem:
    """The problem of document 000, for the UR5e with its own figures.

    Five harmonics of 0.1 Hz over 10 s from the pose (90, -90, 90, -90, -90, 90) degrees; condition number of the raw
    regressor on every tenth of the samples at 100 Hz; a box of 10 x 15 x 20 cm on the flange.
    """
    robot = catalog_robot("ur5e")
    q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
    names = robot.joint_names
    payload = PayloadBox(np.array([0.05, 0.075, 0.10]), np.array([0.0, 0.0, 0.10]))
    return ExcitationProblem(
        robot,
        WrenchInformation(robot),
        (
            JointLimitConstraint.symmetric(0, 2 * np.pi, names),
            JointLimitConstraint.symmetric(1, [np.pi] * 3 + [2 * np.pi] * 3, names),
            JointLimitConstraint.symmetric(2, 8.0, names),
            ToolDisplacementConstraint.from_start(robot, q0, 0.8),
            *sphere_collision(robot, [0.06, 0.05, 0.045, 0.035, 0.035, 0.03], payload, ground=0.01, clearance=0.02),
        ),
        q0,
    )
