"""The one place that imports MuJoCo, when it is first needed."""

from __future__ import annotations

from typing import Any

from iparam.errors import MissingExtraError


def require_mujoco() -> Any:
    """The module `mujoco`.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError("mujoco", "mujoco") from None
    return mujoco
