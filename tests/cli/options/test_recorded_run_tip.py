"""`--tip` reaches every command that reads a recording, also where the arm's file leaves its tool open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

import iparam
from iparam.cli.main import main
from iparam.robot.urdf.writer import robot_to_urdf

SECOND_TOOL = """<link name="camera"/><joint name="to_camera" type="fixed"><parent link="wrist_3_link"/>
<child link="camera"/><origin xyz="0 0.05 0.02" rpy="0.3 0 0"/></joint></robot>"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arm with two tools, and two runs whose wrench is that of 2 kg, measured at the camera."""
    folder = tmp_path_factory.mktemp("two_tools")
    text = robot_to_urdf(iparam.load_robot("ur5e")).rstrip()
    (folder / "arm.urdf").write_text(text.removesuffix("</robot>") + SECOND_TOOL)
    robot = iparam.load_robot(folder / "arm.urdf", tip="camera")
    load = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).phi
    for seed in (1, 2):
        a, b = np.random.default_rng(seed).normal(0.0, 0.35, (2, 6, 3))
        q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
        motion = iparam.WindowedFourierTrajectory(q0, a, b, base_freq=0.25, duration=4.0).sample(200.0)
        wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ load
        recording = iparam.Recording().with_signal("q", time=motion.time, values=motion.q)
        recording = recording.with_signal("wrench", iparam.Signal(motion.time, wrench, "N, N m", "camera"))
        iparam.noise_preset("ur5e").apply(recording, seed).save(folder / f"run{seed}.parquet")
    return folder


@pytest.fixture
def call(files: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.chdir(files)
    return lambda *arguments: main([*arguments, "--robot", "arm.urdf", "--tip", "camera"])


def test_the_tip_reaches_every_command(
    call: Callable[..., int], files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("identify", "payload", "run1.parquet", "--output", "result.json") == 0, capsys.readouterr().err
    found = json.loads((files / "result.json").read_text())
    assert found["frame"] == "camera"
    assert found["mass"] == pytest.approx(2.0, abs=5 * found["standard_deviation"]["mass"])
    assert call("verify", "result.json", "run2.parquet") == 0
    assert call("compensate", "run2.parquet", "--result", "result.json", "--output", "clean.parquet") == 0
    residual = iparam.Recording.load(files / "clean.parquet", robot="arm.urdf", tip="camera").signal("wrench")
    assert np.std(residual.values[:, :3], axis=0).max() < 1.0  # [N], of 20 with the load
    assert call("report", "result.json", "--recording", "run1.parquet", "--output", "report.html") == 0
    assert call("bag", "export", "run1.parquet", "--output", "bag") == 0
    with AnyReader([files / "bag"], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as bag:
        wrenches = [
            bag.deserialize(data, topic.msgtype) for topic, _, data in bag.messages() if "Wrench" in topic.msgtype
        ]
    assert {message.header.frame_id for message in wrenches} == {"camera"}
    sent = np.array([[message.wrench.force.z, message.wrench.torque.x] for message in wrenches])
    recorded = iparam.Recording.load(files / "run1.parquet", robot="arm.urdf", tip="camera").signal("wrench")
    np.testing.assert_allclose(np.abs(sent), np.abs(recorded.values[:, [2, 3]]))


def test_without_a_tip_the_wrench_is_turned_into_the_robots_own(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(files)
    assert main(["identify", "payload", "run1.parquet", "--robot", "arm.urdf", "--output", "own.json"]) == 0
    found = json.loads((files / "own.json").read_text())
    (turned,) = [one["values"] for one in found["remarks"] if one["code"] == "wrench-transformed"]
    assert (turned["frame"], turned["tool_frame"]) == ("camera", "tool0")
    assert turned["millimetres"] == pytest.approx(1e3 * np.hypot(0.05, 0.02))
    pose = np.eye(4)
    pose[:3, :3] = [[1, 0, 0], [0, np.cos(0.3), -np.sin(0.3)], [0, np.sin(0.3), np.cos(0.3)]]
    pose[:3, 3] = [0.0, 0.05, 0.02]  # as the file has it; tool0 is where wrist_3_link is
    expected = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).transformed(pose).center_of_mass
    assert found["frame"] == "tool0"
    np.testing.assert_allclose(found["center_of_mass"], expected, atol=2e-3)


def test_a_tool_frame_that_the_robot_lacks_is_refused_unless_a_tip_says_what_it_is(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(files)
    made = iparam.Recording.load("run1.parquet").with_metadata(tool_frame="eye")
    named = {name: iparam.Signal(s.time, s.values, s.unit) for name, s in made.signals.items()}
    iparam.Recording("arm.urdf", named, made.metadata).save("eye.parquet")
    assert main(["identify", "payload", "eye.parquet", "--robot", "arm.urdf"]) == 2
    assert "has no frame 'eye'" in (err := capsys.readouterr().err)
    assert "if it is another name for 'tool0', say that 'tool0' is the tip" in err
    arm = ["--robot", "arm.urdf", "--tip", "camera"]
    assert main(["identify", "payload", "eye.parquet", *arm, "--output", "eye.json"]) == 0
    found = json.loads((files / "eye.json").read_text())
    (renamed,) = [one["values"] for one in found["remarks"] if one["code"] == "tool-frame-unknown"]
    assert (renamed["stated"], renamed["tip"]) == ("eye", "camera")
    assert found["frame"] == "camera"
    np.testing.assert_allclose(found["center_of_mass"], np.zeros(3), atol=2e-3)
