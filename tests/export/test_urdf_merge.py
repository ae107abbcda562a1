"""Putting a load into a robot's URDF: the numbers, the text around them, and files that must be refused."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from xml.etree.ElementTree import canonicalize

import numpy as np
import pytest
from defusedxml.ElementTree import fromstring

from iparam.errors import FileFormatError, InputError, RobotModelError, UnknownNameError
from iparam.export import IdentifiedLoad, InconsistentLoadError, merge_into_urdf


def canonical(text: str) -> list[str]:
    """Elements and comments, a line each, whatever quotes and blanks they have."""
    return [line.strip() for line in canonicalize(text, with_comments=True).replace("><", ">\n<").splitlines()]


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that are gone, and lines that are new."""
    lines = list(difflib.ndiff(canonical(before), canonical(after)))
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


def test_masses_add_up_by_hand(tmp_path: Path) -> None:
    """2 kg at x = 1 and 1 kg at x = 4: 3 kg at x = 2, and 2/3 kg times 3^2 m^2 more across."""
    path = tmp_path / "arm.urdf"
    path.write_text(
        '<robot name="a"><link name="tool0"><inertial><origin xyz="1 0 0"/><mass value="2"/>'
        '<inertia ixx="1" ixy="0.25" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>',
        encoding="utf-8",
    )
    load = IdentifiedLoad(1.0, np.array([4.0, 0.0, 0.0]), np.array([[2.0, 0, 0], [0, 2, 0.5], [0, 0.5, 2]]), "tool0")
    inertial = fromstring(merge_into_urdf(load, path)).find("link/inertial")
    assert inertial.find("mass").get("value") == "3.0"
    assert inertial.find("origin").get("xyz") == "2.0 0.0 0.0"
    moments = {key: float(value) for key, value in inertial.find("inertia").attrib.items()}
    assert moments == {"ixx": 3.0, "ixy": 0.25, "ixz": 0.0, "iyy": 9.0, "iyz": 0.5, "izz": 9.0}


def test_a_link_without_mass_gets_one_and_the_rest_of_the_text_stays(load: IdentifiedLoad, arm: Path) -> None:
    before = arm.read_text(encoding="utf-8")
    gone, new = changed_lines(before, merge_into_urdf(load, arm))
    assert gone == []
    assert any(line.startswith("<inertial>") for line in new)


def test_an_inertial_is_replaced_in_its_place(load: IdentifiedLoad, arm: Path) -> None:
    before = arm.read_text(encoding="utf-8")
    after = merge_into_urdf(load, arm, link="wrist")
    gone, _ = changed_lines(before, after)
    assert gone
    assert all(re.match("</?(mass|origin|inertia)[ >]", line) for line in gone), gone
    assert [child.tag for child in fromstring(after).find("link[@name='wrist']")] == ["inertial", "visual"]
    assert "2.0 kg to 3.0 kg of its own" in after
    assert "<!-- before the robot -->" in after


def test_a_new_link_only_adds_lines(load: IdentifiedLoad, arm: Path) -> None:
    gone, new = changed_lines(arm.read_text(encoding="utf-8"), merge_into_urdf(load, arm, as_link="payload"))
    assert gone == []
    assert '<joint name="tool0-payload" type="fixed">' in new


def test_the_link_is_taken_for_the_frame_if_there_is_no_link_of_that_name(load: IdentifiedLoad, tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="a"><link name="panda_link8"/></robot>', encoding="utf-8")
    inertial = fromstring(merge_into_urdf(load, path, link="panda_link8")).find("link/inertial")
    assert inertial.find("origin").get("xyz") == "0.07 0.06 0.09"
    with pytest.raises(UnknownNameError, match=r"unknown link 'tool0'; known: panda_link8. Say which link"):
        merge_into_urdf(load, path)


@pytest.mark.parametrize("name", ["", " ", "a\nb"])
def test_the_new_link_needs_a_name(name: str, load: IdentifiedLoad, arm: Path) -> None:
    with pytest.raises(InputError, match="needs a name"):
        merge_into_urdf(load, arm, as_link=name)


def test_names_are_escaped(load: IdentifiedLoad, arm: Path) -> None:
    name = '"/><link name="x"/> & <!--'
    robot = fromstring(merge_into_urdf(load, arm, as_link=name))
    assert [link.get("name") for link in robot.findall("link")] == ["base", "wrist", "tool0", "ring", name]
    assert robot.findall("joint")[-1].find("child").get("link") == name


def test_refusals(load: IdentifiedLoad, bad_load: IdentifiedLoad, arm: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'tool0'"):
        merge_into_urdf(load, arm, link="tool1")
    with pytest.raises(RobotModelError, match="a joint moves between 'base' and 'tool0'"):
        merge_into_urdf(load, arm, link="base")
    with pytest.raises(InputError, match="has a link 'ring' already"):
        merge_into_urdf(load, arm, as_link="ring")
    with pytest.raises(InconsistentLoadError):
        merge_into_urdf(bad_load, arm)
    assert "NOT PHYSICALLY CONSISTENT" in merge_into_urdf(bad_load, arm, force=True)
    joint = '<joint name="tool0-x" type="fixed"><parent link="base"/><child link="y"/></joint><link name="y"/></robot>'
    arm.write_text(arm.read_text(encoding="utf-8").replace("</robot>", joint), encoding="utf-8")
    with pytest.raises(InputError, match="has a joint 'tool0-x' already"):
        merge_into_urdf(load, arm, as_link="x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'<!DOCTYPE robot [<!ENTITY x SYSTEM "secret.txt">]><robot name="a"><link name="&x;"/></robot>', "for safety"),
        (b'<!DOCTYPE robot [<!ENTITY a "b">]><robot name="&a;"><link name="tool0"/></robot>', "refused for safety"),
        (b'<!DOCTYPE robot><robot name="a"><link name="tool0"/></robot>', "refused for safety"),
        (b'<robot name="a"><link name="tool0"></robot>', "not well-formed"),
        (b"<mujoco/>", "MJCF"),
    ],
)
def test_hostile_and_foreign_files_are_refused(
    content: bytes, message: str, load: IdentifiedLoad, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("TOP-SECRET", encoding="utf-8")
    path = tmp_path / "arm.urdf"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as caught:
        merge_into_urdf(load, path)
    assert "TOP-SECRET" not in str(caught.value)


def test_a_program_that_has_loaded_xacro_writes_the_same(load: IdentifiedLoad, arm: Path) -> None:
    """It replaces how minidom writes elements."""
    pytest.importorskip("xacro")
    gone, _ = changed_lines(arm.read_text(encoding="utf-8"), merge_into_urdf(load, arm))
    assert gone == []
