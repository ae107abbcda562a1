"""`FrameTree`: transforms between frames as TF publishes them, and where a sensor's frame is on the arm."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.spatial.transforms import inverse_transform, rotation_from_quaternion, transform_from

SAME = 1e-6
"""Difference of two transforms up to which they are one [m, 1]."""

OFTEN = 10
"""Times that a transform that could change has to come unchanged before it counts as fixed."""

MOST = 10_000
"""Transforms that are kept: a publisher that invents names must not fill the memory."""


@dataclass
class _Edge:
    pose: FloatArray  # of the child in its parent
    fixed: bool  # published as static
    count: int = 1
    moves: bool = False


class FrameTree:
    """Takes transforms in, and follows them from frame to frame."""

    def __init__(self) -> None:
        self._edges: dict[tuple[str, str], _Edge] = {}
        self._neighbours: dict[str, set[str]] = {}

    @property
    def frames(self) -> list[str]:
        """Names of all frames that were heard of."""
        return sorted(self._neighbours)

    def add(
        self, parent: str, child: str, translation: Sequence[float], quaternion: Sequence[float], *, static: bool
    ) -> None:
        """Take in a transform: place (3,) [m] and orientation x, y, z, w of a child in its parent.

        Raises:
            InputError: it is none.
        """
        parent, child = parent.lstrip("/"), child.lstrip("/")
        numbers = np.array([*translation, *quaternion], dtype=float)
        length = float(np.linalg.norm(numbers[3:]))
        if not (np.isfinite(numbers).all() and abs(length - 1.0) < 1e-3) or not parent or not child or parent == child:
            raise InputError(f"the transform from {parent!r} to {child!r} is none: {numbers.tolist()}")
        x, y, z, w = numbers[3:] / length
        pose = transform_from(rotation_from_quaternion(np.array([w, x, y, z])), numbers[:3])
        known = self._edges.get((parent, child))
        if known is None:
            if len(self._edges) < MOST:
                self._edges[parent, child] = _Edge(pose, static)
                self._neighbours.setdefault(parent, set()).add(child)
                self._neighbours.setdefault(child, set()).add(parent)
        elif static:  # the latest counts
            self._edges[parent, child] = _Edge(pose, fixed=True)
        else:
            known.count += 1
            known.moves = known.moves or bool(np.abs(pose - known.pose).max() > SAME)

    def add_message(self, message: Any, *, static: bool) -> None:
        """Take in a geometry_msgs/TransformStamped, of whichever library; raises as `add`."""
        place, turn = message.transform.translation, message.transform.rotation
        self.add(
            message.header.frame_id,
            message.child_frame_id,
            (place.x, place.y, place.z),
            (turn.x, turn.y, turn.z, turn.w),
            static=static,
        )

    def locate(self, frame: str, known: Mapping[str, FloatArray], moving: Collection[str]) -> FloatArray | None:
        """(4, 4) T_tool_frame of a frame that hangs on one of those that are known, without a joint in between.

        Args:
            frame: to find.
            known: T_tool_other of the frames that move with the tool.
            moving: those of the robot that move against it: behind them there is a joint.

        Returns:
            None if no fixed transforms lead there.
        """
        waiting, poses = deque([frame.lstrip("/")]), {frame.lstrip("/"): np.eye(4)}  # T_here_frame
        while waiting:
            here = waiting.popleft()
            if here in known:
                return np.asarray(known[here] @ poses[here])
            if here in moving:
                continue
            for other in sorted(self._neighbours.get(here, ())):
                pose = self._pose(other, here)
                if pose is not None and other not in poses:
                    poses[other] = pose @ poses[here]
                    waiting.append(other)
        return None

    def _pose(self, parent: str, child: str) -> FloatArray | None:
        """T_parent_child of neighbours, in either order; None unless it is fixed."""
        up = self._edges.get((parent, child))
        edge = self._edges[child, parent] if up is None else up
        if edge.moves or not (edge.fixed or edge.count >= OFTEN):
            return None
        return edge.pose if up is not None else inverse_transform(edge.pose)
