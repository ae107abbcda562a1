"""Logs of a real UR10e: drives calibrated with its load on one day give the mass of that load on another."""

from __future__ import annotations

from pathlib import Path

import pytest

import iparam
from iparam.estimation.torque import FrictionModel, gains_from_known_load, identify_payload_from_torque
from iparam.recording import Recording

COLUMNS = "time,q,dq,current,target_current,target_torque"
MASS = 2.805
CALIBRATION = ("ur-20_02_19_14harm50sec.csv", "ur-20_02_19_14harm50secLoad.csv")
OTHER = ("ur-20_01_31-unload.csv", "ur-20_01_31-load.csv")


def logs(folder: Path, names: tuple[str, str]) -> tuple[Recording, Recording]:
    paths = [folder / "ur10e" / name for name in names]
    if not all(path.is_file() for path in paths):
        pytest.skip(f"needs the UR10e logs, and {paths} are not there")
    bare, loaded = (Recording.load(path, columns=COLUMNS, robot="ur10e") for path in paths)
    return bare, loaded


@pytest.mark.thorough
def test_the_mass_of_another_day(shared_data: Path, robot: iparam.Robot) -> None:
    calibration, other = logs(shared_data, CALIBRATION), logs(shared_data, OTHER)
    # Only the mass of the load is known: its shape is that which the same runs give, with the mass set right.
    phi = identify_payload_from_torque(*calibration, robot, friction=FrictionModel(), couplings=()).estimate.phi
    load = iparam.InertialParameters.from_phi(phi * MASS / phi[0])
    gains = gains_from_known_load(*calibration, robot, load)
    before = identify_payload_from_torque(*other, robot, friction=FrictionModel(), couplings=())
    after = identify_payload_from_torque(*other, robot, friction=FrictionModel(), couplings=(), drive_gains=gains)
    assert abs(after.estimate.mass - MASS) < abs(before.estimate.mass - MASS)
    assert after.estimate.mass == pytest.approx(MASS, rel=0.01)
    assert after.mass_interval[0] < MASS < after.mass_interval[1]
    assert after.mass_interval[1] - after.mass_interval[0] < before.mass_interval[1] - before.mass_interval[0]
