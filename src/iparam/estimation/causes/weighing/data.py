"""`Weighing`: wrenches of a load that hangs on a sensor, which turns slowly or not at all."""

from __future__ import annotations

from dataclasses import dataclass

from iparam.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Weighing:
    """Wrenches of a load that hangs on a sensor, which turns slowly or not at all.

    Attributes:
        up: (N, 3) minus gravity in the sensor's axes [m/s^2].
        wrench: (N, 6) means [N, N m].
        rotation: (N, 3, 3) of the sensor in the world, or in the base.
        gravity: (3,) in the world [m/s^2].
        turning: (N, 6, 10) regressors of what turning takes; None at rest.
        time: (N,) of the means [s]; None for poses, which are no neighbours of each other.
        bias: whether the sensor may have one.
        of_tool: whether the orientation is that of an arm's tool, in whose axes the load is wanted; else the load is in
            those of the sensor.
        readings: what else the columns of the orientation may hold, see `Correction.orientation_columns`.
        joint_axes: (N, 3, n) that the joints of that arm turn about, in the base; zeros for those that do not turn.
    """

    up: FloatArray
    wrench: FloatArray
    rotation: FloatArray
    gravity: FloatArray
    turning: FloatArray | None = None
    time: FloatArray | None = None
    bias: bool = True
    of_tool: bool = False
    readings: tuple[str, ...] = ()
    joint_axes: FloatArray | None = None
