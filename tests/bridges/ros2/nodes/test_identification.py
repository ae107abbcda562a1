"""The identification node on a simulated run, replayed over real ROS 2, with every fault that happens."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.estimation.estimate import Estimate
from iparam.sensing import noise_preset

NODE = "iparam_identification"
START = 1_700_000_000_000_000_000
PERIOD = 2_000_000
GRASP, RELEASE, SAVED = 3.0, 6.0, 9.6
EXTRA = iparam.InertialParameters.box(1.0, (0.05, 0.05, 0.05))


@pytest.fixture(scope="module")
def noisy(simulated: Any, ur5e: iparam.Robot) -> tuple[np.ndarray, ...]:
    """Angles, velocities and wrenches of 10 s with a UR5e's noise; another kilogram is held from 3 to 6 s."""
    recording, motion = noise_preset("ur5e").apply(simulated.recording, 4), simulated.true_motion
    signals = {name: recording.signal(name) for name in ("q", "dq", "wrench")}
    held = (signals["wrench"].time > GRASP) & (signals["wrench"].time < RELEASE)
    more = iparam.wrench_regressor(ur5e, motion.q, motion.dq, motion.ddq) @ EXTRA.phi
    wrench = signals["wrench"].values + more * held[:, None]
    return signals["q"].values, signals["dq"].values, wrench


@pytest.fixture(scope="module")
def bias(simulated: Any) -> np.ndarray:
    """(6,) of the sensor in `noisy`."""
    with_noise = noise_preset("ur5e").apply(simulated.recording, 4).signal("wrench").values
    return (with_noise - simulated.recording.signal("wrench").values).mean(axis=0)


FASTER = 3.0
"""Than the arm was: the node reckons with the stamps, not with the clock on the wall."""


def replay(peer: Any, events: list[tuple[float, Any, Any]]) -> None:
    """Publish messages in the order of their times [s], and let in what comes back."""
    begin = time.monotonic() - events[0][0] / FASTER
    for count, (at, publisher, message) in enumerate(events):
        while (wait := begin + at / FASTER - time.monotonic()) > 0.0:
            time.sleep(min(wait, 0.001))
        publisher.publish(message)
        if count % 20 == 0:
            peer.drain()


def test_a_run_with_every_fault(
    simulated: Any,
    bias: np.ndarray,
    peer: Any,
    start_node: Callable[..., Any],
    noisy: tuple[np.ndarray, ...],
    ur5e: iparam.Robot,
    joint_state: Callable[..., Any],
    wrench_stamped: Callable[..., Any],
    status_of: Callable[..., Any],
    tmp_path: Path,
) -> None:
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
    from geometry_msgs.msg import InertiaStamped, WrenchStamped
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    output = tmp_path / "result.json"
    node = start_node("identify", robot="ur5e", hold=0.01, rate=500.0, reliable=True, output=output)
    joints, wrenches = peer.publisher(JointState, "joint_states"), peer.publisher(WrenchStamped, "wrench")
    states, inertias = peer.listen(DiagnosticArray, "/diagnostics"), peer.listen(InertiaStamped, "inertia")
    covariances = peer.listen(Float64MultiArray, "inertia_covariance")
    qualities = peer.listen(Float64MultiArray, "inertia_quality")
    peer.connected(joints, wrenches)
    peer.until(lambda: (status_of(states, NODE) or {}).get("examiner") == "ready", "the process that examines")

    q, dq, measured = noisy
    count = len(q)
    faults = np.random.default_rng(0).permutation(np.arange(300, count - 300, 11))  # apart from each other
    lost, lost_joints, late, swapped, doubled, broken, broken_joints = (
        set(part.tolist()) for part in np.split(faults[:140], 7)
    )
    gap = set(range(2100, 2150))  # a tenth of a second
    lost, late = (lost - gap) | gap, late - gap
    swapped, doubled, broken = swapped - gap, doubled - gap, broken - gap
    order = np.random.default_rng(1).permutation(6)
    names = (*(ur5e.joint_names[i] for i in order), "gripper")
    events: list[tuple[float, Any, Any]] = []
    for k in range(count):
        stamp, at = START + k * PERIOD, 0.002 * k
        if k not in lost_joints:
            angles = np.append(q[k][order], 0.01)
            if k in broken_joints:
                angles[2] = np.nan
            events.append((at, joints, joint_state(names, stamp, angles, np.append(dq[k][order], 0.0))))
        if k in lost:
            continue
        values = measured[k].copy()
        if k in broken:
            values[4] = np.inf
        delay = 0.2 if k in late else 0.003 if k in swapped else 0.0
        events += [(at + delay, wrenches, wrench_stamped(stamp, values))] * (2 if k in doubled else 1)
    events.sort(key=lambda event: event[0])

    def replayed(begin: float, end: float) -> int:
        """Send what lies between two times [s]; how many wrenches were sent so far, all of which have come."""
        replay(peer, [event for event in events if begin <= event[0] < end])
        sent = sum(event[1] is wrenches for event in events if event[0] < end)
        peer.until(
            lambda: int((status_of(states, NODE) or {}).get("wrench.received", 0)) >= sent, "all wrenches received"
        )
        return sent

    replayed(0.0, GRASP)
    # To save is to examine: a busy machine may take longer than a load is held, and what was grasped has no name then.
    assert peer.call(f"/{NODE}/save").success
    replayed(GRASP, SAVED)
    assert peer.call(f"/{NODE}/save").success  # the first 2 s since the release would not show a base that is tilted
    sent = replayed(SAVED, np.inf)
    states.clear()
    peer.until(lambda: status_of(states, NODE), "diagnostics")
    found = status_of(states, NODE)
    used = count - len(lost) - len(late) - len(broken)
    last = int(0.01 / 0.002)  # those within the hold still wait
    expected = {
        "wrench.received": sent,
        "wrench.lost": len(lost),
        "wrench.late": len(late),
        "wrench.reordered": len(swapped),
        "wrench.duplicated": len(doubled),
        "wrench.not_finite": len(broken),
        "wrench.refused": 0,
        "joint_states.received": count - len(lost_joints),
        "joint_states.lost": len(lost_joints),
        "joint_states.not_finite": len(broken_joints),
        "unmatched": 0,
        "matched": used - last,
        "used": used - last,
        "gaps": 1,
        "restarts": 2,
    }
    assert {key: int(found[key]) for key in expected} == expected

    saved = peer.call(f"/{NODE}/save")
    assert saved.success, saved.message
    result = Estimate.load(output)
    assert json.loads(output.read_text(encoding="utf-8"))["format"] == "iparam-result/1"
    truth = simulated.truth.payload
    assert abs(result.mass - truth.mass) < 4.0 * result.standard_deviation.mass
    assert result.standard_deviation.mass < 0.012 * truth.mass  # 1 % is the gain of a laboratory's sensor
    assert (np.abs(result.center_of_mass - truth.center_of_mass) < 4.0 * result.standard_deviation.center_of_mass).all()
    assert 0 <= result.samples - qualities[-1].data[0] <= 100
    np.testing.assert_allclose(result.residual_rms.force, 0.5, rtol=0.1)
    np.testing.assert_allclose(result.sensor_bias.force, bias[:3], atol=0.2)

    for each in inertias:  # every mass is that of a load that hung there, but while a change is on its way
        stamp = (each.header.stamp.sec * 10**9 + each.header.stamp.nanosec - START) * 1e-9
        if not any(0.0 <= stamp - change < 0.5 for change in (GRASP, RELEASE)):
            carried = truth.mass + EXTRA.mass * (GRASP < stamp < RELEASE)
            assert each.inertia.m == pytest.approx(carried, rel=0.05), stamp
    newest = inertias[-1]
    assert newest.header.frame_id == "tool0"
    assert abs(newest.inertia.m - result.mass) < result.standard_deviation.mass
    com = [newest.inertia.com.x, newest.inertia.com.y, newest.inertia.com.z]
    np.testing.assert_allclose(com, result.center_of_mass, atol=1e-3)
    # About the centre of mass, as ROS has it: about the origin Ixx would be larger by m cz^2 = 0.02.
    np.testing.assert_allclose(newest.inertia.ixx, truth.inertia_about_com[0, 0], atol=4e-3)
    assert [dim.size for dim in covariances[-1].layout.dim] == [10, 10]
    assert covariances[-1].layout.dim[0].label == "m,mx,my,mz,Ixx,Ixy,Ixz,Iyy,Iyz,Izz"
    # Of the load now, which may have changed by some grams unnoticed; the file is about the samples.
    assert result.standard_deviation.mass < np.sqrt(covariances[-1].data[0]) < 0.012 * truth.mass
    quality = dict(zip(qualities[-1].layout.dim[0].label.split(","), qualities[-1].data, strict=True))
    assert quality["restarts"] == 2
    # What is not known of sensor and arm is in both, by the examination before and by that for the file.
    assert quality["relative_mass_deviation"] == pytest.approx(result.standard_deviation.mass / result.mass, rel=0.5)

    # Whoever comes late still learns of the changes of load.
    latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    events_seen = peer.listen(DiagnosticStatus, "load_event", latched)
    peer.until(lambda: len(events_seen) >= 4, "the changes of load")
    assert [event.message for event in events_seen] == ["changed", "grasp", "changed", "release"]
    at = [(int(event.values[0].value) - START) * 1e-9 for event in events_seen]
    assert GRASP < at[0] < GRASP + 0.3
    assert RELEASE < at[2] < RELEASE + 0.3
    assert float(events_seen[1].values[3].value) == pytest.approx(3.0, abs=0.2)

    assert peer.call(f"/{NODE}/stop").success
    for k in range(30):
        stamp = START + (count + k) * PERIOD
        joints.publish(joint_state(ur5e.joint_names, stamp, q[-1]))
        wrenches.publish(wrench_stamped(stamp, measured[-1]))
    peer.until(lambda: (status_of(states, NODE) or {}).get("idle") == "30", "samples while stopped")
    assert status_of(states, NODE)["used"] == str(used - last)
    assert peer.call(f"/{NODE}/start").success
    assert peer.call(f"/{NODE}/reset").success
    refused = peer.call(f"/{NODE}/save")
    assert not refused.success
    assert "nothing is known of the load yet" in refused.message
    assert node.stop() == 0
    assert "Traceback" not in node.text
    assert Estimate.load(output).samples == result.samples  # nothing new to write


def test_the_result_is_written_at_the_end(
    simulated: Any,
    peer: Any,
    start_node: Callable[..., Any],
    noisy: tuple[np.ndarray, ...],
    ur5e: iparam.Robot,
    joint_state: Callable[..., Any],
    wrench_stamped: Callable[..., Any],
    status_of: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """Sent as fast as it goes; the rate is that of the stamps. SIGTERM ends it."""
    from diagnostic_msgs.msg import DiagnosticArray
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import JointState

    output = tmp_path / "end.json"
    node = start_node("identify", robot="ur5e", reliable=True, bias="none", output=output)
    joints, wrenches = peer.publisher(JointState, "joint_states"), peer.publisher(WrenchStamped, "wrench")
    states = peer.listen(DiagnosticArray, "/diagnostics")
    peer.connected(joints, wrenches)
    q, _, measured = noisy
    for k in range(1400):
        joints.publish(joint_state(ur5e.joint_names, START + k * PERIOD, q[k]))
        wrenches.publish(wrench_stamped(START + k * PERIOD, measured[k]))
        if k % 50 == 0:
            peer.drain()
    peer.until(lambda: int((status_of(states, NODE) or {}).get("matched", 0)) == 1400, "all samples")
    assert float(status_of(states, NODE)["wrench_rate_hz"]) == pytest.approx(500.0)
    assert node.stop(signal.SIGTERM) == 0
    assert "written to" in node.text
    written = Estimate.load(output)
    assert written.sensor_bias is None
    assert abs(written.mass - simulated.truth.payload.mass) < 7.0 * written.standard_deviation.mass


def test_a_reversed_wrench_is_an_error_and_no_load(
    peer: Any,
    start_node: Callable[..., Any],
    simulated: Any,
    ur5e: iparam.Robot,
    joint_state: Callable[..., Any],
    wrench_stamped: Callable[..., Any],
    status_of: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """It is a load of -2 kg: nothing is published, the diagnostics name the cause, and what is saved is marked."""
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
    from geometry_msgs.msg import InertiaStamped, WrenchStamped
    from sensor_msgs.msg import JointState

    output = tmp_path / "reversed.json"
    node = start_node("identify", robot="ur5e", rate=500.0, reliable=True, output=output)
    joints, wrenches = peer.publisher(JointState, "joint_states"), peer.publisher(WrenchStamped, "wrench")
    states, inertias = peer.listen(DiagnosticArray, "/diagnostics"), peer.listen(InertiaStamped, "inertia")
    peer.connected(joints, wrenches)
    recording = noise_preset("ur5e").apply(simulated.recording, 4)
    q, wrench = recording.signal("q").values, -recording.signal("wrench").values
    for k in range(2500):
        joints.publish(joint_state(ur5e.joint_names, START + k * PERIOD, q[k]))
        wrenches.publish(wrench_stamped(START + k * PERIOD, wrench[k]))
        if k % 50 == 0:
            peer.drain()
    peer.until(lambda: int((status_of(states, NODE) or {}).get("matched", 0)) == 2500, "all samples")
    states.clear()
    peer.until(lambda: (status_of(states, NODE) or {}).get("refuted") == "True", "the verdict")
    (said,) = [status for status in states[-1].status if status.name == NODE]
    assert said.level == DiagnosticStatus.ERROR
    assert status_of(states, NODE)["remarks"] == "load-refuted"
    assert status_of(states, NODE)["load-refuted.causes"].startswith("wrench-sign")
    assert status_of(states, NODE)["cause"].startswith("wrench-sign")
    assert float(status_of(states, NODE)["mass_kg"]) == pytest.approx(-2.0, rel=0.01)
    assert inertias == []
    reply = peer.call(f"/{NODE}/save")
    assert not reply.success
    assert "; refuted: " in reply.message
    assert "Set measures to reaction" in reply.message
    saved = Estimate.load(output)
    assert saved.refutation is not None
    assert saved.assessment["causes"][0]["cause"] == "wrench-sign"
    assert node.stop() == 0


def test_a_file_that_is_no_result_is_not_replaced(refusal: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    trajectory = tmp_path / "t.json"
    trajectory.write_text('{"format": "iparam-trajectory/1"}', encoding="utf-8")
    code, text = refusal("identify", output=trajectory)
    assert code == 2
    assert "t.json exists and is a trajectory, and a result would take its place" in text
    assert trajectory.read_text(encoding="utf-8") == '{"format": "iparam-trajectory/1"}'
