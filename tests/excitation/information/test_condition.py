"""The condition number of a motion: numpy's own, of the stacked regressor, for every kind of motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.excitation import ConditionNumber, condition_number
from iparam.motion import MotionEstimate
from iparam.trajectory import ScaledMotion

DATA = Path(__file__).parents[2] / "data"
ROBOT = iparam.load_robot("ur5e")
PLANNED = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
SAMPLES = PLANNED.sample(100.0)
STACKED = iparam.wrench_regressor(ROBOT, SAMPLES.q, SAMPLES.dq, SAMPLES.ddq).reshape(-1, 10)


@pytest.mark.parametrize("motion", [
    PLANNED, SAMPLES, MotionEstimate(SAMPLES.time, SAMPLES.q, SAMPLES.dq, SAMPLES.ddq),
    (SAMPLES.q, SAMPLES.dq, SAMPLES.ddq), (SAMPLES.q.tolist(), SAMPLES.dq.tolist(), SAMPLES.ddq.tolist()),
])  # fmt: skip
def test_of_any_motion_both_numbers_are_those_of_numpy(motion) -> None:
    found = condition_number(ROBOT, motion)
    assert found.parameters == 10
    assert found.regressor == pytest.approx(np.linalg.cond(STACKED), rel=1e-10)
    assert found.gram == pytest.approx(np.linalg.cond(STACKED.T @ STACKED), rel=1e-10)


def test_gravity_and_rate_count() -> None:
    slow = PLANNED.sample(20.0)
    sideways = iparam.wrench_regressor(ROBOT, slow.q, slow.dq, slow.ddq, (9.81, 0.0, 0.0)).reshape(-1, 10)
    found = condition_number(ROBOT, PLANNED, (9.81, 0.0, 0.0), rate=20.0)
    assert found.regressor == pytest.approx(np.linalg.cond(sideways), rel=1e-10)
    assert found.regressor != pytest.approx(np.linalg.cond(STACKED), rel=1e-3)


def test_a_poor_motion_keeps_its_digits_and_one_at_rest_has_none() -> None:
    """Of a small motion it goes with one over the amplitude; A^T A holds nothing of the smallest one."""
    small, smallest = (condition_number(ROBOT, ScaledMotion(PLANNED, share)).regressor for share in (1e-4, 1e-10))
    assert smallest == pytest.approx(1e6 * small, rel=1e-3)
    still = np.zeros((50, 6))
    assert condition_number(ROBOT, (still + 1.0, still, still)) == ConditionNumber(np.inf)
    assert condition_number(ROBOT, (still[:1], still[:1], still[:1])).gram == np.inf


def test_an_arm_that_cannot_turn_its_tool_counts_what_it_can_tell(tmp_path: Path) -> None:
    joints = "".join(
        f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        f'</inertial></link><joint name="j{k}" type="{kind}"><parent link="{"base" if k == 1 else f"l{k - 1}"}"/>'
        f'<child link="l{k}"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-3" upper="3" velocity="3" effort="99"/></joint>'
        for k, kind in enumerate(("revolute", "revolute", "prismatic", "revolute"), start=1)
    )
    (tmp_path / "scara.urdf").write_text(f'<robot name="scara"><link name="base"/>{joints}</robot>')
    scara = iparam.load_robot(tmp_path / "scara.urdf")
    q, dq, ddq = np.random.default_rng(0).uniform(-1, 1, (3, 200, 4))
    found = condition_number(scara, (q, dq, ddq))
    values = np.linalg.svd(iparam.wrench_regressor(scara, q, dq, ddq).reshape(-1, 10), compute_uv=False)
    assert found.parameters == int((values > 1e-9 * values[0]).sum()) < 10
    assert found.regressor == pytest.approx(values[0] / values[found.parameters - 1], rel=1e-9)


@pytest.mark.parametrize("wrong", [
    (SAMPLES.q, SAMPLES.dq), (SAMPLES.q, SAMPLES.dq, SAMPLES.ddq[:-1]), SAMPLES.q, "t.json",
    (SAMPLES.q[:, :5], SAMPLES.dq[:, :5], SAMPLES.ddq[:, :5]), (SAMPLES.q[0], SAMPLES.dq[0], SAMPLES.ddq[0]),
])  # fmt: skip
def test_what_is_no_motion_of_the_arm(wrong) -> None:
    with pytest.raises(InputError, match=r"motion must be|shape \(T, 6\)"):
        condition_number(ROBOT, wrong)
