"""`iparam identify payload` and `iparam compensate`: files, tables and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.estimation import METHODS, Estimate
from iparam.recording import Recording
from iparam.remarks import remark

DATA = Path(__file__).resolve().parents[2] / "data"
LOAD = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).phi
BIAS = np.array([1.0, -0.5, 0.3, 0.05, -0.02, 0.04])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with run.parquet of 5 s of the optimised motion."""
    trajectory = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    motion = trajectory.evaluate(np.linspace(2.0, 7.0, 501))
    random = np.random.default_rng(0)
    robot = iparam.load_robot("ur5e")
    y = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ LOAD + BIAS
    y = y + np.array([0.5] * 3 + [0.05] * 3) * random.standard_normal(y.shape)
    recording = Recording(robot="ur5e").with_signal("q", time=motion.time, values=motion.q)
    recording = recording.with_signal("target_q", time=motion.time, values=motion.q)
    recording.with_signal("wrench", time=motion.time, values=y).save(tmp_path / "run.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_result_is_printed_and_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "payload", "run.parquet", "--robot", "ur5e", "--output", "result.json"]) == 0
    out = capsys.readouterr().out
    assert "mass              " in out
    assert "consistent        yes" in out
    estimate = Estimate.load("result.json")
    assert abs(estimate.mass - 2.0) < 0.02
    assert estimate.sensor_bias is not None
    np.testing.assert_allclose(estimate.sensor_bias.force, BIAS[:3], atol=0.2)


def test_tolerances_are_stated_and_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a log that does not say that it was simulated, a laboratory's."""
    found = {}
    for name in ("exact", "calibrated", "lab", None):
        stated = [] if name is None else ["--tolerances", name]
        assert main(["identify", "payload", "run.parquet", *stated, "--json"]) == 0
        found[name] = json.loads(capsys.readouterr().out)
    deviations = [found[name]["standard_deviation"]["mass"] for name in ("exact", "calibrated", "lab")]
    assert deviations == sorted(deviations)
    assert found[None] == found["lab"]
    assert set(found["exact"]["covariance_terms"]) <= {"noise", "motion", "sampling"}
    total = sum(np.array(term) for term in found["lab"]["covariance_terms"].values())
    np.testing.assert_allclose(total, found["lab"]["covariance_phi"], rtol=1e-9, atol=1e-15)
    dominated = {one["values"]["quantity"]: one["values"] for one in found["lab"]["remarks"] if one["values"]}
    assert dominated["mass"]["tolerance"] == "gain"
    assert main(["identify", "payload", "run.parquet", "--static", "--tolerances", "lab"]) != 0


def test_a_doubt_is_said_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table lists it; what prints no table notes it. What changes nothing is a note either way."""
    said = remark("stamps-missing", topics="/wrench"), remark("efforts-zero", topic="/joint_states")
    Recording.load("run.parquet").with_remarks(*said).save("said.parquet")
    for arguments, on_screen, noted in (([], 1, 0), (["--json"], 0, 1)):
        assert main(["identify", "payload", "said.parquet", *arguments]) == 0
        out, err = capsys.readouterr()
        assert [line.split()[1] for line in out.splitlines() if line.startswith("doubt ")].count("stamps-missing:") == (
            on_screen
        )
        labels = [line.split()[1] for line in err.splitlines() if "/wrench" in line or "/joint_states" in line]
        assert labels == ["note:", *["warning:"] * noted]
    prior = ["--method", "logchol", "--prior", "no.json"]
    assert main(["identify", "payload", "said.parquet", "--robot", "ur5e", *prior]) != 0
    assert "iparam: warning: /wrench" in capsys.readouterr().err  # what may have made it fail


def test_what_stands_behind_the_sign_is_95_per_cent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "payload", "run.parquet", "--json"]) == 0
    deviation = json.loads(capsys.readouterr().out)["standard_deviation"]
    assert main(["identify", "payload", "run.parquet"]) == 0
    out = capsys.readouterr().out
    assert f"+- {1.96 * deviation['mass']:.4f} kg" in out
    assert f"+- {1960 * deviation['center_of_mass'][2]:.3f} mm" in out
    assert "95 % interval" in out


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "payload", "run.parquet", "--method", "rtls", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["format"] == "iparam-result/1"
    assert result["method"] == "rtls"
    assert len(result["covariance_phi"]) == 10


def test_all_methods(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "payload", "run.parquet", "--method", "all"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()[2:]] == [*METHODS, "consistent"]
    assert out.endswith("consistent        all\n")
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.thorough
def test_a_drifting_bias_with_every_method(folder: Path) -> None:
    recording = Recording.load("run.parquet")
    wrench = recording.signal("wrench")
    slope = 4.0 * np.linspace(-1.0, 1.0, wrench.num_samples)[:, None] * np.array([1.0, 1.0, 1.0, 0.05, 0.05, 0.05])
    recording.with_signal("wrench", time=wrench.time, values=wrench.values + slope).save("drift.parquet")
    for method in METHODS:
        command = ["identify", "payload", "drift.parquet", "--method", method]
        assert main([*command, "--output", "result.json"]) == 0
        estimate = Estimate.load("result.json")
        assert estimate.refutation is None
        assert abs(estimate.mass - 2.0) < 4.0 * estimate.standard_deviation.mass
        if method in ("consistent", "wls"):  # for which a drift is noise of a spectrum
            assert estimate.standard_deviation.mass < 0.05
            assert estimate.sensor_bias is not None
            np.testing.assert_allclose(estimate.sensor_bias.force, BIAS[:3], atol=0.4)


def test_a_prior(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("guess.json").write_text(json.dumps({"phi": LOAD.tolist()}), encoding="utf-8")
    command = ["identify", "payload", "run.parquet", "--method", "logchol", "--prior", "guess.json"]
    assert main(command) == 0
    assert "from the data" in capsys.readouterr().out
    for phi in ([1.0, 2.0], [0.0, 1.0, *[0.0] * 8], [1e300] * 10):
        Path("guess.json").write_text(json.dumps({"phi": phi}), encoding="utf-8")
        assert main(command) == 1
        assert "guess.json: phi" in capsys.readouterr().err


def test_compensate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "payload", "run.parquet", "--output", "result.json"]) == 0
    assert main(["compensate", "run.parquet", "--result", "result.json", "--output", "clean.parquet"]) == 0
    assert "after" in capsys.readouterr().out
    clean = Recording.load("clean.parquet").signal("wrench").values
    np.testing.assert_allclose(clean.std(axis=0), [0.5] * 3 + [0.05] * 3, rtol=0.2)
    np.testing.assert_allclose(clean.mean(axis=0), np.zeros(6), atol=0.05)
    assert main(["compensate", "run.parquet", "--result", "result.json", "--output", "c.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 501


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--method", "magic"], 2, "magic"),
        (["--method", "all", "--output", "r.json"], 2, "choose one method"),
        (["--output", "no/r.json"], 2, "does not exist"),
        (["--prior", "guess.json"], 2, "--method logchol"),
        (["--delay", "soon"], 2, "--delay"),
        (["--motion", "accelerometer"], 2, "accelerometer"),
        (["--robot", "ur6"], 2, "unknown robot"),
    ],
)
def test_bad_usage(folder: Path, arguments: list[str], code: int, message: str, capsys) -> None:
    assert main(["identify", "payload", "run.parquet", *arguments]) == code
    assert message in capsys.readouterr().err


def test_a_motion_that_does_not_excite_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = Recording.load("run.parquet")
    time = recording.signal("q").time
    still = recording.with_signal("q", time=time, values=np.tile(recording.signal("q").values[:1], (time.size, 1)))
    still.save("still.parquet")
    assert main(["identify", "payload", "still.parquet", "--output", "result.json"]) == 1
    assert "cannot be told" in capsys.readouterr().err
    marked = Estimate.load("result.json")
    assert marked.refutation is not None
    assert marked.causes[0].cause == "too-little-motion"
    assert main(["compensate", "run.parquet", "--result", "run.parquet", "--output", "c.parquet"]) == 1


def test_a_reversed_wrench_fails_and_is_written_and_marked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = Recording.load("run.parquet")
    wrench = whole.signal("wrench")
    whole.with_signal("wrench", time=wrench.time, values=-wrench.values).save("turned.parquet")
    run = ["identify", "payload", "turned.parquet"]
    assert main([*run, "--output", "result.json"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("REFUTED")
    assert err.startswith("iparam: REFUTED: The data show no possible load")
    assert "--measures reaction" in err.splitlines()[0]
    assert "error: the result is refuted by its own data" in err.splitlines()[-1]
    assert Estimate.load("result.json").assessment["causes"][0]["cause"] == "wrench-sign"
    for command in (["export", "result.json", "--format", "kuka"], ["export", "result.json", "--format", "json"]):
        assert main(command) == 1
        assert "the load is refuted" in capsys.readouterr().err
        assert main([*command, "--force"]) == 0
        assert "REFUTED BY ITS DATA" in capsys.readouterr().out
    assert main(["export", "result.json", "--format", "json", "--force", "--output", "load.json"]) == 0
    assert main(["export", "load.json", "--format", "kuka"]) == 1, "the mark goes with the load"
    capsys.readouterr()
    assert main(["ur", "set-payload", "result.json", "--host", "192.0.2.1", "--yes"]) == 1
    assert "The data show no possible load" in capsys.readouterr().err
    assert main([*run, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["assessment"]["verdict"] == "refuted"
    assert main([*run, "--method", "all"]) == 1
    assert "REFUTED" in capsys.readouterr().out
    assert main([*run, "--measures", "reaction"]) == 0


def test_a_run_without_a_wrench_is_shown_the_other_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Recording.load("run.parquet").without_signal("wrench").save("bare.parquet")
    for more in ([], ["--static"]):
        assert main(["identify", "payload", "bare.parquet", *more]) == 2
        said = capsys.readouterr().err
        assert "bare.parquet has no wrench, but q, target_q" in said
        assert "'iparam identify torque-payload'" in said
