"""A run of a UR5e, from the model itself: what a mistake does to it is what is tested, not how the run came about."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import iparam
from iparam.recording import Recording, Signal

Edit = Callable[[np.ndarray, np.ndarray], np.ndarray]


@pytest.fixture(scope="session")
def robot() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="session")
def load() -> iparam.InertialParameters:
    mount = np.eye(4)
    mount[:3, 3] = (0.02, -0.01, 0.08)
    return iparam.InertialParameters.box(2.0, [0.08, 0.12, 0.16]).transformed(mount)


@pytest.fixture(scope="session")
def sound_run(robot: iparam.Robot, load: iparam.InertialParameters) -> Callable[..., Recording]:
    """A recording at 125 Hz for 6 s with the noise of a UR5e."""
    rng = np.random.default_rng(5)
    trajectory = iparam.WindowedFourierTrajectory(
        q0=np.radians([20.0, -80.0, 90.0, -100.0, -70.0, 10.0]),
        a=rng.uniform(-0.35, 0.35, (6, 4)),
        b=rng.uniform(-0.35, 0.35, (6, 4)),
        base_freq=0.2,
        duration=6.0,
    )
    motion = trajectory.sample(fps=125.0)

    def make(
        seed: int = 1,
        gravity: tuple[float, ...] = (0.0, 0.0, -9.81),
        edit: Edit | None = None,
        angles: Edit | None = None,
        clock: float = 1.0,
        limit: float = np.inf,
    ) -> Recording:
        wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq, gravity) @ load.phi
        if edit is not None:
            wrench = edit(wrench, motion.time)
        q = motion.q if angles is None else angles(np.array(motion.q), motion.time)
        time = clock * motion.time
        recording = Recording("ur5e", {"q": Signal(time, q), "wrench": Signal(time, wrench)}, {"source": "simulation"})
        noisy = iparam.noise_preset("ur5e").apply(recording, seed=seed)
        return noisy.with_signal("wrench", Signal(time, np.clip(noisy.signal("wrench").values, -limit, limit)))

    return make
