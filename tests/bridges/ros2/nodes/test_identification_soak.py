"""The live nodes at 500 Hz for a while: all that they publish is true, and the memory does not grow."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam

NODE = "iparam_identification"
SECONDS = 10.0
WARM_UP = 3.0
PERIOD = 0.002


@pytest.mark.thorough
def test_ten_seconds_at_500_hz(
    peer: Any,
    start_node: Callable[..., Any],
    ur5e: iparam.Robot,
    joint_state: Callable[..., Any],
    wrench_stamped: Callable[..., Any],
    status_of: Callable[..., Any],
) -> None:
    from diagnostic_msgs.msg import DiagnosticArray
    from geometry_msgs.msg import InertiaStamped, WrenchStamped
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    node = start_node("identify", robot="ur5e", reliable=True)
    joints, wrenches = peer.publisher(JointState, "joint_states"), peer.publisher(WrenchStamped, "wrench")
    states = peer.listen(DiagnosticArray, "/diagnostics")
    masses, deviations = (
        peer.listen(InertiaStamped, "inertia", 1_000),
        peer.listen(Float64MultiArray, "inertia_deviation", 1_000),
    )
    peer.connected(joints, wrenches)
    load = iparam.InertialParameters.box(2.0, (0.1, 0.1, 0.2)).phi
    count, random = round(SECONDS / PERIOD), np.random.default_rng(0)
    t = PERIOD * np.arange(count)[:, None]
    speed = 2.0 * np.pi * np.array([0.11, 0.13, 0.17, 0.29, 0.37, 0.41])
    q, dq, ddq = 0.4 * np.sin(speed * t), 0.4 * speed * np.cos(speed * t), -0.4 * speed**2 * np.sin(speed * t)
    deviation = np.array([0.5] * 3 + [0.05] * 3)
    wrench = iparam.wrench_regressor(ur5e, q, dq, ddq) @ load + deviation * random.standard_normal((count, 6))
    q += 5e-5 * random.standard_normal(q.shape)
    memory: list[tuple[float, int]] = []
    begin, start = time.monotonic(), time.time_ns()
    for k in range(count):
        stamp = start + round(k * PERIOD * 1e9)
        joint_message, wrench_message = (
            joint_state(ur5e.joint_names, stamp, q[k], dq[k]),
            wrench_stamped(stamp, wrench[k]),
        )
        while (wait := begin + k * PERIOD - time.monotonic()) > 0.0:
            time.sleep(min(wait, 0.001))
        joints.publish(joint_message)
        wrenches.publish(wrench_message)
        if k % 50 == 0:
            peer.drain()
            memory.append((time.monotonic() - begin, node.memory()))
    spent = time.monotonic() - begin
    peer.until(lambda: int((status_of(states, NODE) or {}).get("matched", 0)) == count, "all samples")
    found = status_of(states, NODE)
    assert int(found["used"]) == count - 50  # the first ones tell the rate
    assert found["unmatched"] == found["wrench.lost"] == found["joint_states.lost"] == "0"
    assert found["restarts"] == "0"
    assert len(masses) == len(deviations) > 100
    for one, other in zip(masses, deviations, strict=True):
        assert one.inertia.m == pytest.approx(2.0, abs=7.0 * other.data[0])
    memory.append((time.monotonic() - begin, node.memory()))
    settled = np.array([size for at, size in memory if at > WARM_UP], dtype=float)
    # A kilobyte kept from each of the thousand messages a second would be some 7 MB.
    assert settled[-10:].mean() - settled[:10].mean() < 2e6
    print(f"sent in {spent:.1f} s; latency p50 {found['latency_p50_ms']} ms, p99 {found['latency_p99_ms']} ms")
    assert node.stop() == 0


@pytest.mark.thorough
def test_half_a_minute_with_every_fault() -> None:
    """The soak of the benchmarks ends with 0 if all that both nodes publish is true, and no change is announced."""
    script = Path(__file__).resolve().parents[4] / "benchmarks" / "bench_ros2_soak.py"
    command = [sys.executable, str(script), "--minutes", "0.5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300.0, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
