"""Isaac's wrenches in the tool frame, by hand: units, frames, points, signs, order."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.bridges.isaac import StageUnits, contact_wrench_in_tool, joint_wrench_in_tool
from iparam.errors import InputError
from iparam.spatial import transform_from

QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # x of the joint is y of the tool


def test_a_joint_that_is_turned_and_shifted() -> None:
    """10 N along the joint's x, 0.2 m along the tool's x: 10 N along y, and 2 N m about z besides the joint's own."""
    found = joint_wrench_in_tool([10.0, 0.0, 0.0], [0.0, 0.0, 0.5], transform_from(QUARTER, [0.2, 0.0, 0.0]))
    np.testing.assert_allclose(found, [0.0, 10.0, 0.0, 0.0, 0.0, 2.5], atol=1e-15)


def test_at_rest_the_weight_is_carried_upwards() -> None:
    """Parent on child: a load of 1 kg that hangs still is pushed up by 9.81 N, as a recording has it."""
    assert joint_wrench_in_tool([0.0, 0.0, 9.81], np.zeros(3), np.eye(4))[2] == 9.81


def test_units_of_a_stage_in_centimetres_and_grams() -> None:
    units = StageUnits(meters=0.01, kilograms=0.001)
    assert units.newtons == pytest.approx(1e-5)  # dyn
    assert units.newton_meters == pytest.approx(1e-7)  # erg
    found = joint_wrench_in_tool([1e5, 0, 0], [0, 0, 1e7], transform_from(np.eye(3), [0, 0.1, 0]), units)
    np.testing.assert_allclose(found, [1.0, 0, 0, 0, 0, 0.9])
    with pytest.raises(InputError, match="meters must be positive, got 0"):
        StageUnits(0.0)


def test_a_net_contact_force_is_turned_from_the_world_into_the_tool() -> None:
    """The tool's x points along the world's y: a force along the world's y is along the tool's x."""
    tool = transform_from(QUARTER, [5.0, 6.0, 7.0])
    np.testing.assert_allclose(contact_wrench_in_tool([0.0, 3.0, 1.0], None, tool), [3.0, 0.0, 1.0])


def test_contacts_at_points_have_a_torque_about_the_tool() -> None:
    """Two forces of 1 N up, at 0.1 m to both sides of the tool's origin and one of them at 0.3 m more: 0.3 N m."""
    tool = transform_from(np.eye(3), [1.0, 0.0, 0.0])
    forces = [[0, 0, 1.0], [0, 0, 1.0], [9.0, 9.0, 9.0]]
    points = [[0.9, 0, 0], [1.4, 0, 0], [np.nan] * 3]
    np.testing.assert_allclose(contact_wrench_in_tool(forces, points, tool), [0, 0, 2.0, 0, -0.3, 0], atol=1e-12)


def test_a_pose_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="pose must be a rigid transform"):
        joint_wrench_in_tool(np.zeros(3), np.zeros(3), 2.0 * np.eye(4))
