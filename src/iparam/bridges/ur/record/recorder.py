"""`ArmRecorder`: streams a controller's fields into a recording, through lost connections and clocks that jump."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ur.record.controller_signals import (
    OPTIONAL,
    REQUIRED,
    WRENCH_FIELDS,
    Measures,
    SignalConversion,
    WrenchChoice,
    choose_conversion,
)
from iparam.bridges.ur.record.rows import MOST_LISTED, GrowingRows, recording_of_rows
from iparam.bridges.ur.record.sample_times import SampleTimes
from iparam.bridges.ur.record.spill_file import SpillFile
from iparam.bridges.ur.rtde.client import ArmConnectionError, RtdeStream
from iparam.bridges.ur.rtde.controller_state import ControllerSample, robot_mode_name, safety_name
from iparam.bridges.ur.rtde.packets import RTDE_PORT, RtdeError
from iparam.bridges.ur.rtde.simulated_time import SIMULATED_TIME
from iparam.errors import InputError, IparamError
from iparam.recording.recording import Recording
from iparam.remarks import Remark
from iparam.robot.model import Robot
from iparam.sensing.applied_setup import APPLIED
from iparam.sensing.correction import Correction


@dataclass(frozen=True)
class RecorderSettings:
    """What to record, and how.

    Attributes:
        host: the controller's name or address.
        robot: the arm.
        robot_name: how the recording names it: a catalogue name or the path of its URDF.
        port: of RTDE.
        wrench: field to make the wrench from.
        measures: whose wrench the controller reports.
        give_up_after: time without a connection after which the recording ends [s].
        place: how the sensor sits in the tool frame, for one that does not sit in it.
    """

    host: str
    robot: Robot
    robot_name: str
    port: int = RTDE_PORT
    wrench: WrenchChoice = "auto"
    measures: Measures = "reaction"
    give_up_after: float = float("inf")
    place: Correction = field(default_factory=Correction)


SILENCE = 2.0
"""Seconds without a package after which a connection counts as lost."""

BACK_OFF = (0.1, 0.2, 0.5, 1.0, 2.0)
"""Waits before attempts to connect again, the last one over and over [s]."""

SPILL_EVERY = 1.0
"""Seconds between writes to the spill file."""

TEXT_BYTES, FILE_BYTES = 20, 9
"""Of a number with all its digits in a row of text, and in a Parquet file: at most, but for their ends."""

DECIDE_AFTER = 50
"""Rows from which the wrench's field and the signs are chosen."""

UR_JOINTS = 6

_POLL = 0.1


class ArmRecorder:
    """Records in threads of its own. `start` it, look at `latest` as you please, and `stop` it.

    Args:
        settings: what and how.
        spill: the file that keeps the rows safe, or None.

    Attributes:
        connected: whether there is a connection now.
        reconnections: how often it was lost and made anew.
        failure: why the recording ended by itself, or None.
        last_fault: what was wrong with the connection when it was last lost, "" if it never was.
        spill_fault: why what comes now is in memory alone, None if the spill file keeps it.
    """

    def __init__(self, settings: RecorderSettings, spill: SpillFile | None = None) -> None:
        self._settings = settings
        self._spill = spill
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._conversion: SignalConversion | None = None
        self._deciding = threading.Lock()
        self._notes: list[Remark] = []
        self._events: list[dict[str, Any]] = []
        self._state: tuple[int, int] | None = None
        self._received = 0.0
        self._started_at = datetime.now(UTC)
        self.connected = False
        self.reconnections = 0
        self.failure: IparamError | None = None
        self.last_fault = ""
        self.spill_fault: str | None = None

    def start(self) -> None:
        """Connect and begin. Raises if there is no connection at all."""
        settings = self._settings
        if settings.robot.num_joints != UR_JOINTS:
            raise InputError(
                f"{settings.robot_name} has {settings.robot.num_joints} joints; a UR arm has {UR_JOINTS}: name the arm",
                argument="robot",
            )
        self._stream = RtdeStream.open(settings.host, REQUIRED, (*OPTIONAL, SIMULATED_TIME), port=settings.port)
        if settings.wrench != "auto" and WRENCH_FIELDS[settings.wrench] not in self._stream.columns:
            self._stream.close()
            raise InputError(
                f"the controller (software {self._stream.version}) does not send {WRENCH_FIELDS[settings.wrench]}",
                fix={"wrench": "auto"},
            )
        self.columns = dict(self._stream.columns)
        self.version = self._stream.version
        self._missing = tuple(name for name in self._stream.missing if name != SIMULATED_TIME)
        self._times = SampleTimes(1.0 / self._stream.rate)
        self._rows = GrowingRows(1 + self._stream.width)  # the time on the axis, then the package
        self._started_at = datetime.now(UTC)
        self._received = time.monotonic()
        self.connected = True
        for target in (self._receive, self._write):
            thread = threading.Thread(target=target, name=f"arm recorder: {target.__name__}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """End the threads; what was recorded stays, in memory and in the spill file."""
        self._stop.set()
        if not self._threads:
            return  # it never began, or has been stopped
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._spill_rows()
        if self._spill is not None:
            self._spill.close()

    @property
    def robot(self) -> Robot:
        """The arm."""
        return self._settings.robot

    @property
    def running(self) -> bool:
        """Whether it still records: started, not stopped, not failed."""
        return bool(self._threads) and self.failure is None and not self._stop.is_set()

    @property
    def num_samples(self) -> int:
        """Samples so far."""
        return len(self._rows)

    @property
    def duration(self) -> float:
        """Time of the last sample [s]."""
        return self._times.last or 0.0

    @property
    def rate(self) -> float:
        """Packages a second that were asked for [Hz]."""
        return self._stream.rate

    @property
    def bytes_per_second(self) -> float:
        """Room that a second takes on disk: as text while it is recorded, and then as a file [bytes/s]."""
        numbers = 1 + sum(field.stop - field.start for field in self.columns.values()) + 6  # and the wrench
        return float(self.rate * numbers * (TEXT_BYTES + FILE_BYTES))

    @property
    def silence(self) -> float:
        """Time since the last package came [s]."""
        return time.monotonic() - self._received

    @property
    def simulated_time(self) -> float | None:
        """The last package's time of a controller that has simulated time [s]; None of one that has not: a real one."""
        if SIMULATED_TIME not in self.columns:
            return None
        return float(self.first_sample().row[self.columns[SIMULATED_TIME]][0])

    def latest(self) -> ControllerSample | None:
        """The last package, None before the first."""
        row = self._rows.latest()
        return None if row is None else ControllerSample(self._received, float(row[0]), self.columns, row[1:])

    def first_sample(self, timeout: float = SILENCE) -> ControllerSample:
        """Wait for a package."""
        deadline = time.monotonic() + timeout
        while (sample := self.latest()) is None:
            if time.monotonic() > deadline or self.failure is not None:
                raise ArmConnectionError(
                    f"{self._settings.host} accepted the stream but sent no data within {timeout:g} s"
                )
            time.sleep(0.01)
        return sample

    def signals_since(self, count: int) -> tuple[int, FloatArray, dict[str, FloatArray]]:
        """The samples after the first ``count``: how many there are now, their times (R,) [s] and their signals.

        There are none as long as too few have come to know how they are to be read.
        """
        rows = self._rows.since(count)
        if not len(rows) or (self._conversion is None and count + len(rows) < DECIDE_AFTER):
            return count, np.empty(0), {}
        with self._deciding:
            conversion = self._decided(self._rows.since(0)[:, 1:] if self._conversion is None else rows[:, 1:])
        return count + len(rows), rows[:, 0], conversion.signals(rows[:, 1:])

    def forget(self, count: int) -> None:
        """Free the memory of the first ``count`` samples: nobody asks for them again."""
        self._rows.forget(count)

    def recording(self, since: float = 0.0, **metadata: Any) -> Recording:
        """What was recorded so far, as a recording.

        Args:
            since: time from which on samples belong to it [s]; the recording's own time starts there.
            **metadata: entries to add to the recording's own.
        """
        rows = self._rows.since(0)
        rows = rows[rows[:, 0] >= since]
        if not len(rows):
            raise ArmConnectionError(f"{self._settings.host} sent no data")
        conversion = self._decided(rows[:, 1:])
        facts = {
            "source": "UR controller, RTDE",
            "host": self._settings.host,
            "controller_version": str(self.version),
            "started_at": self._started_at.isoformat(timespec="milliseconds"),
            "rate": self.rate,
            "fields": [name for name in self.columns if name != SIMULATED_TIME],
            "missing_fields": list(self._missing),
            "wrench_measures": self._settings.measures,
            "reconnections": self.reconnections,
            "controller_events": [
                {**event, "time": event["time"] - rows[0, 0]} for event in self._events if event["time"] >= since
            ],
            "controller_messages": self._stream.messages[:MOST_LISTED],
            **metadata,
        }
        return recording_of_rows(self._settings.robot_name, rows, conversion, self._times, facts, self._notes)

    def _decided(self, rows: FloatArray) -> SignalConversion:
        if self._conversion is None:
            settings = self._settings
            self._conversion, notes = choose_conversion(
                settings.robot, self.columns, rows, settings.wrench, settings.measures, settings.place
            )
            self._notes += notes
        return self._conversion

    def _receive(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    self._take(self._stream.read(_POLL))
                except (ArmConnectionError, RtdeError) as error:
                    self._reconnect(str(error))
                else:
                    if self.silence > SILENCE:
                        self._reconnect(f"no data for {SILENCE:g} s")
        except IparamError as error:
            self.failure = error
        finally:
            self.connected = False
            self._stream.close()

    def _take(self, rows: FloatArray) -> None:
        if not len(rows):
            return
        # One reading of the clock for all that came at once: only jumps of a second matter to it.
        received = time.monotonic()
        stamps = rows[:, self.columns["timestamp"]][:, 0].tolist()
        for stamp, row in zip(stamps, rows, strict=True):
            at = self._times.place(stamp, received)
            if at is not None:
                self._rows.append(np.concatenate([[at], row]))
                self._note_state(at, row)
        self._received = received

    def _note_state(self, at: float, row: FloatArray) -> None:
        safety = self.columns.get("safety_status", self.columns["safety_mode"])
        modes = row[self.columns["robot_mode"]][0], row[safety][0]
        if not np.isfinite(modes).all():
            return
        state = int(modes[0]), int(modes[1])
        if state != self._state:
            if len(self._events) < MOST_LISTED:
                names = {"robot": robot_mode_name(state[0]), "safety": safety_name(state[1])}
                self._events.append({"time": at, **names})
            self._state = state

    def _reconnect(self, fault: str) -> None:
        """Try again until it works, the recording is stopped, or it is time to give up."""
        self.connected = False
        self.last_fault = fault
        messages = self._stream.messages
        self._stream.close()
        lost = time.monotonic()
        attempt = 0
        while not self._stop.wait(BACK_OFF[min(attempt, len(BACK_OFF) - 1)]):
            attempt += 1
            try:
                stream = RtdeStream.open(self._settings.host, tuple(self.columns), port=self._settings.port)
            except (ArmConnectionError, RtdeError) as error:
                if time.monotonic() - lost > self._settings.give_up_after:
                    raise ArmConnectionError(
                        f"the connection was lost ({fault}) and could not be made again within "
                        f"{self._settings.give_up_after:g} s: {error}"
                    ) from None
                continue
            stream.messages = messages + stream.messages
            self._stream = stream
            self._times.reconnected()
            self.reconnections += 1
            self._received = time.monotonic()
            self.connected = True
            return

    def _write(self) -> None:
        while not self._stop.wait(SPILL_EVERY):
            self._spill_rows()

    def _spill_rows(self) -> None:
        """Write what has come since the last time. What could not be written is tried again the next time."""
        if self._spill is None:
            return
        rows = self._rows.since(self._spill.rows)
        if not len(rows) or (self._conversion is None and len(rows) < DECIDE_AFTER and not self._stop.is_set()):
            return
        with self._deciding:
            conversion = self._decided(rows[:, 1:])
        try:
            stated = {APPLIED: conversion.applied.to_document()} if conversion.applied else {}
            self._spill.append(rows[:, 0], conversion.signals(rows[:, 1:]), stated)
        except (ValueError, IparamError) as error:
            self.spill_fault = str(error)
        else:
            self.spill_fault = None
