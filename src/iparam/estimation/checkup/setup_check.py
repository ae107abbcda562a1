"""`check_setup`: what a recording says about the setup that it was read with, entry by entry; `check_gripper`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iparam.errors import IparamError
from iparam.estimation.checkup.check import Check, Checkup
from iparam.estimation.combination import combine_estimates
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate
from iparam.recording.recording import Recording
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95
from iparam.sensing.setup import Setup
from iparam.spatial.parameters import InertialParameters

ENTRIES = {
    "robot-model": "robot.model",
    "gravity-direction": "mounting",
    "sensor-rotation": "sensor.rotation",
    "axis-order": "sensor.rotation",
    "left-handed": "sensor.rotation",
    "sensor-offset": "sensor.offset",
    "base-axes": "sensor.frame",
    "wrench-sign": "sensor.measures",
}
"""Cause of an unexplained recording -> the entry that would be wrong then."""

AS_GOOD = 1.2
"""Residual that a cause leaves, over that of the best, up to which it may be the true one; others only look like it."""

AT_ZERO = 2.0
"""Force up to which a sensor reads zero [N]: noise and drift since it was zeroed."""

FIRST = 0.2
"""Time at the beginning of a recording that counts as the moment of the zeroing [s]."""

GRAVITY = 9.81


def check_setup(setup: Setup, found: Checkup, recording: Recording, name: str = "setup") -> Check:
    """Whether a recording bears out a setup.

    Args:
        setup: with whose options the recording was examined.
        found: what was found then.
        recording: as it was read.
        name: of the setup, for the finding.
    """
    wrong = list(_contradictions(setup, found, recording))
    if wrong:
        return Check("setup", f"{name}: {'; '.join(wrong)}", "red")
    if found.estimate is None or found.level == "red":
        return Check("setup", f"{name}: not to be judged by a run from which no load is to be believed", "amber")
    said = [key.replace("_", "-") for key in setup.options if key != "bias"]
    return Check("setup", f"{name}: nothing in this run contradicts it ({', '.join(said)})", "green")


def check_gripper(
    whole: Estimate, gripper: Estimate | InertialParameters, robot: Robot, frame: str = "", name: str = "gripper"
) -> Check:
    """Whether a load can be this gripper and what it holds, by the same difference that an identification states.

    Args:
        whole: all that hangs on the arm.
        gripper: that should be a part of it.
        robot: the arm.
        frame: of the gripper; "" for that of the whole.
        name: of the gripper, for the finding.
    """
    least, own = NORMAL_95 * whole.standard_deviation.mass, f"{name} weighs {gripper.mass:.4g} kg"
    if whole.mass + least < gripper.mass:
        text = f"{own}, and all that hangs on the arm {whole.mass:.4g} kg: it is another gripper, or none"
        return Check("gripper", text, "red")
    try:
        held = combine_estimates(whole, gripper, minus=True, robot=robot, frame=frame or whole.frame, names=("", name))
    except IdentificationError:  # no mass above zero is left
        return Check("gripper", f"{own}, and holds nothing that could be seen", "green")
    except IparamError as error:
        return Check("gripper", f"{name}: {error}", "red")
    if held.refutation is not None:
        return Check("gripper", f"{name}: {held.refutation.sentence}", "red")
    return Check("gripper", f"{own}, and holds {held.mass:.4g} kg", "green")


def _contradictions(setup: Setup, found: Checkup, recording: Recording) -> Iterator[str]:
    estimate = found.estimate
    if estimate is None:
        return
    entries: set[str] = set()
    causes = estimate.assessment["causes"]
    least = min((cause["residual_after"] for cause in causes), default=0.0)
    for cause in causes:
        entry = ENTRIES.get(cause["cause"])
        if entry is not None and entry not in entries and cause["residual_after"] <= AS_GOOD * least:
            entries.add(entry)
            yield f"{entry} does not fit: besides it, {cause['sentence'].rstrip('.')}"
    if not np.isfinite(estimate.mass):
        return
    yield from _zeroing(setup, recording, GRAVITY * estimate.mass)


def _zeroing(setup: Setup, recording: Recording, weight: float) -> Iterator[str]:
    """The sensor reads nothing in the moment in which it was zeroed, whatever it carries."""
    wrench = recording.signal("wrench")
    force = float(np.linalg.norm(np.median(wrench.values[wrench.time <= wrench.time[0] + FIRST, :3], axis=0)))
    if setup.zeroed == "with load" and force > max(AT_ZERO, 0.5 * weight):
        yield f"sensor.zeroed is 'with-load', and the sensor reads {force:.3g} N in the beginning"
