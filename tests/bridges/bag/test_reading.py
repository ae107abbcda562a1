"""What becomes of the topics of a bag: joints, frames, signs, units and stamps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.bridges.bag import ImportSettings, read_bag
from iparam.errors import FileFormatError, InputError, IparamError, UnknownNameError
from iparam.remarks import Plain
from iparam.spatial.transforms import rotation_from_rpy

START = 1_700_000_000_123_456_789
UR = iparam.load_robot("ur5e").joint_names
PULL = [1.0, 2.0, 19.6, 0.1, 0.2, 0.3]
Fill = Callable[..., None]


def said(recording: iparam.Recording) -> dict[str, Mapping[str, Plain]]:
    """The values of its remarks, by their codes."""
    return {one.code: one.values for one in recording.remarks}


def settings(**changes: Any) -> ImportSettings:
    return dataclasses.replace(ImportSettings(), **changes)


# ------------------------------------------------------------------------------------------------- joints by name
def test_joints_come_in_any_order_and_with_others(maker: Any) -> None:
    alphabetical = sorted([*UR, "finger_joint"])
    for i in range(5):
        maker.joints(START + i * 10**6, alphabetical, [0.1 * alphabetical.index(name) for name in alphabetical])
    q = read_bag(maker.write(), "ur5e").signal("q")
    assert q.values[0].tolist() == [0.1 * alphabetical.index(name) for name in UR]
    assert (q.unit, q.frame) == ("rad", "joint")


def test_the_order_may_change_from_message_to_message(maker: Any) -> None:
    for i in range(4):
        names = list(UR) if i % 2 else list(reversed(UR))
        maker.joints(START + i * 10**6, names, [0.1 * UR.index(name) for name in names])
    q = read_bag(maker.write(), "ur5e").signal("q").values
    np.testing.assert_array_equal(q, np.tile([0.1 * joint for joint in range(6)], (4, 1)))


def test_messages_of_a_gripper_on_the_same_topic_are_passed_over(maker: Any) -> None:
    for i in range(6):
        maker.joints(START + i * 10**6, ["finger"], [0.01])  # with the very same stamp
        maker.joints(START + i * 10**6, UR, [0.1] * 6)
    recording = read_bag(maker.write(), "ur5e")
    assert recording.signal("q").num_samples == 6
    assert said(recording)["other-joints"]["count"] == 6
    (taken,) = recording.metadata["bag"]["topics"]
    assert (taken["messages"], taken["samples"], taken["dropped"]) == (12, 6, 0)


def test_a_prefix_is_found(maker: Any) -> None:
    maker.joints(START, [f"left_{name}" for name in UR], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    maker.wrench(START, PULL, "left_tool0")
    recording = read_bag(maker.write(), "ur5e")
    assert recording.signal("q").values.tolist() == [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]]
    assert recording.signal("wrench").values.tolist() == [PULL]
    assert said(recording)["joint-prefix"]["prefix"] == "left_"


def test_of_two_arms_one_has_to_be_chosen(maker: Any) -> None:
    names = [f"{side}_{name}" for name in UR for side in ("left", "right")]
    maker.joints(START, names, [0.1 * i for i in range(12)])
    bag = maker.write()
    with pytest.raises(InputError, match=r"joints of 2 arms like ur5e.*left_ or right_"):
        read_bag(bag, "ur5e")
    q = read_bag(bag, "ur5e", settings(joint_prefix="right_")).signal("q").values
    np.testing.assert_allclose(q, [[0.1, 0.3, 0.5, 0.7, 0.9, 1.1]])


def test_a_prefix_chooses_among_the_topics_of_two_arms(maker: Any) -> None:
    for side, angle in (("left", 0.1), ("right", 0.2)):
        maker.joints(START, [f"{side}_{name}" for name in UR], [angle] * 6, topic=f"/{side}/joint_states")
        maker.wrench(START, [angle, *PULL[1:]], f"{side}_tool0", topic=f"/{side}/ft")
    bag = maker.write()
    with pytest.raises(InputError, match=r"joint_topic="):
        read_bag(bag, "ur5e")
    recording = read_bag(bag, "ur5e", settings(joint_prefix="right_"))
    assert recording.signal("q").values.tolist() == [[0.2] * 6]
    assert recording.signal("wrench").values[0, 0] == 0.2
    # The sensor of one arm and the joints of the other: no frame of its own is offered for it.
    mixed = settings(joint_prefix="left_", wrench_topic="/right/ft")
    with pytest.raises(FileFormatError) as refused:
        read_bag(bag, "ur5e", mixed)
    assert refused.value.fix == {"joint_prefix": "right_"}


def test_other_names_have_to_be_given(maker: Any) -> None:
    names = ["j1", "j2", "j3", "j4", "j5", "j6"]
    maker.joints(START, list(reversed(names)), [0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    bag = maker.write()
    with pytest.raises(FileFormatError, match=r"The bag has: j6, .*j1\. Wanted: shoulder_pan_joint, .*wrist_3_joint"):
        read_bag(bag, "ur5e")
    q = read_bag(bag, "ur5e", settings(joint_names=tuple(names))).signal("q").values
    assert q.tolist() == [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]]
    with pytest.raises(InputError, match=r"2 joint names were given, and ur5e has 6"):
        read_bag(bag, "ur5e", settings(joint_names=("j1", "j2")))
    with pytest.raises(FileFormatError, match="Wanted: a, b, c, d, e, f"):
        read_bag(bag, "ur5e", settings(joint_names=tuple("abcdef")))
    with pytest.raises(FileFormatError, match="Wanted: right_shoulder_pan_joint"):
        read_bag(bag, "ur5e", settings(joint_prefix="right_"))


def test_joints_without_names_need_them_given(maker: Any) -> None:
    maker.joints(START, [], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    bag = maker.write()
    with pytest.raises(FileFormatError, match="do not name their joints"):
        read_bag(bag, "ur5e")
    q = read_bag(bag, "ur5e", settings(joint_names=tuple(UR))).signal("q").values
    assert q.tolist() == [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]]


def test_a_name_that_repeats_says_nothing(maker: Any) -> None:
    maker.joints(START, [*UR, UR[0]], [0.1] * 7)
    with pytest.raises(FileFormatError, match="not those of ur5e"):
        read_bag(maker.write(), "ur5e")


def test_fields_that_are_missing_nan_or_of_another_length(maker: Any) -> None:
    nan = float("nan")
    for i in range(10):
        position = [nan if i == 3 else 0.1] * 6
        velocity = [0.2] * (5 if i == 4 else 6)
        maker.joints(START + i * 10**6, UR, position, velocity if i % 2 == 0 else [], [nan] * 6)
    recording = read_bag(maker.write(), "ur5e")
    assert recording.signal("q").num_samples == 9
    np.testing.assert_allclose(recording.signal("dq").time, [0.0, 0.002, 0.006, 0.008])
    assert not recording.has("tau")  # ros2_control fills what it does not have with NaN
    assert (said(recording)["messages-absurd"]["signal"], said(recording)["messages-absurd"]["count"]) == ("q", 1)
    assert said(recording)["messages-uneven"] == {"topic": "/joint_states", "count": 1, "signal": "dq"}


def test_efforts_are_torques_or_currents_as_told(maker: Any) -> None:
    for i in range(3):
        maker.joints(START + i * 10**6, UR, [0.1] * 6, effort=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    bag = maker.write()
    recording = read_bag(bag, "ur5e")
    assert recording.signal("tau").unit == "N m"
    assert "efforts-taken-for-torques" in said(recording)
    recording = read_bag(bag, "ur5e", settings(effort="current"))
    assert recording.signal("current").values[0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert recording.signal("current").unit == "A"
    assert set(read_bag(bag, "ur5e", settings(effort="ignore")).signals) == {"q"}


# ------------------------------------------------------------------------------------------------------- topics
def test_the_only_topic_of_a_type_is_taken_and_others_have_to_be_named(maker: Any) -> None:
    for i in range(3):
        maker.joints(START + i * 10**6, UR, [0.1] * 6, topic="/a/joint_states")
        maker.joints(START + i * 10**6, UR, [0.2] * 6, topic="/b/joint_states")
    bag = maker.write()
    with pytest.raises(InputError) as caught:
        read_bag(bag, "ur5e")
    assert "/a/joint_states (sensor_msgs/msg/JointState, 3 messages); /b/" in str(caught.value)
    assert caught.value.argument == "joint_topic"
    recording = read_bag(bag, "ur5e", settings(joint_topic="/b/joint_states"))
    assert recording.signal("q").values[0, 0] == 0.2
    assert said(recording)["no-wrench-topic"]["type"] == "geometry_msgs/msg/WrenchStamped"
    with pytest.raises(InputError, match=r"/a/joint_states .*; /b/joint_states ") as caught:
        read_bag(bag, "ur5e", settings(joint_topic="/c"))
    assert (caught.value.argument, caught.value.value) == ("joint_topic", "/c")
    with pytest.raises(InputError, match=r"sensor_msgs/msg/JointState.* geometry_msgs") as caught:
        read_bag(bag, "ur5e", settings(joint_topic="/a/joint_states", wrench_topic="/b/joint_states"))
    assert (caught.value.argument, caught.value.value) == ("wrench_topic", "/b/joint_states")


def test_a_bag_without_joints_is_refused(maker: Any) -> None:
    maker.wrench(START, PULL)
    with pytest.raises(FileFormatError, match=r"no messages of type sensor_msgs/msg/JointState. Its topics: /wrench"):
        read_bag(maker.write(), "ur5e")


def test_topics_can_be_left_out(maker: Any) -> None:
    maker.joints(START, UR, [0.1] * 6)
    maker.wrench(START, PULL, "nowhere")
    maker.imu(START, [0, 0, 9.8], [0, 0, 0], "nowhere")
    recording = read_bag(maker.write(), "ur5e", settings(wrench_topic="none", imu_topic="none"))
    assert set(recording.signals) == {"q"}
    assert recording.remarks == ()


def test_the_robot_has_to_be_known(maker: Any) -> None:
    maker.joints(START, UR, [0.1] * 6)
    bag = maker.write()
    with pytest.raises(InputError, match="does not say which robot"):
        read_bag(bag)
    with pytest.raises(UnknownNameError, match="unknown robot 'ur6'"):
        read_bag(bag, "ur6")


# ------------------------------------------------------------------------------------------------------- frames
def turned_tool_bag(maker: Any, frame: str) -> Path:
    for i in range(50):
        maker.joints(START + i * 2_000_000, UR, [0.02 * i, -1.0, 0.5 + 0.01 * i, 0.3, 1.0 - 0.02 * i, 0.01 * i])
        maker.wrench(START + i * 2_000_000, PULL, frame)
        maker.imu(START + i * 2_000_000, [1.0, 2.0, 9.0], [0.1, 0.2, 0.3], frame)
    return maker.write()


def test_a_frame_behind_the_last_joint_is_brought_to_the_tool(maker: Any) -> None:
    """ROS's flange and tool0 share their origin; flange is turned: x of flange is z of tool0, y is x, z is y."""
    recording = read_bag(turned_tool_bag(maker, "/flange"), "ur5e")
    np.testing.assert_allclose(recording.signal("wrench").values[7], [2.0, 19.6, 1.0, 0.2, 0.3, 0.1], atol=1e-12)
    np.testing.assert_allclose(recording.signal("accelerometer").values[7], [2.0, 9.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(recording.signal("gyro").values[7], [0.2, 0.3, 0.1], atol=1e-12)
    assert recording.signal("wrench").frame == "tool0"


def test_a_sensor_away_from_the_tool_keeps_its_moment(maker: Any) -> None:
    """The same load seen by a sensor that is moved and turned: power over any motion is the same in both frames."""
    robot = iparam.load_robot("ur5e")
    offset = np.eye(4)
    offset[:3, :3], offset[:3, 3] = rotation_from_rpy([0.3, -0.5, 1.1]), [0.02, -0.05, 0.1]
    moved = robot.with_tool(offset, "sensor")
    tool_again = dataclasses.replace(moved, tool_frame="tool0")
    recording = read_bag(turned_tool_bag(maker, "sensor"), tool_again)
    force, torque = np.split(recording.signal("wrench").values[0], 2)
    generator = np.random.default_rng(0)
    for _ in range(5):
        omega, v = generator.normal(size=3), generator.normal(size=3)  # of tool0, in tool0
        at_sensor = offset[:3, :3].T @ (v + np.cross(omega, offset[:3, 3]))
        power = np.dot(PULL[:3], at_sensor) + np.dot(PULL[3:], offset[:3, :3].T @ omega)
        assert force @ v + torque @ omega == pytest.approx(power, abs=1e-12)
    assert not recording.has("accelerometer")  # it would need the angular acceleration
    assert recording.has("gyro")
    assert said(recording)["accelerometer-elsewhere"]["millimetres"] > 0.0


def test_a_wrench_in_base_axes_has_to_be_declared(maker: Any) -> None:
    bag = turned_tool_bag(maker, "base")
    with pytest.raises(FileFormatError, match=r"'base'.*wrench_frame="):
        read_bag(bag, "ur5e")
    recording = read_bag(bag, "ur5e", settings(wrench_frame="base"))
    rotation = iparam.forward_kinematics(iparam.load_robot("ur5e"), recording.signal("q").values)[:, :3, :3]
    back = np.einsum("tij,tj->ti", rotation, recording.signal("wrench").values[:, :3])
    np.testing.assert_allclose(back, np.tile(PULL[:3], (50, 1)), atol=1e-12)
    assert recording.signal("wrench").frame == "tool0"
    assert "imu-left-out" in said(recording)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ("ft_frame", "which ur5e does not have. If it is one of tool0"),
        ("forearm_link", "moves against tool0"),
        ("world", "does not move with the tool"),
    ],
)
def test_a_frame_that_leads_nowhere_is_refused_unless_told(maker: Any, frame: str, message: str) -> None:
    bag = turned_tool_bag(maker, frame)
    with pytest.raises(FileFormatError, match=message):
        read_bag(bag, "ur5e")
    recording = read_bag(bag, "ur5e", settings(wrench_frame="tool0"))
    assert recording.signal("wrench").values[0].tolist() == PULL
    assert said(recording)["frame-contradicted"]["stated"] == "tool0"
    assert frame in str(said(recording)["frame-contradicted"]["frame"])
    with pytest.raises(UnknownNameError, match=r"unknown sensor frame 'ft_frame'.*tool0.*flange.*base"):
        read_bag(bag, "ur5e", settings(wrench_frame="ft_frame"))
    with pytest.raises(FileFormatError, match="/imu is in the frame"):
        read_bag(bag, "ur5e", settings(wrench_frame="tool0", imu_topic="/imu"))


def test_no_frame_means_the_tool_with_a_warning(maker: Any) -> None:
    recording = read_bag(turned_tool_bag(maker, ""), "ur5e")
    assert recording.signal("wrench").values[0].tolist() == PULL
    unnamed = [one.values["topic"] for one in recording.remarks if one.code == "frame-unnamed"]
    assert unnamed == ["/wrench", "/imu"]


def test_a_frame_that_changes_is_refused(maker: Any) -> None:
    maker.joints(START, UR, [0.1] * 6)
    maker.wrench(START, PULL, "tool0")
    maker.wrench(START + 1, PULL, "flange")
    bag = maker.write()
    with pytest.raises(FileFormatError, match="/wrench changes its frame: 'tool0', 'flange'"):
        read_bag(bag, "ur5e")
    assert read_bag(bag, "ur5e", settings(wrench_frame="tool0")).signal("wrench").num_samples == 2


# --------------------------------------------------------------------------------------------------------- sign
def loaded_bag(maker: Any, weight: float) -> Path:
    """A weight [N] on the tool as it turns: what the robot exerts on it points up."""
    robot = iparam.load_robot("ur5e")
    for i in range(100):
        q = [0.3, -1.2, 1.0, 0.05 * i, 0.5 + 0.03 * i, 0.2]
        up = iparam.forward_kinematics(robot, q)[2, :3]
        maker.joints(START + i * 2_000_000, UR, q)
        maker.wrench(START + i * 2_000_000, [*(weight * up + [3.0, -2.0, 5.0]), 0.1, 0.0, 0.0])
    return maker.write()


def test_a_force_that_pulls_the_wrong_way_is_noticed(maker: Any) -> None:
    bag = loaded_bag(maker, -19.62)
    recording = read_bag(bag, "ur5e")
    (reversed_sign,) = (one for one in recording.remarks if one.code == "sign-follows-gravity")
    assert reversed_sign.values["mass"] == pytest.approx(2.0, rel=1e-3)
    assert reversed_sign.fix == {"measures": "reaction"}
    turned = read_bag(bag, "ur5e", settings(measures="reaction"))
    assert turned.remarks == ()
    np.testing.assert_array_equal(turned.signal("wrench").values, -recording.signal("wrench").values)


def test_a_force_that_pulls_the_right_way_is_not(maker: Any) -> None:
    bag = loaded_bag(maker, 19.62)
    assert read_bag(bag, "ur5e").remarks == ()
    turned = read_bag(bag, "ur5e", settings(measures="reaction"))
    assert turned.remarks[-1].fix == {"measures": "action"}


# -------------------------------------------------------------------------------------------------------- units
def one_sample_bag(maker: Any, **values: Any) -> Path:
    for i in range(5):
        maker.joints(START + i * 2_000_000, UR, values.get("q", [0.1] * 6))
        maker.wrench(START + i * 2_000_000, values.get("wrench", PULL))
        maker.imu(START + i * 2_000_000, values.get("a", [0, 0, 9.8]), values.get("w", [0.1, 0, 0]))
    return maker.write()


@pytest.mark.parametrize(
    ("values", "message", "units", "signal", "expected"),
    [
        ({"wrench": [100.0, 0, 19600.0, 1, 2, 3]}, "look like mN", {"force": "mN"}, "wrench", [0.1, 0, 19.6, 1, 2, 3]),
        ({"wrench": [1, 2, 20, 900, 80, 7]}, "like N mm", {"torque": "Nmm"}, "wrench", [1, 2, 20, 0.9, 0.08, 7e-3]),
        ({"a": [0, 0.1, 1.0]}, "looks like g", {"acceleration": "g"}, "accelerometer", [0, 0.980665, 9.80665]),
        ({"a": [0, 0, 1000.0]}, "looks like mg", {"acceleration": "mg"}, "accelerometer", [0, 0, 9.80665]),
        ({"w": [90.0, 0, 0]}, "looks like deg/s", {"gyro": "deg/s"}, "gyro", [np.pi / 2, 0, 0]),
    ],
)  # fmt: skip
def test_units_that_cannot_be_si_are_refused_with_the_way_out(
    maker: Any, values: dict[str, Any], message: str, units: dict[str, str], signal: str, expected: list[float]
) -> None:
    bag = one_sample_bag(maker, **values)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_bag(bag, "ur5e")
    ((quantity, unit),) = units.items()
    assert caught.value.fix == {"units": f"{quantity}={unit}"}
    np.testing.assert_allclose(read_bag(bag, "ur5e", settings(units=units)).signal(signal).values[0], expected)
    as_it_is = {"force": "N", "torque": "Nm", "acceleration": "m/s2", "gyro": "rad/s"}[quantity]
    taken = read_bag(bag, "ur5e", settings(units={quantity: as_it_is})).signal(signal).values[0]
    given = next(iter(values.values()))
    assert taken.tolist() == given


def test_degrees_are_refused_or_converted(maker: Any) -> None:
    bag = one_sample_bag(maker, q=[90.0, -45.0, 30.0, 0.0, 10.0, 180.0])
    with pytest.raises(FileFormatError, match="looks like degrees"):
        read_bag(bag, "ur5e")
    q = read_bag(bag, "ur5e", settings(angles="degrees")).signal("q").values[0]
    np.testing.assert_allclose(q, np.radians([90.0, -45.0, 30.0, 0.0, 10.0, 180.0]))
    assert read_bag(bag, "ur5e", settings(angles="radians")).signal("q").values[0, 0] == 90.0


def test_an_accelerometer_without_gravity_is_noticed(maker: Any) -> None:
    recording = read_bag(one_sample_bag(maker, a=[0.01, 0.02, 0.0]), "ur5e")
    assert said(recording)["gravity-missing"]["median"] < 1.0


@pytest.mark.parametrize(
    "changes",
    [
        {"units": {"force": "pound"}},
        {"units": {"mass": "kg"}},
        {"measures": "both"},
        {"effort": "power"},
        {"angles": "grad"},
        {"stamps": "wall"},
        {"joint_names": ("a", "a")},
        {"joint_names": ("a",), "joint_prefix": "b"},
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises((InputError, UnknownNameError)):
        settings(**changes)


# ------------------------------------------------------------------------------------------------------- stamps
def test_stamps_are_exact_to_the_nanosecond_and_start_at_zero(maker: Any) -> None:
    offsets = [0, 1, 2_000_003, 86_400_000_000_000]  # the last a day later
    for offset in offsets:
        maker.joints(START + offset, UR, [0.1] * 6, log=START + offset + 5_000_000)
    recording = read_bag(maker.write(), "ur5e")
    assert recording.signal("q").time.tolist() == [offset / 1e9 for offset in offsets]
    assert recording.metadata["bag"]["time_origin_ns"] == START


def test_zero_stamps_are_replaced_by_the_time_of_recording_for_all_topics(maker: Any) -> None:
    for i in range(5):
        maker.joints(0, UR, [0.1] * 6, log=START + i * 2_000_000)
        maker.wrench(10**9 + i * 2_000_000, PULL, log=START + i * 2_000_000 + 300)
    recording = read_bag(maker.write(), "ur5e")
    np.testing.assert_allclose(recording.signal("q").time, 0.002 * np.arange(5), atol=1e-12)
    np.testing.assert_allclose(recording.signal("wrench").time, 0.002 * np.arange(5) + 3e-7, atol=1e-12)
    assert "/joint_states" in str(said(recording)["stamps-missing"]["topics"])
    assert recording.metadata["bag"]["stamps"] == "log"


def test_the_time_of_recording_can_be_asked_for(maker: Any) -> None:
    for i in range(3):
        maker.joints(START + i, UR, [0.1] * 6, log=START + i * 4_000_000)
    time = read_bag(maker.write(), "ur5e", settings(stamps="log")).signal("q").time
    np.testing.assert_allclose(time, [0.0, 0.004, 0.008], atol=1e-12)


def test_late_messages_take_their_place_and_repeated_ones_go(maker: Any) -> None:
    order = [0, 1, 2, 4, 3, 5, 5, 6, 9, 8, 7, 10]
    for i, sample in enumerate(order):
        maker.joints(START + sample * 2_000_000, UR, [0.01 * sample] * 6, log=START + i * 2_000_000)
    recording = read_bag(maker.write(), "ur5e")
    np.testing.assert_allclose(recording.signal("q").values[:, 0], 0.01 * np.arange(11))
    np.testing.assert_allclose(recording.signal("q").time, 0.002 * np.arange(11), atol=1e-12)
    assert said(recording)["messages-reordered"]["count"] == 3
    assert said(recording)["time-repeated"]["count"] == 1
    assert recording.metadata["bag"]["topics"][0]["dropped"] == 1


def test_a_stray_stamp_costs_itself(maker: Any) -> None:
    for i in range(100):
        stamp = {40: START + 10**13, 60: 0, 80: START - 10**12}.get(i, START + i * 2_000_000)
        maker.joints(stamp, UR, [0.001 * i] * 6, log=START + i * 2_000_000)
    recording = read_bag(maker.write(), "ur5e")
    kept = [i for i in range(100) if i not in (40, 60, 80)]
    np.testing.assert_allclose(recording.signal("q").values[:, 0], 0.001 * np.array(kept))
    np.testing.assert_allclose(recording.signal("q").time, 0.002 * np.array(kept), atol=1e-12)
    assert said(recording)["rows-without-time"]["count"] == 1


def test_a_clock_that_is_set_back_leaves_the_longer_part(maker: Any) -> None:
    for i in range(100):
        stamp = START + i * 2_000_000 - (10**10 if i >= 30 else 0)
        maker.joints(stamp, UR, [0.001 * i] * 6, log=START + i * 2_000_000)
    recording = read_bag(maker.write(), "ur5e")
    np.testing.assert_allclose(recording.signal("q").values[:, 0], 0.001 * np.arange(30, 100))
    assert said(recording)["clock-set-back"]["steps"] == 1


def test_a_clock_that_is_set_forward_is_noticed(maker: Any) -> None:
    for i in range(100):
        stamp = START + i * 2_000_000 + (10**10 if i >= 30 else 0)
        maker.joints(stamp, UR, [0.001 * i] * 6, log=START + i * 2_000_000)
    recording = read_bag(maker.write(), "ur5e")
    assert recording.signal("q").num_samples == 100
    assert said(recording)["stamps-jump"]["count"] == 1
    assert said(recording)["stamps-jump"]["step"] == pytest.approx(10.0, abs=0.01)


def test_two_clocks_are_noticed_or_refused(maker: Any) -> None:
    for i in range(1000):
        maker.joints(START + i * 2_000_000, UR, [0.1] * 6)
        maker.wrench(START + i * 2_000_000 + 10**9, PULL, log=START + i * 2_000_000)
    recording = read_bag(maker.write(), "ur5e")
    assert "/wrench +1 s" in str(said(recording)["two-clocks"]["differences"])
    maker.messages = [m for m in maker.messages if m[0] != "/wrench"]
    for i in range(10):
        maker.wrench(10**9 + i, PULL, log=START + i * 2_000_000)
    with pytest.raises(FileFormatError, match="no time in common"):
        read_bag(maker.write("other"), "ur5e")


def test_signals_of_other_rates_keep_their_stamps(maker: Any) -> None:
    for i in range(50):
        maker.joints(START + i * 8_000_000, UR, [0.1] * 6)
    for i in range(200):
        maker.wrench(START + i * 2_000_000, PULL)
    recording = read_bag(maker.write(), "ur5e")
    assert recording.rate("q") == pytest.approx(125.0)
    assert recording.rate("wrench") == pytest.approx(500.0)


def test_gaps_and_frozen_sensors_are_reported(maker: Any, fill: Fill) -> None:
    fill(maker, 600)
    maker.messages = [m for i, m in enumerate(maker.messages) if not 300 <= i < 340]
    found = read_bag(maker.write(), "ur5e").remarks
    gaps = [one.values for one in found if one.code == "gaps"]
    assert ("q", 1) in {(one["signal"], one["count"]) for one in gaps}
    frozen = [one.values for one in found if one.code == "signal-frozen" and one.values["signal"] == "wrench"]
    assert (1, 2.0) in {(one["component"], one["value"]) for one in frozen}


# ---------------------------------------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    "contents", [b"", b"not a bag", b"#ROSBAG V2.0\n", b"\x89MCAP0\r", b"SQLite format 3", b"\0" * 200]
)
def test_a_file_that_is_no_bag_is_refused(tmp_path: Path, contents: bytes) -> None:
    path = tmp_path / "run.mcap"
    path.write_bytes(contents)
    with pytest.raises(FileFormatError, match=r"run\.mcap"):
        read_bag(path, "ur5e")


def test_a_folder_that_is_no_bag_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path, message in ((tmp_path / "empty", "holds no .mcap"), (tmp_path / "none", "no such file")):
        with pytest.raises(FileFormatError, match=message):
            read_bag(path, "ur5e")
    with pytest.raises(InputError):
        read_bag(3, "ur5e")  # type: ignore[arg-type]
    with pytest.raises(IparamError):
        read_bag("nul\0", "ur5e")


def test_messages_of_another_layout_are_refused(maker: Any) -> None:
    """A bag that brings its own definition of a type, with a field less."""
    maker.joints(START, UR, [0.1] * 6)
    path = maker.write() / "bag.mcap"
    data = path.read_bytes()
    assert data.count(b"float64[] effort") == 2  # in the data section and in the summary
    path.write_bytes(data.replace(b"float64[] effort", b"float32[] effort"))
    with pytest.raises(FileFormatError, match=r"definition of sensor_msgs/msg/JointState.*differs from ROS 2's"):
        read_bag(path, "ur5e")


def test_messages_in_another_encoding_are_refused(maker: Any) -> None:
    maker.joints(START, UR, [0.1] * 6)
    path = maker.write() / "bag.mcap"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"\x03\0\0\0cdr", b"\x03\0\0\0raw"))
    with pytest.raises(FileFormatError, match="encoded as 'raw'; iparam reads 'cdr'"):
        read_bag(path, "ur5e")


def test_damaged_messages_are_counted(maker: Any) -> None:
    generator = np.random.default_rng(1)
    for i in range(60):
        maker.joints(START + i * 2_000_000, UR, [0.1] * 6)
    for i in range(20):
        kind, log, data = maker.messages[i][1:]
        maker.raw("/joint_states", kind, log, data[: int(generator.integers(0, len(data)))])
        maker.raw("/joint_states", kind, log, bytes(generator.integers(0, 256, len(data), dtype=np.uint8)))
    # The newer layout XCDR2 aligns numbers differently: taken for the old one, it would give wrong values.
    maker.raw("/joint_states", kind, log + 1, b"\0\7" + data[2:])
    recording = read_bag(maker.write(), "ur5e")
    assert recording.signal("q").num_samples == 60
    assert said(recording)["messages-damaged"]["count"] == 41
    maker.messages = maker.messages[60:]
    with pytest.raises(FileFormatError, match="none of the 41 messages"):
        read_bag(maker.write("worse"), "ur5e")
