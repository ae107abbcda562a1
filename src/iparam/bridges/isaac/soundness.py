"""Whether a run in Isaac is one: it moved, in the time that was said, and the wrench belongs to that motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.regressor import wrench_regressor
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot
from iparam.rounding import percent

FAR = 0.05
"""Distance of a joint from its set point beyond which a run is said not to have followed its plan [rad or m]."""
UNEXPLAINED = 0.02
"""Share of the wrench, rms, that no load explains, beyond which it is said not to belong to the motion."""
_STILL = 1e-4
_OFF = 0.05


def require_motion(q: FloatArray, dq: FloatArray, planned: FloatArray, dt: float) -> None:
    """Refuse a run in which nothing moved, or not in the steps that ``dt`` says: its numbers would look like numbers.

    Args:
        q: (T + 1, n) before each step, and after the last.
        dq: (T + 1, n) velocities at the same instants, as the articulation has them.
        planned: (T, n) set points.
        dt: the physics step as it was given [s].
    """
    for name, values in (("positions", q), ("velocities", dq)):
        if not np.isfinite(values).all():
            raise InputError(f"the joint {name} hold values that are not finite: the simulation has diverged")
    if np.ptp(planned, axis=0).max() <= 10.0 * _STILL:
        return
    if np.ptp(q, axis=0).max() < _STILL:
        raise InputError(
            "the articulation did not move: its joint drives need a stiffness, and step= has to update the "
            "articulation after the physics step (Isaac Lab: scene.update(dt))"
        )
    after = dq[1:]  # a step of semi-implicit Euler moves by the velocity at its end
    lasted = float((np.diff(q, axis=0) * after).sum() / max((after**2).sum(), 1e-12))
    if abs(lasted / dt - 1.0) > _OFF:
        raise InputError(
            argument="dt",
            problem=(
                f"is {dt:g} s, but the joints moved as in {lasted:.4g} s a step by their own velocities: step= has to "
                "make exactly one physics step and update the articulation (Isaac Lab: dt=sim.get_physics_dt(), and "
                "no decimation)"
            ),
        )


def require_wrench(measured: FloatArray, readings: Sequence[tuple[FloatArray, ...]], q: FloatArray) -> None:
    """Refuse a wrench (T, 3 or 6), made of T readings, that was not measured along the motion (T + 1, n)."""
    if not np.isfinite(measured).all():
        raise InputError("the wrench holds values that are not finite: the simulation has diverged")
    if not measured.any():
        raise InputError(
            "the wrench is zero throughout: step= has to update the sensor after the physics step, and the link must "
            "carry something (Isaac Lab on Newton: the sensor has to exist before sim.reset())"
        )
    moved = np.abs(np.diff(q[:-1], axis=0)).max(axis=1) > _STILL
    raw = np.array([np.concatenate([part.ravel() for part in reading]) for reading in readings])
    held = (raw[1:] == raw[:-1]).all(axis=1)
    if (moved & held).sum() > 0.2 * max(moved.sum(), 1):
        raise InputError(
            f"the wrench stayed as it was in {(moved & held).sum()} of {moved.sum()} steps in which the arm moved: "
            "step= has to update the sensor after every physics step (Isaac Lab: update_period=0.0 of the sensor)"
        )


def run_remarks(robot: Robot, q: FloatArray, planned: FloatArray, measured: FloatArray, dt: float) -> list[Remark]:
    """What is to be said of a run, whose wrench (T, 3 or 6) is in the tool frame."""
    found = []
    error = np.abs(q[:-1] - planned).max(axis=0)
    worst = int(np.argmax(error))
    if error[worst] > FAR:
        found.append(remark("drives-too-soft", joint=robot.joint_names[worst], error=error[worst]))
    if measured.shape[1] != 6:
        found.append(remark("no-contact-torque"))
    elif (share := _unexplained(robot, q, measured, dt)) > UNEXPLAINED:
        found.append(remark("wrench-not-of-a-load", share=percent(share)))
    return found


def _unexplained(robot: Robot, q: FloatArray, measured: FloatArray, dt: float) -> float:
    """Rms of what the best load leaves of the wrench, over that of the wrench, forces and torques each; the larger."""
    if len(q) < 12:
        return 0.0
    dq, ddq = (q[2:] - q[:-2]) / (2.0 * dt), (q[2:] - 2.0 * q[1:-1] + q[:-2]) / dt**2
    A, y = wrench_regressor(robot, q[1:-1], dq, ddq), measured[1:]
    sizes = np.sqrt((y**2).reshape(-1, 2, 3).mean(axis=(0, 2))).repeat(3)
    weights = 1.0 / np.maximum(sizes, 1e-9)
    phi = np.linalg.lstsq((A * weights[:, None]).reshape(-1, 10), (y * weights).ravel(), rcond=None)[0]
    residual = ((y - A @ phi) * weights).reshape(-1, 2, 3)
    return float(np.sqrt((residual**2).mean(axis=(0, 2)).max()))
