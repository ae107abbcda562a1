"""Where the references of a robot description lead, and where they must not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iparam.errors import FileFormatError
from iparam.robot.loading import load_robot, read_description
from iparam.robot.urdf.references import find_referenced


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A package with a description and a mesh, another package, and a file that is in neither."""
    for path in (
        "ws/arm/urdf/arm.urdf",
        "ws/arm/package.xml",
        "ws/arm/meshes/a b.stl",
        "ws/gripper/package.xml",
        "ws/gripper/g.stl",
        "install/share/tool/t.stl",
        "secret.stl",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"x")
    return tmp_path


def test_where_references_lead(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = workspace / "ws" / "arm"
    description, mesh, tool = (
        arm / "urdf" / "arm.urdf",
        arm / "meshes" / "a b.stl",
        workspace / "install/share/tool/t.stl",
    )
    assert find_referenced("package://arm/meshes/a b.stl", description) == mesh
    assert find_referenced("../meshes/a b.stl", description) == description.parent / "../meshes/a b.stl"
    assert find_referenced(f"file://{mesh.parent}/a%20b.stl", description) == mesh
    assert find_referenced("package://gripper/g.stl", description) == workspace / "ws" / "gripper" / "g.stl"
    assert find_referenced("package://tool/t.stl", description) is None
    for variable, root in (("AMENT_PREFIX_PATH", workspace / "install"), ("ROS_PACKAGE_PATH", tool.parent)):
        with monkeypatch.context() as patch:
            patch.setenv(variable, f"/nowhere:{root}")
            assert find_referenced("package://tool/t.stl", description) == tool
            assert find_referenced(f"file://{tool}", Path("it")) == tool  # of a description that was published
    assert find_referenced("http://gripper/g.stl", description) is None
    assert find_referenced("package://arm/meshes", description) is None  # a folder
    assert find_referenced("a\0b.stl", description) is None


@pytest.mark.parametrize(
    "reference",
    ["../../../secret.stl", "file://{0}/secret.stl", "package://arm/../../secret.stl", "link.stl", "folder/secret.stl",
     "pipe.stl", "/dev/zero", "file:///dev/zero", "package://dev/zero", "package://{1}/secret.stl"],
)  # fmt: skip
def test_what_is_not_read(reference: str, workspace: Path) -> None:
    description = workspace / "ws" / "arm" / "urdf" / "arm.urdf"
    (description.parent / "link.stl").symlink_to(workspace / "secret.stl")
    (description.parent / "folder").symlink_to(workspace)
    os.mkfifo(description.parent / "pipe.stl")
    with pytest.raises(FileFormatError, match="not read"):
        find_referenced(reference.format(workspace, workspace.name), description)


def test_a_package_that_is_linked_as_colcon_does(workspace: Path) -> None:
    installed = workspace / "install" / "share" / "arm"
    for file in ("urdf/arm.urdf", "meshes/a b.stl"):
        (installed / file).parent.mkdir(parents=True, exist_ok=True)
        (installed / file).symlink_to(workspace / "ws" / "arm" / file)
    found = find_referenced("../meshes/a b.stl", installed / "urdf" / "arm.urdf")
    assert found is not None
    assert found.resolve() == workspace / "ws" / "arm" / "meshes" / "a b.stl"


def test_a_urdf_is_read_without_such_a_mesh(tmp_path: Path) -> None:
    (tmp_path / "arm").mkdir()
    (tmp_path / "secret.stl").write_bytes(b"x")
    path = tmp_path / "arm" / "arm.urdf"
    shape = '<collision><geometry><mesh filename="../secret.stl"/></geometry></collision>'
    path.write_text(f"<robot name='a'><link name='base'>{shape}</link></robot>", encoding="utf-8")
    (piece,) = read_description(path).links["base"]().geometry
    assert piece.file is None
    assert "not read" in piece.reference


@pytest.mark.parametrize("element", ["<include file='{}'/>", "<asset><mesh name='m' file='{}'/></asset>"])
@pytest.mark.parametrize("file", ["pipe", "/dev/zero", "../secret.xml"])
def test_an_mjcf_with_such_a_file_is_refused(element: str, file: str, tmp_path: Path) -> None:
    (tmp_path / "arm").mkdir()
    (tmp_path / "secret.xml").write_text("<mujoco/>", encoding="utf-8")
    os.mkfifo(tmp_path / "arm" / "pipe")
    path = tmp_path / "arm" / "arm.xml"
    path.write_text(f"<mujoco>{element.format(file)}</mujoco>", encoding="utf-8")
    with pytest.raises(FileFormatError, match="not read"):
        load_robot(path)
