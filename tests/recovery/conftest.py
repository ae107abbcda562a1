"""Simulated runs of the optimised motions with loads whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import iparam

pytest.importorskip("mujoco")
pytest.importorskip("trimesh")

import trimesh

from iparam.simulation import MujocoSimulator, Payload, SimulationResult

DATA = Path(__file__).resolve().parents[1] / "data"
ALUMINIUM = 2700.0


@pytest.fixture(scope="session")
def ur5e() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="session")
def payloads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Payload]:
    """Loads of simple shapes and a part from an OBJ file, some off the axis and tilted."""
    folder = tmp_path_factory.mktemp("parts")
    corners = [(-0.05, -0.03, 0), (0.05, -0.03, 0), (0.05, 0.03, 0), (-0.05, 0.03, 0), (-0.05, -0.03, 0.09)]
    wedge = trimesh.convex.convex_hull(np.array([*corners, (-0.05, 0.02, 0.07)]))
    wedge.export(folder / "wedge.obj")
    tilt = {"offset": (0.012, -0.008, 0.10), "rotation_rpy": (0.2, -0.15, 0.4)}
    return {
        "box of 8.1 kg": Payload.box(size=(0.10, 0.15, 0.20), density=ALUMINIUM),
        "box of 2 kg": Payload.box(size=(0.10, 0.15, 0.20), mass=2.0),
        "tilted cylinder": Payload.cylinder(radius=0.03, length=0.12, density=ALUMINIUM, **tilt),
        "two-stage cylinder": Payload.two_stage_cylinder(
            radius1=0.05, length1=0.05, radius2=0.025, length2=0.10, density=ALUMINIUM
        ),
        "wedge.obj": Payload.mesh(
            folder / "wedge.obj", density=ALUMINIUM, offset=(0.02, 0.01, 0.02), rotation_rpy=(0.1, 0.2, -0.3)
        ),
    }


@pytest.fixture(scope="session")
def run(ur5e: iparam.Robot, payloads: dict[str, Payload]) -> Callable[..., SimulationResult]:
    """A function from the name of a load, and of a trajectory, to the simulated run with perfect sensors."""

    @cache
    def simulate(name: str, trajectory: str = "optimized_ur5e") -> SimulationResult:
        motion = iparam.load_trajectory(DATA / f"{trajectory}.json").trajectory
        return MujocoSimulator().load(ur5e, payloads[name]).run(motion)

    return simulate


@pytest.fixture(scope="session")
def grasp(run: Callable[..., SimulationResult]) -> tuple[np.ndarray, ...]:
    """Time, angles and wrenches of a run without noise: 10 s."""
    signals = run("box of 2 kg").recording.signals
    return signals["q"].time, signals["q"].values, signals["wrench"].values
