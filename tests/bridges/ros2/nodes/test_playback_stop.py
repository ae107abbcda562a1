"""`~/stop` and the end of the playback node: a stop is one when the arm stands still, whatever the controller does."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.bridges.arm_sight import AT_REST
from iparam.bridges.ros2.nodes.playing.played_motion import CONFIRM_TIME

NODE = "/iparam_playback"
HERE = Path(__file__).parent
GOOD = HERE.parents[2] / "data" / "optimized_ur5e.json"
START = iparam.load_trajectory(GOOD).trajectory.evaluate(0.0).q[0]
STOP_TIME = 0.25
LONGEST = STOP_TIME + CONFIRM_TIME + 5.0
"""Until a stop is answered, on a machine that others use [s]."""
OK, WARN, ERROR = b"\x00", b"\x01", b"\x02"


class Scene:
    """A playback node, an arm in another process, and what there is to see of both."""

    def __init__(self, peer: Any, start_node: Callable[..., Any], environment: dict[str, str], folder: Path) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String

        self.peer, self._start_node, self._environment, self._folder = peer, start_node, environment, folder
        self.doubles: list[subprocess.Popen[bytes]] = []
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.states = peer.listen(String, f"{NODE}/state", latched)
        self.diagnostics = peer.listen(DiagnosticArray, "/diagnostics")
        self.joints = peer.listen(JointState, "/joint_states")
        self._orders = peer.publisher(String, "/double")
        self.node: Any = None

    def arm(self, *orders: str, q: np.ndarray = START) -> None:
        """Start the arm."""
        names = iparam.load_robot("ur5e").joint_names
        angles = ",".join(str(float(value)) for value in q)
        with (self._folder / f"double{len(self.doubles)}").open("wb") as out:
            words = [sys.executable, str(HERE / "arm_double.py"), ",".join(names), angles, *orders]
            self.doubles.append(subprocess.Popen(words, env=self._environment, stdout=out, stderr=out))
        self.peer.until(lambda: "ready" in self.heard, "the arm")
        self.peer.connected(self._orders)

    @property
    def heard(self) -> str:
        """What the newest arm was asked."""
        return (self._folder / f"double{len(self.doubles) - 1}").read_text(encoding="utf-8")

    def order(self, *words: str) -> None:
        from std_msgs.msg import String

        for word in words:
            self._orders.publish(String(data=word))
        self.peer.spin(0.3)

    def kill(self) -> None:
        self.doubles[-1].kill()
        self.doubles[-1].wait()

    def play(self, interface: str, moving: bool = True, **parameters: object) -> None:
        """Start the node and the motion, and wait until the arm moves."""
        self.node = self._start_node(
            "play", "-r", "joint_trajectory:=/controller/joint_trajectory", trajectory=GOOD, scale=0.5, **parameters
        )
        self.peer.until(lambda: self.states, "the node")
        if interface == "action":
            self.peer.until(lambda: "trajectories go to the action" in self.node.text, "the action")
        self.play_again()
        if moving:
            self.peer.until(lambda: self.speed > 5 * AT_REST, "a motion")

    def play_again(self) -> None:
        """Play, as soon as it is possible."""
        end = time.monotonic() + 20.0
        while not (answer := self.peer.call(f"{NODE}/play")).success:
            assert time.monotonic() < end, answer.message
            self.peer.spin(0.2)
        assert self.state == "playing"

    @property
    def speed(self) -> float:
        """Of the fastest joint, by the latest joint state [rad/s]."""
        return float(np.abs(self.joints[-1].velocity).max())

    @property
    def state(self) -> str:
        self.peer.spin(0.1)
        return str(self.states[-1].data)

    def moves(self) -> bool:
        """Whether the arm truly moves, in the next second in which it is seen."""
        self.peer.spin(0.1)
        self.joints.clear()
        self.peer.until(lambda: len(self.joints) > 20, "joint states")
        self.peer.spin(1.0)
        return bool(np.ptp([message.position for message in self.joints], axis=0).max() > 1e-3)

    def level(self) -> bytes:
        """On /diagnostics, by the next message."""
        count = len(self.diagnostics)
        self.peer.until(lambda: len(self.diagnostics) > count, "diagnostics")
        return bytes(self.diagnostics[-1].status[0].level)

    def phase(self) -> str:
        return {pair.key: pair.value for pair in self.diagnostics[-1].status[0].values}["phase"]

    def stop(self) -> tuple[bool, float]:
        """Call ~/stop: whether it succeeded, and how long that took [s]."""
        begun = time.monotonic()
        answer = self.peer.call(f"{NODE}/stop")
        return answer.success, time.monotonic() - begun

    def stopped(self) -> None:
        """A stop that is one."""
        success, took = self.stop()
        assert success
        assert took < LONGEST
        assert not self.moves()
        assert self.level() == OK
        assert self.phase() == "stopped"
        assert self.errors == 0

    def not_stopped(self) -> None:
        """A stop that is none: everything says so, and nothing can be played."""
        errors = self.errors
        success, took = self.stop()
        assert not success
        assert took < LONGEST
        assert self.level() == ERROR
        assert self.phase() == "may still move"
        assert self.state.startswith("may still move")
        assert self.errors == errors + 1
        assert not self.peer.call(f"{NODE}/play").success

    @property
    def errors(self) -> int:
        """Lines of the log of that level."""
        return str(self.node.text).count("[ERROR]")

    def settles(self, phase: str) -> None:
        """The node finds out by itself that the arm is at rest."""
        self.peer.until(lambda: self.diagnostics[-1].status[0].level != ERROR, "an end of it", 20.0)
        assert self.phase() == phase
        assert not self.moves()

    def ends(self, number: int, code: int) -> None:
        """The node ends with a code, and a sentence if it is not 0."""
        self.node.command.send_signal(number)
        end = time.monotonic() + STOP_TIME + CONFIRM_TIME + 5.0
        while self.node.command.poll() is None:
            assert time.monotonic() < end
            self.peer.spin(0.05)
        assert self.node.command.poll() == code, self.node.text
        said = [line for line in self.node.text.splitlines() if line.startswith("iparam: error: ")]
        assert len(said) == (code != 0)
        assert "Traceback" not in self.node.text


@pytest.fixture
def scene(
    peer: Any, start_node: Callable[..., Any], ros_environment: dict[str, str], tmp_path: Path
) -> Iterator[Scene]:
    found = Scene(peer, start_node, ros_environment, tmp_path)
    yield found
    for process in found.doubles:
        process.terminate()
        try:
            process.wait(20.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.mark.parametrize("interface", ["topic", "action"])
def test_a_good_controller(scene: Scene, interface: str) -> None:
    scene.arm("hear", *(["serve"] if interface == "action" else []))
    scene.play(interface)
    scene.stopped()
    assert ("asked to cancel" in scene.heard) is (interface == "action")
    assert scene.stop()[0]  # once more: nothing is played, and the arm stands still
    scene.ends(signal.SIGINT, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("interface", ["topic", "action"])
@pytest.mark.thorough(keep=1)
def test_a_signal_stops_the_arm(scene: Scene, interface: str, number: int) -> None:
    scene.arm("hear", *(["serve"] if interface == "action" else []))
    scene.play(interface)
    scene.ends(number, 0)
    assert not scene.moves()


BAD = {  # what the controller is told before the stop, and how it is brought to rest in the end
    "refuses": ("action", ["refuse"], ["obey"]),
    "accepts and goes on": ("action", ["coast"], ["freeze"]),
    "vanishes and goes on": ("action", ["vanish"], ["freeze"]),
    "listens and goes on": ("topic", ["coast"], ["freeze"]),
    "listens no more and goes on": ("topic", ["deaf"], ["freeze"]),
    "is not to be seen": ("topic", ["blind"], ["show"]),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.thorough(keep=2)
def test_a_controller_that_does_not_stop(scene: Scene, case: str) -> None:
    interface, orders, rest = BAD[case]
    scene.arm("hear", "slow", *(["serve"] if interface == "action" else []))
    scene.play(interface)
    scene.order(*orders)
    scene.not_stopped()
    if case != "is not to be seen":
        assert scene.moves()  # so that it was right
    scene.not_stopped()
    scene.order(*rest)
    if rest == ["obey"]:
        assert scene.stop()[0]
        assert not scene.moves()
    else:
        scene.settles("stopped")
    answer = scene.peer.call(f"{NODE}/play")  # the arm is not at its start: that alone is in the way
    assert "from the start pose" in answer.message or "serves" in answer.message or "listens" in answer.message
    scene.ends(signal.SIGINT, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("case", BAD)
@pytest.mark.thorough(keep=1)
def test_a_signal_that_does_not_stop_the_arm(scene: Scene, case: str, number: int) -> None:
    interface, orders, _ = BAD[case]
    scene.arm("hear", *(["serve"] if interface == "action" else []))
    scene.play(interface)
    scene.order(*orders)
    scene.ends(number, 1)
    assert scene.errors
    assert scene.phase() == "may still move"
    assert case == "is not to be seen" or scene.moves()


@pytest.mark.parametrize("interface", ["action", "topic"])
@pytest.mark.thorough(keep=1)
def test_a_controller_that_dies(scene: Scene, interface: str) -> None:
    scene.arm("hear", *(["serve"] if interface == "action" else []))
    scene.play(interface)
    scene.kill()
    scene.not_stopped()
    scene.arm("hear", *(["serve"] if interface == "action" else []))  # at the start again
    scene.settles("stopped")
    scene.play_again()
    scene.peer.until(lambda: scene.speed > 5 * AT_REST, "a motion")
    success, _ = scene.stop()
    assert success
    assert not scene.moves()


@pytest.mark.thorough
def test_a_controller_that_dies_is_told_at_the_end(scene: Scene) -> None:
    scene.arm("hear", "serve")
    scene.play("action")
    scene.kill()
    scene.ends(signal.SIGTERM, 1)


def test_a_controller_that_appears_during_a_motion(scene: Scene) -> None:
    """The motion went by the topic, and is stopped by it."""
    scene.arm("hear")
    scene.play("topic")
    scene.order("serve")
    scene.peer.spin(1.0)
    scene.stopped()
    assert "asked to cancel" not in scene.heard
    scene.peer.until(lambda: "trajectories go to the action" in scene.node.text, "the action, after the motion")
    scene.ends(signal.SIGINT, 0)


@pytest.mark.thorough
def test_a_controller_that_answers_late(scene: Scene) -> None:
    scene.arm("hear", "serve")
    scene.play("action")
    scene.order("tardy")
    scene.stopped()
    scene.ends(signal.SIGINT, 0)


@pytest.mark.thorough
def test_a_goal_that_is_taken_after_the_stop(scene: Scene) -> None:
    """The arm stands still, and yet the motion may begin at any moment: it is cancelled as soon as it is taken."""
    scene.arm("hear", "serve", "tardy")
    scene.play("action", moving=False)
    assert not scene.peer.call(f"{NODE}/play").success
    success, took = scene.stop()
    assert success
    assert took > 1.0  # not before the controller has taken the goal and given it up
    assert "asked to cancel" in scene.heard
    assert not scene.moves()


@pytest.mark.parametrize("interface", ["action", "topic"])
@pytest.mark.thorough(keep=1)
def test_a_motion_that_has_hardly_begun(scene: Scene, interface: str) -> None:
    """The arm still stands at the start while the controller goes on: that is no stop."""
    scene.arm("hear", *(["serve", "refuse"] if interface == "action" else ["coast"]))
    scene.play(interface, moving=False)
    success, _ = scene.stop()
    assert not success
    assert scene.level() == ERROR
    scene.peer.until(lambda: scene.speed > 5 * AT_REST, "a motion that goes on", 15.0)


@pytest.mark.thorough
def test_a_controller_that_vanishes_is_told_without_a_stop(scene: Scene) -> None:
    scene.arm("hear", "serve", "slow")
    scene.play("action")
    scene.order("vanish")
    scene.peer.until(lambda: scene.diagnostics[-1].status[0].level == ERROR, "diagnostics", 10.0)
    assert scene.moves()
    assert scene.phase() == "may still move"
    scene.order("freeze")
    scene.settles("aborted")
    scene.order("serve")
    answer = scene.peer.call(f"{NODE}/play")
    assert not answer.success
    assert "from the start pose" in answer.message
    scene.ends(signal.SIGINT, 0)


def test_a_controller_that_gives_up_and_goes_on_is_told_without_a_stop(scene: Scene) -> None:
    scene.arm("hear", "serve", "slow")
    scene.play("action")
    scene.order("abandon")
    assert scene.state == "playing"
    scene.peer.until(lambda: scene.diagnostics[-1].status[0].level == ERROR, "diagnostics", 10.0)
    assert scene.moves()
    scene.not_stopped()
    scene.order("freeze")
    scene.settles("stopped")
    scene.ends(signal.SIGINT, 0)


@pytest.mark.thorough
def test_the_end_of_the_node_stops_an_arm_whose_controller_has_given_up(scene: Scene) -> None:
    scene.arm("hear", "serve", "slow")
    scene.play("action")
    scene.order("abandon")
    scene.ends(signal.SIGINT, 1)
    assert scene.moves()


@pytest.mark.thorough
def test_a_controller_that_comes_back_with_the_arm_at_rest(scene: Scene) -> None:
    scene.arm("hear", "serve", "slow")
    scene.play("action")
    scene.order("vanish")
    scene.peer.until(lambda: scene.diagnostics[-1].status[0].level == ERROR, "diagnostics", 10.0)
    scene.order("serve")
    scene.peer.spin(0.5)
    scene.order("freeze")
    scene.settles("aborted")
    assert "from the start pose" in scene.peer.call(f"{NODE}/play").message


@pytest.mark.thorough
def test_a_motion_by_topic_is_finished_when_the_arm_is_at_rest(scene: Scene) -> None:
    scene.arm("hear")
    scene.play("topic")
    scene.peer.until(lambda: scene.states[-1].data == "finished", "the end", 30.0)
    assert not scene.moves()
    assert scene.level() == OK
    scene.play_again()


@pytest.mark.thorough
def test_many_calls_of_stop_are_all_answered(scene: Scene) -> None:
    from std_srvs.srv import Trigger

    scene.arm("hear", "serve", "coast")
    scene.play("action")
    client = scene.peer.node.create_client(Trigger, f"{NODE}/stop")
    scene.peer.until(client.service_is_ready, "the service")
    calls = []
    for _ in range(5):
        calls.append(client.call_async(Trigger.Request()))
        scene.peer.spin(0.3)
    scene.peer.until(lambda: all(call.done() for call in calls), "answers", STOP_TIME + CONFIRM_TIME + 2.0)
    assert not any(call.result().success for call in calls)
