"""The one place that imports Newton and Warp, when they are first needed."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iparam.errors import MissingExtraError
from iparam.files.code_folder import check_code_folder

OF_ITS_OWN = ", in an environment of its own, as Newton asks for a MuJoCo of another version"


def require_newton() -> tuple[Any, Any]:
    """The modules `newton` and `warp`, which print nothing of their own.

    Raises:
        MissingExtraError: one of them is not installed.
        SharedFolderError: others can write to the folder that Warp keeps kernels in.
    """
    try:
        import warp

        warp.config.log_level = logging.ERROR  # it would print its devices and each module that it loads
        with _without_standard_error():  # where its C++ says that there is no graphics card
            warp.init()
        check_code_folder(warp.config.kernel_cache_dir, "set WARP_CACHE_PATH to a folder of your own")
        import newton
    except ImportError:
        raise MissingExtraError("newton", "newton", OF_ITS_OWN) from None
    logging.getLogger("newton").addHandler(logging.NullHandler())
    return newton, warp


@contextlib.contextmanager
def _without_standard_error() -> Iterator[None]:
    """What is written to the file of standard error by others than Python goes nowhere."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def has_compiled() -> bool:
    """Whether Warp has compiled kernels of the solver before; the first time takes minutes."""
    _, warp = require_newton()
    folder = Path(warp.config.kernel_cache_dir)
    return any(folder.glob("wp_*mujoco*"))
