"""The aluminium box of 8.1 kg on a UR5e, which is rated for 5 kg, from the command line, and a motion faster than the
arm: the data are right, and only the data sheet has something to say.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

import iparam
from iparam.cli.main import main

pytest.importorskip("mujoco")

DATA = Path(__file__).parents[1] / "data"
BOX = ["--payload", "box", "--size", "0.1", "0.15", "0.2", "--mass", "8.1"]
RATES = [240, *(pytest.param(rate, marks=pytest.mark.thorough) for rate in (200, 500))]


@pytest.mark.parametrize("rate", RATES)
def test_a_simulated_load_above_the_rating_is_good(
    rate: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for plan, run in (("optimized_ur5e", "run"), ("calm_ur5e", "other")):
        command = ["simulate", "--trajectory", str(DATA / f"{plan}.json"), *BOX, "--physics-rate", str(rate)]
        assert main([*command, "--output", f"{run}.parquet"]) == 0
        assert "above the rated load" in capsys.readouterr().err
    assert main(["identify", "payload", "run.parquet", "--output", "result.json"]) == 0
    result = json.loads(Path("result.json").read_text(encoding="utf-8"))
    assert result["assessment"]["verdict"] == "good"
    assert result["mass"] == pytest.approx(8.1, rel=1e-3)
    assert [(one["code"], one["severity"]) for one in result["remarks"]] == [("above-rated-load", "info")]
    assert result["assessment"]["causes"] == []  # no contact, and no filter: steps of the physics leave nothing
    for name in ("urscript", "urdf"):
        assert main(["export", "result.json", "--format", name]) == 0
    assert main(["verify", "result.json", "other.parquet"]) == 0


def test_a_simulated_motion_above_the_speed_limit_is_good() -> None:
    plan = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    ur5e = iparam.load_robot("ur5e")
    slow = dataclasses.replace(ur5e, limits=dataclasses.replace(ur5e.limits, velocity=0.5 * ur5e.limits.velocity))
    run = iparam.MujocoSimulator().load(slow, iparam.Payload.box(mass=2.0, size=[0.1, 0.15, 0.2])).run(plan)
    found = iparam.identify_payload(run.recording, slow)
    assert {one.code for one in found.remarks} == {"speed-above-limit"}
    assert found.assessment["verdict"] == "good"
    assert found.mass == pytest.approx(2.0, rel=1e-4)
