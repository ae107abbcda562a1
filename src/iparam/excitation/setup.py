"""`planning_problem`: an excitation problem from a robot's own limits, its payload and its surroundings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import ContradictionError, InputError
from iparam.excitation.constraints.collision import ToolDisplacementConstraint, capsule_collision, sphere_collision
from iparam.excitation.constraints.constraint import (
    Constraint,
    CouplingConstraint,
    JointLimitConstraint,
    MotionArrays,
)
from iparam.excitation.constraints.tool_speed import MomentumConstraint, ToolSpeedConstraint
from iparam.excitation.constraints.torque_limit import TorqueLimitConstraint
from iparam.excitation.constraints.usable_limits import usable_limits
from iparam.excitation.information.criteria import Criterion
from iparam.excitation.information.information import Information, WrenchInformation
from iparam.excitation.search.problem import ExcitationProblem
from iparam.excitation.search.start_pose import find_start
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector
from iparam.robot.catalog import catalog_robot, safety_limits
from iparam.robot.cell import WorkCell
from iparam.robot.collision.scene import CollisionScene
from iparam.robot.collision.shapes import PayloadBox
from iparam.robot.collision.spheres import sphere_scene
from iparam.robot.model import Robot
from iparam.robot.plausibility import FAR
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.conditions import REFERENCE, PlanConditions, PlannedPayload
from iparam.trajectory.conditions import PlanningLimits as PlanningLimits

REFERENCE_VELOCITY = (np.pi, np.pi, np.pi, 2.0 * np.pi, 2.0 * np.pi, 2.0 * np.pi)
"""Most of each joint in `reference_problem` [rad/s]; a UR5e allows pi for all of them."""


def planning_problem(
    robot: Robot,
    *,
    q0: ArrayLike | None = None,
    payload: PayloadBox | None = None,
    payload_parameters: InertialParameters | None = None,
    cell: WorkCell | None = None,
    limits: PlanningLimits | None = None,
    duration: float = 10.0,
    num_harmonics: int = 5,
    base_freq: float | None = None,
    fps: float = 100.0,
    criterion: Criterion | str = Criterion.KAPPA,
    information: Information | None = None,
    free_start: bool = False,
    gravity: ArrayLike = STANDARD_GRAVITY,
    conditions: PlanConditions | None = None,
) -> ExcitationProblem:
    """The problem of exciting a payload with an arm in its surroundings.

    Args:
        robot: the arm.
        q0: (n,) start and end pose [rad]; if not given, the arm's usual one where it leaves room, else one that does
            (see `find_start`).
        payload: the box that encloses what the tool carries, for collisions.
        payload_parameters: its guessed inertia in the tool frame, for the joint torques.
        cell: ground, walls and boxes; the ground at z = 0 if not given.
        limits: what the motion may use; the robot's own limits if not given.
        duration: [s].
        num_harmonics: of the Fourier series.
        base_freq: [Hz]; one period over the duration if not given.
        fps: rate of recording; about every tenth of a second counts for the criterion [Hz].
        criterion: what is minimised.
        information: what is to be identified; a payload, from the wrench at the tool, if not given.
        free_start: whether the start pose may be moved, too.
        gravity: (3,) in base axes [m/s^2], for the torques and for what the motion tells; see `mounted_gravity`.
        conditions: payload, its parameters, cell and limits in one, as a trajectory file holds them. Those of
            `reference_conditions` give the reference problem, whose motion is its own, too.
    """
    if conditions is not None:
        if any(given is not None for given in (payload, payload_parameters, cell, limits)):
            raise InputError(argument="conditions", problem="holds payload, cell and limits: give either that or those")
        if conditions.preset == REFERENCE:
            return _reference_problem_for(robot, gravity_vector(gravity))
        carried, cell, limits = conditions.payload, conditions.cell, conditions.limits
        if carried is not None:
            payload = PayloadBox.from_size(carried.size, carried.center)
            payload_parameters = carried.parameters
    bounds = PlanningLimits() if limits is None else limits
    for name, value in (("duration", duration), ("fps", fps)):
        if not (np.isfinite(value) and value > 0):
            raise InputError(argument=name, value=value, expected="positive")
    known = {item.value: item for item in Criterion}
    if str(criterion) not in known:
        raise InputError(f"unknown criterion {str(criterion)!r}; known: {', '.join(known)}")
    own = joint_limit_constraints(robot, bounds, payload_parameters, gravity)
    coupled = (CouplingConstraint(robot),) if robot.couplings else ()
    apart = capsule_collision(robot, payload, cell, bounds.clearance)
    if q0 is None:
        start = find_start(robot, (*own, *apart), gravity_vector(gravity))
    else:
        start = as_float_array(q0, "q0", (robot.num_joints,))
    return ExcitationProblem(
        robot,
        WrenchInformation(robot, gravity=gravity_vector(gravity)) if information is None else information,
        (
            *own,
            *speed_constraints(robot, bounds, payload, payload_parameters),
            *_tool_displacement(robot, start, bounds),
            *apart,
            *coupled,
        ),
        start,
        num_harmonics=num_harmonics,
        base_freq=1.0 / duration if base_freq is None else base_freq,
        duration=duration,
        fps=fps,
        subsample=max(1, round(fps * min(0.1, duration / 100.0))),
        criterion=known[str(criterion)],
        free_start=free_start,
    )


def joint_limit_constraints(
    robot: Robot,
    limits: PlanningLimits,
    payload_parameters: InertialParameters | None,
    gravity: ArrayLike = STANDARD_GRAVITY,
) -> tuple[Constraint, ...]:
    """Position, velocity, acceleration, jerk and torque limits, as far as there are any."""
    names, own = robot.joint_names, robot.limits
    usable = usable_limits(robot, limits)
    constraints: list[Constraint] = [JointLimitConstraint(0, own.lower, own.upper, names)]
    for order, bound in enumerate((usable.velocity, usable.acceleration, usable.jerk), start=1):
        constraints.append(JointLimitConstraint.symmetric(order, limits.fraction * bound, names))
    if np.isfinite(usable.torque).any():
        loaded = robot if payload_parameters is None else robot.with_payload(payload_parameters)
        torque = limits.fraction * usable.torque
        constraints.append(TorqueLimitConstraint(loaded, torque, gravity=gravity_vector(gravity)))
    return tuple(constraint for constraint in constraints if constraint.labels)


ELBOW_FRAME = "forearm_link"
"""That the elbow of a UR arm turns; its origin counts as the elbow."""


def speed_constraints(
    robot: Robot,
    limits: PlanningLimits,
    payload: PayloadBox | None = None,
    payload_parameters: InertialParameters | None = None,
) -> tuple[Constraint, ...]:
    """Limits on the speed of the tool, of what it carries and of the elbow, and on momentum, as far as there are any.

    Those of the arm's controller as delivered, less its tolerance, where the catalogue knows them. A speed that is
    asked for takes the place of the tool's, and a higher one raises all of them.
    """
    delivered = safety_limits(robot)
    if delivered is None:
        return () if limits.speed is None else (ToolSpeedConstraint.of_tool(robot, limits.speed, payload),)
    allowed = delivered.planned if limits.speed is None else delivered.planned.with_tool_speed(limits.speed)
    found: list[Constraint] = [ToolSpeedConstraint.of_tool(robot, allowed.tool_speed, payload)]
    if allowed.elbow_speed is not None and ELBOW_FRAME in robot.frames:
        found.append(ToolSpeedConstraint.of_elbow(robot, allowed.elbow_speed, ELBOW_FRAME))
    if allowed.momentum is not None:
        loaded = robot if payload_parameters is None else robot.with_payload(payload_parameters)
        found.append(MomentumConstraint(loaded, allowed.momentum))
    return tuple(found)


def _tool_displacement(robot: Robot, q0: FloatArray, limits: PlanningLimits) -> tuple[Constraint, ...]:
    """The limit on the tool's distance from its start, if there is one."""
    if limits.displacement is None:
        return ()
    if limits.displacement > FAR * robot.reach > 0.0:
        raise ContradictionError(
            argument="displacement",
            problem=(
                f"of {limits.displacement:.4g} m keeps the tool from nothing: {robot.name} reaches {robot.reach:.3g} "
                "m. Is it in millimetres? It is given in metres"
            ),
        )
    return (ToolDisplacementConstraint.from_start(robot, q0, limits.displacement),)


def reference_conditions() -> PlanConditions:
    """What `reference_problem` asks for, as a trajectory file holds it."""
    return PlanConditions(
        payload=PlannedPayload.from_size([0.1, 0.15, 0.2]),
        cell=WorkCell(ground_height=SphereChecker.ground_height),
        limits=PlanningLimits(
            velocity=REFERENCE_VELOCITY,
            acceleration=8.0,
            displacement=0.8,
            clearance=SphereChecker.clearance,
            fraction=1.0,
        ),
        preset=REFERENCE,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SphereChecker:
    """The rough collision checker of the reference problem: spheres at the joints, a box on the flange, the ground.

    The values are those of the problem; `reference_problem(checker=...)` takes others.

    Attributes:
        link_radii: (n,) of the spheres at the joints [m].
        ground_height: that nothing may reach below [m].
        clearance: least distance between spheres that are not neighbours, and between the payload's and theirs [m].
        payload_half_extents: (3,) of the payload's box [m].
        payload_center: (3,) of the box, in the tool frame [m].
    """

    link_radii: ArrayLike = (0.06, 0.05, 0.045, 0.035, 0.035, 0.03)
    ground_height: float = 0.01
    clearance: float = 0.02
    payload_half_extents: ArrayLike = (0.05, 0.075, 0.10)
    payload_center: ArrayLike = (0.0, 0.0, 0.10)

    def __post_init__(self) -> None:
        self._own("ground_height", ())
        self._own("clearance", ())
        self._own("payload_center", (3,))
        for name, sizes in (
            ("link_radii", self._own("link_radii", None)),
            ("payload_half_extents", self._own("payload_half_extents", (3,))),
        ):
            if (sizes <= 0.0).any():
                raise InputError(argument=name, value=sizes, expected="positive")
        if self.clearance < 0.0:
            raise InputError(argument="clearance", problem=f"must not be negative, got {self.clearance:g}")

    def _own(self, name: str, shape: tuple[int, ...] | None) -> FloatArray:
        """A field as a checked array, or number, that cannot be changed; ``shape`` None for one number a joint."""
        value = as_float_array(getattr(self, name), name)
        if value.ndim != 1 if shape is None else value.shape != shape:
            expected = "(n,)" if shape is None else str(shape)
            raise InputError(argument=name, problem=f"must have shape {expected}, got {value.shape}")
        object.__setattr__(self, name, frozen(value) if value.ndim else float(value))
        return value

    @property
    def payload(self) -> PayloadBox:
        """The payload's box."""
        return PayloadBox(np.asarray(self.payload_half_extents), np.asarray(self.payload_center))

    def scene(self, robot: Robot, payload: Sequence[PayloadBox] | None = None) -> CollisionScene:
        """The shapes for an arm, with its own box or with others."""
        boxes = (self.payload,) if payload is None else payload
        return sphere_scene(robot, self._radii(robot), boxes, self.ground_height)

    def constraints(self, robot: Robot) -> tuple[Constraint, ...]:
        """What a planned motion must keep."""
        return sphere_collision(robot, self._radii(robot), self.payload, self.ground_height, self.clearance)

    def _radii(self, robot: Robot) -> FloatArray:
        return as_float_array(self.link_radii, "link_radii", (robot.num_joints,))

    def least_clearance(self, robot: Robot, q: ArrayLike) -> FloatArray:
        """(...) least distance beyond the required one at poses q (..., n) [m]; negative where it is not kept."""
        poses = as_float_array(q, "q", (robot.num_joints,))
        motion = MotionArrays(*[poses.reshape(-1, robot.num_joints)] * 4)
        margins = [constraint.margins(motion).min(axis=1) for constraint in self.constraints(robot)]
        return np.asarray(np.min(margins, axis=0).reshape(poses.shape[:-1]))


def _reference_problem_for(robot: Robot, gravity: FloatArray) -> ExcitationProblem:
    if robot.name != "ur5e":
        raise InputError(
            f"the reference problem is for the ur5e, not for {robot.name}: leave it out", argument="preset"
        )
    if np.abs(gravity - STANDARD_GRAVITY).max() > 0.0:
        raise InputError("the reference problem is that of an arm on the floor: leave it out", argument="preset")
    return reference_problem()


def reference_problem(
    checker: SphereChecker | None = None, velocity: ArrayLike = REFERENCE_VELOCITY
) -> ExcitationProblem:
    """The reference problem, on which methods are compared, for the UR5e with its own figures.

    Five harmonics of 0.1 Hz over 10 s from the pose (90, -90, 90, -90, -90, 90) degrees; condition number of the raw
    regressor on every tenth of the samples at 100 Hz; a box of 10 x 15 x 20 cm on the flange.

    Args:
        checker: of collisions; the problem's own if not given.
        velocity: (6,) or one number, most of each joint [rad/s]. The problem's own is twice what the wrist joints of a
            UR5e can do; its real limit is pi for every joint.
    """
    robot = catalog_robot("ur5e")
    q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
    names = robot.joint_names
    most = as_float_array(velocity, "velocity")
    if most.shape not in ((), (len(names),)):
        raise InputError(argument="velocity", problem=f"must be one number or {len(names)}, got shape {most.shape}")
    return ExcitationProblem(
        robot,
        WrenchInformation(robot),
        (
            JointLimitConstraint.symmetric(0, 2 * np.pi, names),
            JointLimitConstraint.symmetric(1, np.broadcast_to(most, len(names)), names),
            JointLimitConstraint.symmetric(2, 8.0, names),
            ToolDisplacementConstraint.from_start(robot, q0, 0.8),
            *(SphereChecker() if checker is None else checker).constraints(robot),
        ),
        q0,
    )
