"""A plan played on stand-ins of each API: the same recording from all, and the load that they carry found from it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from bridges.isaac import stand_ins
from scipy.spatial.transform import Rotation

import iparam
from iparam.bridges.isaac import ContactWrench, JointWrench, StageUnits, record
from iparam.errors import InputError, UnknownNameError
from iparam.spatial import InertialParameters, transform_from

DT = 1.0 / 240.0
BOX = InertialParameters(8.1, np.array([0.01, -0.02, 0.12]), np.diag([0.0422, 0.0338, 0.0219]))
JOINT = transform_from(Rotation.from_euler("xyz", [20, 30, -40], degrees=True).as_matrix(), [0.02, -0.01, 0.03])
BASE = transform_from(Rotation.from_euler("z", 70, degrees=True).as_matrix(), [1.0, 2.0, 0.5])


@pytest.fixture(scope="module")
def robot() -> Any:
    return iparam.load_robot("ur10e")  # rated for more than the box


@pytest.fixture(scope="module")
def plan() -> Any:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 6, 3)) * 0.25
    return iparam.trajectory.WindowedFourierTrajectory(
        a=a, b=b, q0=np.array([0.0, -1.4, 1.3, -1.2, -1.5, 0.0]), base_freq=0.2, duration=5.0
    )


def played(kind: str, robot: Any, plan: Any, **changes: Any) -> Any:
    physics = stand_ins.Physics(robot, BOX.phi, DT)
    units = StageUnits()
    if kind in ("newton", "physx"):
        articulation = stand_ins.LabArticulation(physics)
        wrench = JointWrench(stand_ins.JointWrenchSensor(physics, JOINT, kind), "payload", JOINT)
    elif kind == "sim":
        articulation = stand_ins.SimArticulation(physics, JOINT)
        wrench, units = JointWrench(articulation, "payload", JOINT), StageUnits(meters=0.01)
    elif kind == "legacy":
        articulation = stand_ins.LegacyArticulation(physics, JOINT)
        wrench = JointWrench(articulation, "payload", JOINT)
    else:
        articulation = stand_ins.LabArticulation(physics)
        wrench = ContactWrench(stand_ins.ContactSensor(physics, BASE, points=kind == "points"), "payload")
    settings = {"wrench": wrench, "robot": robot, "dt": DT, "settle": 0.1, "base_pose": BASE, "units": units}
    return record(articulation, plan, physics.step, **(settings | changes))


@pytest.mark.parametrize("kind", ["newton", "physx", "sim", "legacy", "points"])
def test_every_api_gives_the_load(kind: str, robot: Any, plan: Any) -> None:
    recording = played(kind, robot, plan)
    assert recording.signal("wrench").frame == "tool0"
    assert len(recording.signal("q").time) == round(5.0 / DT) + 1
    np.testing.assert_allclose(recording.signal("q").values[100], plan.evaluate([100 * DT]).q[0], atol=1e-6)
    at_rest = recording.signal("wrench").values[0]
    assert np.linalg.norm(at_rest[:3]) == pytest.approx(8.1 * 9.80665, rel=1e-3)
    found = iparam.identify_payload(recording, robot=robot)
    assert found.refutation is None
    assert found.mass == pytest.approx(BOX.mass, rel=2e-4)
    np.testing.assert_allclose(found.center_of_mass, BOX.center_of_mass, atol=1e-4)
    np.testing.assert_allclose(found.inertia_about_com, BOX.inertia_about_com, atol=0.005 * 0.0422)


def test_a_net_contact_force_is_given_in_the_tool_and_no_torque_is_made_up(robot: Any, plan: Any) -> None:
    recording = played("net", robot, plan)
    wrench = played("physx", robot, plan).signal("wrench").values
    assert not recording.has("wrench")
    force = recording.signal("contact_force")
    assert (force.unit, force.frame) == ("N", "tool0")
    np.testing.assert_allclose(force.values, wrench[:, :3], atol=1e-9)
    assert "no-contact-torque" in [one.code for one in recording.remarks]


def test_contact_forces_on_the_arm_are_the_opposite(robot: Any, plan: Any) -> None:
    physics = stand_ins.Physics(robot, BOX.phi, DT)
    sensor = stand_ins.ContactSensor(physics, BASE, points=True)
    physics.step()
    readings = [ContactWrench(sensor, "payload", on=on).read(0) for on in ("payload", "arm")]
    tool = BASE @ np.stack([physics.tool, physics.tool_after])
    pair = [
        ContactWrench(sensor, "payload", on=on).in_tool([reading], tool, StageUnits())
        for on, reading in zip(("payload", "arm"), readings, strict=True)
    ]
    np.testing.assert_allclose(pair[0], -pair[1])
    np.testing.assert_allclose(pair[0][0], physics.wrench, atol=1e-9)


def test_friction_is_added_where_net_forces_are_normal_forces() -> None:
    class Data:
        net_forces_w = net_normal_forces_w = np.full((1, 1, 3), 1.0)
        net_friction_forces_w = np.full((1, 1, 3), 0.5)

    class Sensor:
        body_names, data = ("box",), Data()

    (force,) = ContactWrench(Sensor(), "box").read(0)
    assert force.tolist() == [1.5, 1.5, 1.5]


def test_what_cannot_be_a_run_is_refused(robot: Any, plan: Any) -> None:
    physics = stand_ins.Physics(robot, BOX.phi, DT)
    articulation = stand_ins.LabArticulation(physics)
    wrench = JointWrench(stand_ins.JointWrenchSensor(physics, JOINT, "newton"), "payload", JOINT)
    settings: Any = {"wrench": wrench, "robot": robot, "dt": DT, "settle": 0.0}
    with pytest.raises(InputError, match=r"did not move: .*scene\.update"):
        record(articulation, plan, lambda: None, **settings)
    with pytest.raises(UnknownNameError, match=r"unknown joint of the articulation 'j1'.*finger.*joints="):
        record(articulation, plan, physics.step, **(settings | {"joints": [f"j{place}" for place in range(1, 7)]}))
    with pytest.raises(InputError, match="environment must be from 0 to 1, got 2"):
        record(articulation, plan, physics.step, **(settings | {"environment": 2}))
    with pytest.raises(InputError, match="wrench is zero throughout"):  # environment 1 has no load in the stand-in
        record(articulation, plan, physics.step, **(settings | {"environment": 1}))
    with pytest.raises(InputError, match="dt is one physics step"):
        record(articulation, plan, physics.step, **(settings | {"dt": 0.0}))
    with pytest.raises(InputError, match="a str is no articulation that is known"):
        record("robot", plan, physics.step, **settings)
    with pytest.raises(InputError, match="tells no joint wrench"):
        JointWrench(articulation, "payload")
    with pytest.raises(UnknownNameError, match="did you mean 'payload'"):
        JointWrench(stand_ins.JointWrenchSensor(physics, JOINT, "newton"), "paylod")
    with pytest.raises(InputError, match="is no contact sensor that is known"):
        ContactWrench(stand_ins.JointWrenchSensor(physics, JOINT, "newton"), "payload")


def test_before_the_simulation_plays_there_is_nothing_to_read(robot: Any) -> None:
    class Data:
        force = torque = None

    class Sensor:
        body_names, data = ("payload",), Data()

    with pytest.raises(InputError, match=r"is None: start the simulation first \(sim\.reset\(\)"):
        JointWrench(Sensor(), "payload").read(0)


def test_nothing_of_isaac_is_imported() -> None:
    code = (
        "import sys, iparam.bridges.isaac as isaac; [getattr(isaac, name) for name in dir(isaac)];"
        "assert not {name.partition('.')[0] for name in sys.modules} & "
        "{'isaaclab', 'isaacsim', 'omni', 'carb', 'torch', 'warp', 'pxr'}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
