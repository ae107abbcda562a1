"""How heavy a load an arm can carry."""

from __future__ import annotations

import numpy as np

from iparam.errors import IparamError
from iparam.estimation.estimate import Estimate
from iparam.robot.catalog.lookup import catalog_arm
from iparam.robot.model import Robot

STANDARD = 9.81  # m/s^2

OVERLOAD = 1.1
"""Times the maker's rated load up to which an arm is believed to have moved it."""

SURE = 3.0
"""Standard deviations by which a load must be above that."""

HEAVIEST = 500.0
"""Load of an arm of which nothing is known [kg]: more than any but the largest carry."""

SHORTEST_LEVER = 0.1
"""Share of its reach at which an arm must hold its load with the torque of its strongest joint."""


def rated_load(robot: Robot | None) -> float | None:
    """The load that the maker of an arm allows [kg]; None where that is not known."""
    if robot is None:
        return None
    try:
        return catalog_arm(robot.name).rated_load
    except IparamError:
        return None


def largest_load(robot: Robot | None) -> float:
    """The heaviest load that is believed [kg]: what the maker allows, or what the arm's own joints could hold."""
    rated = rated_load(robot)
    if rated is not None:
        return OVERLOAD * rated
    if robot is None:
        return HEAVIEST
    turning = [joint.kind == "revolute" for joint in robot.moving_joints]
    torques = robot.limits.torque[turning]
    strongest = float(torques.max()) if torques.size and np.isfinite(torques).all() else np.inf
    lever = SHORTEST_LEVER * robot.reach
    return min(HEAVIEST, strongest / (STANDARD * lever)) if lever > 0.0 and strongest > 0.0 else HEAVIEST


def over_rated(robot: Robot | None, estimate: Estimate) -> str:
    """A sentence if an arm is not rated for a load; "" where it is, or where nobody knows."""
    limit, rated = largest_load(robot), rated_load(robot)
    lowest = estimate.mass - SURE * estimate.standard_deviation.mass
    if not lowest > limit:
        return ""
    name = "the arm" if robot is None else robot.name
    if rated is None:
        return f"A load of {estimate.mass:.4g} kg is more than {name} can be believed to carry ({limit:g} kg)."
    return f"{name} is rated for {rated:g} kg and would have carried {estimate.mass:.4g} kg."
