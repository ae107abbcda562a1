"""`ExcitationProblem`: which motion is sought. Its variables, its criterion, and what it must keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.excitation.constraints.constraint import (
    Constraint,
    InfeasibleError,
    JointLimitConstraint,
    MotionArrays,
    WorstMargin,
    worst_margin,
)
from iparam.excitation.information.criteria import Criterion, criterion_value, eigenvalues
from iparam.excitation.information.information import Information
from iparam.robot.model import Robot
from iparam.trajectory.checks import VALIDATION_RATE
from iparam.trajectory.fourier import WindowedFourierTrajectory

LEAST_REACH = 0.05
"""Joint motion below which a request is refused as too short: nothing could be identified from it [rad]."""


@dataclass(frozen=True, eq=False)
class ExcitationProblem:
    """A windowed Fourier motion from q0 to q0 that tells most about the parameters.

    The variables x (f, C) are the coefficients of the joints that follow no other, all n joints of most arms: row j is
    [a_j1 .. a_jK, b_j1 .. b_jK], and with ``free_start`` the shift of the joint's start pose behind them. The motion is
    linear in them.

    Attributes:
        robot: the arm.
        information: what is to be identified, and from what.
        constraints: all that the motion must keep.
        q0: (n,) pose at both ends [rad].
        num_harmonics: K.
        base_freq: [Hz].
        duration: [s].
        fps: rate at which the motion is recorded [Hz].
        subsample: every how many samples count for the criterion.
        criterion: what is minimised.
        free_start: whether the start pose may be moved away from q0, too.
    """

    robot: Robot
    information: Information
    constraints: tuple[Constraint, ...]
    q0: FloatArray
    num_harmonics: int = 5
    base_freq: float = 0.1
    duration: float = 10.0
    fps: float = 100.0
    subsample: int = 10
    criterion: Criterion = Criterion.KAPPA
    free_start: bool = False

    def __post_init__(self) -> None:
        q0 = as_float_array(self.q0, "q0", (self.robot.num_joints,))
        object.__setattr__(self, "q0", frozen(q0))
        object.__setattr__(self, "criterion", Criterion(self.criterion))
        for name in ("base_freq", "duration", "fps"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise InputError(argument=name, value=value, expected="positive")
        for name in ("num_harmonics", "subsample"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise InputError(argument=name, value=value, expected="a whole number from 1")
        if self.duration * self.fps / self.subsample < 4:
            raise InfeasibleError(
                f"a duration of {self.duration:g} s is too short: it has fewer than 4 samples that count "
                f"(every {self.subsample}th at {self.fps:g} Hz); make it longer"
            )

    @property
    def num_variables(self) -> int:
        """How many coefficients there are."""
        return (2 * self.num_harmonics + self.free_start) * self.num_free

    @property
    def num_free(self) -> int:
        """f, how many joints follow no other."""
        return len(self.robot.free_joints)

    def rows(self, x: FloatArray) -> FloatArray:
        """(n, C) the coefficients of all joints, those that follow others included."""
        own = x.reshape(self.num_free, -1)
        return own if not self.robot.couplings else np.asarray(self.robot.following[0] @ own)

    def trajectory(self, x: FloatArray) -> WindowedFourierTrajectory:
        """The motion with the coefficients x."""
        rows, count = self.rows(x), self.num_harmonics
        start = self.q0 + rows[:, -1] if self.free_start else self.q0
        return WindowedFourierTrajectory(
            start, rows[:, :count], rows[:, count : 2 * count], self.base_freq, self.duration
        )

    def basis(self, times: FloatArray) -> FloatArray:
        """(4, T, C) values and derivatives of the functions that the variables weight."""
        waves = WindowedFourierTrajectory.basis(times, self.num_harmonics, self.base_freq, self.duration)
        if not self.free_start:
            return waves
        shift = np.zeros((4, len(times), 1))
        shift[0] = 1.0
        return np.concatenate([waves, shift], axis=2)

    def grid(self, rate: float) -> FloatArray:
        """Times from 0 to the duration, both included, at least ``rate`` a second [s]."""
        return np.linspace(0.0, self.duration, int(np.ceil(self.duration * rate)) + 1)

    @property
    def criterion_times(self) -> FloatArray:
        """The samples that count: every ``subsample``-th of those at i / fps [s]."""
        count = int(np.floor(self.duration * self.fps + 1e-9)) + 1
        return np.arange(0, count, self.subsample) / self.fps

    def motion(self, x: FloatArray, basis: FloatArray) -> MotionArrays:
        """The motion at the times of a basis."""
        q, dq, ddq, jerk = np.matmul(basis, self.rows(x).T)
        return MotionArrays(q + self.q0, dq, ddq, jerk)

    def value(self, x: FloatArray) -> float:
        """The criterion of a motion, e.g. its condition number."""
        motion = self.motion(x, self.basis(self.criterion_times))
        return criterion_value(self.criterion, eigenvalues(self.information.gram(motion)))

    def margins(self, x: FloatArray, rate: float = VALIDATION_RATE) -> tuple[WorstMargin, ...]:
        """The worst margin of every constraint on a grid of ``rate`` [Hz]."""
        times = self.grid(rate)
        motion = self.motion(x, self.basis(times))
        found = (worst_margin(constraint, motion, times) for constraint in self.constraints)
        return tuple(margin for margin in found if margin is not None)

    def least_margins(self, x: FloatArray, rate: float = VALIDATION_RATE) -> dict[str, float]:
        """The least of the margins that the search takes, by the constraint's name, on a grid of ``rate`` [Hz]."""
        motion = self.motion(x, self.basis(self.grid(rate)))
        found = ((constraint.name, constraint.margins(motion)) for constraint in self.constraints)
        return {name: float(margins.min()) for name, margins in found if margins.size}

    def check_start(self) -> None:
        """Refuse at once what no optimisation can save: a start pose that violates, or too little time to move."""
        for margin in self.margins(np.zeros(self.num_variables), rate=1.0 / self.duration):
            if margin.margin <= 0:
                raise InfeasibleError(
                    f"the start pose q0 itself violates '{margin.constraint}' by {-margin.margin:.4g} {margin.unit} "
                    f"({margin.label}): choose another, or relax that constraint",
                    argument="q0",
                )
        basis = np.abs(self.basis(self.grid(100.0))[:, :, : 2 * self.num_harmonics]).max(axis=1)  # (4, 2 K)
        for joint in range(self.robot.num_joints):
            reach, tightest = np.inf, ""
            for constraint in self.constraints:
                if isinstance(constraint, JointLimitConstraint) and constraint.order > 0:
                    bound = min(-constraint.lower[joint], constraint.upper[joint])
                    possible = float((bound / basis[constraint.order] * basis[0]).max())
                    if possible < reach:
                        reach, tightest = possible, constraint.name
            if reach < LEAST_REACH:
                label = self.robot.joint_label(joint)
                raise InfeasibleError(
                    f"a duration of {self.duration:g} s is too short: under the limit on {tightest}, {label} can move "
                    f"by only {reach:.2g} rad (at least {LEAST_REACH:g} are needed); make it longer"
                )
