"""The guard's silence follows what the connection shows: stutters are survived, what is gone for good is not."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.ur_controller.twin import UrTwin

import iparam
from iparam.bridges.ur.record.recorder import ArmRecorder, RecorderSettings
from iparam.bridges.ur.run.observed_silence import GROWTH, longest_silence, observe_silence
from iparam.bridges.ur.run.run_guard import LONGEST_SILENCE, SHORTEST_SILENCE, RunStoppedError
from iparam.trajectory import load_trajectory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and loopback addresses")

CALM = Path(__file__).parents[3] / "data" / "calm_ur5e.json"
START = load_trajectory(CALM).trajectory.evaluate(0.0).q[0]
STUTTER = 0.13
"""Silences of the controller [s]: longer than the shortest limit."""

SLOWER = 0.4
LONGEST = 0.4915 / SLOWER
"""In which the fastest corner of the box goes 0.5 m in so slow a motion [s]."""
StartCommand = Callable[..., Any]


@contextmanager
def stuttering(pid: int) -> Iterator[None]:
    """Stops a process for a moment, over and over."""
    done = threading.Event()

    def stutter() -> None:
        while not done.wait(0.5):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(STUTTER)
            os.kill(pid, signal.SIGCONT)

    thread = threading.Thread(target=stutter)
    thread.start()
    yield
    done.set()
    thread.join()


def arguments(host: str, output: Path, *more: str) -> list[str]:
    payload = ["--payload-size", "0.1", "0.15", "0.2", "--payload-mass", "2"]
    guards = ["--max-deviation", "0.25", "--speed-scale", str(SLOWER), "--yes", "--overwrite", *more]
    return ["ur", "run", str(CALM), "--host", host, "--output", str(output), *payload, *guards]


def test_the_longest_is_what_the_tool_may_travel_while_it_is_stopped() -> None:
    assert longest_silence(0.5, 1.35) == pytest.approx(0.5 / 1.35)
    assert longest_silence(0.5, 0.1) == LONGEST_SILENCE


def test_a_run_survives_a_controller_that_stutters_as_it_did_before(
    start_twin_process: Callable[..., Any], start_command: StartCommand, tmp_path: Path
) -> None:
    pytest.importorskip("rtde_control")
    where = [str(angle) for angle in START.tolist()]
    twin = start_twin_process("--clock", "wall", "--mass", "2", "--q", *where)
    output = tmp_path / "run.parquet"
    with stuttering(twin.command.pid):
        process = start_command(*arguments(twin.host, output))
        assert process.wait(180.0) == 0, process.err
        stated = start_command(*arguments(twin.host, tmp_path / "stated.parquet", "--max-silence", "0.1"))
        assert stated.wait(180.0) == 1
    facts = iparam.Recording.load(output).metadata
    assert facts["stopped_by"] is None
    assert facts["max_silence"] == pytest.approx(LONGEST, abs=0.005)  # ten times the stutter would be more
    assert f"guard         stops the arm after {LONGEST:.2f} s" in process.out
    assert iparam.Recording.load(tmp_path / "stated.parquet").metadata["max_silence"] == 0.1
    found = iparam.identify_payload(iparam.Recording.load(output))
    assert found.mass == pytest.approx(2.0, abs=0.05)


def test_an_arm_whose_computer_is_gone_stands_within_the_bound(
    make_twin: Callable[..., UrTwin], start_command: StartCommand, tmp_path: Path
) -> None:
    pytest.importorskip("rtde_control")
    twin = make_twin(q=START)
    process = start_command(*arguments(twin.host, tmp_path / "run.parquet"))
    deadline = time.monotonic() + 120.0
    while float(np.abs(twin.sample.q - START).max()) < 0.05:
        assert process.poll() is None, process.err
        assert time.monotonic() < deadline
        time.sleep(0.01)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    left = twin.time
    for pid in (process.pid, *map(int, children)):
        os.kill(pid, signal.SIGSTOP)
    try:
        while float(np.abs(twin.sample.dq).max()) > 1e-3:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        # Of the controller's time: the silence, and 0.25 rad/s that end at 15 rad/s^2.
        assert twin.time - left < LONGEST + 0.1
        while twin.time - left < LONGEST:  # without set points it may stand before that, and may go on
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        for pid in (process.pid, *map(int, children)):
            os.kill(pid, signal.SIGCONT)
    assert process.wait(60.0) == 1


def test_what_is_seen_and_what_follows(make_twin: Callable[..., UrTwin]) -> None:
    twin = make_twin(loaded=False)
    recorder = ArmRecorder(RecorderSettings(twin.host, iparam.load_robot("ur5e"), "ur5e"))
    recorder.start()
    try:
        recorder.first_sample()
        seen = observe_silence(recorder, LONGEST_SILENCE)
        assert 0.002 <= seen.largest_gap < LONGEST_SILENCE
        assert seen.limit == pytest.approx(min(max(SHORTEST_SILENCE, GROWTH * seen.largest_gap), LONGEST_SILENCE))
        with pytest.raises(RunStoppedError, match="max_silence"):
            observe_silence(recorder, 0.5 * seen.largest_gap if seen.largest_gap < 0.01 else 0.003)
    finally:
        recorder.stop()
    waiting = make_twin(loaded=False, clock="simulated")
    recorder = ArmRecorder(RecorderSettings(waiting.host, iparam.load_robot("ur5e"), "ur5e"))
    recorder.start()
    try:
        recorder.first_sample()
        assert observe_silence(recorder, LONGEST).limit == SHORTEST_SILENCE
    finally:
        recorder.stop()
