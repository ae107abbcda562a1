"""`iparam excite poses` and `iparam identify payload --static`: from poses to a result, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

import iparam
from iparam.arrays import FloatArray
from iparam.cli.main import main

DATA = Path(__file__).parents[2] / "data"
UR5E = iparam.load_robot("ur5e")
LOAD = iparam.InertialParameters.box(1.5, [0.1, 0.1, 0.2])


@pytest.fixture(scope="module")
def poses_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("static") / "poses.json"
    command = ["excite", "poses", "--robot", "ur5e", "--payload-size", "0.1", "0.1", "0.2", "--output", str(path)]
    assert main(command) == 0
    return path


def rests_at(poses: FloatArray, path: Path) -> Path:
    """A recording of 1 s in each pose, with jumps between them."""
    q = np.repeat(poses, 200, axis=0)
    time, rest = np.arange(len(q)) / 200.0, np.zeros_like(q)
    noise = np.random.default_rng(0).standard_normal((len(q), 6)) * [0.5, 0.5, 0.5, 0.05, 0.05, 0.05]
    wrench = iparam.wrench_regressor(UR5E, q, rest, rest) @ LOAD.phi + noise + 0.5
    recording = iparam.Recording(robot="ur5e").with_signal("q", time=time, values=q)
    recording.with_signal("wrench", time=time, values=wrench).save(path)
    return path


@pytest.fixture(scope="module")
def recording_file(poses_file: Path) -> Path:
    poses = np.array(json.loads(poses_file.read_text())["poses"])
    return rests_at(poses, poses_file.with_name("rests.parquet"))


@pytest.mark.thorough
def test_the_poses_are_written_and_shown(poses_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = json.loads(poses_file.read_text())
    assert written["format"] == "iparam-poses/1"
    again = poses_file.with_name("again.json")
    command = ["excite", "poses", "--robot", "ur5e", "--payload-size", "0.1", "0.1", "0.2", "--output", str(again)]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "gravity in the tool" in out
    assert "identify payload FILE --static" in out
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["poses"] == written["poses"]


def test_from_poses_to_a_result(recording_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tmp_path / "static.json"
    assert main(["identify", "payload", str(recording_file), "--static", "--output", str(result)]) == 0
    out, err = capsys.readouterr()
    assert "6 rests, 6 directions of gravity" in out
    assert "95 % from" in out
    assert "inertia cannot be seen at rest" in " ".join(out.split())
    assert "iparam excite optimize" in " ".join(out.split())
    assert err == ""
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line and ".parquet" not in line) <= 80
    document = json.loads(result.read_text())
    half = document["interval_95_factor"] * document["standard_deviation"]["mass"]
    assert abs(document["mass"] - LOAD.mass) <= half < 0.1
    assert main(["identify", "payload", str(recording_file), "--static", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == document


def test_a_static_result_is_exported_where_no_inertia_is_needed(
    recording_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = tmp_path / "static.json"
    assert main(["identify", "payload", str(recording_file), "--static", "--output", str(result)]) == 0
    document = json.loads(result.read_text())
    capsys.readouterr()
    assert main(["export", str(result), "--format", "urscript"]) == 0
    script = capsys.readouterr().out
    call = [line for line in script.splitlines() if not line.startswith("#")]
    assert len(call) == 1
    sent = json.loads(f"[{call[0].removeprefix('set_payload(').removesuffix(')')}]")
    assert sent[0] == pytest.approx(document["mass"], rel=1e-6)
    assert sent[1] == pytest.approx(document["center_of_mass"], abs=1e-6)
    assert main(["export", str(result), "--format", "ros2"]) == 0
    parameters = yaml.safe_load(capsys.readouterr().out)["/**"]["ros__parameters"]
    assert parameters["gravity_compensation"]["CoG"]["pos"] == pytest.approx(document["center_of_mass"], abs=1e-6)
    assert parameters["gravity_compensation"]["CoG"]["force"] == pytest.approx(9.81 * document["mass"], rel=1e-3)
    assert "inertia_about_com" not in parameters["payload"]
    for options in (["--format", "mjcf"], ["--urdf", str(DATA / "sample_robot.urdf")]):
        assert main(["export", str(result), *options]) != 0
        err = capsys.readouterr().err
        assert "needs an inertia" in err
        assert "excitation motion" in err
        assert "Formats that do without: urscript, abb, xarm, ros2, json" in err
    assert main(["verify", str(result), str(recording_file)]) != 0
    assert "single poses hold no motion" in capsys.readouterr().err
    document["mass"] = -1.0
    result.write_text(json.dumps(document))
    assert main(["export", str(result), "--format", "urscript"]) != 0
    assert "does not agree with covariance_phi" in capsys.readouterr().err
    document["center_of_mass"] = [0.0]
    result.write_text(json.dumps(document))
    assert main(["export", str(result), "--format", "urscript"]) != 0
    assert "center_of_mass" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "ls"], "--method has no meaning with --static"),
        (["--bias", "none"], "--bias has no meaning with --static"),
        (["--delay", "0.01"], "--delay has no meaning with --static"),
        (["--output", "nowhere/static.json"], "does not exist"),
    ],
)
def test_options_that_do_not_go_with_rests(
    options: list[str], message: str, recording_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["identify", "payload", str(recording_file), "--static", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_too_few_poses_are_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    poses = np.radians([[90, -90, 90, -90, -90, 90], [90, -90, 90, 0, -90, 90], [90, -90, 90, -180, -90, 90]])
    few = rests_at(poses, tmp_path / "few.parquet")
    assert main(["identify", "payload", str(few), "--static"]) != 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "only 3 different directions" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--count", "3"], "10 unknowns"),
        (["--max-displacement", "0.01"], "tool displacement"),
        (["--robot", "ur7"], "unknown robot"),
    ],
)
def test_poses_that_cannot_be(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "poses.json"
    robot = [] if "--robot" in options else ["--robot", "ur5e"]
    assert main(["excite", "poses", *robot, "--output", str(path), *options]) != 0
    assert message in capsys.readouterr().err
    assert not path.exists()
