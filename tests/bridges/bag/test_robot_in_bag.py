"""The robot out of a bag: its recorded description, and sensors that tf_static places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from tests.bridges.bag.conftest import START, STORE, TYPES, UR_JOINTS, BagMaker, header

import iparam
from iparam.bridges.bag import ImportSettings, open_bag, read_bag, robot_in_bag
from iparam.cli.main import main
from iparam.errors import FileFormatError, InputError

TEXT, TRANSFORMS = "std_msgs/msg/String", "tf2_msgs/msg/TFMessage"
NOTHING = ImportSettings(wrench_topic="none")


def urdf(names: tuple[str, ...], prefix: str = "", root: str = "base_link") -> str:
    """Links of 1 kg on a line, a flange and a sensor behind it that is turned about z by 90 deg."""
    links, joints, parent = [f'<link name="{prefix}{root}"/>'], [], f"{prefix}{root}"
    for number, name in enumerate(names):
        child = f"{prefix}link_{number}"
        axis = "0 0 1" if number % 2 == 0 else "0 1 0"
        inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
        links.append(f'<link name="{child}"><inertial><mass value="1"/>{inertia}</inertial></link>')
        limit = '<limit lower="-3" upper="3" velocity="2" effort="50"/>'
        joints.append(
            f'<joint name="{prefix}{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="0 0 0.2"/><axis xyz="{axis}"/>{limit}</joint>'
        )
        parent = child
    for name, place in (("tool0", 'xyz="0 0 0.1"'), ("ft_link", 'xyz="0 0 0.15" rpy="0 0 1.5707963267948966"')):
        links.append(f'<link name="{prefix}{name}"/>')
        joints.append(
            f'<joint name="{prefix}{name}_fixed" type="fixed"><parent link="{parent}"/>'
            f'<child link="{prefix}{name}"/><origin {place}/></joint>'
        )
    return f'<robot name="lab_arm">{"".join(links)}{"".join(joints)}</robot>'


def describe(maker: BagMaker, text: str, topic: str = "/robot_description") -> None:
    maker.raw(topic, TEXT, START - 10**9, bytes(STORE.serialize_cdr(TYPES[TEXT](text), TEXT)))


def transform(child: str, place: tuple[float, ...], turn: tuple[float, ...], types: Any, head: Any) -> Any:
    vector, quaternion = types["geometry_msgs/msg/Vector3"](*place), types["geometry_msgs/msg/Quaternion"](*turn)
    pose = types["geometry_msgs/msg/Transform"](vector, quaternion)
    return types["geometry_msgs/msg/TransformStamped"](head, child, pose)


def fix(maker: BagMaker, parent: str, child: str, place: tuple[float, ...], turn: tuple[float, ...]) -> None:
    made = TYPES[TRANSFORMS]([transform(child, place, turn, TYPES, header(START, parent))])
    maker.raw("/tf_static", TRANSFORMS, START, bytes(STORE.serialize_cdr(made, TRANSFORMS)))


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_the_robot_and_its_sensor_frame_come_from_the_description(
    storage: str, maker: BagMaker, fill: Callable[..., None]
) -> None:
    describe(maker, urdf(UR_JOINTS))
    describe(maker, urdf(UR_JOINTS))  # said again, as by a second node
    maker.raw("/log", TEXT, START, bytes(STORE.serialize_cdr(TYPES[TEXT]("a remark of anybody"), TEXT)))
    fill(maker, 100, frame="ft_link")
    recording = read_bag(maker.write(storage=storage))
    assert recording.robot == "lab_arm"
    (said,) = (one for one in recording.remarks if one.code == "robot-from-bag")
    assert (said.values["topic"], said.values["robot"], said.values["joints"]) == ("/robot_description", "lab_arm", 6)
    assert not said.lowers  # a fact, which keeps no load from a controller
    # tool0 is 50 mm before the sensor, which is turned by 90 deg: x of the sensor is y of the tool.
    np.testing.assert_allclose(recording.signal("wrench").values[3, :3], [-2.0, 0.3, 19.6], atol=1e-9)
    np.testing.assert_allclose(recording.signal("wrench").values[3, 3:], [-0.035, -0.09, 0.03], atol=1e-9)


def test_the_command_writes_the_robot_beside_the_recording_and_says_how_to_take_it(
    maker: BagMaker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot = iparam.robot.loading.load_description(urdf(UR_JOINTS), "it")
    body = iparam.InertialParameters(2.0, np.array([0.01, 0.0, 0.08]), np.diag([0.01, 0.01, 0.008]))
    time = np.arange(1500) / 250.0
    phase, rate = np.arange(6.0), np.array([1.1, 1.7, 2.3, 1.3, 2.9, 3.1])
    angle = rate * time[:, None] + phase
    q, dq, ddq = 0.6 * np.sin(angle), 0.6 * rate * np.cos(angle), -0.6 * rate**2 * np.sin(angle)
    wrench = iparam.wrench_regressor(robot, q, dq, ddq) @ body.phi
    describe(maker, urdf(UR_JOINTS))
    for row, at in enumerate(time):
        stamp = START + round(1e9 * at)
        maker.joints(stamp, UR_JOINTS, q[row].tolist(), dq[row].tolist())
        maker.wrench(stamp, wrench[row].tolist())
    bag, output = maker.write(), tmp_path / "run.parquet"
    assert main(["bag", "import", str(bag), "--output", str(output)]) == 0
    said = capsys.readouterr().err
    assert str(tmp_path / "run.urdf") in said
    assert "/robot_description" in said
    assert (tmp_path / "run.urdf").read_text() == urdf(UR_JOINTS)
    arm = ["--robot", str(tmp_path / "run.urdf")]
    assert " ".join(arm) in said  # a path in a file is not followed
    command = ["identify", "payload", str(output), "--method", "wls", "--output", str(tmp_path / "r.json")]
    assert main(command) == 2
    assert main([*command, *arm]) == 0
    assert iparam.Estimate.load(tmp_path / "r.json").mass == pytest.approx(2.0, rel=0.01)
    # Another robot's file in that place is not replaced unasked.
    (tmp_path / "run.urdf").write_text("mine")
    capsys.readouterr()
    assert main(["bag", "import", str(bag), "--output", str(output)]) == 2
    assert "holds another: choose another --output, or --overwrite" in capsys.readouterr().err
    assert (tmp_path / "run.urdf").read_text() == "mine"
    assert main(["bag", "import", str(bag), "--output", str(output), "--overwrite"]) == 0


def test_a_sensor_that_only_tf_static_knows_is_placed_by_it(maker: BagMaker, fill: Callable[..., None]) -> None:
    half = float(np.sqrt(0.5))
    fix(maker, "adapter", "my_sensor", (0.0, 0.0, 0.02), (0.0, 0.0, half, half))  # about z, by 90 deg
    fix(maker, "tool0", "adapter", (0.0, 0.0, 0.03), (0.0, 0.0, 0.0, 1.0))
    fill(maker, 50, frame="my_sensor")
    recording = read_bag(maker.write(), "ur5e")
    np.testing.assert_allclose(recording.signal("wrench").values[3, :3], [-2.0, 0.3, 19.6], atol=1e-9)
    np.testing.assert_allclose(recording.signal("wrench").values[3, 3:], [-0.035, -0.09, 0.03], atol=1e-9)
    (placed,) = (one for one in recording.remarks if one.code == "frame-placed")
    assert (placed.values["frame"], placed.values["place"]) == ("my_sensor", "50 mm and 90 deg")


def test_a_transform_that_is_none_places_nothing(maker: BagMaker, fill: Callable[..., None]) -> None:
    fix(maker, "tool0", "my_sensor", (0.0, 0.0, float("nan")), (0.0, 0.0, 0.0, 1.0))
    fix(maker, "tool0", "other", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0))
    fix(maker, "a", "b", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    fix(maker, "b", "a", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))  # a ring is no way to anywhere
    fill(maker, 20, frame="my_sensor")
    with pytest.raises(FileFormatError, match="which ur5e does not have"):
        read_bag(maker.write(), "ur5e")


def test_ros_1_bags_have_fixed_frames_too(tmp_path: Path) -> None:
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", TRANSFORMS))
    types, path = store.types, tmp_path / "run.bag"
    vector = types["geometry_msgs/msg/Vector3"]
    kinds = {
        "/joint_states": "sensor_msgs/msg/JointState",
        "/wrench": "geometry_msgs/msg/WrenchStamped",
        "/tf_static": TRANSFORMS,
    }
    with Writer(path) as writer:
        links = {name: writer.add_connection(name, kind, typestore=store) for name, kind in kinds.items()}
        for i in range(50):
            stamp = START + 2_000_000 * i
            head = types["std_msgs/msg/Header"](
                i, types["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9)), "sensor"
            )
            pair = types["geometry_msgs/msg/Wrench"](vector(1.0, 2.0, 19.6), vector(0.0, 0.0, 0.0))
            state = types[kinds["/joint_states"]](
                head, list(UR_JOINTS), 0.01 * i * np.ones(6), np.zeros(0), np.zeros(0)
            )
            sent = {"/joint_states": state, "/wrench": types[kinds["/wrench"]](head, pair)}
            if i == 0:
                fixed = types["std_msgs/msg/Header"](i, head.stamp, "tool0")
                made = transform("sensor", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), types, fixed)
                sent["/tf_static"] = types[TRANSFORMS]([made])
            for name, message in sent.items():
                writer.write(links[name], stamp, bytes(store.serialize_ros1(message, kinds[name])))
    np.testing.assert_allclose(read_bag(path, "ur5e").signal("wrench").values[0, :3], [-1.0, 2.0, -19.6], atol=1e-9)


def test_two_arms_and_two_descriptions(maker: BagMaker, fill: Callable[..., None], tmp_path: Path) -> None:
    left, right = (urdf(UR_JOINTS, side).replace("lab_arm", "cell") for side in ("left_", "right_"))
    whole = left.removesuffix("</robot>") + right.removeprefix('<robot name="cell">').removesuffix("</robot>")
    stand = '<link name="stand"/>' + "".join(
        f'<joint name="{side}stand" type="fixed"><parent link="stand"/><child link="{side}base_link"/></joint>'
        for side in ("left_", "right_")
    )
    describe(maker, f"{whole}{stand}</robot>")
    fill(maker, 50, names=[f"right_{name}" for name in UR_JOINTS], frame="right_tool0")
    bag = maker.write()
    with pytest.raises(FileFormatError, match=r"left_tool0.*right_tool0.*Or name the robot"):
        read_bag(bag, settings=NOTHING)
    found = robot_in_bag(open_bag(bag), tip="right_tool0")
    assert found is not None
    assert found.robot.joint_names[0] == "right_shoulder_pan_joint"
    assert main(["bag", "import", str(bag), "--tip", "right_tool0", "--output", str(tmp_path / "r.parquet")]) == 0
    assert iparam.Recording.load(tmp_path / "r.parquet").metadata["tool_frame"] == "right_tool0"
    describe(maker, urdf(UR_JOINTS), "/other/robot_description")
    with pytest.raises(InputError, match="2 different robot descriptions"):
        read_bag(maker.write("second"))


@pytest.mark.parametrize("text", ["<robot", "hello", "<mujoco/>", '<robot name="r"><link name="base"/></robot>'])
def test_a_description_of_no_arm_is_told(text: str, maker: BagMaker, fill: Callable[..., None]) -> None:
    describe(maker, text)
    fill(maker, 20)
    with pytest.raises(FileFormatError, match=r"robot_description of .*Or name the robot"):
        read_bag(maker.write())
    assert read_bag(maker.write("again"), "ur5e").has("wrench")  # it is not asked


def test_a_wrench_of_nothing_says_so(maker: BagMaker) -> None:
    for i in range(30):
        maker.joints(START + 2_000_000 * i, UR_JOINTS, [0.01 * i] * 6)
        maker.wrench(START + 2_000_000 * i, [float("nan")] * 6)
    bag = maker.write()
    with pytest.raises(FileFormatError, match=r"30 messages.*wrench_topic = none"):
        read_bag(bag, "ur5e")
    assert not read_bag(bag, "ur5e", NOTHING).has("wrench")


def test_without_a_description_the_robot_is_asked_for(maker: BagMaker, fill: Callable[..., None]) -> None:
    describe(maker, " ")
    fill(maker, 20)
    with pytest.raises(InputError, match=r"robot_description.*robot="):
        read_bag(maker.write())
