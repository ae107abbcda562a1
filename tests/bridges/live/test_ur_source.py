"""A simulated controller followed live: over the real protocol, through a lost connection."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from doubles.ur_controller.twin import TwinPorts, UrTwin

from iparam.bridges.live.ur_source import UrSource
from iparam.bridges.ur.rtde.client import ArmConnectionError
from iparam.robot.catalog import catalog_robot
from iparam.simulation import Payload

TILTED = np.radians([10.0, -80.0, 95.0, -60.0, -70.0, 20.0])


def address(number: int) -> str:
    return f"127.{os.getpid() // 250 % 250 + 1}.{os.getpid() % 250 + 1}.{200 + number}"


def test_angles_and_weight_of_an_arm_that_stands() -> None:
    robot = catalog_robot("ur5e")
    with UrTwin(
        robot, Payload.box(mass=2.0, size=(0.1, 0.15, 0.2)), host=address(1), ports=TwinPorts(), q=TILTED
    ) as twin:
        source = UrSource(twin.host, robot)
        try:
            count, deadline, before = 0, time.monotonic() + 60.0, -1.0
            while count < 300 and time.monotonic() < deadline:
                samples = source.read(0.1)
                assert samples is not None
                if len(samples.time):
                    assert samples.time[0] > before
                    assert (np.diff(samples.time) > 0.0).all()
                    before, count = float(samples.time[-1]), count + len(samples.time)
                    newest = samples
            assert count >= 300
            np.testing.assert_allclose(newest.q[-1], TILTED, atol=1e-3)
            force = np.linalg.norm(newest.wrench[:, :3].mean(axis=0))
            assert abs(force - 2.0 * 9.81) < 3.0
            assert source.rate == 500.0
        finally:
            source.close()


def test_nobody_there() -> None:
    with pytest.raises(ArmConnectionError, match="RTDE"):
        UrSource(address(2), catalog_robot("ur5e"))


def test_a_lost_connection_is_made_again_and_time_goes_on() -> None:
    robot = catalog_robot("ur5e")
    source: UrSource | None = None
    last, notes, counts = -1.0, [], []
    try:
        for _ in range(2):
            with UrTwin(robot, None, host=address(3), ports=TwinPorts(), q=TILTED) as twin:
                source = source or UrSource(twin.host, robot)
                count, deadline = 0, time.monotonic() + 60.0
                while count < 100 and time.monotonic() < deadline:
                    samples = source.read(0.1)
                    assert samples is not None
                    if len(samples.time):
                        assert samples.time[0] > last
                        last, count = float(samples.time[-1]), count + len(samples.time)
                counts.append(count)
            notes += source.notes()
        assert min(counts) >= 100
        assert any("was lost" in note for note in notes)
        assert any("was made again" in note for note in notes)
    finally:
        if source is not None:
            source.close()
