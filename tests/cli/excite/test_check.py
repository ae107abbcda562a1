"""`excite check`: the condition number is computed, whatever a file says; motions that do not rest are blended."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main

DATA = Path(__file__).parents[2] / "data"


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    main(["excite", "check", *arguments, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def moving(tmp_path: Path) -> str:
    """A motion that does not start at rest."""
    a, b = np.random.default_rng(1).uniform(-0.1, 0.1, (2, 6, 5))
    pose = np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0])
    trajectory = iparam.trajectory.FourierTrajectory(pose, a, b, 0.1, 10.0)
    iparam.save_trajectory(tmp_path / "moving.json", trajectory, robot="ur5e", fps=100.0)
    return str(tmp_path / "moving.json")


def test_a_stated_condition_number_is_not_believed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned = iparam.load_trajectory(DATA / "optimized_ur5e.json")
    motion = planned.trajectory.sample(planned.fps)
    rows = iparam.wrench_regressor(iparam.load_robot("ur5e"), motion.q, motion.dq, motion.ddq).reshape(-1, 10)
    path = str(tmp_path / "t.json")
    iparam.save_trajectory(path, planned.trajectory, robot="ur5e", fps=planned.fps, condition_number=1.0001)
    found = checked(capsys, path)
    assert found["condition_number"] == pytest.approx(np.linalg.cond(rows), rel=1e-9)
    assert found["condition_number_of_gram"] == pytest.approx(np.linalg.cond(rows.T @ rows), rel=1e-9)
    assert found["condition_number_stated"] == 1.0001
    assert main(["excite", "check", path]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("condition number"))
    both = [
        f"{found['condition_number']:.5g} of the wrench regressor A",
        f"{found['condition_number_of_gram']:.5g} of A^T A",
    ]
    assert all(number in line for number in (*both, "1.0001"))


def test_a_motion_that_does_not_rest_is_refused_or_blended(moving: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused = checked(capsys, moving)
    assert not refused["all_constraints_satisfied"]
    found = checked(capsys, moving, "--blend", "0.5")
    assert found["all_constraints_satisfied"]
    assert found["ends"]["start"]["at_rest"] is found["ends"]["end"]["at_rest"] is True
    assert found["duration"] == 10.0
    assert main(["excite", "check", moving, "--blend", "6"]) == 2
    assert "--blend must be at most half" in capsys.readouterr().err


def test_a_blended_motion_is_simulated_from_rest(
    moving: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    errors = []
    for blend in ([], ["--blend", "0.5"]):
        output = str(tmp_path / f"run{len(blend)}.parquet")
        carried = ["--payload", "box", "--mass", "1", "--size", "0.1", "0.1", "0.1"]
        assert main(["simulate", "--trajectory", moving, *carried, "--output", output, "--json", *blend]) == 0
        errors.append(json.loads(capsys.readouterr().out)["largest_tracking_error"])
        recorded = iparam.Recording.load(output)
    assert errors[1] < errors[0] / 5
    start = iparam.load_trajectory(moving).trajectory.evaluate(0.0).q[0]
    np.testing.assert_allclose(recorded.signal("target_q").values[0], start, rtol=0, atol=1e-12)
