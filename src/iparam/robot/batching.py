"""Joint-space arrays in front of the native core: checked against a robot, flattened, and run on one core or
several.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array, kernel_input
from iparam.errors import InputError
from iparam.robot.model import Robot

SMALLEST_SHARE = 2000  # samples a thread; below that a thread costs more than it brings

_num_threads: int | None = None


def get_num_threads() -> int:
    """How many threads a large batch is spread over: what was set, else IPARAM_NUM_THREADS, else the usable cores."""
    if _num_threads is not None:
        return _num_threads
    asked = os.environ.get("IPARAM_NUM_THREADS")
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not asked.isdigit() or int(asked) < 1:
        raise InputError(f"the environment variable IPARAM_NUM_THREADS must be a whole number from 1, got {asked!r}")
    return int(asked)


def set_num_threads(count: int | None) -> None:
    """Set how many threads a large batch is spread over; None goes back to the default, all usable cores."""
    global _num_threads
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise InputError(f"the number of threads must be a whole number from 1 or None, got {count!r}")
    _num_threads = count


def run_batched(
    kernel: Callable[..., None], constants: Sequence[Any], batches: Sequence[NDArray[Any] | None], num_samples: int
) -> None:
    """Call ``kernel(*constants, *batches)`` on slices of the first axis of ``batches``.

    Args:
        kernel: of `iparam.native`, which releases the GIL; writes into some of the batches.
        constants: the same for every sample.
        batches: inputs and outputs, each (N, ...), or None for an input that is not given.
        num_samples: N.
    """
    shares = num_samples // SMALLEST_SHARE
    if shares > 1:
        shares = min(shares, get_num_threads())
    if shares <= 1:
        kernel(*constants, *batches)
        return
    edges = [num_samples * i // shares for i in range(shares + 1)]
    failures: list[BaseException] = []

    def work(start: int, stop: int) -> None:
        try:
            kernel(*constants, *[None if batch is None else batch[start:stop] for batch in batches])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=edges[i : i + 2]) for i in range(1, shares)]
    for thread in threads:
        thread.start()
    work(*edges[:2])
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""Gravitational acceleration in base axes [m/s^2]: z of the base points up."""

_STANDARD_GRAVITY_ARRAY = np.array(STANDARD_GRAVITY)


class JointBatch(NamedTuple):
    """Joint arrays broadcast against each other and flattened. A tuple, because one is made in every call.

    Attributes:
        shape: the leading batch shape, () for a single sample.
        size: N, the number of samples.
        arrays: each (N, n), writable and contiguous, as the native core takes them.
    """

    shape: tuple[int, ...]
    size: int
    arrays: tuple[FloatArray, ...]

    def empty(self, *trailing: int) -> FloatArray:
        """An output array (N, *trailing)."""
        return np.empty((self.size, *trailing))

    def unflatten(self, output: FloatArray) -> FloatArray:
        """An output (N, ...) with the batch shape of the input again."""
        if len(self.shape) == 1:
            return output
        return output.reshape(self.shape + output.shape[1:]) if self.shape else output[0]


def joint_batch(robot: Robot, **joints: ArrayLike) -> JointBatch:
    """Check q, dq, ... (..., n) and broadcast their batch shapes."""
    count = robot.num_joints
    arrays = [as_float_array(value, name, (count,)) for name, value in joints.items()]
    shape = arrays[0].shape
    if not all([array.shape == shape for array in arrays]):  # noqa: C419  a list is faster than a generator here
        try:
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError:
            found = ", ".join(f"{name} {array.shape}" for name, array in zip(joints, arrays, strict=True))
            raise InputError(f"batch shapes do not fit together: {found}") from None
        arrays = [np.broadcast_to(array, shape) for array in arrays]
    flat = tuple([_flat(array, count) for array in arrays])
    return JointBatch(shape[:-1], len(flat[0]), flat)


def tip_batch(batch: JointBatch, tip_wrench: ArrayLike | None) -> FloatArray | None:
    """A tip wrench (..., 6) [moment, force] broadcast to the batch and flattened to (N, 6); None for none."""
    if tip_wrench is None:
        return None
    wrench = as_float_array(tip_wrench, "tip_wrench", (6,))
    try:
        return _flat(np.broadcast_to(wrench, (*batch.shape, 6)), 6)
    except ValueError:
        raise InputError(
            argument="tip_wrench", problem=f"{wrench.shape} does not fit the joints' batch shape {batch.shape}"
        ) from None


def gravity_vector(gravity: ArrayLike) -> FloatArray:
    """Gravity (3,) in base axes [m/s^2], checked."""
    if gravity is STANDARD_GRAVITY:
        return _STANDARD_GRAVITY_ARRAY
    vector = as_float_array(gravity, "gravity", (3,))
    if vector.shape != (3,):
        raise InputError(argument="gravity", value=vector.shape, expected="one vector (3,)")
    return _flat(vector, 3).reshape(3)


def _flat(array: FloatArray, count: int) -> FloatArray:
    return kernel_input(array.reshape(-1, count))
