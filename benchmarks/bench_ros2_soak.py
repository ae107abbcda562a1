"""The identification node at 500 Hz for minutes: latency, lost messages, memory.

    python benchmarks/bench_ros2_soak.py --minutes 10

This process publishes joint states and wrenches, the node is another one with its default (best-effort) inputs. Latency
is what the node reports on /diagnostics: from the moment that the middleware received the message that completed a
sample until the sample was processed and, where due, published. Its windows are 5000 samples long, 10 s. On a virtual
machine the host may take the cores away, which no program can mend: the kernel counts that time ("steal"), so windows
are also listed by themselves in which it took next to nothing.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from array import array
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from side_by_side import print_table

import iparam

NODE = "iparam_identification"
PERIOD = 0.002
CYCLE = 20.0
"""Period of the motion [s]."""
CALM = 0.005
"""Share of the cores' time that the host may take in a window that counts as undisturbed."""


def memory(pid: int) -> float:
    """Resident set [MB]."""
    return int(Path(f"/proc/{pid}/status").read_text(encoding="utf-8").split("VmRSS:")[1].split()[0]) / 1024.0


def processor_time(pid: int) -> float:
    """Of a process so far [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stolen() -> tuple[float, float]:
    """Time that the host has taken from the cores since they started, and all of their time [s, added up]."""
    fields = [int(word) for word in Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()[1:9]]
    return fields[7] / os.sysconf("SC_CLK_TCK"), sum(fields) / os.sysconf("SC_CLK_TCK")


def readings(robot: iparam.Robot, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles, speeds and wrenches of a periodic motion with 2 kg, with a UR5e's noise, new for every sample."""
    random = np.random.default_rng(0)
    t = PERIOD * np.arange(round(CYCLE / PERIOD))[:, None]
    speed = 2.0 * np.pi / CYCLE * np.array([2, 3, 3, 5, 7, 8])  # whole periods: the end joins the start
    q, dq, ddq = 0.4 * np.sin(speed * t), 0.4 * speed * np.cos(speed * t), -0.4 * speed**2 * np.sin(speed * t)
    load = iparam.InertialParameters.box(2.0, (0.1, 0.1, 0.2)).phi
    wrench = iparam.wrench_regressor(robot, q, dq, ddq) @ load
    places = np.arange(count) % len(t)
    q, wrench = q[places], wrench[places]
    q += 5e-5 * random.standard_normal(q.shape)
    wrench += np.array([0.5] * 3 + [0.05] * 3) * random.standard_normal(wrench.shape)
    return q, dq[places], wrench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    minutes = parser.parse_args().minutes
    os.environ |= {"ROS_DOMAIN_ID": str(1 + os.getpid() % 100), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    process = subprocess.Popen([sys.executable, "-m", "iparam", "ros2", "identify", "-p", "robot:=ur5e"])
    try:
        rows = soak(process, minutes)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    header = [f"{minutes:g} min at 500 Hz", ""]
    print_table("The node and its publisher", header, [list(row) for row in rows])


def soak(process: subprocess.Popen[bytes], minutes: float) -> list[tuple[str, str]]:
    pid = process.pid
    rclpy.init()
    node = rclpy.create_node("soak")
    joints = node.create_publisher(JointState, "joint_states", 1000)
    wrenches = node.create_publisher(WrenchStamped, "wrench", 1000)
    states: list[dict[str, str]] = []
    taken: list[tuple[float, float]] = []  # at each of them

    def diagnostics(message: DiagnosticArray) -> None:
        states.extend({pair.key: pair.value for pair in s.values} for s in message.status if s.name == NODE)
        taken.extend([stolen()] * (len(states) - len(taken)))

    node.create_subscription(DiagnosticArray, "/diagnostics", diagnostics, 10)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    robot, count = iparam.load_robot("ur5e"), round(60.0 * minutes / PERIOD)
    q, dq, values = readings(robot, count)
    state, measured = JointState(name=list(robot.joint_names)), WrenchStamped()
    measured.header.frame_id = "tool0"
    force, torque = measured.wrench.force, measured.wrench.torque
    while not states or not wrenches.get_subscription_count():
        executor.spin_once(timeout_sec=0.1)
        if process.poll() is not None:
            raise SystemExit(f"the node has ended with code {process.returncode}")
    sizes, stalls = [], 0
    begin, first, busy = time.monotonic(), time.time_ns(), processor_time(pid)
    due, wakes = begin, np.zeros(count)
    for k in range(count):
        state.position, state.velocity = array("d", q[k]), array("d", dq[k])
        force.x, force.y, force.z, torque.x, torque.y, torque.z = values[k].tolist()
        wait = due - time.monotonic()
        if wait > 0.0:
            time.sleep(wait)
        wakes[k] = time.monotonic() - due
        if wait < -PERIOD:  # an arm's driver that was held up does not send what it missed in one go
            stalls, due = stalls + 1, due - wait
        due += PERIOD
        now = first + round(k * PERIOD * 1e9)
        for message in (state, measured):
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 10**9)
        joints.publish(state)
        wrenches.publish(measured)
        if k % 250 == 0:
            executor.spin_once(timeout_sec=0.0)
            sizes.append(memory(pid))
    spent = time.monotonic() - begin
    busy = (processor_time(pid) - busy) / spent
    end = time.monotonic() + 15.0
    while time.monotonic() < end and int(states[-1]["wrench.received"]) < count:
        executor.spin_once(timeout_sec=0.1)  # the last states are still to come
    last = states[-1]
    node.destroy_node()
    rclpy.shutdown()
    windows = range(12, len(states), 10)
    high = np.array([float(states[i]["latency_p99_ms"]) for i in windows] or [float(last["latency_p99_ms"])])
    middle = [float(states[i]["latency_p50_ms"]) for i in windows] or [float(last["latency_p50_ms"])]
    lost = np.array([np.subtract(taken[i], taken[i - 10]) for i in windows] or [np.subtract(taken[-1], taken[0])])
    calm = high[lost[:, 0] <= CALM * lost[:, 1]]
    warm = sizes[min(20, len(sizes) - 1)]
    return [
        ("sent, each topic", str(count)),
        ("received: joint states, wrenches", f"{last['joint_states.received']}, {last['wrench.received']}"),
        ("lost by the stamps: joint states, wrenches", f"{last['joint_states.lost']}, {last['wrench.lost']}"),
        ("samples matched, unmatched", f"{last['matched']}, {last['unmatched']}"),
        ("latency p50", f"{np.median(middle):.2f} ms"),
        ("latency p99, all samples", f"{float(last['latency_ever_p99_ms']):.1f} ms"),
        ("latency p99, median and worst of the 10 s windows", f"{np.median(high):.2f} ms, {max(high):.2f} ms"),
        (
            f"the same, of windows in which the host took less than {100 * CALM:g} % of the cores",
            f"{np.median(calm):.2f} ms, {calm.max():.2f} ms; {calm.size} of {high.size}" if calm.size else "none",
        ),
        ("the host took, of both cores", f"{100 * lost[:, 0].sum() / lost[:, 1].sum():.1f} %"),
        ("latency, largest", f"{float(last['latency_ever_ms']):.1f} ms"),
        (
            "for comparison: how late the publisher itself woke up, p50, p99, largest",
            f"{1e3 * np.median(wakes):.2f} ms, {1e3 * np.percentile(wakes, 99):.2f} ms, {1e3 * wakes.max():.1f} ms",
        ),
        ("the publisher was held up by more than a period", f"{stalls} times; {count / spent:.1f} Hz"),
        ("the node's share of a core", f"{busy:.2f}"),
        ("memory of the node after 10 s, at the end", f"{warm:.1f} MB, {sizes[-1]:.1f} MB"),
        ("mass", f"{last.get('mass_kg', '-')} +- {last.get('mass_deviation_kg', '-')} kg (2 kg)"),
    ]


if __name__ == "__main__":
    main()
