"""The one place that imports Newton and Warp, when they are first needed."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from iparam.errors import MissingExtraError

OF_ITS_OWN = ", in an environment of its own, as Newton asks for a MuJoCo of another version"


def require_newton() -> tuple[Any, Any]:
    """The modules `newton` and `warp`, which print nothing of their own.

    Raises:
        MissingExtraError: one of them is not installed.
    """
    try:
        import warp

        warp.config.log_level = logging.ERROR  # it would print its devices and each module that it loads
        import newton
    except ImportError:
        raise MissingExtraError("newton", "newton", OF_ITS_OWN) from None
    logging.getLogger("newton").addHandler(logging.NullHandler())
    return newton, warp


def has_compiled() -> bool:
    """Whether Warp has compiled kernels of the solver before; the first time takes minutes."""
    _, warp = require_newton()
    warp.init()
    folder = Path(warp.config.kernel_cache_dir)
    return any(folder.glob("wp_*mujoco*"))
