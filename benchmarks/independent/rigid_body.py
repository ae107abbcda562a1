"""How the flange moves, what a rigid load asks of it, and what torques the joints need, by Newton and Euler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from independent.arms import RADIUS, Arm


@dataclass(frozen=True, eq=False)
class Motion:
    """Of the flange over T samples.

    Attributes:
        axes, place: (T, 3, 3) and (T, 3) of the flange in the base.
        spin, spin_rate: (T, 3) angular velocity and acceleration, in base axes.
        acceleration: (T, 3) of the flange's origin, in base axes, without gravity.
    """

    axes: np.ndarray
    place: np.ndarray
    spin: np.ndarray
    spin_rate: np.ndarray
    acceleration: np.ndarray


def flange_motion(arm: Arm, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> Motion:
    return _frames(arm, q, dq, ddq)[-1]


def joint_torques(
    arm: Arm, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray, gravity: np.ndarray, phi: np.ndarray
) -> np.ndarray:
    """(T, n) that hold and move the links and the load."""
    *frames, flange = _frames(arm, q, dq, ddq)
    wrench = load_wrench(flange, gravity, phi)
    force, moment = (turned(flange.axes, wrench[:, part]) for part in (slice(3), slice(3, 6)))
    moment = moment + np.cross(flange.place, force)  # about the base's origin, as all below
    torques = np.empty_like(q)
    for index in reversed(range(len(arm.kinds))):
        frame, mass = frames[index], arm.masses[index]
        arc = turned(frame.axes, arm.centers[index])
        own = mass * (_at(frame, arc) - gravity)
        force = force + own
        moment = moment + np.cross(frame.place + arc, own) + mass * RADIUS**2 * frame.spin_rate
        along = force if arm.kinds[index] == "P" else moment - np.cross(frame.place, force)
        torques[:, index] = np.einsum("ti,ti->t", frame.axes[:, :, 2], along)
    return torques


def load_rows(motion: Motion, gravity: np.ndarray) -> np.ndarray:
    """(T, 6, 10) of force and torque on the load about the flange's origin, in its axes, for phi = [m, m c, Ixx, Ixy,
    Ixz, Iyy, Iyz, Izz] about that origin.
    """
    back = np.swapaxes(motion.axes, 1, 2)
    w, alpha, a = (turned(back, each) for each in (motion.spin, motion.spin_rate, motion.acceleration - gravity))
    rows = np.zeros((len(w), 6, 10))
    rows[:, :3, 0] = a
    for axis, unit in enumerate(np.eye(3)):  # of m c along the axis
        rows[:, :3, 1 + axis] = np.cross(alpha, unit) + np.cross(w, np.cross(w, unit))
        rows[:, 3:, 1 + axis] = np.cross(unit, a)
    for column, (i, j) in enumerate(zip(*np.triu_indices(3), strict=True)):
        tensor = np.zeros((3, 3))
        tensor[i, j] = tensor[j, i] = 1.0
        rows[:, 3:, 4 + column] = alpha @ tensor + np.cross(w, w @ tensor)
    return rows


def load_wrench(motion: Motion, gravity: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """(T, 6) what the flange exerts on the load, about its origin, in its axes."""
    return np.asarray(load_rows(motion, gravity) @ phi)


def turned(axes: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """(T, 3) vectors (T, 3) or (3,) of frames (T, 3, 3), in the base."""
    return np.einsum("tij,tj->ti", axes, np.broadcast_to(vectors, (len(axes), 3)))


def _at(frame: Motion, arc: np.ndarray) -> np.ndarray:
    """(T, 3) acceleration of the point ``arc`` away from a frame's origin."""
    return frame.acceleration + np.cross(frame.spin_rate, arc) + np.cross(frame.spin, np.cross(frame.spin, arc))


def _frames(arm: Arm, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> list[Motion]:
    """Of the joints behind their motion, and of the flange."""
    still, one = np.zeros((len(q), 3)), np.broadcast_to(np.eye(3), (len(q), 3, 3))
    frames = [Motion(one, still, still, still, still)]
    for index, (kind, origin) in enumerate(zip(arm.kinds, arm.origins, strict=True)):
        frame = _fixed_to(frames[-1], origin)
        z, (rate, change) = frame.axes[:, :, 2], (each[:, index, None] for each in (dq, ddq))
        if kind == "P":
            arc = z * q[:, index, None]
            pull = _at(frame, arc) + z * change + 2.0 * np.cross(frame.spin, z * rate)
            frames.append(Motion(frame.axes, frame.place + arc, frame.spin, frame.spin_rate, pull))
            continue
        c, s = np.cos(q[:, index, None]), np.sin(q[:, index, None])
        x, y = frame.axes[:, :, 0], frame.axes[:, :, 1]
        spin_rate = frame.spin_rate + z * change + np.cross(frame.spin, z * rate)
        axes = np.stack([c * x + s * y, c * y - s * x, z], axis=2)
        frames.append(Motion(axes, frame.place, frame.spin + z * rate, spin_rate, frame.acceleration))
    return [*frames[1:], _fixed_to(frames[-1], arm.tip)]


def _fixed_to(frame: Motion, pose: np.ndarray) -> Motion:
    arc = turned(frame.axes, pose[:3, 3])
    return Motion(frame.axes @ pose[:3, :3], frame.place + arc, frame.spin, frame.spin_rate, _at(frame, arc))
