"""`Tolerances`: how far arm and sensor may be from what is stated of them, as standard deviations.

They are the Gaussian priors of deviations that every identification has in its model: what the data show of them is
corrected, and what the data cannot show is in the intervals. docs/guide/tolerances.md says where the presets come from.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from iparam.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from iparam.recording.recording import Recording

Preset = Literal["exact", "calibrated", "lab"]


@dataclass(frozen=True)
class Tolerances:
    """Standard deviations of each component; 0 for what is exactly as stated.

    Attributes:
        place: of the sensor's origin in the tool frame [m].
        turn: of the sensor's axes in the tool frame [rad].
        gain: of all six channels together, as a share.
        channel_gain: of each channel by itself, as a share.
        gravity: of the direction of gravity in the base [rad].
        joint_zero: of each joint angle [rad].
        delay: of the wrench behind the motion [s].
    """

    place: float = 0.0
    turn: float = 0.0
    gain: float = 0.0
    channel_gain: float = 0.0
    gravity: float = 0.0
    joint_zero: float = 0.0
    delay: float = 0.0

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            if isinstance(value, bool) or not np.isfinite(value) or value < 0.0:
                raise InputError(argument=name, value=value, expected="a standard deviation: a number of at least 0")

    def __bool__(self) -> bool:
        return self != Tolerances()

    @classmethod
    def of(cls, given: Tolerances | str | None, recording: Recording) -> Tolerances:
        """What is given, a value or a preset's name; otherwise "exact" for a recording that says that it was simulated,
        and "lab" for any other.
        """
        if isinstance(given, Tolerances):
            return given
        if given is None:
            given = "exact" if recording.metadata.get("source") == "simulation" else "lab"
        if given not in PRESETS:
            raise UnknownNameError("tolerances", given, tuple(PRESETS), argument="tolerances")
        return PRESETS[given]

    def with_measured(self, names: tuple[str, ...]) -> Tolerances:
        """The same with the named ones as well known as after a calibration, unless they are better known."""
        better = {name: min(getattr(self, name), getattr(PRESETS["calibrated"], name)) for name in names}
        return dataclasses.replace(self, **better)

    def without(self, names: tuple[str, ...]) -> Tolerances:
        """The same with the named ones exact: their errors are counted elsewhere."""
        return dataclasses.replace(self, **dict.fromkeys(names, 0.0))


PRESETS: dict[str, Tolerances] = {
    "exact": Tolerances(),
    "calibrated": Tolerances(
        place=2e-4, turn=1e-3, gain=2e-3, channel_gain=1e-3, gravity=1e-3, joint_zero=3e-4, delay=2e-4
    ),
    "lab": Tolerances(place=1e-3, turn=5e-3, gain=1e-2, channel_gain=5e-3, gravity=5e-3, joint_zero=1e-3, delay=2e-3),
}
"""A simulation; a rig whose sensor and arm were calibrated and measured; and one that was put together with care."""
