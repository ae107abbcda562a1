"""What can be identified: the base parameters of an arm, and the payload parameters that given data determine.

Joint torques never determine all ten parameters of every link: some have no effect, others only act together. The
base parameters are the combinations that can be told apart (Gautier & Khalil 1990), found here numerically.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.regressor.joint_torque import joint_torque_regressor
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.kinematics import forward_kinematics, joint_axes
from iparam.robot.model import Robot

PARAMETER_NAMES = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
"""Names of the ten entries of phi: mass, first moments m c and inertia about the frame's origin."""

PREFERENCE = (9, 4, 5, 6, 8, 1, 2, 7, 3, 0)
"""Order in which a link's parameters are kept: Izz Ixx Ixy Ixz Iyz mx my, and only then Iyy mz m.

For joints about z these last three are the ones that a link shares with the link before it, so that the choice is that
of the textbooks (Khalil & Dombre 2002, section 9.4), which regroup them towards the base.
"""

_TRIED = 50  # random states that show all that an arm can show
CLEAR_GAP = 100.0
"""Least ratio between the effects of the weakest parameter kept and of the strongest dropped."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The combinations of an arm's 10 n inertial parameters that its joint torques determine.

    With Y the joint-torque regressor, Y @ phi = Y[..., independent] @ (grouping @ phi) for all motions and all phi.

    Attributes:
        names: 10 n names of the parameters in the order of Y's columns: m1, mx1, ..., Izz1, m2, ...; the number is
            that of the moving body from the base, phi is in its link's frame.
        independent: (r,) sorted columns of Y that the others are combinations of; r is the rank.
        grouping: (r, 10 n) the base parameters are grouping @ phi; the identity in the independent columns.
        never_identifiable: columns of Y that are zero, to the tolerance: no motion shows these parameters.
        weakest_kept, strongest_dropped: effect on the torques of a parameter beside those before it, relative to the
            strongest parameter of its kind: the least of those kept and the largest of those dropped. They are far
            apart, or the rank would not be clear; what is dropped is what the equation above is good to.
    """

    names: tuple[str, ...]
    independent: NDArray[np.int64]
    grouping: FloatArray
    never_identifiable: tuple[int, ...]
    weakest_kept: float
    strongest_dropped: float

    @property
    def rank(self) -> int:
        """r, how many base parameters there are."""
        return self.independent.size

    def values(self, phi: ArrayLike) -> FloatArray:
        """The base parameters (..., r) of ``phi`` (..., 10 n); `Robot.body_parameters` raveled is such a phi."""
        full = as_float_array(phi, "phi", (len(self.names),))
        return np.asarray(full @ self.grouping.T)

    def formulas(self, digits: int = 4) -> tuple[str, ...]:
        """The r base parameters in terms of the full ones, such as "Izz1 + Iyy2 + 0.1806 m2".

        Args:
            digits: significant digits of the coefficients. Coefficients below 1e-7 are left out.
        """
        return tuple(
            _formula(row, int(column), self.names, digits)
            for row, column in zip(self.grouping, self.independent, strict=True)
        )


def base_parameters(
    robot: Robot,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    joints: Sequence[int] | None = None,
    samples: int = 400,
    seed: int = 0,
    tolerance: float = 1e-5,
) -> BaseParameters:
    """The base parameters of an arm, from the joint-torque regressor of random states.

    The rank is that of a QR factorisation with column pivoting. Which columns stand for it does not depend on the
    states: they are taken link by link from the base, in the order of `PREFERENCE`, each unless it is a combination of
    those before it. Rotor inertia and friction are not part of it.

    Args:
        robot: the arm; only its geometry and limits matter.
        gravity: (3,) in base axes [m/s^2]: the mounting decides what can be identified.
        joints: those whose torques are measured, from 0; None for all.
        samples: number of random states, within the joint limits; +-pi where there are none, or where they leave no
            room, as in URDFs that state none.
        seed: of the random states.
        tolerance: effect on the torques, relative to the strongest parameter of the same kind, below which a parameter
            counts as a combination of others.
    """
    if samples < 10:
        raise InputError(argument="samples", value=samples, expected="at least 10")
    measured = range(robot.num_joints) if joints is None else joints
    if not measured or any(not 0 <= joint < robot.num_joints for joint in measured):
        raise InputError(argument="joints", value=list(measured), expected=f"some of 0..{robot.num_joints - 1}")
    stacked = _random_regressor(robot, gravity, samples, seed)[:, list(measured)].reshape(-1, 10 * robot.num_joints)
    scales = _column_scales(stacked)
    from scipy.linalg import qr  # takes longer to load than all else here

    reduced, order = qr(stacked / scales, mode="r", pivoting=True, check_finite=False)
    size = stacked.shape[1]
    triangle = np.empty((min(len(reduced), size), size))
    triangle[:, order] = reduced[:size]
    kept, weakest, strongest = _greedy_columns(triangle, tolerance)
    diagonal = np.abs(np.diag(reduced[:size]))
    rank = int((diagonal > tolerance * diagonal[0]).sum())
    if rank != len(kept) or weakest < CLEAR_GAP * strongest:
        raise InputError(
            f"the rank of the regressor of {robot.name!r} is not clear: {len(kept)} or {rank} parameters, the weakest "
            f"kept has an effect of {weakest:.1e}, the strongest dropped {strongest:.1e}; choose a tolerance "
            f"other than {tolerance:g}, or more samples than {samples}"
        )
    visible = np.linalg.norm(triangle, axis=0) > tolerance
    grouping = np.linalg.lstsq(triangle[:, kept], triangle)[0] * scales / scales[kept, None]
    grouping = grouping.round(12) + 0.0  # without what rounding made of the random states; no negative zeros
    grouping[:, kept] = np.eye(len(kept))
    independent = np.array(kept, dtype=np.int64)
    independent.flags.writeable = False
    return BaseParameters(
        names=tuple(f"{name}{body + 1}" for body in range(robot.num_joints) for name in PARAMETER_NAMES),
        independent=independent,
        grouping=frozen(grouping),
        never_identifiable=tuple(int(column) for column in np.flatnonzero(~visible)),
        weakest_kept=weakest,
        strongest_dropped=strongest,
    )


def _random_regressor(robot: Robot, gravity: ArrayLike, samples: int, seed: int) -> FloatArray:
    """The regressors (N, n, 10 n) of random states within the limits."""
    limits = robot.limits
    rng = np.random.default_rng(seed)
    bounds = [(limits.lower, limits.upper)]
    bounds += [(-limit, limit) for limit in (limits.velocity, limits.acceleration)]
    states = []
    for low, high in bounds:
        given = low < high
        lower = np.where(given & np.isfinite(low), low, -np.pi)
        upper = np.where(given & np.isfinite(high), high, np.pi)
        states.append(rng.uniform(lower, np.maximum(upper, lower + 1.0), (samples, low.size)))
    q, dq, ddq = states
    return joint_torque_regressor(robot, q, dq, ddq, gravity)


def _column_scales(stacked: FloatArray) -> FloatArray:
    """(10 n,) size of the strongest column of the same kind: mass, first moment or inertia."""
    norms = np.linalg.norm(stacked, axis=0).reshape(-1, 10)
    kinds = [norms[:, :1].max(), norms[:, 1:4].max(), norms[:, 4:].max()]
    sizes = np.repeat(np.maximum(kinds, 1e-3 * max(kinds)), [1, 3, 6])  # a kind without any effect is rounding
    return np.tile(sizes, len(norms))


def _greedy_columns(matrix: FloatArray, tolerance: float) -> tuple[list[int], float, float]:
    """Sorted columns that are no combination of preferred ones; the least effect kept and the largest dropped."""
    bodies = matrix.shape[1] // 10
    basis = np.zeros((len(matrix), 0))
    kept: list[int] = []
    weakest, strongest = np.inf, 0.0
    for column in (10 * body + parameter for body in range(bodies) for parameter in PREFERENCE):
        rest = matrix[:, column]
        for _ in range(2):  # once more takes away what rounding left
            rest = rest - basis @ (basis.T @ rest)
        effect = float(np.linalg.norm(rest))
        if effect > tolerance:  # of the strongest column of its kind
            kept.append(column)
            basis = np.column_stack([basis, rest / effect])
            weakest = min(weakest, effect)
        else:
            strongest = max(strongest, effect)
    return sorted(kept), weakest, strongest


def _formula(row: FloatArray, own: int, names: Sequence[str], digits: int) -> str:
    text = names[own]
    for column, (coefficient, name) in enumerate(zip(row, names, strict=True)):
        if column != own and abs(coefficient) >= 1e-7:
            size = f"{abs(coefficient):.{digits}g}"
            text += f" {'-' if coefficient < 0 else '+'} {'' if size == '1' else size + ' '}{name}"
    return text


@dataclass(frozen=True, eq=False)
class IdentifiabilityReport:
    """How well a stack of wrench regressors determines the ten parameters of a payload.

    Attributes:
        rank: how many of the ten, or combinations of them, the data determine.
        singular_values: (10,) of the stack with columns scaled to unit length, descending; 0 for a column without
            effect.
        condition_number: their ratio; infinite if the rank is below ten.
        undetermined: names of the parameters that the data cannot tell, alone or from one another.
    """

    rank: int
    singular_values: FloatArray
    condition_number: float
    undetermined: tuple[str, ...]


def payload_identifiability(regressor: ArrayLike, tolerance: float = 1e-6) -> IdentifiabilityReport:
    """What the wrench regressors of a motion (..., 10), e.g. (N, 6, 10), determine; rows may be weighted.

    Args:
        regressor: stacked over all leading axes.
        tolerance: relative size below which a column or a singular value counts as zero.
    """
    rows = as_float_array(regressor, "regressor", (10,)).reshape(-1, 10)
    if not len(rows):
        raise InputError(argument="regressor", problem="has no rows: there are no samples")
    rows = np.asarray(np.linalg.qr(rows, mode="r"))
    norms = np.linalg.norm(rows, axis=0)
    visible = norms > tolerance * norms.max()
    scaled = np.where(visible, rows / np.where(visible, norms, 1.0), 0.0)
    _, found, directions = np.linalg.svd(scaled, full_matrices=True)
    values = np.zeros(10)
    values[: found.size] = found
    rank = int((values > tolerance * values[0]).sum())
    share = np.linalg.norm(directions[rank:], axis=0)
    # A parameter is told exactly if no blind direction has a part in it; the root allows for rounding.
    blind = share > np.sqrt(tolerance)
    return IdentifiabilityReport(
        rank=rank,
        singular_values=frozen(values),
        condition_number=float(values[0] / values[-1]) if rank == 10 else np.inf,
        undetermined=tuple(name for name, hidden in zip(PARAMETER_NAMES, blind, strict=True) if hidden),
    )


def beyond_arm(robot: Robot, gravity: ArrayLike = STANDARD_GRAVITY, *, bias: bool = True) -> tuple[str, ...]:
    """Names of the parameters of a payload that no motion of the arm shows, such as Ixx of what a SCARA carries.

    Args:
        robot: the arm; its limits do not matter.
        gravity: (3,) in base axes [m/s^2].
        bias: whether a constant bias of the sensor has to be told from the payload, too.
    """
    random = np.random.default_rng(0)
    q = random.uniform(-np.pi, np.pi, (_TRIED, robot.num_joints))
    dq, ddq = random.normal(size=(2, *q.shape))
    rows = wrench_regressor(robot, q, dq, ddq, gravity)
    return payload_identifiability(rows - rows.mean(axis=0) if bias else rows).undetermined


def turning_axes(robot: Robot) -> int:
    """About how many axes of itself the tool can be turned, 0 to 3."""
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_TRIED, robot.num_joints))
    turning = joint_axes(robot, q).transpose(1, 0, 2).reshape(3, -1)
    return int((np.linalg.svd(turning, compute_uv=False) > 1e-6).sum())


def turns_gravity(robot: Robot, gravity: ArrayLike = STANDARD_GRAVITY) -> bool:
    """Whether the arm can turn gravity (3,), in base axes, to other axes of its tool."""
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_TRIED, robot.num_joints))
    pull = np.einsum("pij,i->pj", forward_kinematics(robot, q)[:, :3, :3], as_float_array(gravity, "gravity", (3,)))
    return bool(np.ptp(pull, axis=0).max() > 1e-6 * np.linalg.norm(gravity))
