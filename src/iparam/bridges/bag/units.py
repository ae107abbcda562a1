"""Units that drivers put into messages although ROS asks for SI, the signs that they did, and whether a wrench
behaves like the weight of a load.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError, InputError, UnknownNameError
from iparam.recording.alignment import align
from iparam.recording.recording import Recording
from iparam.recording.units import LARGEST_FORCE
from iparam.recording.units import UNITS as SIZES
from iparam.remarks import Remark, remark
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.sensing.wrench_source import Measures

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
            raise UnknownNameError("quantity", quantity, UNITS, argument="units")
        if unit not in UNITS[quantity]:
            raise UnknownNameError(f"unit of {quantity}", unit, UNITS[quantity], argument="units")
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
            "look like mN. State their unit: mN to convert them, N to take them as they are",
            fix={"units": "force=mN"},
        )
    force, torque = (float(np.sqrt(np.mean(values[:, part] ** 2))) for part in (slice(3), slice(3, 6)))
    if "torque" not in units and torque > LONGEST_LEVER * max(force, 1.0):
        raise FileFormatError(
            f"{source}: torques of {torque:.4g} N m rms for forces of {force:.4g} N mean a lever of "
            f"{torque / max(force, 1.0):.3g} m: they look like N mm. State their unit: Nmm to convert them, Nm to "
            "take them as they are",
            fix={"units": "torque=Nmm"},
        )


def check_acceleration(values: FloatArray, units: Mapping[str, str], source: str) -> list[Remark]:
    """Refuse accelerations (T, 3) that look like g; warn where gravity seems to be missing from them."""
    typical = float(np.median(np.linalg.norm(values, axis=1)))
    if "acceleration" not in units:
        for unit, low, high in (("g", 0.5, 2.0), ("mg", 500.0, 2000.0)):
            if low <= typical <= high:
                raise FileFormatError(
                    f"{source}: the accelerometer reads {typical:.4g} in the median, where gravity alone makes 9.81 "
                    f"m/s^2: it looks like {unit}. State its unit: {unit} to convert it, m/s2 to take it as it is",
                    fix={"units": f"acceleration={unit}"},
                )
    if typical < 0.5:
        return [remark("gravity-missing", topic=source, median=typical)]
    if not 5.0 < typical < 20.0:
        return [remark("acceleration-implausible", topic=source, median=typical)]
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
            ": it looks like deg/s. State its unit: deg/s to convert it, rad/s to take it as it is",
            fix={"units": "gyro=deg/s"},
        )


HEAVIEST = 100.0
"""Kilograms: no arm that this is for carries more."""

_TURNED = 0.02  # variance of the direction of gravity from which it tells something
_CLEAR = 0.7  # correlation from which a sign is believed
_LIGHTEST = 0.1  # kg; less is lost in what else the force holds


def wrench_remarks(recording: Recording, robot: Robot, measures: Measures) -> list[Remark]:
    """What is odd about the wrench; nothing if the motion does not tell.

    As the tool turns, the weight turns in it: the part of the force that follows "up" is m g, whatever the sensor's
    bias. It is positive for what the robot exerts on the load, if the arm stands upright.

    Args:
        recording: with q and wrench.
        robot: the arm.
        measures: what the sensor was said to report; the wrench has been turned accordingly.
    """
    try:
        samples = align(recording, ["wrench", "q"], method="linear")
    except InputError:
        return []  # other checks speak about signals without common times
    up = forward_kinematics(robot, samples["q"])[:, 2, :3]
    up = up - up.mean(axis=0)
    force = samples["wrench"][:, :3] - samples["wrench"][:, :3].mean(axis=0)
    turning, size = float(np.mean(np.sum(up**2, axis=1))), float(np.mean(np.sum(force**2, axis=1)))
    if turning < _TURNED or size == 0.0:
        return []
    weight = float(np.mean(np.sum(up * force, axis=1))) / turning
    correlation = weight * np.sqrt(turning / size)
    mass = abs(weight) / 9.81
    if abs(correlation) < _CLEAR or mass < _LIGHTEST:
        return []
    if mass > HEAVIEST:
        return [remark("weight-implausible", mass=mass)]
    if weight < 0:
        other = "reaction" if measures == "action" else "action"
        return [remark("sign-follows-gravity", mass=mass, other=other, fix={"measures": other})]
    return []
