"""Changing one element in the text of an XML file and leaving every other byte as it was.

Comments, blanks, quotes and the order of attributes are the author's; a parser that writes its tree anew loses them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn
from xml.parsers import expat

from iparam.errors import FileFormatError

_START_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_UTF8 = (None, "utf-8", "utf8", "us-ascii", "ascii")


@dataclass(frozen=True)
class Span:
    """Where an element stands in the text, in bytes.

    Attributes:
        start: of its start tag.
        inside: the end of its start tag.
        outside: the start of its end tag; equal to ``end`` if it has none (``<link/>``).
        end: of the element.
    """

    start: int
    inside: int
    outside: int
    end: int

    @property
    def is_closed(self) -> bool:
        """True for ``<link/>``."""
        return self.outside == self.end


class XmlText:
    """The text of a well-formed XML file without a document type definition, in UTF-8.

    Args:
        file: its name, for messages.
        data: its contents.
    """

    def __init__(self, file: str, data: bytes) -> None:
        self.file = file
        self.data = data.removeprefix(b"\xef\xbb\xbf")
        self._declared: str | None = None
        self._open: list[tuple[str, str | None, int, int]] = []
        self._spans: dict[tuple[tuple[str, str | None], ...], Span] = {}
        self._scan()

    def span(self, *path: tuple[str, str | None]) -> Span | None:
        """Of the first element at ``path``: tags and their attribute ``name`` (None if they have none)."""
        return self._spans.get(path)

    def replaced(self, start: int, end: int, text: str) -> str:
        """The whole text with that part exchanged; ``text`` gets the line ends of the file."""
        newline = "\r\n" if b"\r\n" in self.data else "\n"
        part = text.replace("\n", newline).encode("utf-8")
        return (self.data[:start] + part + self.data[end:]).decode("utf-8")

    def indent(self, position: int) -> str:
        """The blanks before ``position`` if nothing else stands before it on its line, else ""."""
        before = self.data[self.data.rfind(b"\n", 0, position) + 1 : position].decode("utf-8", "replace")
        return before if not before.strip() else ""

    def _scan(self) -> None:
        parser = expat.ParserCreate()
        parser.XmlDeclHandler = self._declare
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = lambda tag, attributes: self._start(tag, attributes, parser.CurrentByteIndex)
        parser.EndElementHandler = lambda tag: self._end(parser.CurrentByteIndex)
        try:
            self.data.decode("utf-8")
            parser.Parse(self.data, True)
        except UnicodeDecodeError:
            raise FileFormatError(f"{self.file} is not in UTF-8: save it so first") from None
        except expat.ExpatError as error:
            raise FileFormatError(f"{self.file} is not well-formed XML: {error}") from None
        if not self.data.isascii() and self._declared not in _UTF8:
            raise FileFormatError(f"{self.file} says that it is in {self._declared!r}: save it in UTF-8 first")

    def _declare(self, version: str, encoding: str | None, standalone: int) -> None:
        self._declared = encoding.lower() if encoding else None

    def _refuse(self, *ignored: object) -> NoReturn:
        raise FileFormatError(f"{self.file} has a document type definition, which is refused for safety: remove it")

    def _start(self, tag: str, attributes: dict[str, str], position: int) -> None:
        found = _START_TAG.match(self.data, position)
        if found is None:  # cannot be in a document that expat accepts
            raise FileFormatError(f"{self.file}: cannot find the end of <{tag}>")
        self._open.append((tag, attributes.get("name"), position, found.end()))

    def _end(self, position: int) -> None:
        path = tuple((tag, name) for tag, name, _, _ in self._open)
        _, _, start, inside = self._open.pop()
        if self.data[inside - 2 : inside] == b"/>":
            span = Span(start, inside, inside, inside)
        else:
            span = Span(start, inside, position, self.data.index(b">", position) + 1)
        if len(path) <= 3:
            self._spans.setdefault(path, span)
