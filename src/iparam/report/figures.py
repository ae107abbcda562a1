"""Pictures in space, by matplotlib's own projection: the arm in motion, the path of its tool, and the load."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from iparam.arrays import FloatArray
from iparam.estimation.shape.found import FoundShape
from iparam.plotting.matplotlib_backend import AXES, BLUE, INK, ORANGE, VERMILLION, new_figure
from iparam.robot.collision.capsules import link_capsules
from iparam.robot.kinematics import forward_kinematics, frame_poses
from iparam.robot.model import Robot
from iparam.spatial.equivalent_body import EquivalentBody

POSES = 5
TURN_WEIGHT = 0.15
"""How far apart two poses are that differ by a right angle, beside those that differ by their place [m]."""

MOST_POINTS = 400
FAINT = "#b9d3e6"


def telling_poses(robot: Robot, q: FloatArray) -> list[int]:
    """Indices of up to ``POSES`` samples of q (T, n), the first among them, whose tool poses are far apart."""
    stride = max(1, len(q) // MOST_POINTS)
    poses = forward_kinematics(robot, q[::stride])
    features = np.concatenate([poses[:, :3, 3], TURN_WEIGHT * poses[:, :3, :3].reshape(-1, 9)], axis=1)
    chosen = [0]
    distance = np.linalg.norm(features - features[0], axis=1)
    while len(chosen) < POSES and distance.max() > 1e-3:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(features - features[chosen[-1]], axis=1))
    return sorted(index * stride for index in chosen)


def arm_figure(robot: Robot, time: FloatArray, q: FloatArray, body: EquivalentBody | None) -> Any:
    """A figure of the arm in several poses of a motion, the first one solid and the others faint.

    Args:
        robot: the arm.
        time, q: (T,) [s] and (T, n) the motion.
        body: what hangs on the tool, or None.
    """
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    figure, axes = _space("m")
    capsules = link_capsules(robot)
    for index in telling_poses(robot, q):
        frames = frame_poses(robot, q[index])
        ends = [
            np.stack([capsule.start, capsule.end]) @ frames[capsule.frame][:3, :3].T + frames[capsule.frame][:3, 3]
            for capsule in capsules
        ]
        color, width = (BLUE, 4.0) if index == 0 else (FAINT, 2.5)
        axes.add_collection3d(Line3DCollection(ends, colors=color, linewidths=width, capstyle="round"))
        tool = frames[robot.tool_frame]
        if body is not None:
            faces = box_faces(body) @ tool[:3, :3].T + tool[:3, 3]
            axes.add_collection3d(Poly3DCollection(faces, facecolor=ORANGE, alpha=0.5 if index == 0 else 0.15))
        axes.text(*tool[:3, 3], f"{time[index] - time[0]:.1f} s", fontsize=8.5, color=INK)
    path = forward_kinematics(robot, q[:: max(1, len(q) // MOST_POINTS)])[:, :3, 3]
    axes.plot(*path.T, color=VERMILLION, linewidth=0.9)
    axes.set_aspect("equal")
    return figure


def path_figure(time: FloatArray, points: FloatArray, frame: str) -> Any:
    """A figure of the path of a tool, coloured by time.

    Args:
        time: (T,) [s].
        points: (T, 3) positions of the tool in the base frame [m].
        frame: name of the tool frame.
    """
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    figure, axes = _space("m")
    thin = slice(None, None, max(1, len(points) // MOST_POINTS))
    shown, elapsed = points[thin], time[thin] - time[0]
    path = Line3DCollection(np.stack([shown[:-1], shown[1:]], axis=1), cmap="cividis", linewidths=2.0)
    path.set_array(elapsed[:-1])
    axes.add_collection3d(path)
    axes.scatter(*shown[0], color=INK, s=20)
    axes.set_aspect("equal")
    scale = figure.colorbar(path, cax=figure.add_axes((0.3, 0.95, 0.4, 0.022)), orientation="horizontal")
    scale.solids.set_rasterized(False)
    scale.set_label(f"time [s], {frame} in the base frame", fontsize=8.5)
    return figure


def load_figure(
    body: EquivalentBody, truth: EquivalentBody | None, shape: FoundShape | None, azimuth: float, elevation: float
) -> Any:
    """A figure of the load on the tool frame.

    Args:
        body: the estimate's solids.
        truth: those of what the arm really carried, or None.
        shape: what was found of the load's shape, or None.
        azimuth, elevation: of the viewer [deg].
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure, axes = _space("mm", azimuth, elevation)
    for part in () if shape is None else shape.parts:
        color = (1.0 - 0.9 * part.shade, 1.0 - 0.7 * part.shade, 1.0 - 0.4 * part.shade)
        axes.add_collection3d(Poly3DCollection(1e3 * _hull(part.outline), facecolor=color, alpha=0.4))
    faces = 1e3 * box_faces(body)
    axes.add_collection3d(Poly3DCollection(faces, facecolor=ORANGE, edgecolor="#8a5f00", alpha=0.2))
    if truth is not None:
        axes.add_collection3d(
            Poly3DCollection(1e3 * box_faces(truth), facecolor="none", edgecolor=INK, linestyles=":", linewidths=1.4)
        )
    angle = np.linspace(0.0, 2.0 * np.pi, 60)
    for first, second in ((0, 1), (1, 2), (2, 0)):
        circle = np.zeros((angle.size, 3))
        circle[:, first], circle[:, second] = np.cos(angle), np.sin(angle)
        half = np.sqrt(np.diag(body.rotation.T @ body.ellipsoid @ body.rotation))
        axes.plot(*(1e3 * ((half * circle) @ body.rotation.T + body.center)).T, color=BLUE, linestyle="--")
    axes.scatter(*(1e3 * body.center), marker="+", s=80, color=INK)
    length = 650.0 * float(body.box_size.max())
    for axis, paint in enumerate(AXES):
        axes.quiver(0.0, 0.0, 0.0, *(length * np.eye(3)[axis]), color=paint, linewidth=1.8, arrow_length_ratio=0.12)
    low, high = faces.min(axis=(0, 1)), np.maximum(faces.max(axis=(0, 1)), length)
    axes.set(xlim=(min(low[0], 0.0), high[0]), ylim=(min(low[1], 0.0), high[1]), zlim=(min(low[2], 0.0), high[2]))
    axes.set_aspect("equal")
    return figure


def box_faces(body: EquivalentBody) -> FloatArray:
    """(6, 4, 3) the corners of each face of a body's box [m]."""
    faces = [
        np.roll([[side, u, v] for u, v in ((-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0))], axis, axis=1)
        for axis in range(3)
        for side in (-1.0, 1.0)
    ]
    return np.asarray((0.5 * np.array(faces) * body.box_size) @ body.rotation.T + body.center)


def _hull(points: FloatArray) -> FloatArray:
    """(F, 3, 3) the triangles around points (k, 3); none where they lie in a plane."""
    try:
        return np.asarray(points[ConvexHull(points).simplices])
    except QhullError:
        return np.empty((0, 3, 3))


def _space(unit: str, azimuth: float = -50.0, elevation: float = 20.0) -> tuple[Any, Any]:
    """A figure with axes in space."""
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(3.6)
    axes = figure.add_axes((0.06, 0.11, 0.82, 0.8), projection="3d", proj_type="ortho")
    axes.view_init(elevation, azimuth)
    for axis, name in zip((axes.xaxis, axes.yaxis, axes.zaxis), "xyz", strict=True):
        axis.set_label_text(f"{name} [{unit}]")
        axis.set_major_locator(MaxNLocator(4))
    if elevation == 0.0:  # along an axis, whose numbers would lie in one place
        along = axes.yaxis if azimuth else axes.xaxis
        along.set_label_text("")
        along.set_ticks([])
    return figure, axes
