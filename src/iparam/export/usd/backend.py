"""The one place that imports usd-core, when it is first needed; how its layers are opened and become text."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from iparam.errors import FileFormatError, InputError, MissingExtraError

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")

STAGE_METADATA = (
    *("defaultPrim", "metersPerUnit", "kilogramsPerUnit", "upAxis"),
    *("timeCodesPerSecond", "framesPerSecond", "startTimeCode", "endTimeCode"),
)
"""What USD reads from the root layer alone: a new root above a stage has to repeat it."""


def require_usd() -> Any:
    """The modules Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics and UsdUtils of usd-core.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdUtils
    except ImportError:
        raise MissingExtraError("usd-core", "usd") from None
    return SimpleNamespace(Gf=Gf, Sdf=Sdf, Tf=Tf, Usd=Usd, UsdGeom=UsdGeom, UsdPhysics=UsdPhysics, UsdUtils=UsdUtils)


@contextlib.contextmanager
def quiet(pxr: Any, file: str, said: list[str]) -> Iterator[None]:
    """What USD has to say about a file, as sentences in ``said`` at the end of the block, not lines on the terminal.

    Raises:
        FileFormatError: USD could not do what it was asked for.
    """
    delegate = pxr.UsdUtils.CoalescingDiagnosticDelegate()
    try:
        yield
    except pxr.Tf.ErrorException as error:
        reasons = " ".join(_as_text(part) for part in error.args)
        raise FileFormatError(f"{file} cannot be read as a USD stage: {' '.join(reasons.split())[:400]}") from None
    finally:
        said += [_as_text(item) for item in delegate.TakeUncoalescedDiagnostics()]


def _as_text(reason: object) -> str:
    """What USD says of a file, which may quote from it."""
    try:
        return str(reason.commentary if hasattr(reason, "commentary") else reason)
    except UnicodeDecodeError:
        return "it holds bytes that are no text in UTF-8"


def checked_source(source: str | os.PathLike[str]) -> Path:
    """The absolute path of a stage's file, if there is one."""
    path = Path(source)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(argument="stage", value=os.fspath(source), expected=f"a USD file, {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise FileFormatError(f"{path} does not exist, or is no file")
    return path.resolve()


def _opened(pxr: Any, source: Path) -> Any:
    """The layer of a file. Where no format of USD knows it, nothing is raised by USD, and there is none."""
    layer = pxr.Sdf.Layer.FindOrOpen(str(source))
    if layer is None:
        raise FileFormatError(f"{source.name} cannot be read as a USD stage: it is of no format that USD knows")
    return layer


def overriding_layer(pxr: Any, source: Path) -> Any:
    """A new root layer above a stage, in memory: what is written into it is stronger than all of the stage."""
    below = _opened(pxr, source)
    root = pxr.Sdf.Layer.CreateAnonymous(".usda")
    for key in STAGE_METADATA:
        if below.pseudoRoot.HasInfo(key):
            root.pseudoRoot.SetInfo(key, below.pseudoRoot.GetInfo(key))
    root.subLayerPaths.append(str(source))
    return root


def copied_layer(pxr: Any, source: Path) -> Any:
    """A copy of a stage's root layer, in memory; what it refers to stays where it is, by absolute paths."""
    original = _opened(pxr, source)
    copy = pxr.Sdf.Layer.CreateAnonymous(".usda")
    copy.TransferContent(original)

    def absolute(path: str) -> str:
        found = original.ComputeAbsolutePath(path)
        return found if os.path.exists(found.partition("[")[0]) else path

    pxr.UsdUtils.ModifyAssetPaths(copy, absolute)
    return copy


def text_of(pxr: Any, layer: Any, folder: Path) -> str:
    """A layer as text for a file in ``folder``: what is near it is referred to by relative paths."""

    def relative(path: str) -> str:
        if not os.path.isabs(path):
            return path
        with contextlib.suppress(ValueError):  # another drive
            near = Path(os.path.relpath(path, folder)).as_posix()
            return near if near.startswith("../") else f"./{near}"
        return path

    pxr.UsdUtils.ModifyAssetPaths(layer, relative)
    text: str = layer.ExportToString()
    return text
