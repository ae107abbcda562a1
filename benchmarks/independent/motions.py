"""How arms move while somebody records: joint positions, velocities and accelerations at any time, in closed form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.interpolate import make_interp_spline

from independent.arms import Arm

Path = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""From times (T,) [s] to positions, velocities and accelerations, (T, n) each."""

LIMIT = 9.0
"""Largest acceleration of a joint [rad/s^2]."""


def excitation(arm: Arm, duration: float, random: np.random.Generator) -> Path:
    """A Fourier series in a window that makes it start and end at rest."""
    waves = 2.0 * np.pi * np.arange(1, 6) / max(duration, 8.0) * random.choice([1.0, 1.5, 2.0])
    phases = random.uniform(0.0, 2.0 * np.pi, (len(arm.kinds), 5))
    sizes = random.normal(size=(len(arm.kinds), 5))

    def unscaled(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        r = np.clip(time / duration, 0.0, 1.0)
        u, du = r * (1.0 - r), (1.0 - 2.0 * r) / duration
        window = [256 * u**4, 1024 * u**3 * du, 256 * (12 * u**2 * du**2 - 8 * u**3 / duration**2)]
        (w, dw, ddw), (s, ds, dds) = ([each[:, None] for each in window], _sines(time, waves, phases, sizes))
        return w * s, dw * s + w * ds, ddw * s + 2.0 * dw * ds + w * dds

    return _within_limits(arm, unscaled, duration, random)


def hand_guided(arm: Arm, duration: float, random: np.random.Generator) -> Path:
    """Slow and smooth, and under way when the log begins."""
    waves = 2.0 * np.pi * random.uniform(0.05, 0.8, 7)
    phases = random.uniform(0.0, 2.0 * np.pi, (len(arm.kinds), 7))
    sizes = random.normal(size=(len(arm.kinds), 7)) / (1.0 + (waves / 2.0) ** 2)
    return _within_limits(arm, lambda time: _sines(time, waves, phases, sizes), duration, random)


def pick_and_place(arm: Arm, duration: float, random: np.random.Generator) -> Path:
    """From place to place, with trapezoidal or S-shaped profiles of the velocity, and short stops."""
    return _from_place_to_place(arm, duration, random, stops=(0.1, 0.5), hurry=random.uniform(0.5, 0.95))


def few_poses(arm: Arm, duration: float, random: np.random.Generator) -> Path:
    """Slowly to a pose, a stop of some seconds, and on to the next."""
    return _from_place_to_place(arm, duration, random, stops=(1.5, 2.5), hurry=0.3)


MOTIONS = {
    "excitation": excitation,
    "pick-and-place": pick_and_place,
    "static-poses": few_poses,
    "hand-guided": hand_guided,
}


def _sines(time: np.ndarray, waves: np.ndarray, phases: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, ...]:
    """(T, n) sums of sines, and their first and second derivatives."""
    angle = time[:, None, None] * waves + phases
    sine, cosine = sizes * np.sin(angle), sizes * np.cos(angle)
    return sine.sum(2), (waves * cosine).sum(2), -(waves**2 * sine).sum(2)


def _within_limits(arm: Arm, unscaled: Path, duration: float, random: np.random.Generator) -> Path:
    """As large as the joint's limits let it be, or a part of it, about the arm's home."""
    q, dq, ddq = (np.abs(each).max(axis=0) for each in unscaled(np.linspace(0.0, duration, 2000)))
    scale = np.minimum(arm.swing / q, np.minimum(arm.speed / dq, LIMIT / ddq)) * random.uniform(0.5, 1.0)

    def path(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q, dq, ddq = unscaled(time)
        return arm.home + scale * q, scale * dq, scale * ddq

    return path


def _from_place_to_place(
    arm: Arm, duration: float, random: np.random.Generator, stops: tuple[float, float], hurry: float
) -> Path:
    profile = (_trapezoidal, _smooth)[random.integers(2)]
    highest, steepest = (np.max(each) for each in profile(np.linspace(0.0, 1.0, 201))[1:])
    places, starts, times = [arm.home + 0.8 * arm.swing * random.uniform(-1, 1, len(arm.kinds))], [], []
    now = random.uniform(*stops)
    while now < duration:
        places.append(arm.home + 0.8 * arm.swing * random.uniform(-1, 1, len(arm.kinds)))
        way = np.abs(places[-1] - places[-2])
        times.append(max(np.max(highest * way / (hurry * arm.speed)), np.sqrt(np.max(steepest * way / LIMIT)), 0.3))
        starts.append(now)
        now += times[-1] + random.uniform(*stops)

    def path(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q, dq, ddq = np.tile(places[0], (len(time), 1)), *np.zeros((2, len(time), len(arm.kinds)))
        for start, lasts, one, other in zip(starts, times, places[:-1], places[1:], strict=True):
            u = np.clip((time - start) / lasts, 0.0, 1.0)[:, None]
            s, ds, dds = profile(u)
            q, dq, ddq = q + s * (other - one), dq + ds * (other - one) / lasts, ddq + dds * (other - one) / lasts**2
        return q, dq, ddq

    return path


def _smooth(u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    angle = 2.0 * np.pi * u
    return u - np.sin(angle) / (2.0 * np.pi), 1.0 - np.cos(angle), 2.0 * np.pi * np.sin(angle)


_CORNERS = np.array([0.0, 0.05, 0.28, 0.33, 0.67, 0.72, 0.95, 1.0])
_PUSH = make_interp_spline(_CORNERS, [0.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0, 0.0], k=1)
_SPEED, _WAY = _PUSH.antiderivative(1), _PUSH.antiderivative(2)


def _trapezoidal(u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A third of the time each to speed up, to go on and to slow down, with corners as round as drives make them."""
    whole = _WAY(1.0)
    return _WAY(u) / whole, _SPEED(u) / whole, _PUSH(u) / whole
