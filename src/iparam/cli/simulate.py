"""`iparam simulate`: an arm follows a trajectory with a payload in a simulator, and its sensors are recorded."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from tyro.conf import arg

import iparam
from iparam.cli.console.printing import AsJson, note, note_remark, print_json, print_line, progress_bar
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.arm import ArmOptions
from iparam.cli.options.joint_state import Tip, note_other_arm, note_robot_file, note_shape, robot_of
from iparam.cli.options.mounting import MadeWithSetup, MountingOptions, note_unstored
from iparam.cli.options.payload import PayloadOptions
from iparam.cli.options.planning import (
    Blend,
    blended,
    note_missing_limits,
    note_rating,
    note_shapes_beyond_preset,
    read_plan,
    require_planned_frame,
)
from iparam.errors import InputError
from iparam.files.kind import FileKind
from iparam.remarks import Remark, messages
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.catalog import robot_names
from iparam.rounding import number, numbers
from iparam.simulation.newton.backend import has_compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iparam.robot.cell import WorkCell
    from iparam.robot.collision.shapes import PayloadBox
    from iparam.robot.model import Robot
    from iparam.simulation import Motors, MujocoScene, MujocoSimulator, NewtonScene, NewtonSimulator, SimulationResult
    from iparam.trajectory import PlannedPayload, Trajectory, TrajectoryFile


@dataclass(frozen=True, eq=False)
class LoadedArm:
    """What the options describe.

    Attributes:
        name: of the arm, by which it is found again.
        scene: with its payload, ready to move.
        trajectory: that it is to follow.
    """

    name: str
    scene: MujocoScene | NewtonScene
    trajectory: Trajectory


@dataclass(frozen=True, kw_only=True)
class SimulatedArmOptions(ArmOptions, MountingOptions, PayloadOptions):
    """Which arm follows which trajectory with which payload, and what its sensors are like; commands add their own."""

    trajectory: Annotated[Path, arg(metavar="FILE")]
    """Trajectory to follow: .json."""
    truth: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.TRUTH)
    ] = None
    """File for the payload's true inertial parameters: .json."""
    overwrite: Overwrite = False
    robot: Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint="(default: the trajectory's)")] = None
    """A name from 'iparam robots', or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    tip: Tip = None
    noise: Annotated[str, arg(metavar="PRESET")] = "ideal"
    """Noise of the sensors: ideal, ur5e or harsh."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """Of the noise."""
    physics_rate: Annotated[float, arg(metavar="HZ")] = 2000.0
    """Steps of the physics a second."""
    sensor_rate: Annotated[
        float | None, arg(metavar="HZ", help_behavior_hint="(default: 500, or --physics-rate if that is less)")
    ] = None
    """Samples of all sensors a second."""
    cell: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: the trajectory's)")] = None
    """Work cell: .json with boxes, walls and the ground."""
    clearance: Annotated[float | None, arg(metavar="M", help_behavior_hint="(default: the trajectory's)")] = None
    """Least distance that the motion must keep, of arm and payload from each other and from the cell [m]."""
    blend: Blend = None
    payload_known: Annotated[bool, arg(help_behavior_hint="")] = False
    """The arm's controller knows the payload, and follows more closely."""

    def load(
        self,
        kind: type[MujocoSimulator] | type[NewtonSimulator],
        drives: Motors | None = None,
        *,
        quiet: bool = False,
    ) -> LoadedArm:
        """The arm, ready to move; what the options and the trajectory's file do not share is noted.

        Args:
            kind: of the simulator.
            drives: of the joints; None for ideal ones.
            quiet: whether to leave out what the trajectory was planned with.
        """
        given = self.carried()
        planned = blended(read_plan(self.trajectory), self.blend)
        name = self.robot or planned.robot
        if not name:
            raise InputError(f"{self.trajectory} does not say which robot it belongs to: add --robot")
        named_by = "" if self.robot else str(self.trajectory)
        robot = robot_of(name, self.tip, planned.arm, **self.cut(), named_by=named_by)
        note_other_arm(planned.robot, robot, self.robot, str(self.trajectory))
        payload = given if self.names_payload else self._planned_payload(planned, robot)
        self._note_conditions(planned, given, quiet)
        gravity = iparam.robot.agreed_gravity(self.given_gravity(), planned.gravity, str(self.trajectory))
        if drives is not None:
            if drives.drive_gains.size != robot.num_joints:
                raise InputError(
                    f"--motors {drives.name} are {drives.drive_gains.size}, {name} has {robot.num_joints} joints"
                )
            if drives.name != robot.name:
                note(f"--motors {drives.name} are those of another arm than {robot.name}")
            robot = robot.with_armature(drives.rotor_inertia)
        x, y, z = STANDARD_GRAVITY if gravity is None else gravity.tolist()
        simulator = kind(
            physics_rate=self.physics_rate,
            rates=iparam.simulation.SensorRates.all_at(
                min(500.0, self.physics_rate) if self.sensor_rate is None else self.sensor_rate
            ),
            controller=replace(kind().controller, payload_known=self.payload_known),
            friction=None if drives is None else drives.friction,
            gravity=(x, y, z),
        )
        note_shape(robot)
        conditions = planned.conditions or iparam.trajectory.PlanConditions.unstated()
        note_missing_limits(robot, conditions)
        note_rating(robot, None if payload is None else payload.parameters.mass)
        clearance = conditions.limits.clearance if self.clearance is None else self.clearance
        boxes = payload.boxes if payload is not None else ()
        shapes = None
        if conditions.preset and self.cell is None and self.clearance is None and _is_within(boxes, conditions.payload):
            shapes = iparam.excitation.SphereChecker().scene(robot, boxes)
            note_shapes_beyond_preset(planned.trajectory, robot, boxes, conditions)
        scene = simulator.load(robot, payload, self._cell(planned), clearance, shapes)
        return LoadedArm(name, scene, planned.trajectory)

    def _cell(self, planned: TrajectoryFile) -> WorkCell | None:
        if self.cell is not None:
            return iparam.robot.load_cell(self.cell)
        return None if planned.conditions is None else planned.conditions.cell

    def _planned_payload(self, planned: TrajectoryFile, robot: Robot) -> iparam.Payload | None:
        """What the trajectory was planned with, as a solid box."""
        box = None if planned.conditions is None else planned.conditions.payload
        if box is None:
            return None
        require_planned_frame(planned, robot, str(self.trajectory), "--payload")
        if box.mass == 0.0:
            size = " ".join(f"{edge:g}" for edge in box.size)
            raise InputError(
                f"{self.trajectory} was planned with a payload of {box}: say what the arm carries, e.g. --payload box "
                f"--size {size} --mass KG, or --payload none"
            )
        return iparam.Payload.box(mass=box.mass, size=box.size, offset=box.center)

    def _note_conditions(self, planned: TrajectoryFile, given: iparam.Payload | None, quiet: bool) -> None:
        """What the trajectory says it was planned with, and which options are taken instead."""
        conditions = planned.conditions
        if conditions is None:
            if not self.names_payload:
                note(f"{self.trajectory} does not say what payload it was planned with: taken for none (--payload)")
            return
        given_here = {"--cell": self.cell, "--clearance": self.clearance}
        other = [option for option, value in given_here.items() if value is not None]
        if self.names_payload and not _is_planned(conditions.payload, given):
            other.append("--payload" if self.payload_mesh is None else "--payload-mesh")
        if other:
            note(f"{self.trajectory} was planned with {conditions}; taken instead: {' and '.join(other)}")
        elif not quiet:
            print_line(f"planned with  {conditions}")


@dataclass(frozen=True, kw_only=True)
class Simulate(SimulatedArmOptions, MadeWithSetup):
    r"""An arm follows a trajectory with a payload in a simulator; sensors are recorded.

    The payload's true inertia is written to --truth, never into the recording.

    The payload is the trajectory's, unless options say another or none.

    Example:
      iparam simulate --robot ur5e --payload box --mass 2 --size 0.1 0.15 0.2 \
          --trajectory t.json --noise ur5e --seed 3 \
          --output run.parquet --truth truth.json
      iparam simulate --trajectory t.json --payload-mesh part.obj --density 2700 \
          --output run.parquet
      iparam simulate --trajectory arm.json --motors ur10e --output log.parquet
    """

    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.RECORDING)]
    """File for the recording: .parquet or .csv. Replaced if it exists."""
    backend: Literal["mujoco", "newton"] = "mujoco"
    """The simulator: MuJoCo, or Newton (extra newton), in single precision and slower for one arm."""
    motors: Annotated[str | None, arg(metavar="ARM", help_behavior_hint="(default: ideal ones)")] = None
    """Friction, rotors and currents of a real arm's motors: ur10e. Records currents, not torques."""
    json: AsJson = False

    def run(self) -> None:
        """Simulate and write."""
        noise = iparam.noise_preset(self.noise)
        drives = None if self.motors is None else iparam.simulation.motors(self.motors)
        arm = self.load(self._simulator_kind(), drives, quiet=self.json)
        robot, duration = arm.scene.robot, arm.trajectory.duration
        started = time.perf_counter()
        with progress_bar(f"{robot.name}, {duration:g} s") as progress:
            result = arm.scene.run(arm.trajectory, progress)
        elapsed = time.perf_counter() - started
        recording = noise.apply(result.recording, self.seed)
        if drives is not None:
            recording = iparam.simulation.with_motor_currents(
                recording, drives.drive_gains, drives.current_noise, self.seed
            )
            if arm.scene.payload is None:  # nothing hangs on the wrist's sensor
                recording = recording.without_signal("wrench")
        if robot.name not in robot_names():
            recording = replace(recording, robot=arm.name)  # the URDF's path: its robot's name would not find it again
        recording = self.stating_setup(recording)
        recording.save(self.output)
        note_unstored(recording, self.output)
        note_robot_file(recording.robot, self.output)
        if self.truth is not None:
            result.save_truth(self.truth)
        remarks = [*recording.remarks, *iparam.sensing.wrist_range_remarks(robot.name, recording)]
        for one in remarks:
            note_remark(one)
        self._report(result, duration, elapsed, remarks)

    def _simulator_kind(self) -> type[MujocoSimulator] | type[NewtonSimulator]:
        if self.backend == "mujoco":
            return iparam.simulation.MujocoSimulator
        if not has_compiled():
            note("Newton compiles its kernels the first time, which takes some minutes")
        return iparam.simulation.NewtonSimulator

    def _report(self, result: SimulationResult, duration: float, elapsed: float, remarks: list[Remark]) -> None:
        signals = result.recording.signals
        error = float(np.abs(signals["q"].values - signals["target_q"].values).max())
        samples = {name: int(signal.time.size) for name, signal in signals.items()}
        if self.json:
            print_json(
                {
                    "robot": result.recording.robot,
                    "duration": duration,
                    "samples": samples,
                    "largest_tracking_error": error,
                    "noise": self.noise,
                    "seed": self.seed,
                    "output": str(self.output),
                    "truth": str(self.truth) if self.truth is not None else None,
                    "warnings": list(messages(remarks)),
                    "remarks": [one.to_document() for one in remarks],
                    "real_time_factor": duration / elapsed,
                }
            )
            return
        forces = signals["wrench"].values
        print_line(
            f"simulated     {number(duration, 2)} s of {result.recording.robot}, {duration / elapsed:.3g} x real time"
        )
        print_line(f"samples       {samples['q']} of the joints, {samples['wrench']} of the wrench")
        print_line(f"tracking      {error:.1e} rad off the set points at most")
        print_line(f"force         {' '.join(numbers(np.abs(forces[:, :3]).max(axis=0), 1))} N at most")
        print_line(f"torque        {' '.join(numbers(np.abs(forces[:, 3:]).max(axis=0), 2))} N m at most")
        print_line(f"recording     {self.output} (noise: {self.noise})")
        if self.truth is not None:
            print_line(f"truth         {self.truth}")


def _is_within(boxes: Sequence[PayloadBox], planned: PlannedPayload | None) -> bool:
    """Whether boxes on the tool are within the one that was planned with."""
    if planned is None:
        return not boxes
    reach = [np.abs(box.center - planned.center) + box.half_extents for box in boxes]
    return all((2.0 * extent <= planned.size + 1e-9).all() for extent in reach)


def _is_planned(planned: PlannedPayload | None, given: iparam.Payload | None) -> bool:
    """Whether a payload is the one that was planned with."""
    if planned is None or given is None:
        return planned is None and given is None
    body = planned.parameters
    return body is not None and np.allclose(body.phi, given.parameters.phi, rtol=1e-9, atol=0.0)
