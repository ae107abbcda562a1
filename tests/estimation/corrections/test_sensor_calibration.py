"""A sensor that mixes its channels, turned and elsewhere: known loads tell all of it, and others come out right."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import FileFormatError, InputError
from iparam.estimation import IdentificationError, calibrate_sensor, load_sensor_correction
from iparam.estimation.corrections.sensor_calibration import calibration_covariance, sensor_figures
from iparam.recording import Recording
from iparam.sensing import Correction
from iparam.sensing.correction import wrench_transform

ANGLES, PLACE = np.array([2.0, -3.0, 95.0]), np.array([0.01, -0.02, 0.04])
GAINS = np.array([1.1, 0.95, 1.0, 1.2, 0.9, 1.05])
DEVIATION = np.array([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])


def mixing(crosstalk: float) -> np.ndarray:
    """(6, 6) from the tool's wrench to the recorded one; symmetric crosstalk, since the rest is a turn."""
    talk = np.eye(6)
    talk[0, 1], talk[1, 0] = crosstalk, crosstalk * GAINS[0] / GAINS[1]
    return np.diag(GAINS) @ talk @ np.linalg.inv(wrench_transform(ANGLES, PLACE))


def placed(mass: float, x: float, y: float, z: float) -> iparam.InertialParameters:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return iparam.InertialParameters.box(mass, (0.1, 0.15, 0.2)).transformed(pose)


LOADS = (placed(2.0, 0.08, -0.01, 0.1), placed(3.0, -0.03, 0.1, -0.02))


@pytest.fixture(scope="module")
def runs(ur5e, excitation) -> tuple[Recording, ...]:
    random, made = np.random.default_rng(1), []
    for load in (*LOADS, placed(1.5, 0.0, 0.02, 0.12)):
        y = iparam.wrench_regressor(ur5e, excitation.q, excitation.dq, excitation.ddq) @ load.phi
        y = y @ mixing(0.02).T + random.normal(size=6) + DEVIATION * random.standard_normal(y.shape)
        run = Recording(robot="ur5e", metadata={"source": "simulation"}).with_signal(
            "q", time=excitation.time, values=excitation.q
        )
        made.append(run.with_signal("wrench", time=excitation.time, values=y))
    return tuple(made)


@pytest.mark.thorough
def test_two_known_loads_tell_the_sensor_and_a_third_one_comes_out_right(runs, ur5e, tmp_path: Path) -> None:
    found = calibrate_sensor(runs[:2], ur5e, LOADS)
    figures, spread = found.figures, found.standard_deviation
    for name, truth in (("gains", GAINS), ("rotation", ANGLES), ("offset", PLACE)):
        off = np.abs(getattr(figures, name) - truth) / getattr(spread, name)
        assert off.max() < 4.0, name
    assert abs(figures.crosstalk[0, 1] - 0.02) < 4.0 * spread.crosstalk[0, 1]
    assert spread.gains.max() < 0.02
    np.testing.assert_allclose(found.residual_rms, DEVIATION, rtol=0.1)

    assert iparam.identify_payload(runs[2], ur5e).refutation is not None
    found.save(tmp_path / "sensor.json")
    correction, frame = load_sensor_correction(tmp_path / "sensor.json")
    assert correction == found.correction
    assert frame == "tool0"
    estimate = iparam.identify_payload(runs[2], ur5e, correction=correction)
    assert estimate.mass == pytest.approx(1.5, rel=0.01)
    assert estimate.refutation is None
    alone = iparam.identify_payload(runs[2], ur5e, correction=Correction(wrench_scale=correction.wrench_scale))
    assert estimate.standard_deviation.mass > 1.1 * alone.standard_deviation.mass, "the calibration has its errors, too"


def test_a_load_follows_the_errors_of_the_calibration(runs, ur5e) -> None:
    """To first order, whatever the method: here of weighted least squares, one error at a time."""
    true, step = mixing(0.02), 5e-3 * np.random.default_rng(2).standard_normal(36)
    estimator, loads = iparam.estimation.make_estimator("wls"), []
    for sign in (0.5, -0.5):
        matrix = np.linalg.inv(true + sign * step.reshape(6, 6))
        correction = Correction(wrench_scale=matrix, wrench_scale_covariance=np.outer(step, step))
        problem = iparam.estimation.problem_from_recording(runs[2], ur5e, correction=correction)
        found = estimator.fit(problem)
        loads.append(found.phi)
    moved, spread = loads[0] - loads[1], calibration_covariance(problem, correction)
    assert spread is not None
    deviation = found.standard_deviation.phi  # weights follow from the residuals, and move the load a little, too
    counted, moved = np.sqrt(np.diag(spread)) / deviation, np.abs(moved) / deviation
    assert moved.max() > 5.0
    np.testing.assert_allclose(counted, moved, rtol=0.1, atol=0.05 * moved.max())
    assert calibration_covariance(problem, Correction()) is None


def test_the_figures_of_a_matrix() -> None:
    figures = sensor_figures(mixing(0.0))
    np.testing.assert_allclose(figures.gains, GAINS)
    np.testing.assert_allclose(figures.rotation, ANGLES)
    np.testing.assert_allclose(figures.offset, PLACE)
    np.testing.assert_allclose(figures.crosstalk, 0.0, atol=1e-12)


def test_what_cannot_be_calibrated(runs, ur5e, excitation) -> None:
    with pytest.raises(InputError, match="leave it out"):
        calibrate_sensor(runs[:1], ur5e, LOADS[:1], correction=Correction(sensor_rotation=(0, 0, 1)))
    with pytest.raises(InputError, match="2 runs and 1 loads"):
        calibrate_sensor(runs[:2], ur5e, LOADS[:1])
    signal = runs[0].signal("wrench")
    with pytest.raises(IdentificationError, match="left-handed or reversed"):
        calibrate_sensor([runs[0].with_signal("wrench", time=signal.time, values=-signal.values)], ur5e, LOADS[:1])
    point = iparam.InertialParameters(1.0, (0.0, 0.0, 0.0), np.zeros((3, 3)))
    with pytest.raises(IdentificationError, match="36 numbers"):
        calibrate_sensor(runs[:1], ur5e, [point])


@pytest.mark.parametrize("matrix", [[[1.0] * 6] * 6, [[1.0]], "none"])
def test_a_damaged_file(tmp_path: Path, matrix: object) -> None:
    path = tmp_path / "sensor.json"
    path.write_text(json.dumps({"format": "iparam-sensor/1", "matrix": matrix}), encoding="utf-8")
    with pytest.raises(FileFormatError, match="matrix"):
        load_sensor_correction(path)
