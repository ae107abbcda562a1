"""Data that show a weight and no more: a mistake is named with the option that puts it right, noise is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.arrays import FloatArray
from iparam.cli.console.fixes import as_options
from iparam.cli.main import main
from iparam.estimation import identify_payload
from iparam.estimation.causes.weighing.comparison import weight_causes
from iparam.estimation.causes.weighing.data import Weighing
from iparam.estimation.errors import NotIdentifiableError
from iparam.recording import Recording
from iparam.remarks import plain
from iparam.sensing.correction import Correction
from iparam.spatial.transforms import exp_so3, quaternion_from_rotation

DOWN = np.array([0.0, 0.0, -9.81])
MASS, CENTER = 1.8, np.array([0.02, -0.03, 0.09])
BIAS = np.array([2.0, -1.0, 0.5, 0.05, 0.02, -0.03])
TIME = np.arange(0.0, 20.0, 0.01)
Change = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def orientations(count: int, seed: int = 0) -> FloatArray:
    """Drawn at random."""
    axes = np.random.default_rng(seed).normal(size=(count, 3))
    axes *= np.linspace(0.3, 3.0, count)[:, None] / np.linalg.norm(axes, axis=1, keepdims=True)
    turns: FloatArray = exp_so3(axes)
    return turns


def wrenches(turned: FloatArray, seed: int = 1) -> FloatArray:
    """Of the load at rest, with noise of 0.05 N and 0.003 N m."""
    force = MASS * np.swapaxes(turned, 1, 2) @ -DOWN
    noise = np.random.default_rng(seed).normal(size=(len(turned), 6)) * np.repeat([0.05, 0.003], 3)
    return np.asarray(np.hstack([force, np.cross(CENTER, force)]) + BIAS + noise)


def turned_by(degrees: float, axis: int) -> FloatArray:
    turn: FloatArray = exp_so3(np.radians(degrees) * np.eye(3)[axis])
    return turn


def scaled(*factors: float) -> Change:
    return lambda turned, wrench: (turned, wrench * np.array(factors))


def in_world_axes(turned: FloatArray, wrench: FloatArray) -> tuple[FloatArray, FloatArray]:
    return turned, np.einsum("nij,nkj->nki", turned, wrench.reshape(-1, 2, 3)).reshape(-1, 6)


def exchanged(turned: FloatArray, wrench: FloatArray) -> tuple[FloatArray, FloatArray]:
    return turned, wrench[:, [1, 0, 2, 4, 3, 5]]


MISTAKES: dict[str, tuple[Change, str, str]] = {
    "an IMU that is turned against the sensor": (
        lambda turned, wrench: (turned @ turned_by(90.0, 2), wrench),
        "sensor-rotation",
        "--sensor-rotation",
    ),
    "a world that is not level": (
        lambda turned, wrench: (turned_by(40.0, 0) @ turned, wrench),
        "gravity-direction",
        "--gravity",
    ),
    "axes exchanged": (exchanged, "axis-order", "--wrench-axes y,x,z"),
    "fz reversed": (scaled(1, 1, -1, 1, 1, 1), "left-handed", "--wrench-scale 1 1 -1 1 1 1"),
    "a gain of fx": (scaled(1.2, 1, 1, 1, 1, 1), "sensor-gain", "--wrench-scale"),
    "a gain of tx": (scaled(1, 1, 1, 1.3, 1, 1), "sensor-gain", "--wrench-scale"),
    "torques in N mm": (scaled(1, 1, 1, 1e3, 1e3, 1e3), "units", "--wrench-scale 1 1 1 0.001 0.001 0.001"),
    "axes of the world": (in_world_axes, "base-axes", ""),
    "an orientation of the world in the sensor": (
        lambda turned, wrench: (np.swapaxes(turned, 1, 2), wrench),
        "orientation-inverted",
        "--orientation-columns inverted",
    ),
}


def identified(path: Path, options: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    main(["identify", "payload", str(path), *options.split(), "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.thorough(keep=8)
@pytest.mark.parametrize("static", ["", "--static"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_and_what_it_says_puts_it_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mistake: str, static: str
) -> None:
    """24 poses in a table. A load that is not refuted has the truth in its intervals."""
    change, cause, option = MISTAKES[mistake]
    turned, wrench = change(orientations(24), wrenches(orientations(24)))
    table = np.hstack([turned.reshape(-1, 9), wrench])
    header = "r11,r12,r13,r21,r22,r23,r31,r32,r33,fx,fy,fz,tx,ty,tz"
    path = tmp_path / "poses.csv"
    np.savetxt(path, table, delimiter=",", header=header, comments="")
    if static and main(["identify", "payload", str(path), static]) == 1 and not capsys.readouterr().out:
        main(["identify", "payload", str(path), static])  # rests that show no mass at all
        said = capsys.readouterr().err
        assert "takes the residual from" in said
        assert option in said
        return
    found = identified(path, static, capsys)
    assessment = found["assessment"]
    if assessment["verdict"] != "refuted":
        assert abs(found["mass"] - MASS) < 2.2 * found["standard_deviation"]["mass"]
    told = next(one for one in assessment["causes"] if one["cause"] == cause)
    correction = as_options({name: plain(value) for name, value in told["fix"].items()})
    assert option in correction
    if not correction:
        return
    put_right = identified(path, f"{static} {correction}", capsys)
    assert put_right["assessment"]["verdict"] == "usable"
    assert put_right["mass"] == pytest.approx(MASS, rel=0.01)
    assert np.linalg.norm(put_right["center_of_mass"]) == pytest.approx(np.linalg.norm(CENTER), rel=0.01)


@pytest.mark.parametrize("count", [5, 8, 24])
def test_noise_is_no_mistake(count: int) -> None:
    for seed in range(8):
        turned = orientations(count, seed)
        found = weight_causes(Weighing(-(np.swapaxes(turned, 1, 2) @ DOWN), wrenches(turned, seed), turned, DOWN))
        assert found.causes == ()
        assert found.loads.shape == (0, 4)


@pytest.mark.parametrize(
    ("joint", "causes", "said"),
    [
        (0, [], ""),  # turns about the vertical, which changes no weight
        (2, ["joint-offset"], "Of joint 3 or 4 it would look the same"),
        (4, ["joint-offset"], "deg to joint 5"),
        (5, ["sensor-rotation", "joint-offset"], "No pose tells it from a turned sensor"),
    ],
)
def test_a_joint_that_is_counted_from_another_zero_is_named_at_rest(joint: int, causes: list[str], said: str) -> None:
    """An arm whose joints 2, 3 and 4 are parallel."""
    robot = iparam.load_robot("ur5e")
    q = np.array([0.0, -1.4, 1.5, -1.2, -1.5, 0.3]) + np.random.default_rng(0).uniform(-1.5, 1.5, (10, 6))
    wrench = wrenches(iparam.forward_kinematics(robot, q)[:, :3, :3])
    recorded = q - np.radians(np.where(np.arange(6) == joint, 6.0, 0.0))
    turned = iparam.forward_kinematics(robot, recorded)[:, :3, :3]
    axes = iparam.jacobian(robot, recorded, frame="base")[:, :3]
    up = -(np.swapaxes(turned, 1, 2) @ DOWN)
    found = weight_causes(Weighing(up, wrench, turned, DOWN, of_tool=True, joint_axes=axes))
    assert [cause.cause for cause in found.causes] == causes
    assert said in "".join(cause.sentence for cause in found.causes)
    for load in found.loads[-1:]:
        assert load[0] == pytest.approx(MASS, rel=0.01)
        np.testing.assert_allclose(load[1:], CENTER, atol=1e-3)


def test_a_weight_that_does_not_follow_the_orientation_is_refuted(tmp_path: Path) -> None:
    """The rows of the orientation are those of other poses."""
    turned = orientations(24)
    table = np.hstack([turned[::-1].reshape(-1, 9), wrenches(turned)])
    path = tmp_path / "poses.csv"
    header = "r11,r12,r13,r21,r22,r23,r31,r32,r33,fx,fy,fz,tx,ty,tz"
    np.savetxt(path, table, delimiter=",", header=header, comments="")
    found = identify_payload(Recording.load(path))
    assert found.refutation is not None
    assert "of the changes of the force unexplained" in found.refutation.reason


@pytest.mark.parametrize("digits", [2, 3])
def test_the_rounding_of_an_orientation_is_in_the_intervals(digits: int, tmp_path: Path) -> None:
    """24 poses; a quaternion of two digits is off by 0.3 deg, which makes more of the force than its noise does."""
    scores = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        axes = rng.normal(size=(24, 3))
        half = rng.uniform(0.1, 1.5, (24, 1))
        quaternions = np.hstack([np.cos(half), np.sin(half) * axes / np.linalg.norm(axes, axis=1, keepdims=True)])
        turned = exp_so3(2.0 * half * axes / np.linalg.norm(axes, axis=1, keepdims=True))
        table = np.hstack([np.round(quaternions, digits), wrenches(turned, seed)])
        np.savetxt(tmp_path / "poses.csv", table, delimiter=",", header="qw,qx,qy,qz,fx,fy,fz,tx,ty,tz", comments="")
        found = identify_payload(Recording.load(tmp_path / "poses.csv"), tolerances="exact")
        off = np.array([found.mass, *found.center_of_mass]) - [MASS, *CENTER]
        deviations = [found.standard_deviation.mass, *found.standard_deviation.center_of_mass]
        scores.append(off / deviations)
    assert 0.4 < np.sqrt(np.mean(np.square(scores))) < 1.4
    assert np.abs(scores).max() < 4.0


def slow_motion(imu: FloatArray) -> Recording:
    """A sensor at the end of a lever of 0.6 m that is turned slowly, with the orientation of an IMU beside it."""
    angles = np.column_stack([1.2 * np.sin(0.5 * TIME), 0.9 * np.sin(0.7 * TIME + 0.4), 0.8 * np.sin(0.3 * TIME)])
    turned: FloatArray = exp_so3(angles)
    place = np.einsum("nij,j->ni", turned, [0.0, 0.0, 0.6])
    rising = np.gradient(np.gradient(place, TIME, axis=0), TIME, axis=0) - DOWN
    force = MASS * np.einsum("nji,nj->ni", turned, rising)
    noise = np.random.default_rng(3).normal(size=(TIME.size, 6)) * np.repeat([0.1, 0.005], 3)
    wrench = np.hstack([force, np.cross(CENTER, force)]) + BIAS + noise
    run = Recording().with_signal("rotation", time=TIME, values=(turned @ imu).reshape(-1, 9))
    return run.with_signal("wrench", time=TIME, values=wrench)


def test_a_turned_imu_in_a_motion_whose_acceleration_nobody_recorded() -> None:
    """The turn is in no way hidden: the weight turns about other axes than it should."""
    sound = identify_payload(slow_motion(np.eye(3)))
    assert [one.cause for one in sound.causes] == ["too-little-motion"]
    assert sound.mass == pytest.approx(MASS, abs=3.0 * sound.standard_deviation.mass)
    run = slow_motion(turned_by(-70.0, 0))
    wrong = identify_payload(run)
    assert wrong.refutation is not None
    assert wrong.causes[0].cause == "sensor-rotation"
    roll, pitch, yaw = wrong.causes[0].fix["sensor_rotation"]
    assert (roll, pitch, yaw) == pytest.approx((70.0, 0.0, 0.0), abs=0.7)
    with pytest.raises(NotIdentifiableError, match="give the value instead of 'estimate'"):
        identify_payload(run, correction=Correction(sensor_rotation="estimate"))
    right = identify_payload(run, correction=Correction(sensor_rotation=(roll, pitch, yaw)))
    assert right.refutation is None
    assert right.mass == pytest.approx(MASS, rel=0.01)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("reading", ["inverted", "w-last", "w-first", "inverted-w-last", "inverted-w-first"])
def test_what_else_a_quaternion_holds_is_named(reading: str, sign: float) -> None:
    """A slow motion, in which the weight shows the sensor's sign as well, whatever was written for its orientation."""
    turned = exp_so3(np.column_stack([0.9 * np.sin(0.35 * TIME), 0.8 * np.sin(0.52 * TIME + 0.4), 0.5 + 0.2 * TIME]))
    run = Recording().with_signal("wrench", time=TIME, values=sign * wrenches(turned))
    columns = quaternion_from_rotation(turned)
    if reading.startswith("inverted"):
        columns = columns * [1.0, -1.0, -1.0, -1.0]
    columns = np.roll(columns, -1 if "w-last" in reading else 1 if "w-first" in reading else 0, axis=1)
    run = run.with_signal("orientation", time=TIME, values=columns)
    found = iparam.identify_payload(run)
    assert found.refutation is not None or abs(found.mass - MASS) < 3.0 * found.standard_deviation.mass
    first = found.causes[0]
    assert first.cause == ("orientation-inverted" if reading == "inverted" else "orientation-order")
    assert first.fix == {"orientation_columns": reading}
    again = iparam.identify_payload(run, correction=Correction.from_document(dict(first.fix)))
    assert again.refutation is None
    assert again.mass == pytest.approx(MASS, rel=0.02)
    assert abs(again.mass - MASS) < 3.0 * again.standard_deviation.mass
