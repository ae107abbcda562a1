"""`examine_recording`: the facts about a recording, and the judgement that `identify_payload` makes of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from iparam.errors import IparamError
from iparam.estimation.checkup.check import Check, Checkup, Level
from iparam.estimation.checkup.signal_facts import signal_facts
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.identify import identify_payload
from iparam.estimation.payload.problem_from_recording import Bias
from iparam.motion.sources import MotionSource
from iparam.recording.recording import Recording
from iparam.recording.statements import recorded_gravity
from iparam.robot.model import Robot
from iparam.sensing.correction import Correction
from iparam.sensing.tolerances import Tolerances

LEVELS: dict[str, Level] = {"good": "green", "usable": "amber", "refuted": "red"}
"""Of the verdicts."""


def examine_recording(
    recording: Recording,
    robot: Robot,
    *,
    motion: MotionSource | None = None,
    bias: Bias = "estimate",
    correction: Correction | None = None,
    tolerances: Tolerances | str | None = None,
    estimate: Estimate | None = None,
) -> Checkup:
    """Look through a recording before a load is identified from it.

    Args:
        recording: of a motion that excites the load.
        robot: the arm.
        motion, bias, correction, tolerances: as of `identify_payload`.
        estimate: the load that was identified from it; None identifies it.
    """
    judgements: list[Check] = []
    if estimate is None:
        try:
            estimate = identify_payload(
                recording, robot, motion=motion, bias=bias, correction=correction, tolerances=tolerances
            )
        except IparamError as error:
            judgements.append(Check("load", error.told(error.argument, ""), "red", error.fix))
    shown = recording
    with contextlib.suppress(IparamError):  # which is the judgement, too
        shown = recording if correction is None else correction.applied(recording, robot)
    facts = [*signal_facts(shown), *_arm_facts(shown, robot)]
    if estimate is not None:
        known = "all ten parameters" if estimate.complete else ", ".join(estimate.determined) or "nothing"
        facts.append(Check("excitation", f"shows {known}, condition number {estimate.condition_number:.3g}"))
        told = [one for one in estimate.remarks if one not in recording.remarks]
        judgements += [Check("remark", one.message, "amber" if one.lowers else "", one.fix or {}) for one in told]
        judgements.append(load_check("load", estimate))
    return Checkup((*facts, *judgements), estimate)


def load_check(name: str, estimate: Estimate) -> Check:
    """The verdict on a load."""
    assessment = estimate.assessment
    mass = f"{estimate.mass:.4g} kg" if np.isfinite(estimate.mass) else "no mass"
    text = f"{assessment['verdict']}, {mass}: {assessment['sentence']}"
    return Check(name, text, LEVELS[assessment["verdict"]])


def _arm_facts(recording: Recording, robot: Robot) -> Iterator[Check]:
    if recording.has("q") and recording.signal("q").width == robot.num_joints:
        angles, limits = recording.signal("q").values, robot.limits
        beyond = np.maximum(angles.max(axis=0) - limits.upper, limits.lower - angles.min(axis=0))
        worst = int(np.argmax(beyond))
        text = "all angles within its limits"
        if beyond[worst] > 0.0:
            text = f"{robot.joint_label(worst)} goes {np.degrees(beyond[worst]):.3g} deg beyond its limits"
        yield Check("arm", f"{robot.name}, {robot.num_joints} joints, {text}")
    gravity = ", ".join(f"{value:.4g}" for value in recorded_gravity(recording))
    yield Check("gravity", f"{gravity} m/s^2 in the axes of the base")
    stated = recording.signal("wrench").frame if recording.has("wrench") else ""
    said = f", as the recording states ({stated})" if stated else ", nothing stated"
    yield Check("frames", f"wrench in {robot.tool_frame}{said}")
