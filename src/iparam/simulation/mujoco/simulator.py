"""`MujocoSimulator`: an arm in MuJoCo, driven along a trajectory as a real arm is, with its wrist sensors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.motion.motion import MotionEstimate
from iparam.recording import Recording, Signal
from iparam.robot.cell import WorkCell
from iparam.robot.collision.scene import CollisionScene, collision_scene
from iparam.robot.description.mujoco_backend import require_mujoco
from iparam.robot.kernels.notice import expect
from iparam.robot.loading import StatedArm
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_angles
from iparam.simulation.motors import JointFriction, assumed_rotors, rotor_warnings
from iparam.simulation.mujoco.model import build_model, payload_name
from iparam.simulation.mujoco.run import ComputedTorque, MujocoRun
from iparam.simulation.payload import Payload
from iparam.simulation.simulator import CollisionError, GroundTruth, Progress, SensorRates, SimulationResult
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.checks import MAX_SAMPLES, TIME_SLACK, VALIDATION_RATE, positive_number, validation_times
from iparam.trajectory.trajectory import Trajectory, TrajectorySamples

SAMPLES = 2000
REST = 1e-6
"""Speed below which a joint counts as at rest [rad/s]."""

LARGE_ERROR = 0.02
"""Tracking error worth a warning [rad]."""

TRACKING_SLACK = 0.002
"""How far two shapes may reach into each other while the arm follows a clear trajectory [m]: its tracking error is its
own, not the plan's. With a clearance, the error has all of that besides."""

BLOCK = 1000  # steps planned at a time: bounds memory, and how often progress is told
MAX_STEPS = 50_000_000
"""Of the physics in one run: seven hours at 2 kHz."""


def check_followable(robot: Robot, trajectory: Trajectory) -> None:
    """Refuse a trajectory for another number of joints or beyond the range of a joint."""
    if trajectory.num_joints != robot.num_joints:
        raise InputError(
            f"the trajectory moves {trajectory.num_joints} joints, {robot.name} has {robot.num_joints}: planned for "
            "another arm?"
        )
    q, limits = _sampled(trajectory).q, robot.limits
    check_angles(q[0], robot, "the trajectory")
    beyond = (q < limits.lower) | (q > limits.upper)
    if beyond.any():
        joint = int(np.argmax(beyond.any(axis=0)))
        raise InputError(
            f"the trajectory takes {robot.joint_names[joint]} to {q[:, joint].min():.4g}..{q[:, joint].max():.4g}, its "
            f"range is {limits.lower[joint]:.4g}..{limits.upper[joint]:.4g}"
        )


def trajectory_warnings(robot: Robot, trajectory: Trajectory) -> list[str]:
    """What a recording should say about the trajectory: a start in motion, or speeds beyond the arm's."""
    motion, warnings = _sampled(trajectory), []
    if (np.abs(motion.dq[0]) > REST).any():
        fastest = float(np.abs(motion.dq[0]).max())
        warnings.append(f"the trajectory starts at {fastest:.3g} rad/s, the arm at rest: it has to catch up")
    peaks = np.abs(motion.dq).max(axis=0)
    for joint in np.flatnonzero(peaks > robot.limits.velocity):
        name, limit = robot.joint_names[joint], robot.limits.velocity[joint]
        warnings.append(f"the trajectory moves {name} at {peaks[joint]:.4g} rad/s, above its limit of {limit:.4g}")
    return warnings


def _sampled(trajectory: Trajectory) -> TrajectorySamples:
    return trajectory.evaluate(np.linspace(0.0, trajectory.duration, SAMPLES))


@dataclass(frozen=True)
class MujocoSimulator:
    """The settings of a simulation with MuJoCo; a `Simulator`.

    Attributes:
        physics_rate: steps a second, of the controller too [Hz].
        rates: of the sensors.
        controller: what drives the arm.
        settle_time: how long the arm holds the start pose before the trajectory and the recording begin [s].
        gravity: (3,) in base axes [m/s^2].
        friction: in the joints; None for none. Rotor inertia is the robot's, see `Robot.with_armature`.
    """

    physics_rate: float = 2000.0
    rates: SensorRates = field(default_factory=SensorRates)
    controller: ComputedTorque = field(default_factory=ComputedTorque)
    settle_time: float = 0.5
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    friction: JointFriction | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "physics_rate", positive_number(self.physics_rate, "physics_rate", "Hz"))
        gravity = as_float_array(self.gravity, "gravity")
        if gravity.shape != (3,):
            raise InputError(f"gravity must be three numbers, got shape {gravity.shape}")
        object.__setattr__(self, "gravity", tuple(gravity.tolist()))
        settle = as_float_array(self.settle_time, "settle_time")
        if settle.shape != () or settle < 0.0:
            raise InputError(f"settle_time must be a number of seconds, at least 0, got {settle.tolist()}")
        object.__setattr__(self, "settle_time", float(settle))
        self.rates.steps(self.physics_rate, 0)  # refuses sensors that are faster than the physics

    def load(
        self,
        robot: Robot,
        payload: Payload | None = None,
        cell: WorkCell | None = None,
        clearance: float = 0.0,
        shapes: CollisionScene | None = None,
    ) -> MujocoScene:
        """Build the model, see `Simulator.load`."""
        if not (np.isfinite(clearance) and clearance >= 0.0):
            raise InputError(f"clearance must not be negative, got {clearance}")
        if self.friction is not None and self.friction.viscous.shape != (robot.num_joints,):
            raise InputError(f"friction is that of {self.friction.viscous.size} joints, {robot.name} has others")
        expect("simulate")
        around = cell if cell is not None else WorkCell()
        scene = MujocoScene(self, robot, payload, around, clearance, shapes)
        rotors = assumed_rotors(scene.loaded)
        if rotors.any():
            driven = robot.with_armature(robot.armature + rotors)
            scene = MujocoScene(self, driven, payload, around, clearance, shapes, rotors)
        scene.model, scene.collision  # noqa: B018  built here, so that what cannot be built is refused at once
        return scene


@dataclass(frozen=True, eq=False)
class MujocoScene:
    """An arm with its payload in its cell; a `Scene`.

    Attributes:
        simulator: the settings.
        robot: the arm.
        payload: on its tool frame, or None.
        cell: its surroundings.
        clearance: least distance that a trajectory must keep [m].
        shapes: what may not touch what, if it is not to be that of `collision_scene`.
        rotors: (n,) rotor inertia that the robot has for the simulation only, see `assumed_rotors`; empty for none.
    """

    simulator: MujocoSimulator
    robot: Robot
    payload: Payload | None
    cell: WorkCell
    clearance: float = 0.0
    shapes: CollisionScene | None = None
    rotors: FloatArray = field(default_factory=lambda: frozen([]))

    @cached_property
    def model(self) -> Any:
        """The ``mujoco.MjModel``, see `build_model`."""
        settings = self.simulator
        step = 1.0 / settings.physics_rate
        return build_model(self.robot, self.payload, timestep=step, gravity=settings.gravity)

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

    def run(self, trajectory: Trajectory, progress: Progress | None = None) -> SimulationResult:
        """Let the arm follow ``trajectory`` and record it, see `Scene.run`."""
        settings, rate = self.simulator, self.simulator.physics_rate
        last = int(np.floor(trajectory.duration * rate * (1.0 + TIME_SLACK)))
        if last >= MAX_STEPS:
            raise InputError(
                f"{trajectory.duration:g} s are {last + 1} steps of the physics at {rate:g} Hz, more than {MAX_STEPS}: "
                "shorten the motion, or lower the rate"
            )
        check_followable(self.robot, trajectory)
        self._check_clear(trajectory)
        groups = settings.rates.steps(rate, last)
        logged = np.unique(np.concatenate(list(groups.values())))
        wanted = np.zeros(last + 1, dtype=bool)
        wanted[logged] = True
        gains = settings.controller.gains(1.0 / rate)
        run = MujocoRun(self.model, self.robot, gains, logged.size, settings.friction)
        self._settle(run, trajectory)
        targets = []
        for first in range(0, last + 1, BLOCK):
            steps = np.arange(first, min(first + BLOCK, last + 1))
            goal = trajectory.evaluate(np.minimum(steps / rate, trajectory.duration))
            self._check_followed(goal, run.follow(goal, *self._plan(goal), wanted[steps]))
            targets.append(np.stack([goal.q, goal.dq, goal.ddq])[:, wanted[steps]])
            if progress is not None:
                progress(float((steps[-1] + 1) / (last + 1)))
        return _result(
            self,
            run,
            time=logged / rate,
            targets=np.concatenate(targets, axis=1),
            rows={name: np.searchsorted(logged, steps) for name, steps in groups.items()},
            warnings=[*trajectory_warnings(self.robot, trajectory), *rotor_warnings(self.robot, self.rotors)],
        )

    def _check_clear(self, trajectory: Trajectory) -> None:
        """Refuse a trajectory that `excite check` refuses: on the same grid, with the same shapes and pairs."""
        rate = min(VALIDATION_RATE, (MAX_SAMPLES - 2) / trajectory.duration)  # of hours, what memory holds
        times = validation_times(trajectory.duration, rate)
        for part in np.array_split(times, -(-times.size // (10 * BLOCK))):
            found = self.collision.first_contact(trajectory.evaluate(part).q, self.clearance)
            if found is not None:
                time = float(part[found.sample])
                raise CollisionError(found.bodies, time, -found.distance, required=found.required)

    def _check_followed(self, goal: TrajectorySamples, q: FloatArray) -> None:
        """Refuse a motion q (T, n) in which the arm hits something that its set points are clear of."""
        stride = max(1, int(self.simulator.physics_rate // VALIDATION_RATE))
        found = self.collision.first_contact(q[::stride], -TRACKING_SLACK)
        if found is not None:
            row = stride * found.sample
            off = float(np.abs(goal.q[row] - q[row]).max())
            raise CollisionError(found.bodies, float(goal.time[row]), -found.distance, tracking_error=off)

    def _settle(self, run: MujocoRun, trajectory: Trajectory) -> None:
        """Put the arm into the trajectory's start pose and let the controller hold it there."""
        rate, start = self.simulator.physics_rate, trajectory.evaluate(0.0).q
        run.place(start[0])
        steps = round(self.simulator.settle_time * rate)
        for first in range(0, steps, BLOCK):
            times = (np.arange(first, min(first + BLOCK, steps)) - steps) / rate
            still = np.zeros((times.size, self.robot.num_joints))
            goal = TrajectorySamples(times, still + start, still, still, still)
            run.follow(goal, *self._plan(goal), None)

    def _plan(self, goal: TrajectorySamples) -> tuple[FloatArray, FloatArray]:
        return self.simulator.controller.plan(self.robot, self.loaded, goal, self.simulator.gravity)


def _result(
    scene: MujocoScene,
    run: MujocoRun,
    *,
    time: FloatArray,
    targets: FloatArray,
    rows: dict[str, NDArray[np.int64]],
    warnings: list[str],
) -> SimulationResult:
    """The result of a finished run.

    Args:
        scene: that was run.
        run: its log, of T instants.
        time: (T,) of the instants [s].
        targets: (3, T, n) set points of position, velocity and acceleration.
        rows: for each group of `SensorRates`, which of the instants it is read at.
        warnings: about the trajectory.
    """
    robot, carried = scene.robot, scene.payload
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
    nothing = InertialParameters(0.0, np.zeros(3), np.zeros((3, 3)))
    return SimulationResult(
        Recording(
            robot=robot.name,
            signals=signals,
            metadata=_metadata(scene),
            warnings=(*warnings, *_run_warnings(robot, run)),
        ),
        GroundTruth(carried.parameters if carried is not None else nothing, tool),
        MotionEstimate(time, run.q, run.dq, run.ddq),
        run.tool_poses,
    )


def _metadata(scene: MujocoScene) -> dict[str, Any]:
    """Where the recording comes from. Nothing here may depend on the payload."""
    settings = scene.simulator
    return {
        "source": "simulation",
        **StatedArm.of(scene.robot).to_document(),
        "simulator": f"mujoco {require_mujoco().__version__}",
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


def _run_warnings(robot: Robot, run: MujocoRun) -> list[str]:
    warnings = []
    for joint in np.flatnonzero(run.saturated):
        share = 100.0 * run.saturated[joint] / run.steps
        limit = robot.limits.torque[joint]
        warnings.append(
            f"{robot.joint_names[joint]} was at its torque limit, {limit:g} N m, for {share:.2g} % of the time"
        )
    worst = int(np.argmax(run.tracking_error))
    if run.tracking_error[worst] > LARGE_ERROR:
        error = run.tracking_error[worst]
        warnings.append(f"{robot.joint_names[worst]} was up to {error:.2g} rad off its set points")
    return warnings
