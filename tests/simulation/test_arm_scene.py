"""What `excite check` passes, to the last digit of a joint's range, the simulator takes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.robot import Robot
from iparam.simulation.arm_scene import check_followable, trajectory_remarks
from iparam.trajectory import FourierTrajectory
from iparam.trajectory.checks import validation_times

UR5E = iparam.load_robot("ur5e")


def swing(duration: float = 5.0) -> FourierTrajectory:
    a = np.linspace(0.1, 0.6, 18).reshape(6, 3)
    return FourierTrajectory(np.zeros(6), a, -a[::-1], 0.29, duration)


def bounded_by(trajectory: FourierTrajectory, inset: float) -> Robot:
    """An arm whose ranges end where the motion turns, as far as the samples of a check show it [rad]."""
    q = trajectory.evaluate(validation_times(trajectory.duration)).q
    limits = dataclasses.replace(UR5E.limits, lower=q.min(axis=0) + inset, upper=q.max(axis=0) - inset)
    return dataclasses.replace(UR5E, limits=limits)


@pytest.mark.parametrize("duration", [1.0, 3.7, 6.0, 21.3])
def test_a_motion_that_ends_at_its_range_on_the_grid_of_the_check_is_followed(duration: float) -> None:
    trajectory = swing(duration)
    check_followable(bounded_by(trajectory, 0.0), trajectory)
    with pytest.raises(InputError, match="its range is"):
        check_followable(bounded_by(trajectory, 1e-6), trajectory)


def test_speeds_are_looked_at_on_the_same_grid() -> None:
    trajectory = swing()
    peaks = np.abs(trajectory.evaluate(validation_times(trajectory.duration)).dq).max(axis=0)
    for share, count in ((1.0 + 1e-9, 0), (1.0 - 1e-6, 6)):
        arm = dataclasses.replace(UR5E, limits=dataclasses.replace(UR5E.limits, velocity=share * peaks))
        said = [one for one in trajectory_remarks(arm, trajectory) if one.code == "speed-above-limit"]
        assert [one.values["joint"] for one in said] == list(UR5E.joint_names)[:count]
