"""Hypotheses about the arm: another model, joints in another order or reversed, counted from another zero, frozen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import permutations

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation.causes.examined_run import ExaminedRun, path_of
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypothesis import (
    Explanation,
    Hypothesis,
    Model,
    deviations,
    fit_model,
    gauss_newton,
    one_of,
    thinned,
)
from iparam.regressor.wrench import wrench_regressor_derivatives
from iparam.robot.catalog.lookup import robot_names
from iparam.robot.description.installed import INSTALLED_ARMS
from iparam.robot.loading import load_robot
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95, significant
from iparam.sensing.correction import Correction

MOST_JOINTS = 6
"""Joints whose orders are all tried; of more, only exchanges, shifts and the reverse."""

MISFIT = 3.0
"""Squares, in those of the noise, that the load must leave for arms that take a while to read to be tried."""

FEW = 50
"""Means that tell one order of the joints from another."""

OFFSETS = (0.0, 0.5 * np.pi, -0.5 * np.pi, np.pi)
"""Zeros of a joint, apart from the model's, from where the best one is sought [rad]."""


class RobotModel(Hypothesis):
    """The arm is another one of the catalogue that has as many joints."""

    slug = "robot-model"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        robot = run.robot
        if robot is None:
            return
        few, found = thinned(run), []
        for name, other in _others(robot, well_explained=base.squares < MISFIT * run.y.size):
            found.append((linear_fit(few, _moved(few, other), possible=False).squares, name, other))
        for _, name, other in sorted(found, key=lambda entry: entry[0])[:2]:
            fit = linear_fit(run, _moved(run, other))
            finding = f"The kinematics of a {name}"
            yield Explanation(self.slug, finding, fit, one_of(len(found), run), setting={"robot": name})


def _others(robot: Robot, well_explained: bool) -> Iterator[tuple[str, Robot]]:
    """Arms with as many joints, by name: those of the catalogue, and where much is to be explained, installed ones."""
    names = list(robot_names())
    if not well_explained:  # they take a while to read
        names += [name for name, arm in INSTALLED_ARMS.items() if arm.joints == robot.num_joints and not arm.base]
    for name in names:
        other = _known_arm(name)
        if other is not None and other.num_joints == robot.num_joints and not _same_kinematics(other, robot):
            yield name, other


@cache
def _known_arm(name: str) -> Robot | None:
    """The arm of a name; None where the package that describes it is not installed."""
    try:
        return load_robot(name)
    except IparamError:
        return None


def _same_kinematics(one: Robot, other: Robot) -> bool:
    first, second = one.chain, other.chain
    return np.allclose(first.origins, second.origins, atol=1e-9) and np.allclose(first.tool, second.tool, atol=1e-9)


def _moved(run: ExaminedRun, robot: Robot) -> FloatArray:
    return run.of_path(path_of(robot, run.motion.q, run.motion.dq, run.motion.ddq))


class JointOrder(Hypothesis):
    """The columns of the joints are in another order, or some of them count the other way."""

    slug = "joint-order"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        robot = run.robot
        if robot is None:
            return
        count = robot.num_joints
        plain, ones = tuple(range(count)), np.ones(count)
        choices = [(order, ones) for order in _orders(count) if order != plain]
        choices += [(plain, np.where(np.arange(count) == joint, -1.0, 1.0)) for joint in range(count)]
        choices.append((plain, -ones))
        squares = _squares_of_choices(thinned(run, FEW), robot, choices)
        tried = [(squares[best], *choices[best]) for best in np.argsort(squares)[:3]]
        for _, order, sign in tried:
            fit = linear_fit(run, _reordered(run, robot, order, sign))
            if (sign < 0).any():
                flipped = np.flatnonzero(sign < 0)
                which = (
                    "all joints"
                    if len(flipped) == count
                    else ", ".join(robot.joint_label(int(joint)) for joint in flipped)
                )
                finding = f"Counting {which} the other way"
                correction = Correction(joint_sign=tuple(int(one) for one in sign))
            else:
                columns = ", ".join(f"q{column}" for column in order)
                finding = f"Taking the columns {columns} for joints 1 to {count}"
                correction = Correction(joint_order=order)
            yield Explanation(self.slug, finding, fit, one_of(len(choices), run), correction)


def _orders(count: int) -> Iterable[tuple[int, ...]]:
    if count <= MOST_JOINTS:
        return permutations(range(count))
    plain = list(range(count))
    found = {tuple(plain[::-1]), *(tuple(plain[shift:] + plain[:shift]) for shift in range(1, count))}
    for first in range(count):
        for second in range(first):
            swapped = plain.copy()
            swapped[first], swapped[second] = swapped[second], swapped[first]
            found.add(tuple(swapped))
    return sorted(found)


def _reordered(run: ExaminedRun, robot: Robot, order: tuple[int, ...], sign: FloatArray) -> FloatArray:
    columns = list(order)
    moved = (sign * values[:, columns] for values in (run.motion.q, run.motion.dq, run.motion.ddq))
    return run.of_path(path_of(robot, *moved))


def _squares_of_choices(
    run: ExaminedRun, robot: Robot, choices: list[tuple[tuple[int, ...], FloatArray]]
) -> FloatArray:
    """What load and bias leave for each order and signs of the joints, all at once."""
    order, sign = np.array([order for order, _ in choices]), np.array([sign for _, sign in choices])
    motion, count = run.motion, len(run.time)
    moved = [
        np.reshape(sign[:, None] * np.moveaxis(values[:, order], 0, 1), (-1, values.shape[1]))
        for values in (motion.q, motion.dq, motion.ddq)
    ]
    A = path_of(robot, *moved).regressor(run.gravity).reshape(len(choices), count, 6, 10)
    if run.bias:
        A, y = A - A.mean(axis=1, keepdims=True), run.y - run.y.mean(axis=0)
    else:
        y = run.y
    rows = (A / run.noise[:, None]).reshape(len(choices), -1, 10)
    target = (y / run.noise).ravel()
    scale = np.sqrt(np.sum(rows**2, axis=1, keepdims=True)) + 1e-12
    rows = rows / scale
    gram = np.swapaxes(rows, 1, 2) @ rows + 1e-9 * np.eye(10)
    right = np.swapaxes(rows, 1, 2) @ target
    return np.asarray(target @ target - np.sum(right * np.linalg.solve(gram, right[..., None])[..., 0], axis=1))


class OffsetJoints(Model):
    """Joints that are counted from another zero: the state (k,) is added to some of them [rad]."""

    def __init__(self, robot: Robot, joints: list[int]) -> None:
        self._robot, self._joints = robot, joints

    def _angles(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        q = run.motion.q.copy()
        q[:, self._joints] += state
        return q

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return run.of_path(path_of(self._robot, self._angles(run, state), run.motion.dq, run.motion.ddq))

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        found = wrench_regressor_derivatives(
            self._robot, self._angles(run, state), run.motion.dq, run.motion.ddq, run.gravity
        )
        return np.asarray(np.swapaxes(found.by_q[:, self._joints] @ phi, 1, 2))


LARGEST_OFFSET = np.radians(20.0)
"""Zero of a joint, off by more than which it is not believed where another mistake explains as much [rad]: a sensor
that is mounted turned by 90 deg is, a joint that is counted from there would have been noticed."""


class JointOffset(Hypothesis):
    """A joint, or all of them, is counted from another zero than the model's."""

    slug = "joint-offset"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        robot = run.robot
        if robot is None or run.motion.linear_acceleration_minus_gravity is not None:
            return
        few = thinned(run, 3 * FEW)
        turning = [i for i, joint in enumerate(robot.moving_joints) if joint.kind == "revolute"]
        tried = []
        for joint in turning:
            model = OffsetJoints(robot, [joint])
            at = [linear_fit(few, model.regressors(few, np.array([start])), possible=False) for start in OFFSETS]
            best = min(range(len(OFFSETS)), key=lambda index: at[index].squares)
            state, squares = gauss_newton(few, model, np.array([OFFSETS[best]]))
            tried.append((squares, joint, state))
        for _, joint, start in sorted(tried, key=lambda entry: entry[0])[:1]:
            state, fit = fit_model(run, OffsetJoints(robot, [joint]), [start])
            angle = float((state[0] + np.pi) % (2.0 * np.pi) - np.pi)
            half = float(np.degrees(NORMAL_95 * deviations(fit)[0]))
            finding = (
                f"Adding {np.degrees(angle):.2f} +- {significant(half, 2)} deg (95 %) to {robot.joint_label(joint)}"
            )
            added = np.where(np.arange(robot.num_joints) == joint, round(float(np.degrees(angle)), 3), 0.0)
            correction = Correction(joint_offset=tuple(float(one) for one in added))
            near = abs(angle) < LARGEST_OFFSET
            yield Explanation(self.slug, finding, fit, one_of(len(turning), run), correction, plausible=near)
        state, fit = fit_model(run, OffsetJoints(robot, turning), [np.zeros(len(turning))])
        added = np.zeros(robot.num_joints)
        added[turning] = np.round(np.degrees(state), 3)
        if np.abs(added).max() < 180.0:
            listed = ", ".join(f"{angle:.2f}" for angle in added)
            correction = Correction(joint_offset=tuple(float(one) for one in added))
            near = bool(np.abs(added).max() < np.degrees(LARGEST_OFFSET))
            finding = f"Adding {listed} deg to the joints"
            yield Explanation(self.slug, finding, fit, len(turning), correction, plausible=near)
