"""`Simulator`: the protocol of a simulator, and what a simulated run gives."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from iparam.arrays import FloatArray
from iparam.recording import Recording
from iparam.robot.cell import WorkCell
from iparam.robot.model import Robot
from iparam.simulation.ground_truth import GroundTruth
from iparam.simulation.payload import Payload
from iparam.trajectory.trajectory import JointMotion, Trajectory

Progress = Callable[[float], None]
"""Told from time to time which part of a run is done, 0 to 1."""


@dataclass(frozen=True, eq=False)
class SimulationResult:
    """What a simulated run gives: the recording, as a real arm would, and apart from it what only a simulator knows.

    Attributes:
        recording: the sensors' signals without noise; add it with `iparam.sensing.NoiseModel`.
        truth: the payload.
        true_motion: the joints' motion at every recorded instant (T samples), with the simulator's own accelerations.
            The jerk is a difference quotient of them.
        true_tool_pose: (T, 4, 4) pose of the tool frame in the base at the same instants, as the simulator has it [m].
    """

    recording: Recording
    truth: GroundTruth
    true_motion: JointMotion
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

    def load(self, robot: Robot, payload: Payload | None = None, cell: WorkCell | None = None) -> Scene:
        """Build the scene.

        Args:
            robot: the arm.
            payload: rigidly on its tool frame; None for nothing.
            cell: its surroundings in its base frame; None for the ground at z = 0 alone.
        """
