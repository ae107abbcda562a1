"""Units for parameters: what they do to a condition number."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.excitation.information.scaling import arm_scales, payload_scales
from iparam.excitation.information.torque_information import TorqueInformation
from iparam.excitation.search.optimizer import optimize_excitation
from iparam.excitation.setup import planning_problem

UR5E = iparam.load_robot("ur5e")


def test_the_units_of_a_payload_are_of_its_size() -> None:
    pose = np.eye(4)
    pose[2, 3] = 0.1
    box = iparam.InertialParameters.box(2.0, [0.1, 0.15, 0.2]).transformed(pose)
    scales = payload_scales(box)
    assert scales[0] == 2.0
    length = np.sqrt(scales[4] / scales[0])
    np.testing.assert_allclose(scales, 2.0 * np.array([1.0, *[length] * 3, *[length**2] * 6]))
    # Every parameter of the guess is of the order of its unit.
    assert np.abs(box.phi / scales).max() < 3.0
    with pytest.raises(iparam.InputError, match="payload with mass"):
        payload_scales(iparam.InertialParameters(0.0, np.zeros(3), np.zeros((3, 3))))


def test_a_motion_for_the_whole_arm_tells_all_base_parameters_apart() -> None:
    raw = TorqueInformation.of_robot(UR5E)
    information = dataclasses.replace(raw, column_scales=arm_scales(raw))
    problem = planning_problem(UR5E, information=information, num_harmonics=4)
    result = optimize_excitation(problem, seed=0, time_budget=4.0)
    assert all(margin.margin >= 0.0 for margin in result.margins)
    assert result.condition_number < 0.2 * min(start.initial for start in result.starts)
    # Looked at without the planner's code: the scaled base regressor of the sampled motion.
    motion = result.trajectory.sample(problem.fps)
    step = problem.subsample
    Y = iparam.joint_torque_regressor(UR5E, motion.q[::step], motion.dq[::step], motion.ddq[::step])
    base = iparam.base_parameters(UR5E)
    stacked = (Y[..., base.independent] * information.column_scales).reshape(-1, base.rank)
    assert np.linalg.cond(stacked) == pytest.approx(result.condition_number, rel=1e-6)
