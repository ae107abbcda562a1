"""What no data of a force/torque sensor and joint angles can tell apart, proved and not assumed: then either cause may
be named, and only something else (a known mass, another clock, a look at the cell) decides.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

import iparam
from iparam.estimation import identify_payload
from iparam.spatial.transforms import rotation_from_rpy, transform_from
from mistakes import log_edits as edit
from mistakes.corpus import MISTAKES, SIZES
from mistakes.disturbances import SmallerMotion
from mistakes.workbench import ARMS, Workbench

GRAVITY = np.array([0.0, 0.0, -9.81])


def motion(robot: iparam.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, dq, ddq = np.random.default_rng(0).normal(size=(3, 40, robot.num_joints))
    return q, dq, ddq


def wrench(
    robot: iparam.Robot, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray, phi: np.ndarray, gravity: np.ndarray = GRAVITY
) -> np.ndarray:
    return iparam.wrench_regressor(robot, q, dq, ddq, gravity) @ phi


def test_the_corpus_has_every_cause_in_three_sizes() -> None:
    """The list of issue and docs; a cause that is added there is added here."""
    slugs = (
        "wrench-sign",
        "force-sign",
        "torque-sign",
        "units",
        "axis-order",
        "left-handed",
        "sensor-rotation",
        "sensor-offset",
        "base-axes",
        "robot-model",
        "joint-order",
        "joint-offset",
        "frozen-joint",
        "gravity-direction",
        "clock-rate",
        "delay",
        "low-pass",
        "held-samples",
        "sensor-gain",
        "channel-dead",
        "saturation",
        "re-zeroed",
        "contact",
        "load-changed",
        "loose-load",
        "external-force",
        "weight-compensated",
        "over-rated-load",
        "outliers",
        "too-little-motion",
    )
    assert sorted((each.slug, each.size) for each in MISTAKES) == sorted((s, size) for s in slugs for size in SIZES)


def test_a_common_gain_is_a_heavier_load() -> None:
    """Load, deviations and residuals grow alike: nothing that a residual is compared with stays behind."""
    bench = Workbench("ur5e", "compact")
    found = identify_payload(bench.sound, bench.robot, tolerances="exact")
    more = identify_payload(edit.scaled(bench.sound, [1.05] * 6), bench.robot, tolerances="exact")
    np.testing.assert_allclose(more.phi, 1.05 * found.phi, rtol=1e-6)
    np.testing.assert_allclose(more.standard_deviation.phi, 1.05 * found.standard_deviation.phi, rtol=1e-6)
    np.testing.assert_allclose(more.residual_rms.force, 1.05 * found.residual_rms.force, rtol=1e-6)
    assert more.assessment["verdict"] == found.assessment["verdict"] == "good"


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("factor", [1.02, 1.1, 2.0])
def test_a_fast_clock_is_a_heavier_load_whose_weight_is_compensated_in_part(arm: str, factor: float) -> None:
    bench = Workbench(arm, "slender")
    q, dq, ddq = motion(bench.robot)
    slow, heavier, still = (q, dq / factor, ddq / factor**2), factor**2 * bench.load.phi, np.zeros_like(q)
    truth = wrench(bench.robot, q, dq, ddq, bench.load.phi)
    in_less_gravity = wrench(bench.robot, *slow, heavier, GRAVITY / factor**2)
    weight = wrench(bench.robot, q, still, still, heavier)
    compensated = wrench(bench.robot, *slow, heavier) - (1.0 - 1.0 / factor**2) * weight
    np.testing.assert_allclose(in_less_gravity, truth, atol=1e-10)
    np.testing.assert_allclose(compensated, truth, atol=1e-10)


@pytest.mark.parametrize("arm", ARMS)
def test_an_offset_of_the_last_joint_is_a_turned_sensor(arm: str) -> None:
    bench = Workbench(arm, "slender")
    q, dq, ddq = motion(bench.robot)
    offset = np.zeros(bench.robot.num_joints)
    offset[-1] = 0.3
    turn = rotation_from_rpy([0.0, 0.0, 0.3])
    other = bench.load.transformed(transform_from(turn, np.zeros(3)))
    recorded = wrench(bench.robot, q + offset, dq, ddq, bench.load.phi)
    same = wrench(bench.robot, q, dq, ddq, other.phi)
    np.testing.assert_allclose(recorded[:, :3] @ turn.T, same[:, :3], atol=1e-10)
    np.testing.assert_allclose(recorded[:, 3:] @ turn.T, same[:, 3:], atol=1e-10)


@pytest.mark.parametrize("arm", ARMS)
def test_an_offset_of_the_first_joint_harms_nobody(arm: str) -> None:
    bench = Workbench(arm, "slender")
    q, dq, ddq = motion(bench.robot)
    offset = np.zeros(bench.robot.num_joints)
    offset[0] = 1.0
    np.testing.assert_allclose(
        wrench(bench.robot, q + offset, dq, ddq, bench.load.phi),
        wrench(bench.robot, q, dq, ddq, bench.load.phi),
        atol=1e-10,
    )


def test_a_balancer_at_the_centre_of_mass_compensates_the_weight() -> None:
    """In MuJoCo, against the edit of the corpus: what the controller subtracts, a cord over the load would carry."""
    bench = Workbench("ur5e", "compact")
    lifted = (np.array([0.0, 0.0, 0.5 * 9.81 * bench.load.mass]), bench.load.center_of_mass)
    physical = bench.scene(pull=lambda time, place, axes: lifted).run().signal("wrench").values
    up = bench.tool_axes(bench.exact)[:, 2, :]
    pull = -0.5 * 9.81 * bench.load.mass * up
    edited = bench.exact.signal("wrench").values + np.hstack([pull, np.cross(bench.load.center_of_mass, pull)])
    np.testing.assert_allclose(physical, edited, atol=0.05)


def test_at_rest_a_sensor_further_out_is_a_load_nearer_by() -> None:
    """Only accelerations tell the one from the other."""
    bench = Workbench("ur5e", "compact")
    q, dq, ddq = motion(bench.robot)
    place = np.array([0.0, 0.0, 0.04])
    moved = bench.load.transformed(transform_from(np.eye(3), -place))

    def at_sensor(values: np.ndarray) -> np.ndarray:
        return np.hstack([values[:, :3], values[:, 3:] - np.cross(place, values[:, :3])])

    still = np.zeros_like(q)
    resting = at_sensor(wrench(bench.robot, q, still, still, bench.load.phi))
    np.testing.assert_allclose(resting, wrench(bench.robot, q, still, still, moved.phi), atol=1e-10)
    moving = at_sensor(wrench(bench.robot, q, dq, ddq, bench.load.phi))
    assert np.abs(moving - wrench(bench.robot, q, dq, ddq, moved.phi)).max() > 0.1


def test_axes_that_are_exchanged_are_a_turn_or_a_turn_of_the_reversed_wrench() -> None:
    for order, even in (((1, 0, 2), False), ((0, 2, 1), False), ((2, 0, 1), True)):
        matrix = np.eye(3)[list(order)]
        assert np.linalg.det(matrix if even else -matrix) == pytest.approx(1.0)
    mirrored = np.diag([-1.0, 1.0, 1.0])
    np.testing.assert_allclose(-mirrored, rotation_from_rpy([np.pi, 0.0, 0.0]), atol=1e-12)


def test_a_smaller_motion_is_the_same_way() -> None:
    trajectory = Workbench("ur5e", "compact").scene().trajectory
    times = np.linspace(0.0, trajectory.duration, 7)
    whole, part = trajectory.evaluate(times), SmallerMotion(trajectory, 0.1).evaluate(times)
    np.testing.assert_allclose(part.q - part.q[0], 0.1 * (whole.q - whole.q[0]), atol=1e-12)
    np.testing.assert_allclose(part.ddq, 0.1 * whole.ddq)
