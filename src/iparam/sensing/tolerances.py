"""`Tolerances`: how far arm and sensor may be from what is stated of them, as standard deviations.

They are the Gaussian priors of deviations that every identification has in its model: what the data show of them is
corrected, and what the data cannot show is in the intervals. docs/guide/tolerances.md says where the presets come from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from iparam.errors import InputError, UnknownNameError
from iparam.sensing.applied_setup import applied_setup

if TYPE_CHECKING:
    from iparam.recording.recording import Recording
    from iparam.sensing.correction import Correction

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
    def of(
        cls,
        given: Tolerances | str | None,
        recording: Recording,
        correction: Correction,
        also_stated: Collection[str] = (),
    ) -> Tolerances:
        """The tolerances of a recording.

        Args:
            given: a value, or a preset's name; None for "exact" where the recording says that it was simulated, and
                "lab" elsewhere, with what is stated as well known as after a calibration.
            recording: as it was made.
            correction: that is applied to it.
            also_stated: names of tolerances of which something else is stated.
        """
        if isinstance(given, Tolerances):
            return given
        if given is not None:
            if given not in PRESETS:
                raise UnknownNameError("tolerances", given, tuple(PRESETS), argument="tolerances")
            return PRESETS[given]
        if recording.metadata.get("source") == "simulation":
            return PRESETS["exact"]
        both = (correction, applied_setup(recording))
        stated = {name for name, of in STATED_BY.items() if any(getattr(one, of) is not None for one in both)}
        measured = {name: getattr(PRESETS["calibrated"], name) for name in {*stated, *also_stated}}
        return dataclasses.replace(PRESETS["lab"], **measured)

    def without(self, names: Collection[str]) -> Tolerances:
        """The same with the named ones exact: their errors are counted elsewhere."""
        return dataclasses.replace(self, **dict.fromkeys(names, 0.0))


STATED_BY = {
    "place": "sensor_offset",
    "turn": "sensor_rotation",
    "gravity": "gravity",
    "joint_zero": "joint_offset",
    "delay": "delay",
}
"""The correction that states what a tolerance is about."""

PRESETS: dict[str, Tolerances] = {
    "exact": Tolerances(),
    "calibrated": Tolerances(
        place=2e-4, turn=1e-3, gain=2e-3, channel_gain=1e-3, gravity=1e-3, joint_zero=3e-4, delay=2e-4
    ),
    "lab": Tolerances(place=1e-3, turn=5e-3, gain=1e-2, channel_gain=5e-3, gravity=5e-3, joint_zero=1e-3, delay=2e-3),
}
"""A simulation; a rig whose sensor and arm were calibrated and measured; and one that was put together with care."""
