"""Every file that iparam writes is known again; what others wrote is not taken for one."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.kinematics.batch import SUFFIXES
from iparam.cli.main import main
from iparam.errors import FileFormatError, InputError
from iparam.estimation.corrections.sensor_calibration import load_sensor_correction
from iparam.export import FORMATS, IdentifiedLoad, export_load, merge_into_urdf
from iparam.files.kind import FileKind, check_target, kind_of
from iparam.recording import CHANNELS
from iparam.recording.channels import column_names
from iparam.remarks import remark
from iparam.robot.urdf.writer import robot_to_urdf

DATA = Path(__file__).resolve().parents[1] / "data"
SOURCE = Path(iparam.__file__).resolve().parent
LOAD = IdentifiedLoad(2.0, np.array([0.01, 0.02, 0.1]), np.diag([0.01, 0.012, 0.008]))


def every_format() -> set[str]:
    """The formats that stand in the source."""
    texts = (file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py"))
    return {found for text in texts for found in re.findall(r'"(iparam-[a-z-]+/[0-9]+)"', text)}


@pytest.mark.parametrize("stated", sorted(every_format()))
def test_every_format_is_known(stated: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(f'{{"format": "{stated}",\n "more": 1}}', encoding="utf-8")
    assert kind_of(path) is not None


def test_formats_are_kinds_of_their_own(tmp_path: Path) -> None:
    found = []
    for stated in every_format():
        path = tmp_path / f"{stated.partition('/')[0]}.json"
        path.write_text(f'{{"format": "{stated}"}}', encoding="utf-8")
        found.append(kind_of(path))
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_recordings(tmp_path: Path, suffix: str) -> None:
    recording = iparam.Recording("ur5e", remarks=(remark("columns-unknown", columns="iparam-trajectory/1"),))
    for name, channel in CHANNELS.items():
        width = len(channel.columns) or 7
        recording = recording.with_signal(name, time=[0.0, 1.0], values=np.ones((2, width)))
        assert column_names(name, width)
    path = tmp_path / f"run{suffix}"
    recording.save(path)
    assert kind_of(path) is FileKind.RECORDING


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_states(tmp_path: Path, suffix: str) -> None:
    recording, path = tmp_path / "run.parquet", tmp_path / f"states{suffix}"
    rests = iparam.Recording("ur5e")
    for name in ("q", "dq", "ddq"):
        rests = rests.with_signal(name, time=[0.0, 0.1, 0.2], values=np.zeros((3, 6)))
    rests.save(recording)
    assert main(["kinematics", "batch", "--input", str(recording), "--output", str(path)]) == 0
    assert kind_of(path) is FileKind.STATES


@pytest.mark.parametrize("name", FORMATS)
def test_exports(tmp_path: Path, name: str) -> None:
    if name == "usd":
        pytest.importorskip("pxr")
    path = tmp_path / "load"
    path.write_text(export_load(LOAD, name), encoding="utf-8")
    assert kind_of(path) is FORMATS[name].kind


def test_robots_of_iparam_and_of_others(tmp_path: Path) -> None:
    arm = tmp_path / "arm.urdf"
    arm.write_text(robot_to_urdf(iparam.load_robot("ur5e")), encoding="utf-8")
    assert kind_of(arm) is FileKind.URDF
    assert iparam.load_robot(arm).num_joints == 6
    far = tmp_path / "far.urdf"
    comment = f"<!--{'x' * 100_000}-->"
    text = (DATA / "sample_robot.urdf").read_text(encoding="utf-8")
    far.write_text(text.replace("<link", f"{comment}<link", 1), encoding="utf-8")
    assert kind_of(far) is None
    last = re.findall(r'<link name="([^"]*)"', text)[-1]
    far.write_text(merge_into_urdf(LOAD, far, link=last), encoding="utf-8")
    assert kind_of(far) is FileKind.URDF


def test_a_report(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(DATA / "sample_result.json"), "--output", str(path)]) == 0
    assert kind_of(path) is FileKind.REPORT


@pytest.mark.parametrize(
    "contents",
    [
        b"",
        b"PAR1",
        b"PAR1 of somebody else \xff\xff\xff\x7fPAR1",
        b'{"a": {"format": "iparam-result/1"}}',
        b'{"format": "other/1"}',
        b"time,temperature\n0,1\n",
        b"timestamp,q0\n0,1\n",
        b"# my notes about iparam-result/1\n",
        b'<robot name="mine"/>',
        b"<html>my page</html>",
        b"\0\xff" * 100,
    ],
)
def test_what_others_wrote_is_of_no_kind(tmp_path: Path, contents: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(contents)
    assert kind_of(path) is None
    assert kind_of(tmp_path / "nothing") is None


def test_what_may_be_replaced(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    check_target(result, FileKind.RESULT, "--output")  # nothing is there
    result.touch()
    check_target(result, FileKind.RESULT, "--output")  # nothing is in it
    result.write_text('{"format": "iparam-result/2"}', encoding="utf-8")
    check_target(result, FileKind.RESULT, "--output")
    with pytest.raises(InputError, match=r"--truth .*result\.json exists and is a result, and a simulation's truth"):
        check_target(result, FileKind.TRUTH, "--truth")
    check_target(result, FileKind.TRUTH, "--truth", overwrite=True)
    result.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="is nothing that iparam wrote"):
        check_target(result, FileKind.RESULT, "--output")
    with pytest.raises(InputError, match="does not exist; create it first"):
        check_target(tmp_path / "none" / "x", FileKind.RESULT, "--output", overwrite=True)


@pytest.mark.skipif(os.name == "nt", reason="special files of POSIX")
def test_what_is_no_file_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for name, word in (("pipe", "a pipe"), ("socket", "a socket"), (".", "a folder"), (os.devnull, "a device")):
            with pytest.raises(InputError, match=f"is {word}, not a file"):
                check_target(Path(name), FileKind.RESULT, "--output", overwrite=True)


def test_the_file_that_is_printed_to_is_not_replaced(tmp_path: Path) -> None:
    """``--output /dev/stdout > file`` left the JSON alone in it, and with exit code 0."""
    path = tmp_path / "printed.json"
    check = "from pathlib import Path; from iparam.files.kind import FileKind, check_target; "
    check += "check_target(Path('/dev/stdout'), FileKind.RESULT, '--output', overwrite=True)"
    with path.open("w") as stream:
        ended = subprocess.run([sys.executable, "-c", check], stdout=stream, stderr=subprocess.PIPE, text=True)
    assert "is where the printed text goes, which would be lost" in ended.stderr


LOADERS: dict[FileKind, Callable[[Path], object]] = {
    FileKind.RESULT: iparam.Estimate.load,
    FileKind.TRAJECTORY: iparam.load_trajectory,
    FileKind.TRUTH: iparam.simulation.GroundTruth.load,
    FileKind.SENSOR: load_sensor_correction,
    FileKind.CELL: iparam.robot.load_cell,
    FileKind.SETUP: iparam.sensing.Setup.load,
    FileKind.RECORDING: iparam.Recording.load,
}
STATED = {
    FileKind.RESULT: "iparam-result",
    FileKind.TRAJECTORY: "iparam-trajectory",
    FileKind.TRUTH: "iparam-truth",
    FileKind.SENSOR: "iparam-sensor",
    FileKind.CELL: "iparam-cell",
    FileKind.POSES: "iparam-poses",
}


@pytest.mark.parametrize("wanted", LOADERS)
def test_a_file_of_another_kind_is_called_what_it_is(wanted: FileKind, tmp_path: Path) -> None:
    file = tmp_path / "given.json"
    for found, name in STATED.items():
        if found is wanted:
            continue
        file.write_text(json.dumps({"format": f"{name}/1"}))
        with pytest.raises(
            FileFormatError, match=rf"given\.json is {found}; this needs {wanted}, as 'iparam[ .].*' writes"
        ):
            LOADERS[wanted](file)


@pytest.mark.parametrize("wanted", [kind for kind in LOADERS if kind is not FileKind.RECORDING])
def test_a_recording_is_called_one(wanted: FileKind, tmp_path: Path) -> None:
    recording = iparam.Recording().with_signal("q", time=np.arange(3.0), values=np.zeros((3, 6)))
    for file in (tmp_path / "run.parquet", tmp_path / "run.csv"):
        recording.save(file)
        with pytest.raises(FileFormatError, match=rf"{file.name} is a recording; this needs {wanted}"):
            LOADERS[wanted](file)


@pytest.mark.parametrize("kind", [FileKind.RESULT, FileKind.TRAJECTORY, FileKind.TRUTH])
def test_a_newer_version_is_still_said_to_be_one(kind: FileKind, tmp_path: Path) -> None:
    file = tmp_path / "newer.json"
    file.write_text(json.dumps({"format": f"{STATED[kind]}/2"}))
    with pytest.raises(
        FileFormatError, match=rf"is '{STATED[kind]}/2'; this version of iparam reads '{STATED[kind]}/1'"
    ):
        LOADERS[kind](file)
