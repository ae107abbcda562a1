"""Trajectories and simulated runs that several tests look at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import iparam
from iparam.trajectory import WindowedFourierTrajectory

pytest.importorskip("mujoco")
pytest.importorskip("trimesh")

from iparam.simulation import MujocoSimulator, Payload, SimulationResult

HOME = (0.0, -1.57, 1.57, -1.57, -1.57, 0.0)
Excitation = Callable[..., WindowedFourierTrajectory]


@pytest.fixture(scope="session")
def excitation() -> Excitation:
    """A function that gives a random, modest motion around a pose."""

    def make(duration: float = 10.0, q0=HOME, scale: float = 0.12, seed: int = 1) -> WindowedFourierTrajectory:
        a, b = np.random.default_rng(seed).normal(0.0, scale, (2, len(q0), 5))
        return WindowedFourierTrajectory(np.array(q0), a, b, base_freq=0.2, duration=duration)

    return make


@pytest.fixture(scope="session")
def at_rest() -> Excitation:
    """A function that gives a motion that is none."""

    def make(q0=HOME, duration: float = 0.1) -> WindowedFourierTrajectory:
        none = np.zeros((len(q0), 1))
        return WindowedFourierTrajectory(np.array(q0), none, none, base_freq=1.0, duration=duration)

    return make


@pytest.fixture(scope="session")
def there_and_back() -> Excitation:
    """A function that gives a motion to a pose, where it is in the middle, and back."""

    def make(start, end, duration: float = 2.0) -> WindowedFourierTrajectory:
        b = np.array(end)[:, None] - np.array(start)[:, None]
        # A period of days: the cosine is 1 all the way and the window alone shapes the motion.
        return WindowedFourierTrajectory(np.array(start), 0.0 * b, b, base_freq=1e-6, duration=duration)

    return make


@pytest.fixture(scope="session")
def ur5e() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="session")
def box() -> Payload:
    return Payload.box(mass=2.3456789, size=(0.1, 0.15, 0.2), offset=(0.02, -0.01, 0.13), rotation_rpy=(0.1, 0.2, 0.3))


@pytest.fixture(scope="session")
def excited(ur5e: iparam.Robot, box: Payload, excitation: Excitation) -> SimulationResult:
    """10 s of excitation with the default settings."""
    return MujocoSimulator().load(ur5e, box).run(excitation())
