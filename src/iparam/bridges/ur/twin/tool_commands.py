"""`ToolCommands`: what the twin's programs ask for in terms of the tool's pose: inverse kinematics, straight lines and
speeds of the TCP, and paths through several places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ur.twin.controller import TwinController
from iparam.bridges.ur.twin.kinematics import pose_matrix
from iparam.bridges.ur.twin.motion import MoveJ, MoveL, ProgramError, SpeedL
from iparam.spatial.transforms import inverse_transform

EXACT = 1e-9
"""Error of inverse kinematics [m, rad]."""

LOOKS = 20
"""Places on a line that are looked at before the arm moves along it."""

STARTS = 30
"""Other joint angles to begin inverse kinematics from, where it does not succeed from those that are near."""

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PLACE = re.compile(
    rf"^\s*move([jl])\(\s*(p?)\[([^\]]*)\]\s*,\s*a\s*=\s*({_NUMBER})\s*,\s*v\s*=\s*({_NUMBER})[^)]*\)", re.MULTILINE
)


@dataclass(frozen=True, eq=False)
class Place:
    """One of a path.

    Attributes:
        straight: whether the tool goes there in a straight line, or the joints.
        pose: whether the numbers are a UR pose of the TCP, or joint angles.
        numbers: (6,).
        speed, acceleration: of the joints or the tool.
    """

    straight: bool
    pose: bool
    numbers: FloatArray
    speed: float
    acceleration: float


def places_of(program: str) -> tuple[Place, ...]:
    """The path that a client has written into its program; () if there is none. Blends are not modelled."""
    begin = program.find("def exec_move_path():")
    text = program[begin : program.find("\n    end", begin)] if begin >= 0 else ""
    found = []
    for kind, pose, numbers, acceleration, speed in _PLACE.findall(text):
        try:
            values = np.array([float(word) for word in numbers.split(",")])
        except ValueError:
            raise ProgramError(f"a path with {numbers[:80]!r}") from None
        if values.shape != (6,):
            raise ProgramError(f"a path with {len(values)} numbers for a place")
        found.append(Place(kind == "l", bool(pose), values, float(speed), float(acceleration)))
    return tuple(found)


class ToolCommands:
    """Computes for a controller; moves nothing itself.

    Args:
        controller: whose arm and TCP it is about.
    """

    def __init__(self, controller: TwinController) -> None:
        self._controller, self._arm = controller, controller.arm

    def joints(
        self, pose: FloatArray, near: FloatArray, position: float = EXACT, orientation: float = EXACT
    ) -> FloatArray | None:
        """Joint angles (6,) for a pose (4, 4) of the TCP, those nearest to ``near`` (6,) that are found; or None."""
        flange = pose @ inverse_transform(pose_matrix(self._controller.tcp_offset))
        limits, kinematics = self._arm.robot.limits, self._controller.kinematics
        for start in self._starts(near):
            found = kinematics.inverse(flange, start, max(position, EXACT), max(orientation, EXACT))
            if found is None:
                continue
            turns = np.round((near - found) / (2.0 * np.pi))
            for full in (found + 2.0 * np.pi * turns, found):
                if ((full >= limits.lower) & (full <= limits.upper)).all():
                    return np.asarray(full)
        return None

    def _starts(self, near: FloatArray) -> Iterator[FloatArray]:
        yield near
        draw = np.random.default_rng(0)
        for spread in np.linspace(0.3, np.pi, STARTS):
            yield near + draw.uniform(-spread, spread, 6)

    def solved(self, pose: FloatArray) -> FloatArray:
        """The joint angles (6,) for a UR pose (6,), near where the arm is; an error without."""
        found = self.joints(pose_matrix(pose), self._arm.goal.q)
        if found is None:
            raise ProgramError(f"no joint angles for the pose {np.round(pose, 4).tolist()}: it is out of reach")
        return found

    def line(self, pose: FloatArray, speed: float, acceleration: float) -> MoveL:
        """The straight line from where the set point is to a UR pose (6,)."""
        if speed <= 0.0 or acceleration <= 0.0:
            raise ProgramError(f"movel at {speed:g} m/s and {acceleration:g} m/s^2: both must be positive")
        start = pose_matrix(self._controller.tcp_pose(self._arm.goal.q))
        line = MoveL(start, pose_matrix(pose), speed, acceleration, self._onward)
        q = self._arm.goal.q
        for share in np.linspace(0.0, 1.0, LOOKS):
            onward = self._onward(line.pose(float(share)), q)
            if onward is None:
                raise ProgramError(f"movel: the straight line leaves the arm's reach after {100 * share:.0f} % of it")
            self._controller.check_goal(onward)
            q = onward
        return line

    def _onward(self, pose: FloatArray, near: FloatArray) -> FloatArray | None:
        flange = pose @ inverse_transform(pose_matrix(self._controller.tcp_offset))
        return self._controller.kinematics.inverse(flange, near, EXACT, EXACT)

    def joint_line(self, goal: FloatArray, speed: float, acceleration: float) -> MoveJ:
        """The straight line in joint space from where the set point is to joint angles (6,)."""
        if speed <= 0.0 or acceleration <= 0.0:
            raise ProgramError(f"movej at {speed:g} rad/s and {acceleration:g} rad/s^2: both must be positive")
        self._controller.check_goal(goal)
        start = self._arm.goal.q
        way = np.abs(goal - start)
        if way.any():  # no joint faster than it can
            speed = min(speed, float((self._arm.robot.limits.velocity * way.max() / np.maximum(way, 1e-12)).min()))
        return MoveJ(start, goal, speed, acceleration)

    def to_place(self, place: Place) -> MoveJ | MoveL:
        """The motion to a place of a path."""
        if place.straight:
            pose = place.numbers if place.pose else self._controller.tcp_pose(place.numbers)
            return self.line(pose, place.speed, place.acceleration)
        q = self.solved(place.numbers) if place.pose else place.numbers
        return self.joint_line(q, place.speed, place.acceleration)

    def at_speed(self, velocity: FloatArray, acceleration: float) -> SpeedL:
        """A velocity (6,) of the TCP in base axes, v and omega [m/s, rad/s]."""
        if acceleration <= 0.0:
            raise ProgramError(f"speedl at {acceleration:g} m/s^2: it must be positive")
        return SpeedL(velocity, acceleration, self._jacobian)

    def _jacobian(self, q: FloatArray) -> FloatArray:
        tcp = pose_matrix(self._controller.tcp_offset)
        return self._controller.kinematics.jacobian(q, tcp)
