"""Tolerances: which hold for a recording, and what cannot be one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from iparam.errors import InputError, UnknownNameError
from iparam.recording import Recording
from iparam.sensing import Correction, Tolerances, with_applied
from iparam.sensing.tolerances import PRESETS

LAB, CALIBRATED = PRESETS["lab"], PRESETS["calibrated"]
NOBODYS = Recording("ur5e").with_signal("q", time=np.arange(3.0), values=np.zeros((3, 6)))


def test_a_simulation_is_exact_and_any_other_recording_a_laboratorys() -> None:
    assert Tolerances.of(None, NOBODYS, Correction()) == LAB
    assert not Tolerances.of(None, NOBODYS.with_metadata(source="simulation"), Correction())


@pytest.mark.parametrize(
    ("correction", "name"),
    [
        (Correction(sensor_offset=(0.0, 0.0, 0.0)), "place"),
        (Correction(sensor_rotation=(0.0, 0.0, 0.0)), "turn"),
        (Correction(gravity=(0.0, 0.0, -9.81)), "gravity"),
        (Correction(joint_offset=(0.0,) * 6), "joint_zero"),
        (Correction(delay=0.0), "delay"),
    ],
)
def test_what_is_stated_counts_as_measured_unless_tolerances_are_given(correction: Correction, name: str) -> None:
    found = Tolerances.of(None, NOBODYS, correction)
    assert getattr(found, name) == getattr(CALIBRATED, name) < getattr(LAB, name)
    assert found.without((name,)) == LAB.without((name,))
    assert Tolerances.of("lab", NOBODYS, correction) == LAB
    assert Tolerances.of(LAB, NOBODYS, correction) == LAB


def test_what_was_applied_before_was_stated_too() -> None:
    recording = with_applied(NOBODYS, Correction(sensor_offset=(0.0, 0.0, 0.03)))
    found = Tolerances.of(None, recording, Correction(), ["delay"])
    assert (found.place, found.turn, found.delay) == (CALIBRATED.place, LAB.turn, CALIBRATED.delay)


def test_other_names_and_numbers_are_refused() -> None:
    with pytest.raises(UnknownNameError) as unknown:
        Tolerances.of("good", NOBODYS, Correction())
    assert unknown.value.argument == "tolerances"
    wrong: tuple[Any, ...] = (-1e-3, np.nan, np.inf, True)
    for value in wrong:
        with pytest.raises(InputError) as refused:
            Tolerances(place=value)
        assert refused.value.argument == "place"
