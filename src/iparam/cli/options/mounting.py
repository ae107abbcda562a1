"""The options that say how an arm is mounted, shared by all commands in which gravity counts, and how its sensor is,
shared by those that make recordings; and what the recordings say of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Suppress, arg

import iparam
from iparam.cli.console.printing import note
from iparam.cli.options.joint_state import exact_count
from iparam.errors import InputError
from iparam.recording.statements import recorded_gravity
from iparam.robot.gravity import MOUNTINGS, check_size, is_usual, mounted_gravity

if TYPE_CHECKING:
    from iparam.arrays import FloatArray
    from iparam.recording.recording import Recording
    from iparam.sensing.correction import Correction


@dataclass(frozen=True, kw_only=True)
class MountingOptions:
    """The options; a command adds its own to them."""

    gravity: Annotated[
        tuple[str, ...], arg(metavar="X Y Z", help_behavior_hint="(default: the file's, or 0 0 -9.81)")
    ] = ()
    """Gravity in the axes of the base [m/s^2]; one number is its size."""
    mounting: Annotated[tuple[str, ...], arg(metavar="HOW", help_behavior_hint="(default: the file's, or floor)")] = ()
    """How the base is mounted: floor, ceiling, wall (base y up), or its roll, pitch and yaw R P Y [deg]."""

    def given_gravity(self) -> FloatArray | None:
        """Gravity (3,) in base axes [m/s^2] as the options have it; None if they are not given."""
        numbers = self._numbers()
        size = self._size(numbers)
        if len(numbers) > 1:
            if self.mounting:
                raise InputError(
                    "--gravity X Y Z is in the axes of the base and says how it is mounted: leave out --mounting, or "
                    "give the size of gravity alone, e.g. --gravity 9.82"
                )
            vector = exact_count(numbers, "--gravity", "x y z in the base [m/s^2], or its size alone", 3)
            check_size(vector, f"--gravity is {vector.tolist()}")
            return vector
        if not self.mounting and size is None:
            return None
        vector = mounted_gravity(self._mounting(), size)
        check_size(vector, f"--gravity is {size}")
        return vector

    def _numbers(self) -> tuple[float, ...]:
        try:
            return tuple(float(word) for word in self.gravity)
        except ValueError:
            raise InputError(
                f"--gravity must be numbers, x y z in the base [m/s^2] or its size alone, got {' '.join(self.gravity)}"
            ) from None

    @staticmethod
    def _size(numbers: tuple[float, ...]) -> float | None:
        if len(numbers) != 1:
            return None
        if not numbers[0] > 0.0:
            raise InputError(
                f"--gravity with one number is its size, above 0, got {numbers[0]:g}: for a direction give three, "
                "x y z in the axes of the base"
            )
        return numbers[0]

    def _mounting(self) -> str | tuple[float, ...]:
        if not self.mounting:
            return "floor"
        if len(self.mounting) == 1 and self.mounting[0] in MOUNTINGS:
            return self.mounting[0]
        way_out = f"it is {', '.join(MOUNTINGS)}, or roll, pitch and yaw of the base [deg]"
        try:
            angles = tuple(float(word) for word in self.mounting)
        except ValueError:
            raise InputError(f"--mounting {' '.join(self.mounting)} is not known: {way_out}") from None
        if len(angles) != 3:
            raise InputError(f"--mounting has {len(angles)} numbers: {way_out}")
        return tuple(exact_count(angles, "--mounting", way_out, 3).tolist())


def note_unstored(recording: Recording, path: Path) -> None:
    """A note if a recording under another gravity than the usual is written to a file that has no room for that."""
    if path.suffix.lower() == ".csv" and not is_usual(recorded_gravity(recording)):
        note(f"{path} holds numbers only: say --gravity or --mounting when it is read, or write .parquet")


_IN_TOOL = "(default: in the tool frame)"


@dataclass(frozen=True, kw_only=True)
class MadeWithSetup:
    """A command whose recordings say with which setup they were made."""

    setup: Annotated[Path | None, Suppress] = None
    # The file of --setup, whose options come with it.

    def stating_setup(self, recording: Recording) -> Recording:
        """The recording, whose wrench is what the setup makes of the sensor's, saying so; itself without a setup."""
        if self.setup is None:
            return recording
        return iparam.sensing.with_setup_stated(recording, iparam.sensing.Setup.load(self.setup))


@dataclass(frozen=True, kw_only=True)
class SensorPlaceOptions(MadeWithSetup):
    """Where the sensor is whose wrench is recorded; a command adds its own options to them."""

    sensor_rotation: Annotated[tuple[float, ...], arg(metavar="R P Y", help_behavior_hint=_IN_TOOL)] = ()
    """Roll, pitch and yaw of the force/torque sensor in the tool frame [deg]."""
    sensor_offset: Annotated[tuple[float, ...], arg(metavar="X Y Z", help_behavior_hint=_IN_TOOL)] = ()
    """Its origin in the tool frame [m]."""

    def sensor_place(self) -> Correction:
        """What turns its wrench into one in the tool frame about its origin."""
        return iparam.sensing.Correction(
            sensor_rotation=three_of(self.sensor_rotation, "--sensor-rotation", "roll, pitch and yaw [deg]"),
            sensor_offset=three_of(self.sensor_offset, "--sensor-offset", "x y z in the tool frame [m]"),
        )


def three_of(values: tuple[float, ...], option: str, meaning: str) -> tuple[float, ...] | None:
    """The three numbers of an option; None if it is not given."""
    return tuple(exact_count(values, option, meaning, 3).tolist()) if values else None
