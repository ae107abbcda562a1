"""Shapes of known form, and the rows that data of a body would give."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import iparam
from iparam.arrays import FloatArray
from iparam.estimation import PayloadProblem, Shape
from iparam.regressor.wrench import body_regressor

G = 9.81


def box_points(size: FloatArray, center: FloatArray, count: int = 8) -> FloatArray:
    """(count^3, 3) that have exactly the second moments of the solid box."""
    steps = ((np.arange(count) + 0.5) / count - 0.5) / np.sqrt(1.0 - count**-2.0)
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(center + grid * size)


def hollow_box(mass: float, size: FloatArray, center: FloatArray, wall: float) -> iparam.InertialParameters:
    """A box with a wall all around [m]."""
    inside = size - 2.0 * wall
    share = np.prod(inside) / np.prod(size)
    outer, cavity = (iparam.InertialParameters.box(one, edges) for one, edges in ((1.0, size), (share, inside)))
    found = iparam.InertialParameters.from_phi((outer.phi - cavity.phi) * mass / (1.0 - share))
    return found.transformed(iparam.spatial.transform_from(np.eye(3), center))


@pytest.fixture
def hammer() -> Shape:
    """A handle along z and a head across it, off the tool's axis."""
    handle = box_points(np.array([0.03, 0.025, 0.24]), np.array([0.02, 0.0, 0.15]))
    head = box_points(np.array([0.03, 0.11, 0.035]), np.array([0.02, 0.01, 0.28]))
    volumes = [np.full(len(handle), 0.03 * 0.025 * 0.24 / 512), np.full(len(head), 0.03 * 0.11 * 0.035 / 512)]
    return Shape.from_points(
        np.vstack([handle, head]), np.concatenate(volumes), ["handle"] * len(handle) + ["head"] * len(head)
    )


@pytest.fixture
def make_problem() -> Callable[..., PayloadProblem]:
    """A load that is turned about all axes, at a speed that may show little of its inertia."""

    def make(
        body: iparam.InertialParameters, speed: float = 1.0, noise: float = 1.0, seed: int = 0, bias: bool = True
    ) -> PayloadProblem:
        rng, time = np.random.default_rng(seed), np.arange(0.0, 20.0, 0.02)
        rates = speed * np.array([0.9, 1.3, 0.7])
        phases = np.array([0.1, 1.2, 2.5])
        angle = np.cos(rates * time[:, None] + phases)
        turn = iparam.spatial.exp_so3(1.2 * angle)
        step = np.swapaxes(turn[:-1], 1, 2) @ turn[1:]
        omega = iparam.spatial.log_so3(step) / 0.02
        alpha = np.gradient(omega, 0.02, axis=0)
        down = np.swapaxes(turn[:-1], 1, 2) @ np.array([0.0, 0.0, G])
        A = body_regressor(omega, alpha, down)
        deviation = noise * np.repeat([0.2, 0.01], 3)
        y = A @ body.phi + deviation * rng.standard_normal((len(A), 6))
        if bias:
            y = y + np.array([1.0, -0.4, 0.3, 0.05, 0.02, -0.01])
        return PayloadProblem(A, y, time[:-1], bias=bias)

    return make
