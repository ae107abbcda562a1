"""Newton is a simulator; many payloads move at once; and what its wrench tells of a load is the load."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from simulation.conformance import TETRAHEDRON, Conformance

import iparam
from iparam.simulation import MujocoSimulator, Payload, SimulationError, SimulationResult
from iparam.simulation.newton.simulator import NewtonSimulator

pytest.importorskip("newton", reason="Newton has an environment of its own: make test-newton")

QUICK = NewtonSimulator(physics_rate=1000.0)
PLAN = Path(__file__).resolve().parents[2] / "data" / "optimized_ur5e.json"


class TestNewton(Conformance):
    simulator = QUICK
    exact = 3e-4  # single precision
    exact_torque = 5e-3
    exact_state = 1e-6


@pytest.fixture(scope="module")
def loads(tmp_path_factory: pytest.TempPathFactory) -> list[Payload]:
    """The aluminium box of 8.1 kg, a two-stage cylinder, and a part from an OBJ file that hangs beside the axis."""
    part = tmp_path_factory.mktemp("mesh") / "part.obj"
    part.write_text(TETRAHEDRON, encoding="utf-8")
    return [
        Payload.box(size=(0.1, 0.15, 0.2), density=2700.0),
        Payload.two_stage_cylinder(radius1=0.05, length1=0.08, radius2=0.03, length2=0.1, density=2700.0),
        Payload.mesh(part, density=7850.0, scale=0.75, offset=(-0.045, 0.0, 0.0)),
    ]


@pytest.fixture(scope="module")
def results(loads: list[Payload]) -> list[SimulationResult]:
    plan = iparam.load_trajectory(PLAN).trajectory
    return QUICK.run_many(iparam.load_robot("ur5e"), loads, plan)


@pytest.mark.parametrize("k", range(3), ids=["box", "two stages", "mesh"])
def test_the_load_is_found(ur5e, loads, results, k: int) -> None:
    estimate, truth = iparam.identify_payload(results[k].recording, ur5e).parameters, loads[k].parameters
    assert estimate.mass == pytest.approx(truth.mass, rel=2e-4)
    assert np.abs(estimate.center_of_mass - truth.center_of_mass).max() < 1e-4
    off = np.linalg.norm(estimate.inertia_about_com - truth.inertia_about_com)
    assert off < 5e-3 * np.linalg.norm(truth.inertia_about_com)


def test_together_is_one_by_one_and_mujoco_agrees(ur5e, loads, excitation) -> None:
    motion = excitation(0.2, scale=0.01)
    simulator = QUICK
    together = simulator.run_many(ur5e, loads, motion)
    settings = MujocoSimulator(physics_rate=simulator.physics_rate, controller=simulator.controller)
    for load, found in zip(loads, together, strict=True):
        wrench = found.recording.signals["wrench"].values
        alone = simulator.load(ur5e, load).run(motion).recording.signals["wrench"].values
        other = settings.load(ur5e, load).run(motion).recording.signals["wrench"].values
        np.testing.assert_allclose(wrench, alone, rtol=0.0, atol=0.05)
        np.testing.assert_allclose(wrench, other, rtol=0.0, atol=0.05)
        np.testing.assert_array_equal(found.truth.payload.phi, load.parameters.phi)


def test_what_stops_one_of_many_is_said(ur5e, there_and_back) -> None:
    light, large = Payload.sphere(radius=0.02, mass=0.1), Payload.box(size=(0.1, 0.1, 0.9), mass=0.5)
    down = there_and_back((0.0, -1.57, 1.57, -1.57, -1.57, 0.0), (0.0, -1.2, 1.57, -1.57, -1.57, 0.0))
    with pytest.raises(SimulationError, match="with payload 1: collision"):
        NewtonSimulator().run_many(ur5e, [light, large], down)
    with pytest.raises(iparam.InputError, match="at least one payload"):
        NewtonSimulator().run_many(ur5e, [], down)
