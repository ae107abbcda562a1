"""Simulated controllers for the commands that talk to UR arms; in this process, on addresses of their own."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest
from doubles.ur_controller.twin import TwinPorts, UrTwin

from iparam.robot.catalog import catalog_robot
from iparam.simulation import Payload

MASS = 2.0
BOX = (0.1, 0.15, 0.2)
TILTED = np.radians([10.0, -80.0, 95.0, -60.0, -70.0, 20.0])
MakeTwin = Callable[..., UrTwin]

_count = itertools.count(1)


def address() -> str:
    """A loopback address that no other test process uses: ur_rtde knows the standard ports only."""
    return f"127.{os.getpid() // 250 % 250 + 1}.{os.getpid() % 250 + 1}.{next(_count)}"


@pytest.fixture
def make_twin() -> Iterator[MakeTwin]:
    """Starts a UR5e with a box of 2 kg, or what the options say, on the standard ports of a new address."""
    with starter() as make:
        yield make


@contextmanager
def starter() -> Iterator[MakeTwin]:
    with ExitStack() as stack:

        def make(robot: str = "ur5e", loaded: bool = True, mass: float = MASS, **options: Any) -> UrTwin:
            payload = Payload.box(mass=mass, size=BOX) if loaded else None
            # The clock of a real controller, unless a test is about the other: guards then count on the wall clock.
            options = {"host": address(), "ports": TwinPorts(), "clock": "wall", **options}
            return stack.enter_context(UrTwin(catalog_robot(robot), payload, **options))

        yield make


@pytest.fixture(scope="module")
def tilted_twin() -> Iterator[UrTwin]:
    """One that stands still in a pose without right angles."""
    with starter() as make:
        yield make(q=TILTED)


@pytest.fixture
def twin(make_twin: MakeTwin) -> UrTwin:
    return make_twin()


@pytest.fixture
def ur_rtde() -> None:
    """The client that moves arms; skips where there is none for this Python."""
    pytest.importorskip("rtde_control", reason="there is no wheel of ur_rtde for Python 3.13")
