"""Who commands an arm stops it when nobody watches, and the controller when nobody commands: with real processes."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from doubles.ur_controller.arm import HOME
from doubles.ur_controller.twin import UrTwin

from iparam.bridges.ur.run.command_client import PORTS, ArmCommandError, ArmMotion
from iparam.bridges.ur.run.dead_mans_switch import DeadMansSwitch, now

pytest.importorskip("rtde_control")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs SIGSTOP")

SILENCE = 0.6  # s
SPEED = 0.3  # rad/s
AWAY = HOME + np.array([1.5, 0.0, 0.0, 0.0, 0.0, 0.0])  # of the first joint, 5 s at that speed


def wait_until(condition: Callable[[], bool], what: str, meanwhile: Callable[[], None] = lambda: None) -> None:
    deadline = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < deadline, f"not within 60 s: {what}"
        meanwhile()
        time.sleep(0.005)


def set_points(seconds: float, end: np.ndarray = AWAY) -> np.ndarray:
    """(T, 6) from `HOME`, to rest at both ends."""
    share = 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, round(500 * seconds)))
    return np.asarray(HOME + share[:, None] * (end - HOME))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_documented_ports_are_those_that_are_connected_to(twin: UrTwin) -> None:
    """What a firewall has to let through: seen from the system's table of connections."""
    address = "".join(f"{int(part):02X}" for part in reversed(twin.host.split(".")))
    seen: set[int] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.001):
            for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
                host, port = line.split()[2].split(":")
                if host == address:
                    seen.add(int(port, 16))

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ArmMotion(twin.host) as connected:
        connected.connect()
    done.set()
    watcher.join()
    page = (Path(__file__).parents[4] / "docs" / "platforms" / "real-robot.md").read_text(encoding="utf-8")
    documented = next(line for line in page.splitlines() if "Ports: " in line)
    assert seen == set(PORTS) == {int(port) for port in re.findall(r"\b\d{5}\b", documented)}


@pytest.fixture
def motion(twin: UrTwin) -> Iterator[ArmMotion]:
    with ArmMotion(twin.host) as connected:
        connected.connect()
        yield connected


def begin(how: str, motion: ArmMotion, twin: UrTwin) -> None:
    """Let it move under a guard, until it is well under way."""
    motion.load(set_points(8.0))
    motion.watch(SILENCE)
    if how == "move":
        motion.move(AWAY, SPEED, 2.0)
    else:
        motion.servo()
    wait_until(lambda: twin.sample.q[0] > 0.03, "the motion", lambda: motion.beat(now()))


def standing(twin: UrTwin) -> bool:
    return float(np.abs(twin.sample.dq).max()) < 1e-3


@pytest.mark.parametrize("how", ["move", "servo"])
def test_the_arm_stops_when_the_guard_looks_no_more(how: str, motion: ArmMotion, twin: UrTwin) -> None:
    begin(how, motion, twin)
    left = twin.time
    wait_until(lambda: standing(twin), "the arm at rest")
    assert twin.time - left < SILENCE + 1.5  # of the controller's time: to notice, and to brake
    assert AWAY[0] - twin.sample.q[0] > 0.3
    wait_until(lambda: motion.stopped, "its confirmation")
    assert motion.fault is not None
    assert "the guard did not look at the arm for" in motion.fault


@pytest.mark.parametrize("how", ["move", "servo"])
def test_the_controller_stops_the_arm_when_the_commands_stay_away(how: str, motion: ArmMotion, twin: UrTwin) -> None:
    begin(how, motion, twin)
    left = twin.time
    os.kill(motion.pid, signal.SIGSTOP)
    wait_until(
        lambda: any("client has been silent" in said for said in twin.notices),
        "the end of the program",
        lambda: motion.beat(now()),
    )
    wait_until(lambda: standing(twin), "the arm at rest", lambda: motion.beat(now()))
    assert twin.time - left < SILENCE + 0.5  # of the controller's time
    stood = twin.sample.q.copy()
    assert AWAY[0] - stood[0] > 0.3
    wait_until(lambda: now() - (motion.heard or now()) > 1.5 * SILENCE, "a clear case", lambda: motion.beat(now()))
    os.kill(motion.pid, signal.SIGCONT)
    wait_until(lambda: motion.stopped, "the end of the process", lambda: motion.beat(now()))
    assert motion.fault is not None
    assert "the process that commands the arm was held up for" in motion.fault
    np.testing.assert_allclose(twin.sample.q, stood, atol=1e-3)  # and nothing goes on


def test_beats_keep_it_going_and_the_end_is_held(motion: ArmMotion, twin: UrTwin) -> None:
    motion.load(set_points(1.0, HOME + 0.1))
    motion.watch(SILENCE)
    begun = twin.time
    wait_until(lambda: twin.time > begun + 1.5 * SILENCE, "a rest", lambda: motion.beat(now()))
    motion.servo()
    wait_until(lambda: motion.played, "the end of the motion", lambda: motion.beat(now()))
    ended = twin.time
    wait_until(lambda: twin.time > ended + 1.5 * SILENCE, "a rest", lambda: motion.beat(now()))
    assert motion.fault is None
    np.testing.assert_allclose(twin.sample.q, HOME + 0.1, atol=5e-3)


def test_nothing_moves_without_a_guard(motion: ArmMotion, twin: UrTwin) -> None:
    motion.move(AWAY, SPEED, 2.0)
    wait_until(lambda: motion.fault is not None, "the refusal")
    assert "without a guard" in str(motion.fault)
    with pytest.raises(ArmCommandError, match="without a guard"):
        motion.watch(SILENCE)


def test_a_program_that_was_paused_or_replaced_ends_the_motion(motion: ArmMotion, twin: UrTwin) -> None:
    """Also when ur_rtde starts its program anew: that one has no watchdog."""
    begin("servo", motion, twin)
    twin._controller.stop_program("is stopped at the pendant")
    wait_until(lambda: motion.fault is not None, "the fault", lambda: motion.beat(now()))
    assert "program" in str(motion.fault)
    wait_until(lambda: standing(twin), "the arm at rest")


def test_a_parent_that_reads_nothing_does_not_hold_up_the_set_points(twin: UrTwin) -> None:
    """Its pipe is full after a second; the motion goes on to its end, because somebody looks."""
    goal = HOME + 0.1
    process = subprocess.Popen(
        [sys.executable, "-m", "iparam.bridges.ur.run.command_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    for pipe in (process.stdout, process.stderr):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)

    def send(**command: object) -> None:
        process.stdin.write(json.dumps(command).encode() + b"\n")  # type: ignore[union-attr]

    try:
        send(command="connect", host=twin.host)
        send(command="load", table=set_points(3.0, goal).tolist(), lookahead=0.05, gain=300.0)
        send(command="watch", silence=SILENCE)
        send(command="servo")
        wait_until(
            lambda: standing(twin) and float(np.abs(twin.sample.q - goal).max()) < 5e-3,
            "the end of the motion",
            lambda: send(command="beat", time=now()),
        )
        held = process.stdout.read(4096)
        assert len(held) > 3900  # it was full
        send(command="stop")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_silence_is_remembered() -> None:
    switch = DeadMansSwitch(0.1, 10.0)
    switch.sign(10.05)
    assert not switch.tripped(10.1)
    switch.sign(10.0)  # one that waited in a pipe says nothing new
    assert switch.silence(10.1) == pytest.approx(0.05)
    switch.sign(20.0)  # after a sleep of the computer, before anybody has looked at the switch
    switch.sign(20.01)
    assert switch.tripped(20.02)
    assert switch.silence(20.02) == pytest.approx(9.95)


def test_the_clock_is_common_to_all_processes_and_runs_on_in_sleep() -> None:
    script = "from iparam.bridges.ur.run.dead_mans_switch import now; print(now())"
    before = now()
    other = float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)
    assert before < other < now()
    if sys.platform == "linux":
        assert now() <= time.clock_gettime(time.CLOCK_BOOTTIME) < now() + 1.0
