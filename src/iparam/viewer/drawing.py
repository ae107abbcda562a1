"""`Drawing`: a view as nodes of a 3-D scene, and their poses at a time. It takes viser's scene and imports nothing."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from iparam.arrays import FloatArray
from iparam.estimation.shape.found import FoundShape
from iparam.robot.cell import Box, Plane
from iparam.robot.collision.shapes import PayloadBox
from iparam.robot.kinematics import forward_kinematics, frame_poses
from iparam.viewer.link_meshes import ArmMeshes, arm_meshes, capsule_meshes, ellipsoid_triangles
from iparam.viewer.load_shapes import LoadShapes
from iparam.viewer.margins import Nearest, nearest_pair
from iparam.viewer.source import Moment
from iparam.viewer.track import Track, joint_states
from iparam.viewer.view import View

Color = tuple[int, int, int]

LINK: tuple[Color, Color, Color] = ((190, 197, 206), (230, 159, 0), (213, 60, 0))
"""Of a link whose joint is far from its limits, near one, and beyond one."""

GHOST: Color = (86, 180, 233)
PAYLOAD: Color = (240, 228, 66)
OBSTACLE: Color = (150, 130, 110)
WRENCH: dict[str, Color] = {
    "measured force": (0, 114, 178),
    "measured torque": (204, 121, 167),
    "predicted force": (230, 159, 0),
    "predicted torque": (240, 190, 90),
}
SHAFTS = {"measured": (0.006, 0.026), "predicted": (0.011, 0.015)}
"""Radii of the shaft and the head of an arrow, in half sizes of what is seen. Where the prediction is good, the two lie
in each other: the shaft of the one and the head of the other remain to be seen."""

LOADS: tuple[Color, ...] = ((230, 159, 0), (0, 158, 115))
TRUTH: Color = (60, 60, 60)
REGION: Color = (213, 94, 0)
PATH: Color = (213, 94, 0)

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def quaternion(pose: FloatArray) -> FloatArray:
    """(4,) w first, of the rotation of a pose (4, 4)."""
    return np.asarray(Rotation.from_matrix(pose[:3, :3]).as_quat(scalar_first=True))


def linear(color: Color) -> Color:
    """A colour as the page takes that of an arrow: by the light that it gives and not, as all others, by sRGB."""
    share = np.array(color) / 255.0
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    red, green, blue = np.round(255.0 * light).astype(int).tolist()
    return red, green, blue


def upright(gravity: FloatArray) -> FloatArray:
    """(3, 3) in base axes: a row that is level and nearly along x, one to its left, one up, against gravity (3,)."""
    up = -gravity / np.linalg.norm(gravity)
    ahead = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[2]
    level = ahead - (ahead @ up) * up
    level /= np.linalg.norm(level)
    return np.stack([level, np.cross(up, level), up])


class ArmDrawing:
    """One arm: a node for each of its frames that something is fixed to, with the meshes below it."""

    def __init__(self, scene: Any, root: str, track: Track, meshes: ArmMeshes, ghost: bool) -> None:
        self.track = track
        robot = self.robot = track.robot
        frames = dict.fromkeys([*(mesh.frame for mesh in meshes.meshes), robot.tool_frame])
        self.nodes = {
            frame: scene.add_frame(f"{root}/{index}_{node_name(frame)}", show_axes=False)
            for index, frame in enumerate(frames)
        }
        bodies = dict(zip(robot.frames, robot.chain.frame_bodies.tolist(), strict=True))
        self.links: list[tuple[int, Any]] = []
        for index, mesh in enumerate(meshes.meshes):
            node = scene.add_mesh_simple(
                f"{self.nodes[mesh.frame].name}/shape{index}",
                mesh.vertices.astype(np.float32),
                mesh.faces.astype(np.uint32),
                color=GHOST if ghost else LINK[0],
                opacity=0.35 if ghost else None,
                flat_shading=not mesh.smooth,
                side="double",
                cast_shadow=not ghost,
            )
            self.links.append((bodies[mesh.frame], node))
        self._ghost = ghost
        self._states: list[int] = [0] * len(self.links)

    @property
    def tool(self) -> str:
        """Name of the node of the tool frame."""
        return str(self.nodes[self.robot.tool_frame].name)

    def show(self, q: FloatArray, dq: FloatArray) -> None:
        """Take a pose (n,); a link whose joint is near a limit, at these speeds (n,), is coloured."""
        poses = frame_poses(self.robot, q)
        for frame, node in self.nodes.items():
            node.wxyz, node.position = quaternion(poses[frame]), poses[frame][:3, 3]
        if self._ghost:
            return
        states = joint_states(self.robot, q, dq)
        for index, (body, node) in enumerate(self.links):
            state = int(states[body - 1]) if body else 0
            if state != self._states[index]:
                self._states[index] = state
                node.color = LINK[state]


class Drawing:
    """All that a view shows in space.

    Attributes:
        arms: the arm, and its ghost.
        groups: nodes that are shown and hidden together, by what a checkbox calls them.
        notes: of the view, and on how the arm is drawn.
        collisions: arm, payload and cell, whose nearest pair is told; None before margins are known.
        nearest: at the time that is shown; None before margins are known.
    """

    def __init__(self, scene: Any, view: View, most_triangles: int) -> None:
        self.view, self.notes = view, list(view.notes)
        self._scene = scene
        self.arms: list[ArmDrawing] = []
        self.groups: dict[str, list[Any]] = {}
        self.nearest: Nearest | None = None
        self._arrows: dict[str, Any] = {}
        self._load: LoadShapes | None = None
        self.collisions: Any = None
        if view.robot is not None:
            if view.capsules:
                meshes = ArmMeshes(capsule_meshes(view.robot))
            else:
                meshes = arm_meshes(view.robot, most_triangles)
                self.notes += meshes.notes
            for index, track in enumerate(view.tracks):
                ghost = index > 0
                arm = ArmDrawing(scene, "/ghost" if ghost else "/arm", track, meshes, ghost)
                self.arms.append(arm)
                if ghost:
                    self.groups.setdefault(f"ghost: {track.name}", []).append(
                        scene.add_frame("/ghost", show_axes=False)
                    )
        self._surroundings()
        tool = self.arms[0].tool if self.arms else "/load"
        self._add_payload(tool)
        for index, load in enumerate(view.loads):
            self._add_load(load, index, f"{tool}/load{index}")
        if self.arms:
            self._path()
        else:
            scene.add_frame("/load", axes_length=0.05, axes_radius=0.0015)
        if self.arms:
            axes = scene.add_frame(f"{tool}/axes", axes_length=0.1, axes_radius=0.003)
            self.groups.setdefault("tool axes", []).append(axes)

    @cached_property
    def extent(self) -> tuple[FloatArray, float]:
        """Middle (3,) of all that moves, or of the loads alone, and how far it reaches around that [m]."""
        if self.arms:
            points = [np.zeros((1, 3))]
            for arm in self.arms:
                q, _ = arm.track.motion(arm.track.samples[:: max(1, len(arm.track.samples) // 100)])
                points += [poses[:, :3, 3] for poses in frame_poses(arm.track.robot, q).values()]
        else:
            points = [np.zeros((1, 3))]
            for load in self.view.loads:
                half = 0.6 * float(load.body.box_size.max()) if load.body is not None else 0.02
                center = load.parameters.center_of_mass
                points.append(np.stack([center - half, center + half]))
        everything = np.concatenate(points)
        low, high = everything.min(axis=0), everything.max(axis=0)
        return 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 0.05)

    def complete(self, view: View) -> None:
        """Take the view with its margins and its prediction."""
        self.view = view
        if view.margins is not None:
            self.collisions = view.margins.scene

    def show(self, moment: Moment) -> None:
        """Move everything to where it is at a moment."""
        for arm, motion in zip(self.arms, moment.motions, strict=True):
            arm.show(*motion)
        if self.collisions is not None:
            self.nearest = nearest_pair(self.collisions, moment.motions[0][0])
        for name, ends in moment.arrows().items():
            self._show_arrow(name, ends)
        if moment.load is not self._load:
            self._show_load(moment.load)

    def _show_load(self, load: LoadShapes | None) -> None:
        """Put a load on the tool in place of the one that was there."""
        if self._load is not None:
            for node in self.groups.pop(f"load: {self._load.name}", []):
                node.remove()
        if load is not None:
            self._add_load(load, 0, f"{self.arms[0].tool}/load")
        self._load = load

    def _show_arrow(self, name: str, ends: FloatArray) -> None:
        """Draw an arrow between two points (2, 3) of the tool frame [m].

        It hangs on the tool: a page moves what is there at once, and draws new points later.
        """
        points = ends[None].astype(np.float32)
        if name in self._arrows:
            self._arrows[name].points = points
            return
        reach = self.extent[1]
        shaft, head = SHAFTS[name.split()[0]]
        node = self._scene.add_arrows(
            f"{self.arms[0].tool}/{name.replace(' ', '_')}",
            points,
            linear(WRENCH[name]),
            shaft_radius=shaft * reach,
            head_radius=head * reach,
            head_length=0.06 * reach,
        )
        self._arrows[name] = node
        self.groups.setdefault("wrench", []).append(node)

    def _surroundings(self) -> None:
        scene, cell, reach = self._scene, self.view.cell, self.extent[1]
        height = cell.ground_height
        if not self.arms:
            scene.add_grid("/ground", 2.0 * reach, 2.0 * reach, cell_size=0.01, section_size=0.1, fade_distance=1e3)
            return
        if height is not None:
            add_ground(scene, height, reach)
        for index, box in enumerate(cell.boxes):
            add_box(scene, f"/cell/{index}_{node_name(box.name)}", box)
        for index, plane in enumerate(cell.planes):
            add_wall(scene, f"/cell/wall{index}_{node_name(plane.name)}", plane, reach)

    def _add_payload(self, tool: str) -> None:
        for index, box in enumerate(self.view.payload):
            node = self._scene.add_box(
                f"{tool}/payload{index}",
                color=PAYLOAD,
                dimensions=tuple(2.0 * box.half_extents),
                wxyz=quaternion(_turned(box)),
                position=box.center,
                opacity=0.3,
            )
            self.groups.setdefault("payload box of the plan", []).append(node)

    def _add_load(self, load: LoadShapes, index: int, root: str) -> None:
        truth = load.center_region is None
        color = TRUTH if truth else LOADS[index % len(LOADS)]
        group = self.groups.setdefault(f"load: {load.name}", [])
        center = load.parameters.center_of_mass
        group.append(self._scene.add_frame(root, show_axes=False))
        if load.body is not None:
            pose = np.eye(4)
            pose[:3, :3] = load.body.rotation
            self._scene.add_box(
                f"{root}/box",
                color=color,
                dimensions=tuple(load.body.box_size),
                wxyz=quaternion(pose) if np.linalg.det(load.body.rotation) > 0.0 else _mirrored(load.body.rotation),
                position=center,
                opacity=0.9 if truth else 0.35,
                wireframe=truth,
            )
            self._ellipsoid(f"{root}/inertia", center, load.body.ellipsoid, color, 0.25)
        if load.shape is not None:
            self._add_shape(load.shape, load.name, f"{root}_shape")
        if load.center_region is not None:
            self._ellipsoid(f"{root}/center_95", center, _visible(load.center_region), REGION, 0.9)

    def _add_shape(self, shape: FoundShape, name: str, root: str) -> None:
        """The parts of a shape, the denser the darker."""
        self.groups.setdefault(f"shape: {name}", []).append(self._scene.add_frame(root, show_axes=False))
        for index, part in enumerate(shape.parts):
            triangles = part.triangles
            if not len(triangles):
                continue
            self._scene.add_mesh_simple(
                f"{root}/{index}_{node_name(part.name)}",
                triangles.reshape(-1, 3).astype(np.float32),
                np.arange(3 * len(triangles), dtype=np.uint32).reshape(-1, 3),
                color=shade_color(part.shade),
                opacity=0.55,
                flat_shading=True,
                cast_shadow=False,
            )

    def _ellipsoid(self, name: str, center: FloatArray, matrix: FloatArray, color: Color, opacity: float) -> None:
        vertices, faces = ellipsoid_triangles(center, matrix)
        self._scene.add_mesh_simple(
            name, vertices.astype(np.float32), faces.astype(np.uint32), color=color, opacity=opacity, cast_shadow=False
        )

    def _path(self) -> None:
        track = self.arms[0].track
        q, _ = track.motion(track.samples[:: max(1, len(track.samples) // 400)])
        points = forward_kinematics(track.robot, q)[:, :3, 3]
        if len(points) > 1:
            lines = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
            node = self._scene.add_line_segments("/path", lines, colors=PATH, thickness=1.5, thickness_units="screen")
            self.groups.setdefault("path of the tool", []).append(node)


def shade_color(shade: float) -> Color:
    """From light (0) to dark (1)."""
    light, dark = np.array([222.0, 235.0, 247.0]), np.array([8.0, 48.0, 107.0])
    red, green, blue = (round(value) for value in (light + shade * (dark - light)).tolist())
    return red, green, blue


def add_ground(scene: Any, height: float, reach: float) -> Any:
    """A grid at a height [m] that is larger than an arm of this reach [m]."""
    size = 2.0 * np.ceil(1.5 * reach / 0.5) * 0.5
    return scene.add_grid(
        "/cell/ground", size, size, cell_size=0.1, section_size=0.5, position=(0.0, 0.0, height), fade_distance=1e3
    )


def add_box(scene: Any, name: str, box: Box) -> Any:
    """A box of the cell."""
    pose = np.eye(4)
    pose[:3, :3] = box.rotation
    return scene.add_box(
        name,
        color=OBSTACLE,
        dimensions=tuple(2.0 * box.half_extents),
        wxyz=quaternion(pose),
        position=box.center,
        opacity=0.85,
    )


def add_wall(scene: Any, name: str, plane: Plane, reach: float) -> Any:
    """A square of a wall that is larger than an arm of this reach [m]."""
    vertices, faces = wall(plane.point, plane.normal, 2.0 * reach)
    return scene.add_mesh_simple(
        name, vertices.astype(np.float32), faces, color=OBSTACLE, opacity=0.3, side="double", cast_shadow=False
    )


def node_name(name: str) -> str:
    """A name that is one step of a scene's tree."""
    return "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in name)[:40]


def wall(point: FloatArray, normal: FloatArray, half: float) -> tuple[FloatArray, np.ndarray]:
    """A square (4, 3) of a plane about the point of it that is nearest to the base, and its two triangles."""
    middle = float(point @ normal) * normal
    side = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    side /= np.linalg.norm(side)
    other = np.cross(normal, side)
    corners = [middle + half * (a * side + b * other) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return np.array(corners), np.array([[0, 1, 2], [0, 2, 3]], dtype=np.uint32)


def _turned(box: PayloadBox) -> FloatArray:
    pose = np.eye(4)
    pose[:3, :3] = box.rotation
    return pose


def _mirrored(rotation: FloatArray) -> FloatArray:
    """The quaternion of axes of the other hand with one of them turned round: the same box."""
    pose = np.eye(4)
    pose[:3, :3] = rotation * [1.0, 1.0, -1.0]
    return quaternion(pose)


def _visible(region: FloatArray) -> FloatArray:
    """A region that is no thinner than a pixel."""
    values, vectors = np.linalg.eigh(region)
    return np.asarray((vectors * np.clip(values, 0.0003**2, None)) @ vectors.T)
