"""Leading batch shapes: how the arguments of one call combine, and how a yes-or-no answer is given back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import InputError


def common_batch(**arguments: tuple[FloatArray, int]) -> tuple[int, ...]:
    """The batch shape that the arguments broadcast to.

    Args:
        arguments: by name, each an array and how many of its last axes belong to one value.
    """
    shapes = {name: array.shape[: array.ndim - axes] for name, (array, axes) in arguments.items()}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        text = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InputError(f"batch shapes do not broadcast: {text}") from None


def answer(mask: NDArray[np.bool_] | np.bool_) -> bool | NDArray[np.bool_]:
    """A plain bool for a single value, the array of bools for a batch."""
    return bool(mask) if np.ndim(mask) == 0 else np.asarray(mask)


def refuse_unless(good: bool | NDArray[np.bool_], message: str) -> None:
    """Raise InputError with ``message``, which names the argument, unless all are good; say where in a batch."""
    if np.all(good):
        return
    where = tuple(int(i) for i in np.argwhere(~np.asarray(good))[0])
    raise InputError(f"{message} (batch index {where if len(where) != 1 else where[0]})" if where else message)
