"""`iparam combine` as a user calls it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main

RESULT = Path(__file__).resolve().parents[1] / "data" / "sample_result.json"


@pytest.fixture
def gripper(tmp_path: Path) -> Path:
    """A lighter result of another run."""
    whole = iparam.Estimate.load(RESULT)
    phi = whole.phi * 0.4
    body = iparam.InertialParameters.from_phi(phi)
    path = tmp_path / "gripper.json"
    dataclasses.replace(
        whole,
        mass=body.mass,
        center_of_mass=body.center_of_mass,
        inertia_about_com=body.inertia_about_com,
        inertia_about_origin=body.inertia_about_origin,
        phi=phi,
        measurements=("another run",),
    ).save(path)
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
