"""When an arm is seen to stand still."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.bridges.arm_sight import AT_REST, FRESH, STILL, STILL_TIME, ArmSight


def test_an_arm_is_seen_by_new_joint_states_alone() -> None:
    arm, q = ArmSight(), np.zeros(6)
    for tick in range(100):
        arm.see(0.01 * tick, 1, q, None)  # a driver that has lost its arm repeats the last one
    assert not arm.fresh(0.99)
    assert not arm.at_rest(0.99)
    for tick in range(100, 200):
        arm.see(0.01 * tick, tick, q, None)
    assert arm.still_for(1.99) == pytest.approx(0.99)
    arm.see(2.0 + FRESH, 300, q, None)  # nobody knows where it was meanwhile
    assert arm.still_for(2.0 + FRESH) == 0.0


@pytest.mark.parametrize(("speed", "rest"), [(0.5 * AT_REST, True), (3 * AT_REST, False)])
@pytest.mark.parametrize("velocities", [True, False])
def test_an_arm_is_at_rest_up_to_a_speed(speed: float, rest: bool, velocities: bool) -> None:
    arm, seen = ArmSight(), False
    for tick in range(1, 200):
        q = np.full(6, 0.01 * tick * speed)
        arm.see(0.01 * tick, tick, q, np.full(6, speed) if velocities else None)
        seen |= arm.at_rest(0.01 * tick)
    assert seen is rest
    assert STILL == AT_REST * STILL_TIME
