"""`Simulator`: the protocol of a simulator, its sensors, and what a simulated run gives. The truth travels apart, in
a file of its own.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError, InputError, IparamError
from iparam.files.json import read_json, write_json
from iparam.files.kind import FileKind
from iparam.motion.motion import MotionEstimate
from iparam.recording import Recording
from iparam.robot.cell import WorkCell
from iparam.robot.collision.scene import CollisionScene
from iparam.robot.model import Robot
from iparam.simulation.payload import Payload
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.checks import TIME_SLACK, positive_number
from iparam.trajectory.trajectory import Trajectory


class SimulationError(IparamError):
    """A simulated run had to be stopped; the message says when and why."""


class CollisionError(SimulationError):
    """Two bodies touched that must not.

    Attributes:
        bodies: the names of the two.
        time: when, from the start of the trajectory [s].
        depth: how far they reach into each other; negative if they are apart, but too close [m].
        required: distance that they were to keep [m].
        tracking_error: how far the arm was off its set points if those are clear [rad]; None if they are not.
    """

    def __init__(
        self,
        bodies: tuple[str, str],
        time: float,
        depth: float,
        *,
        required: float = 0.0,
        tracking_error: float | None = None,
    ) -> None:
        self.bodies, self.time, self.depth = bodies, time, depth
        self.required, self.tracking_error = required, tracking_error
        when = f"at {time:.3f} s" if time > 0.0 else "in the start pose"
        what = f"{bodies[0]} hits {bodies[1]} ({1e3 * depth:.2g} mm deep)"
        if depth < 0.0:
            missing = 1e3 * (required + depth)
            what = f"{bodies[0]} is {missing:.2g} mm too close to {bodies[1]}, of the {1e3 * required:g} mm to be kept"
        if tracking_error is not None:
            what += f"; the trajectory is clear, but the arm is {tracking_error:.2g} rad off its set points"
        super().__init__(f"collision {when}: {what}")


FORMAT = "iparam-truth/1"


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """The payload of a simulated run.

    Attributes:
        payload: mass, centre of mass and inertia in ``frame``; all 0 if the arm carried nothing.
        frame: the tool frame's name; "" if unknown.
    """

    payload: InertialParameters
    frame: str = ""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON in the format ``iparam-truth/1``, replacing the file in one step."""
        body = self.payload
        document = {
            "format": FORMAT,
            "frame": self.frame,
            "mass": body.mass,
            "center_of_mass": body.center_of_mass.tolist(),
            "inertia_about_com": body.inertia_about_com.tolist(),
            "inertia_about_origin": body.inertia_about_origin.tolist(),
            "phi": body.phi.tolist(),
        }
        write_json(path, document)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GroundTruth:
        """Read what `save` wrote."""
        document = read_json(path, wanted=(FileKind.TRUTH,))
        if document.text("format") != FORMAT:
            raise document.error("format", f"is {document.text('format')!r}; this version of iparam reads {FORMAT!r}")
        center, inertia = document.array("center_of_mass", 1), document.array("inertia_about_com", 2)
        try:
            body = InertialParameters(document.number("mass"), center, inertia)
        except InputError as error:
            raise FileFormatError(f"{document.file}: {error}") from None
        stated = document.array("phi", 1)
        if stated.shape != (10,) or not np.allclose(stated, body.phi, rtol=1e-9, atol=1e-12):
            raise FileFormatError(f"{document.file}: phi and the mass, centre of mass and inertia do not agree")
        return cls(body, document.text("frame"))


@dataclass(frozen=True)
class SensorRates:
    """Samples a second of each group of signals [Hz].

    A rate need not divide the physics rate: a sample is taken at the step nearest to its time and stamped with that
    step's time, so the stamps are always true and then not quite evenly spaced.

    Attributes:
        joints: joint angles, velocities, torques and set points.
        wrench: the force/torque sensor.
        imu: accelerometer and gyro.
    """

    joints: float = 500.0
    wrench: float = 500.0
    imu: float = 500.0

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            rate = positive_number(getattr(self, spec.name), "sensor_rate", f"Hz ({spec.name})")
            object.__setattr__(self, spec.name, rate)

    @classmethod
    def all_at(cls, rate: float) -> SensorRates:
        """The same ``rate`` [Hz] for all."""
        return cls(rate, rate, rate)

    def steps(self, physics_rate: float, last_step: int) -> dict[str, NDArray[np.int64]]:
        """For each group the physics steps 0..last_step at which it is read, in order."""
        return {
            spec.name: _steps(spec.name, getattr(self, spec.name), physics_rate, last_step)
            for spec in dataclasses.fields(self)
        }


def _steps(name: str, rate: float, physics_rate: float, last_step: int) -> NDArray[np.int64]:
    ratio = physics_rate / rate
    if ratio < 1.0 - TIME_SLACK:
        raise InputError(
            f"the sensor rate {name!r} is {rate:g} Hz, more than the physics rate, {physics_rate:g} Hz: there is "
            "nothing to measure between two steps",
            argument="physics_rate",
            value=physics_rate,
        )
    count = int(np.floor(last_step / ratio + 0.5)) + 1
    steps: NDArray[np.int64] = np.floor(np.arange(count) * ratio + 0.5).astype(np.int64)
    return steps[steps <= last_step]


Progress = Callable[[float], None]
"""Told from time to time which part of a run is done, 0 to 1."""


@dataclass(frozen=True, eq=False)
class SimulationResult:
    """What a simulated run gives: the recording, as a real arm would, and apart from it what only a simulator knows.

    Attributes:
        recording: the sensors' signals without noise; add it with `iparam.sensing.NoiseModel`.
        truth: the payload.
        true_motion: the joints' motion at every recorded instant (T samples), with the simulator's own accelerations.
        true_tool_pose: (T, 4, 4) pose of the tool frame in the base at the same instants, as the simulator has it [m].
    """

    recording: Recording
    truth: GroundTruth
    true_motion: MotionEstimate
    true_tool_pose: FloatArray

    def save_truth(self, path: str | os.PathLike[str]) -> None:
        """Write the truth to a file of its own, see `GroundTruth.save`."""
        self.truth.save(path)


class Scene(Protocol):
    """An arm with its payload in its cell, ready to move; every run starts anew."""

    def run(self, trajectory: Trajectory, progress: Progress | None = None) -> SimulationResult:
        """Let the arm follow ``trajectory`` and record it.

        Raises:
            SimulationError: the arm hit something, or could not follow.
        """


class Simulator(Protocol):
    """A simulator's settings; they do not change."""

    def load(
        self,
        robot: Robot,
        payload: Payload | None = None,
        cell: WorkCell | None = None,
        clearance: float = 0.0,
        shapes: CollisionScene | None = None,
    ) -> Scene:
        """Build the scene.

        Args:
            robot: the arm.
            payload: rigidly on its tool frame; None for nothing.
            cell: its surroundings in its base frame; None for the ground at z = 0 alone.
            clearance: least distance that a trajectory must keep, as `excite check` has it [m]; 0 refuses contact.
            shapes: what may not touch what; None for the arm's capsules, the payload's boxes and the cell.
        """
