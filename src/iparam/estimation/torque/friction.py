"""`FrictionModel`: what a drive has to do beside moving bodies, as columns of a regressor, linear in its coefficients.

Terms, each with one coefficient a joint, q its position, v its speed and s its direction of motion between -1 and 1:

- ``viscous`` v [N m s/rad]; ``forward`` and ``backward``, the same in one direction only;
- ``coulomb`` s [N m];
- ``stribeck`` s exp(-(v / speed)^2) [N m]: what has to be overcome at low speed on top;
- ``saturating`` tanh(v / speed) [N m]: lubricant that thins, so that friction grows no more at high speed;
- ``quadratic`` v |v| [N m s^2/rad^2]: air;
- ``load`` s |torque| [-]: teeth that are pressed together rub; gears lose a fixed share of what passes through them;
- ``offset`` 1 [N m]: what a current sensor or a spring adds;
- ``spring`` q [N m/rad]: cables and hoses that are bent;
- ``sine``, ``cosine`` of q [N m]: a balancer, an eccentric gear, a torque sensor that is strained by its own flange;
- ``sine2``, ``cosine2`` of 2 q [N m], and so on with 3, 4 and 6: the two lobes of a strain wave gear, the spokes and
  bolts of a torque sensor.

The characteristic speed of ``stribeck`` and ``saturating`` may follow the name: ``stribeck:0.05`` [rad/s].

All before ``offset`` are dissipative, at every speed, as long as their coefficients are not negative: a model that was
fitted to slow motion then brakes a fast one, too, and does not drive it.

The direction s is ``smooth``, tanh(v / smoothing_speed), or ``presliding``: a spring of a given length that is taken
along by the motion and keeps its tension when the joint stops (Dahl 1968). Only the second knows which way a joint
came from that stands still, which is most of what remains of the torque of an arm at rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError, UnknownNameError
from iparam.native.recursions import presliding

DISSIPATIVE = ("viscous", "forward", "backward", "coulomb", "stribeck", "saturating", "quadratic", "load")
"""Terms whose coefficients are not negative."""

WAVES = {f"{wave}{count if count > 1 else ''}": count for count in (1, 2, 3, 4, 6) for wave in ("sine", "cosine")}
"""Terms that are periodic in the angle, and how often they repeat in a turn."""

TERMS = (*DISSIPATIVE, "offset", "spring", *WAVES)
WITH_SPEED = {"stribeck": 0.1, "saturating": 0.5}
"""Terms with a characteristic speed, and that speed where none is given [rad/s or m/s]."""

Direction = Literal["smooth", "presliding"]


def kind(term: str) -> str:
    """The term without its characteristic speed."""
    return term.partition(":")[0]


@dataclass(frozen=True)
class FrictionModel:
    """Which terms there are, and the constants that are not estimated.

    Attributes:
        terms: of `TERMS`, each at most once; () for no friction.
        direction: how the direction of motion is told.
        smoothing_speed: of the smooth direction [rad/s or m/s].
        presliding_distance: of the spring in the presliding direction [rad or m].
    """

    terms: tuple[str, ...] = ("viscous", "coulomb", "offset", "saturating", "load")
    direction: Direction = "presliding"
    smoothing_speed: float = 0.01
    presliding_distance: float = 3e-4

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))
        for term in self.terms:
            if kind(term) not in TERMS:
                raise UnknownNameError("friction term", term, TERMS, argument="friction")
            _speed(term)
        if len(set(self.terms)) < len(self.terms):
            raise InputError(f"a friction term is given more than once: {', '.join(self.terms)}")
        if self.direction not in ("smooth", "presliding"):
            raise UnknownNameError("direction of friction", self.direction, ("smooth", "presliding"))
        for name in ("smoothing_speed", "presliding_distance"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(argument=name, value=value, expected="a positive number")

    def directions(self, q: ArrayLike, dq: ArrayLike, start: ArrayLike | None = None) -> FloatArray:
        """(T, n) direction of motion between -1 and 1 along a motion.

        Args:
            q, dq: (T, n) successive samples.
            start: (n,) presliding state at the first sample; zeros, which is no tension, if not given.
        """
        speed = as_float_array(dq, "dq")
        if self.direction == "smooth":
            return np.asarray(np.tanh(speed / self.smoothing_speed))
        path = as_float_array(q, "q")
        if path.ndim != 2 or path.shape != speed.shape:
            raise InputError(f"q and dq must both have shape (T, n), got {path.shape} and {speed.shape}")
        first = np.zeros(path.shape[1]) if start is None else as_float_array(start, "start", (path.shape[1],))
        state = np.empty_like(path)
        state[:1] = first
        steps = np.diff(path, axis=0)
        presliding(np.sign(steps), np.exp(-np.abs(steps) / self.presliding_distance), state)
        return state

    def columns(
        self, q: ArrayLike, dq: ArrayLike, directions: ArrayLike, load: ArrayLike | None = None
    ) -> dict[str, FloatArray]:
        """The columns (T, n) by term; the friction torque is their sum, each times its coefficients (n,).

        Args:
            q: (T, n) [rad].
            dq: (T, n) [rad/s].
            directions: (T, n) what `directions` gave.
            load: (T, n) torque that passes through each gear [N m]; None counts as none.
        """
        place, speed, side = as_float_array(q, "q"), as_float_array(dq, "dq"), as_float_array(directions, "directions")
        every: dict[str, Callable[[str], FloatArray]] = {
            "viscous": lambda term: speed,
            "forward": lambda term: np.maximum(speed, 0.0),
            "backward": lambda term: np.minimum(speed, 0.0),
            "coulomb": lambda term: side,
            "stribeck": lambda term: side * np.exp(-((speed / _speed(term)) ** 2)),
            "saturating": lambda term: np.tanh(speed / _speed(term)),
            "quadratic": lambda term: speed * np.abs(speed),
            "load": lambda term: np.zeros_like(speed) if load is None else side * np.abs(as_float_array(load, "load")),
            "offset": lambda term: np.ones_like(speed),
            "spring": lambda term: place,
        }
        waves = {"sine": np.sin, "cosine": np.cos}
        for wave in WAVES:
            every[wave] = lambda term: np.asarray(waves[term.rstrip("0123456789")](WAVES[term] * place))
        return {term: np.asarray(every[kind(term)](term)) for term in self.terms}


def _speed(term: str) -> float:
    """The characteristic speed of a term [rad/s or m/s]; 0 for one that has none."""
    name, colon, text = term.partition(":")
    if not colon:
        return WITH_SPEED.get(name, 0.0)
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if name not in WITH_SPEED or not (np.isfinite(value) and value > 0.0):
        raise InputError(
            f"friction term {term!r}: a positive speed in rad/s may follow {' and '.join(WITH_SPEED)}, as in "
            "stribeck:0.05"
        )
    return value


PLAIN = FrictionModel(("viscous", "coulomb", "offset"), "smooth")
"""The textbook model, to compare with."""
