"""`iparam identify robot` and `iparam identify torque-payload`: files, tables and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made_results import with_load

import iparam
from iparam.cli.main import main
from iparam.estimation import Estimate
from iparam.trajectory import WindowedFourierTrajectory

DATA = Path(__file__).parents[2] / "data"
COLUMNS = "time,q,dq,current,target_current,target_torque"
GAINS = np.array([11.9, 12.0, 9.8, 10.8, 10.7, 10.7])
HOME = np.array([0.0, -1.4, 1.2, -1.0, -1.2, 0.3])


def write_log(path: Path, seed: int, mass: float = 0.0) -> None:
    robot = iparam.load_robot("ur10e").with_armature(0.5)
    a, b = np.random.default_rng(seed).normal(0.0, 0.16, (2, 6, 8))
    time = np.arange(0.0, 20.0, 0.01)
    point = WindowedFourierTrajectory(HOME, a, b, base_freq=0.05, duration=20.0).evaluate(time)
    wanted = iparam.inverse_dynamics(robot, point.q, point.dq, point.ddq)
    friction = 5.0 * np.tanh(point.dq / 0.02) + 4.0 * point.dq
    offset = np.eye(4)
    offset[:3, 3] = [0.0, 0.05, 0.1]
    arm = robot.with_payload(iparam.InertialParameters.box(mass, [0.1] * 3).transformed(offset)) if mass else robot
    tau = iparam.inverse_dynamics(arm, point.q, point.dq, point.ddq) + friction
    current = (tau + 0.5 * np.random.default_rng(seed + 100).standard_normal(tau.shape)) / GAINS
    table = np.column_stack([time, point.q, point.dq, current, (wanted + friction) / GAINS, wanted])
    np.savetxt(path, table, fmt="%.7f", delimiter=",")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    write_log(folder / "bare.csv", 0)
    write_log(folder / "other.csv", 1)
    write_log(folder / "loaded.csv", 2, mass=3.0)
    return folder


@pytest.fixture
def folder(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in logs.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def payload(*arguments: str) -> int:
    fixed = ["--bare", "bare.csv", "--loaded", "loaded.csv", "--robot", "ur10e"]
    return main(["identify", "torque-payload", *fixed, *arguments])


def test_torque_payload(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert payload("--columns", COLUMNS, "--output", "result.json") == 0
    out, err = capsys.readouterr()
    assert "mass" in out
    assert "drive gains" in out
    assert "iparam: note: The drive gains follow" in err
    result = json.loads(Path("result.json").read_text(encoding="utf-8"))
    assert result["format"] == "iparam-result/1"
    assert result["mass"] == pytest.approx(3.0, rel=0.02)
    assert result["mass_interval_95"][0] < 3.0 < result["mass_interval_95"][1]
    assert result["physically_consistent"] is True


def test_torque_payload_as_json_with_given_gains_and_a_damaged_log(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path("loaded.csv").read_text(encoding="utf-8").splitlines()
    lines[500] = "not a row"
    Path("loaded.csv").write_text("\n".join(lines)[:-20], encoding="utf-8")
    assert payload("--columns", COLUMNS, "--drive-gains", *(str(gain) for gain in GAINS), "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["mass"] == pytest.approx(3.0, rel=0.02)
    said = {one["code"]: one["values"] for one in result["remarks"]}
    assert (said["rows-of-other-width"]["count"], said["rows-of-other-width"]["lines"]) == (1, "501")
    assert "row-cut" in said


def test_robot(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--robot", "ur10e", "--columns", COLUMNS, "--validate", "other.csv"]
    assert main(["identify", "robot", "bare.csv", *arguments, "--output", "arm.json", "--urdf", "arm.urdf"]) == 0
    out = capsys.readouterr().out
    assert "Izz1 + Iyy2" in out
    assert "plain least squares" in out
    document = json.loads(Path("arm.json").read_text(encoding="utf-8"))
    assert document["format"] == "iparam-robot/1"
    assert set(document["validation"]) == {"identified", "ols", "ols_textbook", "maker"}
    assert len(document["validation"]["identified"]["relative_residual"]) == 6
    arm = iparam.load_robot("arm.urdf", tip="tool0")
    np.testing.assert_allclose(arm.body_parameters.ravel(), np.ravel([x["phi"] for x in document["links"]]), atol=1e-12)


def test_rows_are_those_of_the_logs_that_are_fitted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--robot", "ur10e", "--columns", COLUMNS, "--friction", "viscous,coulomb", "--coupled", "none", "--json"]
    options += ["--rows", "0:1200"]
    for held_out, samples in ((["other.csv"], 2000), (["bare.csv", "--validate-rows", "1200:"], 800)):
        assert main(["identify", "robot", "bare.csv", *options, "--validate", *held_out]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["samples"] == 1200
        assert document["validation"]["identified"]["samples"] == samples
    for held_out in (["bare.csv"], ["bare.csv", "--validate-rows", "1199:"]):
        assert main(["identify", "robot", "bare.csv", *options, "--validate", *held_out]) != 0
        assert "Part the log by --rows and --validate-rows" in capsys.readouterr().err
    assert main(["identify", "robot", "bare.csv", *options, "--validate-rows", "5:"]) == 2
    assert "--validate-rows 5: is about the log of --validate" in capsys.readouterr().err


def test_robot_as_json_from_two_logs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--robot", "ur10e", "--columns", COLUMNS, "--friction", "viscous,coulomb", "--coupled", "none", "--json"]
    assert main(["identify", "robot", "bare.csv", "other.csv", *options]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["samples"] == 4000
    assert "validation" not in document


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--columns", COLUMNS, "--drive-gains", "1", "2"], 2, "--drive-gains needs 6 numbers"),
        (["--columns", COLUMNS, "--output", "no/result.json"], 2, "does not exist"),
        (["--columns", "time,q,dq"], 2, "columns"),
        (["--columns", "time,q,dq,_,_,_,_,_,_,target_current,target_torque"], 1, "neither joint torques"),
        ([], 1, "bare.csv"),
    ],
    ids=["gains", "folder", "columns", "no effort", "no header"],
)
def test_bad_payload_usage(
    folder: Path, arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert payload(*arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("iparam: error: ")
    assert message in err


def test_bad_robot_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "robot", "none.csv", "--robot", "ur10e", "--columns", COLUMNS]) == 1
    assert "none.csv" in capsys.readouterr().err
    assert main(["identify", "robot", "bare.csv", "--robot", "ur11"]) == 2
    assert "unknown robot 'ur11'" in capsys.readouterr().err
    assert main(["identify", "robot", "bare.csv", "--robot", "ur10e", "--columns", COLUMNS, "--urdf", "no/a.urdf"]) == 2
    assert "--urdf no/a.urdf" in capsys.readouterr().err
    assert main(["identify", "robot", "--robot", "ur10e"]) == 2


def test_fuse(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = json.loads((DATA / "sample_result.json").read_text(encoding="utf-8"))
    Path("wrist.json").write_text(json.dumps(sample), encoding="utf-8")
    fine = Estimate.load("wrist.json")
    with_load(fine, fine.phi, 4.0 * fine.covariance_phi).save("torque.json")
    assert main(["identify", "fuse", "wrist.json", "torque.json", "--output", "both.json"]) == 0
    assert "mass" in capsys.readouterr().out
    fused = json.loads(Path("both.json").read_text(encoding="utf-8"))
    # Inverse variances add up: 1 + 1/4.
    np.testing.assert_allclose(fused["covariance_phi"], 0.8 * np.array(sample["covariance_phi"]), rtol=1e-6)
    np.testing.assert_allclose(fused["phi"], sample["phi"], rtol=1e-6, atol=1e-9)
    assert main(["identify", "fuse", "wrist.json", "torque.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "fusion"
    assert main(["identify", "fuse", "wrist.json"]) == 2
    assert "at least two" in capsys.readouterr().err
    assert main(["identify", "fuse", "wrist.json", "missing.json"]) != 0
    assert "missing.json" in capsys.readouterr().err


def test_exchanged_runs_fail_and_the_exchange_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    swapped = ["--bare", "loaded.csv", "--loaded", "bare.csv", "--robot", "ur10e", "--columns", COLUMNS]
    assert main(["identify", "torque-payload", *swapped, "--output", "result.json"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("iparam: REFUTED: ")
    assessment = json.loads((folder / "result.json").read_text())["assessment"]
    assert assessment["verdict"] == "refuted"
    (cause,) = assessment["causes"]
    assert cause["cause"] == "runs-exchanged"
    # What it promises is what the exchange gives.
    assert payload("--columns", COLUMNS, "--output", "right.json") == 0
    right = json.loads((folder / "right.json").read_text())
    assert f"{right['unconstrained_phi'][0]:.4f} +-" in cause["sentence"]
