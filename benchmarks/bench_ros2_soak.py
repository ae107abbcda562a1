"""The live nodes at 500 Hz for minutes, with faults: what they publish beside the truth, latency, losses, memory.

    python benchmarks/bench_ros2_soak.py --minutes 10

This process publishes joint states and wrenches of an arm that carries 2 kg all the time. The identification node and
the compensation node are two more processes with their default (best-effort) inputs. Every few seconds a fault is mixed
in: messages that are back-dated, have no stamp or one in the far future, come in floods, or have no numbers. All that
the nodes publish is compared with the truth. The exit code is 1 if a number is off or a change of load is announced.

Latency is what the identification node reports on /diagnostics: from the moment that the middleware received the
message that completed a sample until the sample was processed and, where due, published. Its windows are 5000 samples
long, 10 s. On a virtual machine the host may take the cores away, which no program can mend: the kernel counts that
time ("steal"), so windows are also listed by themselves in which it took next to nothing.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import subprocess
import sys
import time
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from numpy.typing import ArrayLike
from rclpy.node import Node
from sensor_msgs.msg import JointState
from side_by_side import print_table
from std_msgs.msg import Float64MultiArray

import iparam
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.joint_motion_filter import WELL
from iparam.bridges.ros2.messages import write_body
from iparam.bridges.ros2.nodes.live_identification import LEAST_DELAY
from iparam.spatial.phi import inertia_entries

NODES = {"identify": "iparam_identification", "compensate": "iparam_compensation"}
PERIOD = 0.002
CYCLE = 20.0
"""Period of the motion [s]."""
SWING, SPEED = 0.4, 2.0 * np.pi / CYCLE * np.array([2, 3, 3, 5, 7, 8])
BOX = iparam.InertialParameters.box(2.0, (0.1, 0.1, 0.2))
LOAD = BOX.phi
BIAS = np.array([3.0, -2.0, 5.0, 0.1, 0.2, -0.1])
"""Of the sensor: what the compensation, which is not told of it, has to leave [N, N m]."""
ANGLES, NOISE = 5e-5, np.array([0.5] * 3 + [0.05] * 3)
"""Standard deviations of an angle [rad] and a wrench [N, N m]."""
ACCELERATION = 0.462
"""That of an acceleration of the compensation's filter, by the Riccati equation [rad/s^2]."""
FARTHEST = 7.0
"""Standard deviations that no number of the soak is beyond: one of 1e9 is, by chance."""
FAULTS = ("back-dated", "no stamp", "far future", "flood, one stamp", "flood, many stamps", "not a number")
FLOOD = 300
SETTLED, PAUSE = 300_000_000, 20_000_000
"""Time after a fault, or a pause of more than the latter, until the motion is known as well as ever [ns]."""
MOST_LOST = 0.5
"""Share of the samples that has to come back for the comparison to mean something: a busy host loses some."""
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


@dataclass(frozen=True, eq=False)
class Arm:
    """An arm in periodic motion with a load of 2 kg, whose sensor has a bias."""

    robot: iparam.Robot

    def motion(self, time: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, dq, ddq (..., n) at times (...) [s]."""
        angle = SPEED * np.asarray(time)[..., None]
        return SWING * np.sin(angle), SWING * SPEED * np.cos(angle), -SWING * SPEED**2 * np.sin(angle)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """(6,) by how much a compensated wrench may be off the bias, and in addition while the motion is not known."""
        q, dq, ddq = self.motion(np.linspace(0.0, CYCLE, 500))
        there = iparam.wrench_regressor(self.robot, q, dq, ddq) @ LOAD
        still = iparam.wrench_regressor(self.robot, q, 0.0 * q, 0.0 * q) @ LOAD
        squares = NOISE**2
        for joint in np.eye(len(SPEED)):
            moved = iparam.wrench_regressor(self.robot, q, dq, ddq + ACCELERATION * joint) @ LOAD
            squares = squares + (moved - there) ** 2
        return FARTHEST * np.sqrt(squares).max(axis=0), np.abs(there - still).max(axis=0)


class Stream:
    """Publishes samples of an arm, and faults among them."""

    def __init__(self, node: Node, arm: Arm) -> None:
        self._arm, self._random = arm, np.random.default_rng(0)
        self._joints = node.create_publisher(JointState, "joint_states", 1000)
        self._wrenches = node.create_publisher(WrenchStamped, "wrench", 1000)
        self._state, self._measured = JointState(name=list(arm.robot.joint_names)), WrenchStamped()
        self._measured.header.frame_id = "tool0"
        self.begin = time.time_ns()

    @property
    def connected(self) -> bool:
        return min(each.get_subscription_count() for each in (self._joints, self._wrenches)) == 2

    def sample(self, now: int) -> None:
        """Measure at a time [ns], and publish with that stamp."""
        q, dq, ddq = self._arm.motion(1e-9 * (now - self.begin))
        wrench = iparam.wrench_regressor(self._arm.robot, q, dq, ddq) @ LOAD + BIAS
        self._fill(q + ANGLES * self._random.standard_normal(q.size), dq, wrench + NOISE * self._random.normal(size=6))
        self._publish(now)

    def fault(self, kind: str, now: int) -> None:
        """Publish the latest sample again as it should not be."""
        if kind == "back-dated":
            for age in (0.1, 0.5, 10.0):
                self._publish(now - round(age * 1e9))
        elif kind == "no stamp":
            self._publish(0)
        elif kind == "far future":
            self._publish((2**31 - 1) * 10**9 + 999_999_999)
        elif kind == "flood, one stamp":
            for _ in range(FLOOD):
                self._publish(now)
        elif kind == "flood, many stamps":
            for k in range(FLOOD):
                self._publish(now + 1_000 * k)
        else:
            self._fill(np.full(SPEED.size, np.nan), np.full(SPEED.size, np.inf), np.full(6, -np.inf))
            self._publish(now + 1_000_000)

    def _fill(self, q: np.ndarray, dq: np.ndarray, wrench: np.ndarray) -> None:
        self._state.position, self._state.velocity = array("d", q), array("d", dq)
        force, torque = self._measured.wrench.force, self._measured.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench.tolist()

    def _publish(self, stamp: int) -> None:
        for message, publisher in ((self._state, self._joints), (self._measured, self._wrenches)):
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
            publisher.publish(message)


class Listener:
    """Keeps what the nodes publish."""

    def __init__(self, node: Node) -> None:
        self.states: dict[str, list[dict[str, str]]] = {name: [] for name in NODES.values()}
        self.taken: list[tuple[float, float]] = []  # by the host, at each state of the identification
        self.wrenches: list[tuple[int, ...]] = []  # stamp, and the six numbers
        self.errors: list[str] = []
        self.events: list[str] = []
        self.masses: list[tuple[float, float]] = []  # and their standard deviations [kg]
        self._mass = 0.0
        self._inputs = InputNode(node)
        self._inputs.subscribe(DiagnosticArray, "/diagnostics", self._diagnostics, 10)
        self._inputs.subscribe(WrenchStamped, "wrench_compensated", self._wrench, 5_000)
        self._inputs.subscribe(DiagnosticStatus, "load_event", self._event, 100)
        self._inputs.subscribe(InertiaStamped, "inertia", self._inertia, 1_000)
        self._inputs.subscribe(Float64MultiArray, "inertia_deviation", self._deviation, 1_000)

    def listen(self, timeout: float = 0.0) -> None:
        self._inputs.wait(timeout)

    def _diagnostics(self, message: DiagnosticArray, info: object) -> None:
        for status in message.status:
            if status.name in self.states:
                self.states[status.name].append({pair.key: pair.value for pair in status.values})
                if status.level == DiagnosticStatus.ERROR:
                    self.errors.append(f"{status.name}: {status.message}")
        self.taken.extend([stolen()] * (len(self.states[NODES["identify"]]) - len(self.taken)))

    def _wrench(self, message: WrenchStamped, info: object) -> None:
        force, torque, stamp = message.wrench.force, message.wrench.torque, message.header.stamp
        self.wrenches.append(
            (stamp.sec * 10**9 + stamp.nanosec, force.x, force.y, force.z, torque.x, torque.y, torque.z)
        )

    def _event(self, message: DiagnosticStatus, info: object) -> None:
        self.events.append(", ".join([message.message, *(f"{pair.key} {pair.value}" for pair in message.values)]))

    def _inertia(self, message: InertiaStamped, info: object) -> None:
        self._mass = message.inertia.m

    def _deviation(self, message: Float64MultiArray, info: object) -> None:
        self.masses.append((self._mass, message.data[0]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--every", type=float, default=4.0, metavar="SECONDS", help="time between faults, 0 for none")
    options = parser.parse_args()
    os.environ |= {"ROS_DOMAIN_ID": str(1 + os.getpid() % 100), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    words = [sys.executable, "-m", "iparam", "ros2"]
    elsewhere = ["-r", "inertia:=true_inertia", "-r", "sensor_bias:=true_bias"]
    processes = [
        subprocess.Popen([*words, name, "-p", "robot:=ur5e", *(elsewhere * (name != "identify"))]) for name in NODES
    ]
    try:
        rows, wrong = soak(processes, options.minutes, options.every)
    finally:
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            process.wait(timeout=30)
    print_table("The nodes and the arm", [f"{options.minutes:g} min at 500 Hz", ""], [list(row) for row in rows])
    for text in wrong:
        print(f"WRONG: {text}")
    return bool(wrong)


def soak(
    processes: list[subprocess.Popen[bytes]], minutes: float, every: float
) -> tuple[list[tuple[str, str]], list[str]]:
    rclpy.init()
    node = rclpy.create_node("soak")
    arm, listener = Arm(iparam.load_robot("ur5e")), Listener(node)
    stream = Stream(node, arm)
    true_load = node.create_publisher(InertiaStamped, "true_inertia", 1)
    body = InertiaStamped()
    write_body(body.inertia, np.array([*BOX.phi[:1], *BOX.center_of_mass, *inertia_entries(BOX.inertia_about_com)]))
    identifying = processes[0].pid
    while not stream.connected or not all(listener.states.values()) or not true_load.get_subscription_count():
        listener.listen(0.1)
        if ended := [process.returncode for process in processes if process.poll() is not None]:
            raise SystemExit(f"a node has ended with code {ended[0]}")
    true_load.publish(body)
    count, sizes, stalls, faults = round(60.0 * minutes / PERIOD), [], 0, []
    begin, busy, due = time.monotonic(), processor_time(identifying), time.monotonic()
    stream.begin, wakes, kinds = time.time_ns(), np.zeros(count), itertools.cycle(FAULTS)
    for k in range(count):
        wait = due - time.monotonic()
        if wait > 0.0:
            time.sleep(wait)
        wakes[k] = time.monotonic() - due
        if wait < -PERIOD:  # an arm's driver that was held up does not send what it missed in one go
            stalls, due = stalls + 1, due - wait
        due += PERIOD
        now = time.time_ns()
        stream.sample(now)
        if every and k and k % round(every / PERIOD) == 0:
            faults.append(now)
            stream.fault(next(kinds), now)
        listener.listen()
        if k % 250 == 0:
            sizes.append(memory(identifying))
    spent, end = time.monotonic() - begin, time.monotonic() + 5.0
    busy = (processor_time(identifying) - busy) / spent
    while time.monotonic() < end:
        listener.listen(0.1)  # the last messages are still to come
    node.destroy_node()
    rclpy.shutdown()
    values, wrong = compared(arm, listener, stream.begin, faults, count)
    states, last = listener.states[NODES["identify"]], listener.states[NODES["identify"]][-1]
    windows = range(12, len(states), 10)
    high = np.array([float(states[i]["latency_p99_ms"]) for i in windows] or [float(last["latency_p99_ms"])])
    middle = [float(states[i]["latency_p50_ms"]) for i in windows] or [float(last["latency_p50_ms"])]
    taken = listener.taken
    lost = np.array([np.subtract(taken[i], taken[i - 10]) for i in windows] or [np.subtract(taken[-1], taken[0])])
    calm = high[lost[:, 0] <= CALM * lost[:, 1]]
    return [
        *values,
        ("sent, each topic, without the faults", str(count)),
        ("received: joint states, wrenches", f"{last['joint_states.received']}, {last['wrench.received']}"),
        ("lost by the stamps: joint states, wrenches", f"{last['joint_states.lost']}, {last['wrench.lost']}"),
        ("samples matched, unmatched", f"{last['matched']}, {last['unmatched']}"),
        ("latency p50", f"{np.median(middle):.2f} ms"),
        ("latency p99, median and worst of the 10 s windows", f"{np.median(high):.2f} ms, {max(high):.2f} ms"),
        (
            f"the same, of windows in which the host took less than {100 * CALM:g} % of the cores",
            f"{np.median(calm):.2f} ms, {calm.max():.2f} ms; {calm.size} of {high.size}" if calm.size else "none",
        ),
        ("the host took, of both cores", f"{100 * lost[:, 0].sum() / lost[:, 1].sum():.1f} %"),
        ("latency, largest", f"{max(float(state['latency_max_ms']) for state in states):.1f} ms"),
        (
            "for comparison: how late the publisher itself woke up, p50, p99, largest",
            f"{1e3 * np.median(wakes):.2f} ms, {1e3 * np.percentile(wakes, 99):.2f} ms, {1e3 * wakes.max():.1f} ms",
        ),
        ("the publisher was held up by more than a period", f"{stalls} times; {count / spent:.1f} Hz"),
        ("the identification's share of a core", f"{busy:.2f}"),
        ("its memory after 10 s, at the end", f"{sizes[min(20, len(sizes) - 1)]:.1f} MB, {sizes[-1]:.1f} MB"),
    ], wrong


def compared(
    arm: Arm, listener: Listener, begin: int, faults: list[int], count: int
) -> tuple[list[tuple[str, str]], list[str]]:
    """Rows about all that was published beside the truth, and what of it is wrong."""
    within, unknown = arm.bounds()
    stamps = np.array([row[0] for row in listener.wrenches], dtype=np.int64)
    errors = np.abs(np.array([row[1:] for row in listener.wrenches]).reshape(-1, 6) - BIAS)
    # The motion is not known at the start and after a pause, be it by a fault or of this process.
    known = np.concatenate([[False], np.diff(stamps) < PAUSE]) if stamps.size else np.zeros(0, bool)
    for at in [begin, *faults, *stamps[~known].tolist()]:
        known &= (stamps < at - SETTLED) | (stamps > at + SETTLED)
    shares = errors / np.where(known[:, None], within, WELL * within + unknown)
    masses = np.array(listener.masses).reshape(-1, 2)
    off = np.abs(masses[:, 0] - BOX.mass) / masses[:, 1]
    wrong = [f"a change of load was announced: {text}" for text in listener.events]
    wrong += [f"diagnostics: {text}" for text in listener.errors]
    for k in np.flatnonzero(~(shares < 1.0).all(axis=1))[:20]:
        wrong.append(f"a wrench {1e-9 * (stamps[k] - begin):.3f} s after the start is off by {errors[k].tolist()}")
    wrong += [f"a mass of {mass:.4f} +- {one:.4f} kg" for mass, one in masses[~(off < FARTHEST)][:20].tolist()]
    delays = [
        float(state["wrench_delay_s"]) for state in listener.states[NODES["identify"]] if "wrench_delay_s" in state
    ]
    if max(map(abs, delays)) >= LEAST_DELAY:
        wrong.append(f"delays of the wrench up to {max(map(abs, delays)):.4g} s were found (there was none)")
    if stamps.size < MOST_LOST * count or not masses.size:
        wrong.append(f"only {stamps.size} wrenches and {len(masses)} loads were published")
    last = listener.states[NODES["compensate"]][-1]
    return [
        ("faults", f"{len(faults)}: {', '.join(FAULTS)}"),
        ("changes of load announced (there was none)", str(len(listener.events))),
        ("compensated wrenches: compared, withheld", f"{stamps.size}, {last['withheld']}"),
        (
            "the largest error of a force and a torque, motion known",
            f"{errors[known][:, :3].max():.2f} N, {errors[known][:, 3:].max():.3f} N m",
        ),
        ("allowed", f"{within[:3].max():.2f} N, {within[3:].max():.3f} N m"),
        (
            "the same while it is not",
            f"{errors[~known][:, :3].max():.2f} N, {errors[~known][:, 3:].max():.3f} N m",
        ),
        (
            "loads compared; the largest error of the mass, and in its standard deviations",
            f"{len(masses)}; {np.abs(masses[:, 0] - BOX.mass).max():.4f} kg, {off.max():.2f}",
        ),
        ("the last mass", f"{masses[-1, 0]:.4f} +- {masses[-1, 1]:.4f} kg ({BOX.mass:g} kg)"),
    ], wrong


if __name__ == "__main__":
    sys.exit(main())
