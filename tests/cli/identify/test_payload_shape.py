"""`iparam identify payload --shape` on a slow motion."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import trimesh

import iparam
from iparam.cli.main import main
from iparam.recording import Recording

DATA = Path(__file__).resolve().parents[2] / "data"
PLACE = (0.05, 0.02, 0.06)
LOAD = iparam.InertialParameters.box(2.0, (0.12, 0.15, 0.2)).transformed(
    iparam.spatial.transform_from(np.eye(3), PLACE)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with part.stl and 8 s of the optimised motion, five times slower, as run.parquet."""
    trajectory = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    fast = trajectory.evaluate(np.linspace(2.0, 5.2, 801))
    time, dq, ddq = 5.0 * (fast.time - fast.time[0]), fast.dq / 5.0, fast.ddq / 25.0
    random = np.random.default_rng(0)
    y = iparam.wrench_regressor(iparam.load_robot("ur5e"), fast.q, dq, ddq) @ LOAD.phi
    y = y + np.array([0.5] * 3 + [0.05] * 3) * random.standard_normal(y.shape)
    recording = Recording(robot="ur5e", metadata={"source": "simulation"})
    recording = recording.with_signal("q", time=time, values=fast.q)
    recording = recording.with_signal("target_q", time=time, values=fast.q)
    recording.with_signal("wrench", time=time, values=y).save(tmp_path / "run.parquet")
    box = trimesh.creation.box([120.0, 150.0, 200.0])
    box.export(tmp_path / "part.stl")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_mesh_tells_the_inertia_that_slow_motion_does_not(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--shape-scale", "0.001", "--shape-pose", *map(str, PLACE), "0", "0", "0"]
    assert main(["identify", "payload", "run.parquet", "--shape", "part.stl", *place, "--output", "r.json"]) == 0
    printed = capsys.readouterr()
    assert "from the data" in printed.out
    assert "rests on the shape" in printed.err
    found = iparam.Estimate.load(folder / "r.json")
    largest = np.linalg.eigvalsh(LOAD.inertia_about_com)[-1]
    assert np.abs(found.inertia_about_com - LOAD.inertia_about_com).max() < 0.05 * largest
    assert found.method == "shape"
    assert found.physically_consistent
    assert main(["identify", "payload", "run.parquet", "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    deviation = np.array(alone["standard_deviation"]["inertia_about_com"], dtype=float)
    assert deviation[0, 0] > 0.2 * largest
    assert (found.standard_deviation.inertia_about_com < deviation).all()
    # As light as it is, it may be hollow; what is said to be solid may not.
    solid = ["--density", f"body={2.0 / (0.12 * 0.15 * 0.2):.0f}", "--output", "solid.json"]
    assert main(["identify", "payload", "run.parquet", "--shape", "part.stl", *place, *solid]) == 0
    capsys.readouterr()
    stated = iparam.Estimate.load(folder / "solid.json").standard_deviation.inertia_about_com
    assert (stated < 0.3 * deviation).all()
    assert main(["export", "r.json", "--format", "urscript"]) == 0


def test_a_box_and_options_that_contradict_each_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    box = ["--shape-box", "0.2", "0.2", "0.3", *map(str, PLACE)]
    assert main(["identify", "payload", "run.parquet", *box, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inertia_about_com"] is not None
    for words, said in (
        (["--shape", "part.stl", "--method", "wls"], "leave --method wls out"),
        (["--shape-scale", "0.001"], "add --shape"),
        (["--shape", "part.stl"], "--shape-scale 0.001"),
    ):
        assert main(["identify", "payload", "run.parquet", *words]) != 0
        assert said in capsys.readouterr().err
