"""The arm in motion, as a camera with a flashing light would take it: capsules along the links, projected."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.plotting.matplotlib_backend import BLUE, INK, ORANGE, PALE, VERMILLION, WIDTH, new_figure
from iparam.report.figures.view import View, box_faces, stadium
from iparam.robot.collision.capsules import link_capsules
from iparam.robot.kinematics import forward_kinematics, frame_poses
from iparam.robot.model import Robot
from iparam.spatial.equivalent_body import EquivalentBody

POSES = 5
TURN_WEIGHT = 0.15
"""How far apart two poses are that differ by a right angle, beside those that differ by their place [m]."""

MOST_CANDIDATES = 400
GRID, MARGIN = 0.25, 0.1
"""Width of the squares on the ground, and what they extend beyond the motion [m]."""


def telling_poses(robot: Robot, q: FloatArray) -> list[int]:
    """Indices of up to ``POSES`` samples of q (T, n), the first among them, whose tool poses are far apart."""
    stride = max(1, len(q) // MOST_CANDIDATES)
    poses = forward_kinematics(robot, q[::stride])
    features = np.concatenate([poses[:, :3, 3], TURN_WEIGHT * poses[:, :3, :3].reshape(-1, 9)], axis=1)
    chosen = [0]
    distance = np.linalg.norm(features - features[0], axis=1)
    while len(chosen) < POSES and distance.max() > 1e-3:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(features - features[chosen[-1]], axis=1))
    return sorted(index * stride for index in chosen)


def arm_picture(
    robot: Robot, time: FloatArray, q: FloatArray, poses: list[int], body: EquivalentBody | None, view: View
) -> Any:
    """A figure of the arm in several poses of a motion, the first one solid and the others faint.

    Args:
        robot: the arm.
        time, q: (T,) [s] and (T, n) the motion.
        poses: indices of the samples to show.
        body: what hangs on the tool, or None.
        view: where the camera is.
    """
    figure = new_figure(3.6)
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
    _ground(axes, robot, q[poses], view)
    path = view.on_page(forward_kinematics(robot, q[:: max(1, len(q) // 300)])[:, :3, 3])
    for index in sorted(poses, key=lambda i: i == poses[0]):
        _arm(axes, robot, q[index], body, view, solid=index == poses[0])
    axes.plot(*path.T, color=VERMILLION, linewidth=0.9, zorder=8)
    labels: list[FloatArray] = []
    for index in poses:
        place = view.on_page(forward_kinematics(robot, q[index])[:3, 3])
        if all(np.linalg.norm(place - other) > 0.2 for other in labels):
            labels.append(place)
            _label(axes, place, f"{time[index] - time[0]:.1f} s")
    axes.set_aspect("equal")
    axes.axis("off")
    _fit(axes, WIDTH / 3.6)
    return figure


def _arm(axes: Any, robot: Robot, q: FloatArray, body: EquivalentBody | None, view: View, solid: bool) -> None:
    from matplotlib.collections import PolyCollection

    frames = frame_poses(robot, q)
    pieces: list[tuple[float, FloatArray, Any]] = []
    for capsule in link_capsules(robot):
        pose = frames[capsule.frame]
        ends = np.stack([capsule.start, capsule.end]) @ pose[:3, :3].T + pose[:3, 3]
        start, end = view.on_page(ends)
        outline = stadium(start, end, capsule.radius)
        pieces.append((float(view.nearness(ends.mean(axis=0))), outline, "#7fb2d6" if solid else "#b9d3e6"))
    if body is not None:
        tool = frames[robot.tool_frame]
        center = tool[:3, :3] @ body.center + tool[:3, 3]
        for outline, facing in box_faces(center, tool[:3, :3] @ body.rotation, body.box_size, view):
            shade = np.array([230, 159, 0]) / 255.0 * (0.65 + 0.35 * facing)
            pieces.append((float(view.nearness(center)), outline, tuple(shade)))
    pieces.sort(key=lambda piece: piece[0])
    axes.add_collection(
        PolyCollection(
            [outline for _, outline, _ in pieces],
            facecolors=[color for _, _, color in pieces],
            edgecolors=BLUE if solid else "#8fb3cf",
            linewidths=0.8 if solid else 0.5,
            alpha=1.0 if solid else 0.45,
            zorder=6 if solid else 4,
        )
    )


def _ground(axes: Any, robot: Robot, q: FloatArray, view: View) -> None:
    """A grid of GRID at z = 0, as large as the motion, with the base on it."""
    places = np.concatenate([np.zeros((1, 2)), *(pose[:, :2, 3] for pose in frame_poses(robot, q).values())])
    x, y = (
        np.arange(np.floor(low / GRID), np.ceil(high / GRID) + 0.5) * GRID
        for low, high in zip(places.min(axis=0) - MARGIN, places.max(axis=0) + MARGIN, strict=True)
    )
    lines = [[(v, y[0], 0.0), (v, y[-1], 0.0)] for v in x] + [[(x[0], v, 0.0), (x[-1], v, 0.0)] for v in y]
    for line in lines:
        axes.plot(*view.on_page(np.array(line)).T, color=PALE, linewidth=0.6, zorder=1)


def _label(axes: Any, place: FloatArray, shown: str) -> None:
    axes.annotate(
        shown,
        place,
        xytext=(6, 6),
        textcoords="offset points",
        fontsize=8.5,
        color=INK,
        zorder=10,
        bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": ORANGE, "linewidth": 0.6, "alpha": 0.9},
    )


def _fit(axes: Any, aspect: float) -> None:
    """Let the picture fill the figure without distortion."""
    axes.autoscale_view()
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    width, height = right - left, high - low
    wide, tall = max(width, height * aspect), max(height, width / aspect)
    axes.set_xlim(0.5 * (left + right - wide), 0.5 * (left + right + wide))
    axes.set_ylim(0.5 * (low + high - tall), 0.5 * (low + high + tall))
