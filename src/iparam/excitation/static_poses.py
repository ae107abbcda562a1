"""`choose_poses`: a few poses at rest that tell most about a load's mass, centre of mass and the sensor's bias.

At rest, only the direction of gravity in tool axes matters, so the wrist alone can do the work and the arm stays put.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, frozen
from iparam.errors import InputError
from iparam.excitation.constraints.constraint import InfeasibleError, WorstMargin, worst_margin
from iparam.excitation.search.problem import ExcitationProblem
from iparam.excitation.search.start_pose import at_rest
from iparam.files.json import write_json
from iparam.regressor.identifiability import turns_gravity
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector
from iparam.robot.model import Robot

FORMAT = "iparam-poses/1"
LEAST_POSES = 4
"""Three directions of gravity determine the ten unknowns; the fourth is what they can be checked with."""

MOST_POSES = 100
REACH = 2.1
"""How far a wrist joint may turn from the start pose [rad]."""

SEPARATION = np.radians(20.0)
"""Least angle between the directions of gravity in the tool of any two poses [rad]."""

STEP = 0.002
"""Largest step of a joint between two poses of a way that are checked [rad]."""

PRICE = 0.1
"""What a radian away from the start costs, in units of the criterion: of equally good poses, the near one is taken."""

_CANDIDATES = 400
_WRIST_JOINTS = 3
_START = -1  # in place of a candidate's index: the start pose


@dataclass(frozen=True, eq=False)
class StaticPoses:
    """Poses to rest in, in the order of least travel from the start pose and back to it.

    Attributes:
        robot: name of the arm.
        poses: (P, n) joint angles [rad].
        gravity_in_tool: (P, 3) unit vectors: where gravity points, in tool axes.
        condition_number: of the regressor of mass, first moment and bias, with gravity in units of g; no poses have
            less than 1.22.
        travel: way of the joint that moves most, added up from the start pose through all poses and back [rad].
        margins: the least margin of every constraint on the straight joint-space ways between them.
        gravity: (3,) in base axes, to be written with them [m/s^2]; None for an arm that stands upright.
    """

    robot: str
    poses: FloatArray
    gravity_in_tool: FloatArray
    condition_number: float
    travel: float
    margins: tuple[WorstMargin, ...]
    gravity: FloatArray | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write them as JSON in the format ``iparam-poses/1``, replacing the file in one step."""
        document = {
            "format": FORMAT,
            "robot": self.robot,
            **({} if self.gravity is None else {"gravity": self.gravity.tolist()}),
            "poses": self.poses.tolist(),
            "condition_number": self.condition_number,
        }
        write_json(path, document)


def choose_poses(
    problem: ExcitationProblem,
    count: int = 6,
    seed: int = 0,
    gravity: ArrayLike = STANDARD_GRAVITY,
) -> StaticPoses:
    """Choose poses among random ones that only the wrist has to move for: by D-optimality for mass, centre of mass and
    bias.

    Every pose, and every straight way in joint space between two of them or the start pose, keeps all constraints, so
    that they may be visited in any order.

    Args:
        problem: the arm, its start pose and its constraints; its motion has no meaning here.
        count: how many, at least 4; where the constraints leave room for fewer, there are fewer, but at least 4.
        seed: of the random poses; the same one gives the same result.
        gravity: (3,) in base axes [m/s^2].
    """
    if not isinstance(count, int) or isinstance(count, bool) or not LEAST_POSES <= count <= MOST_POSES:
        raise InputError(
            f"{count!r} poses are not from {LEAST_POSES} to {MOST_POSES}: 10 unknowns (mass, first moment and six "
            "biases) need gravity in three directions of the tool, and a fourth to check them",
            argument="count",
            value=count,
        )
    if not isinstance(seed, int) or seed < 0:
        raise InputError(argument="seed", value=seed, expected="a whole number, at least 0")
    if not gravity_vector(gravity).any():
        raise InputError("without gravity, nothing is to be seen in poses at rest: move the load instead")
    if not turns_gravity(problem.robot, gravity):
        raise InfeasibleError(
            f"{problem.robot.name} cannot turn gravity to other axes of its tool, so that all poses at rest tell the "
            "same: move the load instead (iparam excite optimize), or mount the arm otherwise",
            argument="mounting",
        )
    start = _worst(problem, problem.q0[None])
    if start is not None:
        raise InfeasibleError(
            f"the start pose q0 itself violates '{start.constraint}' by {-start.margin:.4g} {start.unit} "
            f"({start.label}): choose another, or relax that constraint",
            argument="q0",
        )
    selection = _Selection(problem, np.random.default_rng(seed), gravity)
    chosen = selection.run(count)
    if len(chosen) < LEAST_POSES:
        blocked = selection.blocked.most_common(1)
        reason = f"'{blocked[0][0]}' excludes most others" if blocked else "the wrist turns gravity no further"
        raise InfeasibleError(
            f"only {len(chosen)} poses around q0 were found with directions of gravity in the tool that differ by "
            f"{np.degrees(SEPARATION):.0f} deg, and {LEAST_POSES} are needed: {reason}. Choose another q0 or give it "
            "more room"
        )
    poses = _ordered(problem.q0, selection.candidates[chosen])
    tour = np.vstack([problem.q0, poses, problem.q0])
    ways = np.vstack([_way(first, last) for first, last in pairwise(tour)])
    found = (worst_margin(constraint, at_rest(ways), np.zeros(len(ways))) for constraint in problem.constraints)
    return StaticPoses(
        problem.robot.name,
        frozen(poses),
        frozen(gravity_in_tool(problem.robot, poses, gravity)),
        condition_number(problem.robot, poses, gravity),
        float(np.abs(np.diff(tour, axis=0)).max(axis=1).sum()),
        tuple(margin for margin in found if margin is not None),
    )


def gravity_in_tool(robot: Robot, poses: FloatArray, gravity: ArrayLike = STANDARD_GRAVITY) -> FloatArray:
    """(P, 3) unit vectors: where gravity points in tool axes, in poses (P, n)."""
    return -regressorsat_rest(robot, poses, gravity)[:, :3, 0]


def condition_number(robot: Robot, poses: FloatArray, gravity: ArrayLike = STANDARD_GRAVITY) -> float:
    """Of the stacked regressor of mass, first moment and bias at rest, with gravity in units of g."""
    return float(np.linalg.cond(regressorsat_rest(robot, poses, gravity).reshape(-1, 10)))


def regressorsat_rest(robot: Robot, poses: FloatArray, gravity: ArrayLike) -> FloatArray:
    """(P, 6, 10) columns of m g, m g c and the bias."""
    rest = np.zeros_like(poses)
    matrices = np.zeros((len(poses), 6, 10))
    matrices[:, :, :4] = wrench_regressor(robot, poses, rest, rest, gravity)[:, :, :4] / np.linalg.norm(gravity)
    matrices[:, :, 4:] = np.eye(6)
    return matrices


class _Selection:
    """The search: random candidates, the best added one by one, then exchanged while that helps.

    Attributes:
        candidates: (C, n) poses that keep all constraints.
        blocked: how often each constraint excluded a pose or a way.
    """

    def __init__(
        self,
        problem: ExcitationProblem,
        rng: np.random.Generator,
        gravity: ArrayLike,
    ) -> None:
        self.problem = problem
        self.blocked: Counter[str] = Counter()
        self._free: dict[tuple[int, int], bool] = {}
        drawn = _candidates(problem, rng)
        kept = [pose for pose in drawn if self._passes(pose[None])]
        self.candidates = np.array(kept).reshape(-1, problem.robot.num_joints)
        matrices = regressorsat_rest(problem.robot, self.candidates, gravity)
        self._gravity = -matrices[:, :3, 0]
        self._grams = np.einsum("pik,pil->pkl", matrices, matrices)
        self._prices = PRICE * np.abs(self.candidates - problem.q0).max(axis=1, initial=0.0)

    def run(self, count: int) -> list[int]:
        """Indices of the chosen candidates, at most ``count``."""
        chosen: list[int] = []
        while len(chosen) < count:
            best = self._best_beside(chosen)
            if best is None:
                break
            chosen.append(best)
        for _ in range(3):
            before = list(chosen)
            for place in range(len(chosen)):
                others = chosen[:place] + chosen[place + 1 :]
                best = self._best_beside(others)
                chosen[place] = chosen[place] if best is None else best
            if chosen == before:
                break
        return chosen

    def _best_beside(self, others: list[int]) -> int | None:
        """The candidate that adds most to the others, is turned away from them, and within straight reach."""
        if not len(self.candidates):
            return None
        grams = self._grams + self._grams[others].sum(axis=0) + 1e-3 * np.eye(10)
        values = np.linalg.slogdet(grams)[1] - self._prices
        near = (self._gravity @ self._gravity[others].T > np.cos(SEPARATION)).any(axis=1)
        for index in np.argsort(-values, kind="stable"):
            if not near[index] and all(self._joined(int(index), other) for other in (_START, *others)):
                return int(index)
        return None

    def _joined(self, one: int, other: int) -> bool:
        pair = min(one, other), max(one, other)
        if pair not in self._free:
            first = self.problem.q0 if pair[0] == _START else self.candidates[pair[0]]
            self._free[pair] = self._passes(_way(first, self.candidates[pair[1]]))
        return self._free[pair]

    def _passes(self, poses: FloatArray) -> bool:
        worst = _worst(self.problem, poses)
        if worst is not None:
            self.blocked[worst.constraint] += 1
        return worst is None


def _candidates(problem: ExcitationProblem, rng: np.random.Generator) -> FloatArray:
    """Random poses (C, n) that differ from the start in the last turning joints only, within their limits."""
    turning = [i for i, joint in enumerate(problem.robot.moving_joints) if joint.kind == "revolute"][-_WRIST_JOINTS:]
    lower = np.maximum(problem.q0 - REACH, problem.robot.limits.lower)[turning]
    upper = np.minimum(problem.q0 + REACH, problem.robot.limits.upper)[turning]
    drawn = np.tile(problem.q0, (_CANDIDATES, 1))
    drawn[:, turning] = rng.uniform(lower, np.maximum(lower, upper), (_CANDIDATES, len(turning)))
    return np.vstack([problem.q0, problem.robot.follow(drawn)])


def _worst(problem: ExcitationProblem, poses: FloatArray) -> WorstMargin | None:
    """The first constraint that the arm at rest does not keep in all poses (P, n), or None."""
    motion = at_rest(poses)
    for constraint in problem.constraints:
        found = worst_margin(constraint, motion, np.zeros(len(poses)))
        if found is not None and not found.margin > 0.0:
            return found
    return None


def _way(first: FloatArray, last: FloatArray) -> FloatArray:
    """Poses on the straight line in joint space, both ends included."""
    count = int(np.ceil(np.abs(last - first).max() / STEP)) + 1
    return first + np.linspace(0.0, 1.0, max(count, 2))[:, None] * (last - first)


def _ordered(start: FloatArray, poses: FloatArray) -> FloatArray:
    """The poses in an order of little travel from the start through all and back: nearest first, then 2-opt."""

    def travel(order: Iterable[int]) -> float:
        tour = np.vstack([start, poses[list(order)], start])
        return float(np.abs(np.diff(tour, axis=0)).max(axis=1).sum())

    remaining, order, here = list(range(len(poses))), [], start
    while remaining:
        nearest = min(remaining, key=lambda i: float(np.abs(poses[i] - here).max()))
        remaining.remove(nearest)
        order.append(nearest)
        here = poses[nearest]
    improved = True
    while improved:
        improved = False
        for i in range(len(order)):
            for j in range(i + 1, len(order)):
                turned = order[:i] + order[i : j + 1][::-1] + order[j + 1 :]
                if travel(turned) < travel(order) - 1e-9:
                    order, improved = turned, True
    return poses[order]
