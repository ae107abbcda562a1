"""`compare_methods`: the same run through several estimators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from iparam.errors import IparamError, UnknownNameError
from iparam.estimation.estimate import Estimate
from iparam.estimation.identify import METHODS, PayloadBias, identify_payload
from iparam.recording.recording import Recording
from iparam.robot.model import Robot
from iparam.sensing.motion import ToolMotionEstimate
from iparam.sensing.motion_sources import KalmanMotion


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
    robot: Robot,
    methods: Iterable[str] = METHODS,
    *,
    motion: ToolMotionEstimate | None = None,
    bias: PayloadBias = "estimate",
    delay: float = 0.0,
) -> MethodComparison:
    """Identify with each of ``methods``; one that cannot is noted, not raised.

    Args:
        recording: the run.
        robot: the arm.
        methods: names from `iparam.estimation.METHODS`.
        motion: how the arm moved; the Kalman smoother's answer if not given.
        bias, delay: see `iparam.estimation.problem_from_recording`.
    """
    wanted = tuple(dict.fromkeys(methods))
    for name in wanted:
        if name not in METHODS:
            raise UnknownNameError("method", name, METHODS)
    moved = KalmanMotion().motion(recording, robot) if motion is None else motion
    estimates: dict[str, Estimate] = {}
    failures: dict[str, str] = {}
    for name in wanted:
        try:
            estimates[name] = identify_payload(recording, robot, name, motion=moved, bias=bias, delay=delay)
        except IparamError as error:
            failures[name] = str(error)
    return MethodComparison(estimates, failures)
