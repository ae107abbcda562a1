"""A recording is held against the arm, the frame and the gravity that it is computed with."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError, InputError, StatedPathError
from iparam.recording import Recording, Signal
from iparam.recording.channels import TOOL
from iparam.robot.urdf.writer import robot_to_urdf
from iparam.sensing.run_check import check_run, recorded_robot, with_told_frame

UR5E = iparam.load_robot("ur5e")
FLANGE = iparam.load_robot("ur5e", tip="flange")


def run(robot: str = "ur5e", frame: str = TOOL, **metadata: object) -> Recording:
    """An arm that turns slowly under gravity along -z of its base, with an accelerometer in tool0."""
    time = np.arange(200) / 100
    q = 0.3 * np.sin(time[:, None] + np.arange(6)) + [0.0, -1.2, 1.4, -1.6, -1.4, 0.2]
    turns = iparam.forward_kinematics(UR5E, q)[:, :3, :3]
    made = Recording(robot, metadata=metadata).with_signal("q", time=time, values=q)
    made = made.with_signal("accelerometer", time=time, values=9.81 * turns[:, 2, :])
    return made.with_signal("wrench", Signal(time, np.ones((200, 6)), "N, N m", frame))


@pytest.mark.parametrize(
    "recording",
    [run(), run(""), run(gravity=[0, 0, -9.81], tool_frame="tool0"), run(tool_frame="wrist_3_link"), run(frame="")],
)
def test_what_agrees_is_taken_in_silence(recording: Recording) -> None:
    checked = check_run(recording, UR5E)
    assert checked.remarks == ()
    assert checked.gravity.tolist() == [0.0, 0.0, -9.81]


@pytest.mark.parametrize(
    ("recording", "robot", "message"),
    [
        (run(), iparam.load_robot("ur5"), "belongs to a ur5e, and ur5 is another arm"),
        (
            run(tool_frame="hand"),
            UR5E,
            r"has no frame 'hand'.*'hand' as its tip; if it is .*'tool0' is the tip",
        ),
        (run(frame="flange", sensor_frame="tool0"), UR5E, r"'tool0' by the metadata .* and 'flange' by its signal"),
        (run(sensor_frame="ft"), UR5E, r"'ft' by the metadata \(sensor_frame\).*has no frame 'ft'.*'ft' as its tip"),
        (run(frame="elbow"), UR5E, r"'elbow' by its signal.*has no frame"),
        (run(wrench_frame="base"), UR5E, r"does not move with the tool.*BaseFrameWrench"),
        (run(frame="forearm_link"), UR5E, r"'forearm_link' does not move with the tool"),
    ],
)
def test_what_contradicts_is_refused_with_both_and_the_way_out(
    recording: Recording, robot: iparam.Robot, message: str
) -> None:
    with pytest.raises(ContradictionError, match=message):
        check_run(recording, robot)


def test_frames_do_not_matter_where_the_wrench_is_not_used() -> None:
    assert check_run(run(tool_frame="tool0"), FLANGE, uses_wrench=False).gravity[2] == -9.81


def test_what_may_be_meant_is_said() -> None:
    (said,) = check_run(run(compensated_mass_kg=1.5), UR5E).remarks
    assert (said.code, said.values["mass"]) == ("load-already-removed", 1.5)


def test_an_accelerometer_shows_another_gravity() -> None:
    """On a wall the arm, or in another frame the sensor: the numbers would be wrong without a sign of it."""
    first, second = check_run(run(gravity=[0, 0, -1.62]), UR5E).remarks
    assert (first.code, first.values["gravity"]) == ("gravity-unusual", (0.0, 0.0, -1.62))
    assert second.code == "accelerometer-shows-other-gravity"
    assert second.values["shown"] == pytest.approx((0.0, 0.0, -9.8))
    (said,) = check_run(run(frame="flange", tool_frame="flange"), FLANGE).remarks
    assert (said.code, said.values["frame"]) == ("accelerometer-shows-other-gravity", "flange")


def test_the_tool_frame_of_a_recording_is_that_of_its_arm(tmp_path: Path) -> None:
    assert recorded_robot(run()).tool_frame == "tool0"
    assert recorded_robot(run(tool_frame="flange")).tool_frame == "flange"
    assert recorded_robot(run(tool_frame="flange"), tip="tool0").tool_frame == "tool0"
    assert recorded_robot(run(tool_frame="hand")).tool_frame == "tool0"  # it has none: `check_run` speaks of it
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(robot_to_urdf(dataclasses.replace(UR5E, name="arm")))
    moved = run("somewhere/else/arm.urdf", tool_frame="flange")
    assert recorded_robot(moved, str(urdf)).tool_frame == "flange"
    with pytest.raises(InputError, match="does not say which robot"):
        recorded_robot(Recording())
    for path in ("somewhere/else/arm.urdf", str(urdf)):
        with pytest.raises(StatedPathError) as refused:
            recorded_robot(run(path))
        assert refused.value.path == path


def test_whoever_gives_the_tip_says_what_an_unknown_tool_frame_is() -> None:
    stated = run("cell.urdf", frame="hand", tool_frame="hand")
    told = with_told_frame(stated, UR5E, "tool0")
    values = {"stated": "hand", "robot": "ur5e", "tip": "tool0"}
    assert [(one.code, one.values) for one in told.remarks] == [("tool-frame-unknown", values)]
    assert check_run(told, UR5E).recording.signal("wrench").frame == "tool0"
    assert with_told_frame(stated, UR5E, None) is stated
    known = run(tool_frame="flange")
    assert with_told_frame(known, UR5E, "tool0") is known  # it is turned, not renamed
