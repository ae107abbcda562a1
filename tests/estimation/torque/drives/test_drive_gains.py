"""Drive gains from targets, from the maker's masses, or given."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.torque.drives.drive_gains import (
    SENSOR_TOLERANCE,
    DriveGains,
    find_gains,
    gains_from_model,
    gains_from_targets,
    given_gains,
    torque_gains,
)
from iparam.recording import Recording


def test_from_targets_whatever_the_controllers_friction_is(make_run: Any, truth: Any) -> None:
    run = make_run(currents=True, targets=True)
    found = gains_from_targets([run, make_run(1, currents=True, targets=True, motion_seed=1)])
    np.testing.assert_allclose(found.values, truth.gains, rtol=5e-3)
    assert (found.standard_deviation < 0.01 * truth.gains).all()
    assert (found.relative_deviation >= found.tolerance).all()


def test_from_the_makers_masses(make_run: Any, truth: Any, robot: iparam.Robot) -> None:
    # The maker's figures have no rotors, which are a large part of what the wrist's motors move: gravity decides.
    found = gains_from_model(make_run(currents=True, noise=0.1), robot.with_armature(truth.rotors))
    np.testing.assert_allclose(found.values, truth.gains, rtol=0.03)
    assert found.tolerance == 0.05


def test_the_best_source_is_taken(make_run: Any, truth: Any, robot: iparam.Robot) -> None:
    torque, current = make_run(), make_run(currents=True)
    with_targets = make_run(currents=True, targets=True)
    np.testing.assert_array_equal(find_gains([torque], torque, robot).values, 1.0)
    assert find_gains([torque], torque, robot).relative_deviation.tolist() == [SENSOR_TOLERANCE] * 6
    assert "given" in find_gains([current], current, robot, truth.gains).source
    assert "target" in find_gains([current, with_targets], current, robot).source
    exact = DriveGains(truth.gains, np.zeros(6), 0.0, "")
    assert find_gains([current], current, robot, exact) is exact


def test_what_cannot_be_told_is_refused(make_run: Any, robot: iparam.Robot) -> None:
    run = make_run(currents=True, targets=True)
    still = run.with_signal("dq", time=run.signal("dq").time, values=0.0 * run.signal("dq").values)
    with pytest.raises(IdentificationError, match="hardly move"):
        gains_from_targets([still])
    target = run.signal("target_current")
    deaf = run.with_signal("target_current", time=target.time, values=np.random.default_rng(0).normal(size=(2000, 6)))
    with pytest.raises(IdentificationError, match="does not follow"):
        gains_from_targets([deaf])
    speed = run.signal("dq").values.copy()
    speed[:, 5] = 0.0
    guessed = gains_from_targets([run.with_signal("dq", time=run.signal("dq").time, values=speed)])
    assert "joints 6" in guessed.source
    assert guessed.relative_deviation[5] > 0.29
    assert guessed.relative_deviation[:5].max() < 0.03
    late = dataclasses.replace(target, time=target.time + 0.001)
    with pytest.raises(IdentificationError, match="same time stamps"):
        gains_from_targets([run.with_signal("target_current", late)])
    with pytest.raises(InputError, match="6 numbers"):
        given_gains([1.0, 2.0], 6)
    for absurd in (-1e6, 0.0, 1e-320, 1e6):
        with pytest.raises(InputError, match=r"between 0\.001 and 100000 N m/A"):
            given_gains([1.0, 2.0, 3.0, 4.0, 5.0, absurd], 6)
    with pytest.raises(InputError, match="other than 0"):
        DriveGains(np.zeros(6), np.zeros(6), 0.1, "")
    with pytest.raises(InputError, match="tolerance"):
        DriveGains(np.ones(6), np.zeros(6), -0.1, "")
    assert torque_gains(3).values.tolist() == [1.0, 1.0, 1.0]


def with_reversed_currents(run: Recording, joints: list[int]) -> Recording:
    """The run of a controller that counts the currents of some joints the other way round."""
    signs = np.ones(6)
    signs[joints] = -1.0
    for name in ("current", "target_current"):
        if run.has(name):
            run = run.with_signal(name, time=run.signal(name).time, values=signs * run.signal(name).values)
    return run


def test_gains_are_negative_where_currents_are_counted_the_other_way_round(
    make_run: Any, truth: Any, robot: iparam.Robot
) -> None:
    signs = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    run = with_reversed_currents(make_run(currents=True, targets=True, noise=0.1), [1, 4, 5])
    found = gains_from_targets([run])
    np.testing.assert_allclose(found.values, signs * truth.gains, rtol=5e-3)
    assert (found.standard_deviation > 0.0).all()
    assert (found.relative_deviation < 0.03).all()
    found = gains_from_model(run, robot.with_armature(truth.rotors))
    np.testing.assert_allclose(found.values, signs * truth.gains, rtol=0.03)
    assert given_gains(signs * truth.gains, 6).relative_deviation == pytest.approx(0.02)


def test_the_sign_of_a_gain_that_is_guessed_is_that_of_the_friction_which_the_drive_feeds(make_run: Any) -> None:
    run = with_reversed_currents(make_run(currents=True, targets=True), [5])
    torque = run.signal("target_torque")
    silent = torque.values.copy()
    silent[:, 4:] = 0.0  # nothing is wanted of joints 5 and 6: their currents tell no gain
    found = gains_from_targets([run.with_signal("target_torque", time=torque.time, values=silent)])
    assert "joints 5, 6 cannot be told" in found.source
    assert np.sign(found.values).tolist() == [1, 1, 1, 1, 1, -1]
    assert found.relative_deviation[4:].min() > 0.29
