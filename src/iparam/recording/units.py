"""Units that data come in although everything here is SI, and their sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np

from iparam.errors import ContradictionError
from iparam.recording.channels import CHANNELS
from iparam.recording.signal import Signal

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
            f"{name} is in {signal.unit!r}, and is needed in {CHANNELS[name].unit!r}; units that can be converted: "
            f"{known}. Convert its values, and state their unit"
        )
    factors = np.repeat(np.array(sizes, dtype=np.float64), signal.width // len(quantities))
    values = signal.values if (factors == 1.0).all() else signal.values * factors
    return Signal(signal.time, values, CHANNELS[name].unit, signal.frame)
