"""From the fields of a UR controller to the signals of a recording: names, frames and signs.

`actual_TCP_force` has base axes, and the configured payload is taken out; with the TCP at the flange it counts about
tool0's origin. `ft_raw_wrench` has the flange's axes and nothing taken out; where no sensor is fitted, and on some arms
that have one, it holds raw counts instead of newtons. Both are the wrench of the load on the arm, the opposite of what
a recording holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from iparam.arrays import FloatArray
from iparam.remarks import Remark, remark
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.sensing.correction import Correction

REQUIRED = ("timestamp", "actual_q", "actual_qd", "robot_mode", "safety_mode")
OPTIONAL = (
    "actual_current",
    "target_q",
    "target_qd",
    "target_qdd",
    "target_current",
    "target_moment",
    "actual_TCP_force",
    "ft_raw_wrench",
    "actual_tool_accelerometer",
    "actual_TCP_pose",
    "tcp_offset",
    "safety_status",
    "runtime_state",
    "target_speed_fraction",
    "payload",
    "payload_cog",
    "payload_inertia",
)

SIGNALS = {
    "q": "actual_q",
    "dq": "actual_qd",
    "current": "actual_current",
    "target_q": "target_q",
    "target_dq": "target_qd",
    "target_ddq": "target_qdd",
    "target_current": "target_current",
    "target_torque": "target_moment",
    "tcp_force": "actual_TCP_force",
    "raw_wrench": "ft_raw_wrench",
}
"""Signals that are a field as it comes."""

WrenchChoice = Literal["auto", "tcp-force", "raw"]
WrenchField = Literal["tcp-force", "raw"]
Measures = Literal["reaction", "action"]

LARGEST_FORCE, LARGEST_TORQUE = 2000.0, 400.0
"""Beyond these a raw wrench is in counts, not in N and N m: far above the range of every UR sensor."""

AT_REST = 0.01
"""Joint speed below which an arm counts as at rest [rad/s]."""

DOWNWARD = 5.0
"""Downward force at rest that says that a sign is wrong [N]: just above the accuracy of a UR5e's sensor."""

WRENCH_FIELDS: dict[WrenchField, str] = {"raw": "ft_raw_wrench", "tcp-force": "actual_TCP_force"}


@dataclass(frozen=True, eq=False)
class SignalConversion:
    """How the rows of a stream become signals.

    Attributes:
        robot: the arm; its forward kinematics turn base axes into the tool's.
        columns: field -> columns of a row.
        wrench: what the signal "wrench" is made from, None without one.
        measures: whose wrench the field is.
        accelerometer_sign: -1 where the accelerometer reads gravity downward.
        place: how the sensor sits in the tool frame.
    """

    robot: Robot
    columns: Mapping[str, slice]
    wrench: WrenchField | None
    measures: Measures
    accelerometer_sign: float
    place: Correction = field(default_factory=Correction)

    @property
    def applied(self) -> Correction:
        """What is done to the wrench, as a recording states it."""
        if self.wrench is None:
            return Correction()
        return replace(
            self.place, measures=self.measures, wrench_frame="base" if self.wrench == "tcp-force" else "tool"
        )

    def signals(self, rows: FloatArray) -> dict[str, FloatArray]:
        """Signal -> values (R, k) for rows (R, width), as `iparam.recording.CHANNELS` describes them."""
        found = {name: rows[:, self.columns[field]] for name, field in SIGNALS.items() if field in self.columns}
        if self.wrench is not None:
            measured = rows[:, self.columns[WRENCH_FIELDS[self.wrench]]]
            if self.wrench == "tcp-force":
                measured = _in_tool(self.robot, found["q"], measured)
            turned = measured @ self.place.frame_matrix().T if self.place else measured
            found["wrench"] = -turned if self.measures == "reaction" else turned
        if "actual_tool_accelerometer" in self.columns:
            found["accelerometer"] = self.accelerometer_sign * rows[:, self.columns["actual_tool_accelerometer"]]
        return found


def choose_conversion(
    robot: Robot,
    columns: Mapping[str, slice],
    rows: FloatArray,
    wrench: WrenchChoice = "auto",
    measures: Measures = "reaction",
    place: Correction | None = None,
) -> tuple[SignalConversion, tuple[Remark, ...]]:
    """How to convert a stream, from its first rows (R, width), and what is doubtful about it.

    Args:
        robot: the arm.
        columns: field -> columns of a row.
        rows: the first ones, R at least 1.
        wrench: the field to make the wrench from; "auto" takes the raw one where it is there and in newtons.
        measures: whose wrench the controller reports; see `iparam.sensing.wrench_source`.
        place: how the sensor sits in the tool frame; None for in it.
    """
    chosen, notes = _choose_wrench(columns, rows, wrench)
    if chosen == "tcp-force" and "payload" in columns and rows[-1, columns["payload"]][0] > 0.0:
        notes.append(remark("tcp-force-without-payload", mass=rows[-1, columns["payload"]][0]))
    if chosen == "tcp-force" and "tcp_offset" in columns and np.abs(rows[-1, columns["tcp_offset"]]).max() > 1e-6:
        notes.append(remark("tcp-not-at-flange"))
    turned = 1.0
    if "actual_tool_accelerometer" in columns:
        upward = _upward(robot, rows[:, columns["actual_q"]], rows[:, columns["actual_tool_accelerometer"]])
        turned = -1.0 if upward < 0.0 else 1.0
    place = Correction() if place is None else place
    return SignalConversion(robot, dict(columns), chosen, measures, turned, place), tuple(notes)


def _choose_wrench(
    columns: Mapping[str, slice], rows: FloatArray, wrench: WrenchChoice
) -> tuple[WrenchField | None, list[Remark]]:
    if wrench != "auto":
        return wrench, []
    notes: list[Remark] = []
    if "ft_raw_wrench" in columns:
        sizes = np.abs(np.median(rows[:, columns["ft_raw_wrench"]], axis=0))
        if (sizes[:3] <= LARGEST_FORCE).all() and (sizes[3:] <= LARGEST_TORQUE).all():
            return "raw", notes
        notes.append(remark("raw-wrench-not-newtons", largest=sizes.max()))
    if "actual_TCP_force" in columns:
        return "tcp-force", notes
    return None, [remark("no-wrench")]


def sign_remark(robot: Robot, signals: Mapping[str, FloatArray], measures: Measures) -> Remark | None:
    """A remark if the force points downward at rest, where it has to carry the load; None if not, or never at rest.

    Args:
        robot: the arm.
        signals: "q", "dq" and "wrench", of the same rows.
        measures: what the controller was taken to report when the wrench was made.
    """
    if "wrench" not in signals:
        return None
    resting = (np.abs(signals["dq"]) < AT_REST).all(axis=1) & np.isfinite(signals["wrench"]).all(axis=1)
    if not resting.any():
        return None
    upward = _upward(robot, signals["q"][resting], signals["wrench"][resting, :3])
    if upward >= -DOWNWARD:
        return None
    other = "action" if measures == "reaction" else "reaction"
    return remark("sign-pushes-down", force=-upward, measures=measures, fix={"measures": other})


def _upward(robot: Robot, q: FloatArray, vectors: FloatArray) -> float:
    """Mean of the base's z of vectors (R, 3) in the tool's axes; those that are not finite do not count."""
    finite = np.isfinite(vectors).all(axis=1) & np.isfinite(q).all(axis=1)
    if not finite.any():
        return 0.0
    rotation = forward_kinematics(robot, q[finite])[:, :3, :3]
    return float(np.einsum("tij,tj->ti", rotation, vectors[finite])[:, 2].mean())


def _in_tool(robot: Robot, q: FloatArray, wrench: FloatArray) -> FloatArray:
    """A wrench (R, 6) in base axes about the tool's origin, turned into the tool's axes."""
    rotation = forward_kinematics(robot, q)[:, :3, :3]
    parts = [np.einsum("tji,tj->ti", rotation, wrench[:, part]) for part in (slice(3), slice(3, 6))]
    return np.concatenate(parts, axis=1)
