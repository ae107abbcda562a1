"""Every constraint: its margins against hand computation, its gradients against central differences."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.excitation.constraints.collision import ToolDisplacementConstraint, capsule_collision, sphere_collision
from iparam.excitation.constraints.constraint import (
    Constraint,
    InfeasibleError,
    JointLimitConstraint,
    MotionArrays,
    worst_margin,
)
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.collision.shapes import PayloadBox, PlacedBox
from iparam.spatial import exp_so3

UR5E = iparam.load_robot("ur5e")
Q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
PAYLOAD = PayloadBox(np.array([0.05, 0.075, 0.10]), np.array([0.0, 0.0, 0.10]))
CELL = WorkCell(
    boxes=(Box([0.6, 0.2, 0.3], [0.1, 0.2, 0.15], exp_so3([0.2, -0.3, 0.4]), "crate"),),
    planes=(Plane([1.2, 0.0, 0.0], [-1.0, 0.2, 0.0], "wall"),),
)


def random_motion(samples: int = 40, seed: int = 0) -> MotionArrays:
    q, dq, ddq, jerk = np.random.default_rng(seed).normal(size=(4, samples, 6))
    return MotionArrays(Q0 + q, dq, ddq, jerk)


def every_constraint() -> list[Constraint]:
    names = UR5E.joint_names
    return [
        *(JointLimitConstraint.symmetric(order, 6.0 + order, names) for order in range(4)),
        JointLimitConstraint(0, np.full(6, -np.inf), np.full(6, 2.0), names),
        ToolDisplacementConstraint.from_start(UR5E, Q0, 0.8),
        *sphere_collision(UR5E, [0.06, 0.05, 0.045, 0.035, 0.035, 0.03], PAYLOAD),
        *capsule_collision(UR5E, PAYLOAD, CELL),
    ]


@pytest.mark.parametrize("constraint", every_constraint(), ids=lambda c: c.name)
def test_gradients_against_central_differences(constraint: Constraint) -> None:
    motion = random_motion()
    values, gradients = constraint.linearize(motion)
    assert values.shape == (40, len(constraint.labels))
    np.testing.assert_array_equal(values, constraint.margins(motion))
    step = 1e-6
    for order, gradient in zip(constraint.orders, gradients, strict=True):
        difference = np.empty((*values.shape, 6))
        for joint in range(6):
            ahead, behind = list(motion), list(motion)
            ahead[order], behind[order] = motion[order].copy(), motion[order].copy()
            ahead[order][:, joint] += step
            behind[order][:, joint] -= step
            change = constraint.margins(MotionArrays(*ahead)) - constraint.margins(MotionArrays(*behind))
            difference[..., joint] = change / (2 * step)
        # A distance has kinks where the closest features change; nearly all samples are away from them.
        error = np.abs(difference - gradient).max(axis=-1)
        assert np.mean(error < 1e-7) > 0.99
        assert np.median(error) < 1e-8


def test_joint_limits_by_hand() -> None:
    constraint = JointLimitConstraint(1, [-1.0, -np.inf], [2.0, 3.0], ("a", "b"))
    motion = MotionArrays(*(np.array([[0.5, 1.0], [-2.0, 5.0]]) for _ in range(4)))
    np.testing.assert_allclose(constraint.margins(motion), [[1.5, 1.5, 2.0], [-1.0, 4.0, -2.0]])
    assert constraint.labels == ("a lower", "a upper", "b upper")
    worst = worst_margin(constraint, motion, [0.0, 0.1])
    assert worst is not None
    assert (worst.margin, worst.time, worst.label) == (-2.0, 0.1, "b upper")
    assert str(worst) == "joint velocity: -2 rad/s at 0.100 s, b upper"


def test_what_is_said_of_a_displacement_is_the_limit_less_the_distance() -> None:
    ball = ToolDisplacementConstraint.from_start(UR5E, Q0, 0.1)
    turned = Q0 + np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    far = np.linalg.norm(iparam.forward_kinematics(UR5E, turned)[:3, 3] - iparam.forward_kinematics(UR5E, Q0)[:3, 3])
    motion = MotionArrays(turned[None], *np.zeros((3, 1, 6)))
    worst = worst_margin(ball, motion, [0.0])
    assert worst is not None
    assert worst.margin == pytest.approx(0.1 - far, abs=1e-12)


def test_limits_that_leave_no_room_and_bad_limits_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="'b' leave no room"):
        JointLimitConstraint(0, [0.0, 1.0], [1.0, 1.0], ("a", "b"))
    with pytest.raises(iparam.InputError, match="2 numbers without NaN"):
        JointLimitConstraint(0, [0.0, np.nan], [1.0, 1.0], ("a", "b"))
    with pytest.raises(iparam.InputError, match="order must be"):
        JointLimitConstraint(4, [0.0], [1.0], ("a",))
    with pytest.raises(iparam.InputError, match="displacement must be positive"):
        ToolDisplacementConstraint.from_start(UR5E, Q0, -1.0)
    with pytest.raises(iparam.InputError, match="half_extents must be positive"):
        PayloadBox([0.1, 0.0, 0.1], [0, 0, 0])


def test_the_reference_distances_of_document_000_at_the_start_pose() -> None:
    # By plain kinematics: joint origins from the link frames, the payload's box from tool0.
    poses = iparam.frame_poses(UR5E, Q0)
    origins = np.array([poses[joint.child][:3, 3] for joint in UR5E.moving_joints])
    tool = poses["tool0"]
    radii = np.array([0.06, 0.05, 0.045, 0.035, 0.035, 0.03])
    at_start = MotionArrays(*(Q0[None] if i == 0 else np.zeros((1, 6)) for i in range(4)))
    by_name = {c.name: c.margins(at_start)[0] for c in sphere_collision(UR5E, radii, PAYLOAD, clearance=0.02)}
    expected = [
        np.linalg.norm(origins[i] - origins[j]) - radii[i] - radii[j] - 0.02 for i in range(6) for j in range(i + 2, 6)
    ]
    np.testing.assert_allclose(by_name["robot-robot collision"], expected, atol=1e-12)
    np.testing.assert_allclose(by_name["robot-ground collision"], origins[:, 2] - radii - 0.01, atol=1e-12)
    center = tool[:3, :3] @ [0.0, 0.0, 0.1] + tool[:3, 3]
    sphere = np.linalg.norm([0.05, 0.075, 0.1])
    np.testing.assert_allclose(
        by_name["payload-robot collision"],
        np.linalg.norm(origins[:4] - center, axis=1) - radii[:4] - sphere - 0.02,
        atol=1e-12,
    )
    corners = [
        (tool[:3, :3] @ [x * 0.05, y * 0.075, 0.1 + z * 0.1] + tool[:3, 3])[2] - 0.01
        for x in (-1, 1)
        for y in (-1, 1)
        for z in (-1, 1)
    ]
    np.testing.assert_allclose(sorted(by_name["payload-ground collision"]), sorted(corners), atol=1e-12)


def test_capsule_distances_against_sampled_segments_and_boxes() -> None:
    motion = random_motion(6, seed=3)
    along = np.linspace(0.0, 1.0, 401)
    for constraint in capsule_collision(UR5E, PAYLOAD, CELL):
        margins = constraint.margins(motion)
        for k in range(6):
            bodies = [np.eye(4), *iparam.forward_pass(UR5E, motion.q[k], np.zeros(6), np.zeros(6)).poses]

            def segment(capsule, bodies=bodies) -> np.ndarray:
                pose = bodies[capsule.body]
                points = capsule.start + along[:, None] * (capsule.end - capsule.start)
                return points @ pose[:3, :3].T + pose[:3, 3]

            pairs = constraint.distances
            required = constraint.clearances
            for column, (i, j) in enumerate(pairs.capsule_pairs):
                a, b = pairs.capsules[i], pairs.capsules[j]
                gap = np.linalg.norm(segment(a)[:, None] - segment(b)[None], axis=2).min() - a.radius - b.radius
                assert margins[k, column] == pytest.approx(gap - required[column], abs=2e-3)
                assert margins[k, column] <= gap - required[column] + 1e-9
            first = len(pairs.capsule_pairs)
            for column, (i, j) in enumerate(pairs.box_pairs):
                capsule, box = pairs.capsules[i], pairs.boxes[j]
                gap = box_distance(segment(capsule), box, bodies).min() - capsule.radius - required[first + column]
                assert margins[k, first + column] == pytest.approx(gap, abs=2e-3)


def box_distance(points: np.ndarray, box: PlacedBox, bodies: list[np.ndarray]) -> np.ndarray:
    """Signed distance of points to a box, by the textbook formula."""
    pose = bodies[box.body] @ box.pose
    local = (points - pose[:3, 3]) @ pose[:3, :3]
    beyond = np.abs(local) - box.half_extents
    return np.linalg.norm(np.maximum(beyond, 0.0), axis=1) + np.minimum(beyond.max(axis=1), 0.0)
