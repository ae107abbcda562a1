"""`iparam report`, `verify` and `demo`: files, tables, exit codes and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made_results import with_load

import iparam
from iparam.cli.demo import Demo
from iparam.cli.main import main
from iparam.estimation import Estimate, identify_payload
from iparam.recording import Recording
from iparam.sensing.noise import noise_preset
from iparam.trajectory import WindowedFourierTrajectory, load_trajectory, save_trajectory

Q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plan, a run, another run, the truth, a result and a wrong one."""
    folder = tmp_path_factory.mktemp("files")
    robot = iparam.load_robot("ur5e")
    pose = np.eye(4)
    pose[2, 3] = 0.1
    truth = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).transformed(pose)
    for name, seed in (("run", 1), ("heldout", 2)):
        a, b = np.random.default_rng(seed).normal(0.0, 0.35, (2, 6, 3))
        trajectory = WindowedFourierTrajectory(Q0, a, b, base_freq=0.25, duration=4.0)
        motion = trajectory.sample(100.0)
        wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ truth.phi
        exact = Recording(robot="ur5e").with_signal("q", time=motion.time, values=motion.q)
        recording = noise_preset("ur5e").apply(exact.with_signal("wrench", time=motion.time, values=wrench), seed)
        recording.save(folder / f"{name}.parquet")
        if name == "run":
            save_trajectory(folder / "t.json", trajectory, robot="ur5e", fps=100.0)
            identify_payload(recording).save(folder / "result.json")
    from iparam.simulation.simulator import GroundTruth

    GroundTruth(truth).save(folder / "truth.json")
    right = iparam.Estimate.load(folder / "result.json")
    with_load(right, 1.5 * right.phi).save(folder / "wrong.json")
    Recording.load(folder / "run.parquet").save(folder / "run.csv")
    return folder


@pytest.fixture
def folder(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(files)
    return files


def test_verify_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "result.json", "heldout.parquet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "The estimate predicts this run" in out
    assert "TOO LARGE" not in out
    assert max(len(line) for line in out.splitlines()) <= 110


def test_verify_with_the_motion_identified_from_proves_little(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "payload", "run.parquet", "--output", "own.json"]) == 0
    capsys.readouterr()
    assert main(["verify", "own.json", "run.parquet", "--json"]) == 1
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert (result["same_motion"], result["passed"]) == (True, False)
    assert err.startswith("iparam: WARNING: this run follows the motion that the result was identified from")
    assert "--accept-same-motion" in err.splitlines()[-1]
    assert main(["verify", "own.json", "run.parquet", "--accept-same-motion"]) == 0
    assert "WARNING" in capsys.readouterr().err
    assert main(["verify", "own.json", "heldout.parquet"]) == 0


def test_verify_fails_for_a_wrong_mass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "wrong.json", "heldout.parquet", "--robot", "ur5e"]) == 1
    out, err = capsys.readouterr()
    assert "TOO LARGE" in out
    assert err.startswith("iparam: error: The estimate does not predict this run: force")


def test_verify_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "result.json", "heldout.parquet", "--threshold", "0.5", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["passed"] is False
    assert result["threshold"] == 0.5
    assert result["rms"]["force"] == pytest.approx([0.5, 0.5, 0.5], rel=0.2)
    assert result["offset_fitted"] is True


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["verify", "result.json"], 2, "required"),
        (["verify", "result.json", "run.csv"], 2, "(--robot)"),
        (["verify", "result.json", "heldout.parquet", "--threshold", "-1"], 2, "threshold must be positive"),
        (["verify", "t.json", "heldout.parquet"], 1, "t.json is a trajectory; this needs a result"),
        (["verify", "none.json", "heldout.parquet"], 1, "none.json"),
        (["verify", "result.json", "result.json"], 1, "result.json"),
        (["report", "result.json"], 2, "required"),
        (["report", "result.json", "--output", "none/r.html"], 2, "does not exist; create it first"),
        (["report", "result.json", "--output", "r.pdf"], 2, "a report is a .html or .htm file"),
        (["report", "result.json", "--output", "r.html", "--methods", "all"], 2, "add --recording"),
        (["report", "result.json", "--output", "r.html", "--recording", "run.csv"], 2, "(--robot)"),
        (["report", "truth.json", "--output", "r.html"], 1, "truth.json is a simulation's truth; this needs a result"),
        (
            ["report", "result.json", "--output", "r.html", "--recording", "run.parquet", "--methods", "magic"],
            2,
            "unknown method 'magic'",
        ),
        (["demo", "--time-budget", "0"], 2, "--time-budget must be a positive time"),
        (["demo", "--seed", "-1"], 2, "--seed must be at least 0"),
        (["demo", "--output-dir", "result.json/demo"], 2, "result.json is no folder"),
    ],
)
def test_bad_usage(
    arguments: list[str], code: int, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
    assert not Path("r.html").exists()
    assert not Path("iparam-demo").exists()


def test_report_with_everything(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    output = tmp_path / "report.html"
    options = ["--recording", "run.parquet", "--trajectory", "t.json", "--truth", "truth.json"]
    assert main(["report", "result.json", *options, "--methods", "ls", "rtls", "--output", str(output)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert str(output) in out
    page = output.read_text(encoding="utf-8")
    assert 'id="left-out"' not in page
    assert "file: recording" in page
    assert "run.parquet" in page
    assert str(folder) not in page
    assert page.count("<figure") == 18


def test_report_of_the_result_alone(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert main(["report", "result.json", "--output", str(tmp_path / "r.html"), "--title", "A <b>load</b>"]) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>A &lt;b&gt;load&lt;/b&gt;</h1>" in page
    assert 'id="left-out"' in page


def test_report_names_the_extra(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert main(["report", "result.json", "--output", "r.html"]) == 1
    assert "pip install 'iparam[plot]'" in capsys.readouterr().err


def test_demo_names_the_extra(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    assert main(["demo"]) == 1
    assert "pip install 'iparam[mujoco]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_demo_does_the_whole_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("matplotlib")
    folder = tmp_path / "new" / "demo"
    assert main(["demo", "--time-budget", "1", "--seed", "1", "--output-dir", str(folder)]) == 0
    out, err = capsys.readouterr()
    names = {"trajectory.json", "run.parquet", "truth.json", "result.json", "report.html"}
    assert {path.name for path in folder.iterdir()} == names
    assert [line[8:11] for line in err.splitlines() if "/4" in line] == ["1/4", "2/4", "3/4", "4/4"]
    assert "simulated" in out
    for method in ("consistent", "rls", "riv", "rtls", "logchol"):
        assert f"\n{method} " in out
    validation = load_trajectory(folder / "trajectory.json").validation
    assert validation is not None
    assert validation["all_constraints_satisfied"] is True
    estimate = Estimate.load(folder / "result.json")
    assert estimate.mass == pytest.approx(2.0, abs=0.02)
    assert estimate.center_of_mass == pytest.approx([0.0, 0.0, 0.1], abs=2e-3)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 18
    assert main(["verify", str(folder / "result.json"), str(folder / "run.parquet"), "--accept-same-motion"]) == 0


@pytest.mark.thorough
def test_demo_json_without_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert main(["demo", "--time-budget", "0.5", "--output-dir", str(tmp_path), "--no-report", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["simulated"] is True
    assert result["failures"] == {}
    assert result["methods"]["consistent"]["error"]["mass_percent"] < 1.0
    assert not (tmp_path / "report.html").exists()


def test_an_interrupted_demo_says_what_it_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.parquet").touch()  # of an earlier one

    def plan(self: Demo) -> None:
        (self.output_dir / "trajectory.json").touch()

    def interrupt(self: Demo, robot: None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Demo, "_plan", plan)
    monkeypatch.setattr(Demo, "_simulate", interrupt)
    assert main(["demo", "--output-dir", str(tmp_path), "--no-report"]) == 130
    assert f"interrupted: trajectory.json of this run is in {tmp_path}\n" in capsys.readouterr().err
