"""Compiled loops over samples of joint torques."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from iparam.robot.kernels.compilation import compiled

UNDERFLOW = 1e-290  # squares below this have lost their digits


@compiled
def presliding(q, distance, start, state):
    """Fill state (T, n) with s of ds = (dq - |dq| s) / distance along the path q (T, n), from s = start (n,)."""
    for joint in range(q.shape[1]):
        s = start[joint]
        state[0, joint] = s
        for k in range(1, q.shape[0]):
            step = q[k, joint] - q[k - 1, joint]
            if step != 0.0:
                side = 1.0 if step > 0.0 else -1.0
                s = side + (s - side) * math.exp(-abs(step) / distance)
            state[k, joint] = s


@partial(compiled, fastmath=True)  # sums may be reordered: they are done eight at a time then
def fold_columns(r, columns):
    """Turn rows, given by their columns (p, b), into the triangular factor r (p, p) by reflections. Both change."""
    p, b = columns.shape
    for i in range(p):
        own = columns[i]
        below = 0.0
        for k in range(b):
            below += own[k] * own[k]
        if below < UNDERFLOW:
            continue
        head = r[i, i]
        norm = np.sqrt(head * head + below)
        if head > 0.0:
            norm = -norm
        pivot = head - norm
        scale = 1.0 / (norm * pivot)
        r[i, i] = norm
        for j in range(i + 1, p):
            other = columns[j]
            inner = r[i, j] * pivot
            for k in range(b):
                inner += own[k] * other[k]
            inner *= scale
            r[i, j] += inner * pivot
            for k in range(b):
                other[k] += inner * own[k]
