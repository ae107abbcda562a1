"""What of a `Setup` a recording says has been applied to it, so that nothing is applied twice.

A setup says what a sensor reports. Whoever writes a recording from a sensor (a UR controller, a bag, a simulator) turns
that into what a recording holds, the wrench of the arm on the load in the tool frame, and states in the metadata how:

- ``applied``: the entries that were applied: ``measures``, ``wrench_frame``, ``sensor_rotation``, ``sensor_offset``.
- ``setup``: entries that only an identification can apply: ``sensor``, the path of a calibration, and ``zeroed``.

A recording of another program states neither: all of a setup is then still to be applied.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from iparam.errors import ContradictionError, FileFormatError, InputError, UnknownNameError
from iparam.recording.recording import Recording
from iparam.sensing.correction import Correction
from iparam.sensing.setup import Setup
from iparam.spatial.transforms import rotation_from_rpy

APPLIED, PENDING = "applied", "setup"
ENTRIES = {
    "measures": "sensor.measures",
    "wrench_frame": "sensor.frame",
    "sensor_rotation": "sensor.rotation",
    "sensor_offset": "sensor.offset",
}
"""Corrections that a setup gives and that are applied to signals -> the entry of the file."""

SAME_ANGLE, SAME_LENGTH = 1e-3, 1e-6
"""Differences up to which two sensors sit alike [deg, m]."""


def applied_setup(recording: Recording) -> Correction:
    """What a recording says of the sensor has been applied to its wrench.

    Raises:
        FileFormatError: it says something that cannot be.
    """
    return applied_of(recording.metadata.get(APPLIED))


def applied_of(stated: Any) -> Correction:
    """The same of the entry itself, None for nothing."""
    if stated is None:
        return Correction()
    try:
        if not isinstance(stated, dict) or not stated.keys() <= ENTRIES.keys():
            raise InputError(f"entries can be {', '.join(ENTRIES)}")
        found = Correction.from_document(stated)
        if found.estimated:
            raise InputError(f"{found.estimated[0]} is to be estimated, so it has not been applied")
        return found
    except (InputError, UnknownNameError) as error:
        raise FileFormatError(f"the recording's metadata ({APPLIED}) cannot be: {error}") from None


def with_applied(recording: Recording, given: Correction) -> Recording:
    """The recording, to whose wrench a correction has been applied, saying so."""
    known = {name: value for name, value in given.to_document().items() if name in ENTRIES}
    stated = {**applied_setup(recording).to_document(), **known}
    return recording.with_metadata(**{APPLIED: stated}) if stated else recording


def with_setup_stated(recording: Recording, setup: Setup) -> Recording:
    """The recording saying that it was made with a setup: its signals are what the setup makes of the sensor's, and
    what only an identification can apply is still to be.

    What it says itself has been applied counts first, but for the axes: whoever made it knew those of its source.
    """
    own = applied_setup(recording).without_field("wrench_frame") if setup.wrench_frame else applied_setup(recording)
    recording = with_applied(recording, setup.correction.merged(own))
    pending: dict[str, str] = {}
    if setup.sensor is not None:
        pending["sensor"] = str(setup.sensor.absolute())
    if setup.zeroed is not None:
        pending["zeroed"] = setup.zeroed
    return recording.with_metadata(**{PENDING: pending}) if pending else recording


def pending_setup(recording: Recording) -> dict[str, str]:
    """What a recording says of its sensor that only an identification can apply: "sensor" and "zeroed", if any."""
    stated: Any = recording.metadata.get(PENDING)
    if not isinstance(stated, dict):
        return {}
    return {key: value for key in ("sensor", "zeroed") if isinstance(value := stated.get(key), str)}


def still_to_apply(
    given: Correction, recording: Recording | Correction, of_setup: Collection[str], setup: str
) -> Correction:
    """A correction without what of it a setup gave and has been applied to the recording before.

    Args:
        given: whose entries named by ``of_setup`` are a setup's; the others were meant for this recording.
        recording: that they are for, or what has been applied to it.
        of_setup: names of entries.
        setup: the setup's name, for messages.

    Raises:
        ContradictionError: the recording says that something else has been applied.
    """
    applied = recording if isinstance(recording, Correction) else applied_setup(recording)
    for name in [name for name in ENTRIES if name in of_setup]:
        wanted, done = getattr(given, name), getattr(applied, name)
        if done is None or wanted is None:
            continue
        if not _alike(name, wanted, done) and (name, wanted) != ("wrench_frame", "tool"):  # as it is now
            option = f"--{name.replace('_', '-')}"
            raise ContradictionError(
                f"{setup} has {ENTRIES[name]} = {_text(wanted)}, and the recording was made with {_text(done)}, which "
                f"has been applied to it. One of them is wrong: correct the setup, or record or import again with it; "
                f"what is typed here, {option}, counts for the recording as it is"
            )
        given = given.without_field(name)
    return given


def setup_of_result(of_result: Correction, of_setup: Collection[str]) -> Correction:
    """A result's correction without what a setup says of this run itself."""
    for name in [name for name in ENTRIES if name in of_setup]:
        of_result = of_result.without_field(name)
    return of_result


def _alike(name: str, one: Any, other: Any) -> bool:
    if name == "sensor_rotation":
        turns = [rotation_from_rpy(np.radians(np.asarray(each, dtype=np.float64))) for each in (one, other)]
        return bool(np.abs(turns[0] - turns[1]).max() <= np.radians(SAME_ANGLE))
    if name == "sensor_offset":
        return bool(np.abs(np.subtract(one, other)).max() <= SAME_LENGTH)
    return bool(one == other)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "[" + ", ".join(f"{number:g}" for number in value) + "]"
