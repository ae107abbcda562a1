"""Units that data come in although everything here is SI: their sizes, and whether a recording's time is in seconds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError
from iparam.recording.channels import CHANNELS
from iparam.recording.signal import Signal
from iparam.remarks import Remark, remark

if TYPE_CHECKING:
    from iparam.robot.model import Robot

STANDARD_G = 9.80665
_DEGREE = math.pi / 180.0

UNITS: Mapping[str, Mapping[str, float]] = {
    "angle": {"rad": 1.0, "deg": _DEGREE},
    "angular velocity": {"rad/s": 1.0, "deg/s": _DEGREE, "rpm": math.pi / 30.0},
    "angular acceleration": {"rad/s2": 1.0, "deg/s2": _DEGREE},
    "force": {"N": 1.0, "mN": 1e-3, "kN": 1e3, "kgf": STANDARD_G, "lbf": 4.4482216152605},
    "torque": {
        "Nm": 1.0,
        "mNm": 1e-3,
        "Nmm": 1e-3,
        "kgfm": STANDARD_G,
        "lbfin": 0.1129848290276167,
        "lbfft": 1.3558179483314004,
    },
    "acceleration": {"m/s2": 1.0, "mm/s2": 1e-3, "g": STANDARD_G, "mg": 1e-3 * STANDARD_G},
    "current": {"A": 1.0, "mA": 1e-3},
    "ratio": {"1": 1.0},
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0},
}
"""Quantity -> unit -> its size in SI; the first unit is the SI one."""

LARGEST_FORCE = 5000.0
"""Newtons at a wrist that no arm of the size of a UR survives."""

_WORDS = {
    "radians?": "rad",
    "degrees?|°": "deg",
    "dps": "deg/s",
    "newtons?": "N",
    "met(?:re|er)s?": "m",
    "amperes?|amps?": "A",
    "milliseconds?|msec": "ms",
    "microseconds?|usec|[µμ]s": "us",
    "nanoseconds?|nsec": "ns",
    "seconds?|sec": "s",
    "minutes?": "min",
}
_SPELLINGS = [(re.compile(rf"(?<![a-z])(?:{word})(?![a-z])", re.IGNORECASE), short) for word, short in _WORDS.items()]
_SEPARATORS = re.compile(r"[\s*·⋅^_.-]")

QUANTITIES: Mapping[str, tuple[str, ...]] = {
    "q": ("angle",),
    "dq": ("angular velocity",),
    "ddq": ("angular acceleration",),
    "target_q": ("angle",),
    "target_dq": ("angular velocity",),
    "target_ddq": ("angular acceleration",),
    "wrench": ("force", "torque"),
    "tcp_force": ("force", "torque"),
    "raw_wrench": ("force", "torque"),
    "accelerometer": ("acceleration",),
    "gyro": ("angular velocity",),
    "orientation": ("ratio",),
    "rotation": ("ratio",),
    "gravity_in_sensor": ("acceleration",),
    "angular_acceleration": ("angular acceleration",),
    "tau": ("torque",),
    "target_torque": ("torque",),
    "current": ("current",),
    "target_current": ("current",),
}
"""Channel -> what its components are, in equal parts."""


def plain_unit(text: str) -> str:
    """A unit as the tables spell it: "N m", "N*m" and "N·m" are "Nm", "rad/s^2" is "rad/s2", "degrees" is "deg"."""
    for word, short in _SPELLINGS:
        text = word.sub(short, text)
    return _SEPARATORS.sub("", text).replace("²", "2")


def unit_size(quantity: str, unit: str) -> float | None:
    """What numbers in ``unit`` are multiplied with to be SI; None if the unit is not known."""
    return UNITS[quantity].get(plain_unit(unit))


def in_channel_unit(name: str, signal: Signal) -> Signal:
    """The signal in the unit of the channel ``name``, which is SI; other names are left as they are.

    A signal without a unit is taken to be in the channel's. Sliding joints may be in m.
    """
    if name not in CHANNELS or signal.unit in (CHANNELS[name].unit, ""):
        return signal
    quantities = QUANTITIES[name]
    parts = [part for part in re.split(r"[,;]| and ", signal.unit) if part.strip()]
    if len(parts) == 1 and plain_unit(parts[0]) == next(iter(UNITS[quantities[0]])):
        parts = [parts[0], *(next(iter(UNITS[quantity])) for quantity in quantities[1:])]  # "N" for N and N m
    if quantities[0].startswith("ang") and plain_unit(signal.unit) in ("m", "m/s", "m/s2"):
        return signal
    sizes = [unit_size(quantity, part) for quantity, part in zip(quantities, parts, strict=False)]
    if len(parts) != len(quantities) or None in sizes:
        known = "; ".join(f"{quantity} in {', '.join(UNITS[quantity])}" for quantity in quantities)
        raise ContradictionError(
            argument=name,
            problem=(
                f"is in {signal.unit!r}, and is needed in {CHANNELS[name].unit!r}; units that can be converted: "
                f"{known}. Convert its values, and state their unit"
            ),
        )
    factors = np.repeat(np.array(sizes, dtype=np.float64), signal.width // len(quantities))
    values = signal.values if (factors == 1.0).all() else signal.values * factors
    return Signal(signal.time, values, CHANNELS[name].unit, signal.frame)


PLAUSIBLE_RATES = (1.0, 1e5)
"""Bounds of what sensors of an arm are read at [Hz]."""

USUAL_RATES = (20.0, 1e4)
"""Bounds of the rates that a guess of the true unit should lead to [Hz]."""

DATES = (1e9, 4e9)
"""Seconds since 1970 in the years 2001 and 2096."""

FAST = 3.0
"""Speed of a joint that is not believed, in units of its limit."""

IMPOSSIBLE_PERIODS = (1e-5, 100.0)
"""Bounds of the median time between samples beyond which it is in another unit for sure [s]."""

RATE_KEYS = tuple(name + ending for name in ("rate", "sample_rate", "sampling_rate") for ending in ("", "_hz"))
"""Metadata that state how often a recording was sampled [Hz]."""

_FINER = {"ms": 1e3, "us": 1e6, "ns": 1e9}
"""Unit -> how many of it are a second."""

_FACTORS = {**_FINER, "min": 1 / 60}
_DEGREES = {"higher": 1.0 / _DEGREE, "lower": _DEGREE}
"""How many times too large a derivative is if it, or what it is the derivative of, is in degrees alone."""

_WINDOWS = 200
_GAP = 10.0  # periods
_LEAST_WINDOWS = 20
_WINDOW = 10  # samples at least over which a speed is taken: single stamps jitter
_MOVED = 0.05  # rad; less is no motion that tells a speed
_ALIKE = 0.9  # correlation from which a derivative is one, but for its scale
_RELATED = 0.5  # the same, where the scale is about that of a finer unit: a noisy velocity still tells a thousand
_ABOUT = 0.3  # share by which it may then miss that
_CLOSE = 0.02  # share by which a scale may miss that of a unit; minutes and degrees are 0.05 apart
ORDERS = (("q", "dq", "ddq"), ("target_q", "target_dq", "target_ddq"))
"""Signals of which each is the derivative of the one before."""


def dates_in_seconds(signals: Mapping[str, Signal]) -> tuple[dict[str, Signal], list[Remark]]:
    """Signals without joints whose stamps are dates in ms, us or ns, in seconds; and a remark about it.

    Such stamps can mean nothing else. With joint angles `check_time` refuses them, because velocities may be in the
    same unit.
    """
    starts = [float(signal.time[0]) for signal in signals.values()]
    of_joints = any(CHANNELS[name].frame == "joint" for name in signals if name in CHANNELS)
    for unit, factor in _FINER.items():
        if starts and not of_joints and all(DATES[0] * factor <= start <= DATES[1] * factor for start in starts):
            converted = {n: Signal(s.time / factor, s.values, s.unit, s.frame) for n, s in signals.items()}
            return converted, [remark("stamps-are-dates", unit=unit)]
    return dict(signals), []


def check_time(
    signals: Mapping[str, Signal],
    robot: Robot | None,
    source: str,
    rate: float | None = None,
    sure_of_time: bool = False,
    sure_of_angles: bool = False,
    convertible: bool = True,
) -> list[Remark]:
    """Refuse a time that the data themselves show not to be in seconds; say where it is only odd.

    These tell: stamps that are dates in another unit; samples that come at impossible rates, or at another rate than is
    stated; recorded velocities that are not the slope of the recorded positions; positions that change faster than the
    arm can move.

    Args:
        signals: of a recording.
        robot: the arm, None if unknown.
        source: of the signals, for messages.
        rate: of the samples, as the recording states it [Hz]; None if it does not.
        sure_of_time: whether the unit of the time was given: then what contradicts it is only said.
        sure_of_angles: the same for the angles.
        convertible: whether another unit of the time can be given; else nothing but its source can be corrected.
    """
    notes: list[Remark] = []

    def object_to(problem: str, sure: bool, unit: str = "") -> None:
        fix = {"time_unit": unit} if unit and convertible else None
        told = problem if convertible else f"{problem}. Correct its stamps"
        if not sure:
            raise ContradictionError(f"{source}: {told}", fix=fix)
        notes.append(remark("time-unit-doubtful", reason=told, fix=fix))

    for name, signal in signals.items():
        for unit, factor in _FINER.items():
            if DATES[0] * factor <= signal.time[0] <= DATES[1] * factor:
                object_to(
                    f"the time of {name} begins at {signal.time[0]:.6g} s, which is a date in {unit} and none in "
                    "seconds",
                    sure_of_time,
                    unit,
                )
    for higher, lower, scale in odd_scales(signals):
        told = f"{higher} is {scale:.4g} times the slope of {lower} over time"
        if (found := _unit_of_scale(scale)) is not None:
            object_to(f"{told}: the time is in {found}, not in seconds", sure_of_time, found)
        elif (which := degrees_in_scale(scale)) is not None:
            turned, other = (higher, lower) if which == "higher" else (lower, higher)
            object_to(f"{told}: {turned} is in degrees and {other} in rad; convert {turned} to rad", sure_of_angles)
        else:
            notes.append(remark("scales-disagree", higher=higher, scale=scale, lower=lower))
    _check_stated_rate(signals, rate, sure_of_time, object_to)
    _check_speeds(signals, robot, source)
    most = max((signal.num_samples for signal in signals.values()), default=0)
    for hint, unit, period in _odd_rates(signals):
        impossible = most > _LEAST_WINDOWS and not IMPOSSIBLE_PERIODS[0] <= period <= IMPOSSIBLE_PERIODS[1]
        object_to(hint, sure_of_time or not (impossible and convertible), unit)
    return notes


def time_hint(time: FloatArray, slowest: float = PLAUSIBLE_RATES[0]) -> str:
    """A sentence that asks for the unit if samples come at a rate that no sensor has; else "".

    Args:
        time: (T,) of the samples.
        slowest: rate up to which to ask [Hz]: `USUAL_RATES` begin where the data have proved useless already.
    """
    if time.size < 3:
        return ""
    period = float(np.median(np.diff(time)))
    if slowest < 1.0 / period <= PLAUSIBLE_RATES[1]:
        return ""
    unit = _likely_unit(period)
    likely = f"If its time is in {unit}, they come at {_FACTORS[unit] / period:.4g} Hz" if unit else "No sensor does"
    return f"a sample every {period:.3g} s. {likely}"


def _likely_unit(period: float) -> str:
    """The unit in which samples would come at a usual rate; "" if there is none."""
    likely = (unit for unit, factor in _FACTORS.items() if USUAL_RATES[0] <= factor / period <= USUAL_RATES[1])
    return next(likely, "")


def _check_stated_rate(
    signals: Mapping[str, Signal], rate: float | None, sure: bool, object_to: Callable[[str, bool, str], None]
) -> None:
    """Object to stamps of which a second has as many times the stated rate as another unit of time would make it."""
    found = max((signal.rate for signal in signals.values() if signal.num_samples > 2), default=0.0)
    if rate is None or found == 0.0:
        return
    for unit, factor in _FACTORS.items():
        if abs(rate / found / factor - 1.0) < 0.1:
            object_to(
                f"samples come at {found:.4g} Hz by their time, and at {rate:.4g} Hz by the metadata: the time is in "
                f"{unit}, not in seconds",
                sure,
                unit,
            )


def _unit_of_scale(scale: float) -> str | None:
    """The unit of time that makes velocities ``scale`` times too large, alone or with angles in degrees beside it."""
    for factor_of_angles in (1.0, *_DEGREES.values()):
        for unit, factor in _FACTORS.items():
            if abs(scale / factor / factor_of_angles - 1.0) < _CLOSE:
                return unit
    return _finer_unit(scale)


def _finer_unit(scale: float) -> str | None:
    """The unit of time that makes velocities about ``scale`` times too large; those that do are a thousand apart."""
    return next((unit for unit, factor in _FINER.items() if abs(scale / factor - 1.0) < _ABOUT), None)


def degrees_in_scale(scale: float) -> str | None:
    """Which of the two is in degrees if a derivative is ``scale`` times too large: "higher", "lower", or neither."""
    return next((which for which, factor in _DEGREES.items() if abs(scale / factor - 1.0) < _CLOSE), None)


def odd_scales(signals: Mapping[str, Signal]) -> list[tuple[str, str, float]]:
    """Derivative, what it is the derivative of, and how many times too large it is, where it is not the slope."""
    odd = []
    for lower, higher in (pair for names in ORDERS for pair in pairwise(names)):
        if lower not in signals or higher not in signals or signals[lower].width != signals[higher].width:
            continue
        scale = scale_of_derivative(signals[lower], signals[higher])
        if scale is not None and not 0.9 < scale < 1.1:
            odd.append((higher, lower, scale))
    return odd


def scale_of_derivative(position: Signal, velocity: Signal) -> float | None:
    """How many times too large the velocity is for the position and the time; None if they do not tell.

    What velocities add up to is compared with what positions change by, joint by joint; the joints have one vote each,
    so that one whose velocity is dead or has the other sign does not outvote the others. Half of those that move must
    agree that the one is the derivative of the other.
    """
    start, stop = max(position.time[0], velocity.time[0]), min(position.time[-1], velocity.time[-1])
    rows = np.flatnonzero((position.time >= start) & (position.time <= stop))
    if rows.size <= _LEAST_WINDOWS:
        return None
    chosen = rows[np.unique(np.linspace(0, rows.size - 1, _WINDOWS + 1).astype(np.int64))]
    # Over a gap nobody knows the velocity.
    gaps = np.flatnonzero(np.diff(velocity.time) > _GAP * np.median(np.diff(velocity.time)))
    whole = np.ones(chosen.size - 1, dtype=bool)
    whole[np.clip(np.searchsorted(position.time[chosen], velocity.time[gaps], "right") - 1, 0, whole.size - 1)] = False
    votes, asked = [], 0
    for places, speeds in zip(position.values[chosen].T, velocity.values.T, strict=True):
        if np.ptp(places) <= _MOVED:
            continue
        # A joint at a time: an hour of all of them would fill memory.
        integral = np.append(0.0, np.cumsum(0.5 * np.diff(velocity.time) * (speeds[1:] + speeds[:-1])))
        changes, sums = np.diff(places), np.diff(np.interp(position.time[chosen], velocity.time, integral))
        changes, sums = changes[whole], sums[whole]
        product, size, other = changes @ sums, changes @ changes, sums @ sums
        if size == 0.0 or other == 0.0:
            continue
        asked += 1
        scale, alike = product / size, product / np.sqrt(size * other)
        if alike > _ALIKE or (alike > _RELATED and _finer_unit(scale) is not None):
            votes.append(scale)
    return float(np.median(votes)) if votes and 2 * len(votes) >= asked else None


def _check_speeds(signals: Mapping[str, Signal], robot: Robot | None, source: str) -> None:
    """Refuse angles that change many times faster than the arm can turn; a few outliers do not count."""
    if robot is None:
        return
    turning = np.array([joint.kind == "revolute" for joint in robot.moving_joints])
    for name in ("q", "target_q"):
        signal = signals.get(name)
        if signal is None or signal.width != robot.num_joints or signal.num_samples < _LEAST_WINDOWS * _WINDOW:
            continue
        windows = min(_WINDOWS, signal.num_samples // _WINDOW)
        chosen = np.linspace(0, signal.num_samples - 1, windows + 1).astype(np.int64)
        slopes = np.abs(np.diff(signal.values[chosen], axis=0)) / np.diff(signal.time[chosen])[:, None]
        speeds = np.quantile(slopes, 0.9, axis=0)
        over = np.flatnonzero(turning & (speeds > FAST * robot.limits.velocity))
        if over.size:
            joint = int(over[0])
            raise ContradictionError(
                f"{source}: {name}{joint} moves at {speeds[joint]:.4g} rad/s, and {robot.name} at most at "
                f"{robot.limits.velocity[joint]:.4g}: is its time in seconds, and are its angles in rad? Samples "
                f"come every {float(np.median(np.diff(signal.time))):.3g} s. State the units if they are others",
                argument="time_unit",
            )


def _odd_rates(signals: Mapping[str, Signal]) -> list[tuple[str, str, float]]:
    """One sentence for all signals that share an odd rate, the likely unit of their time, and their median period."""
    hints: dict[str, list[str]] = {}
    for name, signal in signals.items():
        hint = time_hint(signal.time)
        if hint:
            hints.setdefault(hint, []).append(name)
    periods = {hint: float(np.median(np.diff(signals[names[0]].time))) for hint, names in hints.items()}
    return [
        (f"{', '.join(names)}: {hint}", _likely_unit(periods[hint]), periods[hint]) for hint, names in hints.items()
    ]
