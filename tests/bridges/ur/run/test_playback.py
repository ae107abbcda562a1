"""`iparam ur run` against a simulated controller: what it refuses, what stops it, and that the recording survives."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.ur_controller.motion import SpeedJ
from doubles.ur_controller.twin import UrTwin

import iparam
from iparam.bridges.ur.record.recorder import ArmRecorder, RecorderSettings
from iparam.bridges.ur.rtde.controller_state import PROTECTIVE_STOP, ControllerSample
from iparam.bridges.ur.run.run_guard import GuardLimits, OnLine, OnTable, RunGuard, RunStoppedError, check_ready
from iparam.cli.main import main
from iparam.cli.ur.options import clear_protective_stop
from iparam.errors import IparamError
from iparam.trajectory import PlanConditions, PlanningLimits, QuinticSpline, load_trajectory, save_trajectory
from iparam.trajectory.trajectory import ScaledMotion

DATA = Path(__file__).parents[3] / "data"
CALM = DATA / "calm_ur5e.json"  # 4 s, joints up to 0.6 rad/s
PAYLOAD = ["--payload-size", "0.1", "0.15", "0.2", "--payload-mass", "2"]
# The simulated controller shares two cores with all else: it may be silent for longer, and late, where no arm would.
SLACK = ["--max-silence", "2", "--max-deviation", "0.25", "--approach-speed", "1"]
UR5E = iparam.load_robot("ur5e")
MakeTwin = Callable[..., UrTwin]
StartCommand = Callable[..., Any]  # gives a Command of bridges.command_server


def command(twin: UrTwin, output: Path, *more: str, motion: Path = CALM) -> list[str]:
    return ["ur", "run", str(motion), "--host", twin.host, "--output", str(output), *PAYLOAD, *SLACK, "--yes", *more]


def wait_until(condition: Callable[[], bool], what: str, timeout: float = 120.0) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout} s: {what}"
        time.sleep(0.01)


MOVED = 0.05
"""How far a joint has gone when the motion is under way [rad]."""

START = load_trajectory(CALM).trajectory.evaluate(0.0).q[0]


@pytest.fixture
def ready_twin(make_twin: MakeTwin) -> UrTwin:
    """One that stands where the motion starts."""
    return make_twin(q=START)


def in_motion(twin: UrTwin) -> bool:
    return float(np.abs(twin.sample.q - START).max()) > MOVED


def standing(twin: UrTwin) -> bool:
    return float(np.abs(twin.sample.dq).max()) < 1e-3


@pytest.mark.usefixtures("ur_rtde")
@pytest.mark.parametrize("kind", ["protective stop", "Ctrl-C", "server dies"])
def test_what_ends_a_run_leaves_the_arm_at_rest_and_the_recording_whole(
    kind: str, ready_twin: UrTwin, start_command: StartCommand, tmp_path: Path
) -> None:
    output = tmp_path / "run.parquet"
    process = start_command(*command(ready_twin, output))
    wait_until(lambda: in_motion(ready_twin) or process.poll() is not None, "the motion")
    seen = ready_twin.sample.q.copy()
    if kind == "protective stop":
        ready_twin.protective_stop()
    elif kind == "Ctrl-C":
        process.send_signal(signal.SIGINT)
    else:
        ready_twin.close()
    code, err = process.wait(180.0), process.err
    words, expected = {
        "protective stop": ("the run was stopped: the controller reports: protective stop", 1),
        "Ctrl-C": ("stopped by the user", 130),
        "server dies": ("the run was stopped: the connection to the controller was lost", 1),
    }[kind]
    assert words in err
    assert code == expected, err
    assert "Traceback" not in err
    assert f"were saved to {output}" in err
    recording = iparam.Recording.load(output)
    assert recording.metadata["stopped_by"]
    q = recording.signal("q").values
    assert float(np.abs(q - seen).max(axis=1).min()) < 0.05  # it holds the moment of the fault
    assert (np.diff(recording.signal("q").time) > 0.0).all()
    assert [path.name for path in tmp_path.iterdir()] == ["run.parquet"]
    assert ("may still move" in err) is (kind == "server dies")
    if kind != "server dies":
        wait_until(lambda: standing(ready_twin), "the arm at rest")


@pytest.mark.usefixtures("ur_rtde")
@pytest.mark.parametrize(("how", "expected"), [("Ctrl-C", 130), ("--until-precision", 1)])
def test_an_arm_that_does_not_stop_is_told(
    how: str, expected: int, ready_twin: UrTwin, start_command: StartCommand, tmp_path: Path
) -> None:
    """Whatever the process that commands it says, and also where the run itself went well."""
    arm, output = ready_twin._controller.arm, tmp_path / "run.parquet"
    creep = SpeedJ(np.array([0.05, 0.0, 0.0, 0.0, 0.0, 0.0]), 1.0)
    arm.brake = lambda deceleration: setattr(arm, "motion", creep)  # type: ignore[method-assign]
    process = start_command(*command(ready_twin, output, *([] if how == "Ctrl-C" else [how, "mass=90%"])))
    if how == "Ctrl-C":
        wait_until(lambda: in_motion(ready_twin) or process.poll() is not None, "the motion")
        process.send_signal(signal.SIGINT)
    assert process.wait(180.0) == expected, process.err
    assert not standing(ready_twin)
    assert "may still move" in process.err
    assert "Traceback" not in process.err
    assert iparam.Recording.load(output).duration > 0.0


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.usefixtures("ur_rtde")
def test_a_run_that_is_killed_stops_the_arm_and_leaves_its_rows(
    ready_twin: UrTwin, start_command: StartCommand, tmp_path: Path
) -> None:
    output = tmp_path / "run.parquet"
    process = start_command(*command(ready_twin, output))
    spilled = tmp_path / "run.parquet.partial.csv"
    wait_until(lambda: in_motion(ready_twin) or process.poll() is not None, "the motion")
    wait_until(lambda: spilled.stat().st_size > 0 or process.poll() is not None, "its first rows on disk")
    process.send_signal(signal.SIGKILL)
    assert process.wait(60.0) == -signal.SIGKILL
    wait_until(lambda: any("has ended" in notice for notice in ready_twin.notices), "the end of the program")
    wait_until(lambda: standing(ready_twin), "the arm at rest")
    end = load_trajectory(CALM).trajectory.evaluate(4.0).q[0]
    assert float(np.abs(ready_twin.sample.q - end).max()) > 0.02  # it did not play on to the end
    rescued = iparam.Recording.load(spilled, robot="ur5e")
    assert rescued.signal("wrench").num_samples > 300


@pytest.mark.usefixtures("ur_rtde")
def test_a_deviation_stops_the_run(ready_twin: UrTwin, start_command: StartCommand, tmp_path: Path) -> None:
    output = tmp_path / "run.parquet"
    stated = command(ready_twin, output)
    stated[stated.index("--max-deviation") + 1] = "0.0005"
    process = start_command(*stated)
    assert process.wait(180.0) == 1
    assert "rad from where it should be; the limit is 0.0005 rad" in process.err
    wait_until(lambda: standing(ready_twin), "the arm at rest")
    assert iparam.Recording.load(output).signal("q").num_samples > 50


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str], code: int = 1) -> str:
    assert main(arguments) == code
    return capsys.readouterr().err


@pytest.mark.usefixtures("ur_rtde")
def test_what_is_refused_before_anything_moves(
    make_twin: MakeTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "run.parquet"
    twin = make_twin(q=np.radians([180.0, -90.0, 90.0, -90.0, -90.0, 0.0]))
    stood = twin.sample.q.copy()
    # A motion beyond the limits: before any connection.
    err = refused(command(twin, output, motion=DATA / "short_ur5e.json"), capsys)
    assert "the motion is not valid" in err
    assert "joint acceleration: -" in err
    # Nobody to ask.
    without = [word for word in command(twin, output) if word != "--yes"]
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert "add --yes" in refused(without, capsys, code=2)
    # Somebody who does not want it.
    terminal = io.StringIO("no\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert "not confirmed: the arm stays where it is" in refused(without, capsys)
    # A wall between the arm and the start.
    cell = tmp_path / "cell.json"
    wall = {"name": "post", "size": [0.2, 0.2, 1.5], "center": [0.0, -0.5, 0.75]}
    cell.write_text(json.dumps({"format": "iparam-cell/1", "boxes": [wall]}))
    err = refused(command(twin, output, "--cell", str(cell)), capsys)
    assert "the way to the start" in err
    assert "post" in err
    # A protective stop that nobody cleared.
    twin.protective_stop()
    wait_until(lambda: any("protective" in notice for notice in twin.notices), "the stop")
    assert "protective stop. Find the reason" in refused(command(twin, output), capsys)
    np.testing.assert_allclose(twin.sample.q, stood, atol=1e-3)
    assert [path.name for path in tmp_path.iterdir()] == ["cell.json"]


STRETCHED = np.array([0.0, -0.8, 0.4, -1.2, -np.pi / 2, 0.0])


RADIUS = float(np.linalg.norm(iparam.forward_kinematics(UR5E, STRETCHED)[:2, 3]))
"""Distance of the flange from the axis of the base [m]."""


def swing(path: Path, speed: float, **conditions: Any) -> Path:
    """A file with a turn of the stretched arm's base, the flange at most so fast [m/s]."""
    turn = np.array([1.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    duration = 1.875 * turn[0] * RADIUS / speed  # of a quintic from rest to rest
    motion = QuinticSpline(np.array([0.0, duration]), np.stack([STRETCHED, STRETCHED + turn]))
    save_trajectory(path, motion, robot="ur5e", fps=100.0, conditions=PlanConditions(**conditions))
    return path


def test_what_the_controller_would_stop_is_refused_unless_its_own_limit_is_stated(
    make_twin: MakeTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twin = make_twin(q=STRETCHED, loaded=False)
    asked = PlanningLimits(speed=3.0)  # when it was planned; nobody says so of this controller
    fast = swing(tmp_path / "fast.json", 1.8, limits=asked)
    arguments = ["ur", "run", str(fast), "--host", twin.host, "--dry-run"]
    err = refused(arguments, capsys)
    assert "tool speed: -" in err
    assert "--max-speed" in err
    assert main([*arguments, "--max-speed", "3"]) == 0
    assert main([*arguments, "--speed-scale", "0.5"]) == 0
    capsys.readouterr()
    # The controller counts at its TCP, of which the plan knows nothing.
    slow = swing(tmp_path / "slow.json", 1.2)
    assert main(["ur", "run", str(slow), "--host", twin.host, "--dry-run"]) == 0
    capsys.readouterr()
    pose = iparam.forward_kinematics(UR5E, STRETCHED)
    outward = np.array([*pose[:2, 3], 0.0]) / RADIUS
    twin._controller.set_tcp(np.concatenate([pose[:3, :3].T @ (0.3 * outward), np.zeros(3)]))
    wait_until(lambda: any(twin._controller.values["tcp_offset"]), "the TCP")  # type: ignore[arg-type]
    assert "TCP of the controller" in refused(["ur", "run", str(slow), "--host", twin.host, "--dry-run"], capsys)


@pytest.mark.usefixtures("ur_rtde")
def test_a_controller_as_delivered_stops_what_was_stated_wrongly_and_another_plays_it(
    make_twin: MakeTwin, start_command: StartCommand, tmp_path: Path
) -> None:
    fast = swing(tmp_path / "fast.json", 1.8, limits=PlanningLimits(speed=3.0))
    for allowed, code in ((None, 1), (3.0, 0)):
        twin = make_twin(q=STRETCHED, loaded=False, tool_speed=allowed, clock="simulated")
        options = ["--host", twin.host, "--max-speed", "3", "--yes", "--overwrite"]
        process = start_command("ur", "run", str(fast), *options, "--output", str(tmp_path / "run.parquet"))
        assert process.wait(180.0) == code, process.err
        assert any("the safety limit is 1.5 m/s" in notice for notice in twin.notices) == (code == 1)


def test_reduced_mode_has_limits_that_nobody_tells() -> None:
    check_ready(sample(np.zeros(6), safety=1))
    check_ready(sample(np.zeros(6), safety=2), speed_stated=True)
    with pytest.raises(RunStoppedError, match="max_speed"):
        check_ready(sample(np.zeros(6), safety=2))


@pytest.mark.usefixtures("ur_rtde")
def test_another_arm_is_refused(make_twin: MakeTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twin = make_twin("ur10e", loaded=False)
    err = refused(command(twin, tmp_path / "run.parquet"), capsys)
    assert "ur10e" in err or "this is another arm" in err


def test_a_scaled_motion_starts_and_ends_where_the_whole_one_does() -> None:
    whole = load_trajectory(CALM).trajectory
    part = ScaledMotion(whole, 0.25)
    times = np.linspace(0.0, whole.duration, 50)
    a, b = whole.evaluate(times), part.evaluate(times)
    np.testing.assert_allclose(b.q - a.q[0], 0.25 * (a.q - a.q[0]), atol=1e-14)
    np.testing.assert_allclose(b.ddq, 0.25 * a.ddq, atol=1e-13)
    slow = part.time_scaled(2.0)
    np.testing.assert_allclose(slow.evaluate(2.0 * times).dq, 0.5 * b.dq, atol=1e-13)
    with pytest.raises(iparam.IparamError, match="at most 1"):
        ScaledMotion(whole, 1.5)


def sample(q: np.ndarray, mode: int = 7, safety: int = 1) -> ControllerSample:
    columns = {"actual_q": slice(0, 6), "robot_mode": slice(6, 7), "safety_mode": slice(7, 8)}
    return ControllerSample(0.0, 0.0, columns, np.concatenate([q, [mode, safety]]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, None),
        ({"safety": 2}, None),
        ({"safety": 7}, "emergency stop"),
        ({"safety": 99}, "safety state 99"),
        ({"mode": 5}, "idle"),
        ({"silence": 0.2}, "no data from the controller for 200 ms"),
        ({"connected": False}, "connection"),
        ({"off": 0.06}, "elbow_joint is 0.06 rad from where it should be"),
        ({"off": np.nan}, "elbow_joint"),
    ],
)
def test_the_guard(change: dict[str, float], message: str | None) -> None:
    q = np.zeros(6)
    q[2] = change.get("off", 0.0)
    guard = RunGuard(GuardLimits(), UR5E.joint_names)

    def check() -> None:
        guard.check(
            sample(q, int(change.get("mode", 7)), int(change.get("safety", 1))),
            OnLine(np.zeros(6), np.zeros(6)),
            change.get("silence", 0.0),
            bool(change.get("connected", True)),
        )

    if message is None:
        check()
        return
    with pytest.raises(RunStoppedError, match=message):
        check()


def test_deviations_count_from_the_nearest_place() -> None:
    way = OnLine(np.zeros(6), np.full(6, 1.0))
    np.testing.assert_allclose(way.deviation(np.full(6, 0.4)), 0.0, atol=1e-15)
    np.testing.assert_allclose(way.deviation(np.full(6, 1.3)), 0.3)
    table = np.linspace(0.0, 1.0, 101)[:, None] * np.ones(6)
    np.testing.assert_allclose(OnTable(table, 20, 40).deviation(np.full(6, 0.305)), 0.005, atol=1e-12)
    np.testing.assert_allclose(OnTable(table, 20, 40).deviation(np.full(6, 0.5)), 0.1)
    np.testing.assert_allclose(OnTable(table, -50, -10).deviation(np.full(6, 0.1)), 0.1)
    np.testing.assert_allclose(OnTable(table, 500, 600).deviation(np.ones(6)), 0.0)


def test_a_motion_that_was_edited_is_checked_anew(
    twin: UrTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file's own claim that it is valid counts for nothing."""
    fast = load_trajectory(CALM).trajectory.time_scaled(0.15)
    path = tmp_path / "fast.json"
    save_trajectory(path, fast, robot="ur5e", fps=100.0, validation={"all_constraints_satisfied": True})
    assert "joint velocity: -" in refused(command(twin, tmp_path / "run.parquet", motion=path), capsys)


def test_a_dry_run_checks_everything_and_moves_nothing(
    make_twin: MakeTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    twin = make_twin(q=START + 0.1)
    arguments = ["ur", "run", str(CALM), "--host", twin.host, *PAYLOAD, "--dry-run"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "Least margins of the motion" in said
    assert "nothing has moved" in said
    assert main([*arguments, "--speed-scale", "0.25", "--amplitude", "0.5"]) == 0
    said = capsys.readouterr().out
    assert "at 0.5 of its amplitude at 0.25 of its speed" in said
    assert "motion        16.00 s" in said
    assert main([*arguments, "--output", "run.parquet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["moved"] is False
    assert list(tmp_path.iterdir()) == []
    assert not any("program" in notice for notice in twin.notices)  # none was ever sent to it
    np.testing.assert_allclose(twin.sample.q, START + 0.1, atol=1e-3)
    twin.protective_stop()
    wait_until(lambda: "protective stop" in " ".join(twin.notices), "the stop")
    assert "protective stop. Find the reason" in refused(arguments, capsys)  # it does not unlock anything, either
    assert refused([word for word in arguments if word != "--dry-run"] + ["--yes"], capsys, 2)  # nowhere to write


def test_a_protective_stop_is_unlocked_after_a_question_only(
    make_twin: MakeTwin, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = make_twin()
    twin.protective_stop()
    recorder = ArmRecorder(RecorderSettings(twin.host, UR5E, "ur5e"))
    recorder.start()
    try:
        wait_until(lambda: recorder.first_sample().safety == PROTECTIVE_STOP, "the stop")
        monkeypatch.setattr(sys, "stdin", io.StringIO("no\n"))
        with pytest.raises(IparamError, match="not confirmed: the protective stop stays"):
            clear_protective_stop(twin.host, recorder)
        assert recorder.first_sample().safety == PROTECTIVE_STOP
        assert "remove the cause" in capsys.readouterr().err
        monkeypatch.setattr(sys, "stdin", io.StringIO("yes\n"))
        assert clear_protective_stop(twin.host, recorder).safety == 1
    finally:
        recorder.stop()
