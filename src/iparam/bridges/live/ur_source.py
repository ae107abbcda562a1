"""`UrSource`: what a UR controller sends, as it comes. It only listens; a lost connection is made again."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from iparam.bridges.live.source import LiveSamples
from iparam.bridges.ur.record.controller_signals import Measures, WrenchChoice
from iparam.bridges.ur.record.recorder import ArmRecorder, RecorderSettings
from iparam.bridges.ur.rtde.packets import RTDE_PORT
from iparam.errors import InputError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot

LOOK = 0.004
"""Between two looks for new samples [s]."""


class UrSource:
    """Samples of a UR arm at the controller's rate.

    Args:
        host, port: of the controller.
        robot: the arm.
        wrench: field to make the wrench from; see `choose_conversion`.
        measures: whose wrench the controller reports.
        gravity: (3,) in base axes; None for 9.81 downwards [m/s^2].

    Raises:
        ArmConnectionError: there is no connection.
    """

    def __init__(
        self,
        host: str,
        robot: Robot,
        port: int = RTDE_PORT,
        *,
        wrench: WrenchChoice = "auto",
        measures: Measures = "reaction",
        gravity: ArrayLike | None = None,
    ) -> None:
        x, y, z = np.asarray(STANDARD_GRAVITY if gravity is None else gravity, dtype=float).tolist()
        self.robot, self.gravity, self._host = robot, (x, y, z), host
        self._recorder = ArmRecorder(RecorderSettings(host, robot, robot.name, port, wrench, measures))
        self._recorder.start()
        self.rate = self._recorder.rate
        self._count, self._again, self._connected = 0, 0, True
        self._notes: list[str] = []

    def read(self, timeout: float) -> LiveSamples | None:
        """See `LiveSource`; it never ends by itself.

        Raises:
            InputError: the controller sends no wrench.
        """
        recorder, end = self._recorder, time.monotonic() + timeout
        while True:
            self._count, at, signals = recorder.signals_since(self._count)
            if len(at) or time.monotonic() >= end:
                break
            time.sleep(LOOK)
        if recorder.failure is not None:
            raise recorder.failure
        self._note_connection()
        if not len(at):
            return LiveSamples(at, np.zeros((0, self.robot.num_joints)), np.zeros((0, 6)), at)
        if "wrench" not in signals:
            raise InputError(f"the controller {self._host} sends no wrench in newtons: without one nothing is followed")
        recorder.forget(self._count)
        return LiveSamples(at, signals["q"], signals["wrench"], np.full(len(at), time.monotonic()))

    def notes(self) -> list[str]:
        """See `LiveSource`."""
        notes, self._notes = self._notes, []
        return notes

    def close(self) -> None:
        """End the connection."""
        self._recorder.stop()

    def _note_connection(self) -> None:
        recorder, again = self._recorder, self._recorder.reconnections
        if self._connected and (again > self._again or not recorder.connected):
            self._notes.append(f"the connection to {self._host} was lost ({recorder.last_fault}); trying again")
            self._connected = False
        if again > self._again:
            self._notes.append(f"the connection to {self._host} was made again")
            self._again, self._connected = again, True
