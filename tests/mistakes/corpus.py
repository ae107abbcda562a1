"""`MISTAKES`: every kind of mistake at three sizes, as a function from a workbench to a log that has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

import iparam
from iparam.arrays import FloatArray
from iparam.recording import Recording
from iparam.robot.description.installed import installed_description
from iparam.robot.model import Robot
from iparam.spatial import InertialParameters
from iparam.spatial.transforms import rotation_from_rpy, transform_from
from mistakes import log_edits as edit
from mistakes.disturbances import SmallerMotion, bump, cable, constant_force, dangling, remainder, slipped
from mistakes.workbench import ARMS, PAYLOADS, Workbench

Size = Literal["small", "middling", "gross"]
SIZES: tuple[Size, ...] = ("small", "middling", "gross")


@dataclass(frozen=True, eq=False)
class Log:
    """What somebody would hand to iparam.

    Attributes:
        recording: the log.
        robot: the arm that it is said to come from.
        loads: what was carried: one load, or several in turn.
    """

    recording: Recording
    robot: Robot
    loads: tuple[InertialParameters, ...]


@dataclass(frozen=True, eq=False)
class Mistake:
    """One mistake of one size.

    Attributes:
        slug: of the cause.
        size: small, middling or gross.
        what: in words.
        make: the log of a workbench with it.
        same: slugs of causes that the data cannot tell from it, see `test_principle.py`.
    """

    slug: str
    size: Size
    what: str
    make: Callable[[Workbench], Log]
    same: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Short, for tables and tests."""
        return f"{self.slug}/{self.size}"


@dataclass(frozen=True)
class Case:
    """A mistake on a workbench."""

    mistake: Mistake
    workbench: Workbench

    @property
    def name(self) -> str:
        """Short, for tables and tests."""
        return f"{self.mistake.name}@{self.workbench.name}"

    def log(self) -> Log:
        """The log."""
        return self.mistake.make(self.workbench)


def cases(arms: Sequence[str] = ARMS, payloads: Sequence[str] = PAYLOADS, slugs: Sequence[str] = ()) -> list[Case]:
    """All mistakes on all workbenches, or a part of them."""
    return [
        Case(mistake, Workbench(arm, payload, seed=1 + index))
        for arm in arms
        for payload in payloads
        for index, mistake in enumerate(MISTAKES)
        if not slugs or mistake.slug in slugs
    ]


def case(name: str) -> Case:
    """The one of that name, such as "sensor-rotation/small@ur5e-compact"."""
    return next(each for each in cases() if each.name == name)


def _edited(change: Callable[[Recording], Recording]) -> Callable[[Workbench], Log]:
    return lambda bench: Log(change(bench.sound), bench.robot, (bench.load,))


def _drawn(change: Callable[[Recording, Workbench], Recording]) -> Callable[[Workbench], Log]:
    return lambda bench: Log(change(bench.sound, bench), bench.robot, (bench.load,))


def _physical(**changes: object) -> Callable[[Workbench], Log]:
    return lambda bench: Log(bench.measured(**changes), bench.robot, (bench.load,))


def _fewer(recording: Recording, every: int) -> Recording:
    """The same at a lower rate: how often a mistake is sampled must not matter."""
    for name in ("q", "wrench"):
        signal = recording.signal(name)
        recording = recording.with_signal(name, time=signal.time[::every], values=signal.values[::every])
    return recording


def _variants(slug: str, change: Callable[[Recording, Workbench], Recording], what: str) -> list[Mistake]:
    """A mistake that has no size, in three logs: a sound one, one at 100 Hz, one of a sensor far from its zero."""
    bias = np.array([25.0, -40.0, 60.0, 1.5, -2.0, 1.0])
    return [
        Mistake(slug, "small", f"{what}; 100 Hz", _drawn(lambda r, b: change(_fewer(r, 5), b))),
        Mistake(slug, "middling", what, _drawn(change)),
        Mistake(slug, "gross", f"{what}; a bias of 76 N", _drawn(lambda r, b: change(edit.added(r, bias), b))),
    ]


def _sized(slug: str, *makers: tuple[str, Callable[[Workbench], Log]], same: tuple[str, ...] = ()) -> list[Mistake]:
    return [Mistake(slug, size, what, make, same) for size, (what, make) in zip(SIZES, makers, strict=True)]


def _turned(*degrees: float) -> FloatArray:
    return transform_from(rotation_from_rpy(np.radians(degrees)), np.zeros(3))


def _shifted(*metres: float) -> FloatArray:
    return transform_from(np.eye(3), np.array(metres))


def _tilted(degrees: float, about: int) -> tuple[float, float, float]:
    angles = np.zeros(3)
    angles[about] = np.radians(degrees)
    return tuple((rotation_from_rpy(angles).T @ [0.0, 0.0, -9.81]).tolist())  # type: ignore[return-value]


def _other_arm(index: int) -> Callable[[Workbench], Log]:
    """The log of an arm that is taken for another one with as many joints."""

    def make(bench: Workbench) -> Log:
        recording, tip = bench.sound, None
        if bench.arm == "ur5e":
            name = ("ur5", "ur3e", "ur10e")[index]
        elif index < 2:
            name, recording = "xarm7", _fewer(recording, 5) if index == 0 else recording
        else:
            folder = installed_description("panda").parents[2]
            name, tip = str(folder / "baxter_description" / "urdf" / "baxter.urdf"), "left_hand_link"
        return Log(recording, iparam.load_robot(name, tip=tip), (bench.load,))

    return make


def _last(offset: int) -> Callable[[Workbench], int]:
    return lambda bench: bench.robot.num_joints - offset


def _order(bench: Workbench, kind: str) -> list[int]:
    order = list(range(bench.robot.num_joints))
    if kind == "wrist":
        order[-1], order[-2] = order[-2], order[-1]
    elif kind == "alphabetical":  # elbow before shoulder, as ROS sorts the names of a UR's joints
        order[0], order[2] = order[2], order[0]
    else:
        order.reverse()
    return order


def _step(recording: Recording, jump: FloatArray, at: float = 0.6) -> FloatArray:
    time = recording.signal("wrench").time
    return np.asarray((time > at * time[-1])[:, None] * jump)


def _tared(recording: Recording) -> Recording:
    """Zeroed in the middle of the run: what was shown then is subtracted."""
    wrench = recording.signal("wrench")
    row = round(0.6 * wrench.num_samples)
    return edit.added(recording, _step(recording, -wrench.values[row]))


def _compensated(share: float) -> Callable[[Workbench], Log]:
    """The controller subtracts the weight of the load that it was told of, a share of the true one."""

    def make(bench: Workbench) -> Log:
        recording = bench.sound
        pull = -9.81 * share * bench.load.mass * bench.tool_axes(bench.exact)[:, 2, :]  # gravity's force, in tool axes
        torque = np.cross(bench.load.center_of_mass, pull)
        return Log(edit.added(recording, np.concatenate([pull, torque], axis=1)), bench.robot, (bench.load,))

    return make


def _heavier(times_rated: float) -> Callable[[Workbench], Log]:
    """A load of the same shape, as heavy as the arm is rated for, times a factor."""

    def make(bench: Workbench) -> Log:
        factor = times_rated * {"ur5e": 5.0, "panda": 3.0}[bench.arm] / bench.load.mass
        heavy = InertialParameters.from_phi(factor * bench.load.phi)
        return Log(bench.measured(load=heavy), bench.robot, (heavy,))

    return make


def _changed(later: Callable[[InertialParameters], InertialParameters], at: float) -> Callable[[Workbench], Log]:
    def make(bench: Workbench) -> Log:
        second = later(bench.load)
        return Log(bench.measured(later=((at, second),)), bench.robot, (bench.load, second))

    return make


def _loose(share: float, hertz: float, damping: float) -> Callable[[Workbench], Log]:
    def make(bench: Workbench) -> Log:
        fixed, part = dangling(bench.load, share, hertz, damping)
        return Log(bench.measured(load=fixed, loose=part), bench.robot, (bench.load,))

    return make


def _slow(amplitude: float) -> Callable[[Workbench], Log]:
    def make(bench: Workbench) -> Log:
        little = SmallerMotion(bench.scene().trajectory, amplitude)
        return Log(bench.measured(trajectory=little), bench.robot, (bench.load,))

    return make


def _crosstalk(row: int, column: int, share: float) -> FloatArray:
    matrix = np.eye(6)
    matrix[row, column] = share
    return matrix


MISTAKES: tuple[Mistake, ...] = (
    *_variants("wrench-sign", lambda r, b: edit.scaled(r, [-1.0] * 6), "what the load exerts on the arm"),
    *_variants("force-sign", lambda r, b: edit.scaled(r, [-1.0] * 3 + [1.0] * 3), "forces reversed, torques not"),
    *_variants("torque-sign", lambda r, b: edit.scaled(r, [1.0] * 3 + [-1.0] * 3), "torques reversed, forces not"),
    *_sized(
        "units",
        ("forces in kgf", _edited(lambda r: edit.scaled(r, [1 / 9.80665] * 3 + [1.0] * 3))),
        ("torques in N mm", _edited(lambda r: edit.scaled(r, [1.0] * 3 + [1e3] * 3))),
        ("forces in mN", _edited(lambda r: edit.scaled(r, [1e3] * 3 + [1.0] * 3))),
    ),
    *_sized(
        "axis-order",
        ("x and y exchanged", _edited(lambda r: edit.rearranged(r, ("y", "x", "z")))),
        ("y and z exchanged", _edited(lambda r: edit.rearranged(r, ("x", "z", "y")))),
        ("x, y, z are z, x, y", _edited(lambda r: edit.rearranged(r, ("z", "x", "y")))),
        same=("left-handed", "sensor-rotation"),
    ),
    *_sized(
        "left-handed",
        ("x points the other way", _edited(lambda r: edit.rearranged(r, ("-x", "y", "z")))),
        ("y points the other way", _edited(lambda r: edit.rearranged(r, ("x", "-y", "z")))),
        ("z points the other way", _edited(lambda r: edit.rearranged(r, ("x", "y", "-z")))),
        same=("axis-order",),
    ),
    *_sized(
        "sensor-rotation",
        ("turned by 2 deg about x", _physical(sensor_pose=_turned(2.0, 0.0, 0.0))),
        ("turned by 5 deg about y and 45 about z", _physical(sensor_pose=_turned(0.0, 5.0, 45.0))),
        ("turned by 90 deg about z", _physical(sensor_pose=_turned(0.0, 0.0, 90.0))),
        same=("axis-order",),
    ),
    *_sized(
        "sensor-offset",
        ("8 mm further out", _physical(sensor_pose=_shifted(0.0, 0.0, 0.008))),
        ("40 mm further out", _physical(sensor_pose=_shifted(0.0, 0.0, 0.040))),
        ("120 mm further out and 50 aside", _physical(sensor_pose=_shifted(0.05, 0.0, 0.120))),
    ),
    *_variants("base-axes", lambda r, b: edit.in_base_axes(r, b.tool_axes(r)), "in the axes of the base"),
    *_sized(
        "robot-model",
        ("taken for an arm that is much like it", _other_arm(0)),
        ("taken for another arm", _other_arm(1)),
        ("taken for a third one", _other_arm(2)),
    ),
    *_sized(
        "joint-order",
        ("last two joints exchanged", _drawn(lambda r, b: edit.reordered_joints(r, _order(b, "wrist")))),
        ("joints sorted by name", _drawn(lambda r, b: edit.reordered_joints(r, _order(b, "alphabetical")))),
        ("joints from the tool to the base", _drawn(lambda r, b: edit.reordered_joints(r, _order(b, "reversed")))),
    ),
    *_sized(
        "joint-offset",
        ("zero of the last but one off by 1 deg", _drawn(lambda r, b: edit.offset_joint(r, _last(2)(b), 1.0))),
        ("zero of the last but two off by 5 deg", _drawn(lambda r, b: edit.offset_joint(r, _last(3)(b), 5.0))),
        ("zero of the last but one off by 90 deg", _drawn(lambda r, b: edit.offset_joint(r, _last(2)(b), 90.0))),
    ),
    *_sized(
        "frozen-joint",
        ("last but one for a tenth of the run", _drawn(lambda r, b: edit.frozen_joint(r, _last(2)(b), 0.45, 0.55))),
        ("last for a half of the run", _drawn(lambda r, b: edit.frozen_joint(r, _last(1)(b), 0.4, 0.9))),
        ("last but one all the time", _drawn(lambda r, b: edit.frozen_joint(r, _last(2)(b), 0.0, 1.0))),
    ),
    *_sized(
        "gravity-direction",
        ("base tilted by 2 deg", _physical(gravity=_tilted(2.0, 0))),
        ("base tilted by 15 deg", _physical(gravity=_tilted(15.0, 1))),
        ("on a wall", _physical(gravity=_tilted(90.0, 0))),
    ),
    *_sized(
        "clock-rate",
        ("2 % fast", _edited(lambda r: edit.other_clock(r, 1.02))),
        ("10 % fast", _edited(lambda r: edit.other_clock(r, 1.10))),
        ("half as fast", _edited(lambda r: edit.other_clock(r, 0.5))),
        same=("weight-compensated",),
    ),
    *_sized(
        "delay",
        ("5 ms", _edited(lambda r: edit.delayed(r, 0.005))),
        ("30 ms", _edited(lambda r: edit.delayed(r, 0.030))),
        ("200 ms", _edited(lambda r: edit.delayed(r, 0.200))),
        same=("low-pass",),
    ),
    *_sized(
        "low-pass",
        ("20 Hz, first order", _edited(lambda r: edit.low_passed(r, 20.0, 1))),
        ("5 Hz, second order", _edited(lambda r: edit.low_passed(r, 5.0, 2))),
        ("1.5 Hz, second order", _edited(lambda r: edit.low_passed(r, 1.5, 2))),
        same=("delay",),
    ),
    *_sized(
        "held-samples",
        ("new at 62.5 Hz", _edited(lambda r: edit.held(r, 8))),
        ("new at 12.5 Hz", _edited(lambda r: edit.held(r, 40))),
        ("new at 2.5 Hz", _edited(lambda r: edit.held(r, 200))),
    ),
    *_sized(
        "sensor-gain",
        ("fz 3 % too large", _edited(lambda r: edit.scaled(r, [1.0, 1.0, 1.03, 1.0, 1.0, 1.0]))),
        ("10 % of fz in fx", _edited(lambda r: edit.scaled(r, _crosstalk(0, 2, 0.1)))),
        ("ty half as large again", _edited(lambda r: edit.scaled(r, [1.0, 1.0, 1.0, 1.0, 1.5, 1.0]))),
    ),
    *_sized(
        "channel-dead",
        ("fx stuck in the last tenth", _edited(lambda r: edit.dead_channel(r, 0, 0.9))),
        ("tx dead", _edited(lambda r: edit.dead_channel(r, 3, 0.0))),
        ("fz dead", _edited(lambda r: edit.dead_channel(r, 2, 0.0))),
    ),
    *_sized(
        "saturation",
        ("at 85 % of the largest", _edited(lambda r: edit.saturated(r, 0.85))),
        ("at 60 % of the largest", _edited(lambda r: edit.saturated(r, 0.60))),
        ("at 25 % of the largest", _edited(lambda r: edit.saturated(r, 0.25))),
    ),
    *_sized(
        "re-zeroed",
        ("by 0.5 N", _edited(lambda r: edit.added(r, _step(r, np.array([0.5, -0.3, 0.5, 0.02, -0.02, 0.01]))))),
        ("zeroed under load", _edited(_tared)),
        ("by 40 N", _edited(lambda r: edit.added(r, _step(r, np.array([20.0, -20.0, 30.0, 1.0, -1.0, 0.5]))))),
    ),
    *_sized(
        "contact",
        ("5 N for 0.2 s", _physical(pull=bump(4.6, 0.2, (3.0, 4.0, 0.0)))),
        ("30 N for 0.5 s", _physical(pull=bump(4.6, 0.5, (0.0, -18.0, 24.0)))),
        ("100 N for 1.5 s", _physical(pull=bump(4.6, 1.5, (-60.0, 0.0, 80.0)))),
    ),
    *_sized(
        "load-changed",
        ("lost 4 % of its mass", _changed(lambda load: remainder(load, 0.96), 6.0)),
        ("slipped by 25 mm", _changed(lambda load: slipped(load, (0.0, 0.015, 0.02)), 6.0)),
        ("lost 60 % of its mass", _changed(lambda load: remainder(load, 0.4), 4.0)),
    ),
    *_sized(
        "loose-load",
        ("a tenth of it on a hinge", _loose(0.1, 4.0, 0.1)),
        ("a third of it on a soft hinge", _loose(0.33, 2.0, 0.1)),
        ("most of it dangles", _loose(0.8, 0.7, 0.2)),
    ),
    *_sized(
        "external-force",
        ("a cable of 8 N/m", _physical(pull=cable(8.0, (0.3, 0.2, 1.5)))),
        ("a constant 5 N", _physical(pull=constant_force((3.0, 0.0, 4.0)))),
        ("a balancer of 30 N", _physical(pull=constant_force((0.0, 3.0, 30.0)))),
    ),
    *_sized(
        "weight-compensated",
        ("a tenth of it", _compensated(0.1)),
        ("half of it", _compensated(0.5)),
        ("all of it", _compensated(1.0)),
        same=("external-force", "clock-rate"),
    ),
    *_sized(
        "over-rated-load",
        ("1.3 times the rated load", _heavier(1.3)),
        ("2.5 times the rated load", _heavier(2.5)),
        ("10 times the rated load", _heavier(10.0)),
    ),
    *_sized(
        "outliers",
        ("0.1 % of 50 N", _drawn(lambda r, b: edit.spikes(r, 0.001, 50.0, b.random))),
        ("1 % of 50 N", _drawn(lambda r, b: edit.spikes(r, 0.01, 50.0, b.random))),
        ("5 % of 200 N", _drawn(lambda r, b: edit.spikes(r, 0.05, 200.0, b.random))),
    ),
    *_sized(
        "too-little-motion",
        ("a tenth of the motion", _slow(0.1)),
        ("a fiftieth of the motion", _slow(0.02)),
        ("none", _slow(0.0)),
    ),
)
