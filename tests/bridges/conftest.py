"""Twins of a UR controller for the tests: in this process on free ports, or in their own on the standard ones."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import iparam
from iparam.bridges.ur.twin.twin import TwinPorts, UrTwin

FREE = TwinPorts(0, 0, (0, 0, 0))
START_TIMEOUT = 120.0


@dataclass
class TwinProcess:
    """A running ``iparam ur simulate``.

    Attributes:
        host: where it listens, on the ports of a real controller.
        process: it.
        ready_line: what it printed when it was ready.
        notes: file that its standard error goes to.
    """

    host: str
    process: subprocess.Popen[str]
    ready_line: str
    notes: Path

    def stop(self, number: int = signal.SIGINT) -> int:
        """Ask it to end; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=60)


StartTwin = Callable[..., UrTwin]
StartTwinProcess = Callable[..., TwinProcess]


def free_loopback() -> str:
    """A loopback address that hardly anyone else uses: every one of 127.0.0.0/8 has all its ports."""
    draw = random.SystemRandom().randrange
    return f"127.{draw(64, 128)}.{draw(256)}.{draw(1, 255)}"


@pytest.fixture
def start_twin() -> Iterator[StartTwin]:
    """A function that starts a `UrTwin` in this process on free ports, with the options of its constructor."""
    twins: list[UrTwin] = []

    def start(robot: str = "ur5e", payload: Any = None, **options: Any) -> UrTwin:
        twin = UrTwin(iparam.load_robot(robot), payload, **{"ports": FREE, **options})
        twins.append(twin)
        return twin.start()

    yield start
    for twin in twins:
        twin.close()


@pytest.fixture(scope="module")
def start_twin_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartTwinProcess]:
    """A function that starts ``iparam ur simulate`` on a loopback address of its own; its arguments are the options.

    For clients of `ur_rtde`, which know the standard ports only and keep Python from running while they connect.
    """
    if sys.platform != "linux":
        pytest.skip("needs loopback addresses beyond 127.0.0.1")
    started: list[TwinProcess] = []

    def start(*options: str) -> TwinProcess:
        host = free_loopback()
        notes = tmp_path_factory.mktemp("twin") / "notes.txt"
        command = [sys.executable, "-m", "iparam", "ur", "simulate", "--host", host, "--duration", "300", *options]
        with notes.open("w") as stream:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stream, text=True, env=os.environ)
        assert process.stdout is not None
        # Reading cannot time out by itself; the process's end, by kill, ends it.
        alarm = threading.Timer(START_TIMEOUT, process.kill)
        alarm.start()
        line = process.stdout.readline()
        alarm.cancel()
        started.append(TwinProcess(host, process, line, notes))
        assert line.startswith("ready: "), notes.read_text()
        return started[-1]

    yield start
    for twin in started:
        if twin.process.poll() is None:
            twin.process.terminate()
            try:
                twin.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                twin.process.kill()
                twin.process.wait(timeout=30)
        if twin.process.stdout is not None:
            twin.process.stdout.close()
