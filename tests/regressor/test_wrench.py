"""Regressors at their public entrance; their numbers are checked in laws/ and reference/."""

from __future__ import annotations

import numpy as np
import pytest

import iparam

UR5E = iparam.load_robot("ur5e")


def test_shapes_for_any_batch() -> None:
    q, dq, ddq = np.random.default_rng(0).normal(size=(3, 4, 2, 6))
    assert iparam.wrench_regressor(UR5E, q, dq, ddq).shape == (4, 2, 6, 10)
    assert iparam.joint_torque_regressor(UR5E, q, dq, ddq).shape == (4, 2, 6, 60)
    derivatives = iparam.wrench_regressor_derivatives(UR5E, q, dq, ddq)
    for field in (derivatives.by_q, derivatives.by_dq, derivatives.by_ddq):
        assert field.shape == (4, 2, 6, 6, 10)


def test_batch_equals_single_samples() -> None:
    q, dq, ddq = np.random.default_rng(1).normal(size=(3, 5, 6))
    batch = iparam.wrench_regressor_derivatives(UR5E, q, dq, ddq)
    for k in range(5):
        one = iparam.wrench_regressor_derivatives(UR5E, q[k], dq[k], ddq[k])
        np.testing.assert_array_equal(batch.by_q[k], one.by_q)
        np.testing.assert_array_equal(batch.by_dq[k], one.by_dq)
        np.testing.assert_array_equal(
            iparam.joint_torque_regressor(UR5E, q, dq, ddq)[k],
            iparam.joint_torque_regressor(UR5E, q[k], dq[k], ddq[k]),
        )


def test_a_link_does_not_load_the_joints_behind_it() -> None:
    q, dq, ddq = np.random.default_rng(2).normal(size=(3, 6))
    blocks = iparam.joint_torque_regressor(UR5E, q, dq, ddq).reshape(6, 6, 10)
    for joint in range(6):
        np.testing.assert_array_equal(blocks[joint, :joint], 0.0)
        assert np.abs(blocks[joint, joint]).max() > 0.0


def test_at_rest_only_mass_and_first_moments_can_be_seen() -> None:
    still = np.zeros(6)
    matrix = iparam.wrench_regressor(UR5E, [0.1, -1, 1, 0.4, 0.3, 0.2], still, still)
    np.testing.assert_array_equal(matrix[:, 4:], 0.0)
    np.testing.assert_allclose(np.linalg.norm(matrix[:3, 0]), 9.81, rtol=1e-14)


def test_weightless_and_at_rest_nothing_can_be_seen() -> None:
    still = np.zeros(6)
    assert not iparam.wrench_regressor(UR5E, still, still, still, gravity=(0, 0, 0)).any()
    assert not iparam.joint_torque_regressor(UR5E, still, still, still, gravity=(0, 0, 0)).any()


def test_seven_and_one_joint_arms_work() -> None:
    joint = iparam.Joint("j", iparam.JointKind.REVOLUTE, "a", "b", np.eye(4), [1, 0, 0])
    arm = iparam.Robot("one", (joint,), (iparam.Link("a"), iparam.Link("b")), iparam.JointLimits.unlimited(1), "b")
    assert iparam.joint_torque_regressor(arm, [0.1], [0.2], [0.3]).shape == (1, 10)
    # About x, the torque on a single link is Ixx ddq when weightless.
    expected = np.zeros(10)
    expected[4] = 0.3
    np.testing.assert_allclose(
        iparam.joint_torque_regressor(arm, [0.1], [0.2], [0.3], gravity=(0, 0, 0))[0], expected, atol=1e-15
    )


@pytest.mark.parametrize("bad", [np.zeros(7), [np.nan] * 6, np.zeros(6, complex)])
def test_bad_velocities_and_accelerations_are_refused(bad: object) -> None:
    good = np.zeros(6)
    for call in (iparam.wrench_regressor, iparam.joint_torque_regressor, iparam.wrench_regressor_derivatives):
        with pytest.raises(iparam.InputError, match=r"^dq must"):
            call(UR5E, good, bad, good)  # type: ignore[arg-type]
        with pytest.raises(iparam.InputError, match=r"^ddq must"):
            call(UR5E, good, good, bad)  # type: ignore[arg-type]
