"""The options that describe a motion to plan (arm, payload, surroundings and limits), or one that exists and what it
must keep.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from tyro.conf import Positional, Suppress, arg

import iparam
from iparam.cli.console.fixes import option_of
from iparam.cli.console.printing import AsJson, note, note_remark, print_line
from iparam.cli.options.arm import ArmOptions
from iparam.cli.options.joint_state import Tip, exact_count, note_other_arm, note_robot_file, note_shape, robot_of
from iparam.cli.options.mounting import MountingOptions
from iparam.errors import InputError
from iparam.remarks import remark
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.catalog import rating_remarks
from iparam.robot.loading import StatedArm
from iparam.robot.plausibility import check_angles
from iparam.trajectory.checks import validation_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iparam.arrays import FloatArray
    from iparam.excitation.constraints.constraint import Constraint
    from iparam.excitation.constraints.validation import Validation
    from iparam.excitation.search.problem import ExcitationProblem
    from iparam.robot.collision.shapes import PayloadBox
    from iparam.robot.model import Robot
    from iparam.trajectory import PlanConditions, Trajectory, TrajectoryFile


def read_plan(path: Path) -> TrajectoryFile:
    """The trajectory of a file, with a note for each remark on it."""
    planned = iparam.load_trajectory(path)
    for each in planned.remarks:
        note_remark(each, f"{path}: ")
    return planned


Blend = Annotated[
    float | None,
    arg(
        metavar="S",
        help="Start and end the motion at rest, in its first and last pose, with limited jerk: within this time [s].",
        help_behavior_hint="(default: as it is)",
    ),
]
"""The type of the option ``blend`` that goes with a motion from a file."""


def blended(planned: TrajectoryFile, time: float | None) -> TrajectoryFile:
    """The file's motion from rest to rest, each within ``time`` [s]; as it is if that is None."""
    if time is None:
        return planned
    return dataclasses.replace(planned, trajectory=iparam.trajectory.JerkLimitedTrajectory(planned.trajectory, time))


@dataclass(frozen=True, kw_only=True)
class PlanningOptions(ArmOptions, MountingOptions):
    """The options; a command adds its own to them."""

    robot: Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint="")] = None
    """A name from 'iparam robots', or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    tip: Tip = None
    preset: Annotated[Literal["reference"] | None, arg(metavar="{reference}", help_behavior_hint="")] = None
    """A ready-made problem: 'reference', a UR5e as spheres with limits of its own."""
    payload_size: Annotated[tuple[float, ...], arg(metavar="X Y Z", help_behavior_hint="(default: no payload)")] = ()
    """Edge lengths of the box around the payload [m]."""
    payload_center: Annotated[
        tuple[float, ...], arg(metavar="X Y Z", help_behavior_hint="(default: on the flange)")
    ] = ()
    """Its centre in the tool frame [m]."""
    payload_mass: Annotated[float | None, arg(metavar="KG", help_behavior_hint="(default: left open)")] = None
    """Guessed mass of the payload, for the joint torques [kg]."""
    q0: Annotated[
        tuple[float, ...], arg(metavar="DEG ..", help_behavior_hint="(default: the usual one, or one with more room)")
    ] = ()
    """Start and end pose of the joints [deg; m for prismatic joints]."""
    free_start: Annotated[bool, arg(help_behavior_hint="")] = False
    """Let the planner move the start pose, too."""
    duration: Annotated[float, arg(metavar="S")] = 10.0
    """Duration of the motion [s]."""
    harmonics: Annotated[int, arg(metavar="N")] = 5
    """Harmonics of the Fourier series."""
    base_freq: Annotated[float | None, arg(metavar="HZ", help_behavior_hint="(default: 1 / duration)")] = None
    """Frequency of the first harmonic [Hz]."""
    cell: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: ground at z = 0)")] = None
    """Work cell: .json with boxes, walls and the ground."""
    max_displacement: Annotated[float | None, arg(metavar="M", help_behavior_hint="(default: no limit)")] = None
    """Largest distance of the tool from its start [m]."""
    max_speed: Annotated[
        float | None, arg(metavar="M/S", help_behavior_hint="(default: UR 1.35, below the delivered limit; else none)")
    ] = None
    """Most speed of the tool and of the payload's box [m/s], e.g. 0.25 with people near. More than the default
    needs a controller that is configured for it."""
    max_velocity: Annotated[
        tuple[float, ...], arg(metavar="RAD/S ..", help_behavior_hint="(default: the robot's, or 1; m/s: 0.25)")
    ] = ()
    """Limit on the joints' speed, one number or one a joint; the robot's own hold beside it."""
    max_acceleration: Annotated[
        tuple[float, ...], arg(metavar="RAD/S2 ..", help_behavior_hint="(default: the robot's, or 8; m/s2: 2)")
    ] = ()
    """Limit on the joints' acceleration, as above."""
    max_jerk: Annotated[tuple[float, ...], arg(metavar="RAD/S3 ..", help_behavior_hint="(default: no limit)")] = ()
    """Limit on the joints' jerk, as above."""
    max_torque: Annotated[tuple[float, ...], arg(metavar="NM ..", help_behavior_hint="(default: the robot's)")] = ()
    """Limit on the joints' torque [N m; N for prismatic joints], as above."""
    limit_fraction: Annotated[float | None, arg(metavar="SHARE", help_behavior_hint="(default: 0.95)")] = None
    """Share of the limits on speed, acceleration, jerk and torque to use, e.g. 0.5."""
    clearance: Annotated[float | None, arg(metavar="M", help_behavior_hint="(default: 0.02)")] = None
    """Least distance of arm and payload from each other and from all around them [m]."""

    def robot_model(self, fallback: str | None = None, stated: StatedArm | None = None, named_by: str = "") -> Robot:
        """The robot of --robot, else of the file ``named_by``; the arm of --base, --tip and --lock, else the file's."""
        name = self.robot or ("ur5e" if self.preset == "reference" else fallback)
        if not name:
            raise InputError("which robot? Add --robot, e.g. --robot ur5e ('iparam robots' lists the known ones)")
        if self.q0 and 0.0 < np.abs(self.q0).max() <= 2.0 * np.pi:
            note(f"--q0 is in degrees: {' '.join(f'{angle:g}' for angle in self.q0)} deg is all but the zero pose")
        return robot_of(name, self.tip, stated, **self.cut(), named_by="" if self.robot else named_by)

    def conditions(self, planned: PlanConditions | None = None) -> PlanConditions:
        """Payload, cell, clearance and limits: what the options say, else what a file says."""
        if self.preset == "reference":
            return iparam.excitation.reference_conditions()
        given = self._given_conditions()
        for name, option in (("payload_size", "edge lengths x y z [m]"), ("payload_center", "x y z [m]")):
            if name in given:
                given[name] = exact_count(given[name], f"--{name.replace('_', '-')}", option, 3)
        if "cell" in given:
            given["cell"] = iparam.robot.load_cell(given["cell"])
        return (iparam.trajectory.PlanConditions() if planned is None else planned).changed(**given)

    def _given_conditions(self) -> dict[str, Any]:
        """Those options that are given and that a trajectory file has entries for, by the names of the entries."""
        given: dict[str, Any] = {
            "payload_size": self.payload_size or None,
            "payload_center": self.payload_center or None,
            "payload_mass": self.payload_mass,
            "cell": self.cell,
            "velocity": _one_or_each(self.max_velocity),
            "acceleration": _one_or_each(self.max_acceleration),
            "jerk": _one_or_each(self.max_jerk),
            "torque": _one_or_each(self.max_torque),
            "displacement": self.max_displacement,
            "speed": self.max_speed,
            "fraction": self.limit_fraction,
            "clearance": self.clearance,
        }
        return {name: value for name, value in given.items() if value is not None}

    def problem(self, robot: Robot, gravity: FloatArray | None = None) -> ExcitationProblem:
        """The problem that the options describe, with notes on what the robot's file leaves open.

        Args:
            robot: the arm.
            gravity: (3,) in base axes [m/s^2]; None for 9.81 downwards.
        """
        conditions = self.conditions()
        note_shape(robot)
        note_missing_limits(robot, conditions)
        note_rating(robot, self.payload_mass)
        return self.problem_under(conditions, robot, gravity)

    def problem_under(
        self, conditions: PlanConditions, robot: Robot, gravity: FloatArray | None = None
    ) -> ExcitationProblem:
        """The problem under payload, cell, clearance and limits that are not only those of the options."""
        unit = pose_units(robot)
        meaning = "one a joint [deg, or m for prismatic joints]"
        start = exact_count(self.q0, "--q0", meaning, robot.num_joints) * unit if self.q0 else None
        problem = iparam.planning_problem(
            robot,
            q0=start,
            conditions=conditions,
            duration=self.duration,
            num_harmonics=self.harmonics,
            base_freq=self.base_freq,
            free_start=self.free_start,
            gravity=STANDARD_GRAVITY if gravity is None else gravity,
        )
        if start is None and not np.array_equal(problem.q0, iparam.excitation.default_start(robot)):
            units = "deg, m for prismatic joints" if robot.chain.prismatic.any() else "deg"
            digits = np.where(robot.chain.prismatic, 3, 0).tolist()
            pose = " ".join(f"{value:.{count}f}" for value, count in zip(problem.q0 / unit, digits, strict=True))
            note(f"the usual start pose leaves too little room: starting from {pose} {units}; --q0 names another")
        return problem

    def constraints(
        self,
        trajectory: Trajectory,
        robot: Robot,
        conditions: PlanConditions,
        gravity: FloatArray | None = None,
    ) -> tuple[Constraint, ...]:
        """What the motion must keep under gravity (3,); displacements count from its own start."""
        start = tuple((trajectory.evaluate(0.0).q[0] / pose_units(robot)).tolist())
        return dataclasses.replace(self, q0=start).problem_under(conditions, robot, gravity).constraints

    def write(
        self,
        output: Path,
        problem: ExcitationProblem,
        motion: Trajectory,
        condition_number: float | None,
        conditions: PlanConditions | None = None,
    ) -> Validation:
        """Check a motion that was found for ``problem``, and write it with what was asked and what the check says.

        Asked are the conditions of the options, or those that are given.
        """
        checked = iparam.excitation.validate(motion, problem.constraints)
        iparam.save_trajectory(
            output,
            motion,
            robot=self.robot or problem.robot.name,
            fps=problem.fps,
            condition_number=condition_number,
            validation=checked.as_json(),
            gravity=self.given_gravity(),
            arm=StatedArm.of(problem.robot),
            conditions=self.conditions() if conditions is None else conditions,
        )
        note_robot_file(self.robot or problem.robot.name, output)
        return checked


_PLAN = "(default: the plan's)"
_PLAN_OR_ROBOT = "(default: the plan's, and the robot's)"


@dataclass(frozen=True, kw_only=True)
class PlanConditionOptions(PlanningOptions):
    """The options of a motion that is planned already, which hold where they are given; a command adds its own."""

    base: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the plan's, or the root)")] = None
    """The link that the arm begins at and poses are given in; the rest of the robot stands still."""
    lock: Annotated[
        tuple[str, ...], arg(metavar="JOINT=Q ..", help_behavior_hint="(default: the plan's, or at zero)")
    ] = ()
    """Joints that do not move, and where they stand [rad or m], e.g. torso_lift_joint=0.2."""
    robot: Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint=_PLAN)] = None
    """A name from 'iparam robots', or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    tip: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the plan's, or the robot's own)")] = (
        None
    )
    """The frame taken as the tool: a link of the URDF, or 'flange'."""
    payload_size: Annotated[tuple[float, ...], arg(metavar="X Y Z", help_behavior_hint=_PLAN)] = ()
    """Edge lengths of the box around the payload [m]."""
    payload_center: Annotated[tuple[float, ...], arg(metavar="X Y Z", help_behavior_hint=_PLAN)] = ()
    """Its centre in the tool frame [m]."""
    payload_mass: Annotated[float | None, arg(metavar="KG", help_behavior_hint=_PLAN)] = None
    """Guessed mass of the payload, for the joint torques [kg]."""
    cell: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: the plan's, or ground at z = 0)")
    ] = None
    """Work cell: .json with boxes, walls and the ground."""
    max_displacement: Annotated[float | None, arg(metavar="M", help_behavior_hint=_PLAN)] = None
    """Largest distance of the tool from its start [m]."""
    max_speed: Annotated[float | None, arg(metavar="M/S", help_behavior_hint=_PLAN)] = None
    """Most speed of the tool and of the payload's box [m/s], e.g. 0.25 with people near."""
    max_velocity: Annotated[tuple[float, ...], arg(metavar="RAD/S ..", help_behavior_hint=_PLAN_OR_ROBOT)] = ()
    """Limit on the joints' speed, one number or one a joint; the robot's own hold beside it."""
    max_acceleration: Annotated[tuple[float, ...], arg(metavar="RAD/S2 ..", help_behavior_hint=_PLAN_OR_ROBOT)] = ()
    """Limit on the joints' acceleration, as above."""
    max_jerk: Annotated[tuple[float, ...], arg(metavar="RAD/S3 ..", help_behavior_hint=_PLAN)] = ()
    """Limit on the joints' jerk, as above."""
    max_torque: Annotated[tuple[float, ...], arg(metavar="NM ..", help_behavior_hint=_PLAN_OR_ROBOT)] = ()
    """Limit on the joints' torque [N m; N for prismatic joints], as above."""
    limit_fraction: Annotated[float | None, arg(metavar="SHARE", help_behavior_hint=_PLAN)] = None
    """Share of the limits on speed, acceleration, jerk and torque to use, e.g. 0.5."""
    clearance: Annotated[float | None, arg(metavar="M", help_behavior_hint=_PLAN)] = None
    """Least distance of arm and payload from each other and from all around them [m]."""


@dataclass(frozen=True, kw_only=True)
class PlannedMotionOptions(PlanConditionOptions):
    """The options; a command adds its own to them."""

    trajectory: Annotated[Positional[Path], arg(metavar="FILE")]
    """Trajectory: .json."""
    blend: Blend = None
    # The motion itself says these.
    q0: Annotated[tuple[float, ...], Suppress] = ()
    duration: Annotated[float, Suppress] = 10.0
    harmonics: Annotated[int, Suppress] = 5
    base_freq: Annotated[float | None, Suppress] = None
    free_start: Annotated[bool, Suppress] = False
    json: AsJson = False

    def conditions(self, planned: PlanConditions | None = None) -> PlanConditions:
        """What the options say, else what the file says; one that says nothing is held to the arm's own limits."""
        return super().conditions(iparam.trajectory.PlanConditions.unstated() if planned is None else planned)

    def load(self) -> tuple[TrajectoryFile, Robot]:
        """The motion and the robot, that of --robot, else the file's; with notes on what it was planned with."""
        planned = blended(read_plan(self.trajectory), self.blend)
        if not planned.robot and not self.robot and self.preset is None:
            raise InputError(f"{self.trajectory} does not say which robot it belongs to: add --robot")
        robot = self.robot_model(planned.robot, planned.arm, str(self.trajectory))
        if planned.trajectory.num_joints != robot.num_joints:
            raise InputError(
                f"{self.trajectory} moves {planned.trajectory.num_joints} joints, {robot.name} has "
                f"{robot.num_joints}: name its own robot with --robot"
            )
        check_angles(planned.trajectory.evaluate(0.0).q[0], robot, str(self.trajectory))
        note_other_arm(planned.robot, robot, self.robot, str(self.trajectory))
        self._note_conditions(planned)
        note_shape(robot)
        note_missing_limits(robot, self.conditions(planned.conditions))
        if not self.payload_size:
            require_planned_frame(planned, robot, str(self.trajectory))
        return planned, robot

    def agreed_gravity(self, planned: TrajectoryFile) -> FloatArray | None:
        """Gravity (3,) in base axes [m/s^2] of the options or the file, which must agree; None if neither says."""
        return iparam.robot.agreed_gravity(self.given_gravity(), planned.gravity, str(self.trajectory))

    def _typed_conditions(self) -> list[str]:
        """The entries of a trajectory file in whose place options are taken."""
        return list(self._given_conditions())

    def _note_conditions(self, planned: TrajectoryFile) -> None:
        """What the file says it was planned with, and which options are taken instead."""
        if self.preset is not None:
            return
        if planned.conditions is None:
            if not self.payload_size:
                note(
                    f"{self.trajectory} does not say what payload it was planned with: taken for none (--payload-size)"
                )
            return
        options = ", ".join(f"--{_OPTIONS.get(name, name).replace('_', '-')}" for name in self._typed_conditions())
        if options:
            note(f"{self.trajectory} was planned with {planned.conditions}: taken from there, but for {options}")
        elif not self.json:
            print_line(f"planned with      {planned.conditions}")


_OPTIONS = {
    **{name: f"max_{name}" for name in ("velocity", "acceleration", "jerk", "torque", "displacement", "speed")},
    "fraction": "limit_fraction",
}
"""Entries of a trajectory file whose options have other names."""


def _one_or_each(numbers: tuple[float, ...]) -> float | list[float] | None:
    """One number for all joints, or one a joint; None if the option is not given."""
    return numbers[0] if len(numbers) == 1 else list(numbers) or None


def note_missing_limits(robot: Robot, conditions: PlanConditions) -> None:
    """Notes on the limits that neither the robot's file nor an option gives, and what is done without them."""
    if conditions.preset:  # which has its own
        return
    for each in iparam.excitation.usable_limits(robot, conditions.limits).remarks:
        option = option_of(f"max_{each.values['limit']}")
        note(f"{each} State it with {option}.")


def note_rating(robot: Robot, mass: float | None) -> None:
    """A note if a payload is heavier than the maker of the arm allows."""
    for each in rating_remarks(robot, 0.0 if mass is None else mass):
        note_remark(each)


def pose_units(robot: Robot) -> FloatArray:
    """(n,) what 1 of --q0 is: a degree [rad], or a metre for prismatic joints."""
    return np.where(robot.chain.prismatic, 1.0, np.pi / 180.0)


def note_shapes_beyond_preset(
    trajectory: Trajectory, robot: Robot, boxes: Sequence[PayloadBox], conditions: PlanConditions
) -> None:
    """Notes on what a preset allows and the arm does not: faster joints, and links that touch beside its spheres."""
    limit, planned = float(np.min(robot.limits.velocity)), float(np.max(np.asarray(conditions.limits.velocity)))
    if planned > limit:
        note_remark(remark("reference-limits", planned=planned, robot=robot.name, limit=limit))
    times = validation_times(trajectory.duration)
    scene = iparam.robot.collision_scene(robot, boxes, conditions.cell)
    found = scene.first_contact(trajectory.evaluate(times).q)
    if found is not None:
        note(
            f"the {conditions.preset} problem knows spheres at the joints only: by the shapes of the links, {found} "
            f"touch at {times[found.sample]:.3f} s. A motion for a real arm is planned without --preset"
        )


def require_planned_frame(planned: TrajectoryFile, robot: Robot, source: str, option: str = "--payload-size") -> None:
    """Refuse a payload that a trajectory file gives in another tool frame than the robot's.

    Args:
        planned: the file's contents.
        robot: the arm with the tool frame that is used.
        source: the file's name, for messages.
        option: that says what hangs on the arm instead.
    """
    if planned.conditions is None or planned.conditions.payload is None:
        return
    if iparam.sensing.same_place(planned.tool_frame or "", robot):
        return
    raise InputError(
        f"{source} was planned with the tool frame {planned.tool_frame!r}, in which its payload is given, and that of "
        f"{robot.name} is {robot.tool_frame!r}: take that frame (--tip), or say what hangs on {robot.tool_frame!r} "
        f"({option})"
    )
