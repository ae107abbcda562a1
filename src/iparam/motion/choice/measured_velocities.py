"""What velocities that were measured beside the angles tell: that is new, that is nothing new, or something else.

A velocity sample is a second measurement of the state that the angles are smoothed with, with a noise of its own. Most
controllers derive it from the same encoder, and then it may tell nothing new: its errors are those of the angles. That
shows beyond the band of the motion, where both hold noise alone, and in velocities that agree with the angles better
than independent errors could.
"""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.motion.angle_samples import resolution
from iparam.motion.motion import MotionEstimate
from iparam.remarks import Remark, remark
from iparam.rounding import percent

CONTRADICTS = 0.2
"""Difference of measured velocities to those of the angles, as a share of their rms, from which on it is said: another
unit, sign or clock makes more, and a controller's filter, of which nobody needs to hear, less."""

SHARED = 0.1
"""Share of the power of a velocity's errors, that a linear filter of the angle's errors explains, for dependence."""

TOO_GOOD = 0.5
"""Mean square of the difference of velocities, in what independent errors would make it, below which they are not."""

SIGNIFICANT = 3.0
"""Standard deviations from which on velocities are larger than those of the angles, or late, or have an offset."""

HARMLESS = 0.5
"""Such a difference, in the standard deviation of the angles' velocities, up to which it does no harm."""

SHORT = 0.3
"""Delay of velocities, in radians of the bandwidth, up to which it is corrected."""

_BEYOND = 2.0  # bandwidths from which on a smoothed angle holds neither motion nor noise
_NEAR = 4.0  # the same, up to where noise is like that within the band
_HIGHEST = 0.4  # of the rate, beyond which there is too little to tell noise by
_SEGMENTS = 16
_LEAST_SEGMENT = 64
_BLOCKS = 40
_MOST_ROWS = 5000


def contradicting_velocities(dq: FloatArray, motion: MotionEstimate) -> tuple[Remark, ...]:
    """A remark about joints whose measured velocities (T, n) are not those of a motion (T, n) at all [rad/s]."""
    parts = []
    for joint in range(motion.num_joints):
        moved = np.column_stack([motion.dq[:, joint], motion.ddq[:, joint]])
        factor, lead = np.linalg.lstsq(moved, dq[:, joint], rcond=None)[0].tolist()
        speed, own, change = (
            float(np.sqrt(np.mean(values**2))) for values in (moved[:, 0], dq[:, joint], np.diff(dq[:, joint]))
        )
        # That part of the difference which goes with the motion: noise, of which a slow joint has much, is none.
        difference = float(np.sqrt(np.mean((moved @ [factor - 1.0, lead]) ** 2)))
        if difference <= CONTRADICTS * speed or own <= change:  # or velocities of a joint at rest, which are noise
            continue
        late = f", {-1e3 * lead / factor:.3g} ms late" if abs(lead) > 1e-3 * abs(factor) else ""
        parts.append(f"{percent(difference / speed, 3)} in joint {joint + 1} ({factor:.3g} times as large{late})")
    if not parts:
        return ()
    return (remark("velocities-contradict-angles", joints=", ".join(parts)),)


def usable_velocities(
    time: FloatArray, q: FloatArray, dq: FloatArray, motion: MotionEstimate
) -> tuple[FloatArray, FloatArray]:
    """Velocities (T, n) without their delay, and the standard deviation (n,) of their errors [rad/s].

    It is 0 where they tell nothing that the angles do not, or something else.

    Args:
        time: (T,) [s].
        q: (T, n) measured [rad].
        dq: (T, n) measured [rad/s].
        motion: at ``time``, from the angles alone or with set points, with its models and covariance.
    """
    from scipy.signal import butter, sosfiltfilt, welch

    noise, timely = np.zeros(q.shape[1]), dq.copy()
    if time.size // _SEGMENTS < _LEAST_SEGMENT or motion.covariance is None:
        return timely, noise
    rate = 1.0 / float(np.median(np.diff(time)))
    variance = np.mean(motion.covariance.reshape(-1, q.shape[1], 3, 3)[..., 1, 1], axis=0)
    deviation = np.sqrt(np.maximum(variance, 0.0))
    rounding = resolution(dq) / np.sqrt(12.0)
    for joint, process in enumerate(motion.processes):
        edge = _BEYOND * process.bandwidth
        difference = _timely_difference(motion, dq, joint, float(deviation[joint]))
        if edge > _HIGHEST * rate or difference is None:
            continue
        timely[:, joint] = motion.dq[:, joint] + difference
        sections = butter(8, edge, "highpass", fs=rate, output="sos")
        velocity, angle = (sosfiltfilt(sections, values) for values in (difference, q[:, joint] - motion.q[:, joint]))
        frequency, density = welch(velocity, fs=rate, nperseg=time.size // _SEGMENTS)
        beyond, near = frequency > edge, (frequency > edge) & (frequency < _NEAR * process.bandwidth)
        # Filtered noise is stronger near the band of the motion than it is on average: the larger one counts.
        strongest = max(float(density[part].mean()) for part in (beyond, near) if part.any())
        level = max(float(np.sqrt(0.5 * rate * strongest)), float(rounding[joint]))
        independent = float(np.mean(difference**2)) > TOO_GOOD * (deviation[joint] ** 2 + level**2)
        if independent and _share_explained(velocity, angle, rate / edge) < SHARED:
            noise[joint] = level
    return timely, noise


def fitted(rows: FloatArray, observed: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least squares of rows (T, k): the solution (k,) and its covariance, from the scatter between blocks of time.

    The errors of smoothed values last, so that samples tell less than if each had one of its own.
    """
    scale = np.sqrt(np.mean(rows**2, axis=0))
    scale = np.where(scale > 0.0, scale, 1.0)
    scaled = rows / scale
    inverse = np.linalg.pinv(scaled.T @ scaled)
    found = inverse @ (scaled.T @ observed)
    each = (scaled * (observed - scaled @ found)[:, None]) @ inverse
    edges = np.linspace(0, len(rows), min(_BLOCKS, len(rows)) + 1).astype(np.int64)
    blocks = np.add.reduceat(each, edges[:-1], axis=0)
    return found / scale, blocks.T @ blocks / np.outer(scale, scale)


def _timely_difference(motion: MotionEstimate, dq: FloatArray, joint: int, deviation: float) -> FloatArray | None:
    """The difference (T,) of a joint's velocities to those of a motion, without a short delay; None for another motion.

    A delay is far shorter than the motion's periods, or it is not corrected by its acceleration. Velocities of another
    size, or with an offset, are refused where that can be told and matters beside the ``deviation`` of the motion's.
    """
    speed, acceleration = motion.dq[:, joint], motion.ddq[:, joint]
    difference = dq[:, joint] - speed
    found, covariance = fitted(np.column_stack([acceleration, speed, np.ones(len(dq))]), difference)
    told = np.abs(found) > SIGNIFICANT * np.sqrt(np.diag(covariance))
    harm = np.abs(found[1:]) * [np.sqrt(np.mean(speed**2)), 1.0]
    if (told[1:] & (harm > HARMLESS * deviation)).any():
        return None
    if not told[0]:
        return np.asarray(difference)
    if abs(found[0]) * motion.processes[joint].omega > SHORT:
        return None
    return np.asarray(difference - found[0] * acceleration)


def _share_explained(observed: FloatArray, by: FloatArray, period: float) -> float:
    """Share of the power of a series (T,) that a linear filter of another one explains.

    Args:
        observed: (T,).
        by: (T,), the other.
        period: of the slowest that both hold, in samples: the filter reaches two of them each way.
    """
    coarse = max(period / 8.0, 1.0)
    edges = [0]
    while edges[-1] < 2.0 * period:
        edges.append(edges[-1] + max(1, round(min(edges[-1] / 3.0, coarse))))
    bounds = np.array([*(-edge for edge in reversed(edges[1:])), *edges])
    rows = np.unique(np.linspace(edges[-1], observed.size - edges[-1] - 1, _MOST_ROWS).astype(np.int64))
    if rows.size < 3 * bounds.size or rows[0] < edges[-1]:
        return 1.0  # too little to tell: then nothing is counted twice
    sums = np.concatenate([[0.0], np.cumsum(by)])
    means = np.diff(sums[rows[:, None] + bounds], axis=1) / np.diff(bounds)
    wanted = observed[rows]
    residual = wanted - means @ np.linalg.lstsq(means, wanted, rcond=1e-10)[0]
    freedom = rows.size - means.shape[1]
    unexplained = float(residual @ residual) / max(float(wanted @ wanted), 1e-300)
    return float(1.0 - unexplained * rows.size / freedom)
