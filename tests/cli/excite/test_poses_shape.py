"""`iparam excite poses` and `predict` with a shape: the box that is planned with holds it, or the command says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import trimesh

import iparam
from iparam.cli.main import main

ROD = ["--shape", "rod.stl", "--payload-mass", "2"]
POSES = ["excite", "poses", "--robot", "ur5e", "--output", "poses.json", *ROD]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a rod of 0.4 m along the tool's z, and a motion planned for a small box."""
    rod = trimesh.creation.box([0.02, 0.02, 0.4])
    rod.apply_translation([0.0, 0.0, 0.2])
    rod.export(tmp_path / "rod.stl")
    monkeypatch.chdir(tmp_path)
    trajectory = iparam.trajectory.FourierTrajectory(
        [0.0, -1.5, 1.5, -1.5, -1.5, 0.0], [[0.05]] * 6, [[0.0]] * 6, 0.2, 5.0
    )
    conditions = iparam.trajectory.PlanConditions().changed(payload_size=[0.05, 0.05, 0.05])
    iparam.save_trajectory("small.json", trajectory, robot="ur5e", fps=100.0, conditions=conditions)
    return tmp_path


def test_a_box_that_does_not_hold_the_shape_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*POSES, "--payload-size", "0.05", "0.05", "0.05"]) == 2
    said = capsys.readouterr().err
    assert "--payload-size is a box that the shape reaches 3" in said
    assert "leave --payload-size out, or give --payload-size 0.02 0.02 0.4 --payload-center 0 0 0.2" in said
    assert main([*POSES, "--payload-center", "0", "0", "0"]) == 2
    assert "--payload-center is that of --payload-size: leave it out" in capsys.readouterr().err


@pytest.mark.parametrize("box", [[], ["--payload-size", "0.02", "0.02", "0.4"]])
def test_one_that_holds_it_is_taken(box: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*POSES, "--count", "4", *box]) == 0
    assert "--payload-size" not in capsys.readouterr().err


def test_a_motion_planned_for_less_than_the_shape_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", "predict", "small.json", *ROD]) == 0
    said = capsys.readouterr().err
    assert "taken from there, but for --shape, --payload-mass" in said
    assert "for a box that the shape reaches 3" in said
    assert (
        "'iparam excite check small.json --payload-size 0.02 0.02 0.4 --payload-center 0 0 0.2 --payload-mass 2'"
        in said
    )
    assert main(["excite", "predict", "small.json", *ROD, "--payload-size", "0.05", "0.05", "0.05"]) == 2
    assert "--payload-size is a box that the shape reaches 3" in capsys.readouterr().err
