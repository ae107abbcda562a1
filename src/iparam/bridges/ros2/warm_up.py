"""Loading compiled code before the first message: some tenths of a second that no sample should have to wait for."""

from __future__ import annotations

import numpy as np

from iparam.estimation.online import OnlineIdentifier, OnlineSettings
from iparam.robot.model import Robot


def warm_up_identifier(robot: Robot, settings: OnlineSettings) -> None:
    """Run an identifier on an invented motion until every kernel has been called."""
    identifier = OnlineIdentifier(robot, settings)
    random = np.random.default_rng(0)
    for k in range(settings.lag + 60):
        angles = 0.5 * np.sin(0.05 * k + np.arange(robot.num_joints))
        identifier.step(settings.period * k, angles, random.standard_normal(6))
    identifier.result()
