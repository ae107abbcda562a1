"""How heavy, and how light, a load on an arm can be, and how heavy a load its maker allows."""

from __future__ import annotations

import numpy as np

from iparam.estimation.assessment.refutation import shows_no_body
from iparam.estimation.estimate import Estimate
from iparam.recording.recording import Recording
from iparam.remarks import Remark, Severity, remark
from iparam.robot.catalog.lookup import rated_load, rating_remarks
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95

STANDARD = 9.81  # m/s^2

OVERLOAD = 1.1
"""Times the maker's rated load that arms are used with."""

SURE = 3.0
"""Standard deviations by which a load must be above a bound to be called heavier."""

RESOLUTION = 2.0**-24
"""Share of the heaviest load that no sensor which bears it resolves: no converter has 24 bits that are not noise."""

HEAVIEST = 500.0
"""Load of an arm of which nothing is known [kg]: more than any but the largest carry."""

SHORTEST_LEVER = 0.1
"""Share of its reach at which an arm must hold its load with the torque of its strongest joint."""


def largest_load(robot: Robot | None) -> float:
    """The heaviest load that the joints of an arm could hold by their stated torques [kg]; `HEAVIEST` at most."""
    if robot is None:
        return HEAVIEST
    turning = [joint.kind == "revolute" for joint in robot.moving_joints]
    torques = robot.limits.torque[turning]
    strongest = float(torques.max()) if torques.size and np.isfinite(torques).all() else np.inf
    lever = SHORTEST_LEVER * robot.reach
    return min(HEAVIEST, strongest / (STANDARD * lever)) if lever > 0.0 and strongest > 0.0 else HEAVIEST


def no_load(robot: Robot | None, estimate: Estimate) -> str:
    """A sentence if the 95 % interval of a mass holds zero, with what a sensor for this arm resolves counted in it; ""
    where the data rather show that there can be no such body.
    """
    half = NORMAL_95 * float(np.hypot(estimate.standard_deviation.mass, RESOLUTION * largest_load(robot)))
    if not 0.0 <= estimate.mass <= half or shows_no_body(estimate):
        return ""
    return (
        f"The data show no load: the mass is {estimate.mass:.2g} +- {half:.2g} kg (95 %), which is not above zero. Is "
        "the load mounted, and is its weight still in the wrench?"
    )


def expected_load(robot: Robot | None) -> float:
    """The heaviest load that speaks for the units of a log [kg]: the maker's rating with `OVERLOAD`, if it is known."""
    rated = None if robot is None else rated_load(robot)
    return largest_load(robot) if rated is None else OVERLOAD * rated


def too_heavy(estimate: Estimate) -> str:
    """A sentence if a load is heavier than any but the largest arms carry; "" where it is not."""
    if not estimate.mass - SURE * estimate.standard_deviation.mass > HEAVIEST:
        return ""
    return f"The load would be {estimate.mass:.4g} kg, and all but the largest arms carry {HEAVIEST:g} kg at most."


def load_remarks(
    robot: Robot | None, mass: float, deviation: float, recording: Recording | None = None
) -> tuple[Remark, ...]:
    """Remarks if a load is heavier than the maker of the arm allows, or than its joints could hold by their stated
    torques. No data sheet refutes data, and a simulated arm may carry any load.
    """
    if robot is None:
        return ()
    simulated = recording is not None and recording.metadata.get("source") == "simulation"
    severity = Severity.INFO if simulated else None
    surely, limit = mass - SURE * deviation, largest_load(robot)
    said = rating_remarks(robot, mass, severity) if rating_remarks(robot, surely) else ()
    if surely > limit:
        said += (remark("above-joint-torques", severity, mass=mass, robot=robot.name, limit=limit),)
    return said
