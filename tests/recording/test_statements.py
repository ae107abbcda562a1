"""What metadata say about units, gravity and frames is used, or refused where it does not agree; never ignored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from iparam.errors import ContradictionError
from iparam.recording import Recording
from iparam.recording.statements import (
    compensated_mass,
    compensation_remarks,
    gravity_remarks,
    recorded_gravity,
    stated_frames,
)


@pytest.mark.parametrize(
    "metadata",
    [
        {"units": "SI"},
        {"units": {"q": "rad", "wrench": "N, N m", "time": "s", "temperature": "degC"}},
        {"torque_unit": "N*m", "force_units": "newton", "angle_unit": "rad", "time_unit": "s"},
        {"unit_price": "EUR", "frames": 3, "rate": 500.0},
    ],
)
def test_metadata_in_si_units_are_taken(metadata: dict[str, Any]) -> None:
    assert dict(Recording(metadata=metadata).metadata) == metadata


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"units": {"q": "deg"}}, r"units\.q = 'deg', .*'rad'"),
        ({"units": {"wrench": "N, Nmm"}}, r"units\.wrench = 'N, Nmm', .*'N, N m'"),
        ({"units": "deg"}, r"units = 'deg'"),
        ({"torque_unit": "Nmm"}, r"torque_unit = 'Nmm', .*'Nm'"),
        ({"force_units": "lbf"}, r"force_units = 'lbf'"),
        ({"unit_of_angles": "degrees"}, r"unit_of_angles = 'degrees'"),
        ({"time_unit": "ms"}, r"time_unit = 'ms', .*'s'"),
        ({"current_unit": "parsec"}, r"current_unit = 'parsec'"),
    ],
)
def test_metadata_in_other_units_are_refused_with_the_way_out(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(ContradictionError, match=f"{message}.*state that as the signal's own unit"):
        Recording(metadata=metadata)


@pytest.mark.parametrize(
    ("stated", "gravity"),
    [
        (None, [0, 0, -9.81]),
        ([0, 0, -1.62], [0, 0, -1.62]),
        ([9.81, 0, 0], [9.81, 0, 0]),  # an arm on a wall
        ({"x": 0, "y": -9.8, "z": 0}, [0, -9.8, 0]),
        (9.80665, [0, 0, -9.80665]),
        (-9.80665, [0, 0, -9.80665]),
        ([0, 0, 0], [0, 0, 0]),
    ],
)
def test_gravity_is_the_recordings(stated: Any, gravity: list[float]) -> None:
    recording = Recording(metadata={} if stated is None else {"gravity": stated})
    assert recorded_gravity(recording).tolist() == gravity
    assert recorded_gravity(recording, gravity).tolist() == gravity


def test_a_gravity_of_the_callers_must_agree() -> None:
    recording = Recording(metadata={"gravity": [0, 0, -1.62]})
    with pytest.raises(ContradictionError, match=r"-9\.81\].*-1\.62\]"):
        recorded_gravity(recording, [0, 0, -9.81])
    assert recorded_gravity(Recording(metadata={"gravity": [0, 0, -9.8]}), [0, 0, -9.81])[2] == -9.81


@pytest.mark.parametrize("stated", ["down", [0, 0], [0, 0, "g"], True, [0, 0, -1], 9806.65, {"x": 1}, 10**400])
def test_a_gravity_that_cannot_be_meant_is_refused(stated: Any) -> None:
    with pytest.raises(ContradictionError, match=r"the metadata say gravity = .*m/s\^2"):
        recorded_gravity(Recording(metadata={"gravity": stated}))


def test_an_unusual_gravity_is_told() -> None:
    assert gravity_remarks(np.array([0, 0, -9.80665])) == gravity_remarks(np.array([9.81, 0, 0])) == []
    (said,) = gravity_remarks(np.array([0, 0, -1.62]))
    assert (said.code, said.values["gravity"]) == ("gravity-unusual", (0.0, 0.0, -1.62))


def test_frames_and_loads_that_were_taken_out_are_found() -> None:
    assert stated_frames({"tool_frame": "tool0", "frame": 3, "sensor_frame": "ft", "base_frame": "base"}) == {
        "tool_frame": "tool0",
        "sensor_frame": "ft",
    }
    assert compensated_mass(Recording()) is None
    for nonsense in ("2", True, 10**400):
        assert compensation_remarks(Recording(metadata={"compensated_mass_kg": nonsense})) == []
    (said,) = compensation_remarks(Recording(metadata={"compensated_mass_kg": 2.5}))
    assert (said.code, said.values["mass"], said.lowers) == ("load-already-removed", 2.5, True)
