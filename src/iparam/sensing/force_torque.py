"""What data sheets say about wrist force/torque sensors, and a check of recordings against it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.errors import InputError
from iparam.recording import Recording
from iparam.remarks import Remark, remark
from iparam.robot.catalog import catalog_arm, robot_names
from iparam.rounding import percent

NEAR = 0.9
"""Share of the range from which a value counts as near its end."""


@dataclass(frozen=True)
class ForceTorqueSensor:
    """A six-axis sensor's figures, the same for all three axes.

    Attributes:
        name: e.g. "ur5e".
        force_range, torque_range: largest measurable magnitude of a component [N, N m].
        force_accuracy, torque_accuracy: largest error that the maker admits [N, N m].
        rate: samples a second [Hz].
    """

    name: str
    force_range: float
    torque_range: float
    force_accuracy: float
    torque_accuracy: float
    rate: float

    def __post_init__(self) -> None:
        for name in ("force_range", "torque_range", "force_accuracy", "torque_accuracy", "rate"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise InputError(f"{name} of sensor {self.name!r} must be positive, got {getattr(self, name)!r}")

    def range_remarks(self, recording: Recording) -> tuple[Remark, ...]:
        """A remark for each of force and torque that comes near the end of the range; () if none does."""
        if "wrench" not in recording.signals:
            return ()
        values = np.abs(recording.signals["wrench"].values)
        remarks = []
        for kind, columns, limit, unit in (
            ("force", values[:, :3], self.force_range, "N"),
            ("torque", values[:, 3:], self.torque_range, "N m"),
        ):
            near = (columns >= NEAR * limit).any(axis=1)
            if near.any():
                share = float(near.mean())
                remarks.append(
                    remark(
                        "sensor-near-range",
                        kind=kind,
                        largest=columns.max(),
                        unit=unit,
                        sensor=self.name,
                        limit=limit,
                        share=percent(share),
                        near=100.0 * NEAR,
                    )
                )
        return tuple(remarks)


def wrist_range_remarks(arm: str, recording: Recording) -> tuple[Remark, ...]:
    """`ForceTorqueSensor.range_remarks` of the sensor in the flange of that arm; () if none is known."""
    figures = catalog_arm(arm).wrist_sensor if arm in robot_names() else None
    return () if figures is None else ForceTorqueSensor(arm, **figures).range_remarks(recording)
