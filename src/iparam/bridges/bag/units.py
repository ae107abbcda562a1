"""Units that drivers put into messages although ROS asks for SI, and the signs that they did."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError, UnknownNameError
from iparam.recording.units import LARGEST_FORCE
from iparam.recording.units import UNITS as SIZES

UNITS: Mapping[str, Mapping[str, float]] = {
    **{quantity: SIZES[quantity] for quantity in ("force", "torque", "acceleration")},
    "gyro": SIZES["angular velocity"],
}
"""Quantity -> unit -> its size in SI."""

LONGEST_LEVER = 5.0
"""Metres: a torque sensor's readings are forces times levers, and no load is held that far away."""


def check_units(units: Mapping[str, str]) -> dict[str, str]:
    """``units`` if all are known."""
    for quantity, unit in units.items():
        if quantity not in UNITS:
            raise UnknownNameError("quantity", quantity, UNITS)
        if unit not in UNITS[quantity]:
            raise UnknownNameError(f"unit of {quantity}", unit, UNITS[quantity])
    return dict(units)


def scale(quantity: str, units: Mapping[str, str]) -> float:
    """What values of a quantity are multiplied with to be SI."""
    return UNITS[quantity][units[quantity]] if quantity in units else 1.0


def check_wrench(values: FloatArray, units: Mapping[str, str], source: str) -> None:
    """Refuse forces and torques (T, 6) that cannot be N and N m; a unit that was given is believed."""
    largest = float(np.abs(values[:, :3]).max())
    if "force" not in units and largest > LARGEST_FORCE:
        raise FileFormatError(
            f"{source}: forces reach {largest:.4g} N, more than the {LARGEST_FORCE:g} N that a wrist can bear: they "
            "look like mN. Say --units force=mN to convert them, or force=N to take them as they are"
        )
    force, torque = (float(np.sqrt(np.mean(values[:, part] ** 2))) for part in (slice(3), slice(3, 6)))
    if "torque" not in units and torque > LONGEST_LEVER * max(force, 1.0):
        raise FileFormatError(
            f"{source}: torques of {torque:.4g} N m rms for forces of {force:.4g} N mean a lever of "
            f"{torque / max(force, 1.0):.3g} m: they look like N mm. Say --units torque=Nmm to convert them, or "
            "torque=Nm to take them as they are"
        )


def check_acceleration(values: FloatArray, units: Mapping[str, str], source: str) -> list[str]:
    """Refuse accelerations (T, 3) that look like g; warn where gravity seems to be missing from them."""
    typical = float(np.median(np.linalg.norm(values, axis=1)))
    if "acceleration" not in units:
        for unit, low, high in (("g", 0.5, 2.0), ("mg", 500.0, 2000.0)):
            if low <= typical <= high:
                raise FileFormatError(
                    f"{source}: the accelerometer reads {typical:.4g} in the median, where gravity alone makes 9.81 "
                    f"m/s^2: it looks like {unit}. Say --units acceleration={unit} to convert it, or "
                    "acceleration=m/s2 to take it as it is"
                )
    if typical < 0.5:
        remark = (
            f"{source}: the accelerometer reads {typical:.3g} m/s^2 in the median: gravity seems to have been taken "
            "out of it, and the estimators expect it in"
        )
        return [remark]
    if not 5.0 < typical < 20.0:
        return [f"{source}: the accelerometer reads {typical:.4g} m/s^2 in the median; at rest it should be 9.81"]
    return []


def check_gyro(values: FloatArray, fastest: float, units: Mapping[str, str], source: str) -> None:
    """Refuse angular velocities (T, 3) that look like deg/s.

    Args:
        values: what was read.
        fastest: the sum of the joints' speed limits, faster than which no tool turns [rad/s].
        units: that were given.
        source: for messages.
    """
    largest = float(np.linalg.norm(values, axis=1).max())
    if "gyro" not in units and largest > 2.0 * fastest:
        raise FileFormatError(
            f"{source}: the gyro reaches {largest:.4g} rad/s, and all joints at full speed together make {fastest:.4g}"
            ": it looks like deg/s. Say --units gyro=deg/s to convert it, or gyro=rad/s to take it as it is"
        )
