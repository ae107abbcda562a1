"""What a motion must keep: constraints as margins over time, positive where kept, with exact gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError, IparamError
from iparam.robot.model import Robot

ORDERS = ("position", "velocity", "acceleration", "jerk")


COUPLED = 1e-6
"""How far a joint may be from where the joint that it follows takes it [rad or m]."""


class InfeasibleError(IparamError):
    """No motion can satisfy the request; the message names the constraint that excludes it."""


class MotionArrays(NamedTuple):
    """Joint positions and their three derivatives, each (T, n). Unchecked: the inside of an optimiser's loop."""

    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    jerk: FloatArray


class Margins(NamedTuple):
    """Margins (T, m) and their gradients (T, m, n) by each of the constraint's orders of the motion."""

    values: FloatArray
    gradients: tuple[FloatArray, ...]


class Constraint(ABC):
    """Something that a motion keeps where all its margins are positive.

    Attributes:
        name: e.g. "joint velocity".
        unit: of the margins.
        orders: which derivatives of the motion it depends on: 0 position ... 3 jerk.
        scale: a typical size of a margin [unit]; makes different constraints comparable.
        labels: what each of the m margins belongs to, e.g. a joint's name or a pair of bodies.
    """

    name: str
    unit: str
    orders: tuple[int, ...]
    scale: float
    labels: tuple[str, ...]

    @abstractmethod
    def margins(self, motion: MotionArrays) -> FloatArray:
        """Margins (T, m) [unit] at every sample."""

    @abstractmethod
    def linearize(self, motion: MotionArrays) -> Margins:
        """The margins with their exact gradients by the motion's orders."""

    def left(self, margins: FloatArray) -> FloatArray:
        """What margins (...,) leave up to the bound itself [unit]: other numbers where the search needs smooth ones."""
        return margins

    def convex_part(self, motion: MotionArrays, weights: FloatArray) -> FloatArray | None:
        """(T, orders, n, orders, n) of - sum_m weights_m * Hessian of margin m, a part that is positive semidefinite.

        None where the margins are all but linear, or their curvature follows from differences of the gradients.

        Args:
            motion: at which.
            weights: (T, m), positive.
        """
        return None


@dataclass(frozen=True, eq=False)
class JointLimitConstraint(Constraint):
    """Bounds on the position, velocity, acceleration or jerk of the joints; infinite bounds are left out.

    Attributes:
        order: 0 position, 1 velocity, 2 acceleration, 3 jerk.
        lower, upper: (n,) [rad or m, per s^order].
        joint_names: n names.
    """

    order: int
    lower: FloatArray
    upper: FloatArray
    joint_names: tuple[str, ...]
    name: str = field(init=False)
    unit: str = field(init=False)
    orders: tuple[int, ...] = field(init=False)
    scale: float = field(init=False)
    labels: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if self.order not in range(4):
            raise InputError(argument="order", value=self.order, expected="0, 1, 2 or 3")
        count = len(self.joint_names)
        lower, upper = (np.array(side, dtype=np.float64) for side in (self.lower, self.upper))
        for side in (lower, upper):
            if side.shape != (count,) or np.isnan(side).any():
                raise InputError(
                    f"{ORDERS[self.order]} limits must be {count} numbers without NaN, got {side.tolist()}"
                )
        if (lower >= upper).any():
            joint = self.joint_names[int(np.argmax(lower >= upper))]
            raise InfeasibleError(
                f"joint {ORDERS[self.order]} limits of {joint!r} leave no room: lower is not below upper"
            )
        widths = (upper - lower)[np.isfinite(upper - lower)]
        self._set(lower=frozen(lower), upper=frozen(upper))
        self._set(
            name=f"joint {ORDERS[self.order]}",
            unit="rad" if self.order == 0 else "rad/s" if self.order == 1 else f"rad/s^{self.order}",
            orders=(self.order,),
            scale=float(widths.min() / 2) if widths.size else 1.0,
            labels=tuple(
                f"{joint} {side}"
                for side, bounds in (("lower", lower), ("upper", upper))
                for joint, bound in zip(self.joint_names, bounds, strict=True)
                if np.isfinite(bound)
            ),
        )

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def symmetric(cls, order: int, bound: ArrayLike, joint_names: tuple[str, ...]) -> JointLimitConstraint:
        """The same bound (n,) or one number both ways."""
        values = np.broadcast_to(np.asarray(bound, dtype=np.float64), (len(joint_names),))
        return cls(order, -values, np.array(values), joint_names)

    def margins(self, motion: MotionArrays) -> FloatArray:
        """See `Constraint`; the finite lower bounds first, then the finite upper ones."""
        values = motion[self.order]
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        return np.concatenate([(values - self.lower)[:, low], (self.upper - values)[:, high]], axis=1)

    def linearize(self, motion: MotionArrays) -> Margins:
        """See `Constraint`."""
        values = self.margins(motion)
        unit = np.eye(len(self.joint_names))
        signs = np.concatenate([unit[np.isfinite(self.lower)], -unit[np.isfinite(self.upper)]])
        return Margins(values, (np.broadcast_to(signs, (len(values), *signs.shape)),))


@dataclass(frozen=True, eq=False)
class CouplingConstraint(Constraint):
    """Joints that follow others do so: margins of the distance from where those take them. Planned motions do exactly.

    Attributes:
        robot: the arm.
    """

    robot: Robot
    name: str = "joint coupling"
    unit: str = "rad"
    orders: tuple[int, ...] = (0,)
    scale: float = COUPLED
    labels: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(one.joint for one in self.robot.couplings))

    def margins(self, motion: MotionArrays) -> FloatArray:
        """See `Constraint`."""
        return np.asarray(COUPLED - np.abs(motion.q - self.robot.follow(motion.q))[:, self._followers])

    def linearize(self, motion: MotionArrays) -> Margins:
        """See `Constraint`; a motion whose coefficients follow cannot change it."""
        values = self.margins(motion)
        return Margins(values, (np.zeros((*values.shape, motion.q.shape[1])),))

    @property
    def _followers(self) -> list[int]:
        return [self.robot.joint_names.index(one.joint) for one in self.robot.couplings]


def left_of_squares(margins: FloatArray, bound: float) -> FloatArray:
    """``bound`` - x of margins (bound^2 - x^2) / (2 bound), which have a slope where x is 0; the sign is the same."""
    size = np.sqrt(np.maximum(bound**2 - 2.0 * bound * margins, 0.0))
    return np.asarray(2.0 * bound * margins / (bound + size))


@dataclass(frozen=True)
class WorstMargin:
    """The least margin of a constraint over a motion, as people are told it.

    Attributes:
        constraint: its name.
        margin: what is left up to the bound [unit]; negative where it is violated.
        unit: of the margin.
        time: when [s].
        label: of what: a joint or a pair of bodies.
    """

    constraint: str
    margin: float
    unit: str
    time: float
    label: str

    def __str__(self) -> str:
        return f"{self.constraint}: {self.margin:+.4g} {self.unit} at {self.time:.3f} s, {self.label}"


def worst_margin(constraint: Constraint, motion: MotionArrays, times: ArrayLike) -> WorstMargin | None:
    """Where a motion comes closest to a constraint; None if the constraint has no finite bound."""
    margins = constraint.margins(motion)
    if margins.size == 0:
        return None
    sample, column = np.unravel_index(int(np.argmin(margins)), margins.shape)
    time = float(as_float_array(times, "times")[sample])
    left = float(constraint.left(margins[sample, column]))
    return WorstMargin(constraint.name, left, constraint.unit, time, constraint.labels[int(column)])
