"""Problems of every kind, made without a simulator: random regressors of a real arm's motion times known loads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.estimation import PayloadProblem
from iparam.estimation.payload.regressor_uncertainty import regressor_uncertainty
from iparam.motion.motion import MotionEstimate
from iparam.recording import Recording

DATA = Path(__file__).resolve().parents[1] / "data"
DEVIATION = np.array([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])
BIAS = np.array([1.0, -0.5, 0.3, 0.05, -0.02, 0.04])


@pytest.fixture(scope="session")
def ur5e() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="session")
def load() -> np.ndarray:
    """phi of a 2 kg box, off the axis and turned."""
    body = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2))
    pose = np.eye(4)
    pose[:3, 3] = (0.02, -0.01, 0.11)
    return body.transformed(pose).phi


@pytest.fixture(scope="session")
def excitation() -> iparam.TrajectorySamples:
    """The optimised 10 s motion at 100 Hz."""
    trajectory = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    return trajectory.evaluate(np.linspace(0.0, trajectory.duration, 1001))


@pytest.fixture(scope="session")
def make_problem(ur5e, load, excitation) -> Callable[..., PayloadProblem]:
    """A function that makes a problem of the excitation, with noise in the wrench (``level``) and in the motion."""

    def make(
        level: float = 1.0,
        angle_noise: float = 0.0,
        bias: bool = True,
        seed: int = 0,
        samples: int = 1001,
        known: bool = False,
        instruments: bool = False,
        phi: np.ndarray | None = None,
    ) -> PayloadProblem:
        random = np.random.default_rng(seed)
        rows = np.linspace(0, 1000, samples).astype(int)
        q, dq, ddq, time = (part[rows] for part in (excitation.q, excitation.dq, excitation.ddq, excitation.time))
        truth = iparam.wrench_regressor(ur5e, q, dq, ddq)
        y = truth @ (load if phi is None else phi) + BIAS * bias
        y = y + level * DEVIATION * random.standard_normal(y.shape)
        # Errors as of a smoother: small in q, larger with every derivative.
        covariance = np.broadcast_to(np.diag(np.square(angle_noise * np.array([1e-4, 1e-2, 1.0]))), (6, 3, 3))
        noisy = [
            part + angle_noise * scale * random.standard_normal(part.shape)
            for part, scale in zip((q, dq, ddq), (1e-4, 1e-2, 1.0), strict=True)
        ]
        motion = MotionEstimate(time, *noisy, covariance if angle_noise else None)
        return PayloadProblem(
            motion.regressor(ur5e),
            y,
            time,
            bias=bias,
            wrench_covariance=np.diag(DEVIATION**2) if known else None,
            uncertainty=regressor_uncertainty(ur5e, motion) if angle_noise else None,
            instruments=truth if instruments else None,
        )

    return make


@pytest.fixture(scope="session")
def synthetic_recording(ur5e, load) -> Callable[..., Recording]:
    """A function that makes a recording of joint angles q (T, 6) with the wrench of the load, without a simulator."""

    def make(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray, noise: float = 1.0, rate: float = 500.0) -> Recording:
        random = np.random.default_rng(3)
        time = np.arange(len(q)) / rate
        y = iparam.wrench_regressor(ur5e, q, dq, ddq) @ load + BIAS
        y = y + noise * DEVIATION * random.standard_normal(y.shape)
        recording = Recording(robot="ur5e", metadata={"source": "simulation"}).with_signal(
            "q", time=time, values=q + noise * 5e-5 * random.standard_normal(q.shape)
        )
        recording = recording.with_signal("target_q", time=time, values=q)
        return recording.with_signal("wrench", time=time, values=y)

    return make
