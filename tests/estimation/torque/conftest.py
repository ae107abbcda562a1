"""Runs of an arm computed from its inverse dynamics, rotors and friction: the truth is known without a simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import iparam
from iparam.estimation.torque.friction import FrictionModel
from iparam.recording import Recording
from iparam.trajectory import WindowedFourierTrajectory

ROTORS = np.array([5.3, 6.1, 1.9, 0.53, 0.61, 0.44])
VISCOUS = np.array([20.0, 19.0, 10.0, 3.6, 2.5, 2.6])
COULOMB = np.array([12.7, 11.0, 4.7, 2.6, 3.2, 2.5])
OFFSET = np.array([0.3, -0.5, 0.1, 0.0, 0.05, -0.1])
GAINS = np.array([11.9, 12.0, 9.8, 10.8, 10.7, 10.7])
TORQUE_NOISE = np.array([2.0, 2.5, 1.3, 0.4, 0.5, 0.4])
SMOOTHING = 0.02
HOME = np.array([0.0, -1.4, 1.2, -1.0, -1.2, 0.3])

MakeRun = Callable[..., Recording]


@pytest.fixture(scope="session")
def robot() -> iparam.Robot:
    return iparam.load_robot("ur10e")


@pytest.fixture(scope="session")
def load() -> iparam.InertialParameters:
    offset = np.eye(4)
    offset[:3, 3] = [0.02, -0.03, 0.09]
    return iparam.InertialParameters.box(2.0, [0.1, 0.15, 0.2]).transformed(offset)


@pytest.fixture(scope="session")
def make_run(robot: iparam.Robot) -> MakeRun:
    """A function that makes the recording of one run; ``currents`` stands for a UR controller's log."""

    def make(
        seed: int = 0,
        carried: iparam.InertialParameters | None = None,
        *,
        noise: float = 1.0,
        currents: bool = False,
        targets: bool = False,
        duration: float = 20.0,
        rate: float = 100.0,
        motion_seed: int = 0,
    ) -> Recording:
        a, b = np.random.default_rng(motion_seed).normal(0.0, 0.16, (2, 6, 8))
        path = WindowedFourierTrajectory(HOME, a, b, base_freq=0.05, duration=20.0)
        time = np.arange(0.0, duration, 1.0 / rate)
        # Longer runs repeat the motion forwards and backwards, which is as smooth.
        phase = np.abs((time + 20.0) % 40.0 - 20.0)
        way = np.where((time % 40.0) < 20.0, 1.0, -1.0)[:, None]
        point = path.evaluate(phase)
        q, dq, ddq = point.q, way * point.dq, point.ddq
        loaded = robot if carried is None else robot.with_payload(carried)
        rigid = iparam.inverse_dynamics(loaded, q, dq, ddq)
        friction = VISCOUS * dq + COULOMB * np.tanh(dq / SMOOTHING) + OFFSET
        rng = np.random.default_rng(seed)
        tau = rigid + ROTORS * ddq + friction + noise * TORQUE_NOISE * rng.standard_normal(q.shape)
        measured = q + noise * 1e-5 * rng.standard_normal(q.shape)
        run = Recording("ur10e").with_signal("q", time=time, values=measured)
        run = run.with_signal("dq", time=time, values=dq)
        if not currents:
            return run.with_signal("tau", time=time, values=tau)
        run = run.with_signal("current", time=time, values=tau / GAINS)
        if targets:
            wanted = iparam.inverse_dynamics(robot.with_armature(0.5), q, dq, ddq)
            compensation = 8.0 * np.tanh(dq / 0.01) + 5.0 * dq - 0.5 * dq * np.abs(dq)
            run = run.with_signal("target_torque", time=time, values=wanted)
            run = run.with_signal("target_current", time=time, values=(wanted + compensation) / GAINS)
        return run

    return make


@dataclass(frozen=True, eq=False)
class Truth:
    rotors: np.ndarray
    viscous: np.ndarray
    coulomb: np.ndarray
    offset: np.ndarray
    gains: np.ndarray
    friction: FrictionModel


@pytest.fixture(scope="session")
def truth() -> Truth:
    """What the runs were made with, and the friction model that has room for it."""
    model = FrictionModel(("viscous", "coulomb", "offset"), "smooth", smoothing_speed=SMOOTHING)
    return Truth(ROTORS, VISCOUS, COULOMB, OFFSET, GAINS, model)
