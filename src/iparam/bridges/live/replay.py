"""`ReplaySource`: a recording as if the arm moved now."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.live.source import LiveSamples
from iparam.errors import InputError
from iparam.recording.alignment import align
from iparam.recording.followers import joint_count, with_followers
from iparam.recording.recording import Recording
from iparam.recording.statements import recorded_gravity
from iparam.robot.model import Robot
from iparam.sensing.wrench_source import SensorWrench


class ReplaySource:
    """Gives each sample of a recording when it was measured, counted from the first call.

    Args:
        recording: with joint angles and wrench; both are given at the times of the wrench.
        robot: the arm.
        clock, sleep: of the time that passes [s]; those of this computer if not given.
    """

    def __init__(
        self,
        recording: Recording,
        robot: Robot,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        for name in ("q", "wrench"):
            if not recording.has(name):
                raise InputError(f"a load is found from joint angles and wrench, and this recording has no {name}")
        recording = with_followers(recording, robot)
        width = recording.signal("q").width
        if width != robot.num_joints:
            raise InputError(f"the recording has the angles of {width} joints, and {joint_count(robot)}")
        used = {"q": recording.signal("q"), "wrench": SensorWrench().read(recording)}
        samples = align(dataclasses.replace(recording, signals=used), ["wrench", "q"])
        self.robot, self.rate = robot, recording.rate("wrench")
        x, y, z = recorded_gravity(recording).tolist()
        self.gravity = (x, y, z)
        self._time = samples.time - samples.time[0]
        self._q, self._wrench = samples["q"], samples["wrench"]
        self._notes = [one.message for one in samples.remarks]
        self._clock, self._sleep = clock, sleep
        self._due: FloatArray | None = None  # when each is there, on the clock
        self._given = 0

    def read(self, timeout: float) -> LiveSamples | None:
        """See `LiveSource`."""
        if self._given == len(self._time):
            return None
        if self._due is None:
            self._due = self._clock() + self._time
        wait = float(self._due[self._given]) - self._clock()
        if wait > 0.0:
            self._sleep(min(wait, timeout))
        last = int(np.searchsorted(self._due, self._clock(), side="right"))
        part = slice(self._given, max(last, self._given))
        self._given = part.stop
        return LiveSamples(self._time[part], self._q[part], self._wrench[part], self._due[part])

    def notes(self) -> list[str]:
        """See `LiveSource`."""
        notes, self._notes = self._notes, []
        return notes

    def close(self) -> None:
        """Nothing is open."""
