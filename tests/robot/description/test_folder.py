"""A folder of descriptions is listed whole: arms that can be loaded, and a reason for every other file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iparam.errors import FileFormatError
from iparam.robot import robot_to_urdf
from iparam.robot.catalog import catalog_robot
from iparam.robot.description import folder as folder_module
from iparam.robot.description.folder import FolderEntry, arms_in_folder
from iparam.robot.loading import read_description

BARE = (
    '<robot name="m"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'
    '<child link="b"/><axis xyz="0 0 1"/></joint></robot>'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As packages lie about: descriptions among other files, broken ones, links that lead in circles."""
    (tmp_path / "ur_description" / "urdf").mkdir(parents=True)
    (tmp_path / "ur_description" / "urdf" / "ur5e.urdf").write_text(robot_to_urdf(catalog_robot("ur5e")), "utf-8")
    (tmp_path / "ur_description" / "package.xml").write_text("<package/>", encoding="utf-8")
    (tmp_path / "arm.urdf").write_text(BARE, encoding="utf-8")
    (tmp_path / "broken.urdf").write_text("<robot", encoding="utf-8")
    (tmp_path / "empty.urdf").write_bytes(b"")
    (tmp_path / "macro.urdf.xacro").write_text("<robot name='r'/>", encoding="utf-8")
    (tmp_path / "mesh.stl").write_bytes(b"\0" * 100)
    (tmp_path / "box.xml").write_text("<mujoco><worldbody/></mujoco>", encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "nowhere.urdf").symlink_to(tmp_path / "missing")
    os.mkfifo(tmp_path / "pipe.urdf")
    return tmp_path


def listed(folder: Path) -> dict[str, FolderEntry]:
    return {str(entry.path.relative_to(folder)): entry for entry in arms_in_folder(folder, read_description)}


def test_every_description_is_an_arm_or_a_reason(folder: Path) -> None:
    pytest.importorskip("mujoco")
    entries = listed(folder)
    assert set(entries) == {
        "ur_description/urdf/ur5e.urdf", "arm.urdf", "broken.urdf", "empty.urdf", "macro.urdf.xacro", "box.xml"
    }  # fmt: skip
    robot = entries["ur_description/urdf/ur5e.urdf"].robot
    assert robot is not None
    assert (robot.num_joints, robot.tool_frame) == (6, "tool0")
    assert all(entries["ur_description/urdf/ur5e.urdf"].limited.values())
    assert entries["arm.urdf"].limited == {"position": False, "velocity": False, "torque": False}
    for name, reason in {
        "broken.urdf": "not well-formed",
        "empty.urdf": "is empty",
        "macro.urdf.xacro": "not run",
        "box.xml": "no joint",
    }.items():
        assert entries[name].robot is None
        assert reason in entries[name].problem
        assert "\n" not in entries[name].problem
        assert name in entries[name].problem  # the file, once
        assert entries[name].limited == {}


def test_what_is_no_folder_is_refused(folder: Path) -> None:
    with pytest.raises(FileFormatError, match="is no folder"):
        listed(folder / "arm.urdf")
    with pytest.raises(FileFormatError, match="does not exist"):
        listed(folder / "none")


def test_a_huge_folder_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "MOST_FILES", 2)
    with pytest.raises(FileFormatError, match="more than 2 descriptions"):
        listed(folder)
    monkeypatch.setattr(folder_module, "MOST_FILES", 100)
    monkeypatch.setattr(folder_module, "MOST_ENTRIES", 3)
    with pytest.raises(FileFormatError, match="more than 3 files"):
        listed(folder)


def test_arms_of_a_robot_that_floats_beside_a_loose_cube_are_listed(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    geom = '<geom size="0.1"/>'
    limbs = "".join(
        f'<body name="{side}0">{geom}<joint/>'
        + "".join(f'<body name="{side}{n}">{geom}<joint/>' for n in range(1, 5))
        + "</body>" * 5
        for side in "lr"
    )
    (tmp_path / "scene.xml").write_text(
        f'<mujoco><worldbody><body name="cube"><freejoint/>{geom}</body>'
        f'<body name="trunk"><freejoint/>{geom}{limbs}</body></worldbody></mujoco>',
        encoding="utf-8",
    )
    entries = list(arms_in_folder(tmp_path, read_description))
    found = [(entry.robot.base_frame, entry.robot.tool_frame) for entry in entries if entry.robot is not None]
    assert found == [("trunk", "l4"), ("trunk", "r4")]
    assert len(entries) == 2
