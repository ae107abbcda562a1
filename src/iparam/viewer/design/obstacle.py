"""`Obstacle`: a box or a wall of the cell in the page. It takes viser's server and imports nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.robot.cell import Box, Plane
from iparam.spatial.transforms import rotation_from_rpy, rpy_from_rotation
from iparam.viewer.drawing import add_box, add_wall, quaternion


class Obstacle:
    """A box or a wall of the cell: what is drawn, what it is dragged by, and its numbers in the panel."""

    def __init__(
        self,
        server: Any,
        thing: Box | Plane,
        node: str,
        reach: float,
        moved: Callable[[Box | Plane], None],
        removed: Callable[[str], None],
    ) -> None:
        """Add it to the scene and to the panel.

        Args:
            server: viser's.
            thing: the box or wall.
            node: its name in the scene.
            reach: of the arm [m].
            moved: called with what it has become.
            removed: called with its name.
        """
        self._scene, self._node, self._reach, self._moved, self._thing = server.scene, node, reach, moved, thing
        gui, scene = server.gui, server.scene
        self._handle = scene.add_transform_controls(node, 0.25 * reach, depth_test=False, opacity=0.7)
        self._folder = gui.add_folder(thing.name)
        with self._folder:
            self._place = gui.add_vector3("at [m]", _place_of(thing), step=0.01)
            if isinstance(thing, Box):
                self._size = gui.add_vector3("size [m]", tuple(2.0 * thing.half_extents), step=0.01)
                self._turn = gui.add_vector3("turned, rpy [deg]", _degrees(thing), step=1.0)
            else:
                self._turn = gui.add_vector3("free side towards", tuple(thing.normal), step=0.1)
            button = gui.add_button("Remove")
        for control in (self._place, self._turn, *([self._size] if isinstance(thing, Box) else [])):
            control.on_update(self._typed)
        self._handle.on_update(self._dragged)
        button.on_click(lambda event: removed(thing.name))
        self._draw()

    def remove(self) -> None:
        """Take it out of scene and panel."""
        self._handle.remove()
        self._folder.remove()

    def _draw(self) -> None:
        thing = self._thing
        pose = np.eye(4)
        if isinstance(thing, Box):
            pose[:3, :3], pose[:3, 3] = thing.rotation, thing.center
            add_box(self._scene, f"{self._node}/shape", Box(np.zeros(3), thing.half_extents))
        else:
            pose[:3, :3], pose[:3, 3] = turned_to(thing.normal), thing.point
            add_wall(self._scene, f"{self._node}/shape", Plane(np.zeros(3), np.array([0.0, 0.0, 1.0])), self._reach)
        place(self._handle, pose)

    def _typed(self, event: Any) -> None:
        if event.client is None:
            return
        try:
            if isinstance(self._thing, Box):
                turn = rotation_from_rpy(np.radians(self._turn.value))
                thing: Box | Plane = Box(self._place.value, 0.5 * np.array(self._size.value), turn, self._thing.name)
            else:
                thing = Plane(self._place.value, self._turn.value, self._thing.name)
        except InputError:  # a number that is being typed; the next one may do
            return
        self._thing = thing
        self._draw()
        self._moved(thing)

    def _dragged(self, event: Any) -> None:
        if event.client is None:
            return
        pose = pose_of(self._handle)
        place = np.round(pose[:3, 3], 4)
        if isinstance(self._thing, Box):
            self._thing = replace(self._thing, center=place, rotation=pose[:3, :3])
            self._turn.value = _degrees(self._thing)
        else:
            self._thing = replace(self._thing, point=place, normal=np.round(pose[:3, 2], 6))
            self._turn.value = tuple(self._thing.normal.tolist())
        self._place.value = tuple(place.tolist())
        self._moved(self._thing)


def pose_of(handle: Any) -> FloatArray:
    """(4, 4) of a node of the scene."""
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_quat(np.asarray(handle.wxyz), scalar_first=True).as_matrix()
    pose[:3, 3] = handle.position
    return pose


def turned_to(normal: FloatArray) -> FloatArray:
    """(3, 3) a rotation whose z is a unit vector."""
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = np.cross(helper, normal)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(normal, x), normal])


def place(node: Any, pose: FloatArray) -> None:
    """Put a node of the scene into a pose (4, 4)."""
    node.wxyz, node.position = quaternion(pose), pose[:3, 3]


def _place_of(thing: Box | Plane) -> tuple[float, ...]:
    return tuple((thing.center if isinstance(thing, Box) else thing.point).tolist())


def _degrees(box: Box) -> tuple[float, ...]:
    return tuple(np.round(np.degrees(rpy_from_rotation(box.rotation)), 2).tolist())
