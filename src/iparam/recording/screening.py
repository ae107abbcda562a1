"""Looks through a recording for what often goes wrong: degrees, angles that jump by a turn, dropped sensors, gaps,
clocks that do not agree.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError
from iparam.recording.channels import ANGLES
from iparam.recording.noise_level import white_noise_level
from iparam.recording.signal import Signal
from iparam.recording.units import ORDERS, degrees_in_scale, odd_scales, scale_of_derivative
from iparam.remarks import Remark, remark

if TYPE_CHECKING:
    from iparam.robot.model import Robot

GAP = 5.0
"""Periods without a sample that are reported as a gap."""

FROZEN_TIME = 0.5
"""Seconds for which a sensor may show one value while the arm moves."""

FEW_SAMPLES = 0.01
"""Share of the samples that may lie anywhere before the rest is judged by them."""

LEAP, LASTING_LEAP = 5.0, 1.5
"""Times the step that few samples exceed, by which a signal leaps to a number that was not measured; and where it stays
there for more samples than `_LASTING`, which noise would not."""

MOST_TURNS = 2.0
"""Turns that an angle jumps by at once, at most: more is another unit."""

_POSITIONS = ("q", "target_q")
_TOGETHER = 3  # components that do not hold the same number by chance
_LASTING = 3
_LEAST_STEPS = 20  # that tell what is usual
_DEGREES = float(np.degrees(1.0))
_BEYOND = 6.9  # rad; more than a joint usually turns to either side
_NOISY = ("wrench", "accelerometer", "gyro", "current")
_MOVED = 0.05  # rad; less is no motion that a sensor has to notice


def check_clocks(signals: Mapping[str, Signal], source: str) -> None:
    """Refuse signals that have no time in common."""
    for (one, first), (other, second) in combinations(signals.items(), 2):
        if first.time[0] > second.time[-1] or second.time[0] > first.time[-1]:
            spans = (f"{name} {s.time[0]:.6g} to {s.time[-1]:.6g} s" for name, s in ((one, first), (other, second)))
            raise FileFormatError(
                f"{source}: the signals have no time in common: {', '.join(spans)}. Were they stamped by two clocks? "
                "Bring them to one clock first"
            )


def without_dropouts(signals: Mapping[str, Signal]) -> tuple[dict[str, Signal], list[Remark]]:
    """The signals without samples in which nothing was measured, and a remark on each: all components hold one
    number, 0 or -999, or one angle holds 0, and leap to it and from it, or do so while another signal drops out.
    """
    alike = {
        name: (signal.values == signal.values[:, :1]).all(axis=1)
        for name, signal in signals.items()
        if signal.width >= _TOGETHER
    }
    alike = {name: same for name, same in alike.items() if same.any() and not same.all()}
    lost = {name: _leaping(signals[name].values, same) for name, same in alike.items()}
    silent = np.concatenate([np.empty(0), *(signals[name].time[rows] for name, rows in lost.items())])
    found, notes = dict(signals), []
    for name in (name for name in _POSITIONS if name in signals):  # of angles, a single one is missed as well
        zeros = [(column[:, None], _between_others(column == 0.0)) for column in signals[name].values.T]
        each = [_leaping(column, zero) for column, zero in zeros if zero.any()]
        if each:
            lost[name] = np.any([*each, *([lost[name]] if name in lost else [])], axis=0)
    for name, away in lost.items():
        signal = signals[name]
        rows = away | (alike[name] & np.isin(signal.time, silent)) if name in alike else away
        if rows.any():
            place = int(np.argmax(rows))
            notes.append(
                remark(
                    "signal-dropped-out",
                    signal=name,
                    value=0.0 if (signal.values[place] == 0.0).any() else signal.values[place, 0],
                    count=np.count_nonzero(rows),
                    first=signal.time[place],
                )
            )
            found[name] = Signal(signal.time[~rows], signal.values[~rows], signal.unit, signal.frame)
    return found, notes


def _between_others(rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(T,) the rows but for those that nothing else is before, or after."""
    before, after = (np.maximum.accumulate(~one) for one in (rows, rows[::-1]))
    return np.asarray(rows & before & after[::-1])


def _leaping(values: FloatArray, alike: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the samples (T, k) that are ``alike`` (T,) in all components the others leap to, and from."""
    steps = np.abs(np.diff(values, axis=0)).max(axis=1)
    usual = steps[~(alike[1:] | alike[:-1])]
    few = float(np.quantile(usual, 1.0 - FEW_SAMPLES)) if usual.size >= _LEAST_STEPS else np.inf
    found = np.zeros(alike.size, dtype=bool)
    for first, after in np.flatnonzero(np.diff(alike, prepend=False, append=False)).reshape(-1, 2).tolist():
        leap = few * (LASTING_LEAP if after - first > _LASTING else LEAP)
        if (first == 0 or steps[first - 1] > leap) and (after == alike.size or steps[after - 1] > leap):
            found[first:after] = True
    return found


def turns_taken_out(signals: Mapping[str, Signal], robot: Robot | None) -> tuple[dict[str, Signal], list[Remark]]:
    """The signals with angles that go on where they jumped by whole turns from one sample to the next, as those of a
    counter that was reset, or of an angle that is wrapped; and a remark on each signal.

    Most samples stay as they are, unless another number of turns brings the joint within its limits.

    Args:
        signals: of a recording, in rad.
        robot: the arm, whose sliding joints are left as they are; None if unknown.
    """
    found, notes = dict(signals), []
    for name in (name for name in _POSITIONS if name in signals):
        signal = signals[name]
        values, joints, count = signal.values.copy(), [], 0
        for joint in range(signal.width):
            if robot is not None and (joint >= robot.num_joints or robot.moving_joints[joint].kind != "revolute"):
                continue
            turns = _turns(values[:, joint])
            if not turns.any():
                continue
            whole = np.append(0.0, np.cumsum(turns))
            kinds, often = np.unique(whole, return_counts=True)
            angles = values[:, joint] - 2.0 * np.pi * (whole - kinds[np.argmax(often)])
            if robot is not None:
                low, high = robot.limits.lower[joint], robot.limits.upper[joint]
                if np.isfinite([low, high]).all() and (angles.min() < low or angles.max() > high):
                    middle = 0.5 * (angles.min() + angles.max() - low - high)
                    angles -= 2.0 * np.pi * np.rint(middle / (2.0 * np.pi))
            values[:, joint] = angles
            joints.append(str(joint + 1))
            count += int(np.count_nonzero(turns))
        if joints:
            found[name] = Signal(signal.time, values, signal.unit, signal.frame)
            notes.append(remark("turns-taken-out", signal=name, joints=", ".join(joints), count=count))
    return found, notes


def _turns(angles: FloatArray) -> FloatArray:
    """(T - 1,) whole turns that angles (T,) jump by, where that alone makes their step a usual one."""
    steps = np.diff(angles)
    turns = np.rint(steps / (2.0 * np.pi))
    usual = np.abs(steps[turns == 0.0])
    if usual.size < _LEAST_STEPS or usual.size == steps.size:
        return np.zeros_like(steps)
    most = LEAP * float(np.quantile(usual, 1.0 - FEW_SAMPLES))
    likely = np.abs(steps - 2.0 * np.pi * turns) <= most
    return np.where(likely & (np.abs(turns) <= MOST_TURNS) & (most < np.pi), turns, 0.0)


def angles_in_one_unit(signals: Mapping[str, Signal], robot: Robot | None) -> tuple[dict[str, Signal], list[Remark]]:
    """The signals in rad where positions or velocities of joints alone were in degrees; and what was done.

    A velocity that is 57.3 times the slope of the position over time, or 57.3 times less, has no other cause; which of
    the two is in degrees, the factor says.

    Args:
        signals: of a recording.
        robot: the arm, whose sliding joints are left as they are; None if unknown.
    """
    found, notes = dict(signals), []
    for pair in (pair for names in ORDERS for pair in pairwise(names)):
        for higher, lower, scale in odd_scales({name: found[name] for name in pair if name in found}):
            which = degrees_in_scale(scale)
            name, other = (higher, lower) if which == "higher" else (lower, higher)
            if which is None or name not in (higher, "q", "target_q"):
                continue  # that velocities alone are in degrees, the pair before has told
            found |= to_radians({name: found[name]}, robot)
            notes.append(
                remark("angles-from-degrees", higher=higher, scale=scale, lower=lower, signal=name, other=other)
            )
    return found, notes


def some_angles_from_degrees(
    signals: Mapping[str, Signal], robot: Robot | None, stated: Container[str] = ()
) -> tuple[dict[str, Signal], list[Remark]]:
    """The signals with positions in rad of those joints that are in degrees beside others in rad; and a remark.

    Those that turn further than the arm can are in degrees. Encoders of one arm are about alike, so that a joint whose
    noise is like that of those is in degrees, too; where all are, nobody knows it but whoever wrote the file.

    Args:
        signals: of a recording.
        robot: the arm; None, which is left alone, if unknown.
        stated: signals whose unit a header states.
    """
    found: dict[str, Signal] = dict(signals)
    notes: list[Remark] = []
    for name in (name for name in _POSITIONS if name in signals and name not in stated and robot is not None):
        signal = signals[name]
        if robot is None or signal.width != robot.num_joints or signal.num_samples < _LEAST_STEPS:
            continue
        turning = np.array([joint.kind == "revolute" for joint in robot.moving_joints])
        reach = np.maximum(np.abs(robot.limits.lower), np.abs(robot.limits.upper))
        usual = np.quantile(np.abs(signal.values), 1.0 - FEW_SAMPLES, axis=0, method="lower")
        noise, beyond = white_noise_level(signal.values), turning & (usual > np.maximum(1.1 * reach, _BEYOND))
        if not beyond.any() or not (noise[turning] > 0.0).all():
            continue
        degrees = turning & (beyond | (noise > float(np.median(noise[beyond])) / np.sqrt(_DEGREES)))
        if (degrees == turning).all():
            continue
        values = np.where(degrees, np.radians(signal.values), signal.values)
        found[name] = Signal(signal.time, values, signal.unit, signal.frame)
        joints = ", ".join(str(joint + 1) for joint in np.flatnonzero(degrees))
        notes.append(remark("some-angles-from-degrees", signal=name, joints=joints))
    return found, notes


def angles_from_degrees(
    signals: Mapping[str, Signal], robot: Robot | None, stated: Container[str] = ()
) -> tuple[dict[str, Signal], list[Remark]]:
    """The signals with angles from degrees in rad; velocities that prove to be in rad beside them stay, and are told.

    Args:
        signals: of a recording.
        robot: the arm, whose sliding joints are left as they are; None if unknown.
        stated: signals whose unit a header states, and which are in rad by it.
    """
    turned = {name: signal for name, signal in signals.items() if name not in stated}
    found, notes = {**signals, **to_radians(turned, robot)}, []
    for pair in (pair for names in ORDERS for pair in pairwise(names)):
        for higher, lower, scale in odd_scales({name: found[name] for name in pair if name in found}):
            if degrees_in_scale(scale) == "lower" and higher in turned:
                found[higher] = signals[higher]
                notes.append(remark("angles-left-in-rad", lower=lower, higher=higher))
    return found, notes


def check_angles(
    signals: Mapping[str, Signal], robot: Robot | None, source: str, stated: Container[str] = ()
) -> list[Remark]:
    """Refuse angles that look like degrees, by the limits of the arm; warn where the arm is not known.

    A few samples far out are no degrees, whatever they are: they are told. So are angles beyond a limit that are still
    within a turn: joints in another order, or counted from another zero, look like that.

    Args:
        signals: of a recording.
        robot: the arm, None if unknown.
        source: of the signals, for messages.
        stated: signals whose unit a header states.
    """
    if robot is None:
        worst = max((_usual_size(signals[name]) for name in ("q", "target_q") if name in signals), default=0.0)
        if worst > _BEYOND:
            return [remark("angles-large", largest=worst, fix={"angles": "degrees"})]
        return []
    turning = np.array([joint.kind == "revolute" for joint in robot.moving_joints])
    reach = np.maximum(np.abs(robot.limits.lower), np.abs(robot.limits.upper))
    bounds = {"q": 1.1 * reach, "target_q": 1.1 * reach, "dq": 3.0 * robot.limits.velocity}
    notes = []
    for name, bound in bounds.items():
        if name not in signals:
            continue
        values = signals[name].values
        largest = np.maximum(values.max(axis=0), -values.min(axis=0))
        for joint in np.flatnonzero(turning & (largest > bound)):
            beyond = np.count_nonzero(np.abs(values[:, joint]) > bound[joint])
            limit = bound[joint] / (3.0 if name == "dq" else 1.1)
            told = f"{name}{joint} reaches {largest[joint]:.4g} where the limit of {robot.name} is {limit:.4g}"
            many = beyond > max(1.0, FEW_SAMPLES * len(values))
            if many and (name == "dq" or largest[joint] > _BEYOND):
                advice, unit = _way_out(name, signals, stated)
                raise FileFormatError(f"{source}: {told}: {advice}", fix={"angles": unit})
            notes.append(
                remark(
                    "angles-beyond-limit" if many else "outliers-beyond-limit",
                    signal=name,
                    joint=joint,
                    largest=largest[joint],
                    robot=robot.name,
                    limit=limit,
                    count=beyond,
                    samples=len(values),
                )
            )
    return notes


def _way_out(name: str, signals: Mapping[str, Signal], stated: Container[str]) -> tuple[str, str]:
    """What to do about angles far beyond the limits of the arm, and the unit to state."""
    if name in stated:
        return (
            "it looks like degrees, and the header says otherwise. Correct the header, or take it as it is",
            "radians",
        )
    if name == "dq" and "q" in signals:
        scale = scale_of_derivative(signals["q"], signals["dq"])
        if scale is None or not 0.9 < scale < 1.1:  # degrees that q is not in
            advice = "Convert its columns to rad/s, remove them, or take it as it is"
            return f"it looks like deg/s, and q is in rad. {advice}", "radians"
    return "it looks like degrees. State that to have it converted, or 'radians' to take it as it is", "degrees"


def _usual_size(signal: Signal) -> float:
    """What all but a few samples of each component stay below."""
    largest = max(float(signal.values.max()), -float(signal.values.min()))
    if largest <= _BEYOND:
        return largest
    return float(np.quantile(np.abs(signal.values), 1.0 - FEW_SAMPLES, axis=0, method="lower").max())


def to_radians(signals: Mapping[str, Signal], robot: Robot | None) -> dict[str, Signal]:
    """The same signals with the angles of turning joints converted from degrees."""
    converted = dict(signals)
    for name in ANGLES:
        if name in signals:
            signal = signals[name]
            turning = np.ones(signal.width, dtype=bool)
            if robot is not None:
                turning = np.array([joint.kind == "revolute" for joint in robot.moving_joints])
            values = np.where(turning, np.radians(signal.values), signal.values)
            converted[name] = Signal(signal.time, values, signal.unit, signal.frame)
    return converted


def find_faults(signals: Mapping[str, Signal]) -> list[Remark]:
    """What is suspicious about sound-looking signals."""
    notes: list[Remark] = []
    for name, signal in signals.items():
        notes += _gaps(name, signal)
        notes += _early_end(name, signal, signals)
        if name in _NOISY:
            notes += _frozen(name, signal, signals.get("q"))
    return notes


def _gaps(name: str, signal: Signal) -> list[Remark]:
    if signal.num_samples < 3:
        return []
    steps = np.diff(signal.time)
    period = float(np.median(steps))
    notes = []
    long = np.flatnonzero(steps > GAP * period)
    if long.size:
        widest = int(long[np.argmax(steps[long])])
        notes.append(
            remark(
                "gaps",
                signal=name,
                count=long.size,
                periods=GAP,
                longest=steps[widest],
                start=signal.time[widest],
            )
        )
    return notes


def _early_end(name: str, signal: Signal, signals: Mapping[str, Signal]) -> list[Remark]:
    end = max(float(other.time[-1]) for other in signals.values())
    period = 1.0 / signal.rate if signal.num_samples > 1 else 0.0
    missing = end - float(signal.time[-1])
    if missing > max(GAP * period, 0.1):
        return [remark("signal-ends-early", signal=name, end=signal.time[-1], missing=missing)]
    return []


def _frozen(name: str, signal: Signal, q: Signal | None) -> list[Remark]:
    notes = []
    for i in range(signal.width):
        start, stop = _longest_constant(signal.values[:, i])
        begin, end = float(signal.time[start]), float(signal.time[stop])
        if end - begin < FROZEN_TIME or (q is not None and not _moves(q, begin, end)):
            continue
        notes.append(
            remark("signal-frozen", signal=name, component=i, value=signal.values[start, i], start=begin, stop=end)
        )
    return notes


def _longest_constant(values: FloatArray) -> tuple[int, int]:
    """First and last index of the longest run of equal values."""
    edges = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1, [values.size]])
    longest = int(np.argmax(np.diff(edges)))
    return int(edges[longest]), int(edges[longest + 1]) - 1


def _moves(q: Signal, begin: float, end: float) -> bool:
    part = q.slice(begin, end)
    if part is None:
        return False
    low, high = part.values.min(axis=0), part.values.max(axis=0)
    return bool((high > low + _MOVED).any())
