"""`compare_methods`: the same run through several estimators."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from iparam.errors import IparamError, UnknownNameError
from iparam.estimation.causes.search import searched_once
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.estimator import METHODS, make_estimator
from iparam.estimation.payload.identify import identify_payload
from iparam.estimation.payload.problem_from_recording import Bias
from iparam.motion.angle_samples import evenly_stamped
from iparam.motion.motion import MotionEstimate
from iparam.motion.orientation import OrientationMotion
from iparam.motion.sources import KalmanMotion, MotionSource, known_motion
from iparam.recording.recording import Recording
from iparam.robot.model import Robot
from iparam.sensing.correction import Correction
from iparam.sensing.tolerances import Tolerances
from iparam.sensing.wrench_source import WrenchSource


@dataclass(frozen=True, eq=False)
class MethodComparison:
    """What several estimators made of one run.

    Attributes:
        estimates: by method.
        failures: by method, why there is no estimate.
    """

    estimates: Mapping[str, Estimate]
    failures: Mapping[str, str]


def compare_methods(
    recording: Recording,
    robot: Robot | None,
    methods: Iterable[str] = METHODS,
    *,
    motion: MotionSource | MotionEstimate | None = None,
    wrench: WrenchSource | None = None,
    bias: Bias = "estimate",
    delay: float | None = None,
    correction: Correction | None = None,
    tolerances: Tolerances | str | None = None,
) -> MethodComparison:
    """Identify with each of ``methods``; one that cannot is noted, not raised.

    Args:
        recording: the run.
        robot: the arm; None where the sensor's own orientation is recorded instead of joint angles.
        methods: names from `iparam.estimation.METHODS`.
        motion: where the motion comes from, or the motion itself; the Kalman smoother if not given.
        wrench, bias, delay, correction, tolerances: see `iparam.estimation.identify_payload`.
    """
    wanted = tuple(dict.fromkeys(methods))
    for name in wanted:
        if name not in METHODS:
            raise UnknownNameError("method", name, METHODS, argument="methods")
    source = KalmanMotion() if motion is None else motion
    given = Correction() if correction is None else correction
    whole, rig = given, tolerances if given.estimated else Tolerances.of(tolerances, recording, given)
    if not given.estimated:
        recording, given = given.applied(recording, robot), given.remaining()
        wrench = whole.wrench_source if wrench is None else wrench
    # Once for all methods. Instrumental variables want to know where it comes from.
    moved: MotionSource | MotionEstimate = source
    if robot is None and not isinstance(source, MotionEstimate):
        moved = OrientationMotion().motion(recording)
    elif robot is not None and not isinstance(source, MotionEstimate) and not given.estimated:
        recording, restamped = evenly_stamped(recording)
        recording = recording.with_remarks(*restamped)
        moved = known_motion(recording, robot, source)
    estimates: dict[str, Estimate] = {}
    failures: dict[str, str] = {}

    def one(name: str) -> Estimate:
        moves = source if make_estimator(name).needs_instruments else moved
        found = identify_payload(
            recording,
            robot,
            name,
            motion=moves,
            wrench=wrench,
            bias=bias,
            delay=delay,
            partial=False,
            correction=given,
            tolerances=rig,
        )
        if given.estimated:
            return found
        return dataclasses.replace(found, correction=_with_what_was_found(whole, found.correction))

    with searched_once():
        for name in wanted:
            try:
                estimates[name] = one(name)
            except IparamError as error:
                failures[name] = str(error)
    return MethodComparison(estimates, failures)


def _with_what_was_found(whole: Correction, found: Correction) -> Correction:
    """A correction, and what was put right in the recording that it had been applied to: contacts and a low-pass."""
    factor = whole.clock if isinstance(whole.clock, float) else 1.0
    exclude = tuple((start / factor, stop / factor) for start, stop in found.exclude)
    return dataclasses.replace(
        whole, exclude=(*whole.exclude, *exclude), low_pass=found.low_pass, low_pass_order=found.low_pass_order
    )
