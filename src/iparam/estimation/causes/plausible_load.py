"""How heavy a load an arm can carry."""

from __future__ import annotations

from iparam.errors import IparamError
from iparam.estimation.estimate import Estimate
from iparam.robot.catalog.lookup import catalog_arm
from iparam.robot.model import Robot

OVERLOAD = 1.1
"""Times the maker's rated load up to which an arm is believed to have moved it."""

SURE = 3.0
"""Standard deviations by which a load must be above that."""

HEAVIEST = 500.0
"""Load of an arm that no catalogue knows [kg]: more than any but the largest carry."""


def rated_load(robot: Robot | None) -> float | None:
    """The load that the maker of an arm allows [kg]; None where that is not known."""
    if robot is None:
        return None
    try:
        return catalog_arm(robot.name).rated_load
    except IparamError:
        return None


def largest_load(robot: Robot | None) -> float:
    """The heaviest load that is believed [kg]."""
    rated = rated_load(robot)
    return HEAVIEST if rated is None else OVERLOAD * rated


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
