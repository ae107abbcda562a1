"""The `iparam ur` commands as commands: what they need, what they refuse before any connection, and their words."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_results import made_result, made_static

from iparam.bridges.ur.rtde.packets import ControllerVersion
from iparam.bridges.ur.run import command_client
from iparam.bridges.ur.run.payload_setting import can_set_inertia, inertia_in_ur_order
from iparam.cli.main import main
from iparam.export import IdentifiedLoad, export_load
from iparam.remarks import Remark, Severity, remark

DATA = Path(__file__).parents[2] / "data"
RESULT = DATA / "sample_result.json"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here may connect to anything."""

    def refuse(*arguments: Any, **options: Any) -> None:
        pytest.fail(f"a connection was made: {arguments}")

    monkeypatch.setattr(socket, "create_connection", refuse)


@pytest.mark.parametrize(
    "arguments",
    [
        ["ur", "record", "--output", "run.parquet"],
        ["ur", "run", "t.json", "--output", "run.parquet"],
        ["ur", "set-payload", "result.json"],
    ],
)
def test_there_is_no_default_host(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "--host" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output", "run.txt"], "a recording is a .parquet or .csv file"),
        (["--output", "nowhere/run.parquet"], "does not exist; create it first"),
        (["--output", "run.parquet", "--duration", "0"], "--duration must be positive"),
        (["--output", "run.parquet", "--give-up-after", "-1"], "--give-up-after must be positive"),
        (["--output", "run.parquet", "--port", "70000"], "--port must be 1 to 65535"),
        (["--output", "run.parquet", "--robot", "ur7"], "unknown robot 'ur7'"),
        (["--output", "run.parquet", "--wrench", "sensor"], "--wrench"),
    ],
)
def test_record_refuses(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["ur", "record", "--host", "192.0.2.1", *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (["--amplitude", "1.5"], "above 0 and at most 1, got 1.5", 2),
        (["--speed-scale", "1.5"], "--speed-scale must be 0.02 to 1, got 1.5", 2),
        (["--speed-scale", "nan"], "--speed-scale must be 0.02 to 1, got nan", 2),
        (["--max-deviation", "0"], "--max-deviation must be positive", 2),
        (["--max-silence", "-1"], "--max-silence must be positive", 2),
        (["--approach-speed", "3"], "at most 1 rad/s", 2),
        (["--max-velocity", "0.3"], "the motion is not valid, so the arm stays where it is: joint velocity: -", 1),
        (["--payload-size", "0.1", "0.1", "1.5"], "payload-ground collision: -", 1),
    ],
)
def test_run_refuses_before_it_connects(
    options: list[str], message: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    motion = str(DATA / "calm_ur5e.json")
    base = ["ur", "run", motion, "--host", "192.0.2.1", "--output", str(tmp_path / "run.parquet"), "--yes"]
    assert main([*base, *options]) == code
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_plan_of_the_reference_problem_is_refused_by_the_links_of_the_arm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its own geometry, spheres at the joints, calls it clear; what it was planned with comes from the file."""
    plan = ["excite", "optimize", "--preset", "reference", "--starts", "1", "--output", str(tmp_path / "t.json")]
    assert main(plan) == 0
    capsys.readouterr()
    assert main(["excite", "check", str(tmp_path / "t.json")]) == 0
    checked = capsys.readouterr()
    assert "all limits kept" in checked.out
    assert "by the shapes of the links" in checked.err
    assert (
        main(
            ["ur", "run", str(tmp_path / "t.json"), "--host", "192.0.2.1", "--output", str(tmp_path / "r.csv"), "--yes"]
        )
        == 1
    )
    refused = capsys.readouterr()
    assert "planned with      a payload of 0.1 x 0.15 x 0.2 m" in refused.out
    assert "the motion of the reference problem is not valid, so the arm stays where it is" in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


GAP = {"signal": "q", "count": 1, "periods": 5.0, "longest": 0.3, "start": 1.0}


def changed_result(path: Path, **changes: Any) -> Path:
    sample = json.loads(RESULT.read_text())
    load = [changes.pop(key, sample[key]) for key in ("mass", "center_of_mass", "inertia_about_com")]
    path.write_text(json.dumps(made_result(*load, **changes)))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": 7.0}, "a mass of 7 kg: ur5e carries up to 5 kg"),
        ({"center_of_mass": [0.0, 0.0, 0.9]}, "a centre of mass 0.9 m from the flange: ur5e itself reaches 0.839 m"),
        ({"mass": 4.5, "center_of_mass": [0.0, 0.0, 0.65]}, "would have to hold 28.7 N m, and gives 28 N m"),
        (
            {"remarks": [remark("estimates-disagree", factor=5.0), remark("gaps", **GAP)]},
            "discredited by 1 of its remarks",
        ),
        (
            {"remarks": [Remark("of-a-later-version", Severity.DOUBT, "New.")]},
            "--accept-warnings sends it nevertheless",
        ),
        ({"mass": -1.0}, "not physically consistent"),
        ({"inertia_about_com": [[0.1, 0.0, 0.0], [0.0, 0.01, 0.0], [0.0, 0.0, 0.01]]}, "not physically consistent"),
    ],
)
def test_set_payload_refuses(
    changes: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = changed_result(tmp_path / "result.json", **changes)
    assert main(["ur", "set-payload", str(result), "--host", "192.0.2.1", "--robot", "ur5e"]) == 1
    assert message in capsys.readouterr().err


def static_result(path: Path, **changes: Any) -> Path:
    load = changes.pop("mass", 2.0), changes.pop("center_of_mass", [0.0, 0.0, 0.1])
    path.write_text(json.dumps(made_static(*load, **changes)))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": -2.0}, "not physically consistent"),
        ({"mass": 5.1}, "ur5e carries up to 5 kg"),
        ({"center_of_mass": [0.9, 0.0, 0.0]}, "ur5e itself reaches 0.839 m"),
        (
            {"remarks": [remark("rests-disagree", quantity="forces", size=3.0, unit="N", factor=9.0)]},
            "discredited by 1 of its remarks",
        ),
    ],
)
def test_set_payload_refuses_results_of_rests_as_well(
    changes: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = static_result(tmp_path / "result.json", **changes)
    assert main(["ur", "set-payload", str(result), "--host", "192.0.2.1", "--robot", "ur5e"]) == 1
    assert message in capsys.readouterr().err


def test_set_payload_needs_somebody_to_ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for result in (changed_result(tmp_path / "result.json"), static_result(tmp_path / "static.json")):
        assert main(["ur", "set-payload", str(result), "--host", "192.0.2.1"]) == 2
        assert "no terminal to ask for permission to set the payload: add --yes" in capsys.readouterr().err


def test_set_payload_wants_the_flange_and_a_known_arm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = changed_result(tmp_path / "result.json", frame="gripper")
    assert main(["ur", "set-payload", str(result), "--host", "192.0.2.1"]) == 2
    assert "'gripper'" in capsys.readouterr().err
    shutil.copy(RESULT, result)
    assert main(["ur", "set-payload", str(result), "--host", "192.0.2.1", "--robot", "panda"]) == 2
    assert "no UR arm of that name" in capsys.readouterr().err
    arm = str(DATA / "sample_robot.urdf")  # as a setup may name it
    assert main(["ur", "set-payload", str(result), "--host", "192.0.2.1", "--robot", arm]) == 2
    assert "no terminal to ask for permission" in capsys.readouterr().err


def test_the_inertia_goes_out_in_the_order_of_the_exported_script() -> None:
    load = IdentifiedLoad(1.0, np.zeros(3), [[1.0, 0.1, 0.2], [0.1, 1.1, 0.3], [0.2, 0.3, 1.2]])
    np.testing.assert_array_equal(inertia_in_ur_order(load), [1.0, 1.1, 1.2, 0.1, 0.2, 0.3])
    assert export_load(load, "urscript").endswith("[1.0, 1.1, 1.2, 0.1, 0.2, 0.3])\n")


@pytest.mark.parametrize(
    ("version", "able"), [((5, 10), True), ((5, 9), False), ((3, 15), True), ((3, 14), False), ((10, 1), True)]
)
def test_old_software_takes_no_inertia(version: tuple[int, int], able: bool) -> None:
    assert can_set_inertia(ControllerVersion(*version, 0, 0)) == able


@pytest.mark.parametrize(
    ("newest", "said"),
    [
        ((3, 99), "this needs ur_rtde, which is not installed: pip install 'iparam[ur]'\n"),
        ((3, 9), "pip install 'iparam[ur]' with Python 3.9 or older: for 3."),
    ],
)
def test_without_ur_rtde_nothing_is_connected_and_the_reason_is_said(
    newest: tuple[int, int],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A Python for which it has no wheel is told so: the extra would bring nothing there."""
    monkeypatch.setattr(command_client, "find_spec", lambda name: None)
    monkeypatch.setattr(command_client, "NEWEST_PYTHON", newest)
    call = ["ur", "run", str(DATA / "calm_ur5e.json"), "--host", "192.0.2.1", "--output", str(tmp_path / "r.parquet")]
    assert main([*call, "--yes"]) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_extra_brings_ur_rtde_where_there_is_a_wheel_of_it() -> None:
    major, minor = command_client.NEWEST_PYTHON
    project = (DATA.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert f"ur = [\"ur_rtde>=1.6; python_version < '{major}.{minor + 1}'\"]" in project
