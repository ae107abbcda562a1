"""How a rig differs from what its owner says, within stated tolerances, and what its sensor then measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.signal import butter, lfilter, lfilter_zi
from scipy.spatial.transform import Rotation

from independent.arms import Arm
from independent.motions import Path
from independent.rigid_body import Motion, flange_motion, joint_torques, load_rows

TOLERANCES: dict[str, dict[str, float]] = {
    # Standard deviations; a rig is drawn within two of them. Place: a drawing of the adapter, or a tape measure. Turn
    # and base: dowel pins, or eyes and a spirit level. Gains: a sensor's certificate, or its data sheet (1 to 1.5 % of
    # full scale). Zeros: a calibrated arm, or its homing marks. Delay: of the sensor's electronics, or of a field bus.
    "exact": dict.fromkeys(("place", "turn", "gain", "channel gain", "base", "zero", "delay"), 0.0),
    "calibrated": {
        "place": 2e-4,
        "turn": 1e-3,
        "gain": 2e-3,
        "channel gain": 1e-3,
        "base": 1e-3,
        "zero": 3e-4,
        "delay": 2e-4,
    },
    "lab": {
        "place": 1e-3,
        "turn": 5e-3,
        "gain": 1e-2,
        "channel gain": 5e-3,
        "base": 5e-3,
        "zero": 1e-3,
        "delay": 2e-3,
    },
}
"""[m], [rad], share of all channels, share of each channel, [rad], [rad], [s]."""

TILT = 0.02
"""Of a base that nobody levelled: a standard deviation [rad]."""

SIZES = {"place": 3, "turn": 3, "gain": 1, "channel gain": 6, "base": 2, "delay": 1}


@dataclass(frozen=True, eq=False)
class Deviations:
    """Of a rig from what is stated, one vector each, by the names of `TOLERANCES`."""

    parts: dict[str, np.ndarray]

    @classmethod
    def none(cls, arm: Arm) -> Deviations:
        return cls({name: np.zeros(size) for name, size in {**SIZES, "zero": len(arm.kinds)}.items()})

    @classmethod
    def drawn(cls, arm: Arm, preset: str, random: np.random.Generator) -> Deviations:
        """Normal, but never beyond two standard deviations; a delay is never negative."""
        parts = {}
        for name, zero in cls.none(arm).parts.items():
            parts[name] = TOLERANCES[preset][name] * np.clip(random.normal(size=zero.size), -2.0, 2.0)
        return cls({**parts, "delay": np.abs(parts["delay"])})

    def with_step(self, name: str, index: int, step: float) -> Deviations:
        changed = self.parts[name].copy()
        changed[index] += step
        return Deviations({**self.parts, name: changed})

    def steps(self, tolerances: dict[str, float]) -> Iterator[tuple[str, int, float]]:
        """Every number of them with its standard deviation, where it has one."""
        for name, values in self.parts.items():
            if sd := tolerances[name]:
                yield from ((name, index, sd) for index in range(values.size))


@dataclass(frozen=True, eq=False)
class Rig:
    """An arm, its motion, and what its sensor adds of its own.

    Attributes:
        arm, path: what moves, and how.
        time: (T,) when samples are taken [s].
        low_pass: corner of the sensor's filter [Hz], None without one.
        elastic: by how much softer than the table says the gears are; 0 for rigid ones.
    """

    arm: Arm
    path: Path
    time: np.ndarray
    low_pass: float | None = None
    elastic: float = 0.0
    _cache: dict[str, np.ndarray] = field(default_factory=dict)

    def link_motion(self, deviations: Deviations) -> Motion:
        """Of the flange, as the sensor sees it: late by the delay, joints off by their zeros."""
        q, dq, ddq = self.path(self.time - deviations.parts["delay"][0])
        return flange_motion(self.arm, q - deviations.parts["zero"], dq, ddq)

    def angles(self, phi: np.ndarray) -> np.ndarray:
        """(T, n) what exact encoders on the motors' side read: where the links are, and how far the gears give way."""
        q, dq, ddq = self.path(self.time)
        if self.elastic:
            load = joint_torques(self.arm, q, dq, ddq, np.array(self.arm.gravity), phi)
            q = q + self.elastic * load / self.arm.stiffness
        return q

    def wrench_rows(self, deviations: Deviations) -> np.ndarray:
        """(T, 6, 10) of what the sensor measures, without noise, for phi."""
        parts = deviations.parts
        gravity = Rotation.from_rotvec([*parts["base"], 0.0]).as_matrix() @ np.array(self.arm.gravity)
        rows = load_rows(self.link_motion(deviations), gravity)
        back = Rotation.from_rotvec(parts["turn"]).as_matrix().T
        force = rows[:, :3]
        torque = rows[:, 3:] - np.cross(parts["place"], force, axisb=1, axisc=1)
        seen = np.concatenate([back @ force, back @ torque], axis=1)
        seen = seen * ((1.0 + parts["gain"]) * (1.0 + parts["channel gain"]))[:, None]
        return seen if self.low_pass is None else self._filtered(seen)

    def _filtered(self, rows: np.ndarray) -> np.ndarray:
        rate = (self.time.size - 1) / (self.time[-1] - self.time[0])
        b, a = butter(2, min(self.low_pass or rate, 0.4 * rate), fs=rate)
        start = lfilter_zi(b, a)[:, None, None] * rows[:1]
        return np.asarray(lfilter(b, a, rows, axis=0, zi=start)[0])
