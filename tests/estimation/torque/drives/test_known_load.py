"""Drive gains from a run without and a run with a load of known parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError, InputError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.torque import DriveGains, gains_from_known_load
from iparam.simulation import with_motor_currents


@pytest.fixture(scope="module")
def weight() -> iparam.InertialParameters:
    """What the drives are calibrated with: another body than the load that is identified."""
    place = np.eye(4)
    place[:3, 3] = [0.0, 0.06, 0.12]
    return iparam.InertialParameters.box(5.0, [0.12, 0.12, 0.12]).transformed(place)


@pytest.fixture(scope="module")
def calibration(make_run: Any, weight: iparam.InertialParameters) -> tuple[Any, Any]:
    return make_run(10, noise=0.5), make_run(11, weight, noise=0.5)


def errors(found: DriveGains, true: np.ndarray) -> np.ndarray:
    """In standard deviations."""
    return np.abs(found.values - true) / np.hypot(found.standard_deviation, found.tolerance * np.abs(true))


def test_gains_of_currents_that_are_all_wrong_by_a_tenth_are_put_right(
    calibration: tuple[Any, Any], truth: Any, robot: iparam.Robot, weight: iparam.InertialParameters
) -> None:
    signs = np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    bare, loaded = (with_motor_currents(run, signs * truth.gains) for run in calibration)
    found = gains_from_known_load(bare, loaded, robot, weight, other=1.1 * signs * truth.gains)
    assert errors(found, signs * truth.gains).max() < 1.96
    assert found.relative_deviation.max() < 0.03
    assert "known load of 5 kg" in found.source
    # A figure of the wrong sign is told from the right one.
    other = gains_from_known_load(bare, loaded, robot, weight, other=1.1 * truth.gains)
    np.testing.assert_allclose(other.values, found.values, rtol=1e-3)


def test_torque_sensors_are_calibrated_alike_and_the_load_is_right_then(
    make_run: Any,
    calibration: tuple[Any, Any],
    truth: Any,
    robot: iparam.Robot,
    weight: iparam.InertialParameters,
    load: iparam.InertialParameters,
) -> None:
    def misread(run: Any) -> Any:
        return run.with_signal("tau", time=run.signal("tau").time, values=0.9 * run.signal("tau").values)

    bare, loaded = (misread(run) for run in calibration)
    found = gains_from_known_load(bare, loaded, robot, weight)
    assert errors(found, np.full(6, 1.0 / 0.9)).max() < 1.96
    runs = misread(make_run()), misread(make_run(1, load, motion_seed=1))
    settings: dict[str, Any] = {"friction": truth.friction, "couplings": ()}
    wrong = iparam.identify_payload_from_torque(*runs, robot, **settings)
    right = iparam.identify_payload_from_torque(*runs, robot, drive_gains=found, **settings)
    assert wrong.estimate.mass == pytest.approx(0.9 * load.mass, rel=0.02)
    assert right.mass_interval[0] < load.mass < right.mass_interval[1]
    assert right.estimate.mass == pytest.approx(load.mass, rel=0.02)


def test_a_joint_that_the_load_hardly_loads_has_the_factor_of_the_others(
    calibration: tuple[Any, Any], truth: Any, robot: iparam.Robot, weight: iparam.InertialParameters
) -> None:
    bare, loaded = (with_motor_currents(run, truth.gains) for run in calibration)
    rough = DriveGains(1.1 * truth.gains, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.03]) * truth.gains, 0.02, "")
    noisy = loaded.signal("current").values.copy()
    noisy[:, 5] += np.random.default_rng(0).normal(0.0, 20.0, len(noisy))
    loaded = loaded.with_signal("current", time=loaded.signal("current").time, values=noisy)
    found = gains_from_known_load(bare, loaded, robot, weight, other=rough)
    assert "6: theirs are mostly other figures" in found.source
    assert errors(found, truth.gains).max() < 1.96
    assert found.relative_deviation[5] > 0.03
    left_out = gains_from_known_load(bare, loaded, robot, weight, other=rough, leave_out=[5])
    assert errors(left_out, truth.gains).max() < 1.96
    assert left_out.relative_deviation[5] == pytest.approx(found.relative_deviation[5], rel=0.01)


def test_what_calibrates_nothing_is_refused(
    make_run: Any, calibration: tuple[Any, Any], robot: iparam.Robot, weight: iparam.InertialParameters
) -> None:
    bare, loaded = calibration
    light = iparam.InertialParameters.box(1e-4, [0.05] * 3)
    with pytest.raises(IdentificationError, match="hardly shows in the efforts of any joint"):
        gains_from_known_load(bare, make_run(12, light), robot, light)
    with pytest.raises(ContradictionError, match="the same recording"):
        gains_from_known_load(loaded, loaded, robot, weight)
    with pytest.raises(InputError, match="the run with the known load does not"):
        gains_from_known_load(bare, with_motor_currents(loaded, np.ones(6)), robot, weight)
