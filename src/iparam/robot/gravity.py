"""Gravity in the axes of an arm's base: what was said about it, how the arm is mounted, and whether the two agree."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import ContradictionError, InputError, UnknownNameError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.spatial.transforms import rotation_from_rpy

STRONGEST_GRAVITY = 30.0
"""[m/s^2]; no arm stands where there is more, and 9806 is in mm/s^2."""

SAME_GRAVITY = 0.005
"""Share by which two statements of gravity may differ: it varies by that much over the earth."""

MOUNTINGS = {"floor": (0.0, 0.0, 0.0), "ceiling": (180.0, 0.0, 0.0), "wall": (90.0, 0.0, 0.0)}
"""Roll, pitch and yaw of the base in the world [deg]. On a wall the base is turned about its x axis, which stays level,
as controllers of UR arms have it: gravity is along -y of the base."""


def mounted_gravity(mounting: str | Sequence[float], size: float | None = None) -> FloatArray:
    """Gravity (3,) in base axes [m/s^2] of an arm that is mounted in some way.

    Args:
        mounting: a name of `MOUNTINGS`, or roll, pitch and yaw (3,) of the base in a world whose z points up [deg]: the
            base is turned about the world's x, then y, then z axis.
        size: of gravity [m/s^2]; None for 9.81.
    """
    if isinstance(mounting, str):
        if mounting not in MOUNTINGS:
            raise UnknownNameError("mounting", mounting, MOUNTINGS, argument="mounting")
        mounting = MOUNTINGS[mounting]
    angles = as_float_array(mounting, "mounting", (3,))
    usual = as_float_array(STANDARD_GRAVITY, "gravity")
    # Whole digits stay whole: the cosine of a right angle is 6e-17, which nobody means.
    turned = np.round(rotation_from_rpy(np.radians(angles)).T @ usual, 12) + 0.0
    return turned if size is None else turned * (_positive(size) / np.linalg.norm(usual))


def is_usual(gravity: FloatArray) -> bool:
    """Whether it is that of an arm that stands upright on the earth."""
    usual = np.asarray(STANDARD_GRAVITY)
    return bool(np.linalg.norm(gravity - usual) <= SAME_GRAVITY * np.linalg.norm(usual))


def agreed_gravity(given: ArrayLike | None, stated: FloatArray | None, holder: str) -> FloatArray | None:
    """Gravity (3,) in base axes [m/s^2] by whoever states it; None if nobody does.

    Args:
        given: by the caller; it counts where both state it.
        stated: by a file.
        holder: what the file is, for the error.

    Raises:
        ContradictionError: the two differ.
    """
    if given is None:
        return stated
    gravity = as_float_array(given, "gravity", (3,))
    if stated is not None and np.linalg.norm(gravity - stated) > SAME_GRAVITY * np.linalg.norm(stated):
        raise ContradictionError(
            f"gravity is {gravity.tolist()} m/s^2 as given and {stated.tolist()} by {holder}: leave it out to "
            "take that, or correct it",
            argument="gravity",
            value=given,
        )
    return gravity


def stated_gravity(value: Any, where: str) -> FloatArray | None:
    """Gravity (3,) in base axes [m/s^2] from what a file says: a vector, {"x": ..}, or its magnitude; None for None.

    Args:
        value: as read.
        where: it was read, for the error: "the metadata say".
    """
    if value is None:
        return None
    numbers = [value[axis] for axis in "xyz"] if isinstance(value, dict) and set(value) == set("xyz") else value
    each = numbers if isinstance(numbers, list) else [numbers]
    if len(each) not in (1, 3) or not all(is_number(one) for one in each):
        raise ContradictionError(
            f"{where} gravity = {reprlib.repr(value)}, which is neither a vector of three numbers in base "
            "axes [m/s^2] nor its magnitude: correct it, or leave it out for 9.81 downwards"
        )
    vector = np.array(each if len(each) == 3 else [0.0, 0.0, -abs(each[0])], dtype=np.float64)
    check_size(vector, f"{where} gravity = {value!r}")
    return vector


def check_size(gravity: FloatArray, what: str) -> None:
    """Refuse a gravity (3,) that must be in another unit than m/s^2."""
    size = float(np.linalg.norm(gravity))
    if size > STRONGEST_GRAVITY or 0.9 < size < 1.1:
        raise ContradictionError(
            f"{what}, which is {size:.4g} m/s^2: is it in another unit? It is given in m/s^2, 9.81 on the earth"
        )


def _positive(size: float) -> float:
    if not (np.isfinite(size) and size > 0.0):
        raise InputError(argument="gravity", value=size, expected="a positive number [m/s^2]")
    return float(size)


def is_number(value: object) -> bool:
    """Whether it is a number that a float can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
