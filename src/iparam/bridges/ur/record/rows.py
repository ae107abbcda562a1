"""`GrowingRows`: packages that one thread appends and others read; and what they are as a `Recording`, with all that
is known to be wrong with it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ur.record.controller_signals import SignalConversion, sign_remark
from iparam.bridges.ur.record.sample_times import Gap, SampleTimes
from iparam.recording.channels import CHANNELS, default_frame
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.remarks import Remark, remark
from iparam.sensing.applied_setup import with_applied

BLOCK = 8192
"""Rows that memory is taken for at once."""


class GrowingRows:
    """A table in blocks: no row takes longer than another, however long a run is. Others wait for whoever appends.

    Args:
        width: columns.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._blocks: list[FloatArray] = []
        self._count = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._count

    def append(self, row: FloatArray) -> None:
        """Add a row (width,)."""
        with self._lock:
            place = self._count % BLOCK
            if place == 0:
                self._blocks.append(np.empty((BLOCK, self._width)))
            self._blocks[-1][place] = row
            self._count += 1

    def since(self, first: int) -> FloatArray:
        """A copy of the rows from number ``first`` on, (R, width)."""
        with self._lock:
            parts = [np.empty((0, self._width))]
            for number in range(first // BLOCK, len(self._blocks)):
                begin, end = first - number * BLOCK, self._count - number * BLOCK
                parts.append(self._blocks[number][max(begin, 0) : end])
            return np.concatenate(parts)

    def forget(self, first: int) -> None:
        """Free the memory of the rows before number ``first``, as far as possible."""
        with self._lock:
            for number in range(min(first // BLOCK, len(self._blocks) - 1)):
                self._blocks[number] = np.empty((0, self._width))

    def latest(self) -> FloatArray | None:
        """A copy of the last row, None if there is none."""
        with self._lock:
            return self._blocks[-1][(self._count - 1) % BLOCK].copy() if self._count else None


MOST_LISTED = 500
"""Gaps, events and messages in the metadata; a run with more has other problems."""


def recording_of_rows(
    robot_name: str,
    rows: FloatArray,
    conversion: SignalConversion,
    times: SampleTimes,
    facts: Mapping[str, Any],
    notes: Sequence[Remark],
) -> Recording:
    """The recording.

    Args:
        robot_name: the arm's catalogue name or the path of its URDF.
        rows: (R, 1 + width) time on the axis [s] and the package, R at least 1. The recording's time starts with them.
        conversion: of the packages.
        times: that placed them on the axis.
        facts: provenance, for the metadata.
        notes: what is already known to be doubtful.
    """
    begun = float(rows[0, 0])
    axis, packages = rows[:, 0] - begun, rows[:, 1:]
    gaps = [Gap(gap.start - begun, gap.stop - begun, gap.cause) for gap in times.gaps if gap.start >= begun]
    lost = sum(gap.lost_samples(times.period) for gap in gaps)
    values = conversion.signals(packages)
    remarks, signals = list(notes), {}
    tool = conversion.robot.tool_frame
    for name in [name for name in CHANNELS if name in values]:
        finite = np.isfinite(values[name]).all(axis=1)
        if not finite.all():
            remarks.append(remark("samples-dropped", signal=name, count=np.count_nonzero(~finite)))
        if finite.any():
            signals[name] = Signal(axis[finite], values[name][finite], CHANNELS[name].unit, default_frame(name, tool))
    wrong = sign_remark(conversion.robot, values, conversion.measures)
    remarks += [] if wrong is None else [wrong]
    remarks += _gap_notes(gaps, lost)
    if "payload" in conversion.columns and len(np.unique(packages[:, conversion.columns["payload"]])) > 1:
        remarks.append(remark("configured-payload-changed"))
    metadata = {
        **facts,
        "tool_frame": tool,
        "wrench_field": conversion.wrench,
        "accelerometer_turned": conversion.accelerometer_sign < 0.0,
        "configured_payload": configured_payload(conversion.columns, packages[0]),
        "gaps": [gap.as_json() for gap in gaps[:MOST_LISTED]],
        "gap_count": len(gaps),
        "lost_samples": lost,
        "repeated_samples": times.repeats,
    }
    return with_applied(Recording(robot_name, signals, metadata, tuple(remarks)), conversion.applied)


def configured_payload(columns: Mapping[str, slice], row: FloatArray) -> dict[str, Any] | None:
    """The payload that a controller says it is set to: mass [kg], centre of gravity [m], inertia [kg m^2] about it.

    None if it does not say. The inertia is [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] in the flange's axes.
    """
    names = {"mass": "payload", "center_of_gravity": "payload_cog", "inertia": "payload_inertia"}
    found: dict[str, Any] = {}
    for key, name in names.items():
        if name in columns and np.isfinite(row[columns[name]]).all():
            numbers = row[columns[name]].tolist()
            found[key] = numbers[0] if key == "mass" else numbers
    return found if "mass" in found else None


def _gap_notes(gaps: Sequence[Gap], lost: int) -> list[Remark]:
    if not gaps:
        return []
    longest = max(gaps, key=lambda gap: gap.stop - gap.start)
    found = [
        remark(
            "connection-gaps",
            count=len(gaps),
            lost=lost,
            longest=longest.stop - longest.start,
            start=longest.start,
            cause=longest.cause,
        )
    ]
    if any(gap.cause == "clock" for gap in gaps):
        found.append(remark("controller-clock-jumped"))
    return found
