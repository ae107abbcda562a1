"""`--setup`: what the file says fills in what was not typed, for every command, and nothing that was."""

from __future__ import annotations

from pathlib import Path

import pytest

from iparam.cli.command_table import COMMANDS
from iparam.cli.console.setup_option import with_setup
from iparam.cli.main import main
from iparam.errors import InputError
from iparam.sensing.setup import Setup

TYPES = {entry.name: entry.load() for entry in COMMANDS}


@pytest.fixture
def path(tmp_path: Path) -> str:
    setup = Setup(robot="ur10e", tip="tool0", mounting="ceiling", sensor_rotation=(0.0, 0.0, 90.0), zeroed="with load")
    setup.save(tmp_path / "setup.toml")
    return str(tmp_path / "setup.toml")


@pytest.mark.parametrize("name", sorted(TYPES))
def test_every_command_takes_it(name: str, path: str) -> None:
    words = with_setup(["--setup", path], TYPES[name]).arguments
    assert ("--robot" in words) == (words[words.index("--robot") + 1] == "ur10e" if "--robot" in words else False)
    assert with_setup([], TYPES[name]).arguments == []


def test_what_is_typed_wins_with_what_belongs_to_it(path: str) -> None:
    identify = TYPES["identify payload"]
    words = with_setup(["run.csv", f"--setup={path}"], identify).arguments
    assert words[0] == "run.csv"
    assert words[1:7] == ["--robot", "ur10e", "--tip", "tool0", "--mounting", "ceiling"]
    assert words[7:] == ["--sensor-rotation", "0.0", "0.0", "90.0", "--bias", "zeroed"]
    assert "--tip" not in with_setup(["run.csv", "--robot", "ur5e", "--setup", path], identify).arguments
    assert "--robot" in with_setup(["run.csv", "--tip", "flange", "--setup", path], identify).arguments
    assert "--mounting" not in with_setup(["run.csv", "--gravity", "9.8", "--setup", path], identify).arguments
    assert (
        "--sensor-rotation"
        not in with_setup(["run.csv", "--sensor_rotation=1", "--setup", path], identify).arguments[2:]
    )
    assert "--bias" not in with_setup(["run.csv", "--static", "--setup", path], identify).arguments
    rotation = ["--sensor-rotation", "0.0", "0.0", "90.0"]
    for name in ("ur record", "ur run", "bag import"):
        assert [
            word for word in with_setup(["--setup", path], TYPES[name]).arguments if word in rotation
        ] == rotation, name
    assert with_setup(["run.csv", "--setup", path], TYPES["doctor"]).arguments[-2:] == ["--setup", path]


def test_one_setup_and_a_file_are_needed(path: str) -> None:
    for words in (["--setup"], ["--setup", "--json"], ["--setup="]):
        with pytest.raises(InputError, match="needs a file"):
            with_setup(words, TYPES["doctor"])
    with pytest.raises(InputError, match="twice"):
        with_setup(["--setup", path, "--setup", path], TYPES["doctor"])


def test_a_command_uses_it_and_says_so(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kinematics", "compute", "--q", *["0"] * 6, "--setup", path]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("ur10e: pose of tool0")
    assert f"from {path}: --robot ur10e --tip tool0" in said.err
    assert main(["robots", "--setup", path]) == 0
    assert "concerns this command" in capsys.readouterr().err
    assert main(["robots", "--setup", "gone.toml"]) == 1
