"""A setup is applied once: a recording made with it says so, and identifying with or without it is the same."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.bridges.ur.record.controller_signals import choose_conversion
from iparam.bridges.ur.record.rows import recording_of_rows
from iparam.bridges.ur.record.sample_times import SampleTimes
from iparam.cli.main import main
from iparam.sensing import Correction, Setup

LOAD = iparam.InertialParameters(1.7, np.array([0.01, -0.02, 0.06]), np.diag([0.004, 0.005, 0.003]))
CALM = Path(__file__).parents[2] / "data" / "calm_ur5e.json"
GRAVITY = np.array([0.0, 0.0, 9.81])  # of an arm that hangs from the ceiling
SETTINGS: dict[str, Any] = {
    "robot": "ur5e",
    "mounting": "ceiling",
    "measures": "reaction",
    "sensor_rotation": (10.0, -20.0, 30.0),
    "sensor_offset": (0.01, 0.0, 0.03),
}


@pytest.fixture(scope="module")
def motion() -> iparam.Recording:
    """An arm that moves the load: angles, and the wrench as recordings hold it."""
    time = np.arange(750) * 0.004
    rates = 2.0 * np.pi * np.array([0.9, 0.7, 1.1, 1.3, 0.8, 1.0])
    angle = rates * time[:, None]
    q = np.array([0.2, -1.2, 1.1, -0.6, -1.0, 0.3]) + 0.3 * np.sin(angle)
    dq, ddq = 0.3 * rates * np.cos(angle), -0.3 * rates**2 * np.sin(angle)
    wrench = iparam.wrench_regressor(iparam.load_robot("ur5e"), q, dq, ddq, GRAVITY) @ LOAD.phi
    recording = iparam.Recording("ur5e").with_signal("q", time=time, values=q)
    return recording.with_signal("dq", time=time, values=dq).with_signal("wrench", time=time, values=wrench)


@pytest.fixture(scope="module")
def reported(motion: iparam.Recording) -> iparam.Recording:
    """The same as the sensor of the setup reports it."""
    return sensed(motion, Setup(**SETTINGS))


def sensed(motion: iparam.Recording, setup: Setup) -> iparam.Recording:
    sign = -1.0 if setup.measures == "reaction" else 1.0
    values = sign * motion.signal("wrench").values @ np.linalg.inv(setup.correction.frame_matrix()).T
    return motion.with_signal("wrench", time=motion.signal("wrench").time, values=values)


@pytest.fixture
def setup(tmp_path: Path) -> Path:
    path = tmp_path / "setup.toml"
    Setup(**SETTINGS).save(path)
    return path


def command(*words: object) -> int:
    return main([str(word) for word in words])


def identified(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    capsys.readouterr()
    code = command("identify", "payload", *words, "--tolerances", "exact", "--json")
    out, err = capsys.readouterr()
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return {key: found[key] for key in ("phi", "covariance_phi")}


def assert_the_load(found: dict[str, Any]) -> None:
    assert np.allclose(found["phi"], LOAD.phi, rtol=2e-3, atol=2e-5)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_an_imported_bag(
    reported: iparam.Recording, setup: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    iparam.bridges.bag.write_bag(reported, tmp_path / "bag", "ur5e")
    with_it, without = tmp_path / f"with.{suffix}", tmp_path / f"without.{suffix}"
    assert command("bag", "import", tmp_path / "bag", "--setup", setup, "--output", with_it) == 0
    assert command("bag", "import", tmp_path / "bag", "--output", without) == 0
    base = () if suffix == "parquet" else ("--robot", "ur5e", "--mounting", "ceiling")  # numbers only
    first = identified(capsys, with_it, *base)
    assert_the_load(first)
    assert identified(capsys, with_it, "--setup", setup) == first
    later = identified(capsys, without, "--setup", setup)
    assert np.allclose(later["phi"], first["phi"], rtol=1e-9, atol=1e-12)


def test_that_somebody_said_how_the_sensor_sits_counts_whenever_it_was_said() -> None:
    """A place that somebody stated is better known than one that nobody did, in the setup or in the correction."""
    plan = iparam.load_trajectory(CALM).trajectory.evaluate(np.linspace(0.0, 4.0, 801))
    exact = iparam.wrench_regressor(iparam.load_robot("ur5e"), plan.q, plan.dq, plan.ddq) @ LOAD.phi
    noise = np.random.default_rng(1).normal(size=exact.shape) * np.array([0.5] * 3 + [0.05] * 3)
    run = iparam.Recording("ur5e").with_signal("q", time=plan.time, values=plan.q)
    run = run.with_signal("wrench", time=plan.time, values=exact + noise)
    place = {"sensor_rotation": (0.0, 0.0, 0.0), "sensor_offset": (0.0, 0.0, 0.0)}
    unsaid = iparam.identify_payload(run)
    later = iparam.identify_payload(run, correction=Correction(**place))
    before = iparam.identify_payload(iparam.sensing.with_applied(run, Correction(**place)))
    assert np.trace(unsaid.covariance_terms["place"]) > 4.0 * np.trace(later.covariance_terms["place"])
    assert unsaid.standard_deviation.center_of_mass.max() > 1.1 * later.standard_deviation.center_of_mass.max()
    assert np.array_equal(before.covariance_phi, later.covariance_phi)


def test_a_controllers_data(motion: iparam.Recording, setup: Path, tmp_path: Path) -> None:
    """As `ur record` and `ur run` make them, with the setup, without it, and cut off in the middle."""
    given = Setup.load(setup)
    ur = sensed(motion, given)
    columns = {
        "timestamp": slice(0, 1),
        "actual_q": slice(1, 7),
        "actual_qd": slice(7, 13),
        "ft_raw_wrench": slice(13, 19),
    }
    time = motion.signal("q").time
    packages = np.column_stack([time, *(ur.signal(name).values for name in ("q", "dq", "wrench"))])
    times = SampleTimes(0.004)
    robot = iparam.load_robot("ur5e")
    place = Correction(sensor_rotation=given.sensor_rotation, sensor_offset=given.sensor_offset)
    for used in (place, Correction()):
        conversion, _ = choose_conversion(robot, columns, packages, measures="reaction", place=used)
        made = recording_of_rows("ur5e", np.column_stack([time, packages]), conversion, times, {}, ())
        assert made.metadata["applied"]["measures"] == "reaction"
        left = iparam.sensing.still_to_apply(
            given.correction, made, ("measures", "sensor_rotation", "sensor_offset"), "s"
        )
        assert left == (Correction() if used else place)
        right = left.applied(made, robot).signal("wrench").values
        assert np.allclose(right, motion.signal("wrench").values, rtol=0.0, atol=1e-9)
        spill = iparam.bridges.ur.SpillFile(tmp_path / "run.parquet")
        spill.append(time, conversion.signals(packages), made.metadata)
        spill.close()
        assert iparam.sensing.applied_setup(iparam.Recording.load(spill.path)) == conversion.applied


def test_a_recording_of_iparam_goes_into_a_bag_and_back(
    reported: iparam.Recording, setup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    iparam.bridges.bag.write_bag(reported, tmp_path / "bag", "ur5e")
    run = tmp_path / "run.parquet"
    assert command("bag", "import", tmp_path / "bag", "--setup", setup, "--output", run) == 0
    assert command("bag", "export", run, "--output", tmp_path / "again") == 0
    back = tmp_path / "back.parquet"
    assert command("bag", "import", tmp_path / "again", "--setup", setup, "--output", back) == 0
    before, after = (iparam.Recording.load(path) for path in (run, back))
    assert np.array_equal(after.signal("wrench").values, before.signal("wrench").values)
    assert iparam.sensing.applied_setup(after) == iparam.sensing.applied_setup(before)


def test_a_setup_that_contradicts_the_recording_is_refused(
    reported: iparam.Recording, setup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run.parquet"
    iparam.bridges.bag.write_bag(reported, tmp_path / "bag", "ur5e")
    assert command("bag", "import", tmp_path / "bag", "--setup", setup, "--output", run) == 0
    for change, said in (
        ({"measures": "action"}, "sensor.measures = action, and the recording was made with reaction"),
        (
            {"sensor_rotation": (0.0, 0.0, 90.0)},
            "sensor.rotation = [0, 0, 90], and the recording was made with [10, -20, 30]",
        ),
        ({"mounting": "floor"}, "gravity"),
        ({"robot": "ur10e"}, "ur10e"),
    ):
        other = tmp_path / "other.toml"
        Setup(**{**SETTINGS, **change}).save(other)
        capsys.readouterr()
        assert command("identify", "payload", run, "--setup", other) in (1, 2)
        assert said in capsys.readouterr().err
    # What is typed is about the recording as it is, and wins over the setup.
    turned = identified(capsys, run, "--setup", setup, "--measures", "action")
    assert_the_load(turned)


def test_no_advice_leads_back_to_itself(
    motion: iparam.Recording,
    reported: iparam.Recording,
    setup: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A cause is found in a recording to which the options were applied, and its own are typed in their place."""
    log = tmp_path / "log.parquet"
    reported.save(log)
    capsys.readouterr()
    assert command("identify", "payload", log, "--setup", setup, "--measures", "action") == 1
    assert "--measures reaction" in capsys.readouterr().err
    turned = sensed(motion, Setup(robot="ur5e", sensor_rotation=(0.0, 0.0, 30.0)))
    turned.save(log)
    turned_wrongly = ("--mounting", "ceiling", "--sensor-rotation", 0, 0, 75, "--tolerances", "exact")
    assert command("identify", "payload", log, *turned_wrongly) == 1
    advice = re.search(r"Correction: (--sensor-rotation \S+ \S+ [^\s.]+(?:\.\d+)?)", capsys.readouterr().err)
    assert advice is not None
    assert_the_load(identified(capsys, log, "--mounting", "ceiling", *advice[1].split()))


def test_frames_of_messages_count_as_applied(
    motion: iparam.Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bag whose messages name a frame of the robot has been turned by it: the same place in a setup changes nothing,
    and another is refused, by the import and by the identification."""
    robot = iparam.load_robot("ur5e")
    pose = iparam.sensing.rigid_frames(robot)["flange"]
    place = iparam.spatial.rpy_from_rotation(pose[:3, :3])
    same = Setup(robot="ur5e", mounting="ceiling", sensor_rotation=tuple(np.degrees(place).tolist()))
    at_flange = sensed(motion, same)
    bag, run = tmp_path / "bag", tmp_path / "run.parquet"
    iparam.bridges.bag.write_bag(at_flange, bag, dataclasses.replace(robot, tool_frame="flange"))
    for name, setup in (("same", same), ("other", dataclasses.replace(same, sensor_rotation=(0.0, 0.0, 45.0)))):
        setup.save(tmp_path / f"{name}.toml")
    assert command("bag", "import", bag, "--robot", "ur5e", "--mounting", "ceiling", "--output", run) == 0
    first = identified(capsys, run)
    assert_the_load(first)
    assert identified(capsys, run, "--setup", tmp_path / "same.toml") == first
    assert command("bag", "import", bag, "--setup", tmp_path / "same.toml", "--output", run) == 0
    assert identified(capsys, run) == first
    assert command("identify", "payload", run, "--setup", tmp_path / "other.toml") == 2
    assert "sensor.rotation = [0, 0, 45], and the recording was made with" in capsys.readouterr().err
    assert command("bag", "import", bag, "--setup", tmp_path / "other.toml", "--output", tmp_path / "no.csv") == 2
    assert "--wrench-frame" in capsys.readouterr().err


def test_zeroing_and_calibration_are_of_the_identification(
    reported: iparam.Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only an identification can apply them: a recording names them, so that they are not forgotten."""
    setup = Setup(**{**SETTINGS, "zeroed": "with-load"})
    assert setup.zeroed == "with load"
    setup.save(tmp_path / "setup.toml")
    wrench = reported.signal("wrench")
    zeroed = reported.with_signal("wrench", time=wrench.time, values=wrench.values - wrench.values[:5].mean(axis=0))
    iparam.bridges.bag.write_bag(zeroed, tmp_path / "bag", "ur5e")
    run = tmp_path / "run.parquet"
    assert command("bag", "import", tmp_path / "bag", "--setup", tmp_path / "setup.toml", "--output", run) == 0
    assert identified(capsys, run) == identified(capsys, run, "--setup", tmp_path / "setup.toml")
    sensor = tmp_path / "sensor.json"
    sensor.write_text("{}")
    iparam.Recording.load(run).with_metadata(setup={"sensor": str(sensor)}).save(run)
    assert command("identify", "payload", run) == 2  # a path in a file is offered, and not followed
    assert f"--sensor {sensor}" in capsys.readouterr().err


def test_what_cannot_have_been_applied_is_a_damaged_file(motion: iparam.Recording) -> None:
    for stated in (
        [],
        {"measures": "neither"},
        {"delay": 0.1},
        {"sensor_rotation": "estimate"},
        {"sensor_offset": [1]},
    ):
        with pytest.raises(iparam.errors.FileFormatError, match="applied"):
            iparam.sensing.applied_setup(motion.with_metadata(applied=stated))
