"""Small views to look at."""

from __future__ import annotations

import numpy as np
import pytest

import iparam


@pytest.fixture(scope="session")
def ur5e() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="session")
def plan(ur5e: iparam.Robot) -> iparam.TrajectoryFile:
    """Large motions of all joints within two seconds, with a box on the flange."""
    from iparam.trajectory.conditions import PlanConditions, PlannedPayload

    a = np.zeros((6, 2))
    a[:, 0] = [0.8, 0.4, -0.5, 0.5, 0.6, 1.2]
    q0 = np.array([0.3, -1.4, 1.3, -1.2, -1.5, 0.2])
    motion = iparam.WindowedFourierTrajectory(q0=q0, a=a, b=np.zeros((6, 2)), base_freq=0.5, duration=2.0)
    conditions = PlanConditions(payload=PlannedPayload.from_size([0.1, 0.15, 0.2], mass=2.0))
    return iparam.TrajectoryFile(motion, "ur5e", 100.0, None, None, conditions=conditions)


@pytest.fixture(scope="session")
def load() -> iparam.InertialParameters:
    pose = np.eye(4)
    pose[:3, 3] = 0.01, -0.02, 0.1
    return iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).transformed(pose)


@pytest.fixture(scope="session")
def recording(ur5e: iparam.Robot, plan: iparam.TrajectoryFile, load: iparam.InertialParameters) -> iparam.Recording:
    """What a perfect sensor would have measured along the plan, with a little noise, its clock beginning at 5 s."""
    samples = plan.trajectory.sample(500.0)
    regressor = iparam.wrench_regressor(ur5e, samples.q, samples.dq, samples.ddq)
    wrench = regressor @ load.phi + np.random.default_rng(0).normal(size=(len(samples.time), 6)) * 0.01
    return (
        iparam.Recording("ur5e")
        .with_signal("q", time=samples.time + 5.0, values=samples.q)
        .with_signal("wrench", time=samples.time + 5.0, values=wrench)
    )


@pytest.fixture(scope="session")
def estimate(recording: iparam.Recording, ur5e: iparam.Robot) -> iparam.Estimate:
    return iparam.identify_payload(recording, robot=ur5e)
