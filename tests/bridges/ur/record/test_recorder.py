"""Recording from a controller: every package, the right signs and frames, and time axes that always increase."""

from __future__ import annotations

import json
import math
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.ur_controller.twin import UrTwin

import iparam
from iparam.bridges.ur.record.controller_signals import choose_conversion, sign_remark
from iparam.bridges.ur.record.recorder import ArmRecorder, RecorderSettings
from iparam.bridges.ur.record.rows import recording_of_rows
from iparam.bridges.ur.record.sample_times import JUMP, SampleTimes
from iparam.bridges.ur.record.spill_file import SpillFile
from iparam.bridges.ur.rtde.client import RtdeStream
from iparam.cli.main import main
from iparam.robot.kinematics import forward_kinematics

UR5E = iparam.load_robot("ur5e")
MASS = 2.0
TILTED = np.radians([10.0, -80.0, 95.0, -60.0, -70.0, 20.0])


def wait_until(condition: Callable[[], bool], what: str, timeout: float = 60.0) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout} s: {what}"
        time.sleep(0.02)


def record(twin: UrTwin, samples: int, **settings: Any) -> iparam.Recording:
    recorder = ArmRecorder(RecorderSettings(twin.host, UR5E, "ur5e", twin.ports.rtde, **settings))
    recorder.start()
    try:
        wait_until(lambda: recorder.num_samples >= samples, f"{samples} samples")
    finally:
        recorder.stop()
    return recorder.recording()


def test_every_package_arrives_with_the_controllers_stamp(tilted_twin: UrTwin) -> None:
    recording = record(tilted_twin, 400)
    np.testing.assert_allclose(np.diff(recording.signal("q").time), 0.002, atol=1e-9)
    assert recording.signal("q").time[0] == 0.0
    assert recording.metadata["gap_count"] == 0
    assert recording.metadata["controller_version"].startswith("5.")
    assert recording.metadata["missing_fields"] == []
    assert recording.robot == "ur5e"
    assert recording.remarks == ()
    names = {"q", "dq", "current", "target_q", "target_dq", "target_ddq", "target_current", "target_torque"}
    assert set(recording.signals) == names | {"wrench", "accelerometer", "tcp_force", "raw_wrench"}


@pytest.mark.parametrize("field", ["raw", "tcp-force"])
def test_the_wrench_carries_the_load_in_tool0_axes(tilted_twin: UrTwin, field: str) -> None:
    """Both fields, in different axes, have to give the wrench that statics says."""
    recording = record(tilted_twin, 100, wrench=field)
    assert recording.metadata["wrench_field"] == field
    upward = forward_kinematics(UR5E, TILTED)[:3, :3].T @ [0.0, 0.0, 1.0]
    force = MASS * 9.81 * upward
    expected = np.concatenate([force, np.cross([0.0, 0.0, 0.1], force)])  # the box stands on the flange
    np.testing.assert_allclose(recording.signal("wrench").values.mean(axis=0), expected, atol=0.02)
    np.testing.assert_allclose(recording.signal("accelerometer").values.mean(axis=0), 9.81 * upward, atol=0.02)


def test_a_configured_payload_is_told_of(twin: UrTwin) -> None:
    with socket.create_connection((twin.host, twin.ports.script[1])) as script:
        script.sendall(b"set_payload(1.5, [0.0, 0.0, 0.05])\n")
        with RtdeStream.open(twin.host, ("payload",), port=twin.ports.rtde) as stream:
            wait_until(lambda: bool((stream.read(0.2) == 1.5).any()), "the payload")
    recording = record(twin, 60, wrench="tcp-force")
    assert ("tcp-force-without-payload", 1.5) in [(one.code, one.values.get("mass")) for one in recording.remarks]
    assert recording.metadata["configured_payload"]["center_of_gravity"] == [0.0, 0.0, 0.05]
    assert record(twin, 60).remarks == ()  # the raw wrench knows nothing of it


def columns_of(**fields: int) -> tuple[dict[str, slice], int]:
    columns, first = {}, 0
    for name, width in fields.items():
        columns[name] = slice(first, first + width)
        first += width
    return columns, first


def test_raw_counts_are_not_taken_for_newtons() -> None:
    columns, width = columns_of(actual_q=6, ft_raw_wrench=6, actual_TCP_force=6)
    rows = np.zeros((10, width))
    rows[:, columns["ft_raw_wrench"]] = [21000.0, -300.0, 5.0, 0.0, 0.0, 0.0]
    conversion, notes = choose_conversion(UR5E, columns, rows)
    assert conversion.wrench == "tcp-force"
    assert [one.code for one in notes] == ["raw-wrench-not-newtons"]


def test_fields_that_are_no_numbers_are_left_out() -> None:
    widths = {"actual_q": 6, "actual_qd": 6, "ft_raw_wrench": 6, "actual_TCP_force": 6, "actual_tool_accelerometer": 3}
    columns, width = columns_of(**widths)
    rows = np.zeros((10, width))
    rows[:, columns["ft_raw_wrench"]] = np.nan
    rows[:, columns["actual_tool_accelerometer"]] = np.nan
    conversion, notes = choose_conversion(UR5E, columns, rows)
    assert conversion.wrench == "tcp-force"
    packages = np.column_stack([0.002 * np.arange(10), rows])
    recording = recording_of_rows("ur5e", packages, conversion, SampleTimes(0.002), {}, notes)
    assert set(recording.signals) == {"q", "dq", "wrench", "tcp_force"}
    dropped = [one.values for one in recording.remarks if one.code == "samples-dropped"]
    assert {"signal": "accelerometer", "count": 10} in dropped


def test_an_accelerometer_that_reads_gravity_downward_is_turned() -> None:
    columns, width = columns_of(actual_q=6, actual_tool_accelerometer=3)
    rows = np.zeros((4, width))
    rows[:, columns["actual_q"]] = TILTED
    upward = forward_kinematics(UR5E, TILTED)[:3, :3].T @ [0.0, 0.0, 1.0]
    rows[:, columns["actual_tool_accelerometer"]] = -9.81 * upward
    conversion, notes = choose_conversion(UR5E, columns, rows)
    np.testing.assert_allclose(conversion.signals(rows)["accelerometer"], np.tile(9.81 * upward, (4, 1)))
    assert conversion.wrench is None
    assert [one.code for one in notes] == ["no-wrench"]


@pytest.mark.parametrize(("force", "speed", "warned"), [(20.0, 0.0, False), (-20.0, 0.0, True), (-20.0, 0.5, False)])
def test_a_wrong_sign_shows_at_rest(force: float, speed: float, warned: bool) -> None:
    q = np.tile(TILTED, (5, 1))
    wrench = np.zeros((5, 6))
    wrench[:, :3] = force * (forward_kinematics(UR5E, TILTED)[:3, :3].T @ [0.0, 0.0, 1.0])
    signals = {"q": q, "dq": np.full((5, 6), speed), "wrench": wrench}
    for measures, other in (("reaction", "action"), ("action", "reaction")):
        found = sign_remark(UR5E, signals, measures)
        assert (found is not None) == warned
        assert found is None or found.fix == {"measures": other}  # not what is set already


def test_times_increase_whatever_the_clock_does() -> None:
    times = SampleTimes(0.002)
    now, placed = 100.0, []
    stamps = [5.0, 5.002, 5.002, 5.01, 3.0, 3.002, 900.0, 900.002, math.nan, math.inf, 900.004, -7.0, 1e300, -6.998]
    for stamp in stamps:
        now += 0.002
        at = times.place(stamp, now)
        if at is not None:
            placed.append(at)
    assert placed[0] == 0.0
    assert (np.diff(placed) > 0.0).all()
    assert placed[-1] < 0.1  # jumps of the stamps do not stretch the axis
    assert times.repeats == 3  # one stamp twice, and two that are no numbers
    assert [gap.cause for gap in times.gaps] == ["samples", "clock", "clock", "clock", "clock", "clock"]
    assert times.gaps[0].lost_samples(0.002) == 3


def test_a_reconnection_to_the_same_clock_keeps_its_time() -> None:
    times = SampleTimes(0.002)
    times.place(50.0, 0.0)
    times.reconnected()
    assert times.place(53.0, 3.1) == pytest.approx(3.0)
    assert [gap.cause for gap in times.gaps] == ["connection"]
    times.reconnected()
    assert times.place(53.0 + JUMP + 2.0, 3.2) == pytest.approx(3.1)  # further ahead than time has passed
    assert times.gaps[-1].cause == "clock"


@pytest.mark.parametrize(("suffix", "stop"), [("parquet", signal.SIGINT), ("csv", signal.SIGTERM)])
def test_ctrl_c_ends_and_saves(
    suffix: str, stop: signal.Signals, tilted_twin: UrTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / f"run.{suffix}"
    partial = tmp_path / f"run.{suffix}.partial.csv"

    def press() -> None:
        wait_until(lambda: partial.exists() and partial.stat().st_size > 0, "rows on disk")
        signal.raise_signal(stop)  # to this process, whose main thread is recording

    pressing = threading.Thread(target=press)
    pressing.start()
    assert main(["ur", "record", "--host", tilted_twin.host, "--output", str(output)]) == 0
    pressing.join()
    captured = capsys.readouterr()
    assert f"recording     {output}" in captured.out
    assert captured.err == ""
    recording = iparam.Recording.load(output, robot="ur5e")
    assert recording.signal("wrench").num_samples > 50
    assert [path.name for path in tmp_path.iterdir()] == [output.name]


def test_a_killed_recording_can_be_read(twin: UrTwin, start_command: Callable[..., Any], tmp_path: Path) -> None:
    output = tmp_path / "run.parquet"
    partial = tmp_path / "run.parquet.partial.csv"
    command = ["ur", "record", "--host", twin.host, "--port", str(twin.ports.rtde), "--robot", "ur5e"]
    process = start_command(*command, "--output", str(output))
    wait_until(lambda: partial.exists() and partial.read_bytes().count(b"\n") > 300, "rows on disk")
    process.send_signal(signal.SIGKILL)
    assert process.wait(60.0) == -signal.SIGKILL
    assert not output.exists()
    rescued = iparam.Recording.load(partial, robot="ur5e")
    assert rescued.signal("wrench").num_samples >= 299
    assert rescued.signal("wrench").values[:, 2].mean() == pytest.approx(-MASS * 9.81, abs=0.01)  # the flange is down
    with partial.open("a") as stream:
        stream.write("1.0,2.0,3")  # cut in the middle of a row
    assert iparam.Recording.load(partial, robot="ur5e").signal("q").num_samples == rescued.signal("q").num_samples
    later = SpillFile(output)
    assert later.older == (partial,)
    assert later.path != partial
    later.close()


POLL = """
import json, sys, time, rtde_receive, rtde_control
host, q = sys.argv[1], json.loads(sys.argv[2])
control = rtde_control.RTDEControlInterface(host)
receive = rtde_receive.RTDEReceiveInterface(host)
control.moveJ(q, 1.0, 2.0, True)
print("moving", flush=True)
found, until = {}, time.monotonic() + 1.5
while time.monotonic() < until:
    stamp = receive.getTimestamp()
    values = [receive.getActualQ(), receive.getActualQd(), receive.getFtRawWrench(), receive.getActualTCPForce()]
    if receive.getTimestamp() == stamp:  # all of one package
        found[stamp] = values
control.stopJ()
control.stopScript()
print(json.dumps(list(found.items())), flush=True)
import os; os._exit(0)
"""


@pytest.mark.usefixtures("ur_rtde")
def test_the_values_are_those_that_ur_rtde_receives(twin: UrTwin) -> None:
    """The same motion through a client that was written by others: equal values at equal stamps."""
    names = ("timestamp", "actual_q", "actual_qd", "ft_raw_wrench", "actual_TCP_force")
    goal = [0.2, -1.4, 1.6, -1.5, -1.4, 0.3]
    with subprocess.Popen(
        [sys.executable, "-c", POLL, twin.host, json.dumps(goal)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            while "moving" not in (line := process.stdout.readline()):
                assert line, "the other client ended"
            ours = {}
            with RtdeStream.open(twin.host, names) as stream:
                rest: list[str] = []
                while not rest:
                    for row in stream.read(0.5):
                        ours[row[0]] = row[1:]
                    if process.poll() is not None or len(ours) > 600:
                        rest = process.stdout.readlines()
        finally:
            process.kill()
    theirs = {stamp: np.concatenate(values) for stamp, values in json.loads(rest[-1])}
    common = sorted(ours.keys() & theirs.keys())
    assert len(common) > 20
    assert np.ptp([ours[stamp][0] for stamp in common]) > 0.01  # the arm moved
    for stamp in common:
        np.testing.assert_array_equal(ours[stamp], theirs[stamp])
