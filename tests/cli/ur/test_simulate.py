"""`iparam ur simulate`: wrong options, the truth file, and its own end."""

from __future__ import annotations

from pathlib import Path

import pytest

from iparam.cli.main import main
from iparam.simulation import GroundTruth

PORTS = ["--rtde-port", "0", "--dashboard-port", "0", "--script-ports", "0", "0"]


def test_it_serves_for_its_duration_and_writes_the_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth = tmp_path / "truth.json"
    options = ["--payload", "sphere", "--size", "0.05", "--mass", "0.8", "--noise", "ur5e", "--truth", str(truth)]
    assert main(["ur", "simulate", *PORTS, *options, "--duration", "0.1"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("ready: ur5e at 127.0.0.1, RTDE ")
    assert out.count("\n") == 1
    assert "ended after 0.1 s" in err
    assert GroundTruth.load(truth).payload.mass == 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--robot", "ur7"], "unknown robot 'ur7'"),
        (["--fault", "drp@3"], "did you mean 'drop'?"),
        (["--fault", "drop@soon"], "expected KIND@SECONDS"),
        (["--noise", "loud"], "unknown noise preset 'loud'"),
        (["--mass", "3"], "the payload has no shape"),
        (["--payload", "box", "--size", "1"], "--size needs 3 numbers"),
        (["--payload", "box", "--size", "0.1", "0.1", "3", "--mass", "1"], "in the start pose"),
        (["--q", "1", "2"], "--q needs 6 numbers"),
        (["--q", "9", "0", "0", "0", "0", "0"], "within the joints' range"),
        (["--duration", "0"], "--duration must be positive"),
        (["--seed", "-1"], "seed must be at least 0"),
        (["--rtde-port", "70000"], "--rtde-port must be 0 to 65535, 0 for a free one, got 70000"),
        (["--script-ports", "30001", "0", "30001"], "--script-ports has 30001 twice"),
        (["--script-ports", "30004", "--rtde-port", "30004"], "--script-ports has 30004, which is that of --rtde-port"),
        (["--host", "203.0.113.7"], "cannot listen on 203.0.113.7"),
        (["--truth", "/no/such/folder/truth.json"], "does not exist"),
    ],
)
def test_wrong_options_are_bad_usage(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    usual = {"--rtde-port": ["0"], "--dashboard-port": ["0"], "--script-ports": ["0", "0"], "--duration": ["0.1"]}
    others = [word for name, values in usual.items() if name not in options for word in (name, *values)]
    assert main(["ur", "simulate", *others, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_an_arm_without_six_joints_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf = tmp_path / "one.urdf"
    urdf.write_text(
        '<robot name="one"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    assert main(["ur", "simulate", *PORTS, "--robot", str(urdf), "--duration", "0.1"]) == 2
    assert "a UR controller has six joints, one has 1" in capsys.readouterr().err
