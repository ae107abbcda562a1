"""`iparam ur run` that is stopped, suspended or loses its terminal: the arm comes to rest, and the data are kept."""

from __future__ import annotations

import os
import pty
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.ur_controller.motion import PERIOD, ServoJ, SetPoint
from doubles.ur_controller.twin import UrTwin

import iparam
from iparam.bridges.ur.run.command_client import GAIN, LOOKAHEAD
from iparam.trajectory import load_trajectory, save_trajectory

pytest.importorskip("rtde_control")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and job control")

CALM = load_trajectory(Path(__file__).parents[3] / "data" / "calm_ur5e.json").trajectory
SLOW = CALM.time_scaled(2.5)  # 10 s
MOVED = 0.03
"""How far a joint has gone when the motion is under way, after some 1.2 s [rad]."""

START = SLOW.evaluate(0.0).q[0]
SILENCE = 1.0  # s
StartCommand = Callable[..., Any]  # gives a Command of bridges.command_server


@pytest.fixture
def ready_twin(make_twin: Callable[..., UrTwin]) -> UrTwin:
    """One that stands where the motion starts."""
    return make_twin(q=START)


@pytest.fixture
def arguments(ready_twin: UrTwin, tmp_path: Path) -> list[str]:
    save_trajectory(tmp_path / "slow.json", SLOW, robot="ur5e", fps=100.0)
    where = ["--host", ready_twin.host, "--output", str(tmp_path / "run.parquet")]
    slack = ["--max-silence", str(SILENCE), "--max-deviation", "0.25", "--yes"]
    return ["ur", "run", str(tmp_path / "slow.json"), *where, *slack]


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120.0
    while not condition():
        assert time.monotonic() < deadline, f"not within 120 s: {what}"
        time.sleep(0.01)


def wait_for_motion(twin: UrTwin, process: Any) -> None:
    wait_until(lambda: float(np.abs(twin.sample.q - START).max()) > MOVED or process.poll() is not None, "the motion")
    assert process.poll() is None, process.err


def standing(twin: UrTwin) -> bool:
    return float(np.abs(twin.sample.dq).max()) < 1e-3


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("ctrl_c", [True, False], ids=["the command, then Ctrl-C", "all of its processes"])
def test_a_run_that_is_stopped_stops_the_arm(
    ctrl_c: bool, ready_twin: UrTwin, arguments: list[str], start_command: StartCommand, tmp_path: Path
) -> None:
    process = start_command(*arguments)
    wait_for_motion(ready_twin, process)
    stopped = [process.pid] if ctrl_c else [process.pid, *children(process.pid)]
    assert len(stopped) == 2 - ctrl_c
    left = ready_twin.time
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: any("rtde_control" in notice for notice in ready_twin.notices), "the end of the program")
    wait_until(lambda: standing(ready_twin), "the arm at rest")
    assert ready_twin.time - left < SILENCE + 2.0  # of the controller's time; the motion has 8 s to go
    stood = ready_twin.sample.q.copy()
    if ctrl_c:
        process.send_signal(signal.SIGINT)
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    code, err = process.wait(60.0), process.err
    # Of two processes that were stopped, each finds the other silent: whoever looks first says so.
    silent = ("nobody watched the arm for", "the process that commands the arm has not reported for")
    words = ("stopped by the user (Ctrl-C)",) if ctrl_c else silent
    assert code == (130 if ctrl_c else 1)
    assert any(sentence in err for sentence in words)
    assert "Traceback" not in err
    np.testing.assert_allclose(ready_twin.sample.q, stood, atol=1e-3)  # nothing went on
    recording = iparam.Recording.load(tmp_path / "run.parquet")
    assert any(sentence in recording.metadata["stopped_by"] for sentence in words)
    assert float(np.abs(recording.signal("q").values[-1] - START).max()) > MOVED - 0.01
    assert not list(tmp_path.glob("*partial*"))


def test_ctrl_z_is_a_stop(
    ready_twin: UrTwin, arguments: list[str], start_command: StartCommand, tmp_path: Path
) -> None:
    process = start_command(*arguments)
    wait_for_motion(ready_twin, process)
    left = ready_twin.time
    process.send_signal(signal.SIGTSTP)
    assert process.wait(60.0) == 130
    assert "stopped by the user (Ctrl-Z" in process.err
    assert standing(ready_twin)
    assert ready_twin.time - left < 8.0
    assert iparam.Recording.load(tmp_path / "run.parquet").metadata["stopped_by"].startswith("stopped by the user")


def test_a_terminal_that_is_closed_stops_the_arm_and_keeps_the_data(
    ready_twin: UrTwin, arguments: list[str], start_command: StartCommand, tmp_path: Path
) -> None:
    master, terminal = pty.openpty()
    process = start_command(*arguments, terminal=os.ttyname(terminal))
    os.close(terminal)
    wait_for_motion(ready_twin, process)
    os.close(master)
    assert process.wait(60.0) == 130
    assert standing(ready_twin)
    recording = iparam.Recording.load(tmp_path / "run.parquet")
    assert recording.metadata["stopped_by"] == "stopped by the user (its terminal was closed)"
    assert not list(tmp_path.glob("*partial*"))


@pytest.mark.thorough
def test_simulated_time_waits_for_a_guard_that_is_late_and_stops_for_one_that_is_gone(
    make_twin: Callable[..., UrTwin], start_command: StartCommand, tmp_path: Path
) -> None:
    """With the default guards: half a second is a busy computer, two are a fault."""
    twin = make_twin(q=START, clock="simulated")
    save_trajectory(tmp_path / "calm.json", CALM, robot="ur5e", fps=100.0)
    options = ["--host", twin.host, "--yes", "--output", str(tmp_path / "run.parquet"), "--overwrite"]
    process = start_command("ur", "run", str(tmp_path / "calm.json"), *options)
    wait_for_motion(twin, process)
    for pid in (process.pid, *children(process.pid)):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(pid, signal.SIGCONT)
    assert process.wait(120.0) == 0, process.err
    recording = iparam.Recording.load(tmp_path / "run.parquet")
    assert recording.metadata["stopped_by"] is None
    assert recording.metadata["gap_count"] == 0
    speed = recording.signal("dq").values
    goal, followed = SetPoint.at_rest(START), []
    for target in CALM.sample(1.0 / PERIOD).q:  # what the servo makes of the set points, each in time
        servo = ServoJ(target, LOOKAHEAD, GAIN)
        goal = servo.advance(goal, PERIOD)
        followed.append(goal.dq)
    assert np.abs(speed).max() == pytest.approx(np.abs(followed).max(), rel=0.02)  # nothing was made up for in haste
    moving = [np.count_nonzero(np.abs(rows).max(axis=1) > 0.02) for rows in (speed, np.array(followed))]
    assert moving[0] == pytest.approx(moving[1], rel=0.02)  # as long in simulated time as it was planned
    assert not any("silent" in notice for notice in twin.notices)

    twin = make_twin(q=START, clock="simulated")
    options[1] = twin.host
    process = start_command("ur", "run", str(tmp_path / "calm.json"), *options)
    wait_for_motion(twin, process)
    left = twin.time
    os.kill(process.pid, signal.SIGSTOP)
    wait_until(lambda: standing(twin), "the arm at rest")
    assert twin.time - left < 1.0
    os.kill(process.pid, signal.SIGCONT)
    assert process.wait(60.0) == 1
    assert "the run was stopped" in process.err
