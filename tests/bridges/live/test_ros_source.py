"""Topics of ROS 2 followed live: over real DDS, through stamps that go back, and with the wrong topics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
from bridges.ros2.conftest import joint_state, peer, ros_environment, wrench_stamped  # noqa: F401

from iparam.bridges.live.ros_source import RosSource
from iparam.errors import InputError
from iparam.robot.catalog import catalog_robot

START, PERIOD = 1_700_000_000_000_000_000, 5_000_000
ROBOT = catalog_robot("ur5e")


def angles(k: int) -> np.ndarray:
    return 0.001 * k + np.arange(6.0)


class Arm:
    """Publishes a joint state and a wrench each period until it is ended.

    Attributes:
        shift: that its stamps are late by [ns].
    """

    def __init__(self, publish: Callable[[int, int], None]) -> None:
        self.shift = 0
        self._publish, self._end = publish, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        k = 0
        while not self._end.wait(1e-9 * PERIOD):
            self._publish(k, START + k * PERIOD + self.shift)
            k += 1

    def end(self) -> None:
        self._end.set()
        self._thread.join()


@pytest.fixture
def arm(peer: Any, joint_state: Callable[..., Any], wrench_stamped: Callable[..., Any]) -> Iterator[Arm]:  # noqa: F811
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import JointState

    joints, wrenches = peer.publisher(JointState, "joint_states"), peer.publisher(WrenchStamped, "ft/wrench")

    def publish(k: int, stamp: int) -> None:
        joints.publish(joint_state(ROBOT.joint_names[::-1], stamp, angles(k)[::-1]))
        wrenches.publish(wrench_stamped(stamp, -np.arange(6.0) - k))

    arm = Arm(publish)
    yield arm
    arm.end()


def read(source: RosSource, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts, end = [], time.monotonic() + 60.0
    while sum(len(part.time) for part in parts) < count:
        assert time.monotonic() < end
        samples = source.read(0.1)
        assert samples is not None
        parts.append(samples)
    return tuple(np.concatenate([getattr(part, name) for part in parts]) for name in ("time", "q", "wrench"))


def test_samples_of_an_arm_whose_clock_is_set_back(arm: Arm) -> None:
    source = RosSource(ROBOT, wrench_topic="ft/wrench", measures="reaction", patience=60.0)
    try:
        assert source.rate == pytest.approx(200.0)
        at, q, wrench = read(source, 100)
        k = np.round(wrench[:, 0])  # the sensor's sign is turned
        np.testing.assert_allclose(q, np.array([angles(each) for each in k]), atol=1e-9)
        np.testing.assert_allclose(wrench, np.arange(6.0) + k[:, None], atol=1e-9)
        np.testing.assert_allclose(at - at[0], 1e-9 * PERIOD * (k - k[0]), atol=1e-6)
        assert source.notes() == []
        arm.shift = -3600 * 10**9
        end = time.monotonic() + 60.0
        last = at[-1]
        while not (said := source.notes()):
            assert time.monotonic() < end
            later = read(source, 1)[0]
            assert (np.diff([last, *later]) > 0.0).all()
            last = later[-1]
        assert "the stamps went back" in said[0]
    finally:
        source.close()


def test_what_is_missing_is_said_with_what_there_is(arm: Arm) -> None:
    with pytest.raises(InputError, match=r"/wrench.*/ft/wrench"):
        RosSource(ROBOT, patience=2.0)
    with pytest.raises(InputError, match=r"joint_states.*panda_joint1"):
        RosSource(_panda(), wrench_topic="ft/wrench", patience=2.0)
    with pytest.raises(InputError, match="refuses the topics 'joint_states' and 'a b'"):
        RosSource(ROBOT, wrench_topic="a b")


def _panda() -> Any:
    import iparam

    links = tuple(iparam.Link(f"panda_link{i}") for i in range(3))
    joints = tuple(
        iparam.Joint(f"panda_joint{i + 1}", "revolute", links[i].name, links[i + 1].name, np.eye(4)) for i in range(2)
    )
    return iparam.Robot("panda", joints, links, iparam.JointLimits.unlimited(2), "panda_link2")
