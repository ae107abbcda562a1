"""The one place that imports rosbags and what it brings along, when it is first needed: message types, YAML, and
decompression that stops where the data does.
"""

from __future__ import annotations

import bz2
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from iparam.errors import IparamError, MissingExtraError
from iparam.files.reading_limit import check_size, reading_limit

MOST_EVENTS = 30_000
"""Parts of a YAML text; a bag of a hundred topics in a hundred files has 6000."""

DEEPEST = 50
"""Levels of a YAML text."""


@functools.cache
def typestore() -> Any:
    """The store of ROS 2's standard message types in rosbags, with their (de)serialisers.

    Raises:
        MissingExtraError: rosbags is not installed.
    """
    try:
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise MissingExtraError("rosbags", "bag") from None
    return get_typestore(Stores.LATEST)


@functools.cache
def ros1_typestore() -> Any:
    """The same for ROS 1's standard message types."""
    typestore()
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", "tf2_msgs/msg/TFMessage"))
    return store


def definition_fields(text: str, type_name: str) -> Mapping[str, Any]:
    """Message type -> its fields, from the text of a message definition in ROS's .msg language; nothing is executed.

    Raises:
        ValueError: the text is no such definition.
    """
    typestore()
    from rosbags.typesys import get_types_from_msg

    try:
        return {name: fields for name, (_, fields) in get_types_from_msg(text, type_name).items()}
    except Exception as error:  # the parser raises what its grammar meets
        raise ValueError(str(error)) from None


def bag_writer(folder: Path, storage: str) -> Any:
    """A writer of a new bag at ``folder``: "mcap" or "sqlite3"."""
    typestore()
    from rosbags.rosbag2 import StoragePlugin, Writer

    # Version 8 of the metadata: the readers of ROS 2 Humble fail on the nested quality of service of version 9.
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    return Writer(folder, version=8, storage_plugin=plugin)


def load_yaml(text: str) -> Any:
    """What a YAML text holds: dicts and lists of texts; numbers and dates stay the texts that they are written as.

    Aliases, which make a small text as large as they like, are refused, and so is what is nested too deeply or too long
    for the description of a bag: the parser takes up to 100 us for each of a text's parts.

    Raises:
        ValueError: it is no YAML, or not that of a bag.
    """
    typestore()
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return _plain_value(YAML(typ="safe", pure=True).parse(text))
    except YAMLError as error:
        raise ValueError(str(error).partition("\n")[0]) from None


def _plain_value(events: Iterable[Any]) -> Any:
    """The value that events of YAML's parser describe."""
    from ruamel.yaml import events as kinds

    open_values: list[list[Any]] = [[]]  # of the collections that have begun, what is in them so far
    for count, event in enumerate(events):
        if count > MOST_EVENTS or len(open_values) > DEEPEST:
            raise ValueError(f"it has more than {MOST_EVENTS} parts, or is nested deeper than {DEEPEST}")
        if isinstance(event, kinds.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise ValueError("it has anchors or aliases, which no bag needs")
        if isinstance(event, kinds.ScalarEvent):
            open_values[-1].append(event.value)
        elif isinstance(event, kinds.CollectionStartEvent):
            open_values.append([])
        elif isinstance(event, kinds.CollectionEndEvent):
            found = open_values.pop()
            if isinstance(event, kinds.MappingEndEvent):
                if not all(isinstance(key, str) for key in found[::2]):
                    raise ValueError("a key is not a text")
                open_values[-1].append(dict(zip(found[::2], found[1::2], strict=True)))
            else:
                open_values[-1].append(found)
    return open_values[0][0] if open_values[0] else None


def zstd_decompressor() -> Any:
    """A decompressor of one zstd frame with ``decompress(data, max_length)``, ``eof`` and ``unused_data``."""
    typestore()
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            raise MissingExtraError("backports.zstd", "bag") from None
    return zstd.ZstdDecompressor()


def lz4_decompressor() -> Any:
    """A decompressor of one lz4 frame, as `zstd_decompressor`."""
    typestore()
    try:
        from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("lz4", "bag") from None
    return LZ4FrameDecompressor()


DECOMPRESSORS: Mapping[str, Callable[[], Any]] = {
    "zstd": zstd_decompressor,
    "lz4": lz4_decompressor,
    "bz2": bz2.BZ2Decompressor,
}
"""By the name that MCAP files and ROS 1 bags use."""


ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_STEP = 1 << 16
_PART = 1 << 22


def decompress(data: bytes, compression: str, size: int) -> bytes | None:
    """The first ``size`` bytes of a frame, fewer if it is cut or damaged.

    Args:
        data: the frame, or its beginning.
        compression: "zstd", "lz4", "bz2", or "" for none.
        size: of the contents, as stated beside them: no more is unpacked, however much the frame holds.

    Returns:
        The bytes; None if the compression is unknown.
    """
    if not compression:
        return data[:size]
    if compression not in DECOMPRESSORS:
        return None
    decompressor = DECOMPRESSORS[compression]()
    parts: list[bytes] = []
    found = 0
    # In small steps: a decompressor that meets damage gives nothing of the step in which it does.
    for start in range(0, len(data), _STEP):
        piece = data[start : start + _STEP]
        while found < size and not decompressor.eof:
            try:
                part = decompressor.decompress(piece, size - found)
            except Exception:  # each package has errors of its own for damaged data
                return b"".join(parts)
            parts.append(part)
            found += len(part)
            piece = b""
            if decompressor.needs_input or not part:
                break
        if found >= size or decompressor.eof:
            break
    return b"".join(parts)


def unpack_file(packed: BinaryIO, unpacked: BinaryIO, source: str) -> bool:
    """Decompress a zstd file as far as it goes; whether it went to the end.

    Args:
        packed: the file.
        unpacked: where its contents go.
        source: its name, for messages.
    """
    whole, limit = False, reading_limit()
    decompressor = DECOMPRESSORS["zstd"]()
    while piece := packed.read(_STEP):
        while piece:
            if decompressor.eof:  # a file may be several frames, one after the other
                decompressor = DECOMPRESSORS["zstd"]()
            try:
                for part in _parts(decompressor, piece):
                    if unpacked.write(part) and unpacked.tell() > limit:
                        check_size(unpacked.tell(), source, "packed contents of at least this size")
            except IparamError:
                raise
            except Exception:  # as above
                return False
            whole = decompressor.eof
            piece = decompressor.unused_data if whole else b""
    return whole


def _parts(decompressor: Any, piece: bytes) -> Iterator[bytes]:
    """What a piece of packed data unpacks to, in parts: a few bytes may be gigabytes."""
    yield decompressor.decompress(piece, _PART)
    while not (decompressor.eof or decompressor.needs_input):
        yield decompressor.decompress(b"", _PART)
