"""Where two statements about one thing meet on the command line and disagree, it is refused or said, with both."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.estimation.payload.estimate_assembly import estimate_of
from iparam.recording import Recording, Signal
from iparam.robot.urdf.writer import robot_to_urdf
from iparam.simulation.simulator import GroundTruth
from iparam.trajectory import PlanConditions, WindowedFourierTrajectory, save_trajectory

UR5E = iparam.load_robot("ur5e")
LOAD = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2))
START = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])


def run(seed: int = 0) -> Recording:
    """2 s at 250 Hz of an arm that swings a box, with noisy sensors."""
    a, b = np.random.default_rng(seed).normal(0.0, 0.2, (2, 6, 3))
    motion = WindowedFourierTrajectory(START, a, b, base_freq=0.5, duration=2.0).sample(250.0)
    rng = np.random.default_rng(seed)
    wrench = iparam.wrench_regressor(UR5E, motion.q, motion.dq, motion.ddq) @ LOAD.phi
    wrench = wrench + rng.normal(size=wrench.shape) * ([0.5] * 3 + [0.05] * 3)
    made = Recording("ur5e", metadata={"tool_frame": "tool0", "gravity": [0.0, 0.0, -9.81]})
    made = made.with_signal("q", time=motion.time, values=motion.q + rng.normal(0, 1e-5, motion.q.shape))
    made = made.with_signal("dq", time=motion.time, values=motion.dq)
    return made.with_signal("wrench", time=motion.time, values=wrench)


def result(path: str, recording: Recording, **changes: object) -> None:
    """The load's true parameters as the result of an identification."""
    rng = np.random.default_rng(sum(path.encode()))
    made = estimate_of(
        "wls",
        LOAD.phi * (1.0 + 1e-3 * rng.normal(size=10)),
        1e-6 * np.eye(10),
        condition_number=2.0,
        residual_norm=1.0,
        samples=500,
    )
    origin = {"robot": "ur5e", "frame": "tool0", "measurements": (recording.signal("wrench").fingerprint,)}
    dataclasses.replace(made, **(origin | changes)).save(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs, results, trajectories, cells and arms that agree, and some that do not."""
    folder = tmp_path_factory.mktemp("files")
    with contextlib.chdir(folder):
        write_files()
    return folder


@pytest.fixture
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with all files."""
    shutil.copytree(files, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_files() -> None:
    one, two = run(), run(1)
    one.save("run.parquet")
    one.save("run.csv")
    two.save("other.parquet")
    dataclasses.replace(one, metadata={**one.metadata, "compensated_mass_kg": 2.0}).save("compensated.parquet")
    one.with_metadata(torque_unit="N m").save("stated.parquet")
    document = dict(one.metadata)
    raw = dataclasses.replace(one, metadata={**document, "sensor_frame": "ft_frame"})
    raw.save("framed.parquet")
    result("result.json", one)
    result("other.json", two)
    result("method.json", one)
    result("ur10e.json", two, robot="ur10e")
    result("flange.json", two, frame="flange")
    Path("link.json").symlink_to("result.json")
    GroundTruth(LOAD, "flange").save("truth.json")
    a, b = np.random.default_rng(0).normal(0.0, 0.05, (2, 6, 3))
    for name, q0 in (("t.json", START), ("degrees.json", np.degrees(START))):
        motion = WindowedFourierTrajectory(q0, a, b, base_freq=0.5, duration=2.0)
        save_trajectory(name, motion, robot="ur5e", fps=100.0, conditions=PlanConditions())
    Path("arm.urdf").write_text(robot_to_urdf(dataclasses.replace(UR5E, name="arm")))
    table = {"name": "table", "center": [500, 0, -425], "size": [1200, 800, 50]}
    Path("cell.json").write_text(json.dumps({"format": "iparam-cell/1", "boxes": [table]}))
    for name, kept in (("ms.csv", ("q", "wrench")), ("ms_with_dq.csv", ("q", "dq", "wrench"))):
        signals = {key: one.signal(key) for key in kept}
        slow = {key: Signal(1e3 * s.time, s.values, s.unit, s.frame) for key, s in signals.items()}
        Recording("", slow).save(name)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        # the arm of an option and that of the data
        ("identify payload run.parquet --robot ur5", "belongs to a ur5e, and ur5 is another arm"),
        ("verify other.json run.parquet --robot ur5", "belongs to a ur5e, and ur5 is another arm"),
        ("compensate run.parquet --result result.json --robot ur10e --output x.parquet", "ur10e is another arm"),
        ("report result.json --recording run.parquet --robot ur10e --output x.html", "ur10e is another arm"),
        ("bag export run.parquet --robot ur10e --output bag", "ur10e is another arm"),
        ("kinematics batch --input run.parquet --robot ur10e --output x.csv", "ur10e is another arm"),
        ("identify torque-payload --bare run.parquet --loaded other.parquet --robot ur10e", "ur10e is another arm"),
        # frames
        ("identify payload framed.parquet", "in the frame 'ft_frame' by the metadata (sensor_frame)"),
        (
            "identify payload run.parquet --method logchol --prior flange.json",
            "the load is given in the frame 'flange'",
        ),
        ("verify flange.json run.parquet", "the load is given in the frame 'flange'"),
        ("compensate run.parquet --result flange.json --output x.parquet", "the load is given in the frame 'flange'"),
        ("report result.json --truth truth.json --output x.html", "truth is in the frame 'flange', and the result in"),
        ("identify fuse result.json flange.json", "the results are in different frames, 'flange' and 'tool0'"),
        ("export flange.json --format urscript", "not those of the controller's flange"),
        # one measurement that counts twice
        ("identify fuse result.json result.json", "results 1 and 2 are the same result"),
        ("identify fuse result.json link.json", "results 1 and 2 are the same result"),
        ("identify fuse result.json method.json", "come from the same measured signal"),
        ("compensate compensated.parquet --result other.json --output x.parquet", "has been taken out of this wrench"),
        ("identify torque-payload --bare run.parquet --loaded run.csv --robot ur5e", "neither joint torques"),
        # a result of another arm
        ("compensate run.parquet --result ur10e.json --output x.parquet", "the result belongs to a ur10e"),
        ("report ur10e.json --recording run.parquet --output x.html", "the result belongs to a ur10e"),
        # time and delay in milliseconds
        ("identify payload ms_with_dq.csv --robot ur5e", "Set --time-unit ms"),
        ("identify payload run.parquet --delay 4", "is it in ms"),
        # millimetres and degrees
        ("excite check t.json --cell cell.json", "'table' of the work cell is 1200 m long"),
        ("excite check t.json --payload-size 100 150 200", "the payload extends to 219.4 m from tool0"),
        ("excite check t.json --max-displacement 500", "--max-displacement of 500 m keeps the tool from nothing"),
        ("excite check t.json --max-velocity 60", "a limit of 60 rad/s on the speed"),
        ("excite check degrees.json", "degrees.json begins with shoulder_pan_joint at 90 rad"),
        ("excite poses --robot ur5e --payload-size 100 150 200 --output x.json", "millimetres"),
        ("kinematics batch --input degrees.json --output x.csv", "are its angles in degrees"),
    ],
)
def test_contradictions_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    before = {path.name for path in folder.iterdir()}
    code = main(command.split())
    err = capsys.readouterr().err
    assert message in err
    assert code == (1 if "neither joint torques" in message else 2)
    assert {path.name for path in folder.iterdir()} == before  # nothing was written


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("excite check t.json --robot ur10e", "t.json belongs to a ur5e, and ur10e is another arm"),
        ("kinematics batch --input t.json --robot ur10e --output x.csv", "t.json belongs to a ur5e"),
        ("verify result.json run.parquet", "from this very run"),
        ("verify ur10e.json run.parquet", "the result belongs to a ur10e"),
        ("report other.json --recording run.parquet --output x.html", "not come from this recording"),
        ("identify payload run.parquet --robot arm.urdf", "run.parquet belongs to a ur5e. arm.urdf has its kinematics"),
        ("identify payload compensated.parquet", "load-already-removed"),
        ("identify payload run.parquet --method logchol --prior result.json", "identified from this very recording"),
        ("excite poses --robot ur5e --q0 1.57 -1.57 1.57 -1.57 -1.57 1.57 --output x.json", "--q0 is in degrees"),
        ("export ur10e.json --urdf arm.urdf --output x.urdf", "ur10e.json belongs to a ur10e, and arm.urdf is another"),
    ],
)
def test_what_may_be_meant_is_said_once(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    main(command.split())
    out, err = capsys.readouterr()
    said = [line for line in (out + err).splitlines() if line.startswith(("iparam: ", "doubt "))]
    assert len([line for line in said if message in line]) == 1, said


def test_what_agrees_is_not_mentioned(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        "identify payload run.parquet --tolerances exact --output x.json",
        "identify payload run.parquet --tolerances exact --robot UR5e",
        "identify payload run.csv --tolerances exact --robot ur5e",
        "identify payload stated.parquet --tolerances exact",
        "identify fuse x.json other.json",
        "verify x.json other.parquet",
        "compensate run.parquet --result x.json --output x.parquet",
        "excite check t.json",
        "export x.json --format urscript",
    ):
        assert main(command.split()) == 0, command
        assert capsys.readouterr().err == "", command


@pytest.mark.parametrize("options", [[], ["--static"], ["--method", "all"]])
def test_milliseconds_are_what_is_printed(folder: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    assert main(["identify", "payload", "ms.csv", "--robot", "ur5e", *options]) == 2
    err = capsys.readouterr().err
    doubt, error = err.splitlines()[0], err.splitlines()[-1]
    assert doubt.startswith("iparam: warning: q, wrench: ")
    assert doubt.endswith("Correction: --time-unit ms")
    assert all("4 s" in line and "250 Hz" in line for line in (doubt, error))
    assert "faster" not in err


def test_angles_in_degrees_are_converted_on_request(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signals = {name: run().signal(name) for name in ("q", "wrench")}
    turned = Signal(signals["q"].time, np.degrees(signals["q"].values), "rad", "joint")
    Recording("", {**signals, "q": turned}).save("degrees.csv")
    assert main(["identify", "payload", "degrees.csv", "--robot", "ur5e"]) == 1
    assert "--angles degrees" in capsys.readouterr().err
    command = ["identify", "payload", "degrees.csv", "--robot", "ur5e", "--angles", "degrees", "--output", "x.json"]
    assert main(command) == 0
    assert abs(json.loads(Path("x.json").read_text())["mass"] - 2.0) < 0.05
