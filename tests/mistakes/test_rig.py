"""The rig makes what it says: each disturbance against the undisturbed run, by mechanics written out here."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

import iparam
from iparam.motion.motion import MotionEstimate
from iparam.spatial.transforms import rotation_from_rpy, transform_from
from mistakes.disturbances import constant_force, dangling, remainder
from mistakes.workbench import ARMS, Workbench


def wrench_of(recording: object) -> np.ndarray:
    return recording.signal("wrench").values  # type: ignore[attr-defined]


@pytest.mark.parametrize("arm", ARMS)
def test_an_undisturbed_run_is_that_of_the_load(arm: str) -> None:
    bench = Workbench(arm, "compact")
    trajectory, exact = bench.scene().trajectory, bench.exact
    goal = trajectory.evaluate(exact.signal("q").time)
    assert np.abs(exact.signal("q").values - goal.q).max() < 1e-3
    known = MotionEstimate(goal.time, goal.q, goal.dq, goal.ddq)
    model = iparam.wrench_regressor(bench.robot, known.q, known.dq, known.ddq) @ bench.load.phi
    assert np.abs(wrench_of(exact) - model).max() < 0.02 * np.abs(model).max()


def test_a_sensor_that_is_turned_and_elsewhere() -> None:
    bench = Workbench("ur5e", "compact")
    pose = transform_from(rotation_from_rpy([0.1, -0.4, 0.9]), [0.02, -0.05, 0.1])
    values, true = wrench_of(bench.scene(sensor_pose=pose).run()), wrench_of(bench.exact)
    force = values[:, :3] @ pose[:3, :3].T
    torque = values[:, 3:] @ pose[:3, :3].T + np.cross(pose[:3, 3], force)
    np.testing.assert_allclose(np.concatenate([force, torque], axis=1), true, atol=1e-9)


def test_a_weight_over_a_pulley_is_missing_in_the_wrench() -> None:
    bench = Workbench("ur5e", "compact")
    pulled = bench.scene(pull=constant_force((0.0, 0.0, 5.0))).run()
    base = np.einsum("tij,tj->ti", bench.tool_axes(pulled), (wrench_of(bench.exact) - wrench_of(pulled))[:, :3])
    np.testing.assert_allclose(base, np.tile([0.0, 0.0, 5.0], (len(base), 1)), atol=0.05)


def test_what_fell_off_is_no_longer_weighed() -> None:
    bench = Workbench("ur5e", "compact")
    rest = remainder(bench.load, 0.4)
    values = wrench_of(bench.scene(later=((4.0, rest),)).run())
    alone = wrench_of(bench.scene(load=rest).run())
    np.testing.assert_allclose(values[:2000], wrench_of(bench.exact)[:2000], atol=1e-9)
    np.testing.assert_allclose(values[2500:], alone[2500:], atol=0.05)


def test_a_stiff_hinge_is_no_hinge_and_a_soft_one_is() -> None:
    bench = Workbench("ur5e", "compact")
    true = wrench_of(bench.exact)
    off = {}
    for hertz in (40.0, 2.0):
        fixed, part = dangling(bench.load, 0.3, hertz, 0.7)
        off[hertz] = np.abs(wrench_of(bench.scene(load=fixed, loose=part).run()) - true)[:, :3].max()
    assert off[2.0] > 50.0 * off[40.0], "a spring gives way with the inverse square of its frequency: 400 times"
