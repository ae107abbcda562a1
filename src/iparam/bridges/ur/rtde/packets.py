"""The frames of RTDE, the real-time protocol of Universal Robots controllers. Pure: bytes in, bytes out, no sockets.

A packet is its size, a uint16 that counts itself, then a uint8 for its kind, then the payload; everything big-endian.
Both sides of a connection use the same kinds: a controller answers a request with a packet of the request's kind. What
the payload of a data package holds is agreed on beforehand, see `iparam.bridges.ur.rtde.fields`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from iparam.errors import IparamError

PROTOCOL_VERSION = 2
RTDE_PORT = 30004
HEADER_SIZE = 3
LARGEST_PACKET = 0xFFFF

_HEADER = struct.Struct(">HB")
_UINT16 = struct.Struct(">H")
_VERSION = struct.Struct(">4I")
_DOUBLE = struct.Struct(">d")


class RtdeError(IparamError):
    """Bytes that are no RTDE, or not what was agreed on; the message says what was found and what was expected."""


class PacketKind(IntEnum):
    """The kinds of packets, named after what the client asks."""

    PROTOCOL_VERSION = ord("V")
    CONTROLLER_VERSION = ord("v")
    TEXT_MESSAGE = ord("M")
    DATA = ord("U")
    SETUP_OUTPUTS = ord("O")
    SETUP_INPUTS = ord("I")
    START = ord("S")
    PAUSE = ord("P")


_KINDS = {int(kind): kind for kind in PacketKind}


@dataclass(frozen=True)
class Packet:
    """One packet.

    Attributes:
        kind: what it is.
        payload: what follows the header.
    """

    kind: PacketKind
    payload: bytes = b""

    def __post_init__(self) -> None:
        if len(self.payload) > LARGEST_PACKET - HEADER_SIZE:
            room = LARGEST_PACKET - HEADER_SIZE
            raise RtdeError(f"a payload of {len(self.payload)} bytes; a packet has room for {room}")

    def encoded(self) -> bytes:
        """The bytes to send."""
        return _HEADER.pack(HEADER_SIZE + len(self.payload), self.kind) + self.payload


class PacketSplitter:
    """Cuts a stream of bytes, given in pieces of any size, into packets.

    After an error the stream is lost: nothing marks where the next packet begins, so the connection has to be made
    anew.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def pending(self) -> int:
        """Bytes of a packet that is not complete yet."""
        return len(self._buffer)

    def feed(self, chunk: bytes) -> Iterator[Packet]:
        """The packets that ``chunk`` completes, in order. Consume them all before the next call.

        Raises:
            RtdeError: the stream is no RTDE; packets before the bad one have been given.
        """
        self._buffer += chunk
        while len(self._buffer) >= HEADER_SIZE:
            size, kind = _HEADER.unpack_from(self._buffer)
            if size < HEADER_SIZE:
                raise RtdeError(
                    f"a packet that says it has {size} bytes; expected {HEADER_SIZE} to {LARGEST_PACKET}: the other "
                    "side does not speak RTDE, or bytes were lost"
                )
            if kind not in _KINDS:
                raise RtdeError(
                    f"a packet of kind {kind}; RTDE knows {', '.join(str(known) for known in sorted(_KINDS))}: the "
                    "other side does not speak RTDE, or bytes were lost"
                )
            if len(self._buffer) < size:
                return
            payload = bytes(self._buffer[HEADER_SIZE:size])
            del self._buffer[:size]
            yield Packet(_KINDS[kind], payload)


@dataclass(frozen=True)
class ControllerVersion:
    """The version of a controller's software, e.g. 5.11.1.108318."""

    major: int
    minor: int
    bugfix: int
    build: int

    def encoded(self) -> bytes:
        """The payload of the answer to CONTROLLER_VERSION."""
        return _VERSION.pack(self.major, self.minor, self.bugfix, self.build)

    @classmethod
    def decoded(cls, payload: bytes) -> ControllerVersion:
        """What `encoded` made."""
        if len(payload) != _VERSION.size:
            raise RtdeError(f"a controller version of {len(payload)} bytes; expected {_VERSION.size}")
        return cls(*_VERSION.unpack(payload))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.bugfix}.{self.build}"


@dataclass(frozen=True)
class TextMessage:
    """What a controller has to say, in protocol version 2.

    Attributes:
        text: of the message; at most 255 bytes are sent.
        source: who says it; at most 255 bytes are sent.
        level: 0 exception, 1 error, 2 warning, 3 information.
    """

    text: str
    source: str = ""
    level: int = 3

    def encoded(self) -> bytes:
        """The payload of a TEXT_MESSAGE."""
        parts = (part.encode("utf-8")[:255] for part in (self.text, self.source))
        return b"".join(bytes([len(part)]) + part for part in parts) + bytes([self.level])

    @classmethod
    def decoded(cls, payload: bytes) -> TextMessage:
        """What `encoded` made; bytes that are no text become question marks."""
        place, parts = 0, []
        for _ in range(2):
            end = place + 1 + payload[place] if place < len(payload) else len(payload) + 1
            if end > len(payload):
                raise RtdeError(f"a text message of {len(payload)} bytes that ends before its text")
            parts.append(payload[place + 1 : end].decode("utf-8", "replace"))
            place = end
        if place >= len(payload):
            raise RtdeError(f"a text message of {len(payload)} bytes without a level")
        return cls(parts[0], parts[1], payload[place])


def protocol_request(version: int = PROTOCOL_VERSION) -> Packet:
    """The client's wish for a protocol version; answered by `accepted`."""
    return Packet(PacketKind.PROTOCOL_VERSION, _UINT16.pack(version))


def accepted(packet: Packet) -> bool:
    """Whether a controller's answer to PROTOCOL_VERSION, START or PAUSE is yes."""
    if len(packet.payload) != 1:
        raise RtdeError(f"an answer {packet.kind.name} of {len(packet.payload)} bytes; expected 1")
    return packet.payload[0] != 0


def output_request(names: tuple[str, ...], frequency: float) -> Packet:
    """The client's wish for output fields at a frequency [Hz], protocol version 2; see `setup_answer`."""
    return Packet(PacketKind.SETUP_OUTPUTS, _DOUBLE.pack(frequency) + ",".join(names).encode("ascii"))


def input_request(names: tuple[str, ...]) -> Packet:
    """The client's wish to write input fields; see `setup_answer`."""
    return Packet(PacketKind.SETUP_INPUTS, ",".join(names).encode("ascii"))


def requested_names(payload: bytes) -> tuple[str, ...]:
    """Names separated by commas. Clients end their list in a comma: an empty name is none."""
    try:
        text = payload.decode("ascii")
    except UnicodeDecodeError:
        raise RtdeError(f"a list of names that is not ASCII: {payload[:40]!r}") from None
    return tuple(name for name in (part.strip() for part in text.split(",")) if name)


def agreed_types(packet: Packet) -> tuple[int, tuple[str, ...]]:
    """The number of the recipe and the types in a controller's answer to a setup."""
    if not packet.payload:
        raise RtdeError(f"an empty answer to {packet.kind.name}")
    return packet.payload[0], requested_names(packet.payload[1:])


def data_packet(recipe: int, values: bytes) -> Packet:
    """A data package of protocol version 2, either direction; ``values`` as `Recipe.pack` makes them."""
    return Packet(PacketKind.DATA, bytes([recipe]) + values)
