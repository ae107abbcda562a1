"""`UrSource`: what a UR controller sends, as it comes. It only listens; a lost connection is made again."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.bridges.live.source import LiveSamples
from iparam.bridges.ur.record.controller_signals import (
    WRENCH_FIELDS,
    Measures,
    SignalConversion,
    WrenchChoice,
    choose_conversion,
)
from iparam.bridges.ur.record.sample_times import SampleTimes
from iparam.bridges.ur.rtde.client import ArmConnectionError, RtdeStream
from iparam.bridges.ur.rtde.packets import RTDE_PORT, RtdeError
from iparam.errors import InputError
from iparam.remarks import messages
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot

REQUIRED = ("timestamp", "actual_q")
OPTIONAL = ("actual_TCP_force", "ft_raw_wrench", "tcp_offset", "payload")
DECIDE_AFTER = 50
"""Rows from which the wrench's field is chosen."""

SILENCE = 2.0
"""Seconds without a package after which a connection counts as lost."""

AGAIN_AFTER = 0.5
"""Between two attempts to connect again [s]."""


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
        InputError: the controller sends no wrench.
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
        self.robot, self.gravity = robot, (x, y, z)
        self._host, self._port, self._wrench, self._measures = host, port, wrench, measures
        self._stream: RtdeStream | None = RtdeStream.open(host, REQUIRED, OPTIONAL, port=port)
        self.rate = self._stream.rate
        self._columns, self._width = dict(self._stream.columns), self._stream.width
        if not any(field in self._columns for field in WRENCH_FIELDS.values()):
            self.close()
            raise InputError(f"the controller {host} sends no wrench: an arm without a force sensor cannot be followed")
        if wrench != "auto" and WRENCH_FIELDS[wrench] not in self._columns:
            self.close()
            raise InputError(f"the controller {host} does not send {WRENCH_FIELDS[wrench]}", fix={"wrench": "auto"})
        self._times = SampleTimes(1.0 / self.rate)
        self._conversion: SignalConversion | None = None
        self._first: list[FloatArray] = []
        self._notes: list[str] = []
        self._received = self._tried = time.monotonic()

    def read(self, timeout: float) -> LiveSamples | None:
        """See `LiveSource`; it never ends by itself."""
        rows = self._rows(timeout)
        now = time.monotonic()
        placed = [self._times.place(float(stamp), now) for stamp in rows[:, self._columns["timestamp"]][:, 0]]
        self._times.gaps.clear()  # nobody asks for them, and there may be many in a long day
        kept = np.array([at is not None for at in placed], dtype=bool)
        rows = np.column_stack([np.array([at for at in placed if at is not None], dtype=float), rows[kept]])
        conversion = self._decided(rows)
        if conversion is None:
            return LiveSamples(np.zeros(0), np.zeros((0, self.robot.num_joints)), np.zeros((0, 6)), np.zeros(0))
        if self._first:
            rows, self._first = np.concatenate(self._first), []
        found = conversion.signals(rows[:, 1:])
        return LiveSamples(rows[:, 0], found["q"], found["wrench"], np.full(len(rows), now))

    def notes(self) -> list[str]:
        """See `LiveSource`."""
        notes, self._notes = self._notes, []
        return notes

    def close(self) -> None:
        """End the connection."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _rows(self, timeout: float) -> FloatArray:
        nothing = np.zeros((0, self._width))
        if self._stream is None:
            time.sleep(min(timeout, AGAIN_AFTER))
            self._connect_again()
            return nothing
        try:
            rows = self._stream.read(timeout)
        except (ArmConnectionError, RtdeError) as error:
            self._lost(str(error))
            return nothing
        now = time.monotonic()
        if len(rows):
            self._received = now
        elif now - self._received > SILENCE:
            self._lost(f"no data for {SILENCE:g} s")
        return rows if len(rows) else nothing

    def _lost(self, fault: str) -> None:
        self._notes.append(f"the connection to {self._host} was lost ({fault}); trying again")
        self.close()

    def _connect_again(self) -> None:
        now = time.monotonic()
        if now - self._tried < AGAIN_AFTER:
            return
        self._tried = now
        try:
            self._stream = RtdeStream.open(self._host, tuple(self._columns), port=self._port)
        except (ArmConnectionError, RtdeError):
            return
        self._columns, self._width = dict(self._stream.columns), self._stream.width
        self._times.reconnected()
        self._received = time.monotonic()
        self._notes.append(f"the connection to {self._host} was made again")

    def _decided(self, rows: FloatArray) -> SignalConversion | None:
        """How to convert, once there are rows enough to choose; they are kept until then."""
        if self._conversion is None:
            self._first.append(rows)
            first = np.concatenate(self._first)
            if len(first) < DECIDE_AFTER:
                return None
            self._conversion, notes = choose_conversion(
                self.robot, self._columns, first[:, 1:], self._wrench, self._measures
            )
            self._notes += messages(notes)
            if self._conversion.wrench is None:
                raise InputError(f"the controller {self._host} sends no wrench in newtons: {' '.join(messages(notes))}")
        return self._conversion
