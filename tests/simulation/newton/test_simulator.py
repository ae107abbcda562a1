"""Newton is a simulator; many payloads move at once; and what its wrench tells of a load is the load."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulation.conformance import TETRAHEDRON, Conformance

import iparam
from iparam.robot.cell import WorkCell
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
    with pytest.raises(iparam.InputError, match=r"payloads\[1\] of run_many must be a Payload, got NoneType"):
        NewtonSimulator().run_many(ur5e, [light, None], down)
    with pytest.raises(iparam.InputError, match="weighs 1e-07 kg: Newton computes with 1e-06 kg at least"):
        NewtonSimulator().load(ur5e, Payload.sphere(radius=0.02, mass=1e-7))


ODD = """<robot name="odd"><link name="base"/><link name="a"><inertial><origin xyz="0 0 0.1"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.08" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><origin xyz="0 0 0.1"/><mass value="2"/>
<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="c"><inertial><origin xyz="0 0.02 0.04"/><mass value="1"/>
<inertia ixx="0.004" iyy="0.004" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="lift" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="200" velocity="1"/></joint>
<joint name="turn" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="80" velocity="3"/></joint>
<joint name="spin" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0 0.25"/><axis xyz="1 0 0"/>
<limit lower="-2" upper="2" effort="50" velocity="3"/></joint></robot>"""


def test_links_that_no_body_is_like_and_an_arm_upside_down(tmp_path: Path) -> None:
    """As real descriptions have them: a moment above the sum of the others, or none; and a joint that slides."""
    (tmp_path / "odd.urdf").write_text(ODD, encoding="utf-8")
    robot, load = iparam.load_robot(str(tmp_path / "odd.urdf")), Payload.box(size=(0.1, 0.15, 0.2), mass=1.0)
    gravity = (0.0, 0.0, 9.81)  # on a ceiling
    wave = np.full((3, 2), 0.01)
    motion = iparam.WindowedFourierTrajectory(np.full(3, 0.3), wave, wave, base_freq=2.0, duration=0.2)
    settings = replace(QUICK, gravity=gravity, settle_time=0.1)
    result = settings.load(robot, load, WorkCell(ground_height=None)).run(motion)
    moved, signals = result.true_motion, result.recording.signals
    loaded = robot.with_payload(load.parameters)
    torques = iparam.inverse_dynamics(loaded, moved.q, moved.dq, moved.ddq, gravity=gravity)
    np.testing.assert_allclose(signals["tau"].values, torques, rtol=0.0, atol=TestNewton.exact_torque)
    regressor = iparam.wrench_regressor(robot, moved.q, moved.dq, moved.ddq, gravity=gravity)
    np.testing.assert_allclose(signals["wrench"].values, regressor @ load.parameters.phi, rtol=0.0, atol=3e-4)


def test_without_a_graphics_card_nothing_is_printed() -> None:
    code = "from iparam.simulation.newton.backend import require_newton; require_newton()"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (told.stdout, told.stderr) == ("", "")
