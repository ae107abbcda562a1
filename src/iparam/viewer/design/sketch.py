"""`Sketch`: the start pose and the work cell that a motion is to be planned for, and how a hand changes them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.model import Robot
from iparam.viewer.margins import body_pose

TURN = 2.0 * np.pi
"""How far a joint without limits can be turned from zero, either way [rad]."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """What is to be planned.

    Attributes:
        robot: the arm.
        q0: (n,) start and end pose, within the joints' limits [rad or m].
        cell: the surroundings; every box and wall has a name of its own.
    """

    robot: Robot
    q0: FloatArray
    cell: WorkCell

    def __post_init__(self) -> None:
        q0 = as_float_array(self.q0, "q0", (self.robot.num_joints,))
        object.__setattr__(self, "q0", frozen(np.clip(q0, *joint_range(self.robot))))
        object.__setattr__(self, "cell", _named(self.cell))

    def with_joint(self, joint: int, value: float) -> Sketch:
        """One joint elsewhere [rad or m], at the end of its range if it would go beyond."""
        q0 = np.array(self.q0)
        q0[joint] = value
        return replace(self, q0=q0)

    def with_ground(self, height: float | None) -> Sketch:
        """The ground at another height [m], or none."""
        return replace(self, cell=replace(self.cell, ground_height=height))

    def added(self, thing: Box | Plane) -> Sketch:
        """One more box or wall; a name that is taken gets a number."""
        if isinstance(thing, Box):
            return replace(self, cell=replace(self.cell, boxes=(*self.cell.boxes, thing)))
        return replace(self, cell=replace(self.cell, planes=(*self.cell.planes, thing)))

    def changed(self, thing: Box | Plane) -> Sketch:
        """Another box or wall in place of that of the same name."""
        self._find(thing.name)
        boxes = [thing if isinstance(thing, Box) and box.name == thing.name else box for box in self.cell.boxes]
        planes = [thing if isinstance(thing, Plane) and wall.name == thing.name else wall for wall in self.cell.planes]
        return replace(self, cell=replace(self.cell, boxes=tuple(boxes), planes=tuple(planes)))

    def without(self, name: str) -> Sketch:
        """One box or wall less."""
        self._find(name)
        boxes = tuple(box for box in self.cell.boxes if box.name != name)
        planes = tuple(wall for wall in self.cell.planes if wall.name != name)
        return replace(self, cell=replace(self.cell, boxes=boxes, planes=planes))

    @property
    def obstacles(self) -> tuple[Box | Plane, ...]:
        """Boxes, then walls."""
        return (*self.cell.boxes, *self.cell.planes)

    def _find(self, name: str) -> None:
        if name not in [thing.name for thing in self.obstacles]:
            raise InputError(f"there is no {name!r} in the cell")

    def joint_pose(self, joint: int) -> FloatArray:
        """(4, 4) of the body behind a joint in the base: its z is the joint's axis, and it turns with the joint [m]."""
        return body_pose(self.robot, joint + 1, self.q0)

    def dragged(self, joint: int, pose: FloatArray) -> Sketch:
        """The joint where its body's pose (4, 4) says, which a hand has turned about or moved along the joint's axis.

        Of all angles that turn the body so, the one that is nearest to the last.
        """
        there = self.joint_pose(joint)
        if self.robot.chain.prismatic[joint]:
            return self.with_joint(joint, float(self.q0[joint] + there[:3, 2] @ (pose[:3, 3] - there[:3, 3])))
        turn = there[:3, :3].T @ pose[:3, :3]
        return self.with_joint(joint, float(self.q0[joint] + np.arctan2(turn[1, 0], turn[0, 0])))


def joint_range(robot: Robot) -> tuple[FloatArray, FloatArray]:
    """(n,) least and largest value of each joint; of one without limits a turn either way [rad or m]."""
    lower, upper = robot.limits.lower, robot.limits.upper
    return np.where(np.isfinite(lower), lower, -TURN), np.where(np.isfinite(upper), upper, TURN)


def _named(cell: WorkCell) -> WorkCell:
    """The cell with names that tell its boxes and walls apart."""
    taken: set[str] = set()

    def own(name: str) -> str:
        count, found = 1, name
        while found in taken:
            count += 1
            found = f"{name} {count}"
        taken.add(found)
        return found

    boxes = tuple(replace(box, name=own(box.name)) for box in cell.boxes)
    planes = tuple(replace(wall, name=own(wall.name)) for wall in cell.planes)
    return replace(cell, boxes=boxes, planes=planes)
