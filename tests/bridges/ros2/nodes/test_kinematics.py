"""The kinematics node against the library and, independently, against Pinocchio on a URDF that others wrote."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam

NODE = "/iparam_kinematics"
ARRAYS = ("joint_positions", "joint_velocities", "joint_accelerations")
SAMPLES = 8


@pytest.fixture
def arm(example_robot_urdf: Callable[[str], Path]) -> tuple[Path, iparam.Robot]:
    path = example_robot_urdf("ur5")
    return path, iparam.load_robot(path, tip="tool0")


def set_parameter(peer: Any, name: str, value: object) -> Any:
    from rclpy.parameter import Parameter
    from rclpy.parameter_client import AsyncParameterClient

    client = AsyncParameterClient(peer.node, NODE)
    peer.until(client.services_are_ready, "no parameter services")
    future = client.set_parameters([Parameter(name, value=value)])
    peer.until(future.done, "no answer")
    return future.result().results[0]


UNANSWERED = 5
"""States that may be on their way: half of the messages that the node keeps for a reader who is late."""


def send_states(peer: Any, publishers: list[Any], states: np.ndarray, results: list[Any]) -> None:
    from std_msgs.msg import Float64MultiArray

    for state in states:
        before = len(results)
        for _ in range(10):  # a busy machine may tear a sample apart, which is dropped then
            for publisher, values in zip(publishers, state, strict=True):
                publisher.publish(Float64MultiArray(data=values.tolist()))
            end = time.monotonic() + 3.0
            while len(results) == before and time.monotonic() < end:
                peer.spin(0.02)
            if len(results) > before:
                break
        assert len(results) == before + 1


def test_arrays_in_both_frames(peer: Any, start_node: Callable[..., Any], arm: tuple[Path, iparam.Robot]) -> None:
    from geometry_msgs.msg import AccelStamped, TwistStamped
    from std_msgs.msg import Float64MultiArray

    pin = pytest.importorskip("pinocchio")
    path, robot = arm
    node = start_node("kinematics", robot=path, tip="tool0")
    publishers = [peer.publisher(Float64MultiArray, name) for name in ARRAYS]
    velocities, accelerations, twists = (
        peer.listen(Float64MultiArray, f"tool0_{name}") for name in ("velocity", "acceleration", "twist")
    )
    stamped = (
        peer.listen(TwistStamped, "tool0_velocity_stamped"),
        peer.listen(AccelStamped, "tool0_acceleration_stamped"),
    )
    peer.connected(*publishers)
    states = np.random.default_rng(3).uniform(-2.0, 2.0, (2 * SAMPLES, 3, 6))
    publishers[0].publish(Float64MultiArray(data=[0.0] * 5))  # not this arm's
    publishers[1].publish(Float64MultiArray(data=[0.0, np.nan, 0.0, 0.0, 0.0, 0.0]))
    send_states(peer, publishers, states[:SAMPLES], twists)
    refused = set_parameter(peer, "frame", "world")
    assert not refused.successful
    assert refused.reason == "parameter frame must be one of tool, base, got 'world'"
    assert not set_parameter(peer, "robot", "ur10").successful
    assert set_parameter(peer, "frame", "base").successful
    send_states(peer, publishers, states[SAMPLES:], twists)
    peer.until(lambda: min(len(velocities), len(accelerations), *map(len, stamped)) == 2 * SAMPLES, "all outputs")

    model = pin.buildModelFromUrdf(str(path))
    data, frame = model.createData(), model.getFrameId("tool0")
    for k, (q, dq, ddq) in enumerate(states):
        tool = k < SAMPLES
        axes = pin.LOCAL if tool else pin.LOCAL_WORLD_ALIGNED
        pin.forwardKinematics(model, data, q, dq, ddq)
        velocity = pin.getFrameVelocity(model, data, frame, axes).vector  # [v, omega], as in the topics
        acceleration = pin.getFrameClassicalAcceleration(model, data, frame, axes).vector
        reference = np.concatenate([velocity, acceleration])
        ours = iparam.tool_motion(robot, q, dq, ddq)
        ours = ours if tool else ours.in_base()
        whole = np.concatenate(
            [ours.linear_velocity, ours.angular_velocity, ours.linear_acceleration, ours.angular_acceleration]
        )
        np.testing.assert_array_equal(twists[k].data, whole)
        np.testing.assert_allclose(twists[k].data, reference, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(np.concatenate([velocities[k].data, accelerations[k].data]), whole)
        expected_frame = "tool0" if tool else robot.base_frame
        assert stamped[0][k].header.frame_id == stamped[1][k].header.frame_id == expected_frame
        linear, angular = stamped[0][k].twist.linear, stamped[1][k].accel.angular
        assert [linear.x, linear.y, linear.z] == whole[:3].tolist()
        assert [angular.x, angular.y, angular.z] == whole[9:].tolist()
    assert twists[0].layout.dim[0].label == "vx,vy,vz,wx,wy,wz,ax,ay,az,alphax,alphay,alphaz"
    assert node.stop() == 0
    assert "joint_positions needs 6 finite numbers" in node.text


def test_no_output_mixes_two_samples(
    peer: Any, start_node: Callable[..., Any], ur5e: iparam.Robot, status_of: Callable[..., Any]
) -> None:
    """Arrays at 100 Hz; in every tenth sample one of them is lost, doubled, or sent after the next one's."""
    from diagnostic_msgs.msg import DiagnosticArray
    from std_msgs.msg import Float64MultiArray

    start_node("kinematics", robot="ur5e")
    publishers = [peer.publisher(Float64MultiArray, name) for name in ARRAYS]
    twists, reports = peer.listen(Float64MultiArray, "tool0_twist", 1000), peer.listen(DiagnosticArray, "/diagnostics")
    peer.connected(*publishers)
    states = np.random.default_rng(5).uniform(-2.0, 2.0, (280, 3, 6))
    faults = {10 * i + 10: (kind, topic) for i, (kind, topic) in enumerate(np.ndindex(3, 3))}
    faults |= {k + 100: fault for k, fault in faults.items()} | {k + 190: fault for k, fault in faults.items()}
    faults[0] = (0, 0)  # the very first one
    sent = [0, 0, 0]
    late: list[int] = []
    begin = time.monotonic()
    for k, state in enumerate(states):
        while (wait := begin + 0.01 * k - time.monotonic()) > 0.0:
            time.sleep(wait)
        kind, broken = faults.get(k, (-1, -1))
        for topic in range(3):
            copies = 1 if topic != broken else (0, 2, 0)[kind]
            for values in [state[topic]] * copies + [states[k - 1, topic]] * (topic in late):
                publishers[topic].publish(Float64MultiArray(data=values.tolist()))
                sent[topic] += 1
        late = [broken] if kind == 2 else []
        peer.drain()

    def counted(what: str) -> list[int]:
        found = status_of(reports, NODE[1:]) or {}
        return [int(found.get(f"{name}.{what}", 0)) for name in ARRAYS]

    peer.until(lambda: counted("received") == sent, "all arrays")
    motion = iparam.tool_motion(ur5e, *states.transpose(1, 0, 2))
    truth = np.hstack(
        [motion.linear_velocity, motion.angular_velocity, motion.linear_acceleration, motion.angular_acceleration]
    )
    rows = [int(np.argmin(np.abs(truth - np.array(message.data)).max(axis=1))) for message in twists]
    found = np.array([message.data for message in twists])
    np.testing.assert_allclose(found, truth[rows], rtol=1e-12, atol=1e-12)
    assert rows == sorted(set(rows))
    unusable = {k for k, (kind, _) in faults.items() if kind != 1} | {
        k + 1 for k, (kind, _) in faults.items() if kind == 2
    }
    assert not set(rows) & unusable
    assert len(rows) > 0.3 * len(states)  # a busy machine tears samples apart, which are dropped then
    report = status_of(reports, NODE[1:])
    assert int(report["sets"]) == len(rows)
    assert min(counted("dropped")) >= 12


def test_joint_states(
    peer: Any,
    start_node: Callable[..., Any],
    ur5e: iparam.Robot,
    joint_state: Callable[..., Any],
    status_of: Callable[..., Any],
) -> None:
    """Names in any order; velocities as they are; accelerations, which the message lacks, from the filter."""
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
    from geometry_msgs.msg import AccelStamped, TwistStamped
    from sensor_msgs.msg import JointState

    start_node("kinematics", robot="ur5e", rate=500.0)
    states = peer.listen(DiagnosticArray, "/diagnostics")
    publisher = peer.publisher(JointState, "joint_states")
    velocities, accelerations = (
        peer.listen(TwistStamped, "tool0_velocity_stamped", 2000),
        peer.listen(AccelStamped, "tool0_acceleration_stamped", 2000),
    )
    peer.connected(publisher)
    count, start = 1000, 1_700_000_000_000_000_000
    t, speed = 0.002 * np.arange(count)[:, None], np.array([1.1, 1.3, 1.7, 2.3, 2.9, 3.1])
    q, dq, ddq = np.sin(speed * t), speed * np.cos(speed * t), -(speed**2) * np.sin(speed * t)
    order = [3, 0, 5, 1, 4, 2]
    names = ("gripper", *(ur5e.joint_names[i] for i in order))
    for k in range(count):
        stamp = start + 2_000_000 * k
        state = joint_state(names, stamp, np.append(0.1, q[k][order]), np.append(0.0, dq[k][order]))
        publisher.publish(state)
        if k == 500:
            publisher.publish(state)  # once more
            publisher.publish(joint_state(names, stamp - 5, np.append(0.1, q[k][order])))  # late
            publisher.publish(joint_state(names, stamp + 1, np.full(7, np.nan), np.full(7, np.nan)))
            publisher.publish(joint_state(("gripper",), stamp + 2, np.zeros(1)))
        if k % UNANSWERED == 0:
            peer.until(lambda k=k: len(velocities) > k - UNANSWERED, "the velocities so far")
    peer.until(lambda: len(velocities) == count, "all velocities")
    truth = iparam.tool_motion(ur5e, q, dq, ddq)
    found = np.array([[m.twist.linear.x, m.twist.linear.y, m.twist.linear.z] for m in velocities])
    np.testing.assert_allclose(found, truth.linear_velocity, atol=1e-12)
    peer.spin(0.5)
    assert count - 60 < len(accelerations) < count  # while the filter settles there are none
    rows = np.array([round((m.header.stamp.sec * 10**9 + m.header.stamp.nanosec - start) / 2e6) for m in accelerations])
    found = np.array([[m.accel.linear.x, m.accel.linear.y, m.accel.linear.z] for m in accelerations])
    later, reached = rows > 200, truth.linear_acceleration[rows]
    relative_error = np.sqrt(np.mean((found - reached)[later] ** 2) / np.mean(reached[later] ** 2))
    assert relative_error < 0.15  # the filter is causal, and late by some 20 ms
    accelerations.clear()
    for k in range(count, count + 50):  # the arm jumps by 3 rad, which none does
        publisher.publish(joint_state(ur5e.joint_names, start + 2_000_000 * k, q[-1] + 3.0 * np.eye(6)[1], dq[-1]))
        peer.spin(0.005)
    peer.until(lambda: int((status_of(states, NODE[1:]) or {}).get("withheld", 0)) > 0, "what is withheld")
    levels = {status.level for each in states for status in each.status if status.name == NODE[1:]}
    assert DiagnosticStatus.ERROR in levels
    fastest = 4.0 * np.pi * 15.0 * ur5e.limits.velocity.max()  # of any joint [rad/s^2]
    assert all(abs(m.accel.angular.x) < 6 * fastest for m in accelerations)


def test_what_no_arm_can_do_is_withheld(
    peer: Any,
    start_node: Callable[..., Any],
    ur5e: iparam.Robot,
    joint_state: Callable[..., Any],
    status_of: Callable[..., Any],
) -> None:
    """Neither velocities that a driver measured, nor velocities and accelerations that come as arrays."""
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
    from geometry_msgs.msg import TwistStamped
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    start_node("kinematics", robot="ur5e")
    reports = peer.listen(DiagnosticArray, "/diagnostics")
    velocities = peer.listen(TwistStamped, "tool0_velocity_stamped", 2000)
    twists = peer.listen(Float64MultiArray, "tool0_twist", 1000)
    joints = peer.publisher(JointState, "joint_states")
    arrays = [peer.publisher(Float64MultiArray, name) for name in ARRAYS]
    peer.connected(joints, *arrays)

    def withheld() -> int:
        return int((status_of(reports, NODE[1:]) or {}).get("withheld", 0))

    fast = 2.5 * ur5e.limits.velocity
    for k, dq in enumerate((fast, -fast, np.full(6, 1e200), 0.5 * ur5e.limits.velocity)):
        joints.publish(joint_state(ur5e.joint_names, 10**18 + 2_000_000 * k, np.zeros(6), dq))
    peer.until(lambda: len(velocities) == 1 and withheld() == 3, "one velocity of four")
    state, still = np.array([0.1, -1.2, 1.3, -1.0, -1.5, 0.2]), np.zeros(6)
    for dq, ddq in ((fast, still), (still, np.full(6, 1e6)), (still, np.full(6, 1e300))):
        before = withheld()
        for _ in range(10):  # a busy machine may tear a sample apart, which is dropped then
            for publisher, values in zip(arrays, (state, dq, ddq), strict=True):
                publisher.publish(Float64MultiArray(data=values.tolist()))
            peer.spin(1.5)
            if withheld() > before:
                break
        assert withheld() > before
    assert not twists
    send_states(peer, arrays, np.array([[state, 0.1 + still, 1.0 + still]]), twists)
    levels = {status.level for each in reports for status in each.status if status.name == NODE[1:]}
    assert DiagnosticStatus.ERROR in levels
