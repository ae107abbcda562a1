"""A MuJoCo arm with friction, rotors and noisy currents, identified from scratch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.estimation import identify_payload
from iparam.estimation.payload.fusion import fuse_estimates
from iparam.estimation.torque.drives.drive_gains import DriveGains
from iparam.estimation.torque.friction import FrictionModel
from iparam.estimation.torque.joint_data import JointDataSource
from iparam.estimation.torque.payload_from_torque import TorquePayloadEstimate, identify_payload_from_torque
from iparam.estimation.torque.robot_identification import grouped
from iparam.estimation.torque.torque_fit import fit_torques
from iparam.estimation.torque.torque_model import TorqueModel
from iparam.recording import Recording
from iparam.sensing.noise import noise_preset
from iparam.simulation import JointFriction, MujocoSimulator, Payload, SensorRates, with_motor_currents
from iparam.trajectory import load_trajectory

pytest.importorskip("mujoco")

DATA = Path(__file__).parents[2] / "data" / "whole_arm_ur10e.json"
CURRENT_NOISE = np.array([0.19, 0.22, 0.13, 0.04, 0.05, 0.04])  # [A] what models leave of a real UR10e's currents
SEEDS = 4


@pytest.fixture(scope="module")
def runs(truth: Any, robot: iparam.Robot) -> tuple[Recording, Recording, Payload]:
    """A bare and a loaded run of 20 s, with torques and without noise."""
    friction = JointFriction(truth.viscous, truth.coulomb, smoothing_speed=0.02)
    simulator = MujocoSimulator(physics_rate=1000.0, rates=SensorRates.all_at(250.0), friction=friction)
    path = load_trajectory(DATA).trajectory
    payload = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2), offset=(0.02, 0.03, 0.1))
    arm = robot.with_armature(truth.rotors)
    recordings = [simulator.load(arm, carried).run(path).recording for carried in (None, payload)]
    return recordings[0], recordings[1], payload


def measured(recording: Recording, gains: np.ndarray, seed: int) -> Recording:
    """The recording of an arm without torque sensors."""
    noisy = with_motor_currents(recording, gains, CURRENT_NOISE, seed)
    q = noisy.signal("q")
    error = 2e-5 * np.random.default_rng(seed + 10_000).standard_normal(q.values.shape)
    return noisy.with_signal("q", time=q.time, values=q.values + error)


@pytest.mark.thorough
@pytest.mark.recovery
def test_the_arm_from_scratch(runs: Any, truth: Any, robot: iparam.Robot) -> None:
    gains = DriveGains(truth.gains, np.zeros(6), 0.0, "Known.")
    model = TorqueModel(robot, truth.friction)
    expected = np.zeros(model.size)
    expected[:60], expected[60:66] = robot.body_parameters.ravel(), truth.rotors
    expected[model.friction_columns("viscous")] = truth.viscous
    expected[model.friction_columns("coulomb")] = truth.coulomb
    scores = []
    for seed in range(SEEDS):
        fit = fit_torques(model, [JointDataSource(measured(runs[0], truth.gains, seed), robot)], gains)
        error = fit.solution.parameters[model.independent] - grouped(model) @ expected
        scores.append(error / np.sqrt(np.diag(fit.covariance)))
    assert np.mean(np.abs(scores) < 3.0) >= 0.99


@pytest.fixture(scope="module")
def identified(runs: Any, truth: Any, robot: iparam.Robot) -> Callable[[FrictionModel | None], TorquePayloadEstimate]:
    """A function from the friction to the load of the noisy runs."""

    @cache
    def identify(friction: FrictionModel | None) -> TorquePayloadEstimate:
        bare, loaded = (measured(run, truth.gains, seed) for seed, run in enumerate(runs[:2]))
        return identify_payload_from_torque(bare, loaded, robot, drive_gains=truth.gains, friction=friction)

    return identify


@pytest.mark.thorough(keep=1)
@pytest.mark.recovery
@pytest.mark.parametrize("friction", [None, FrictionModel(("viscous", "coulomb", "offset"), "smooth")])
def test_a_load_of_two_kilograms(runs: Any, identified: Any, friction: FrictionModel | None) -> None:
    found = identified(friction).estimate
    assert found.mass == pytest.approx(2.0, rel=0.01)
    np.testing.assert_allclose(found.center_of_mass, runs[2].parameters.center_of_mass, atol=5e-3)


@pytest.mark.recovery
@pytest.mark.parametrize(("noise", "delay"), [("ur5e", 0.0), ("harsh", None)])
def test_wrist_and_joints_together(
    runs: Any, identified: Any, robot: iparam.Robot, noise: str, delay: float | None
) -> None:
    loaded = noise_preset(noise).apply(runs[1], 0)
    torque = identified(None).estimate
    wrist = identify_payload(loaded, robot, delay=delay)
    fused = fuse_estimates([wrist, torque])
    assert "estimates-disagree" not in [one.code for one in fused.remarks]
    for one in (wrist, torque):
        assert (fused.standard_deviation.phi <= 1.0001 * one.standard_deviation.phi).all()
    assert fused.mass == pytest.approx(2.0, rel=0.01)


def test_friction_and_currents_are_what_they_say(runs: Any, truth: Any, robot: iparam.Robot) -> None:
    with pytest.raises(InputError, match="friction is that of 2 joints"):
        MujocoSimulator(friction=JointFriction(np.ones(2), np.ones(2))).load(robot)
    with pytest.raises(InputError, match="none negative"):
        JointFriction(np.ones(2), -np.ones(2))
    with pytest.raises(InputError, match="smoothing_speed"):
        JointFriction(np.ones(2), np.ones(2), 0.0)
    exact = with_motor_currents(runs[0], truth.gains)
    np.testing.assert_allclose(exact.signal("current").values * truth.gains, runs[0].signal("tau").values)
    assert not exact.has("tau")
    for bad in ({"drive_gains": [1.0]}, {"drive_gains": truth.gains, "noise": -1.0}):
        with pytest.raises(InputError):
            with_motor_currents(runs[0], **bad)
