"""Nodes in processes of their own, and a node in the test's process that talks to them; each test worker by itself."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import signal
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bridges.command_server import Command, CommandServer, inherited_path
from doubles.message_types.loading import load_types

import iparam
from iparam.cli.main import main

pytest.importorskip("rclpy")
with warnings.catch_warnings(), contextlib.suppress(ImportError):
    # Type supports import a parser that uses a deprecated module of Python's; rclpy itself does so on first use.
    warnings.simplefilter("ignore", DeprecationWarning)
    importlib.import_module("rosidl_generator_py")

ROOT = Path(__file__).resolve().parents[3]
DEADLINE = 60.0
"""Seconds after which waiting for something that has to happen has failed."""


@dataclasses.dataclass
class NodeProcess:
    """A node started by the command, as a user starts it."""

    command: Command

    @property
    def pid(self) -> int:
        return self.command.pid

    @property
    def text(self) -> str:
        return self.command.out + self.command.err

    def memory(self) -> int:
        """Resident set [bytes]."""
        fields = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").split("VmRSS:")[1].split()
        return int(fields[0]) * 1024

    def stop(self, number: int = signal.SIGINT) -> int:
        self.command.send_signal(number)
        return self.command.wait(DEADLINE)


class Peer:
    """The test's own node."""

    def __init__(self, node: Any, executor: Any) -> None:
        self.node, self._executor = node, executor

    def until(self, condition: Callable[[], object], what: str = "", timeout: float = DEADLINE) -> None:
        """Let messages in until something is the case."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                pytest.fail(f"waited {timeout:g} s in vain: {what}")
            self._executor.spin_once(timeout_sec=0.05)

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.01)

    def drain(self) -> None:
        """Let in what has come, without waiting."""
        self._executor.spin_once(timeout_sec=0.0)

    def listen(self, kind: Any, topic: str, qos: Any = 100) -> list[Any]:
        """A list that grows by the messages of a topic."""
        found: list[Any] = []
        self.node.create_subscription(kind, topic, found.append, qos)
        return found

    def publisher(self, kind: Any, topic: str, depth: int = 20_000) -> Any:
        from rclpy.qos import QoSProfile, ReliabilityPolicy

        return self.node.create_publisher(kind, topic, QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE))

    def connected(self, *publishers: Any) -> None:
        self.until(lambda: all(p.get_subscription_count() for p in publishers), "nobody subscribes")
        self.spin(0.3)  # the other side has to know of us, too

    def topics_of(self, name: str) -> set[str]:
        """The topics that a node is known to publish; none while it is not discovered, or is gone."""
        from rclpy.node import NodeNameNonExistentError

        try:
            return {topic for topic, _ in self.node.get_publisher_names_and_types_by_node(name, "/")}
        except NodeNameNonExistentError:
            return set()

    def call(self, service: str) -> Any:
        from std_srvs.srv import Trigger

        client = self.node.create_client(Trigger, service)
        self.until(client.service_is_ready, f"no service {service}")
        future = client.call_async(Trigger.Request())
        self.until(future.done, f"no answer from {service}")
        self.node.destroy_client(client)
        return future.result()


@pytest.fixture(scope="session")
def ros_environment() -> Iterator[dict[str, str]]:
    """A ROS domain on loopback that nobody else on this machine uses: a bound port is its lock."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as lock:
        for domain in np.random.default_rng().permutation(np.arange(1, 101)).tolist():
            try:
                lock.bind(("127.0.0.1", 21_000 + domain))
                break
            except OSError:
                continue
        values = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in values.items():
                patch.setenv(name, value)
            load_types()
            path = os.pathsep.join([str(ROOT / "src"), *inherited_path()])
            yield {**os.environ, **values, "PYTHONPATH": path}


@pytest.fixture
def peer(ros_environment: dict[str, str]) -> Iterator[Peer]:
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    context = rclpy.context.Context()
    rclpy.init(context=context, domain_id=int(ros_environment["ROS_DOMAIN_ID"]))
    node = rclpy.create_node("peer", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    yield Peer(node, executor)
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()


@pytest.fixture(scope="session")
def node_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandServer]:
    server = CommandServer("nodes", tmp_path_factory.mktemp("nodes"))
    yield server
    server.close()


@pytest.fixture
def start_node(
    ros_environment: dict[str, str], node_server: CommandServer, tmp_path: Path
) -> Iterator[Callable[..., NodeProcess]]:
    """A function that starts `iparam ros2 NAME` with options and parameters; what still runs at the end is killed."""

    def start(name: str, *options: str, sourced: bool = True, **parameters: object) -> NodeProcess:
        words = ("ros2", name, *options, "--ros-args", *_words(parameters))
        work = str(tmp_path)
        return NodeProcess(node_server.start(*words, environment=ros_environment, folder=work, sourced=sourced))

    yield start
    for command in node_server.commands:
        command.end()


@pytest.fixture
def refusal(
    ros_environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """A function that runs `iparam ros2 NAME` with parameters that end it: its exit code and all that it wrote.

    In this process: a new one would spend two seconds on imports.
    """
    monkeypatch.chdir(tmp_path)

    def run(name: str, **parameters: object) -> tuple[int, str]:
        code = main(["ros2", name, "--ros-args", *_words(parameters)])
        return code, "".join(capfd.readouterr())

    return run


def _words(parameters: dict[str, object]) -> list[str]:
    return [word for key, value in parameters.items() for word in ("-p", f"{key}:={_text(value)}")]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


@pytest.fixture(scope="session")
def ur5e() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="session")
def simulated(ur5e: iparam.Robot) -> Any:
    """10 s of the optimised motion with a box of 2 kg in MuJoCo: recording without noise, true motion."""
    pytest.importorskip("mujoco")
    from iparam.simulation import MujocoSimulator, Payload

    motion = iparam.load_trajectory(ROOT / "tests" / "data" / "optimized_ur5e.json").trajectory
    return MujocoSimulator().load(ur5e, Payload.box(size=(0.10, 0.15, 0.20), mass=2.0)).run(motion)


def _joint_state(names: tuple[str, ...], stamp: int, q: np.ndarray, dq: np.ndarray | None = None) -> Any:
    from sensor_msgs.msg import JointState

    message = JointState(name=list(names), position=q.tolist())
    if dq is not None:
        message.velocity = dq.tolist()
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(int(stamp), 1_000_000_000)
    return message


def _wrench(stamp: int, wrench: np.ndarray, frame: str = "tool0") -> Any:
    from geometry_msgs.msg import WrenchStamped

    message = WrenchStamped()
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(int(stamp), 1_000_000_000)
    for part, values in ((message.wrench.force, wrench[:3]), (message.wrench.torque, wrench[3:])):
        part.x, part.y, part.z = (float(value) for value in values)
    return message


@pytest.fixture(scope="session")
def joint_state() -> Callable[..., Any]:
    return _joint_state


@pytest.fixture(scope="session")
def wrench_stamped() -> Callable[..., Any]:
    return _wrench


def _status(arrays: list[Any], node: str) -> dict[str, str] | None:
    """The newest values on /diagnostics of a node."""
    for array in reversed(arrays):
        for status in array.status:
            if status.name == node:
                return {pair.key: pair.value for pair in status.values}
    return None


@pytest.fixture(scope="session")
def status_of() -> Callable[[list[Any], str], dict[str, str] | None]:
    return _status
