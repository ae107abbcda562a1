"""JSON documents, in files of their own and within other files: read with suspicion, so that an error names the file,
the key and what was expected there; written with every digit, and so that people can read them too.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError, InputError
from iparam.files.atomic import write_atomically
from iparam.files.kind import FileKind, kind_of, kind_stated, needed
from iparam.files.reading_limit import read_bounded

MAX_BYTES = 50_000_000
LARGEST = 1e50
"""Of the numbers in a document: what is beyond is damage, and its powers would be no numbers any more."""
MOST_COUNTED = 10**12
"""Samples that a document may speak of: a thousand a second for thirty years."""


@dataclass(frozen=True)
class JsonSection:
    """A JSON object and where it stands.

    Attributes:
        file: path, for messages.
        key: dotted keys that lead to it, "" for the whole document.
        content: the object itself.
    """

    file: str
    key: str
    content: dict[str, Any]

    def error(self, key: str, problem: str) -> FileFormatError:
        """The error that says what is wrong with ``key`` of this section."""
        return FileFormatError(f"{self.file}: {self.path(key)} {problem}")

    def path(self, key: str) -> str:
        """``key`` with the keys that lead to it."""
        return f"{self.key}.{key}" if self.key else key

    def has(self, key: str) -> bool:
        """Whether ``key`` is there and not null."""
        return self.content.get(key) is not None

    def section(self, key: str) -> JsonSection:
        """The object under ``key``."""
        value = self._required(key, "an object")
        if not isinstance(value, dict):
            raise self.error(key, f"must be an object, got {_shown(value)}")
        return JsonSection(self.file, self.path(key), value)

    def sections(self, key: str) -> list[JsonSection]:
        """The objects in the list under ``key``."""
        value = self._required(key, "a list of objects")
        if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
            raise self.error(key, f"must be a list of objects, got {_shown(value)}")
        return [JsonSection(self.file, f"{self.path(key)}[{place}]", part) for place, part in enumerate(value)]

    def text(self, key: str) -> str:
        """The string under ``key``."""
        value = self._required(key, "a string")
        if not isinstance(value, str):
            raise self.error(key, f"must be a string, got {_shown(value)}")
        return value

    def number(self, key: str) -> float:
        """The finite number under ``key``."""
        value = self._required(key, "a number")
        if not _is_number(value):
            raise self.error(key, f"must be a finite number, got {_shown(value)}")
        return self._bounded(key, float(value))

    def count(self, key: str) -> int:
        """The whole number above 0 under ``key``, up to `MOST_COUNTED`."""
        value = self.number(key)
        if not 1.0 <= value <= MOST_COUNTED or value != int(value):
            raise self.error(key, f"must be a whole number from 1 to {MOST_COUNTED:.0e}, got {value:g}")
        return int(value)

    def array(self, key: str, dimensions: int, nullable: bool = False) -> FloatArray:
        """The list of numbers, or of as long lists of numbers, under ``key``, with that many ``dimensions``.

        Args:
            key: of the list.
            dimensions: 1 or 2.
            nullable: take null for a number that is not known, NaN.
        """
        kind = "a list of numbers" if dimensions == 1 else "a list of lists of numbers, all as long"
        value = self._required(key, kind)
        rows = value if dimensions == 2 else [value]
        regular = isinstance(rows, list) and all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows)
        if not regular:
            raise self.error(key, f"must be {kind}, got {_shown(value)}")
        for row in rows:
            for element in row:
                if nullable and element is None:
                    continue
                if not _is_number(element):
                    raise self.error(key, f"must be {kind}, and all finite; it holds {_shown(element)}")
                self._bounded(key, float(element))
        return np.array(value, dtype=np.float64)

    def _bounded(self, key: str, value: float) -> float:
        if abs(value) > LARGEST:
            raise self.error(key, f"must stay within +-{LARGEST:g}, got {value:g}")
        return value

    def _required(self, key: str, kind: str) -> Any:
        if key not in self.content:
            present = ", ".join(list(self.content)[:20]) or "nothing"
            raise self.error(key, f"is missing: expected {kind}; there is {present}")
        return self.content[key]


def read_json(
    path: str | os.PathLike[str],
    max_bytes: int = MAX_BYTES,
    wanted: Sequence[FileKind] = (),
) -> JsonSection:
    """The JSON object in the file at ``path``.

    Args:
        path: of the file.
        max_bytes: the most that is read.
        wanted: kinds of which it has to be one; a file that is known to be of another kind is refused by that name.
    """
    name = _shown(path, quoted=False)
    data = _read_bounded(path, name, max_bytes)
    try:
        document = parse_json(data, name)
    except FileFormatError:
        _refuse_other(name, kind_of(path), wanted)
        raise
    if not isinstance(document, dict):
        raise FileFormatError(f"{name} must hold a JSON object, got {_shown(document)}")
    _refuse_other(name, kind_stated(document), wanted)
    return JsonSection(name, "", document)


def _refuse_other(name: str, kind: FileKind | None, wanted: Sequence[FileKind]) -> None:
    if wanted and kind is not None and kind not in wanted:
        raise FileFormatError(f"{name} is {kind}; {needed(wanted[0])}")


def parse_json(data: bytes | str, name: str) -> Any:
    """The value that a JSON text holds; repeated keys, NaN and Infinity are refused.

    Args:
        data: the text; bytes are UTF-8, with or without a byte order mark.
        name: of the text, for messages.
    """
    try:
        return json.loads(
            data if isinstance(data, str) else data.decode("utf-8-sig"),
            object_pairs_hook=_without_repetition,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError:
        raise FileFormatError(f"{name} is not UTF-8 text, so it is no JSON") from None
    except RecursionError:
        raise FileFormatError(f"{name} is nested too deeply") from None
    except ValueError as error:
        raise FileFormatError(f"{name} is not JSON that can be read: {error}") from None


def _read_bounded(path: str | os.PathLike[str], name: str, max_bytes: int) -> bytes:
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a file to read must be given as a path, got {type(path).__name__}")
    try:
        data = read_bounded(Path(path), max_bytes, name, "the path of a JSON file")
    except (OSError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileFormatError(f"cannot read {name}: {reason}") from None
    if len(data) > max_bytes:
        raise FileFormatError(f"{name} is larger than {max_bytes // 10**6} MB, the most that is read")
    return data


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {_shown(repeated)} is there more than once")
    return content


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {_shown(text, quoted=False)} is too large")
    return number


def _refuse_constant(text: str) -> float:
    raise ValueError(f"it holds {text}, which is no number in JSON: leave the value out or write null")


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _shown(value: object, quoted: bool = True) -> str:
    """``value`` for a message, as JSON would write it and not too long."""
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**100:
        return "a number that is too large"
    names = {None: "null", True: "true", False: "false"}
    text = names[value] if value is None or isinstance(value, bool) else repr(value) if quoted else str(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def write_json(path: str | os.PathLike[str], document: Mapping[str, Any]) -> None:
    """Write ``document`` to a file of its own, in ASCII with escapes; an existing one is replaced in one step."""
    write_atomically(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


def numbers_or_null(values: Iterable[float]) -> list[float | None]:
    """Numbers for a document; null for those that are not known, which arrays hold as NaN."""
    return [float(value) if math.isfinite(value) else None for value in values]


def json_line(document: Mapping[str, Any]) -> str:
    """``document`` on one line, in ASCII with escapes, to stand within another file."""
    return json.dumps(document, allow_nan=False)


def json_text(document: Mapping[str, Any]) -> str:
    """``document`` for other programs and their users: a list of numbers on one line, a newline at the end."""
    return _text(document, "") + "\n"


def _text(value: Any, indent: str) -> str:
    inner = f"{indent} "
    if isinstance(value, Mapping):
        return _lines("{}", [f"{json.dumps(key)}: {_text(item, inner)}" for key, item in value.items()], indent)
    if isinstance(value, list) and any(isinstance(item, str | list) for item in value):
        return _lines("[]", [_text(item, inner) for item in value], indent)
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _lines(brackets: str, items: list[str], indent: str) -> str:
    inside = ",\n".join(f"{indent} {item}" for item in items)
    return f"{brackets[0]}\n{inside}\n{indent}{brackets[1]}"
