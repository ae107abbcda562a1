"""Twins of a UR controller for the tests: in this process on free ports, or in their own on the standard ones."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from bridges.command_server import Command, CommandServer
from doubles.ur_controller.twin import TwinPorts, UrTwin

import iparam

FREE = TwinPorts(0, 0, (0, 0, 0))
START_TIMEOUT = 120.0


@dataclass
class TwinProcess:
    """A running simulated controller, in a process of its own.

    Attributes:
        host: where it listens, on the ports of a real controller.
        command: it.
        ready_line: what it printed when it was ready.
    """

    host: str
    command: Command
    ready_line: str

    @property
    def notes(self) -> str:
        """What it wrote to standard error."""
        return self.command.err

    def stop(self, number: int = signal.SIGINT) -> int:
        """Ask it to end; its exit code."""
        self.command.send_signal(number)
        return self.command.wait(60.0)


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


@pytest.fixture(scope="session")
def command_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandServer]:
    server = CommandServer("arms", tmp_path_factory.mktemp("commands"))
    yield server
    server.close()


@pytest.fixture
def start_command(command_server: CommandServer) -> Iterator[Callable[..., Command]]:
    """A function that starts ``iparam`` in a process of its own, which ends with the test."""
    started: list[Command] = []

    def start(*arguments: str, **options: Any) -> Command:
        started.append(command_server.start(*arguments, **options))
        return started[-1]

    yield start
    for command in started:
        command.end()


@pytest.fixture(scope="module")
def start_twin_process(command_server: CommandServer) -> Iterator[StartTwinProcess]:
    """A function that starts a simulated controller on a loopback address of its own; its arguments are the options.

    For clients of `ur_rtde`, which know the standard ports only and keep Python from running while they connect.
    """
    if sys.platform != "linux":
        pytest.skip("needs loopback addresses beyond 127.0.0.1")
    started: list[Command] = []

    def start(*options: str) -> TwinProcess:
        host = free_loopback()
        command = command_server.start(
            "--host", host, "--duration", "300", *options, program="doubles.ur_controller.__main__"
        )
        started.append(command)
        deadline = time.monotonic() + START_TIMEOUT
        while not command.out.endswith("\n"):
            assert command.poll() is None, command.err
            assert time.monotonic() < deadline, command.err
            time.sleep(0.01)
        line = command.out
        assert line.startswith("ready: "), command.err
        return TwinProcess(host, command, line)

    yield start
    for command in started:
        command.end()
