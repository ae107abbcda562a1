"""The one place that imports MuJoCo, when it is first needed."""

from __future__ import annotations

from typing import Any

from iparam.errors import IparamError, MissingExtraError


def require_mujoco() -> Any:
    """The module `mujoco`, which writes no log into the working folder: what it warns of is seen in the state.

    Raises:
        MissingExtraError: it is not installed.
        IparamError: it is, and cannot be loaded.
    """
    try:
        import mujoco
    except ModuleNotFoundError:
        raise MissingExtraError("mujoco", "mujoco") from None
    except ImportError as error:  # a library of the system that it needs
        raise IparamError(f"mujoco is installed, and cannot be loaded: {error}") from None
    if mujoco.get_mju_user_warning() is None:  # else somebody else reads them
        mujoco.set_mju_user_warning(_ignore)
    return mujoco


def _ignore(message: str) -> None:
    """Take a warning and leave it at that; MuJoCo would print it and write it to MUJOCO_LOG.TXT."""
