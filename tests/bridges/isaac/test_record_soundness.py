"""Runs that only look like runs: another step, a sensor that stands still, a wrench of another motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bridges.isaac import stand_ins

import iparam
from iparam.bridges.isaac import JointWrench, record
from iparam.bridges.isaac.record import run_remarks
from iparam.errors import InputError

DT = 1.0 / 240.0
PHI = iparam.spatial.InertialParameters(2.0, np.array([0.01, 0.02, 0.1]), np.diag([0.02, 0.03, 0.01])).phi


@pytest.fixture(scope="module")
def ur5e() -> Any:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="module")
def plan() -> Any:
    a, b = np.random.default_rng(3).normal(size=(2, 6, 2)) * 0.1
    start = np.array([0.0, -1.4, 1.3, -1.2, -1.5, 0.0])
    return iparam.trajectory.WindowedFourierTrajectory(a=a, b=b, q0=start, base_freq=1.0, duration=1.0)


class Stage:
    """An articulation with its sensor, whose parts a test spoils."""

    def __init__(self, robot: Any) -> None:
        self.physics = stand_ins.Physics(robot, PHI, DT)
        self.arm = stand_ins.LabArticulation(self.physics)
        self.sensor = stand_ins.JointWrenchSensor(self.physics, np.eye(4), "newton")
        self.robot = robot

    def record(self, plan: Any, step: Any = None, **changes: Any) -> Any:
        settings = {"wrench": JointWrench(self.sensor, "payload"), "robot": self.robot, "dt": DT, "settle": 0.05}
        return record(self.arm, plan, step or self.physics.step, **(settings | changes))


def test_a_step_of_another_length_is_refused(ur5e, plan) -> None:
    with pytest.raises(InputError, match=r"dt is 0\.01 s, but the joints moved as in 0\.004167 s a step"):
        Stage(ur5e).record(plan, dt=0.01)


def test_a_diverged_simulation_is_refused(ur5e, plan) -> None:
    stage = Stage(ur5e)

    def diverging() -> None:
        stage.physics.step()
        if stage.physics.steps == 40:
            stage.physics.dq[:] = np.nan

    with pytest.raises(InputError, match="joint velocities hold values that are not finite"):
        stage.record(plan, diverging)


def test_a_sensor_that_is_updated_now_and_then_is_refused(ur5e, plan) -> None:
    stage = Stage(ur5e)
    fresh = stage.physics.in_joint_after_step
    kept: list[Any] = []

    def every_fourth(pose: Any) -> Any:
        if stage.physics.steps % 4 == 0 or not kept:
            kept[:] = [fresh(pose)]
        return kept[0]

    stage.sensor.data._read = every_fourth
    with pytest.raises(InputError, match=r"stayed as it was in \d+ of \d+ steps .*update_period=0\.0"):
        stage.record(plan)


def test_a_wrench_of_another_motion_is_said(ur5e, plan) -> None:
    """As of implicit drives: the acceleration that the force belongs to is not that of the step."""
    q = plan.evaluate(np.arange(0.0, 1.0, DT)).q
    dq, ddq = (q[2:] - q[:-2]) / (2 * DT), (q[2:] - 2 * q[1:-1] + q[:-2]) / DT**2
    q_at = q[1:-1]
    factors = (1.0, np.array([3.0, 1.0, 1.0, 5.0, 1.0, 9.0]))
    right, wrong = (iparam.wrench_regressor(ur5e, q_at, dq, ddq * factor) @ PHI for factor in factors)
    assert run_remarks(ur5e, q[1:], q_at, right, DT) == []
    (said,) = run_remarks(ur5e, q[1:], q_at, wrong, DT)
    assert (said.code, said.lowers) == ("wrench-not-of-a-load", True)


def test_a_sound_run_says_nothing(ur5e, plan) -> None:
    assert Stage(ur5e).record(plan).remarks == ()


def test_what_is_not_initialised_or_named_twice_is_refused(ur5e, plan) -> None:
    stage = Stage(ur5e)
    with pytest.raises(InputError, match="joints names 'elbow_joint' twice"):
        stage.record(plan, joints=[*ur5e.joint_names[:3], *ur5e.joint_names[2:5]])
    stage.sensor.is_initialized = False
    with pytest.raises(InputError, match=r"JointWrenchSensor is not initialised: call sim\.reset\(\) first"):
        JointWrench(stage.sensor, "payload")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dt": "fast"}, "dt must"),
        ({"dt": [0.004, 0.004]}, r"dt must be one number of seconds, got shape \(2,\)"),
        ({"settle": None}, "settle must"),
        ({"environment": 0.0}, r"environment must be from 0 to 1, got 0\.0"),
        ({"environment": True}, "environment must be from 0 to 1, got True"),
        ({"wrench": "the sensor itself"}, r"a str for wrench=: JointWrench\(sensor, 'payload'\)"),
        ({"robot": "ur5e"}, r"a str for robot=: iparam\.load_robot"),
        ({"units": 0.01}, "a float for units=: StageUnits"),
        ({"step": 3}, "an? int for step=: a function"),
    ],
)
def test_what_is_easily_given_instead(ur5e, plan, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Stage(ur5e).record(plan, **changes)


def test_a_file_of_a_plan_is_no_plan(ur5e) -> None:
    with pytest.raises(InputError, match=r"a str for a plan: iparam\.load_trajectory\(file\)\.trajectory"):
        Stage(ur5e).record("plan.json")
