"""`FrictionModel`: the friction of joints as columns of a regressor, linear in its coefficients.

Terms, each with one coefficient a joint, v the joint's speed and s its direction of motion between -1 and 1:

- ``viscous`` v [N m s/rad];
- ``coulomb`` s [N m];
- ``offset`` 1 [N m]: what a current sensor or a spring adds;
- ``quadratic`` v |v| [N m s^2/rad^2]: lubricant that thins, or air;
- ``load`` s |torque| [-]: teeth that are pressed together rub; gears lose a fixed share of what passes through them;
- ``stribeck`` s exp(-(v / stribeck_speed)^2) [N m]: what has to be overcome at low speed on top.

The direction s is ``smooth``, tanh(v / smoothing_speed), or ``presliding``: a spring of a given length that is taken
along by the motion and keeps its tension when the joint stops (Dahl 1968). Only the second knows which way a joint
came from that stands still, which is most of what is left of the torque of an arm at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError, UnknownNameError

TERMS = ("viscous", "coulomb", "offset", "quadratic", "load", "stribeck")
Direction = Literal["smooth", "presliding"]


@dataclass(frozen=True)
class FrictionModel:
    """Which terms there are, and the constants that are not estimated.

    Attributes:
        terms: of `TERMS`, each at most once; () for no friction.
        direction: how the direction of motion is told.
        smoothing_speed: of the smooth direction [rad/s or m/s].
        presliding_distance: of the spring in the presliding direction [rad or m].
        stribeck_speed: [rad/s or m/s].
    """

    terms: tuple[str, ...] = ("viscous", "coulomb", "offset", "quadratic", "load")
    direction: Direction = "presliding"
    smoothing_speed: float = 0.01
    presliding_distance: float = 3e-4
    stribeck_speed: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))
        for term in self.terms:
            if term not in TERMS:
                raise UnknownNameError("friction term", term, TERMS)
        if len(set(self.terms)) < len(self.terms):
            raise InputError(f"a friction term is given more than once: {', '.join(self.terms)}")
        if self.direction not in ("smooth", "presliding"):
            raise UnknownNameError("direction of friction", self.direction, ("smooth", "presliding"))
        for name in ("smoothing_speed", "presliding_distance", "stribeck_speed"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(f"{name} must be a positive number, got {value!r}")

    def directions(self, q: ArrayLike, dq: ArrayLike, start: ArrayLike | None = None) -> FloatArray:
        """(T, n) direction of motion between -1 and 1 along a motion.

        Args:
            q, dq: (T, n) successive samples.
            start: (n,) presliding state at the first sample; zeros, which is no tension, if not given.
        """
        speed = as_float_array(dq, "dq")
        if self.direction == "smooth":
            return np.asarray(np.tanh(speed / self.smoothing_speed))
        from iparam.estimation.torque import kernels

        path = as_float_array(q, "q")
        if path.ndim != 2 or path.shape != speed.shape:
            raise InputError(f"q and dq must both have shape (T, n), got {path.shape} and {speed.shape}")
        first = np.zeros(path.shape[1]) if start is None else as_float_array(start, "start", (path.shape[1],))
        state = np.empty_like(path)
        if len(path):
            kernels.presliding(path, self.presliding_distance, first, state)
        return state

    def columns(self, dq: ArrayLike, directions: ArrayLike, load: ArrayLike | None = None) -> dict[str, FloatArray]:
        """The columns (T, n) by term; the friction torque is their sum, each times its coefficients (n,).

        Args:
            dq: (T, n) [rad/s].
            directions: (T, n) what `directions` gave.
            load: (T, n) torque that passes through each gear [N m]; None counts as none.
        """
        speed, side = as_float_array(dq, "dq"), as_float_array(directions, "directions")
        every = {
            "viscous": lambda: speed,
            "coulomb": lambda: side,
            "offset": lambda: np.ones_like(speed),
            "quadratic": lambda: speed * np.abs(speed),
            "load": lambda: np.zeros_like(speed) if load is None else side * np.abs(as_float_array(load, "load")),
            "stribeck": lambda: side * np.exp(-((speed / self.stribeck_speed) ** 2)),
        }
        return {term: np.asarray(every[term]()) for term in self.terms}


PLAIN = FrictionModel(("viscous", "coulomb", "offset"), "smooth")
"""The textbook model, to compare with."""
