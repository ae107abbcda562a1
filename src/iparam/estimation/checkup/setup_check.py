"""`check_setup`: what a recording says about the setup that it was read with, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iparam.estimation.checkup.check import Check, Checkup
from iparam.recording.recording import Recording
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


def check_setup(
    setup: Setup, found: Checkup, recording: Recording, gripper: InertialParameters | None = None, name: str = "setup"
) -> Check:
    """Whether a recording bears out a setup.

    Args:
        setup: with whose options the recording was examined.
        found: what was found then.
        recording: as it was read.
        gripper: the load of the setup's gripper, if it has one.
        name: of the setup, for the finding.
    """
    wrong = list(_contradictions(setup, found, recording, gripper))
    if wrong:
        return Check("setup", "red", f"{name}: {'; '.join(wrong)}")
    if found.estimate is None or found.level == "red":
        return Check("setup", "amber", f"{name}: not to be judged by a run from which no load is to be believed")
    said = [key.replace("_", "-") for key in setup.options if key != "bias"]
    return Check("setup", "green", f"{name}: nothing in this run contradicts it ({', '.join(said)})")


def _contradictions(
    setup: Setup, found: Checkup, recording: Recording, gripper: InertialParameters | None
) -> Iterator[str]:
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
            # Without the option that the sentence advises, which counts besides the setup's own.
            yield f"{entry} does not fit: besides it, {cause['sentence'].partition(': add ')[0]}"
    if not np.isfinite(estimate.mass):
        return
    if gripper is not None and estimate.mass + NORMAL_95 * estimate.standard_deviation.mass < gripper.mass:
        yield (
            f"gripper.load weighs {gripper.mass:.4g} kg, and all that hangs on the arm {estimate.mass:.4g} kg: it is "
            "another gripper, or none"
        )
    yield from _zeroing(setup, recording, GRAVITY * estimate.mass)


def _zeroing(setup: Setup, recording: Recording, weight: float) -> Iterator[str]:
    """The sensor reads nothing in the moment in which it was zeroed, whatever it carries."""
    wrench = recording.signal("wrench")
    force = float(np.linalg.norm(np.median(wrench.values[wrench.time <= wrench.time[0] + FIRST, :3], axis=0)))
    if setup.zeroed == "with load" and force > max(AT_ZERO, 0.5 * weight):
        yield f"sensor.zeroed is 'with-load', and the sensor reads {force:.3g} N in the beginning"
