"""Predicted precision against Monte Carlo, and targets."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.errors import InputError, UnknownNameError
from iparam.excitation.constraints.constraint import InfeasibleError
from iparam.excitation.prediction import Prediction, Target, expected_processes, parse_targets, predict_precision
from iparam.motion import kalman_smooth
from iparam.sensing.noise import MeasurementNoise, noise_preset
from iparam.spatial.parameters import InertialParameters, inertia_entries
from iparam.trajectory import WindowedFourierTrajectory

RATE = 100.0
SEEDS = 100
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
NOISE = MeasurementNoise(np.array([0.5, 0.5, 0.5, 0.05, 0.05, 0.05]))
# Half width, relative, of the 99.99 % interval of a standard deviation from SEEDS samples; all ten must be inside.
BAND = 3.9 / np.sqrt(2 * (SEEDS - 1))


@pytest.fixture(scope="module")
def robot() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="module")
def payload() -> InertialParameters:
    pose = np.eye(4)
    pose[:3, 3] = [0.01, -0.02, 0.1]
    return InertialParameters.box(2.0, (0.1, 0.15, 0.2)).transformed(pose)


@pytest.fixture(scope="module")
def motion() -> WindowedFourierTrajectory:
    a, b = np.random.default_rng(1).normal(0.0, 0.12, (2, 6, 5))
    return WindowedFourierTrajectory(HOME, a, b, base_freq=0.2, duration=10.0)


def least_squares(A: np.ndarray, y: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """phi from A (T, 6, 10) and y (T, 6), with the sensor's offset as six more unknowns."""
    rows = np.concatenate([A, np.broadcast_to(np.eye(6), (len(A), 6, 6))], axis=2) / deviations[:, None]
    rows = rows.reshape(-1, 16)
    return np.linalg.solve(rows.T @ rows, rows.T @ (y / deviations).ravel())[:10]


def derived(phi: np.ndarray) -> np.ndarray:
    body = InertialParameters.from_phi(phi)
    return np.array([body.mass, *body.center_of_mass, *inertia_entries(body.inertia_about_com)])


def assert_agree(estimates: np.ndarray, truth: InertialParameters, prediction: Prediction) -> None:
    ratios = estimates.std(axis=0, ddof=1) / prediction.phi
    assert np.abs(ratios - 1.0).max() < BAND, ratios
    assert (np.abs(estimates.mean(axis=0) - truth.phi) < 4.5 * prediction.phi / np.sqrt(SEEDS)).all()
    carried = np.array([derived(phi) for phi in estimates]).std(axis=0, ddof=1)
    assert np.abs(carried / np.sqrt(np.diag(prediction.covariance_derived)) - 1.0).max() < BAND


@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
def test_wrench_noise_against_monte_carlo(robot, payload, motion, weighted: bool) -> None:
    samples = motion.sample(RATE)
    A = iparam.wrench_regressor(robot, samples.q, samples.dq, samples.ddq)
    random = np.random.default_rng(0)
    offset = np.array([2.0, -1.0, 0.5, 0.1, -0.1, 0.05])
    estimates = np.array(
        [
            least_squares(
                A,
                A @ payload.phi + offset + NOISE.wrench * random.standard_normal((len(A), 6)),
                NOISE.wrench if weighted else np.ones(6),
            )
            for _ in range(SEEDS)
        ]
    )
    assert_agree(estimates, payload, predict_precision(motion, robot, payload, NOISE, rate=RATE, weighted=weighted))


def test_joint_noise_against_monte_carlo(robot, payload, motion) -> None:
    # Angles so noisy, and a sensor so quiet, that the joints decide.
    noise = MeasurementNoise(1e-3 * NOISE.wrench, joint_angle=1e-4)
    samples = motion.sample(RATE)
    processes = expected_processes(samples.time, samples.q, noise.joint_angle)
    wrench = iparam.wrench_regressor(robot, samples.q, samples.dq, samples.ddq) @ payload.phi
    random = np.random.default_rng(0)
    clean = kalman_smooth(samples.time, samples.q, processes)
    distortion = least_squares(
        iparam.wrench_regressor(robot, clean.q, clean.dq, clean.ddq), wrench, noise.wrench
    )  # what smoothing alone does, the same in every run
    estimates = []
    for _ in range(SEEDS):
        smoothed = kalman_smooth(samples.time, samples.q + 1e-4 * random.standard_normal(samples.q.shape), processes)
        A = iparam.wrench_regressor(robot, smoothed.q, smoothed.dq, smoothed.ddq)
        y = wrench + noise.wrench * random.standard_normal((len(A), 6))
        estimates.append(least_squares(A, y, noise.wrench) - distortion + payload.phi)
    predicted = predict_precision(motion, robot, payload, noise, rate=RATE)
    exact_angles = predict_precision(motion, robot, payload, dataclasses.replace(noise, joint_angle=0.0), rate=RATE)
    assert (predicted.phi > 5 * exact_angles.phi).all()
    assert_agree(np.array(estimates), payload, predicted)


def test_the_noise_of_a_ur5e_is_mostly_that_of_its_wrench(robot, payload, motion) -> None:
    noise = MeasurementNoise.from_model(noise_preset("ur5e"))
    assert noise.joint_angle == 5e-5
    whole = predict_precision(motion, robot, payload, noise, rate=RATE)
    wrench = predict_precision(motion, robot, payload, MeasurementNoise(noise.wrench), rate=RATE)
    np.testing.assert_allclose(whole.phi, wrench.phi, rtol=0.01)
    assert (whole.phi > wrench.phi).all()


def test_laws(robot, payload, motion) -> None:
    one = predict_precision(motion, robot, payload, NOISE, rate=RATE)
    four = predict_precision(motion, robot, payload, NOISE, rate=RATE, repetitions=4)
    np.testing.assert_allclose(four.phi, one.phi / 2)
    assert (four.duration, four.samples) == (40.0, 4 * one.samples)
    louder = MeasurementNoise(3 * NOISE.wrench)
    np.testing.assert_allclose(predict_precision(motion, robot, payload, louder, rate=RATE).phi, 3 * one.phi)
    finer = predict_precision(motion, robot, payload, NOISE, rate=4 * RATE)
    np.testing.assert_allclose(finer.phi, one.phi / 2, rtol=0.01)
    known = predict_precision(motion, robot, payload, NOISE, rate=RATE, bias=False)
    assert (known.phi <= one.phi).all()
    plain = predict_precision(motion, robot, payload, NOISE, rate=RATE, weighted=False)
    assert (plain.phi >= one.phi * (1 - 1e-9)).all()
    half = MeasurementNoise(NOISE.wrench, kept=0.5)
    np.testing.assert_allclose(predict_precision(motion, robot, payload, half, rate=RATE).phi, np.sqrt(2) * one.phi)


def test_fields(robot, payload, motion) -> None:
    result = predict_precision(motion, robot, payload, NOISE, rate=RATE)
    assert result.relative_mass == pytest.approx(result.mass / 2.0)
    assert result.mass == pytest.approx(result.phi[0])
    assert result.worst_center_of_mass >= result.center_of_mass.max() * (1 - 1e-9)
    assert result.inertia_about_com.shape == (3, 3)
    assert 0.0 < result.relative_inertia < 1.0
    with pytest.raises(ValueError, match="read-only"):
        result.covariance_phi[0, 0] = 1.0


def test_what_cannot_be_predicted(robot, payload, motion) -> None:
    still = dataclasses.replace(motion, a=0.0 * motion.a, b=0.0 * motion.b)
    with pytest.raises(InfeasibleError, match="cannot tell all ten parameters apart"):
        predict_precision(still, robot, payload, NOISE)
    with pytest.raises(InputError, match="joints"):
        predict_precision(
            WindowedFourierTrajectory(HOME[:5], motion.a[:5], motion.b[:5], 0.2, 10.0), robot, payload, NOISE
        )
    with pytest.raises(InputError, match="mass must be positive"):
        predict_precision(motion, robot, InertialParameters(0.0, np.zeros(3), np.zeros((3, 3))), NOISE)
    with pytest.raises(InputError, match="repetitions"):
        predict_precision(motion, robot, payload, NOISE, repetitions=0)
    with pytest.raises(InputError, match="nothing to predict"):
        MeasurementNoise.from_model(noise_preset("ideal"))
    with pytest.raises(InputError, match="6 positive"):
        MeasurementNoise(np.zeros(6))


def test_a_harsh_sensor() -> None:
    noise = MeasurementNoise.from_model(noise_preset("harsh"))
    assert noise.kept == pytest.approx(0.99)
    assert noise.wrench[0] == pytest.approx(np.hypot(2.0, 0.1 / np.sqrt(12)))


def test_targets() -> None:
    assert parse_targets("mass=0.5%, com=1mm,inertia=5%") == (
        Target("mass", 0.005, True),
        Target("com", 0.001, False),
        Target("inertia", 0.05, True),
    )
    assert parse_targets("Mass = 2g")[0] == Target("mass", 0.002, False)
    assert parse_targets("mass=1e-3kg")[0].value == pytest.approx(1e-3)
    assert [str(target) for target in parse_targets("mass=0.5%,com=2cm")] == ["mass=0.5%", "com=20mm"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "name=number and unit"),
        ("mass", "name=number and unit"),
        ("mass=5", "needs a unit that fits mass: %, g, kg"),
        ("com=5%", "needs a unit that fits com: mm, cm, m"),
        ("mass=-1%", "must be positive"),
        ("mass=0%", "must be positive"),
        ("mass=1.2.3%", "not a number"),
        ("mass=1%,mass=2%", "given twice"),
        ("mass=1%,,", "name=number and unit"),
    ],
)
def test_targets_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_targets(text)


def test_unknown_targets() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'inertia'"):
        parse_targets("inertias=5%")
