"""The pose that a motion starts from: the arm's usual one where that leaves room, else the best of many.

A good start is well inside the joints' ranges, holds the arm with part of its torque, keeps clear of everything, and
lets small motions turn the tool about all axes and away from gravity: that is what tells about a load.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iparam.arrays import FloatArray
from iparam.excitation.constraints.constraint import (
    Constraint,
    InfeasibleError,
    JointLimitConstraint,
    MotionArrays,
    worst_margin,
)
from iparam.excitation.constraints.torque_limit import TorqueLimitConstraint
from iparam.robot.collision.shapes import GROUND, PAYLOAD
from iparam.robot.kinematics import forward_kinematics, joint_axes
from iparam.robot.model import Robot

ROOM = 0.25
"""Distance from a joint's limits that is enough, in ranges of the joint."""

TORQUE_LEFT = 0.5
"""Share of a torque limit that is enough to move with."""

DISTANCE = 0.1
"""Distance beyond the clearance that is enough [m]; of bodies that are seldom so far apart, the upper quartile is."""

GOOD_ENOUGH = 0.2
"""Score of the usual pose from which no other is looked for."""

UR_START = (90.0, -90.0, 90.0, -90.0, -90.0, 90.0)
"""Start pose for UR arms: upper arm up, forearm level, tool down [deg]."""

_CANDIDATES = 4096
_ROUNDS = 12
_KEPT = 8
_TRIES = 64
_TURN = np.pi  # of a joint without limits, either way [rad or m]


def default_start(robot: Robot) -> FloatArray:
    """The pose (n,) that an arm usually starts from [rad or m]: `UR_START`, or the middle of the joints' ranges."""
    if robot.name.startswith("ur") and robot.num_joints == 6:
        return np.radians(UR_START)
    lower, upper = robot.limits.lower, robot.limits.upper
    start = np.clip(np.zeros(robot.num_joints), lower, upper)
    ranges = np.isfinite(lower) & np.isfinite(upper)
    start[ranges] = 0.5 * (lower[ranges] + upper[ranges])
    return robot.follow(start)


def find_start(robot: Robot, constraints: Sequence[Constraint], gravity: FloatArray) -> FloatArray:
    """The pose (n,) to start from [rad or m]: the usual one if it leaves room, else the best of a fixed sample.

    Args:
        robot: the arm.
        constraints: what the motion must keep.
        gravity: (3,) in base axes [m/s^2].

    Raises:
        InfeasibleError: no pose keeps the constraints; it names the one that the best pose comes closest to keeping.
    """
    usual = default_start(robot)
    if _Judge(robot, constraints, gravity).scores(usual[None])[0] >= GOOD_ENOUGH:
        return usual
    from scipy.stats import qmc

    lower, upper = _ranges(robot)
    unit = qmc.Halton(robot.num_joints, scramble=True, seed=0).random(_CANDIDATES)
    poses = np.concatenate([usual[None], robot.follow(lower + (0.1 + 0.8 * unit) * (upper - lower))])
    judge = _Judge(robot, constraints, gravity, poses)
    scores = judge.scores(poses)
    if scores[0] >= GOOD_ENOUGH:
        return usual
    rng = np.random.default_rng(0)
    for step in 0.15 * 0.7 ** np.arange(_ROUNDS):
        best = np.argsort(-scores, kind="stable")[:_KEPT]
        moves = step * (upper - lower) * rng.standard_normal((_KEPT, _TRIES, robot.num_joints))
        near = robot.follow(np.clip(poses[best][:, None] + moves, lower, upper).reshape(-1, robot.num_joints))
        poses = np.concatenate([poses[best], near])
        scores = np.concatenate([scores[best], judge.scores(near)])
    pose, score = poses[int(np.argmax(scores))], float(scores.max())
    if score <= 0.0:
        raise InfeasibleError(judge.refusal(pose))
    return np.asarray(pose)


def _ranges(robot: Robot) -> tuple[FloatArray, FloatArray]:
    """Lower and upper limits (n,), a turn either way where there is none."""
    lower, upper = robot.limits.lower, robot.limits.upper
    middle = np.where(np.isfinite(lower), lower + _TURN, np.where(np.isfinite(upper), upper - _TURN, 0.0))
    return np.where(np.isfinite(lower), lower, middle - _TURN), np.where(np.isfinite(upper), upper, middle + _TURN)


class _Judge:
    """How good poses are.

    Args:
        robot: the arm.
        constraints: what the motion must keep.
        gravity: (3,) in base axes [m/s^2].
        sample: (P, n) poses that show how far bodies can be apart; without it `DISTANCE` is asked of all.
    """

    def __init__(
        self, robot: Robot, constraints: Sequence[Constraint], gravity: FloatArray, sample: FloatArray | None = None
    ) -> None:
        self._robot = robot
        self._constraints = [item for item in constraints if 0 in item.orders and item.labels]
        size = float(np.linalg.norm(gravity))
        self._down = gravity / size if size > 0.0 else np.array([0.0, 0.0, -1.0])
        self._enough = [_enough(item, sample) for item in self._constraints]

    def scores(self, poses: FloatArray) -> FloatArray:
        """(P,) 1 where poses (P, n) have enough of everything, 0 or less where a constraint is not kept."""
        still = at_rest(poses)
        rooms = [
            (item.margins(still) / enough).min(axis=1, initial=1.0)
            for item, enough in zip(self._constraints, self._enough, strict=True)
        ]
        kept = np.min([np.ones(len(poses)), *rooms], axis=0)
        turning = joint_axes(self._robot, poses)
        down = np.swapaxes(forward_kinematics(self._robot, poses)[:, :3, :3], 1, 2) @ self._down
        # The tool turns about all axes, and gravity in its axes to both sides.
        all_round = np.linalg.svd(turning, compute_uv=False)
        tilts = np.linalg.svd(np.cross(down[:, :, None], turning, axis=1), compute_uv=False)
        telling = np.minimum(all_round[:, min(2, all_round.shape[1] - 1)], tilts[:, min(1, tilts.shape[1] - 1)])
        # An arm that cannot turn its tool about all axes has a best pose, too: its score stays above 0.
        useful = 0.01 + 0.99 * np.minimum(telling, 1.0)
        all_in_all = np.minimum(kept, useful) + 1e-3 * np.mean([*rooms, useful], axis=0)
        return np.asarray(np.where(kept > 0.0, all_in_all, kept))

    def refusal(self, pose: FloatArray) -> str:
        """Why the best pose (n,) will not do."""
        still = at_rest(pose[None])
        rooms = [
            float((item.margins(still) / enough).min())
            for item, enough in zip(self._constraints, self._enough, strict=True)
        ]
        worst = worst_margin(self._constraints[int(np.argmin(rooms))], still, [0.0])
        assert worst is not None  # only constraints with labels are looked at
        advice = "more room, or less clearance"
        if worst.constraint == "joint torque":
            advice = "a lighter load, or another mounting of the arm"
        elif worst.constraint == "robot-robot collision" and self._robot.locked_joints:
            advice += ", or the joints that stand still elsewhere"
        elif PAYLOAD in worst.label and worst.constraint == "payload-robot collision":
            advice += ", or a payload that is smaller or elsewhere"
        elif GROUND in worst.label:
            advice += "; a cell says where the ground is, if there is one"
        return (
            f"{self._robot.name} has no pose to start from: in the best of {_CANDIDATES} it misses "
            f"'{worst.constraint}' by {-worst.margin:.4g} {worst.unit} ({worst.label}). It takes {advice}"
        )


def _enough(constraint: Constraint, sample: FloatArray | None) -> FloatArray:
    """(m,) the margins that are enough."""
    if isinstance(constraint, TorqueLimitConstraint):
        return np.asarray(TORQUE_LEFT * np.tile(constraint.limits[np.isfinite(constraint.limits)], 2))
    if isinstance(constraint, JointLimitConstraint):
        width = np.minimum(constraint.upper - constraint.lower, 2.0 * _TURN)
        return ROOM * np.concatenate([width[np.isfinite(side)] for side in (constraint.lower, constraint.upper)])
    usual = np.full(len(constraint.labels), DISTANCE)
    if sample is None:
        return usual
    possible = np.quantile(constraint.margins(at_rest(sample)), 0.75, axis=0)
    return np.asarray(np.where(possible > 0.0, np.minimum(usual, np.maximum(possible, 1e-3)), usual))


def at_rest(poses: FloatArray) -> MotionArrays:
    """Poses (P, n) as a motion that stands still."""
    q = np.array(poses)  # writable copies: the native core takes no others
    return MotionArrays(q, *(np.zeros_like(q) for _ in range(3)))
