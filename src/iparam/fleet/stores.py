"""Where recordings lie: folders, globs and object stores by their fsspec addresses; the one place that imports fsspec.

What a store needs to let one in (keys, endpoints) comes from its own environment variables and files, and from fsspec's
(``FSSPEC_S3_ENDPOINT_URL`` and the like), on every machine that reads from it. It is never an option, and in no result.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import logging
import posixpath
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iparam.errors import InputError, IparamError, MissingExtraError
from iparam.files.reading_limit import check_size

SUFFIXES = (".parquet", ".csv", ".npz", ".mat", ".mcap", ".db3", ".bag", ".mcap.zstd", ".db3.zstd")
"""Of the files that are taken for recordings."""

BAG_SUFFIXES = (".mcap", ".db3", ".bag", ".mcap.zstd", ".db3.zstd")
BAG_METADATA = "metadata.yaml"
_MAGIC = "*?["
_CHUNK = 4 << 20
_INNER = ("memory",)
"""Stores that only this process can see: their contents travel with the task."""

_STAMPS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "updated", "created")
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "created")


class StoreError(IparamError):
    """A store does not give what is asked of it: no access, no such object, or only a part of it."""


@dataclass(frozen=True)
class StoredFile:
    """A file of a store: its path there, its size [bytes], and what changes when it does."""

    path: str
    size: int
    stamp: str


@dataclass(frozen=True)
class Source:
    """A recording that lies in a store: one file, or the folder of a bag.

    Attributes:
        name: its path from where the pattern's wildcards begin: no result holds more of its address.
        store: the address up to there.
        files: one, or those of a bag's folder.
        is_folder: whether it is the folder of a bag.
        modified: when it was written last [s since 1970]; None if the store does not say.
        contents: of a file in a store that other processes cannot see.
    """

    name: str
    store: str
    files: tuple[StoredFile, ...]
    is_folder: bool
    modified: float | None = None
    contents: bytes | None = field(default=None, repr=False)

    @property
    def is_bag(self) -> bool:
        """Whether it is a ROS bag, by its name."""
        return self.is_folder or self.name.lower().endswith(BAG_SUFFIXES)

    @property
    def size(self) -> int:
        """Of all its files [bytes]."""
        return sum(file.size for file in self.files)

    @property
    def stamp(self) -> str:
        """Another one if the store's files were changed."""
        texts = [f"{posixpath.basename(file.path)}:{file.size}:{file.stamp}" for file in self.files]
        return hashlib.blake2b("\n".join(texts).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


@dataclass(frozen=True, eq=False)
class Fetched:
    """A recording on this machine for a while.

    Attributes:
        path: of the file or of the bag's folder.
        checksum: blake2b of its contents.
    """

    path: Path
    checksum: str


def find_sources(pattern: str, options: Mapping[str, Any] | None = None) -> list[Source]:
    """The recordings that an address names, by name: a file, a folder with all below it, or a glob.

    A folder with a bag's metadata.yaml is one recording. Files of other suffixes than `SUFFIXES` are passed over,
    unless the pattern ends in theirs.

    Args:
        pattern: ``runs``, ``runs/**/*.parquet``, ``s3://bucket/2026/*.mcap``, ``gs://...``, ``memory://...``
        options: of the store, for fsspec; see the module for where they should rather be.

    Raises:
        StoreError: the store does not answer, or has nothing of the kind.
    """
    system, path = _opened(pattern, options)
    with _said(f"cannot list {pattern}"):
        found, root = _listed(system, path)
    wanted = "" if any(mark in posixpath.splitext(path)[1] for mark in _MAGIC) else posixpath.splitext(path)[1].lower()
    sources = list(_grouped(found, root, system, pattern, wanted))
    if not sources:
        files = "file" if len(found) == 1 else "files"
        seen = f", only {len(found)} {files} of other kinds" if found else ""
        marks = ". In a pattern, a [ that is part of a name is written [[]" if "[" in path and not found else ""
        raise StoreError(f"{pattern} has no recordings{seen}: they end in {', '.join(SUFFIXES)}{marks}")
    return sorted(sources, key=lambda source: source.name)


@contextlib.contextmanager
def fetched(source: Source, options: Mapping[str, Any] | None = None) -> Iterator[Fetched]:
    """A recording as files of this machine: where they are if that is here, else a copy that is gone afterwards."""
    system, _ = _opened(source.store, options)
    if _is_local(system):
        paths = [Path(file.path) for file in source.files]
        for path in paths:
            if path.exists() and not path.is_file():  # reading from one need not end
                raise InputError(f"{source.name} is no file with contents, but a pipe, a device or a folder")
        yield Fetched(_own_path(source), _checksum(paths, source.name))
        return
    with tempfile.TemporaryDirectory(prefix="iparam-fleet-") as folder:
        place = Path(folder) / _safe(posixpath.basename(source.name))
        if source.is_folder:
            place.mkdir()
        copies = []
        for file in source.files:
            copy = place / _safe(posixpath.basename(file.path)) if source.is_folder else place
            with _said(f"cannot read {source.name}"):
                _copy(system, source, file, copy)
            copies.append(copy)
        yield Fetched(place, _checksum(copies, source.name))


def _opened(address: str, options: Mapping[str, Any] | None) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    if not isinstance(address, str) or not address or "\0" in address:
        raise InputError(f"a pattern is an address such as 'runs/*.parquet' or s3://bucket/runs, got {address!r}")
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("fsspec", "fleet") from None
    try:
        system, path = fsspec.core.url_to_fs(address, **dict(options or {}))
    except ImportError as error:  # names the package of that store
        raise StoreError(f"{address} cannot be read: {' '.join(str(error).split())}") from None
    except ValueError as error:  # a protocol that nobody knows
        raise InputError(
            f"{address} is no address of a store ({' '.join(str(error).split())[:200]}): give a folder, a glob in "
            "quotes, or an address such as s3://bucket/runs"
        ) from None
    except (TypeError, OSError) as error:
        raise StoreError(f"{address} is no address of a store: {' '.join(str(error).split())[:200]}") from None
    log = logging.getLogger(type(system).__module__.partition(".")[0])
    if log.level == logging.NOTSET:  # what a store's client has to tell is said here, in one sentence
        log.setLevel(logging.CRITICAL)
    return system, str(path)


@contextlib.contextmanager
def _said(what: str) -> Iterator[None]:
    """Whatever a store's client raises, as one sentence."""
    try:
        yield
    except IparamError:
        raise
    except FileNotFoundError:
        raise StoreError(f"{what}: it is not there, or not any more") from None
    except PermissionError as error:
        reason = _reason(error)
        raise StoreError(f"{what}: access denied ({reason}). Are the store's credentials in the environment?") from None
    except Exception as error:  # botocore, aiohttp, gcsfs ... have trees of their own
        raise StoreError(f"{what}: {type(error).__name__}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """What an error says, of one of the system's not the path."""
    said = error.strerror if isinstance(error, OSError) and isinstance(error.strerror, str) else str(error)
    return " ".join(said.split())[:200] or type(error).__name__


def _listed(system: Any, path: str) -> tuple[dict[str, dict[str, Any]], str]:
    """The files that a path names with what the store says of each, and the part of the path without wildcards."""
    system.invalidate_cache()
    if not any(mark in path for mark in _MAGIC) or system.exists(path):  # a name may have brackets in it
        if system.isdir(path):
            return system.find(path, detail=True), path.rstrip("/")
        return {path: system.info(path)}, posixpath.dirname(path)
    fixed = path[: min(path.index(mark) for mark in _MAGIC if mark in path)]
    found: dict[str, dict[str, Any]] = {}
    for place, details in system.glob(path, detail=True).items():
        if details.get("type") == "directory":
            found.update(system.find(place, detail=True))
        else:
            found[place] = details
    return found, posixpath.dirname(fixed)


def _grouped(found: dict[str, dict[str, Any]], root: str, system: Any, pattern: str, wanted: str) -> Iterator[Source]:
    """Files as recordings: those beside a bag's metadata are one."""
    described = {posixpath.dirname(path) for path in found if posixpath.basename(path) == BAG_METADATA}
    holding = {posixpath.dirname(path) for path in found if path.lower().endswith(BAG_SUFFIXES)}
    bags: dict[str, list[str]] = {folder: [] for folder in described & holding}
    store = _address(system, root, pattern)
    for path, details in found.items():
        if posixpath.dirname(path) in bags:
            bags[posixpath.dirname(path)].append(path)
        elif path.lower().endswith(SUFFIXES) or (wanted and path.lower().endswith(wanted)):
            contents = system.cat_file(path) if _protocol(system) in _INNER else None
            yield Source(_below(path, root), store, (_file(path, details),), False, _time(details), contents)
    for folder, paths in bags.items():
        if _protocol(system) in _INNER:
            raise StoreError(f"{pattern}: a bag of several files cannot be read from {_protocol(system)}://")
        files = tuple(_file(path, found[path]) for path in sorted(paths))
        times = [time for path in paths if (time := _time(found[path])) is not None]
        yield Source(_below(folder, root), store, files, True, max(times, default=None))


def _below(path: str, root: str) -> str:
    name = posixpath.relpath(path, root) if root else path.lstrip("/")
    return name.encode("utf-8", "backslashreplace").decode()  # a name that is no UTF-8 can be in no table


def _address(system: Any, root: str, pattern: str) -> str:
    return root if _is_local(system) else f"{pattern.partition('://')[0]}://{root.lstrip('/')}"


def _file(path: str, details: Mapping[str, Any]) -> StoredFile:
    stamp = next((str(details[key]) for key in _STAMPS if details.get(key)), "")
    return StoredFile(path, int(details.get("size") or 0), stamp)


def _time(details: Mapping[str, Any]) -> float | None:
    for key in _TIMES:
        value = details.get(key)
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                value = datetime.datetime.fromisoformat(value)
        if isinstance(value, datetime.datetime):
            return value.timestamp()
        if isinstance(value, int | float):
            return float(value)
    return None


def _protocol(system: Any) -> str:
    protocol = system.protocol
    return str(protocol if isinstance(protocol, str) else protocol[0])


def _is_local(system: Any) -> bool:
    return _protocol(system) in ("file", "local")


def _own_path(source: Source) -> Path:
    path = Path(source.files[0].path)
    return path.parent if source.is_folder else path


def _copy(system: Any, source: Source, file: StoredFile, copy: Path) -> None:
    """Bring a file here, whole."""
    check_size(file.size, source.name, f"{file.size} bytes")
    if source.contents is not None:
        copy.write_bytes(source.contents)
        return
    size = 0
    with copy.open("wb") as target:
        for start in range(0, max(file.size, 1), _CHUNK):
            part = system.cat_file(file.path, start=start, end=start + _CHUNK)
            size += target.write(part)
            if len(part) < _CHUNK:
                break
    if size != file.size:
        raise StoreError(
            f"cannot read {source.name}: {size} bytes came instead of {file.size}: it was cut, or changed meanwhile"
        )


def _checksum(paths: list[Path], name: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with _said(f"cannot read {name}"):
        for path in paths:
            with path.open("rb") as stream:
                while part := stream.read(_CHUNK):
                    digest.update(part)
    return digest.hexdigest()


def _safe(name: str) -> str:
    """A file's name for here: an object's key may hold anything."""
    kept = "".join(char if char.isalnum() or char in "._-" else "_" for char in name).lstrip(".")[-120:]
    return kept or "recording"
