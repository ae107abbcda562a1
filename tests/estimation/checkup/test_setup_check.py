"""A setup held against a run: a wrong entry is named, a right one passes, and nothing is said without a load."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.estimation.checkup.check import Checkup
from iparam.estimation.checkup.setup_check import check_gripper, check_setup
from iparam.recording.recording import Recording
from iparam.robot.model import Robot
from iparam.sensing.correction import Correction
from iparam.sensing.setup import Setup
from iparam.spatial.parameters import InertialParameters

TURN = (0.0, 0.0, 90.0)


@pytest.fixture(scope="module")
def turned(synthetic_recording, excitation) -> Recording:
    """A run whose sensor is turned about the tool's z axis."""
    run = synthetic_recording(excitation.q, excitation.dq, excitation.ddq, rate=100.0)
    wrench, turn = run.signal("wrench"), iparam.spatial.rotation_from_rpy(np.radians(TURN))
    values = np.concatenate([wrench.values[:, :3] @ turn, wrench.values[:, 3:] @ turn], axis=1)
    return run.with_signal("wrench", time=wrench.time, values=values)


def examined(setup: Setup, recording: Recording, robot: Robot) -> Checkup:
    return iparam.estimation.examine_recording(
        recording, robot, correction=Correction(sensor_rotation=setup.sensor_rotation)
    )


def test_a_right_setup_passes_and_a_wrong_zeroing_is_named(turned: Recording, ur5e: Robot) -> None:
    setup = Setup(robot="ur5e", sensor_rotation=TURN)
    found = examined(setup, turned, ur5e)
    check = check_setup(setup, found, turned)
    assert check.level == "green", check.finding
    assert "sensor-rotation" in check.finding
    check = check_setup(dataclasses.replace(setup, zeroed="with load"), found, turned)
    assert check.level == "red"
    assert "sensor.zeroed is 'with-load', and the sensor reads " in check.finding


def test_a_gripper_is_judged_by_what_it_would_hold(turned: Recording, ur5e: Robot) -> None:
    """By the difference that `identify payload --gripper` states, and not by its weight alone."""
    whole = examined(Setup(robot="ur5e", sensor_rotation=TURN), turned, ur5e).estimate
    assert whole is not None
    right = InertialParameters.from_phi(0.4 * whole.phi)
    check = check_gripper(whole, right, ur5e)
    assert check.level == "green", check.finding
    away = np.eye(4)
    away[:3, 3] = (0.3, 0.0, 0.0)
    elsewhere = right.transformed(away)  # as heavy, and no part of the load
    check = check_gripper(whole, elsewhere, ur5e, name="gripper.json")
    assert iparam.combine_estimates(whole, elsewhere, minus=True, frame=whole.frame).refutation is not None
    assert check.level == "red"
    assert "So gripper.json is not a part of" in check.finding
    heavy = InertialParameters(3.0, np.zeros(3), 0.01 * np.eye(3))
    assert "weighs 3 kg, and all that hangs on the arm " in check_gripper(whole, heavy, ur5e).finding
    assert check_gripper(whole, heavy, ur5e).level == "red"
    assert check_gripper(whole, whole.parameters, ur5e).level == "green"  # which holds nothing


def test_a_wrong_rotation_is_named(turned: Recording, ur5e: Robot) -> None:
    setup = Setup(robot="ur5e", sensor_rotation=(0.0, 0.0, -90.0))
    check = check_setup(setup, examined(setup, turned, ur5e), turned)
    assert check.level == "red"
    assert "sensor.rotation does not fit: besides it, Turning the sensor by" in check.finding
    assert "--sensor-rotation" not in check.finding


def test_what_only_looks_like_the_cause_accuses_no_other_entry(turned: Recording, ur5e: Robot) -> None:
    """A wrench of the other sign is also, but worse, explained by gravity from above."""
    setup = Setup(robot="ur5e", sensor_rotation=TURN, mounting="floor")
    wrench = turned.signal("wrench")
    reversed_run = turned.with_signal("wrench", time=wrench.time, values=-wrench.values)
    check = check_setup(setup, examined(setup, reversed_run, ur5e), reversed_run)
    assert check.level == "red"
    assert "sensor.measures does not fit" in check.finding
    assert "mounting" not in check.finding


def test_without_a_load_nothing_is_said(turned: Recording) -> None:
    assert check_setup(Setup(robot="ur5e"), Checkup(()), turned).level == "amber"
