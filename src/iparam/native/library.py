"""The one place that loads the native core.

The library has every kernel once for each path: `baseline` (any processor of its kind), `avx2` and `avx512`. The best
one that this processor can run is taken when the library is loaded; the environment variable IPARAM_SIMD names another.
Beside a checkout of the sources, a library that is older than they are is made anew first.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError, UnknownNameError

PATHS = ("baseline", "avx2", "avx512")
"""From the slowest to the fastest."""

_FOLDER = Path(__file__).resolve().parent
_SOURCES = _FOLDER.parents[1] / "native"

array: Final = ctypes.c_void_p
"""A contiguous array, as `pointer` gives it, or None for one that is not given."""

count: Final = ctypes.c_int64
number: Final = ctypes.c_double

_Bytes = ctypes.c_char * 0


class _Address(ctypes.c_void_p):
    """The address of an array that may not be written, which it keeps."""

    owner: FloatArray


def pointer(values: Any) -> Any:
    """What a kernel gets for a contiguous array: its address. Refuses any other array.

    Args:
        values: that a kernel reads; or writes, if it can be written.
    """
    try:
        return _Bytes.from_buffer(values)
    except TypeError:
        if not isinstance(values, np.ndarray) or values.flags.writeable or not values.flags.c_contiguous:
            raise
    address = _Address(values.ctypes.data)
    address.owner = values
    return address


class NativeCoreError(IparamError, ImportError):
    """The native core cannot be loaded, or not be made from its sources; the message says what to do."""


def read_only_pointer(values: FloatArray) -> int:
    """The same for an array that may not be written. Whoever keeps the address keeps the array."""
    if not values.flags.c_contiguous:
        raise ValueError("a kernel reads contiguous arrays only")
    return values.ctypes.data


def kernel(name: str, *arguments: Any, returns: Any = None) -> Callable[..., Any]:
    """The kernel of that name on the chosen path, called with arrays, numbers and None for an array not given.

    Args:
        name: as in its source, KERNEL(type, name).
        arguments: of the C function, each `array`, `count` or `number`.
        returns: its type; None for void.
    """
    function = getattr(_library, f"{name}_{path}")
    function.argtypes, function.restype = arguments, returns

    def call(*values: Any) -> Any:
        return function(*[pointer(value) if isinstance(value, np.ndarray) else value for value in values])

    return call


def chain_kernel(name: str, *arguments: Any, sized_by: int) -> Callable[..., None]:
    """A kernel of N samples of a chain with n joints, called with the address of `Chain.packed` and what follows.

    Args:
        name, arguments: as in `kernel`, without N, n and the address, which come first.
        sized_by: which of the arguments is an array (N, n, ...).
    """
    function = getattr(_library, f"{name}_{path}")
    function.argtypes, function.restype = (count, count, array, *arguments), None
    arrays = [place for place, kind in enumerate(arguments) if kind is array]

    def call(chain: int, *values: Any) -> None:
        taken = list(values)  # and no further layer: loops call it for every sample
        for place in arrays:
            if values[place] is not None:
                taken[place] = pointer(values[place])
        function(*values[sized_by].shape[:2], chain, *taken)

    return call


def _renewed() -> Path:
    """The library; made anew beside a checkout whose sources are newer."""
    builder = _builder()
    name = {"win32": "core.dll", "darwin": "core.dylib"}.get(sys.platform, "core.so")
    library = _FOLDER / name
    if builder is None:
        return library
    try:
        made = library.stat().st_mtime_ns
    except FileNotFoundError:
        made = 0
    if made < max(file.stat().st_mtime_ns for file in builder.source_files()):
        try:
            builder.build(library, keep=_SOURCES.parents[1] / "build" / "native")
        except (builder.BuildError, OSError) as error:
            raise NativeCoreError(f"the native core cannot be made from {_SOURCES}: {error}") from None
    return library


def _builder() -> ModuleType | None:
    """`src/native/build_core.py` where this is a checkout."""
    file = _SOURCES / "build_core.py"
    if _SOURCES.parent.name != "src" or not file.exists():
        return None
    spec = importlib.util.spec_from_file_location("iparam_build_core", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks there
    spec.loader.exec_module(module)
    return module


def _load() -> ctypes.CDLL:
    library = _renewed()
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        raise NativeCoreError(
            f"the native core {library} cannot be loaded ({error}): install iparam again, for this kind of machine"
        ) from None


def _choose(library: ctypes.CDLL) -> str:
    """The fastest path that this processor can run, or the one that IPARAM_SIMD names."""
    able = [name for name in PATHS if hasattr(library, f"supports_{name}") and getattr(library, f"supports_{name}")()]
    asked = os.environ.get("IPARAM_SIMD")
    if not asked:
        return able[-1]
    if asked not in PATHS:
        raise UnknownNameError("path in the environment variable IPARAM_SIMD", asked, able)
    if asked not in able:
        raise NativeCoreError(
            f"the environment variable IPARAM_SIMD asks for {asked}, which this processor does not have; it has "
            f"{', '.join(able)}"
        )
    return asked


_library = _load()
path = _choose(_library)
