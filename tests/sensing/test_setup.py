"""A setup as a file: what is written is read again, and what cannot be is refused by the name of its entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from iparam.errors import FileFormatError, InputError
from iparam.files.kind import FileKind, kind_of
from iparam.sensing.setup import Setup

HEAD = 'format = "iparam-setup/1"\n[robot]\nmodel = "ur5e"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "setup.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    for name in ("sensor.json", 'gripper "1".json', "arm.urdf"):
        (tmp_path / name).write_text("{}")
    setup = Setup(
        robot=str(tmp_path / "arm.urdf"),
        tip="tool\\0",
        mounting=(180.0, 0.0, 12.5),
        gravity=(9.82,),
        sensor_rotation=(0.0, 0.0, -90.0),
        sensor_offset=(0.0, 1e-3, 0.03),
        measures="reaction",
        wrench_frame="base",
        sensor=tmp_path / "sensor.json",
        zeroed="with load",
        gripper=tmp_path / 'gripper "1".json',
    )
    setup.save(tmp_path / "setup.toml")
    assert Setup.load(tmp_path / "setup.toml") == setup
    assert kind_of(tmp_path / "setup.toml") is FileKind.SETUP
    assert str(tmp_path) not in (tmp_path / "setup.toml").read_text()  # it may be moved along with its files
    assert setup.options["sensor_rotation"] == ("0.0", "0.0", "-90.0")
    assert setup.options["bias"] == ("zeroed",)


def test_all_but_the_robot_may_be_left_out(tmp_path: Path) -> None:
    assert Setup.load(written(tmp_path, HEAD)) == Setup(robot="ur5e")
    assert Setup(robot="ur5e").options == {"robot": ("ur5e",)}
    with pytest.raises(InputError, match="needs its robot"):
        Setup(robot=" ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 'format must be "iparam-setup/1"'),
        ("format = 1", "format must be"),
        ('format = "iparam-setup/1"', "robot is missing"),
        (HEAD + "tipp = 'x'", "unknown entry of \\[robot\\] 'tipp'; did you mean 'tip'"),
        (HEAD + "[senser]", "unknown section 'senser'; did you mean 'sensor'"),
        (HEAD + "[sensor]\nrotation = [1, 2]", "sensor.rotation needs three numbers"),
        (HEAD + "[sensor]\nrotation = ['a', 2, 3]", "sensor.rotation must be a list of numbers"),
        (HEAD + "[sensor]\nrotation = [nan, 2, 3]", "sensor.rotation must be a list of numbers"),
        (HEAD + "[sensor]\noffset = [0, 0, 30]", "sensor.offset is in metres"),
        (HEAD + "[sensor]\nzeroed = 'yes'", "unknown zeroing 'yes'; known: with-load, without-load, never"),
        (HEAD + "[sensor]\nmeasures = 3", "sensor.measures must be a string"),
        (HEAD + "[sensor]\ncalibration = 'gone.json'", "sensor.calibration names .*gone.json, where there is no file"),
        (HEAD + "[mounting]\nhow = 'roof'", "unknown mounting 'roof'"),
        (HEAD + "[mounting]\nhow = 'wall'\ngravity = [0, 0, -9.81]", "says how it is mounted"),
        (HEAD + "[mounting]\ngravity = [1, 2]", "mounting.gravity needs its size or x y z"),
        (HEAD + "[mounting]\ngravity = 9806", "9806"),
        (HEAD + "[mounting]\ngravity = true", "mounting.gravity must be a finite number"),
        (HEAD + "[gripper]\nload = 'gone.json'", "gripper.load names"),
        ("a = [" * 5000, "."),
        ("format = ", "not TOML"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=words) as refused:
        Setup.load(written(tmp_path, text))
    assert "setup.toml" in str(refused.value)


def test_what_is_no_text_or_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "setup.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="not UTF-8"):
        Setup.load(tmp_path / "setup.toml")
    with pytest.raises(FileFormatError, match="does not exist"):
        Setup.load(tmp_path / "gone.toml")
    with pytest.raises(FileFormatError, match="larger than"):
        Setup.load(written(tmp_path, HEAD + "#" * 200_000))
