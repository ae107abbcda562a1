"""The compensation node: what is left of a wrench is what touches the tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.sensing import noise_preset

DATA = Path(__file__).resolve().parents[3] / "data"
START = 1_700_000_000_000_000_000
PERIOD = 2_000_000
NODE = "iparam_compensation"
UNANSWERED = 4
"""Wrenches that are sent ahead of what comes back: the node keeps ten for a reader that is slow, as a busy one is."""


def values_of(message: Any) -> np.ndarray:
    force, torque = message.wrench.force, message.wrench.torque
    return np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])


def test_at_rest_only_the_contact_is_left(
    peer: Any,
    start_node: Callable[..., Any],
    simulated: Any,
    ur5e: iparam.Robot,
    joint_state: Callable[..., Any],
    wrench_stamped: Callable[..., Any],
    status_of: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """Load and bias as identified from a noisy run; a sensor in the flange frame that reports the reaction."""
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import JointState

    noisy = noise_preset("ur5e").apply(simulated.recording, 7)
    estimate = iparam.identify_payload(noisy, ur5e)
    estimate.save(tmp_path / "result.json")
    bias = noisy.signal("wrench").values.mean(axis=0) - simulated.recording.signal("wrench").values.mean(axis=0)
    start_node(
        "compensate", robot="ur5e", result=tmp_path / "result.json", mode="static", measures="reaction", reliable=True
    )
    joints, wrenches = peer.publisher(JointState, "joint_states"), peer.publisher(WrenchStamped, "wrench")
    results = peer.listen(WrenchStamped, "wrench_compensated")
    states = peer.listen(DiagnosticArray, "/diagnostics")
    peer.connected(joints, wrenches)
    random = np.random.default_rng(0)
    poses = random.uniform(-2.0, 2.0, (30, 6))
    contact = random.uniform(-20.0, 20.0, (30, 6)) * [1, 1, 1, 0.1, 0.1, 0.1]
    rest = np.zeros(6)
    turn = iparam.forward_kinematics(ur5e, rest, "flange")[:3, :3].T @ iparam.forward_kinematics(ur5e, rest)[:3, :3]
    assert np.abs(turn - np.eye(3)).max() > 0.5  # the frames differ
    weight = iparam.wrench_regressor(ur5e, poses, np.zeros((30, 6)), np.zeros((30, 6))) @ simulated.truth.payload.phi
    in_flange = np.kron(np.eye(2), turn)
    for k in range(30):
        measured = -in_flange @ (weight[k] + contact[k] + bias)
        joints.publish(joint_state(ur5e.joint_names, START + k * PERIOD, poses[k]))
        wrenches.publish(wrench_stamped(START + k * PERIOD, measured, "flange"))
    peer.until(lambda: len(results) == 30, "all wrenches")
    assert {message.header.frame_id for message in results} == {"flange"}
    stamps = [message.header.stamp.sec * 10**9 + message.header.stamp.nanosec for message in results]
    assert stamps == [START + k * PERIOD for k in range(30)]
    residual = np.array([values_of(message) for message in results]) + contact @ in_flange.T
    # What is left over comes from the errors of the estimate: its noise of 0.5 N was averaged over 5000 samples.
    assert np.abs(residual[:, :3]).max() < 0.1
    assert np.abs(residual[:, 3:]).max() < 0.01
    # A wrench that would break the arm, and one of which nobody knows when it was, are withheld.
    for stamp, wrench in ((START + 30 * PERIOD, np.full(6, 1e6)), (0, weight[0])):
        joints.publish(joint_state(ur5e.joint_names, stamp, poses[0]))
        wrenches.publish(wrench_stamped(stamp, wrench, "flange"))
    peer.until(lambda: (status_of(states, NODE) or {}).get("wrench.refused") == "1", "the one without a stamp")
    assert status_of(states, NODE)["joint_states.refused"] == "1"
    assert status_of(states, NODE)["withheld"] == "1"
    levels = {status.level for each in states for status in each.status if status.name == NODE}
    assert DiagnosticStatus.ERROR in levels
    assert len(results) == 30


def test_a_load_in_another_frame_is_refused(refusal: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    document = json.loads((DATA / "sample_result.json").read_text(encoding="utf-8"))
    (tmp_path / "result.json").write_text(json.dumps({**document, "frame": "flange"}), encoding="utf-8")
    code, text = refusal("compensate", robot="ur5e", result=tmp_path / "result.json")
    assert code == 2
    assert "the load is given in the frame 'flange', and the tool frame of ur5e is 'tool0'" in text


@pytest.mark.parametrize("mode", ["static", "full"])
def test_in_motion_with_the_load_of_the_topic(
    peer: Any,
    start_node: Callable[..., Any],
    simulated: Any,
    ur5e: iparam.Robot,
    joint_state: Callable[..., Any],
    wrench_stamped: Callable[..., Any],
    status_of: Callable[..., Any],
    mode: str,
) -> None:
    """A simulated run without noise: full compensation leaves much less of it than static."""
    from diagnostic_msgs.msg import DiagnosticArray
    from geometry_msgs.msg import InertiaStamped, WrenchStamped
    from sensor_msgs.msg import JointState

    start_node("compensate", robot="ur5e", mode=mode, reliable=True, rate=500.0)
    joints, wrenches = peer.publisher(JointState, "joint_states"), peer.publisher(WrenchStamped, "wrench")
    inertia, bias = peer.publisher(InertiaStamped, "inertia"), peer.publisher(WrenchStamped, "sensor_bias")
    results = peer.listen(WrenchStamped, "wrench_compensated", 3000)
    states = peer.listen(DiagnosticArray, "/diagnostics")
    peer.connected(joints, wrenches, inertia, bias)
    load, offset = simulated.truth.payload, np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    message = InertiaStamped()
    message.header.frame_id = "tool0"
    message.inertia.m = load.mass
    message.inertia.com.x, message.inertia.com.y, message.inertia.com.z = load.center_of_mass.tolist()
    moments = load.inertia_about_com
    message.inertia.ixx, message.inertia.iyy, message.inertia.izz = np.diag(moments).tolist()
    message.inertia.ixy, message.inertia.ixz, message.inertia.iyz = moments[0, 1], moments[0, 2], moments[1, 2]
    inertia.publish(message)
    bias.publish(wrench_stamped(START, offset))
    peer.spin(0.5)
    signals = simulated.recording.signals
    q, measured = signals["q"].values, signals["wrench"].values + offset
    rows = range(1000, 3000)
    for k in rows:
        joints.publish(joint_state(ur5e.joint_names, START + k * PERIOD, q[k]))
        wrenches.publish(wrench_stamped(START + k * PERIOD, measured[k]))
        sent = k - rows.start
        if sent % UNANSWERED == 0:
            peer.until(lambda sent=sent: len(results) >= sent - UNANSWERED, "the wrenches so far")
    peer.until(lambda: len(results) == len(rows), "all wrenches")
    residual = np.array([values_of(message) for message in results])
    inertial = (signals["wrench"].values - resting(ur5e, q) @ load.phi)[1000:3000]
    known = len(rows) if mode == "static" else int(status_of(states, NODE)["settling"])
    assert mode == "static" or 10 < known < 50
    np.testing.assert_allclose(residual[:known], inertial[:known], atol=1e-3)  # nothing but the inertial forces
    if mode == "full":
        share = np.sqrt(np.mean(residual[known:] ** 2, axis=0) / np.mean(inertial[known:] ** 2, axis=0))
        assert share.max() < 0.3
        assert (np.abs(residual[known:]).max(axis=0) < np.abs(inertial).max(axis=0)).all()
    inertia.publish(InertiaStamped())  # withdrawn: from now on there is no load to take out
    peer.until(
        lambda: any(
            pair.key == "remarks" and "load-withdrawn" in pair.value
            for each in states
            for status in each.status
            for pair in status.values
        ),
        "the remark",
    )


def resting(robot: iparam.Robot, q: np.ndarray) -> np.ndarray:
    return iparam.wrench_regressor(robot, q, np.zeros_like(q), np.zeros_like(q))
