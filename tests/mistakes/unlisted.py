"""`UNLISTED`: mistakes that no hypothesis was written for, and two at once. Nothing need be named; but no wrong load
may be trusted, see `judgement.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from scipy.ndimage import uniform_filter1d

import iparam
from iparam.arrays import FloatArray
from iparam.recording import Recording
from iparam.spatial.transforms import skew
from mistakes import log_edits as edit
from mistakes.corpus import Case, Log, Mistake, _compensated, _drawn, _edited, _fewer, _physical, _shifted, _turned
from mistakes.disturbances import bump, slipped
from mistakes.rig import Pull
from mistakes.workbench import ARMS, PAYLOADS, Workbench

COARSE = np.array([2.0] * 3 + [0.2] * 3)
"""[N, N m]."""


def unlisted_cases(arms: Sequence[str] = ARMS, payloads: Sequence[str] = PAYLOADS) -> list[Case]:
    """All of them on all workbenches, or on some."""
    return [
        Case(mistake, Workbench(arm, payload, seed=301 + index))
        for arm in arms
        for payload in payloads
        for index, mistake in enumerate(UNLISTED)
    ]


def _values(change: Callable[[FloatArray, FloatArray], FloatArray]) -> Callable[[Workbench], Log]:
    """A change of the wrench (T, 6), given its times (T,) too."""

    def edited(recording: Recording) -> Recording:
        wrench = recording.signal("wrench")
        return edit.with_wrench(recording, change(wrench.time, wrench.values.copy()))

    return _edited(edited)


def _angles(change: Callable[[FloatArray, FloatArray], FloatArray]) -> Callable[[Workbench], Log]:
    """A change of the angles (T, n), given their times (T,) too."""

    def edited(recording: Recording) -> Recording:
        q = recording.signal("q")
        return edit.with_angles(recording, change(q.time, q.values.copy()))

    return _edited(edited)


def _then(first: Callable[[Workbench], Log], change: Callable[[Recording], Recording]) -> Callable[[Workbench], Log]:
    """One mistake, and another one on top."""

    def make(bench: Workbench) -> Log:
        log = first(bench)
        return Log(change(log.recording), log.robot, log.loads)

    return make


def _about_base(recording: Recording, bench: Workbench) -> Recording:
    """Forces in base axes, torques about the origin of the base."""
    turned = edit.in_base_axes(recording, bench.tool_axes(recording))
    angles, wrench = recording.signal("q"), turned.signal("wrench")
    q = np.column_stack([np.interp(wrench.time, angles.time, column) for column in angles.values.T])
    place, values = iparam.forward_kinematics(bench.robot, q)[..., :3, 3], wrench.values.copy()
    values[:, 3:] += np.cross(place, values[:, :3])
    return edit.with_wrench(recording, values)


def _wheels(bench: Workbench) -> Log:
    """The base rolls to and fro by 0.6 m/s^2: what the load feels of it is a force at its centre of mass."""
    load = bench.load

    def pull(time: float, place: FloatArray, axes: FloatArray) -> tuple[FloatArray, FloatArray]:
        push = np.array([np.sin(2.0 * np.pi * 0.31 * time), 0.3 * np.sin(2.0 * np.pi * 0.2 * time + 1.0), 0.0])
        return -0.6 * load.mass * push, load.center_of_mass

    return _physical(pull=pull)(bench)


def _rocking(bench: Workbench) -> Log:
    """The base tilts to and fro by 2 deg as the arm moves."""
    load = bench.load

    def pull(time: float, place: FloatArray, axes: FloatArray) -> tuple[FloatArray, FloatArray]:
        angle = np.radians(2.0) * np.sin(2.0 * np.pi * 0.23 * time + 0.4)
        tilted = np.array([0.0, np.sin(angle), -np.cos(angle)])
        return 9.81 * load.mass * (tilted - np.array([0.0, 0.0, -1.0])), load.center_of_mass

    return _physical(pull=pull)(bench)


def _rubbing(friction: float) -> Pull:
    """Something rubs along the load against its motion [N], from half of the run on."""
    last: dict[str, FloatArray] = {}

    def pull(time: float, place: FloatArray, axes: FloatArray) -> tuple[FloatArray, FloatArray]:
        before = last.get("place", place.copy())
        way = place - before
        last["place"] = place.copy()
        speed = float(np.linalg.norm(way))
        force = -friction * way / speed if speed > 1e-7 and time > 5.0 else np.zeros(3)
        return force, np.array([0.0, 0.0, 0.1])

    return pull


def _lost_rows(recording: Recording) -> Recording:
    """A quarter of a second of the wrench is lost, and the rest follows without a gap in its stamps."""
    wrench = recording.signal("wrench")
    cut = wrench.num_samples // 2
    values = np.concatenate([wrench.values[:cut], wrench.values[cut + 125 :]])
    return recording.with_signal("wrench", time=wrench.time[: len(values)], values=values)


def _two_clocks(recording: Recording) -> Recording:
    wrench = recording.signal("wrench")
    return recording.with_signal("wrench", time=1.005 * wrench.time, values=wrench.values)


def _jittered(recording: Recording, bench: Workbench) -> Recording:
    """Stamps of the computer that read the sensor, late by up to 20 ms."""
    wrench = recording.signal("wrench")
    late = np.sort(wrench.time + bench.random.exponential(0.006, wrench.num_samples))
    late += 1e-7 * np.arange(late.size)
    return recording.with_signal("wrench", time=late, values=wrench.values)


def _with_rates(recording: Recording) -> Recording:
    """Joint velocities in deg/s beside angles in rad."""
    q = recording.signal("q")
    return recording.with_signal("dq", time=q.time, values=np.degrees(np.gradient(q.values, q.time, axis=0)))


def _in_degrees(recording: Recording) -> Recording:
    """Angles in degrees beside velocities in rad/s."""
    q = recording.signal("q")
    found = recording.with_signal("dq", time=q.time, values=np.gradient(q.values, q.time, axis=0))
    return edit.with_angles(found, np.degrees(q.values))


def _reversed_joint(offset: int) -> Callable[[Recording, Workbench], Recording]:
    def change(recording: Recording, bench: Workbench) -> Recording:
        values = recording.signal("q").values.copy()
        values[:, bench.robot.num_joints - offset] *= -1.0
        return edit.with_angles(recording, values)

    return change


def _two_offsets(recording: Recording, bench: Workbench) -> Recording:
    last = bench.robot.num_joints
    return edit.offset_joint(edit.offset_joint(recording, last - 2, 3.0), last - 4, -4.0)


def _twisted(recording: Recording, bench: Workbench) -> Recording:
    """The sensor's own cable twists with the last joint: 1.5 N and 0.1 N m a radian."""
    angles, wrench = recording.signal("q"), recording.signal("wrench")
    turn = np.interp(wrench.time, angles.time, angles.values[:, -1])
    return edit.added(recording, (turn - turn[0])[:, None] * np.array([1.5, 0.0, 0.0, 0.0, 0.1, 0.05]))


def _warming(recording: Recording) -> Recording:
    """Gains that fall by 8 % during the run."""
    wrench = recording.signal("wrench")
    share = wrench.time / wrench.time[-1]
    return edit.with_wrench(recording, wrench.values * (1.0 - 0.08 * share)[:, None])


def _hysteresis(time: FloatArray, values: FloatArray) -> FloatArray:
    """Play of 2 % of the largest reading in each channel."""
    found = values.copy()
    for channel in range(6):
        play = 0.02 * np.abs(values[:, channel]).max()
        shown = values[0, channel]
        for k, value in enumerate(values[:, channel]):
            shown = min(max(shown, value - play), value + play)
            found[k, channel] = shown
    return found


def _averaged(time: FloatArray, values: FloatArray) -> FloatArray:
    """The mean of the last 75 samples."""
    return np.concatenate([values[:37], uniform_filter1d(values, 75, axis=0)])[: len(values)]


def _dead_band(time: FloatArray, values: FloatArray) -> FloatArray:
    return np.sign(values) * np.maximum(np.abs(values) - 0.5 * COARSE, 0.0)


def _bent(time: FloatArray, values: FloatArray) -> FloatArray:
    return values * (1.0 + 0.1 * np.abs(values) / np.abs(values).max(axis=0))


def _unsigned(time: FloatArray, values: FloatArray) -> FloatArray:
    return np.concatenate([np.abs(values[:, :3]), values[:, 3:]], axis=1)


def _warm(recording: Recording, bench: Workbench, force: float) -> Recording:
    """A sensor that warms up: an exponential of 8 s towards +-force [N] and a twentieth of it [N m]."""
    time = recording.signal("wrench").time[:, None]
    ends = bench.random.choice([-1.0, 1.0], 6) * force * np.array([1.0] * 3 + [0.05] * 3)
    return edit.added(recording, (1.0 - np.exp(-time / 8.0)) * ends)


def _creeping(time: FloatArray, values: FloatArray) -> FloatArray:
    return values + time[:, None] * np.array([0.2, -0.2, 0.2, 0.01, 0.01, -0.01])


def _scaled(factors: Sequence[float]) -> Callable[[Workbench], Log]:
    return _edited(lambda recording: edit.scaled(recording, factors))


def _late(seconds: float) -> Callable[[Recording], Recording]:
    return lambda recording: edit.delayed(recording, seconds)


def _turned_and(degrees: float, factors: Sequence[float]) -> Callable[[Workbench], Log]:
    return _then(_physical(sensor_pose=_turned(degrees, 0.0, 0.0)), lambda recording: edit.scaled(recording, factors))


def _elsewhere(degrees: float, metres: float) -> FloatArray:
    return np.asarray(_shifted(0.0, 0.0, metres) @ _turned(0.0, 0.0, degrees))


def _leaning(degrees: float) -> tuple[float, float, float]:
    angle = np.radians(degrees)
    return 0.0, float(9.81 * np.sin(angle)), float(-9.81 * np.cos(angle))


def _spiked(recording: Recording) -> Recording:
    return edit.spikes(recording, 0.01, 50.0, np.random.default_rng(3))


def _reversed_and_exchanged(recording: Recording, bench: Workbench) -> Recording:
    order = [*range(bench.robot.num_joints)]
    order[-2:] = order[:-3:-1]
    return edit.reordered_joints(edit.scaled(recording, [-1.0] * 6), order)


def _swap(bench: Workbench) -> Log:
    second = slipped(bench.load, (0.0, 0.0, 0.05))
    return Log(bench.measured(later=((5.0, second),)), bench.robot, (bench.load, second))


def _lever(time: FloatArray, values: FloatArray) -> FloatArray:
    """Torques about a point 5 cm further out, with the lever's sign the wrong way round."""
    values[:, 3:] += values[:, :3] @ skew(np.array([0.0, 0.0, 0.05])).T
    return values


def _mistakes() -> Iterator[tuple[str, str, Callable[[Workbench], Log]]]:
    """A name, what it is, and the log with it."""
    kgf, pounds = [1 / 9.80665] * 3 + [1.0] * 3, [0.22480894] * 3 + [8.8507458] * 3
    odd = [1.03, 0.97, 1.02, 0.98, 1.03, 0.97]
    turned, tilted = _turned(0.0, 0.0, 30.0), _leaning(3.0)
    yield "sign-and-units", "reversed, torques in N mm", _scaled([-1.0] * 3 + [-1e3] * 3)
    yield "turn-and-delay", "turned by 30 deg, 40 ms late", _then(_physical(sensor_pose=turned), _late(0.04))
    yield "turn-and-place", "turned by 45 deg, 100 mm further out", _physical(sensor_pose=_elsewhere(45.0, 0.1))
    yield "turn-and-gain", "turned by 10 deg, fz 5 % too large", _turned_and(10.0, [1.0, 1.0, 1.05, 1.0, 1.0, 1.0])
    yield "turn-and-units", "turned by 10 deg, forces in kgf", _turned_and(10.0, kgf)
    yield (
        "turn-and-spikes",
        "turned by 5 deg, 1 % of 50 N",
        _then(_turned_and(5.0, [1.0] * 6), _spiked),
    )
    yield "sign-and-joints", "reversed, last two joints exchanged", _drawn(_reversed_and_exchanged)
    yield (
        "tilt-and-place",
        "base tilted by 3 deg, 30 mm further out",
        _physical(gravity=tilted, sensor_pose=_shifted(0.0, 0.0, 0.03)),
    )
    yield (
        "tilt-and-contact",
        "base tilted by 2 deg, something in the way",
        _physical(gravity=_leaning(2.0), pull=bump(4.6, 0.5, (0.0, -18.0, 24.0))),
    )
    yield "drift-and-delay", "2 N of drift, 30 ms late", _then(_values(_creeping), _late(0.03))
    yield (
        "limit-and-delay",
        "at 60 % of the largest, 30 ms late",
        _then(_edited(lambda r: edit.saturated(r, 0.6)), _late(0.03)),
    )
    yield "pounds", "forces in lbf, torques in lbf in", _scaled(pounds)
    yield "one-torque-reversed", "ty the other way round", _scaled([1.0, 1.0, 1.0, 1.0, -1.0, 1.0])
    yield "one-force-reversed", "fx the other way round", _scaled([-1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    yield "forces-exchanged", "fx and fy exchanged, torques not", _values(lambda t, v: v[:, [1, 0, 2, 3, 4, 5]])
    yield "torques-shuffled", "ty, tz, tx for tx, ty, tz", _values(lambda t, v: v[:, [0, 1, 2, 4, 5, 3]])
    yield "unsigned", "magnitudes of the forces", _values(_unsigned)
    yield "wrong-lever", "moved to another point with the wrong sign", _values(_lever)
    yield "about-the-base", "base axes, torques about its origin", _drawn(_about_base)
    yield "wheels", "on a cart that rolls to and fro", _wheels
    yield "rocking", "on a table that rocks by 2 deg", _rocking
    yield "rubbing", "2 N of friction in the second half", lambda bench: _physical(pull=_rubbing(2.0))(bench)
    yield "gripper-twice", "the weight of a gripper taken out that is none", _compensated(0.25)
    yield "swap", "another place of the load from half of the run on", _swap
    yield "lost-rows", "250 ms of the wrench lost without a trace", _edited(_lost_rows)
    yield "two-clocks", "the wrench's clock is 0.5 % fast", _edited(_two_clocks)
    yield "jitter", "stamps late by some ms at random", _drawn(_jittered)
    yield "moving-average", "of 150 ms", _values(_averaged)
    yield "slow-samples", "wrench and angles at 25 Hz", _edited(lambda r: _fewer(r, 20))
    yield "velocities-in-degrees", "dq in deg/s beside q in rad", _edited(_with_rates)
    yield "angles-in-degrees", "q in deg beside dq in rad/s", _edited(_in_degrees)
    yield "milliseconds", "time in ms", _edited(lambda r: edit.other_clock(r, 1e3))
    yield "joint-reversed", "last but one counted backwards", _drawn(_reversed_joint(2))
    yield "last-joint-reversed", "last one counted backwards", _drawn(_reversed_joint(1))
    yield (
        "joint-twice",
        "the last but one in the column of the last, too",
        _angles(lambda t, q: np.c_[q[:, :-1], q[:, -2]]),
    )
    yield "two-offsets", "zeros of two joints off by 3 and -4 deg", _drawn(_two_offsets)
    yield "stretched", "all angles 2 % too large", _angles(lambda t, q: 1.02 * q)
    yield "wrapped", "angles between -90 and 90 deg", _angles(lambda t, q: (q + np.pi / 2) % np.pi - np.pi / 2)
    yield "coarse-angles", "angles in whole degrees", _angles(lambda t, q: np.radians(np.round(np.degrees(q))))
    yield "coarse-wrench", "rounded to 2 N and 0.2 N m", _values(lambda t, v: np.round(v / COARSE) * COARSE)
    yield "dead-band", "1 N and 0.1 N m about zero show nothing", _values(_dead_band)
    yield "bent", "a gain that grows by a tenth with the load", _values(_bent)
    yield "play", "hysteresis of 2 %", _values(_hysteresis)
    yield "warming", "gains that fall by 8 %", _edited(_warming)
    yield "twisted", "a bias that follows the last joint", _drawn(_twisted)
    yield "gains", "all channels 3 % off, each in its way", _scaled(odd)
    yield "tared", "zeroed with the load on", _values(lambda t, v: v - v[:50].mean(axis=0))
    for name, force in (("drift", 5.6), ("much-drift", 28.0)):
        yield name, f"by {0.7 * force:.0f} N", _drawn(partial(_warm, force=force))


UNLISTED: tuple[Mistake, ...] = tuple(Mistake(name, "middling", what, make) for name, what, make in _mistakes())
