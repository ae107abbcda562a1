"""`LiveSource`: where samples come from while an arm moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from iparam.arrays import FloatArray
from iparam.robot.model import Robot


@dataclass(frozen=True, eq=False)
class LiveSamples:
    """Some samples, one after the other.

    Attributes:
        time: (R,) increasing, on a clock of the source [s].
        q: (R, n) [rad].
        wrench: (R, 6) [force, torque] of the arm on the load, in the tool frame [N, N m].
        there: (R,) when each could first be read, on the clock of the reader [s].
    """

    time: FloatArray
    q: FloatArray
    wrench: FloatArray
    there: FloatArray


class LiveSource(Protocol):
    """Gives samples as they come.

    Attributes:
        robot: the arm.
        rate: samples a second [Hz].
        gravity: (3,) in base axes [m/s^2].
    """

    robot: Robot
    rate: float
    gravity: tuple[float, float, float]

    def read(self, timeout: float) -> LiveSamples | None:
        """What has come since the last call, waiting at most so long for the first [s]; None where no more comes."""

    def notes(self) -> list[str]:
        """What there is to say since the last call, one sentence each."""

    def close(self) -> None:
        """End it."""
