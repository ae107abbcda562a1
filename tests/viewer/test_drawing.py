from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.robot.gravity import MOUNTINGS, mounted_gravity
from iparam.viewer.drawing import linear, upright
from iparam.viewer.view import ViewInput, view_of


@pytest.mark.parametrize("mounting", [*MOUNTINGS, (0.0, 90.0, 0.0), (31.0, -40.0, 170.0)])
def test_up_is_against_gravity(mounting: str | tuple[float, float, float]) -> None:
    gravity = mounted_gravity(mounting)
    axes = upright(gravity)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    np.testing.assert_allclose(axes[2] * 9.81, -gravity, atol=1e-9)


def test_an_upright_arm_is_seen_in_its_own_axes() -> None:
    np.testing.assert_array_equal(upright(np.array([0.0, 0.0, -9.81])), np.eye(3))


def test_gravity_is_that_of_the_motion_unless_it_is_given(ur5e: iparam.Robot, plan: iparam.TrajectoryFile) -> None:
    hanging = dataclasses.replace(plan, gravity=np.array([0.0, 0.0, 9.81]))
    assert view_of(ViewInput(robot=ur5e, plans=[("plan.json", hanging)])).gravity[2] == 9.81
    assert view_of(ViewInput(robot=ur5e, plans=[("plan.json", plan)])).gravity[2] == -9.81
    given = ViewInput(robot=ur5e, plans=[("plan.json", plan)], gravity=np.array([0.0, -9.81, 0.0]))
    np.testing.assert_array_equal(view_of(given).gravity, [0.0, -9.81, 0.0])


def test_colours_of_arrows_give_the_light_of_the_sRGB_that_is_meant() -> None:
    assert linear((0, 128, 255)) == (0, 55, 255)  # a mid grey gives 21.6 % of the light
