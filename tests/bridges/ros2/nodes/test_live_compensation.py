"""What the compensation gives out is the contact, from the first sample to the last, whatever the stamps are like."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.bridges.ros2.joint_motion_filter import WELL, JointMotionFilter
from iparam.bridges.ros2.nodes.live_compensation import LiveCompensation, Mode

START, PERIOD = 1_700_000_000_000_000_000, 2_000_000
NOISE, FARTHEST = 5e-5, 7.0
ACCELERATION = 0.462
"""Standard deviation of an acceleration of the filter at 15 Hz and 500 Hz, by the Riccati equation [rad/s^2]."""

LOAD = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).phi
SPEEDS = np.array([0.8, 1.0, 1.3, 1.6, 0.0, 2.9])
HOME = np.array([0.2, -1.4, 1.2, -1.0, -1.5, 0.0])


def truth(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    angle = SPEEDS * time[:, None]
    return HOME + 0.4 * np.sin(angle), 0.4 * SPEEDS * np.cos(angle), -0.4 * SPEEDS**2 * np.sin(angle)


@pytest.mark.parametrize(("jitter", "seed"), [(1e-6, 0), (1e-4, 2), (1e-3, 0)])
def test_only_the_contact_is_left_of_every_sample(ur5e: iparam.Robot, jitter: float, seed: int) -> None:
    """With drop-outs, double and back-dated stamps, and numbers that are none; the arm moves all the time."""
    random = np.random.default_rng(seed)
    count = 10_000
    at = PERIOD * np.arange(count) + np.round(1e9 * jitter * random.uniform(-0.5, 0.5, count)).astype(int)
    q, dq, ddq = truth(1e-9 * at)
    contact = np.where(at[:, None] % 4_000_000_000 < 2_000_000_000, 0.0, [5.0, -3.0, 8.0, 0.2, -0.1, 0.3])
    wrench = iparam.wrench_regressor(ur5e, q, dq, ddq) @ LOAD + contact
    inertial = wrench - contact - resting(ur5e, q) @ LOAD
    live = LiveCompensation(ur5e, motion=JointMotionFilter(6, rate=500.0))
    live.set_load(LOAD)
    joints, wrenches = live.matcher.joints, live.matcher.wrenches
    compared = known = 0
    for k in range(count):
        if k % 2_000 in range(500, 500 + 10 * (1 + k // 2_000)) or k in range(9_000, 9_250):
            continue  # drop-outs of 20 to 100 ms, and one after which nothing is known of the motion
        if k in range(9_250, 9_400) and k % 45:
            continue  # nor much by the few samples that follow
        fault = k % 1_000 == 700
        stamp, settling = START + int(at[k]), live.settling
        measured = q[k] + NOISE * random.standard_normal(6)
        if fault:
            joints.add(stamp - 500_000_000, np.full(6, np.nan), None)
            joints.add(stamp - 500_000_000, measured, None)
            wrenches.add(stamp - 500_000_000, np.full(6, 1e9))
        joints.add(stamp, measured, None)
        wrenches.add(stamp, wrench[k])
        if fault:
            joints.add(stamp, measured + 1.0, None)
            wrenches.add(stamp, wrench[k] + 100.0)
        found = live.process()
        assert [each.stamp for each in found] == [stamp]
        error = found[0].wrench - contact[k]
        if live.settling > settling:  # the weight alone was taken out
            error = error - inertial[k]
            bound = np.full(6, 0.1)  # of angles that are off by their noise
            known = 0
        else:
            known += 1
            bound = FARTHEST * (WELL if known < 50 else 1.0) * deviation(ur5e, q[k], dq[k], ddq[k])
            compared += 1
        assert (np.abs(error) < bound).all(), (k, error, bound)
    assert compared > 0.8 * count
    assert live.withheld == 0


def test_what_no_arm_can_do_is_withheld(ur5e: iparam.Robot) -> None:
    """Angles that jump, a wrench, a load and a bias beyond anything: none of it leaves, and all else does."""
    live = LiveCompensation(ur5e, motion=JointMotionFilter(6, rate=500.0))
    weight = resting(ur5e, HOME) @ LOAD

    def send(k: int, q: np.ndarray = HOME, wrench: np.ndarray = weight) -> list[np.ndarray]:
        live.matcher.joints.add(START + k * PERIOD, q, None)
        live.matcher.wrenches.add(START + k * PERIOD, wrench)
        return [each.wrench for each in live.process()]

    live.set_load(LOAD)
    for k in range(300):
        assert np.abs(send(k)[0]).max() < 1e-6
    for k, quantity in ((300, "torque"), (302, "torque"), (304, "torque")):
        wrench = weight + 1e5 if k == 300 else weight
        live.set_load(1e6 * LOAD if k == 302 else LOAD)
        live.set_bias(np.full(6, -1e7 if k == 304 else 0.0))
        assert send(k, wrench=wrench) == []
        assert live.impossible is not None
        assert live.impossible.quantity == quantity
        live.set_load(LOAD)
        live.set_bias(np.zeros(6))
        assert np.abs(send(k + 1)[0]).max() < 1e-6
    assert live.withheld == 3
    given, quantities, there = [], set(), HOME + 3.0 * np.eye(6)[1]
    for k in range(306, 500):
        given += send(k, there, resting(ur5e, there) @ LOAD)
        quantities.add(live.impossible.quantity)
    assert quantities == {"velocity", "acceleration", "torque"}
    assert np.abs(given[-1]).max() < 0.1  # the new place is known by now
    fastest = 4.0 * np.pi * 15.0 * ur5e.limits.velocity.max()  # of any joint [rad/s^2]
    assert np.abs(given).max() < 2.0 * fastest * 1.0  # 2 kg within 1 m of that axis


def resting(robot: iparam.Robot, q: np.ndarray) -> np.ndarray:
    return iparam.wrench_regressor(robot, q, np.zeros_like(q), np.zeros_like(q))


def deviation(robot: iparam.Robot, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    """(6,) of the compensated wrench, by that of the accelerations."""
    there = iparam.wrench_regressor(robot, q, dq, ddq) @ LOAD
    moved = iparam.wrench_regressor(robot, *(np.tile(each, (6, 1)) for each in (q, dq)), ddq + np.eye(6)) @ LOAD
    return np.asarray(ACCELERATION * np.linalg.norm(moved - there, axis=0) + 1e-3)


@pytest.mark.parametrize("mode", ["static", "full"])
def test_a_load_and_a_wrench_that_no_joint_feels_are_withheld(ur5e: iparam.Robot, mode: Mode) -> None:
    """Upright, where the weight of any load and any vertical force take no torque."""
    upright = np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0])
    vertical = iparam.forward_kinematics(ur5e, upright)[2, :3]
    for mass, force, published in ((2.0, 0.0, True), (1e6, 0.0, False), (2.0, 7.5e7, False)):
        live = LiveCompensation(ur5e, mode, motion=JointMotionFilter(6, rate=500.0))
        live.set_load(iparam.InertialParameters.box(mass, (0.1, 0.1, 0.1)).phi)
        wrench = np.concatenate([(9.81 * 2.0 + force) * vertical, np.zeros(3)])
        for k in range(300):
            live.matcher.joints.add(START + k * PERIOD, upright, None)
            live.matcher.wrenches.add(START + k * PERIOD, wrench)
            assert bool(live.process()) is published
        assert live.withheld == (0 if published else 300)
