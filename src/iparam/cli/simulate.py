"""`iparam simulate`: an arm follows a trajectory with a payload in MuJoCo, and its sensors are recorded."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from tyro.conf import arg

from iparam.cli.joint_state import exact_count, robot_of
from iparam.cli.output import note, number, numbers, print_json, print_line
from iparam.errors import InputError
from iparam.robot.catalog import robot_names

if TYPE_CHECKING:
    from iparam.simulation import Payload, SimulationResult

_SIZES = {
    "box": ("edge lengths x y z [m]", 3),
    "cylinder": ("radius and length [m]", 2),
    "two-stage-cylinder": ("radius 1, length 1, radius 2, length 2 [m]", 4),
    "sphere": ("the radius [m]", 1),
}


@dataclass(frozen=True, kw_only=True)
class Simulate:
    r"""An arm follows a trajectory with a payload in MuJoCo; its sensors are recorded.

    The payload's true inertia is written to --truth, never into the recording.

    Example:
      iparam simulate --robot ur5e --payload box --mass 2 --size 0.1 0.15 0.2 \
          --trajectory t.json --noise ur5e --seed 3 \
          --output run.parquet --truth truth.json
      iparam simulate --trajectory t.json --payload-mesh part.obj --density 2700 \
          --output run.parquet
    """

    trajectory: Annotated[Path, arg(metavar="FILE")]
    """Trajectory to follow: .json."""
    output: Annotated[Path, arg(metavar="FILE")]
    """File for the recording: .parquet or .csv. Replaced if it exists."""
    truth: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)")] = None
    """File for the payload's true inertial parameters: .json."""
    robot: Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint="(default: the trajectory's)")] = None
    """A name from 'iparam robots', or the path of a URDF file."""
    tip: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the robot's own)")] = None
    """The frame taken as the tool: a link of the URDF, or 'flange'."""
    payload: Literal["box", "cylinder", "two-stage-cylinder", "sphere", "none"] = "none"
    """Shape of the payload."""
    size: Annotated[tuple[float, ...], arg(metavar="LENGTH ..", help_behavior_hint="")] = ()
    """Its size [m]. box: x y z; cylinder: radius length; two-stage: both of each; sphere: radius."""
    payload_mesh: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """A closed mesh, .obj or .stl, instead of --payload."""
    mesh_scale: Annotated[float, arg(metavar="M")] = 1.0
    """Metres in one of the mesh's units: 0.001 for millimetres."""
    mass: Annotated[float | None, arg(metavar="KG", help_behavior_hint="")] = None
    """Mass of the payload [kg]."""
    density: Annotated[float | None, arg(metavar="KG/M3", help_behavior_hint="")] = None
    """Its density instead of its mass [kg/m^3]: 2700 for aluminium, 7850 for steel."""
    offset: Annotated[tuple[float, ...], arg(metavar="X Y Z", help_behavior_hint="(default: in front of it)")] = ()
    """Its centre, for a mesh its file's origin, in the tool frame [m]."""
    rpy_deg: Annotated[tuple[float, ...], arg(metavar="R P Y")] = (0.0, 0.0, 0.0)
    """Roll, pitch and yaw that turn it in the tool frame [deg]."""
    noise: Annotated[str, arg(metavar="PRESET")] = "ideal"
    """Noise of the sensors: ideal, ur5e or harsh."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """Of the noise."""
    physics_rate: Annotated[float, arg(metavar="HZ")] = 2000.0
    """Steps of the physics a second."""
    sensor_rate: Annotated[float, arg(metavar="HZ")] = 500.0
    """Samples of all sensors a second."""
    payload_known: Annotated[bool, arg(help_behavior_hint="")] = False
    """The arm's controller knows the payload, and follows more closely."""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """Print one JSON object, SI units, all digits."""

    def run(self) -> None:
        """Simulate and write."""
        from iparam.sensing.force_torque import force_torque_sensor, force_torque_sensors
        from iparam.sensing.noise import noise_preset
        from iparam.simulation import ComputedTorque, MujocoSimulator, SensorRates
        from iparam.trajectory import load_trajectory

        self._check_files()
        noise, payload = noise_preset(self.noise), self._payload()
        planned = load_trajectory(self.trajectory)
        name = self.robot or planned.robot
        if not name:
            raise InputError(f"{self.trajectory} does not say which robot it belongs to: add --robot")
        robot = robot_of(name, self.tip)
        simulator = MujocoSimulator(
            physics_rate=self.physics_rate,
            rates=SensorRates.all_at(self.sensor_rate),
            controller=ComputedTorque(payload_known=self.payload_known),
        )
        scene = simulator.load(robot, payload)
        started = time.perf_counter()
        with _progress(f"{robot.name}, {planned.trajectory.duration:g} s") as progress:
            result = scene.run(planned.trajectory, progress)
        elapsed = time.perf_counter() - started
        recording = noise.apply(result.recording, self.seed)
        if robot.name not in robot_names():
            recording = replace(recording, robot=name)  # the URDF's path: its robot's name would not find it again
        recording.save(self.output)
        if self.truth is not None:
            result.save_truth(self.truth)
        warnings = list(recording.warnings)
        if robot.name in force_torque_sensors():
            warnings += force_torque_sensor(robot.name).range_warnings(recording)
        for warning in warnings:
            note(warning)
        self._report(result, planned.trajectory.duration, elapsed, warnings)

    def _check_files(self) -> None:
        """Refuse files that cannot be meant before the work begins."""
        if self.truth is not None and self.truth.resolve() == self.output.resolve():
            raise InputError("--truth and --output are the same file: the truth must not be in the recording")
        for option, path in (("--output", self.output), ("--truth", self.truth)):
            if path is not None and not path.absolute().parent.is_dir():
                raise InputError(f"{option} {path}: the folder {path.parent} does not exist; create it first")

    def _payload(self) -> Payload | None:
        from iparam.simulation import Payload

        place: dict[str, Any] = {
            "mass": self.mass,
            "density": self.density,
            "offset": exact_count(self.offset, "--offset", "x y z in the tool frame [m]", 3) if self.offset else None,
        }
        turn = np.radians(exact_count(self.rpy_deg, "--rpy-deg", "roll, pitch and yaw [deg]", 3))
        if self.payload_mesh is not None:
            if self.payload != "none" or self.size:
                raise InputError("give --payload with --size or --payload-mesh, not both")
            return Payload.mesh(self.payload_mesh, scale=self.mesh_scale, rotation_rpy=turn, **place)
        if self.payload == "none":
            if self.size or self.mass is not None or self.density is not None or self.offset:
                raise InputError("the payload has no shape: add --payload box, cylinder, ... or --payload-mesh")
            return None
        lengths = exact_count(self.size, "--size", *_SIZES[self.payload]).tolist()
        if self.payload == "box":
            return Payload.box(size=lengths, rotation_rpy=turn, **place)
        if self.payload == "cylinder":
            return Payload.cylinder(radius=lengths[0], length=lengths[1], rotation_rpy=turn, **place)
        if self.payload == "sphere":
            return Payload.sphere(radius=lengths[0], **place)
        stages = dict(zip(("radius1", "length1", "radius2", "length2"), lengths, strict=True))
        return Payload.two_stage_cylinder(**stages, rotation_rpy=turn, **place)

    def _report(self, result: SimulationResult, duration: float, elapsed: float, warnings: list[str]) -> None:
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
                    "warnings": warnings,
                    "real_time_factor": duration / elapsed,
                }
            )
            return
        forces = signals["wrench"].values
        print_line(
            f"simulated     {number(duration, 2)} s of {result.recording.robot}, {duration / elapsed:.0f} x real time"
        )
        print_line(f"samples       {samples['q']} of the joints, {samples['wrench']} of the wrench")
        print_line(f"tracking      {error:.1e} rad off the set points at most")
        print_line(f"force         {' '.join(numbers(np.abs(forces[:, :3]).max(axis=0), 1))} N at most")
        print_line(f"torque        {' '.join(numbers(np.abs(forces[:, 3:]).max(axis=0), 2))} N m at most")
        print_line(f"recording     {self.output} (noise: {self.noise})")
        if self.truth is not None:
            print_line(f"truth         {self.truth}")


@contextmanager
def _progress(title: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)
