"""Six kinds of load: phi = [m, m c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz] about the flange's origin, in its axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

Numbers = np.ndarray


def box(mass: float, size: Numbers, center: Numbers, turn: Numbers) -> Numbers:
    """(10,) of a solid box; ``turn`` is a rotation vector."""
    squares = np.asarray(size, dtype=float) ** 2
    R = Rotation.from_rotvec(turn).as_matrix()
    return _about_origin(mass, center, R @ np.diag(mass / 12.0 * (squares.sum() - squares)) @ R.T)


def shown(phi: Numbers) -> Numbers:
    """(..., 10) mass, centre of mass, inertia about it: the numbers that people are shown."""
    m, c = phi[..., :1], phi[..., 1:4] / phi[..., :1]
    i, j = np.triu_indices(3)
    parallel = m * ((i == j) * np.sum(c**2, axis=-1, keepdims=True) - c[..., i] * c[..., j])
    return np.concatenate([m, c, phi[..., 4:] - parallel], axis=-1)


def compact(heaviest: float, lightest: float, random: np.random.Generator) -> Numbers:
    mass = heaviest * random.uniform(0.3, 0.7)
    return box(mass, random.uniform(0.05, 0.12, 3), _ahead(random, 0.02, 0.07), random.normal(0, 0.5, 3))


def long_rod(heaviest: float, lightest: float, random: np.random.Generator) -> Numbers:
    length = random.uniform(0.2, 0.5)
    return box(heaviest * random.uniform(0.1, 0.3), [length, 0.02, 0.02], _ahead(random, 0.1, 0.06), _any(random))


def heavy(heaviest: float, lightest: float, random: np.random.Generator) -> Numbers:
    mass = heaviest * random.uniform(0.85, 1.0)
    return box(mass, random.uniform(0.08, 0.18, 3), _ahead(random, 0.02, 0.06), _any(random))


def light(heaviest: float, lightest: float, random: np.random.Generator) -> Numbers:
    mass = lightest * random.uniform(1.0, 1.5)
    return box(mass, random.uniform(0.03, 0.08, 3), _ahead(random, 0.01, 0.03), _any(random))


def gripper_with_part(heaviest: float, lightest: float, random: np.random.Generator) -> Numbers:
    """Two bodies: the one at the flange, the other between its fingers."""
    mass = heaviest * random.uniform(0.15, 0.4)
    gripper = box(mass, [0.08, 0.1, 0.11], np.array([0.0, 0.0, 0.06]), np.zeros(3))
    part = box(mass * random.uniform(0.3, 1.2), random.uniform(0.03, 0.15, 3), _ahead(random, 0.03, 0.15), _any(random))
    return np.asarray(gripper + part)


def plate(heaviest: float, lightest: float, random: np.random.Generator) -> Numbers:
    size = [random.uniform(0.15, 0.35), random.uniform(0.1, 0.25), 0.01]
    return box(heaviest * random.uniform(0.2, 0.5), size, _ahead(random, 0.05, 0.03), random.normal(0, 0.2, 3))


LOADS: dict[str, Callable[[float, float, np.random.Generator], Numbers]] = {
    "compact": compact,
    "long-rod": long_rod,
    "heavy": heavy,
    "light": light,
    "gripper-with-part": gripper_with_part,
    "plate": plate,
}


def _about_origin(mass: float, center: Numbers, about_center: Numbers) -> Numbers:
    c = np.asarray(center)
    about_origin = about_center + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate([[mass], mass * c, about_origin[np.triu_indices(3)]])


def _ahead(random: np.random.Generator, aside: float, far: float) -> Numbers:
    """A place in front of the flange: so far to the sides, and from half of ``far`` to twice as far ahead."""
    return np.array([*random.uniform(-aside, aside, 2), far * random.uniform(0.5, 2.0)])


def _any(random: np.random.Generator) -> Numbers:
    return np.asarray(Rotation.random(random_state=random).as_rotvec())
