"""`TorqueModel`: the joint torques of an arm, its friction and its load as one regressor, joint by joint.

Columns: ten inertial parameters of each body, the rotor inertia of each joint, friction terms that all runs share,
friction terms of each run, rotor and friction of drives that move several joints, and the ten parameters of the load. A
joint's torque depends only on the bodies behind it, on its own rotor and friction, and on the load, so that each joint
has rows of its own, without the columns that are zero for it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.estimation.torque.friction import FrictionModel
from iparam.estimation.torque.joint_data import JointData, left_out_joints
from iparam.regressor.identifiability import PARAMETER_NAMES, BaseParameters, base_parameters
from iparam.regressor.joint_torque import joint_torque_regressor
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.kinematics import jacobian
from iparam.robot.model import Robot

NUM_LOAD = 10
APART = 1e-3
"""Share of a rotor's torque that no link's inertia may make up for, for it to be a parameter of its own. Geometry hides
a rotor wholly or leaves a good part of it; what is in between is the rounding of a description, 1.5708 or 3.14 for a
right or a straight angle, which tells nothing of the arm."""

COUPLED_TERMS = ("rotor", "viscous", "coulomb")

_COUPLED_JOINT = re.compile(r"([+-]?)(?:(\d+\.?\d*|\.\d+)\*)?(\d+)")
_COUPLING = re.compile(rf"\d+(?:(?=[+-]){_COUPLED_JOINT.pattern})+")


@dataclass(frozen=True)
class Coupling:
    """A drive that turns with several joints, as in many wrists: its rotor and its friction load all of them.

    Attributes:
        joints: two or more, from 0.
        ratios: the drive turns with the sum of ``ratios[i] * q[joints[i]]``; the first is 1, which is the unit of its
            rotor's inertia and of its friction.
    """

    joints: tuple[int, ...]
    ratios: tuple[float, ...]

    def __post_init__(self) -> None:
        joints, ratios = tuple(self.joints), tuple(float(ratio) for ratio in self.ratios)
        different = len(set(joints)) == len(joints) == len(ratios) >= 2 and min(joints) >= 0
        if not different or not all(np.isfinite(ratio) and ratio for ratio in ratios) or ratios[0] != 1.0:
            raise InputError(
                "a coupling joins two or more different joints, each with a ratio other than 0, the first with 1; got "
                f"joints {joints} and ratios {ratios}"
            )
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "ratios", ratios)

    @classmethod
    def parse(cls, text: str) -> Coupling:
        """From its name: "5+6", "5-6" or "5+0.5*6", joints counted from 1."""
        if not _COUPLING.fullmatch(text):
            raise InputError(argument="coupled", value=text, expected="5+6, 5-6 or 5+0.5*6, joints counted from 1")
        parts = _COUPLED_JOINT.findall(text)
        ratios = tuple(float(f"{sign}{size or 1}") for sign, size, _ in parts)
        return cls(tuple(int(joint) - 1 for _, _, joint in parts), ratios)

    @property
    def name(self) -> str:
        """Such as "5+6", joints counted from 1."""
        text = ""
        for joint, ratio in zip(self.joints, self.ratios, strict=True):
            size = "" if abs(ratio) == 1.0 else f"{abs(ratio):g}*"
            text += f"{'-' if ratio < 0.0 else '+'}{size}{joint + 1}"
        return text.removeprefix("+")

    def of(self, values: FloatArray) -> FloatArray:
        """(T,) of the drive, from (T, n) of the joints."""
        return np.asarray(values[:, self.joints] @ np.array(self.ratios))

    def share(self, joint: int) -> float:
        """Of the drive's torque that a joint feels."""
        return dict(zip(self.joints, self.ratios, strict=True)).get(joint, 0.0)


def couplings_of(given: Sequence[Coupling | str] | ArrayLike, num_joints: int) -> tuple[Coupling, ...]:
    """Couplings from what a user states.

    Args:
        given: couplings, their names ("5+6", joints counted from 1), or the drives' matrix T (n, n), whose rows say
            how the motors' speeds follow from the joints': motor speeds = T dq. A row with one entry is a drive of one
            joint. Efforts are those of the joints, not of the motors, in any case.
        num_joints: n.
    """
    every = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else None
    if every is not None and all(isinstance(one, Coupling | str) for one in every):
        return tuple(Coupling.parse(one) if isinstance(one, str) else one for one in every)
    matrix = as_float_array(cast("ArrayLike", given), "drive matrix")
    if matrix.shape != (num_joints, num_joints) or np.linalg.matrix_rank(matrix) < num_joints:
        raise InputError(
            argument="couplings",
            problem=(
                f"must be names such as '5+6', or an invertible matrix ({num_joints}, {num_joints}) that turns joint "
                f"speeds into motor speeds, got shape {matrix.shape}"
            ),
        )
    rows = [(np.flatnonzero(row), row) for row in matrix]
    return tuple(
        Coupling(tuple(own.tolist()), tuple((row[own] / row[own[0]]).tolist())) for own, row in rows if own.size > 1
    )


@dataclass(frozen=True)
class CoupledDrive:
    """What was found of a drive that turns with several joints.

    Attributes:
        coupling: the joints.
        rotor_inertia: [kg m^2], of all that turns with the drive and with no joint alone.
        viscous: [N m s/rad].
        coulomb: [N m].
    """

    coupling: Coupling
    rotor_inertia: float
    viscous: float
    coulomb: float

    def to_document(self) -> dict[str, Any]:
        """For a result file; joints counted from 1."""
        return {
            "joints": [joint + 1 for joint in self.coupling.joints],
            "ratios": list(self.coupling.ratios),
            "rotor_inertia": self.rotor_inertia,
            "viscous": self.viscous,
            "coulomb": self.coulomb,
        }


@dataclass(frozen=True, eq=False)
class TorqueModel:
    """What the columns of the regressor are.

    Attributes:
        robot: the arm.
        friction: of its joints.
        runs: how many runs there are.
        run_terms: the terms of friction that differ from run to run: gears that warm up run more easily.
        loaded_runs: the runs in which the arm carries the load; () if there is none.
        gravity: (3,) in base axes [m/s^2].
        joint_terms: the friction terms that each joint has, of those of ``friction``; () for all of them in all joints.
        couplings: drives that move several joints.
        left_out: joints whose efforts are not used, from 0; their rotors and friction are no part of the model.
    """

    robot: Robot
    friction: FrictionModel = field(default_factory=FrictionModel)
    runs: int = 1
    run_terms: tuple[str, ...] = ()
    loaded_runs: tuple[int, ...] = ()
    gravity: ArrayLike = STANDARD_GRAVITY
    joint_terms: tuple[tuple[str, ...], ...] = ()
    couplings: tuple[Coupling, ...] = ()
    left_out: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.runs < 1 or any(not 0 <= run < self.runs for run in self.loaded_runs):
            raise InputError(f"there must be at least one run, and loaded ones among them, got {self.runs}")
        own = tuple(term for term in self.friction.terms if term in self.run_terms) if self.runs > 1 else ()
        object.__setattr__(self, "run_terms", own)
        if self.joint_terms and len(self.joint_terms) != self.num_joints:
            raise InputError(
                f"{self.robot.name} has {self.num_joints} joints, terms are given for {len(self.joint_terms)}"
            )
        object.__setattr__(self, "left_out", left_out_joints(self.left_out, self.num_joints))
        for coupling in self.couplings:
            if max(coupling.joints) >= self.num_joints:
                raise InputError(f"{self.robot.name} has {self.num_joints} joints, got the coupling {coupling.name}")
            if set(coupling.joints) <= set(self.left_out):
                raise InputError(f"the joints of the coupling {coupling.name} are all left out: nothing shows it")

    @property
    def num_joints(self) -> int:
        """n, of the arm."""
        return self.robot.num_joints

    @cached_property
    def measured(self) -> tuple[int, ...]:
        """The joints whose efforts are used."""
        return tuple(joint for joint in range(self.num_joints) if joint not in self.left_out)

    @property
    def terms(self) -> tuple[tuple[str, ...], ...]:
        """The friction terms of each joint."""
        return tuple(
            tuple(term for term in self.friction.terms if self.has_term(term, joint))
            for joint in range(self.num_joints)
        )

    @cached_property
    def shared_terms(self) -> tuple[str, ...]:
        """The friction terms that are the same in all runs."""
        return tuple(term for term in self.friction.terms if term not in self.run_terms)

    @cached_property
    def base(self) -> BaseParameters:
        """The base parameters of the arm."""
        return base_parameters(self.robot, gravity=self.gravity, joints=self.measured)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all columns."""
        joints = range(1, self.num_joints + 1)
        names = [*self.base.names, *(f"rotor{j}" for j in joints)]
        names += [_of_joint(term, j) for term in self.shared_terms for j in joints]
        names += [
            f"{_of_joint(term, j)}_run{run + 1}" for run in range(self.runs) for term in self.run_terms for j in joints
        ]
        names += [f"{term}{coupling.name}" for coupling in self.couplings for term in COUPLED_TERMS]
        if self.loaded_runs:
            names += [f"load_{name}" for name in PARAMETER_NAMES]
        return tuple(names)

    @property
    def size(self) -> int:
        """p, the number of columns."""
        return len(self.names)

    @property
    def load_columns(self) -> slice:
        """The columns of the load."""
        return slice(self.size - NUM_LOAD if self.loaded_runs else self.size, self.size)

    def friction_columns(self, term: str, run: int = 0) -> slice:
        """The n columns of a friction term in a run."""
        count = self.num_joints
        if term in self.run_terms:
            place = len(self.shared_terms) + run * len(self.run_terms) + self.run_terms.index(term)
        else:
            place = self.shared_terms.index(term)
        start = 11 * count + place * count
        return slice(start, start + count)

    def coupling_columns(self, index: int) -> slice:
        """The columns of a coupled drive: rotor, viscous and dry friction."""
        start = self.size - (NUM_LOAD if self.loaded_runs else 0) - len(COUPLED_TERMS) * (len(self.couplings) - index)
        return slice(start, start + len(COUPLED_TERMS))

    def has_term(self, term: str, joint: int) -> bool:
        """Whether a joint has a friction term."""
        return joint not in self.left_out and (not self.joint_terms or term in self.joint_terms[joint])

    @cached_property
    def absent(self) -> NDArray[np.int64]:
        """Columns of friction terms that a joint does not have; their parameters are zero."""
        return np.array(
            [
                self.friction_columns(term, run).start + joint
                for term in self.friction.terms
                for run in range(self.runs)
                for joint in range(self.num_joints)
                if not self.has_term(term, joint)
            ],
            dtype=np.int64,
        )

    @cached_property
    def independent(self) -> NDArray[np.int64]:
        """Columns that can be told apart: base parameters, the rotors that no link's inertia hides, and the rest."""
        count = self.num_joints
        rng = np.random.default_rng(0)
        q, dq, ddq = (rng.uniform(-2.0, 2.0, (200, count)) for _ in range(3))
        inertial = joint_torque_regressor(self.robot, q, dq, ddq, self.gravity)[..., self.base.independent]
        rotors = ddq[:, :, None] * np.eye(count)
        shares = np.array([[coupling.share(joint) for joint in range(count)] for coupling in self.couplings])
        drives = [np.outer(coupling.of(ddq), share) for coupling, share in zip(self.couplings, shares, strict=True)]
        stacked = np.concatenate([inertial, rotors, *(drive[:, :, None] for drive in drives)], axis=2)
        stacked = stacked[:, self.measured].reshape(-1, stacked.shape[2])
        stacked = stacked / np.maximum(np.linalg.norm(stacked, axis=0), 1e-300)
        seen = np.abs(np.diag(np.linalg.qr(stacked, mode="r")))[self.base.rank :] > APART
        visible = 10 * count + np.flatnonzero(seen[:count])
        hidden = [self.coupling_columns(int(index)).start for index in np.flatnonzero(~seen[count:])]
        others = np.setdiff1d(np.arange(11 * count, self.size), [*self.absent, *hidden])
        return np.concatenate([self.base.independent, visible, others])

    def hidden_by_gravity(self, term: str) -> tuple[int, ...]:
        """Joints in which a term of the angle is what an arm of other masses would do, too.

        So is a wave, once a turn, in the first joint that gravity loads: whether a balancer or the arm makes it, no
        motion tells.
        """
        count = self.num_joints
        rng = np.random.default_rng(0)
        q, dq, ddq = (rng.uniform(-2.0, 2.0, (200, count)) for _ in range(3))
        inertial = joint_torque_regressor(self.robot, q, dq, ddq, self.gravity)[..., self.base.independent]
        stacked = inertial[:, self.measured].reshape(-1, inertial.shape[2])
        basis = np.linalg.qr(stacked / np.maximum(np.linalg.norm(stacked, axis=0), 1e-300))[0]
        wave = dataclasses.replace(self.friction, terms=(term,)).columns(q, dq, dq)[term]
        found = []
        for place, joint in enumerate(self.measured):
            column = np.zeros((len(q), len(self.measured)))
            column[:, place] = wave[:, joint] / np.linalg.norm(wave[:, joint])
            if np.linalg.norm(column.ravel() - basis @ (basis.T @ column.ravel())) < APART:
                found.append(joint)
        return tuple(found)

    def joint_columns(self, joint: int, run: int) -> NDArray[np.int64]:
        """The columns that the torque of a joint depends on in a run."""
        count = self.num_joints
        own = [self.friction_columns(term, run).start + joint for term in self.friction.terms]
        shared = [
            column
            for index, coupling in enumerate(self.couplings)
            if coupling.share(joint)
            for column in range(*self.coupling_columns(index).indices(self.size))
        ]
        load = range(*self.load_columns.indices(self.size)) if run in self.loaded_runs else ()
        return np.array([*range(10 * joint, 10 * count), 10 * count + joint, *own, *shared, *load], dtype=np.int64)

    def directions(self, data: JointData, start: FloatArray | None = None) -> FloatArray:
        """(T, n + couplings) the directions of motion of the joints and of the coupled drives.

        Args:
            data: successive samples.
            start: (n + couplings,) the state before the first, see `FrictionModel.directions`.
        """
        return self.friction.directions(self._with_drives(data.q), self._with_drives(data.dq), start)

    def _with_drives(self, values: FloatArray) -> FloatArray:
        if not self.couplings:
            return values
        return np.column_stack([values, *(coupling.of(values) for coupling in self.couplings)])

    def rows(self, data: JointData, run: int, directions: FloatArray, load: FloatArray | None) -> list[FloatArray]:
        """For each joint its rows (T, columns of `joint_columns`).

        Args:
            data: samples of the run.
            run: its number.
            directions: (T, n + couplings) see `directions`.
            load: (T, n) torque through each gear [N m], or None if not known yet.
        """
        count = self.num_joints
        inertial = joint_torque_regressor(self.robot, data.q, data.dq, data.ddq, self.gravity)
        columns = self.friction.columns(data.q, data.dq, directions[:, :count], load)
        drives = [
            np.column_stack([coupling.of(data.ddq), coupling.of(data.dq), directions[:, count + index]])
            for index, coupling in enumerate(self.couplings)
        ]
        carried = self.load_rows(data) if run in self.loaded_runs else None
        rows = []
        for j in range(self.num_joints):
            parts = [inertial[:, j, 10 * j :], data.ddq[:, j, None]]
            parts += [columns[term][:, j, None] * self.has_term(term, j) for term in self.friction.terms]
            parts += [
                coupling.share(j) * drive
                for coupling, drive in zip(self.couplings, drives, strict=True)
                if coupling.share(j)
            ]
            if carried is not None:
                parts.append(carried[:, j])
            rows.append(np.concatenate(parts, axis=1))
        return rows

    def load_rows(self, data: JointData) -> FloatArray:
        """(T, n, 10) the joint torques that a load on the tool frame asks for, by its phi."""
        wrench = wrench_regressor(self.robot, data.q, data.dq, data.ddq, self.gravity)
        turn = jacobian(self.robot, data.q, frame="tool")
        moment_first = np.concatenate([wrench[:, 3:], wrench[:, :3]], axis=1)
        return np.asarray(np.swapaxes(turn, 1, 2) @ moment_first)

    def gear_torques(self, data: JointData, run: int, parameters: FloatArray) -> FloatArray:
        """(T, n) torque behind the gears of the arm's bodies and its load, without rotors and friction [N m]."""
        inertial = joint_torque_regressor(self.robot, data.q, data.dq, data.ddq, self.gravity)
        torque = inertial @ parameters[: 10 * self.num_joints]
        if run in self.loaded_runs:
            torque = torque + self.load_rows(data) @ parameters[self.load_columns]
        return np.asarray(torque)

    def torques(self, data: JointData, run: int, directions: FloatArray, parameters: FloatArray) -> FloatArray:
        """(T, n) what the drives have to do [N m]."""
        gear = self.gear_torques(data, run, parameters)
        total = gear + data.ddq * parameters[10 * self.num_joints : 11 * self.num_joints]
        own = directions[:, : self.num_joints]
        for term, column in self.friction.columns(data.q, data.dq, own, gear).items():
            total = total + column * parameters[self.friction_columns(term, run)]
        for index, coupling in enumerate(self.couplings):
            rotor, viscous, coulomb = parameters[self.coupling_columns(index)]
            drive = rotor * coupling.of(data.ddq) + viscous * coupling.of(data.dq)
            drive = drive + coulomb * directions[:, self.num_joints + index]
            for joint, ratio in zip(coupling.joints, coupling.ratios, strict=True):
                total[:, joint] += ratio * drive
        return np.asarray(total)

    def coupled_drives(self, parameters: FloatArray) -> tuple[CoupledDrive, ...]:
        """What the parameters (p,) say of the couplings."""
        return tuple(
            CoupledDrive(coupling, *(float(value) for value in parameters[self.coupling_columns(index)]))
            for index, coupling in enumerate(self.couplings)
        )


def _of_joint(term: str, joint: int) -> str:
    """Such as "viscous3", and "stribeck:0.1[3]" where a digit stands before the joint's."""
    return f"{term}{joint}" if term.isalpha() else f"{term}[{joint}]"
