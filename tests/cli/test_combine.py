"""`iparam combine` as a user calls it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from made_results import with_load

import iparam
from iparam.cli.main import main
from iparam.remarks import remark

RESULT = Path(__file__).resolve().parents[1] / "data" / "sample_result.json"


@pytest.fixture
def gripper(tmp_path: Path) -> Path:
    """A lighter result of another run."""
    whole = iparam.Estimate.load(RESULT)
    path = tmp_path / "gripper.json"
    with_load(dataclasses.replace(whole, measurements=("another run",)), 0.4 * whole.phi).save(path)
    return path


def test_the_part_is_the_whole_without_the_gripper_and_can_be_exported(
    gripper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = tmp_path / "part.json"
    assert main(["combine", str(RESULT), str(gripper), "--minus", "--output", str(part)]) == 0
    whole, less = iparam.Estimate.load(RESULT), iparam.Estimate.load(part)
    np.testing.assert_allclose(less.phi, 0.6 * whole.phi, rtol=1e-9)
    np.testing.assert_allclose(less.standard_deviation.mass, np.sqrt(2.0) * whole.standard_deviation.mass, rtol=1e-9)
    assert main(["export", str(part), "--format", "urscript"]) == 0
    assert "set_target_payload(1.2003" in capsys.readouterr().out
    assert main(["export", str(RESULT), "--known-load", str(gripper), "--format", "urscript"]) == 0
    assert "set_target_payload(1.2003" in capsys.readouterr().out
    assert main(["export", str(RESULT), "--known-load", str(RESULT), "--format", "urscript"]) == 2
    assert "same result" in capsys.readouterr().err


def test_a_pose_places_the_second_in_metres_and_degrees(gripper: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["combine", str(RESULT), str(gripper), "--pose", "0.1", "0", "0", "0", "0", "90", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    one, other = iparam.Estimate.load(RESULT).parameters, iparam.Estimate.load(gripper).parameters
    pose = np.array([[0.0, -1.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    np.testing.assert_allclose(found["phi"], (one + other.transformed(pose)).phi, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((), "at least two results"),
        (("{gripper}", "{gripper}"), "same measured signal"),
        (("{gripper}", "--pose", "1", "2"), "--pose needs 6 numbers"),
        (("{gripper}", "--tip", "tool0"), "add --robot"),
        (("{gripper}", "missing.json"), "missing.json"),
    ],
)
def test_wrong_arguments_are_said(
    gripper: Path, arguments: tuple[str, ...], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [text.format(gripper=gripper) for text in arguments]
    assert main(["combine", str(RESULT), *words]) != 0
    assert word in capsys.readouterr().err


def test_notes_and_figures_have_an_owner(
    gripper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    on_shape = remark("inertia-rests-on-shape", share=85.0, what="load")
    for name, path in (("a.json", RESULT), ("b.json", gripper)):
        found = iparam.Estimate.load(path)
        share = np.full(10, 0.15)
        dataclasses.replace(
            found, remarks=(on_shape, remark("few-samples", count=12)), data_share=share, samples=10
        ).save(name)
    assert main(["combine", "a.json", "b.json", "--output", "sum.json"]) == 0
    out, err = capsys.readouterr()
    assert err.count("note: ") == 1  # what rests on the shape, of the sum
    assert err.count("85 %") == 1
    assert "12 wrench samples" not in err  # a doubt, which the table lists
    assert out.count("few-samples") == 2
    assert "condition" in out
    assert "-, from 20 samples" in out
    assert "\nresidual" not in out


def test_a_difference_that_no_body_has_blames_neither_file(
    gripper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    moved = iparam.Estimate.load(gripper)
    body = iparam.InertialParameters.from_phi(moved.phi)
    pose = np.eye(4)
    pose[0, 3] = 0.3
    away = body.transformed(pose)
    with_load(moved, away.phi).save("away.json")
    for command in (
        ["export", str(RESULT), "--known-load", "away.json", "--format", "urdf"],
        ["combine", str(RESULT), "away.json", "--minus"],
    ):
        assert main(command) == 1
        said = capsys.readouterr().err
        assert "The difference is no possible load: it has a mass of" in said
        assert f"So away.json is not a part of {RESULT}" in said
        assert "Look at the sensor" not in said
        assert "its own data" not in said
        assert command[0] == "combine" or f"{RESULT} without --known-load away.json: " in said
