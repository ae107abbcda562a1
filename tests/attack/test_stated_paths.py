"""A file that names another file does not have it opened, let alone run: only what was typed is."""

from __future__ import annotations

import dataclasses
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import iparam
from attack.corpus.command_lines import LINES, Line
from attack.file_watch import watched
from attack.warm_pool import WarmPool
from iparam.cli.main import main
from iparam.errors import FileFormatError, StatedPathError
from iparam.robot import robot_to_urdf

XACRO, URDF, CALIBRATION = "planted.urdf.xacro", "planted.urdf", "planted.json"

NAMING = {"trajectory": "named.json", "recording": "named.parquet"}
"""Kind of a sample -> the file that names another in its place."""

_OF_ROBOT = re.compile(r"--(robot|tip|base) (\S+ ?)")

READERS = [
    line
    for line in LINES
    if any(slot.kind in NAMING for slot in line.slots)
    and not (line.endless or "--orientation" in line.text or "--setup" in line.text)
]


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder with a sound robot file and a xacro of the same arm, which is found to be opened if it is."""
    folder = tmp_path / "planted"
    folder.mkdir()
    text = robot_to_urdf(dataclasses.replace(iparam.load_robot("ur5e"), name="planted"))
    (folder / URDF).write_text(text, encoding="utf-8")
    (folder / XACRO).write_text(text, encoding="utf-8")
    (folder / CALIBRATION).write_text("{}", encoding="utf-8")
    return folder


def name_robot(samples: Path, folder: Path, robot: str) -> None:
    """Write a trajectory and a recording into ``folder`` that name their robot so."""
    document = json.loads((samples / "calm.json").read_text(encoding="utf-8"))
    document["robot"] = robot
    (folder / NAMING["trajectory"]).write_text(json.dumps(document), encoding="utf-8")
    recording = iparam.Recording.load(samples / "run.parquet")
    dataclasses.replace(recording, robot=robot).save(folder / NAMING["recording"])


def naming(line: Line) -> tuple[str, ...]:
    """The call with files that name their robot, and without the options that do."""
    bare = dataclasses.replace(line, text=_OF_ROBOT.sub("", line.text))
    return bare.arguments({slot.place: NAMING[slot.kind] for slot in bare.slots if slot.kind in NAMING})


@pytest.mark.thorough(keep=12)
@pytest.mark.parametrize("line", READERS, ids=str)
def test_no_command_opens_the_robot_file_that_a_file_names(
    line: Line, pool: WarmPool, planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    line.put_samples(pool.samples, work)
    monkeypatch.chdir(work)
    for robot in (planted / XACRO, planted / URDF):
        name_robot(pool.samples, work, str(robot))
        with watched(planted) as opened:
            code = main(list(naming(line)))
        assert opened == set()
        assert code in (1, 2) or line.command.startswith("fleet")  # whose table says which recordings failed


def test_a_robot_file_that_is_typed_is_opened(
    pool: WarmPool, planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the error offers works; and the watch sees it."""
    monkeypatch.chdir(tmp_path)
    name_robot(pool.samples, tmp_path, str(planted / URDF))
    assert main(["excite", "check", "named.json"]) == 2
    (offered,) = re.findall(r"--robot \S+", capsys.readouterr().err)
    with watched(planted) as opened:
        assert main(["excite", "check", "named.json", *offered.split()]) == 0
    assert opened == {URDF}


def test_the_library_opens_neither_a_robot_nor_a_calibration_that_a_recording_names(
    pool: WarmPool, planted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name_robot(pool.samples, tmp_path, str(planted / XACRO))
    recording = iparam.Recording.load(tmp_path / "named.parquet")
    stated = iparam.Recording.load(pool.samples / "run.parquet")
    stated.with_metadata(setup={"sensor": str(planted / CALIBRATION)}).save(tmp_path / "sensor.parquet")
    with watched(planted) as opened:
        for call in (iparam.identify_payload, iparam.sensing.recorded_robot):
            with pytest.raises(StatedPathError) as refused:
                call(recording)
            assert (refused.value.path, refused.value.argument) == (str(planted / XACRO), "robot")
        assert main(["identify", "payload", str(tmp_path / "sensor.parquet")]) == 2
    assert f"--sensor {planted / CALIBRATION}" in capsys.readouterr().err
    assert opened == set()


@pytest.mark.parametrize("robot", [XACRO, f"../planted/{XACRO}", f"{URDF} a:=1", "link.urdf"])
def test_a_setup_names_no_program_and_nothing_outside_its_folder(
    robot: str, planted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "link.urdf").symlink_to(planted / URDF)
    place = folder if robot.startswith(("..", "link")) else planted
    setup = place / "setup.toml"
    setup.write_text(f'format = "iparam-setup/1"\n[robot]\nmodel = "{robot}"\n', encoding="utf-8")
    command = ["kinematics", "compute", "--q", *("0" * 6), "--setup", str(setup)]
    with watched(planted) as opened:
        assert main(command) == 2
    assert opened <= {"setup.toml"}
    assert "--robot" in capsys.readouterr().err
    assert main([*command, "--robot", str(planted / URDF)]) == 0  # what is typed wins


def test_a_description_in_a_text_has_no_file_opened(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a bag, or of somebody's running robot: neither macros are run nor meshes read, also of packages."""
    (planted / "mesh.stl").write_bytes(b"\0" * 84)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(planted.parent))
    reference = "package://planted/mesh.stl"
    mesh = f'<link name="base_link"><visual><geometry><mesh filename="{reference}"/></geometry></visual>'
    text = robot_to_urdf(iparam.load_robot("ur5e"))
    first = re.search(r'<link name="[^"]*"\s*/?>', text)
    assert first is not None
    shown = re.sub(r"/?>$", ">", first[0]) + mesh.partition(">")[2] + ("</link>" if first[0].endswith("/>") else "")
    with watched(planted) as opened:
        robot = iparam.robot.loading.load_description(text.replace(first[0], shown, 1), "it")
        pieces = [piece for link in robot.links for piece in (*link.geometry, *link.visual)]
        assert [piece.reference for piece in pieces if piece.reference] == [reference]
        assert all(piece.file is None for piece in pieces)
        iparam.robot.arm_shape(robot)
        macros = text.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)
        macros = macros.replace(first[0], "<xacro:m/>" + first[0], 1)
        with pytest.raises(iparam.IparamError, match="xacro"):
            iparam.robot.loading.load_description(macros, "it")
    assert opened == set()


SPELLINGS = {  # of "a folder up", in the attributes meshdir and file
    "plain": ("", "../o.stl"),
    "backslash": ("", "..\\o.stl"),
    "through a folder that is not there": ("", "x/../../o.stl"),
    "folder of meshes": ("..", "o.stl"),
    "folder of meshes that is not there": ("x\\..\\..", "o.stl"),
    "both": ("x/y/..", "../../o.stl"),
}


@pytest.mark.skipif(find_spec("mujoco") is None, reason="needs mujoco")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_mjcf_opens_no_mesh_outside_its_folder(
    spelling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it is spelt: MuJoCo reads paths in a way of its own."""
    folder = tmp_path / "of_the_robot"
    folder.mkdir()
    (tmp_path / "o.stl").write_bytes(b"\0" * 84)
    meshes, file = SPELLINGS[spelling]
    joint = '<joint name="{0}" type="hinge"/><geom size=".1"/>'
    bodies = f'<body name="a">{joint.format("j")}<body name="b" pos="0 0 .3">{joint.format("k")}</body></body>'
    compiler = f'<compiler meshdir="{meshes}"/>' if meshes else ""
    mesh = f'<asset><mesh name="s" file="{file}"/></asset>'
    worldbody = f'<worldbody>{bodies}<geom type="mesh" mesh="s"/></worldbody>'
    (folder / "robot.xml").write_text(f"<mujoco>{compiler}{mesh}{worldbody}</mujoco>", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with watched(tmp_path) as opened, pytest.raises(FileFormatError, match="outside of the description"):
        iparam.load_robot("of_the_robot/robot.xml")
    assert "o.stl" not in opened
