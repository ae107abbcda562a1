"""A recording made with one tip, computed with another that is fixed to the same link."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError
from iparam.recording import Recording
from iparam.recording.signal import Signal
from iparam.robot.kinematics import frame_poses
from iparam.robot.model import Joint, JointKind, Link
from iparam.sensing.sensor_frame import in_tool_frame, same_place
from iparam.spatial import exp_so3, transform_from

UR5E = iparam.load_robot("ur5e")
OFFSET = transform_from(exp_so3([0.3, -0.2, 0.5]), [0.02, -0.05, 0.11])
GRIPPED = dataclasses.replace(
    UR5E,
    links=(*UR5E.links, Link("gripper tip")),
    joints=(*UR5E.joints, Joint("to tip", JointKind.FIXED, "tool0", "gripper tip", OFFSET)),
    tool_frame="gripper tip",
)
TOOL0 = dataclasses.replace(GRIPPED, tool_frame="tool0")
BODY = iparam.Payload.box(mass=1.7, size=[0.1, 0.06, 0.2], offset=[0.01, 0.02, 0.05]).parameters


def recorded(robot: iparam.Robot, body: iparam.InertialParameters) -> Recording:
    """What sensors in the tool frame of ``robot`` measure along a motion with ``body`` on it, by its dynamics alone."""
    a, b = np.random.default_rng(4).normal(0.0, 0.3, (2, 6, 3))
    q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
    motion = iparam.WindowedFourierTrajectory(q0, a, b, base_freq=0.25, duration=4.0).sample(50.0)
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ body.phi
    moved = iparam.tool_motion(robot, motion.q, motion.dq, motion.ddq)
    frame = robot.tool_frame
    made = Recording("ur5e", metadata={"tool_frame": frame}).with_signal("q", time=motion.time, values=motion.q)
    made = made.with_signal("wrench", Signal(motion.time, wrench, "N, N m", frame))
    return made.with_signal("gyro", Signal(motion.time, moved.angular_velocity, "rad/s", frame))


def test_the_wrench_is_that_of_a_sensor_in_the_other_frame() -> None:
    """The same body, given in each frame, measured in each: independent of how the wrench is turned."""
    at_tip = recorded(GRIPPED, BODY.transformed(np.linalg.inv(OFFSET)))
    at_tool0 = recorded(TOOL0, BODY)
    for robot, given, expected in ((TOOL0, at_tip, at_tool0), (GRIPPED, at_tool0, at_tip)):
        turned, remarks = in_tool_frame(given, robot)
        for name in ("wrench", "gyro"):
            np.testing.assert_allclose(turned.signal(name).values, expected.signal(name).values, atol=1e-10)
            assert turned.signal(name).frame == robot.tool_frame
        assert turned.metadata["tool_frame"] == robot.tool_frame
        (said,) = remarks
        assert (said.code, said.lowers) == ("wrench-transformed", False)
        assert said.values["millimetres"] == pytest.approx(122.5, abs=0.05)
        assert in_tool_frame(turned, robot) == (turned, [])


def test_the_load_comes_out_in_the_frame_that_is_asked_for() -> None:
    recording = recorded(GRIPPED, BODY.transformed(np.linalg.inv(OFFSET)))
    found = iparam.identify_payload(recording, TOOL0, method="wls")
    assert found.frame == "tool0"
    np.testing.assert_allclose(found.center_of_mass, BODY.center_of_mass, atol=2e-3)
    assert [one.values["frame"] for one in found.remarks if one.code == "wrench-transformed"] == ["gripper tip"]


@pytest.mark.parametrize("label", ["tool", ""])
def test_a_signal_without_a_frame_is_in_that_of_the_recording(label: str) -> None:
    made = recorded(TOOL0, BODY)
    plain = made.with_signal("wrench", dataclasses.replace(made.signal("wrench"), frame=label))
    np.testing.assert_array_equal(
        in_tool_frame(plain, GRIPPED)[0].signal("wrench").values,
        in_tool_frame(made, GRIPPED)[0].signal("wrench").values,
    )
    nameless = dataclasses.replace(plain, metadata={})
    assert in_tool_frame(nameless.without_signal("gyro"), GRIPPED)[1] == []  # nothing says that it is in another one


def test_an_accelerometer_elsewhere_is_left_out() -> None:
    made = recorded(GRIPPED, BODY)
    felt = made.with_signal("accelerometer", Signal(made.signal("q").time, np.ones((201, 3)), "m/s^2", "gripper tip"))
    turned, remarks = in_tool_frame(felt, TOOL0)
    assert not turned.has("accelerometer")
    assert "accelerometer-elsewhere" in [one.code for one in remarks]
    flange = dataclasses.replace(GRIPPED, tool_frame="flange")  # at the same place, turned
    level = felt.with_signal(
        "accelerometer", Signal(made.signal("q").time, np.tile([0, 0, 9.81], (201, 1)), "m/s^2", "tool0")
    )
    poses = frame_poses(GRIPPED, np.zeros(6))
    turn = poses["flange"][:3, :3].T @ poses["tool0"][:3, :3]
    found = in_tool_frame(level, flange)[0].signal("accelerometer").values
    np.testing.assert_allclose(found, np.tile(turn @ [0, 0, 9.81], (201, 1)), atol=1e-12)


def test_what_does_not_move_with_the_tool_is_refused() -> None:
    made = recorded(TOOL0, BODY)
    with pytest.raises(ContradictionError, match="'forearm_link' does not move with the tool"):
        in_tool_frame(
            made.with_metadata(wrench_frame="forearm_link").with_signal(
                "wrench", dataclasses.replace(made.signal("wrench"), frame="tool")
            ),
            TOOL0,
        )


def test_frames_are_one_by_name_or_by_place() -> None:
    assert same_place("", UR5E)
    assert same_place("tool0", UR5E)
    assert same_place("wrist_3_link", UR5E)
    assert not same_place("flange", UR5E)
    assert not same_place("nowhere", UR5E)
