"""`with_followers`: the angles of joints that follow others, which no driver publishes, from those that they follow."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from iparam.errors import FileFormatError, InputError
from iparam.recording.channels import ANGLES, EFFORTS, default_frame
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot

COMPUTED = "computed_followers"
"""In the metadata of a recording: the signals of which the columns of joints that follow others were computed."""

CLEARLY_OFF = 0.02
"""Distance of a recorded follower from where its leader takes it that is told [rad or m]; a belt gives less."""

_POSITIONS = ("q", "target_q")


def with_followers(recording: Recording, robot: Robot | None, anew: Sequence[str] = ()) -> Recording:
    """The recording with the angles of every joint of the arm, and a remark that names those that were computed.

    Where a signal of angles has as many columns as the arm has joints that follow no other, these are meant, in the
    order of the arm; the rest is where the description says that they take it. What is recorded of the others is kept.

    Args:
        recording: with the angles of all joints, or of those that follow no other.
        robot: the arm; None leaves the recording as it is.
        anew: signals that have all columns, and whose followers are to be computed all the same.
    """
    if robot is None or not robot.couplings:
        return recording
    signals, filled = filled_signals(recording.signals, robot)
    for name in anew:
        signals[name] = _followed(signals[name], name, robot, np.array(robot.free_joints))
    computed = [name for name in ANGLES if name in filled or name in anew]
    remarks = _not_following(signals, robot)
    if computed:
        of = ", ".join(f"{one.joint!r} ({one.relation})" for one in robot.couplings)
        remarks = [remark("followers-computed", signals=", ".join(computed), joints=of), *remarks]
        recording = dataclasses.replace(recording, signals=signals).with_metadata(**{COMPUTED: computed})
    return recording.with_remarks(*remarks)


def followed_again(recording: Recording, robot: Robot | None) -> Recording:
    """A recording whose joints were changed, with those computed anew that were computed before."""
    computed = recording.metadata.get(COMPUTED)
    before = computed if isinstance(computed, list) else []
    return with_followers(recording, robot, [name for name in before if name in ANGLES and recording.has(name)])


def filled_signals(signals: Mapping[str, Signal], robot: Robot | None) -> tuple[dict[str, Signal], list[str]]:
    """The signals with columns for every joint, and the names of those that had none of joints that follow others."""
    done = dict(signals)
    if robot is None or not robot.couplings:
        return done, []
    free = len(robot.free_joints)
    missing = [name for name in ANGLES if name in signals and signals[name].width == free]
    for name in missing:
        done[name] = _followed(signals[name], name, robot, np.arange(signals[name].width))
    return done, missing


def joint_signal(recording: Recording, robot: Robot, name: str) -> Signal:
    """A signal with a column for each joint of the arm.

    Raises:
        InputError: it is of another number of joints.
    """
    signal = recording.signal(name)
    if signal.width != robot.num_joints:
        columns = "1 column" if signal.width == 1 else f"{signal.width} columns"
        raise InputError(
            argument=name,
            problem=(
                f"has {columns}, but {joint_count(robot)} between {robot.base_frame!r} and {robot.tool_frame!r}; "
                "choose base and tip of the arm that was recorded"
            ),
        )
    return signal


def check_widths(signals: Mapping[str, Signal], robot: Robot | None, source: str) -> None:
    """Refuse signals of joints with another number of columns than the arm, or than each other where it is not known.

    Joints that follow others have no drive: torques and currents may be those of the rest.
    """
    widths = {name: signal.width for name, signal in signals.items() if default_frame(name) == "joint"}
    expected = robot.num_joints if robot is not None else widths.get("q", next(iter(widths.values()), 0))
    for name, width in widths.items():
        driven = robot is not None and name not in ANGLES and width == len(robot.free_joints)
        if width != expected and not driven:
            whose = joint_count(robot) if robot is not None else f"other signals have {expected} joints"
            advice = ". Where only some joints have a sensor, give the others empty columns" if name in EFFORTS else ""
            columns = "1 column" if width == 1 else f"{width} columns"
            raise FileFormatError(f"{source}: {name} has {columns}, but {whose}{advice}")


def joint_count(robot: Robot) -> str:
    """How many joints an arm has, for a message: "ur5e has 6 joints"."""
    free = len(robot.free_joints)
    text = f"{robot.name} has {robot.num_joints} joints"
    return text if free == robot.num_joints else f"{text}, {free} of which follow no other"


def _followed(signal: Signal, name: str, robot: Robot, columns: NDArray[np.intp]) -> Signal:
    values = robot.with_followers(signal.values[:, columns], rates=name not in _POSITIONS)
    return dataclasses.replace(signal, values=values)


def _not_following(signals: Mapping[str, Signal], robot: Robot) -> list[Remark]:
    """A remark for each joint that is recorded elsewhere than where its leader takes it."""
    if "q" not in signals or signals["q"].width != robot.num_joints:
        return []
    angles = signals["q"].values
    off = dict(zip(robot.joint_names, np.abs(angles - robot.follow(angles)).max(axis=0), strict=True))
    return [
        remark("follower-off", joint=one.joint, distance=float(off[one.joint]), relation=str(one.relation))
        for one in robot.couplings
        if off[one.joint] > CLEARLY_OFF
    ]
