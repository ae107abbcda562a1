"""The files go into the programs they are for, and the load that those report is the one that was exported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from iparam import InertialParameters, load_robot
from iparam.export import IdentifiedLoad, merge_into_urdf, to_mjcf, to_sdf_inertial, to_urdf_inertial

pytestmark = pytest.mark.reference

WRAPPED = (
    '<robot name="one"><link name="root"/><joint name="hinge" type="continuous"><parent link="root"/>'
    '<child link="tool0"/></joint><link name="tool0">{}</link></robot>'
)


def assert_is(load: IdentifiedLoad, mass: float, center: np.ndarray, inertia_about_com: np.ndarray) -> None:
    assert mass == pytest.approx(load.mass, rel=1e-12)
    np.testing.assert_allclose(center, load.center_of_mass, atol=1e-12)
    np.testing.assert_allclose(inertia_about_com, load.inertia_about_com, atol=1e-12)


@pytest.fixture
def snippet(load: IdentifiedLoad, tmp_path: Path) -> Path:
    path = tmp_path / "one.urdf"
    path.write_text(WRAPPED.format(to_urdf_inertial(load)), encoding="utf-8")
    return path


def test_urdf_in_iparam(load: IdentifiedLoad, snippet: Path) -> None:
    body = InertialParameters.from_phi(load_robot(snippet).body_parameters[0])
    assert_is(load, body.mass, body.center_of_mass, body.inertia_about_com)


def test_urdf_in_pinocchio(load: IdentifiedLoad, snippet: Path) -> None:
    pinocchio = pytest.importorskip("pinocchio")
    inertia = pinocchio.buildModelFromUrdf(str(snippet)).inertias[1]
    assert_is(load, inertia.mass, inertia.lever, inertia.inertia)


def test_urdf_in_yourdfpy(load: IdentifiedLoad, snippet: Path) -> None:
    import yourdfpy

    robot = yourdfpy.URDF.load(str(snippet), load_meshes=False, build_scene_graph=False)
    inertial = robot.link_map["tool0"].inertial
    np.testing.assert_array_equal(inertial.origin[:3, :3], np.eye(3))
    assert_is(load, inertial.mass, inertial.origin[:3, 3], inertial.inertia)


def test_urdf_in_mujoco(load: IdentifiedLoad, snippet: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    assert_is(load, *mujoco_body(mujoco.MjModel.from_xml_path(str(snippet)), "tool0"))


def test_mjcf_in_mujoco(load: IdentifiedLoad, tmp_path: Path) -> None:
    """Included as a file in a body that is turned and away from the origin."""
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "payload.xml").write_text(to_mjcf(load), encoding="utf-8")
    (tmp_path / "scene.xml").write_text(
        '<mujoco><worldbody><body name="tool0" pos="1 2 3" euler="30 40 50"><joint axis="0 0 1"/>'
        '<geom size="0.01" mass="1"/><include file="payload.xml"/></body></worldbody></mujoco>',
        encoding="utf-8",
    )
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
    assert_is(load, *mujoco_body(model, "payload"))
    np.testing.assert_array_equal(model.body("payload").pos, np.zeros(3))


def test_mujoco_refuses_what_is_only_exported_by_force(bad_load: IdentifiedLoad) -> None:
    mujoco = pytest.importorskip("mujoco")
    body = to_mjcf(bad_load).removeprefix("<mujocoinclude>").replace("</mujocoinclude>", "")
    with pytest.raises(ValueError, match="inertia"):
        mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")


def test_sdf_in_drake(load: IdentifiedLoad) -> None:
    """Drake reads SDF with Gazebo's own libsdformat."""
    pytest.importorskip("pydrake")
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.001)
    link = f"<link name='tool0'>{to_sdf_inertial(load)}</link>"
    Parser(plant).AddModelsFromString(f"<sdf version='1.9'><model name='m'>{link}</model></sdf>", "sdf")
    inertia = plant.GetBodyByName("tool0").default_spatial_inertia()
    center = inertia.get_com()
    about_com = inertia.get_mass() * inertia.get_unit_inertia().ShiftToCenterOfMass(center).CopyToFullMatrix3()
    assert_is(load, inertia.get_mass(), center, about_com)


@pytest.mark.parametrize("as_link", [None, "payload"])
@pytest.mark.parametrize("link", ["tool0", "wrist", "ring"])
def test_a_merged_robot_weighs_the_same_everywhere(
    link: str, as_link: str | None, load: IdentifiedLoad, arm: Path, tmp_path: Path
) -> None:
    """However the load is put in, the moving body is the wrist and the load, added up by Pinocchio."""
    pinocchio = pytest.importorskip("pinocchio")
    path = tmp_path / "merged.urdf"
    path.write_text(merge_into_urdf(load, arm, link=link, as_link=as_link), encoding="utf-8")
    bare = pinocchio.buildModelFromUrdf(str(arm))
    placement = bare.frames[bare.getFrameId("tool0")].placement
    payload = pinocchio.Inertia(load.mass, load.center_of_mass, load.inertia_about_com)
    expected = bare.inertias[1] + placement.act(payload)

    merged = pinocchio.buildModelFromUrdf(str(path))
    np.testing.assert_allclose(merged.inertias[1].matrix(), expected.matrix(), atol=1e-12)
    mine = InertialParameters.from_phi(load_robot(path, tip="tool0").body_parameters[0])
    assert mine.mass == pytest.approx(5.0)
    np.testing.assert_allclose(mine.center_of_mass, expected.lever, atol=1e-12)
    np.testing.assert_allclose(mine.inertia_about_com, expected.inertia, atol=1e-12)


@pytest.mark.parametrize(("name", "link"), [("ur5", "tool0"), ("panda", "panda_link8")])
def test_a_robot_that_others_described(
    name: str, link: str, load: IdentifiedLoad, example_robot_urdf: Callable[[str], Path], tmp_path: Path
) -> None:
    pinocchio = pytest.importorskip("pinocchio")
    source, path = example_robot_urdf(name), tmp_path / "merged.urdf"
    path.write_text(merge_into_urdf(load, source, link=link), encoding="utf-8")
    bare, merged = (pinocchio.buildModelFromUrdf(str(file)) for file in (source, path))
    frame = bare.frames[bare.getFrameId(link)]
    payload = pinocchio.Inertia(load.mass, load.center_of_mass, load.inertia_about_com)
    bare.inertias[frame.parentJoint] += frame.placement.act(payload)
    for before, after in zip(bare.inertias, merged.inertias, strict=True):
        np.testing.assert_allclose(after.matrix(), before.matrix(), atol=1e-12)


def test_a_merged_robot_in_yourdfpy(load: IdentifiedLoad, arm: Path, tmp_path: Path) -> None:
    import yourdfpy

    path = tmp_path / "merged.urdf"
    path.write_text(merge_into_urdf(load, arm, as_link="payload"), encoding="utf-8")
    robot = yourdfpy.URDF.load(str(path), load_meshes=False)
    inertial = robot.link_map["payload"].inertial
    assert_is(load, inertial.mass, inertial.origin[:3, 3], inertial.inertia)
    np.testing.assert_allclose(robot.get_transform("payload", "tool0"), np.eye(4), atol=1e-12)


def mujoco_body(model: object, name: str) -> tuple[float, np.ndarray, np.ndarray]:
    import mujoco

    body = model.body(name)  # type: ignore[attr-defined]
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, body.iquat)
    R = rotation.reshape(3, 3)
    return float(body.mass[0]), body.ipos, R @ np.diag(body.inertia) @ R.T
