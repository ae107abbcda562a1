"""What a recording's metadata state about its numbers, and whether that agrees with how they are used.

Keys that mean something here, as iparam or another program writes them:

- ``units``: a unit, or a mapping of signals and quantities to units; ``torque_unit``, ``time_units`` and the like. The
  signals themselves are in SI units once they are in a `Recording`, so that another one here is a contradiction.
- ``gravity``: the vector (3,) in base axes [m/s^2], or its magnitude for an arm that stands upright.
- ``tool_frame``, ``sensor_frame``, ``wrench_frame``, ``frame``: the frame that the wrench is in.
- ``rate``, ``sample_rate``, ``sampling_rate``, also with ``_hz``: samples a second, to which the time stamps must fit.
- ``compensated_mass_kg``: a load that was taken out of the wrench.
- ``unmeasured``: columns such as "tau3" that nothing measured, where only some joints have a sensor: zeros.
- ``rows``: "poses" where each sample is one pose at rest, and time but counts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import ContradictionError
from iparam.recording.channels import CHANNELS, signal_of_column
from iparam.recording.units import QUANTITIES, RATE_KEYS, UNITS, plain_unit, unit_size
from iparam.remarks import Remark, remark
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.gravity import SAME_GRAVITY, agreed_gravity, is_number, stated_gravity

if TYPE_CHECKING:
    from iparam.recording.recording import Recording

FRAME_KEYS = ("tool_frame", "sensor_frame", "wrench_frame", "frame")
COMPENSATED = "compensated_mass_kg"
ROWS, POSES = "rows", "poses"
UNMEASURED = "unmeasured"

_QUANTITY_OF = {
    "angle": "angle",
    "joint": "angle",
    "position": "angle",
    "velocity": "angular velocity",
    "speed": "angular velocity",
    "force": "force",
    "torque": "torque",
    "moment": "torque",
    "effort": "torque",
    "acceleration": "acceleration",
    "current": "current",
    "time": "time",
    "timestamp": "time",
    "stamp": "time",
}
_UNIT_KEY = re.compile(r"(?:(.+)_units?|units?_(?:of_)?(.+))", re.IGNORECASE)
_SYSTEM = ("si", "mks", "metric", "")


def check_stated_units(metadata: Mapping[str, Any]) -> None:
    """Refuse metadata that give another unit for numbers that are taken as SI."""
    for key, subject, unit in _stated_units(metadata):
        if plain_unit(unit).lower() in _SYSTEM:
            continue
        name = subject.lower() if subject.lower() in CHANNELS else subject.lower().removesuffix("s")
        if name in CHANNELS:
            _check(key, unit, CHANNELS[name].unit, QUANTITIES[name])
        elif name in _QUANTITY_OF:
            quantity = _QUANTITY_OF[name]
            _check(key, unit, next(iter(UNITS[quantity])), (quantity,))
        elif not subject:  # one unit for all that have one of its kind
            for quantity in UNITS:
                if (unit_size(quantity, unit) or 1.0) != 1.0:
                    _check(key, unit, next(iter(UNITS[quantity])), (quantity,))


def unmeasured_columns(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns whose joints have no sensor: their numbers, zeros, stand for nothing."""
    stated = metadata.get(UNMEASURED, ())
    return tuple(str(name) for name in stated) if isinstance(stated, list | tuple) else ()


def unmeasured_joints(recording: Recording, name: str) -> tuple[int, ...]:
    """Joints, from 0, whose torque or current, the signal of that name, nothing measured."""
    places = [signal_of_column(column) for column in unmeasured_columns(recording.metadata)]
    return tuple(sorted(place[1] for place in places if place is not None and place[0] == name))


def recorded_gravity(recording: Recording, given: ArrayLike | None = None) -> FloatArray:
    """Gravity (3,) in base axes [m/s^2]: the recording's, or `STANDARD_GRAVITY` if it does not say.

    Args:
        recording: whose metadata may state it.
        given: the caller's; it must agree with the recording's.
    """
    agreed = agreed_gravity(
        given, stated_gravity(recording.metadata.get("gravity"), "the metadata say"), "the recording's metadata"
    )
    return as_float_array(STANDARD_GRAVITY, "gravity") if agreed is None else agreed


def with_gravity(recording: Recording, given: ArrayLike | None) -> Recording:
    """The recording with gravity (3,) in base axes [m/s^2] stated in its metadata, as given; itself for None.

    Raises:
        ContradictionError: it states another one.
    """
    if given is None:
        return recording
    gravity = recorded_gravity(recording, given)
    return replace(recording, metadata={**recording.metadata, "gravity": gravity.tolist()})


def are_poses(recording: Recording) -> bool:
    """Whether each sample is one pose at rest, averaged, and time but counts them."""
    return recording.metadata.get(ROWS) == POSES


def gravity_remarks(gravity: FloatArray) -> list[Remark]:
    """A remark if gravity is not as large as on the earth; its direction is that of a mounting, which is stated."""
    size, usual = float(np.linalg.norm(gravity)), float(np.linalg.norm(STANDARD_GRAVITY))
    if abs(size - usual) <= SAME_GRAVITY * usual:
        return []
    return [remark("gravity-unusual", gravity=np.round(gravity, 4).tolist())]


def stated_rate(metadata: Mapping[str, Any]) -> float | None:
    """The rate of the samples that is stated [Hz]; None if there is none."""
    stated: list[Any] = [metadata.get(key) for key in RATE_KEYS]
    return next((float(rate) for rate in stated if is_number(rate) and rate > 0), None)


def tool_frame(metadata: Mapping[str, Any]) -> str:
    """The name of the tool frame that a recording states; "" if it does not."""
    stated = metadata.get("tool_frame")
    return stated if isinstance(stated, str) else ""


def stated_frames(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Key -> frame of the wrench, for all keys that state one."""
    return {key: metadata[key] for key in FRAME_KEYS if isinstance(metadata.get(key), str) and metadata[key]}


def compensated_mass(recording: Recording) -> float | None:
    """Of the loads that have been taken out of the wrench [kg]; None if none has."""
    mass: Any = recording.metadata.get(COMPENSATED)
    return float(mass) if is_number(mass) else None


def compensation_remarks(recording: Recording) -> list[Remark]:
    """A remark if a load has been taken out of the wrench already."""
    mass = compensated_mass(recording)
    if mass is None:
        return []
    return [remark("load-already-removed", mass=mass)]


def _stated_units(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Where it is stated, of what ("" for everything), and the unit."""
    for key, value in metadata.items():
        match = _UNIT_KEY.fullmatch(key)
        if key.lower() in ("unit", "units"):
            for subject, unit in value.items() if isinstance(value, dict) else (("", value),):
                if isinstance(unit, str):
                    yield f"{key}.{subject}" if subject else key, subject, unit
        elif match is not None and isinstance(value, str):
            yield key, match[1] or match[2], value


def _check(key: str, unit: str, expected: str, quantities: tuple[str, ...]) -> None:
    parts = [part for part in re.split(r"[,;]| and ", unit) if part.strip()]
    sizes = [unit_size(quantity, part) for quantity, part in zip(quantities, parts, strict=False)]
    if all(size == 1.0 for size in sizes) and sizes:
        return
    raise ContradictionError(
        f"the metadata say {key} = {unit!r}, and the signal is taken to be in {expected!r}. If it is in {unit!r}, "
        "state that as the signal's own unit (Signal.unit), by which it is converted; else correct the metadata"
    )
