"""The path of a motion in a few poses, and whether another run follows it.

A result that is verified with the motion that it was identified from predicts the errors of that motion, too: what
repeats with the poses stays unseen. Noise makes no two runs equal, so that their paths are compared, not their bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iparam.arrays import FloatArray, frozen

if TYPE_CHECKING:
    from iparam.recording.recording import Recording
    from iparam.robot.model import Robot

POSES = 100
"""Poses that a path is kept as: they lie closer together than an arm turns within a tenth of a second."""

NEAR = 0.1
"""Distance from the path, of the joint that is farthest from it, up to which a pose lies on it [rad]."""

SAME = 0.8
"""Share of the poses on the other path from which on a motion is the same."""

_LEAST_WAY = 0.05  # rad of all joints together; what moves less has no path
_RATE = 50.0  # Hz at which the way is measured: above, noise adds to it


def motion_path(recording: Recording) -> FloatArray | None:
    """(P, n) joint angles evenly spaced along the way that the arm went [rad]; None without angles, or at rest."""
    if not recording.has("q"):
        return None
    angles = recording.signal("q")
    steps = max(1, round(angles.rate / _RATE))
    q = angles.values[::steps]
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(q, axis=0)).sum(axis=1))])
    at = np.linspace(0.0, way[-1], POSES)
    path = np.round(np.column_stack([np.interp(at, way, column) for column in q.T]), 4)
    return None if path_problem(path) else frozen(path)


def path_problem(path: FloatArray) -> str:
    """Why poses (P, n) are not the path of a motion; "" where they are."""
    if len(path) != POSES:
        return f"has {len(path)} poses, and every path has {POSES}"
    way = float(np.abs(np.diff(path, axis=0)).sum())
    return "" if way >= _LEAST_WAY else f"goes {way:.2g} rad in all, and a motion at least {_LEAST_WAY:g}"


def shared_motion(path: FloatArray | None, other: FloatArray | None, robot: Robot) -> float | None:
    """Share of the poses of the other path (Q, n) that lie on this one (P, n).

    None where one of them is not known, or where this one is of another arm: it has other joints, or goes where neither
    the limits of ``robot`` nor the other run let it.
    """
    if path is None or other is None or path.shape[1] != other.shape[1]:
        return None
    lower = np.minimum(robot.limits.lower, other.min(axis=0)) - NEAR
    upper = np.maximum(robot.limits.upper, other.max(axis=0)) + NEAR
    if (path < lower).any() or (path > upper).any():
        return None
    start, along = path[:-1], np.diff(path, axis=0)
    length = np.maximum(np.einsum("pi,pi->p", along, along), 1e-12)
    near = 0
    for pose in other:
        share = np.clip(np.einsum("pi,pi->p", pose - start, along) / length, 0.0, 1.0)
        farthest = np.abs(pose - start - share[:, None] * along).max(axis=1)
        near += bool(farthest.min() <= NEAR)
    return near / len(other)
