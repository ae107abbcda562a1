"""How the identification node begins: where its robot comes from, what it says it waits for, and who manages it."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.sensing.correction import wrench_transform

NODE = "iparam_identification"
START = 1_700_000_000_000_000_000
PERIOD = 2_000_000
URDF = Path(__file__).parents[3] / "data" / "sample_robot.urdf"
SOON = 3.5
"""Seconds in which what is missing is said: three, and what it takes for the message to arrive."""


def said(states: list[Any]) -> tuple[bytes, dict[str, str]]:
    """Level and values of the newest diagnostics of the node: "remarks" are its codes."""
    for array in reversed(states):
        for status in array.status:
            if status.name == NODE:
                return status.level, {pair.key: pair.value for pair in status.values}
    return b"", {}


def codes(states: list[Any]) -> list[str]:
    """Of the remarks in the newest diagnostics of the node."""
    return said(states)[1].get("remarks", "").split(", ")


class Stream:
    """Joint states and wrenches of an arm at rest, from the peer, as the clock goes."""

    def __init__(self, peer: Any, robot: iparam.Robot, joint_state: Any, wrench_stamped: Any) -> None:
        from geometry_msgs.msg import WrenchStamped
        from sensor_msgs.msg import JointState

        self.peer, self.names, self.frame = peer, robot.joint_names, robot.tool_frame
        self.joints, self.wrenches = peer.publisher(JointState, "joint_states"), peer.publisher(WrenchStamped, "wrench")
        self.make, self.count = (joint_state, wrench_stamped), 0
        rest = np.zeros(robot.num_joints)
        self.pose = rest + 0.3
        self.wrench = (
            iparam.wrench_regressor(robot, self.pose, rest, rest)
            @ iparam.InertialParameters.box(2.0, (0.1, 0.1, 0.1)).phi
        )
        self.random = np.random.default_rng(0)

    def send(self, samples: int, apart: int = 0, names: tuple[str, ...] = (), sign: float = 1.0) -> None:
        """Publish samples; the wrench's stamps ``apart`` [ns] from those of the joints."""
        for _ in range(samples):
            stamp = START + self.count * PERIOD
            noisy = self.wrench + np.repeat([0.5, 0.05], 3) * self.random.standard_normal(6)
            self.joints.publish(self.make[0](names or self.names, stamp, self.pose))
            self.wrenches.publish(self.make[1](stamp + apart, sign * noisy, self.frame))
            self.count += 1
            if self.count % 20 == 0:
                self.peer.drain()


def test_the_robot_comes_from_its_description_and_what_is_missing_is_said(
    peer: Any, start_node: Callable[..., Any], joint_state: Any, wrench_stamped: Any
) -> None:
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
    from geometry_msgs.msg import InertiaStamped, WrenchStamped
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from std_msgs.msg import String

    states = peer.listen(DiagnosticArray, "/diagnostics")
    inertias = peer.listen(InertiaStamped, "inertia")
    elsewhere = peer.publisher(WrenchStamped, "/sensor/wrench")
    node = start_node("identify", bias="none", rate=500.0)
    peer.until(lambda: states, "diagnostics")
    begin = time.monotonic()
    peer.until(lambda: "description-unpublished" in codes(states), "what it waits for", SOON)
    assert time.monotonic() - begin < SOON
    assert said(states)[0] == DiagnosticStatus.WARN
    values = said(states)[1]
    assert values["description-unpublished.topic"] == "/robot_description"
    assert values["description-unpublished.type"] == "std_msgs/msg/String"
    assert "/robot_description (std_msgs/msg/String)" in node.text

    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    description = peer.node.create_publisher(String, "robot_description", latched)
    description.publish(String(data="<robot name='broken'><link name='a'>"))
    peer.until(lambda: said(states)[0] == DiagnosticStatus.ERROR, "the broken description")
    assert codes(states) == ["description-refused"]
    assert "nothing is missing any more" not in node.text
    description.publish(String(data=URDF.read_text(encoding="utf-8")))
    peer.until(lambda: "identifying what" in node.text, "the robot")
    peer.until(lambda: "topic-unpublished" in codes(states), "the missing joint states", SOON)
    values = said(states)[1]
    assert values["topic-unpublished.topic"] == "/joint_states"
    assert (values["topic-elsewhere.topic"], values["topic-elsewhere.others"]) == ("/wrench", "/sensor/wrench")
    peer.node.destroy_publisher(elsewhere)

    robot = iparam.load_robot(URDF)
    stream = Stream(peer, robot, joint_state, wrench_stamped)
    peer.connected(stream.joints, stream.wrenches)
    hang_sensor_on_tf(peer, stream, robot, lambda: said(states)[1].get("messages-refused.reason", ""))
    for code, name, wanted, options in (
        ("joints-not-found", "found", "of a, b", {"names": ("a", "b")}),
        ("stamps-apart", "seconds", "5", {"apart": 5_000_000_000}),
    ):
        if "names" in options:
            stream.pose = np.zeros(2)
        end = time.monotonic() + 2 * SOON
        while said(states)[1].get(f"{code}.{name}") != wanted:
            assert time.monotonic() < end, f"{wanted!r} is not in {said(states)}"
            stream.send(20, **options)
            peer.spin(0.05)
        stream.pose = np.full(robot.num_joints, 0.3)
    stream.count += 10_000  # later than all before
    stream.send(700)
    peer.until(lambda: inertias, "the load")
    assert inertias[-1].inertia.m == pytest.approx(2.0, rel=0.02)
    assert np.isnan(inertias[-1].inertia.ixx)
    assert inertias[-1].header.frame_id == robot.tool_frame
    assert node.stop() == 0
    assert "Traceback" not in node.text


@pytest.mark.skipif(find_spec("tf2_msgs") is not None, reason="a sourced ROS 2 has tf2_msgs")
def test_without_the_types_of_tf_what_is_missing_is_said(
    peer: Any, start_node: Callable[..., Any], joint_state: Any, wrench_stamped: Any
) -> None:
    from diagnostic_msgs.msg import DiagnosticArray

    node = start_node("identify", sourced=False, robot=str(URDF))
    states = peer.listen(DiagnosticArray, "/diagnostics")
    stream = Stream(peer, iparam.load_robot(URDF), joint_state, wrench_stamped)
    peer.connected(stream.joints, stream.wrenches)
    stream.frame = "ft_measure"
    end = time.monotonic() + 2 * SOON
    while "apt install ros-$ROS_DISTRO-tf2-msgs" not in said(states)[1].get("messages-refused.reason", ""):
        assert time.monotonic() < end, said(states)
        stream.send(20)
        peer.spin(0.05)
    assert node.stop() == 0
    assert "Traceback" not in node.text


def hang_sensor_on_tf(peer: Any, stream: Stream, robot: iparam.Robot, words: Callable[[], str]) -> None:
    """Measure in a frame that only TF has, turned and shifted, behind another one; first without it."""
    from geometry_msgs.msg import TransformStamped
    from rclpy.qos import DurabilityPolicy, QoSProfile

    kind = importlib.import_module("tf2_msgs.msg").TFMessage
    publisher = peer.node.create_publisher(
        kind, "/tf_static", QoSProfile(depth=5, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    )
    stream.frame, stream.pose = "ft_measure", np.zeros(2)
    end = time.monotonic() + 2 * SOON
    while "'ft_measure', which is none of" not in words() or "nothing has come on /tf_static and /tf" not in words():
        assert time.monotonic() < end, words()
        stream.send(20, names=("a", "b"))
        peer.spin(0.05)
    mount = TransformStamped(child_frame_id="ft_mount")
    mount.header.frame_id = robot.tool_frame
    mount.transform.translation.z, mount.transform.rotation.w = -0.05, 1.0
    sensor = TransformStamped(child_frame_id="ft_measure")
    sensor.header.frame_id = "ft_mount"
    sensor.transform.rotation.x, sensor.transform.rotation.w = 1.0, 0.0  # upside down
    publisher.publish(kind(transforms=[mount, sensor]))
    down = np.diag([1.0, -1.0, -1.0])
    force = down @ stream.wrench[:3]
    torque = down @ (stream.wrench[3:] + np.cross([0.0, 0.0, 0.05], stream.wrench[:3]))
    stream.wrench = np.concatenate([force, torque])


@pytest.mark.thorough
def test_a_quality_of_service_that_cannot_match_is_said(peer: Any, start_node: Callable[..., Any]) -> None:
    """And that somebody else has the node's name, and publishes loads where it does."""
    import rclpy
    from diagnostic_msgs.msg import DiagnosticArray
    from geometry_msgs.msg import InertiaStamped, WrenchStamped
    from rclpy.event_handler import PublisherEventCallbacks
    from rclpy.qos import qos_profile_sensor_data
    from std_msgs.msg import String

    states = peer.listen(DiagnosticArray, "/diagnostics")
    quiet = PublisherEventCallbacks(use_default_callbacks=False)
    peer.node.create_publisher(WrenchStamped, "wrench", qos_profile_sensor_data, event_callbacks=quiet)
    node = start_node("identify", robot="ur5e", reliable=True)
    peer.until(lambda: states, "diagnostics")
    peer.until(lambda: "quality-of-service" in codes(states), "the policy", SOON)
    values = said(states)[1]
    assert values["quality-of-service.policy"] == "RELIABILITY"
    assert (values["quality-of-service.topic"], values["quality-of-service.publishers"]) == ("/wrench", "peer")
    assert "rivals" not in said(states)[1]
    rival = peer.node.create_publisher(InertiaStamped, "inertia", 1)
    double = rclpy.create_node(NODE, context=peer.node.context, enable_rosout=False, start_parameter_services=False)
    peer.until(lambda: said(states)[1].get("load-published-twice.others") == "/peer", "the rival", SOON)
    peer.until(lambda: said(states)[1].get("node-name-shared.count") == "2", "the name", SOON)
    assert f"2 nodes are called /{NODE}" in node.text
    peer.node.destroy_publisher(rival)
    double.destroy_node()
    assert node.stop() == 0
    # A description that is not latched was published before this node came, and never comes.
    peer.node.create_publisher(String, "robot_description", 1, event_callbacks=quiet)
    states.clear()
    second = start_node("identify")
    peer.until(lambda: said(states)[1].get("quality-of-service.policy") == "DURABILITY", "the description")
    assert second.stop() == 0


def test_a_lifecycle_manager_and_parameters_that_change(
    peer: Any, start_node: Callable[..., Any], joint_state: Any, wrench_stamped: Any, status_of: Any, tmp_path: Path
) -> None:
    from diagnostic_msgs.msg import DiagnosticArray
    from geometry_msgs.msg import InertiaStamped
    from lifecycle_msgs.srv import ChangeState, GetState
    from rcl_interfaces.srv import SetParameters
    from rclpy.parameter import Parameter

    def ask(kind: Any, service: str, request: Any) -> Any:
        client = peer.node.create_client(kind, f"/{NODE}/{service}")
        peer.until(client.service_is_ready, f"no service {service}")
        future = client.call_async(request)
        peer.until(future.done, f"no answer from {service}")
        peer.node.destroy_client(client)
        return future.result()

    def transition(number: int) -> bool:
        request = ChangeState.Request()
        request.transition.id = number
        return bool(ask(ChangeState, "change_state", request).success)

    def state() -> str:
        return str(ask(GetState, "get_state", GetState.Request()).current_state.label)

    def put(name: str, value: Any) -> Any:
        entry = Parameter(name, value=value).to_parameter_msg()
        return ask(SetParameters, "set_parameters", SetParameters.Request(parameters=[entry])).results[0]

    configure, cleanup, activate, deactivate = 1, 2, 3, 4
    robot = iparam.load_robot("ur5e")
    states, inertias = peer.listen(DiagnosticArray, "/diagnostics"), peer.listen(InertiaStamped, "inertia")
    rotation, offset = (0.0, 30.0, 90.0), (0.0, 0.01, 0.03)
    setup = iparam.sensing.Setup("ur5e", sensor_rotation=rotation, sensor_offset=offset, zeroed="without load")
    setup.save(tmp_path / "setup.toml")
    words = ("--lifecycle", "--setup", str(tmp_path / "setup.toml"))
    node = start_node("identify", *words, rate=500.0, output=tmp_path / "out.json")
    assert state() == "unconfigured"
    assert not transition(activate)
    assert transition(configure)
    assert state() == "inactive"
    stream = Stream(peer, robot, joint_state, wrench_stamped)
    stream.wrench = np.linalg.solve(wrench_transform(np.array(rotation), np.array(offset)), stream.wrench)
    peer.connected(stream.joints, stream.wrenches)
    stream.send(100)
    peer.until(lambda: int((status_of(states, NODE) or {}).get("idle", 0)) >= 90, "samples that are not used")
    assert inertias == []
    assert transition(activate)
    stream.send(600)
    peer.until(lambda: inertias, "the load")
    assert inertias[-1].inertia.m == pytest.approx(2.0, rel=0.02)

    assert not put("robot", "ur10e").successful  # set at the start only
    refused = put("wrench_frame", "elbow")
    assert not refused.successful
    assert "unknown wrench_frame 'elbow'" in refused.reason
    assert put("measures", "reaction").successful
    inertias.clear()
    stream.send(600, sign=-1.0)
    peer.until(lambda: inertias, "the load by a reversed sensor")
    assert inertias[-1].inertia.m == pytest.approx(2.0, rel=0.02)

    assert transition(deactivate)
    assert transition(cleanup)
    assert (tmp_path / "out.json").exists()
    assert state() == "unconfigured"
    peer.until(lambda: stream.joints.get_subscription_count() == 0, "the subscription's end")
    assert transition(configure)
    assert transition(activate)
    assert state() == "active"
    assert node.stop() == 0
    assert "Traceback" not in node.text
