"""What pulls at a load, what happens to it, and motions that show little of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.spatial import InertialParameters
from iparam.trajectory.trajectory import TrajectorySamples
from mistakes.rig import LoosePart, Pull

TIP = np.array([0.03, 0.02, 0.09])
"""Where a load is touched, or a cable is tied to it [m, tool frame]."""


def bump(start: float, lasts: float, force: tuple[float, float, float]) -> Pull:
    """Something in the way: half a wave of a force in base axes [N], from ``start`` [s] on."""

    def pull(time: float, place: FloatArray, axes: FloatArray) -> tuple[FloatArray, FloatArray]:
        inside = 0.0 <= time - start <= lasts
        return np.array(force) * (np.sin(np.pi * (time - start) / lasts) if inside else 0.0), TIP

    return pull


def constant_force(force: tuple[float, float, float]) -> Pull:
    """A weight over a pulley: the same force in base axes [N] all the time, also before the run."""
    return lambda time, place, axes: (np.array(force), TIP)


def cable(stiffness: float, anchor: tuple[float, float, float], slack: float = 0.2) -> Pull:
    """An elastic cable from a point of the cell [m, base] to the load: it pulls when longer than ``slack`` [N/m, m]."""

    def pull(time: float, place: FloatArray, axes: FloatArray) -> tuple[FloatArray, FloatArray]:
        way = np.array(anchor) - (place + axes @ TIP)
        length = float(np.linalg.norm(way))
        return stiffness * max(length - slack, 0.0) / length * way, TIP

    return pull


def remainder(load: InertialParameters, share: float) -> InertialParameters:
    """What is left when a piece falls off: ``share`` of the mass, with a centre that moves towards the flange."""
    shift = np.eye(4)
    shift[:3, 3] = -0.15 * (1.0 - share) * load.center_of_mass
    return InertialParameters.from_phi(share * load.phi).transformed(shift)


def slipped(load: InertialParameters, way: tuple[float, float, float]) -> InertialParameters:
    """The load in another place, shifted by ``way`` [m]."""
    shift = np.eye(4)
    shift[:3, 3] = way
    return load.transformed(shift)


def dangling(
    load: InertialParameters, share: float, hertz: float, damping: float
) -> tuple[InertialParameters, LoosePart]:
    """The fixed and the loose part of a load: ``share`` of it swings about an edge between flange and centre.

    Args:
        load: as a whole, at rest.
        share: of its mass that is loose.
        hertz: frequency of the hinge's spring with the loose part [Hz].
        damping: ratio of it.
    """
    fixed = InertialParameters.from_phi((1.0 - share) * load.phi)
    part = InertialParameters.from_phi(share * load.phi)
    hinge = 0.4 * load.center_of_mass
    arm = load.center_of_mass - hinge
    axis = np.cross(arm, [1.0, 0.3, 0.2])
    axis /= np.linalg.norm(axis)
    about = part.inertia_about_com + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    moment, omega = float(axis @ about @ axis), 2.0 * np.pi * hertz
    loose = LoosePart(part, tuple(hinge), tuple(axis), moment * omega**2, 2.0 * damping * moment * omega)
    return fixed, loose


@dataclass(frozen=True)
class SmallerMotion:
    """A motion with the same times and a share of the way, from the start pose."""

    trajectory: Any
    share: float

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.trajectory.duration)

    def evaluate(self, time: FloatArray) -> TrajectorySamples:
        """Its samples."""
        whole, start, share = self.trajectory.evaluate(time), self.trajectory.evaluate(np.zeros(1)).q, self.share
        way = start + share * (whole.q - start)
        return TrajectorySamples(whole.time, way, share * whole.dq, share * whole.ddq, share * whole.jerk)
