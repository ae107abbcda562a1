"""`ArmScene`: an arm with its payload in its cell, driven along a trajectory as a real arm is, whatever the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, frozen
from iparam.errors import InputError
from iparam.motion.motion import MotionEstimate
from iparam.recording import Recording, Signal
from iparam.remarks import Remark, remark
from iparam.robot.cell import WorkCell
from iparam.robot.collision.scene import CollisionScene, collision_scene
from iparam.robot.loading import StatedArm
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_angles
from iparam.rounding import percent
from iparam.simulation.arm_simulator import ArmSimulator
from iparam.simulation.motors import assumed_rotors, rotor_remarks
from iparam.simulation.payload import Payload, payload_name
from iparam.simulation.run_log import Physics, RunLog
from iparam.simulation.simulator import CollisionError, GroundTruth, Progress, SimulationError, SimulationResult
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.checks import MAX_SAMPLES, TIME_SLACK, VALIDATION_RATE, validation_times
from iparam.trajectory.trajectory import Trajectory, TrajectorySamples

BLOCK = 20_000
"""Samples that are looked at together."""

ROUNDING = 1e-9
"""By which a joint may be beyond its range: the same motion, evaluated in other blocks, differs in its last digits."""

REST = 1e-6
"""Speed below which a joint counts as at rest [rad/s]."""


def check_followable(robot: Robot, trajectory: Trajectory) -> None:
    """Refuse a trajectory for another number of joints or beyond the range of a joint."""
    if trajectory.num_joints != robot.num_joints:
        raise InputError(
            f"the trajectory moves {trajectory.num_joints} joints, {robot.name} has {robot.num_joints}: planned for "
            "another arm?"
        )
    limits = robot.limits
    check_angles(trajectory.evaluate(np.zeros(1)).q[0], robot, "the trajectory")
    ends = np.array([(part.q.min(axis=0), part.q.max(axis=0)) for part in _samples(trajectory)])
    lowest, highest = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
    beyond = (lowest < limits.lower - ROUNDING) | (highest > limits.upper + ROUNDING)
    if beyond.any():
        joint = int(np.argmax(beyond))
        raise InputError(
            f"the trajectory takes {robot.joint_names[joint]} to {lowest[joint]:.4g}..{highest[joint]:.4g}, its "
            f"range is {limits.lower[joint]:.4g}..{limits.upper[joint]:.4g}"
        )


def trajectory_remarks(robot: Robot, trajectory: Trajectory) -> list[Remark]:
    """What a recording should say about the trajectory: a start in motion, or speeds beyond the arm's."""
    start, remarks = np.abs(trajectory.evaluate(np.zeros(1)).dq[0]), []
    if (start > REST).any():
        fastest = float(start.max())
        remarks.append(remark("starts-in-motion", speed=fastest))
    peaks = np.max([np.abs(part.dq).max(axis=0) for part in _samples(trajectory)], axis=0)
    for joint in np.flatnonzero(peaks > robot.limits.velocity):
        name, limit = robot.joint_names[joint], robot.limits.velocity[joint]
        remarks.append(remark("speed-above-limit", joint=name, speed=peaks[joint], limit=limit))
    return remarks


def _samples(trajectory: Trajectory) -> Iterator[TrajectorySamples]:
    """The motion where `iparam excite check` looks at it, in parts: a limit that it keeps there it keeps here."""
    rate = min(VALIDATION_RATE, (MAX_SAMPLES - 2) / trajectory.duration)  # of hours, what memory holds
    times = validation_times(trajectory.duration, rate)
    for part in np.array_split(times, -(-times.size // BLOCK)):
        yield trajectory.evaluate(part)


LARGE_ERROR = 0.02
"""Tracking error worth a warning [rad]."""

TRACKING_SLACK = 0.002
"""How far two shapes may reach into each other while the arm follows a clear trajectory [m]: its tracking error is its
own, not the plan's. With a clearance, the error has all of that besides."""

BLOCK = 1000  # steps planned at a time: bounds memory, and how often progress is told
MAX_STEPS = 50_000_000
"""Of the physics in one run: seven hours at 2 kHz."""


@dataclass(frozen=True, eq=False)
class ArmScene:
    """An arm with its payload in its cell, in some engine; a `Scene`.

    Attributes:
        simulator: the settings.
        robot: the arm.
        payload: on its tool frame, or None.
        cell: its surroundings.
        clearance: least distance that a trajectory must keep [m].
        shapes: what may not touch what, if it is not to be that of `collision_scene`.
        rotors: (n,) rotor inertia that the robot has for the simulation only, see `assumed_rotors`; empty for none.
    """

    simulator: ArmSimulator
    robot: Robot
    payload: Payload | None
    cell: WorkCell
    clearance: float = 0.0
    shapes: CollisionScene | None = None
    rotors: FloatArray = field(default_factory=lambda: frozen([]))

    @property
    def engine(self) -> str:
        """The name and version of what computes the physics."""
        raise NotImplementedError

    def build(self) -> None:
        """Build the engine's model, so that what cannot be built is refused at once."""
        raise NotImplementedError

    def physics(self, num_logged: int) -> Physics:
        """A new run of this one scene, with room for a number of logged instants."""
        raise NotImplementedError

    @cached_property
    def collision(self) -> CollisionScene:
        """What may not touch what: the scene that the planner and `excite check` judge by."""
        if self.shapes is not None:
            return self.shapes
        return collision_scene(self.robot, self.payload.boxes if self.payload is not None else (), self.cell)

    @cached_property
    def loaded(self) -> Robot:
        """The arm with what it carries."""
        if self.payload is None:
            return self.robot
        return self.robot.with_payload(self.payload.parameters, payload_name(self.robot))

    @property
    def truth(self) -> GroundTruth:
        """What it carries."""
        nothing = InertialParameters(0.0, np.zeros(3), np.zeros((3, 3)))
        return GroundTruth(nothing if self.payload is None else self.payload.parameters, self.robot.tool_frame)

    def run(self, trajectory: Trajectory, progress: Progress | None = None) -> SimulationResult:
        """Let the arm follow ``trajectory`` and record it, see `Scene.run`."""
        return run_together([self], trajectory, self.physics, progress)[0]

    def check(self, trajectory: Trajectory) -> None:
        """Refuse a trajectory that the arm cannot follow, or that `excite check` refuses."""
        check_followable(self.robot, trajectory)
        self._check_clear(trajectory)

    def _check_clear(self, trajectory: Trajectory) -> None:
        """Refuse a trajectory that `excite check` refuses: on the same grid, with the same shapes and pairs."""
        rate = min(VALIDATION_RATE, (MAX_SAMPLES - 2) / trajectory.duration)  # of hours, what memory holds
        times = validation_times(trajectory.duration, rate)
        for part in np.array_split(times, -(-times.size // (10 * BLOCK))):
            found = self.collision.first_contact(trajectory.evaluate(part).q, self.clearance)
            if found is not None:
                time = float(part[found.sample])
                raise CollisionError(found.bodies, time, -found.distance, required=found.required)

    def check_followed(self, goal: TrajectorySamples, q: FloatArray) -> None:
        """Refuse a motion q (T, n) in which the arm hits something that its set points are clear of."""
        stride = max(1, int(self.simulator.physics_rate // VALIDATION_RATE))
        found = self.collision.first_contact(q[::stride], -TRACKING_SLACK)
        if found is not None:
            row = stride * found.sample
            off = float(np.abs(goal.q[row] - q[row]).max())
            raise CollisionError(found.bodies, float(goal.time[row]), -found.distance, tracking_error=off)

    def plan(self, goal: TrajectorySamples) -> tuple[FloatArray, FloatArray]:
        """Torques (T, n) and weights (T, n, n) of the controller along set points, see `ComputedTorque.plan`."""
        return self.simulator.controller.plan(self.robot, self.loaded, goal, self.simulator.gravity)


S = TypeVar("S", bound=ArmScene)


def loaded_scene(
    kind: type[S],
    simulator: ArmSimulator,
    robot: Robot,
    payload: Payload | None,
    cell: WorkCell | None,
    clearance: float,
    shapes: CollisionScene | None,
) -> S:
    """A scene of some engine, with rotors where links have no inertia, see `assumed_rotors`; built."""
    simulator.check(robot, payload, clearance)
    around = cell if cell is not None else WorkCell()
    scene = kind(simulator, robot, payload, around, clearance, shapes)
    rotors = assumed_rotors(scene.loaded)
    if rotors.any():
        driven = robot.with_armature(robot.armature + rotors)
        scene = kind(simulator, driven, payload, around, clearance, shapes, rotors)
    scene.build()
    scene.collision  # noqa: B018  refused here too
    return scene


def run_together(
    scenes: Sequence[ArmScene],
    trajectory: Trajectory,
    start: Callable[[int], Physics],
    progress: Progress | None = None,
) -> list[SimulationResult]:
    """Let W arms, alike but for what they carry, follow one trajectory, each in a world of its own.

    Args:
        scenes: with the same settings.
        trajectory: of all.
        start: that gives the physics of all with room for a number of logged instants.
        progress: told which part is done.
    """
    settings, rate = scenes[0].simulator, scenes[0].simulator.physics_rate
    last = int(np.floor(trajectory.duration * rate * (1.0 + TIME_SLACK)))
    if last >= MAX_STEPS:
        raise InputError(
            f"{trajectory.duration:g} s are {last + 1} steps of the physics at {rate:g} Hz, more than {MAX_STEPS}: "
            "shorten the motion, or lower the rate"
        )
    for i, scene in enumerate(scenes):
        try:
            scene.check(trajectory)
        except SimulationError as error:
            if len(scenes) == 1:
                raise
            raise SimulationError(f"with payload {i}: {error}") from error
    groups = settings.rates.steps(rate, last)
    logged = np.unique(np.concatenate(list(groups.values())))
    wanted = np.zeros(last + 1, dtype=bool)
    wanted[logged] = True
    physics = start(logged.size)
    _settle(scenes, physics, trajectory)
    targets = []
    for first in range(0, last + 1, BLOCK):
        steps = np.arange(first, min(first + BLOCK, last + 1))
        goal = trajectory.evaluate(np.minimum(steps / rate, trajectory.duration))
        for scene, q in zip(scenes, physics.follow(goal, *_plans(scenes, goal), wanted[steps]), strict=True):
            scene.check_followed(goal, q)
        targets.append(np.stack([goal.q, goal.dq, goal.ddq])[:, wanted[steps]])
        if progress is not None:
            progress(float((steps[-1] + 1) / (last + 1)))
    return [
        _result(
            scene,
            log,
            time=logged / rate,
            targets=np.concatenate(targets, axis=1),
            rows={name: np.searchsorted(logged, steps) for name, steps in groups.items()},
            remarks=[*trajectory_remarks(scene.robot, trajectory), *rotor_remarks(scene.robot, scene.rotors)],
        )
        for scene, log in zip(scenes, physics.logs, strict=True)
    ]


def _settle(scenes: Sequence[ArmScene], physics: Physics, trajectory: Trajectory) -> None:
    """Put the arms into the trajectory's start pose and let the controller hold them there."""
    settings, start = scenes[0].simulator, trajectory.evaluate(0.0).q
    physics.place(start[0])
    steps = round(settings.settle_time * settings.physics_rate)
    for first in range(0, steps, BLOCK):
        times = (np.arange(first, min(first + BLOCK, steps)) - steps) / settings.physics_rate
        still = np.zeros((times.size, start.shape[1]))
        goal = TrajectorySamples(times, still + start, still, still, still)
        physics.follow(goal, *_plans(scenes, goal), None)


def _plans(scenes: Sequence[ArmScene], goal: TrajectorySamples) -> tuple[FloatArray, FloatArray]:
    forward, weight = zip(*(scene.plan(goal) for scene in scenes), strict=True)
    return np.stack(forward), np.stack(weight)


def _result(
    scene: ArmScene,
    run: RunLog,
    *,
    time: FloatArray,
    targets: FloatArray,
    rows: dict[str, NDArray[np.int64]],
    remarks: list[Remark],
) -> SimulationResult:
    """The result of a finished run.

    Args:
        scene: that was run.
        run: its log, of T instants.
        time: (T,) of the instants [s].
        targets: (3, T, n) set points of position, velocity and acceleration.
        rows: for each group of `SensorRates`, which of the instants it is read at.
        remarks: about the trajectory.
    """
    robot = scene.robot
    tool, joints, imu = robot.tool_frame, "joints", "imu"
    columns: dict[str, tuple[str, FloatArray, str, str]] = {
        "q": (joints, run.q, "rad", "joint"),
        "dq": (joints, run.dq, "rad/s", "joint"),
        "tau": (joints, run.tau, "N m", "joint"),
        "target_q": (joints, targets[0], "rad", "joint"),
        "target_dq": (joints, targets[1], "rad/s", "joint"),
        "target_ddq": (joints, targets[2], "rad/s^2", "joint"),
        "wrench": ("wrench", run.sensors[:, :6], "N, N m", tool),
        "accelerometer": (imu, run.sensors[:, 6:9], "m/s^2", tool),
        "gyro": (imu, run.sensors[:, 9:12], "rad/s", tool),
    }
    signals = {
        name: Signal(time[rows[group]], values[rows[group]], unit, frame)
        for name, (group, values, unit, frame) in columns.items()
    }
    return SimulationResult(
        Recording(
            robot=robot.name,
            signals=signals,
            metadata=_metadata(scene),
            remarks=(*remarks, *_run_remarks(robot, run)),
        ),
        scene.truth,
        MotionEstimate(time, run.q, run.dq, run.ddq),
        run.tool_poses,
    )


def _metadata(scene: ArmScene) -> dict[str, Any]:
    """Where the recording comes from. Nothing here may depend on the payload."""
    settings = scene.simulator
    return {
        "source": "simulation",
        **StatedArm.of(scene.robot).to_document(),
        "simulator": scene.engine,
        "physics_rate_hz": settings.physics_rate,
        "sensor_rates_hz": {
            "joints": settings.rates.joints,
            "wrench": settings.rates.wrench,
            "imu": settings.rates.imu,
        },
        "settle_time_s": settings.settle_time,
        "gravity": list(settings.gravity),
        "controller": "computed torque",
        "controller_bandwidth_hz": settings.controller.bandwidth,
        "controller_knows_payload": settings.controller.payload_known,
    }


def _run_remarks(robot: Robot, run: RunLog) -> list[Remark]:
    remarks = []
    for joint in np.flatnonzero(run.saturated):
        share = run.saturated[joint] / run.steps
        limit = robot.limits.torque[joint]
        remarks.append(
            remark("torque-limit-reached", joint=robot.joint_names[joint], limit=limit, share=percent(share))
        )
    worst = int(np.argmax(run.tracking_error))
    if run.tracking_error[worst] > LARGE_ERROR:
        error = run.tracking_error[worst]
        remarks.append(remark("off-set-points", joint=robot.joint_names[worst], error=error))
    return remarks
