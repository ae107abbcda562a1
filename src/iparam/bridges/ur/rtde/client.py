"""`RtdeStream`: one connection to a controller's RTDE port, which gives every package of the agreed fields."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from types import TracebackType

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ur.rtde.fields import NOT_FOUND, Recipe, Value
from iparam.bridges.ur.rtde.packets import (
    RTDE_PORT,
    ControllerVersion,
    Packet,
    PacketKind,
    PacketSplitter,
    RtdeError,
    TextMessage,
    accepted,
    agreed_types,
    data_packet,
    input_request,
    output_request,
    protocol_request,
)
from iparam.errors import IparamError

CONNECT_TIMEOUT = 3.0
"""Time that a controller has for each step of the connection [s]."""

E_SERIES = 5
"""Major version of the software from which on a controller sends 500 packages a second; before, 125."""

_CHUNK = 1 << 16


class ArmConnectionError(IparamError):
    """A controller cannot be reached, or the connection to it has ended; the message says what to look at."""


class RtdeStream:
    """A running stream of data packages. Use `open`, and close it or use it in a ``with`` block.

    Every package becomes one row of float64: integers up to 2^53, which all modes and states are, stay exact.

    Attributes:
        version: of the controller's software.
        rate: packages a second that were asked for [Hz].
        columns: field name -> its columns in a row.
        width: columns of a row.
        missing: optional fields that the controller does not have.
        messages: what the controller said while the connection was made.
    """

    def __init__(self, connection: socket.socket, splitter: PacketSplitter) -> None:
        self._socket = connection
        self._splitter = splitter
        self.version = ControllerVersion(0, 0, 0, 0)
        self.rate = 0.0
        self.columns: dict[str, slice] = {}
        self.width = 0
        self.missing: tuple[str, ...] = ()
        self.messages: list[str] = []
        self._recipe = 0
        self._inputs: tuple[int, Recipe] | None = None
        self._struct = struct.Struct(">")
        self._early: list[Packet] = []
        self._broken: RtdeError | None = None

    @classmethod
    def open(
        cls,
        host: str,
        required: Sequence[str],
        optional: Sequence[str] = (),
        *,
        port: int = RTDE_PORT,
        timeout: float = CONNECT_TIMEOUT,
    ) -> RtdeStream:
        """Connect, agree on the fields and start the stream.

        Args:
            host: name or address of the controller.
            required: fields without which there is no stream.
            optional: fields to have if the controller knows them.
            port: of RTDE.
            timeout: for each step [s].
        """
        connection = connect_socket(host, port, timeout, "RTDE")
        stream = cls(connection, PacketSplitter())
        try:
            stream._set_up(f"{host}:{port}", required, optional, timeout)
        except OSError as error:
            stream.close()
            raise ArmConnectionError(f"{host}:{port} ended the connection: {error.strerror or error}") from None
        except BaseException:
            stream.close()
            raise
        return stream

    def read(self, timeout: float) -> FloatArray:
        """The packages that have come, (R, width); waits for the first bytes at most ``timeout`` [s], R may be 0.

        Raises:
            ArmConnectionError: the controller ended the connection.
            RtdeError: what came is not what was agreed on; the connection is of no more use. Packages before the bad
                one are given first.
        """
        if self._broken is not None:
            raise self._broken
        packets, self._early = self._early, []
        self._socket.settimeout(timeout)
        try:
            chunk = self._socket.recv(_CHUNK)
        except TimeoutError:
            return self._rows(packets)
        except OSError as error:
            raise ArmConnectionError(f"the connection to the controller broke: {error.strerror or error}") from None
        if not chunk:
            raise ArmConnectionError("the controller ended the connection")
        try:
            for packet in self._splitter.feed(chunk):
                packets.append(packet)  # one by one: packets before a bad one count
        except RtdeError as error:
            self._broken = error
        rows = self._rows(packets)
        if self._broken is not None and not len(rows):
            raise self._broken
        return rows

    def claim(self, names: Sequence[str], timeout: float = CONNECT_TIMEOUT) -> None:
        """Agree on input fields that `write` sets; within ``timeout`` [s]."""
        number, types = agreed_types(self._ask("the controller", input_request(tuple(names)), timeout))
        self._inputs = number, Recipe.agreed(names, types)

    def write(self, values: Mapping[str, Value]) -> None:
        """Set the input fields that were claimed."""
        if self._inputs is None:
            raise RtdeError("no input fields were agreed on")
        number, recipe = self._inputs
        try:
            self._socket.sendall(data_packet(number, recipe.pack(values)).encoded())
        except OSError as error:
            raise ArmConnectionError(f"the connection to the controller broke: {error.strerror or error}") from None

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def __enter__(self) -> RtdeStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _rows(self, packets: list[Packet]) -> FloatArray:
        rows = []
        for packet in packets:
            if packet.kind is PacketKind.TEXT_MESSAGE:
                self.messages.append(TextMessage.decoded(packet.payload).text)
                continue
            if packet.kind is not PacketKind.DATA:
                continue
            if len(packet.payload) != 1 + self._struct.size or packet.payload[0] != self._recipe:
                self._broken = RtdeError(
                    f"a data package of {len(packet.payload)} bytes for recipe {packet.payload[:1].hex() or 'none'}; "
                    f"agreed were {1 + self._struct.size} bytes for recipe {self._recipe:02x}"
                )
                break
            rows.append(self._struct.unpack_from(packet.payload, 1))
        return np.array(rows, dtype=np.float64) if rows else np.empty((0, self.width))

    def _set_up(self, place: str, required: Sequence[str], optional: Sequence[str], timeout: float) -> None:
        if not accepted(self._ask(place, protocol_request(), timeout)):
            raise RtdeError(
                f"{place} does not speak version 2 of RTDE: its software is too old, update it to 3.5 or later"
            )
        answer = self._ask(place, Packet(PacketKind.CONTROLLER_VERSION), timeout)
        self.version = ControllerVersion.decoded(answer.payload)
        self.rate = 500.0 if self.version.major >= E_SERIES else 125.0
        wanted = (*required, *optional)
        recipe, types = self._agree(place, wanted, timeout)
        self.missing = tuple(n for n, kind in zip(wanted, types, strict=True) if kind == NOT_FOUND and n in optional)
        if self.missing:
            wanted = tuple(name for name in wanted if name not in self.missing)
            recipe, types = self._agree(place, wanted, timeout)
        agreed = Recipe.agreed(wanted, types)
        first = 0
        for name, kind in zip(agreed.names, agreed.types, strict=True):
            self.columns[name] = slice(first, first + kind.numbers)
            first += kind.numbers
        self.width = first
        self._recipe = recipe
        self._struct = struct.Struct(">" + "".join(kind.layout for kind in agreed.types))
        if not accepted(self._ask(place, Packet(PacketKind.START), timeout)):
            raise RtdeError(f"{place} refuses to start the stream: {'; '.join(self.messages) or 'it does not say why'}")

    def _agree(self, place: str, names: tuple[str, ...], timeout: float) -> tuple[int, tuple[str, ...]]:
        recipe, types = agreed_types(self._ask(place, output_request(names, self.rate), timeout))
        if len(types) != len(names):
            raise RtdeError(f"{place} gave {len(types)} types for {len(names)} fields")
        return recipe, types

    def _ask(self, place: str, request: Packet, timeout: float) -> Packet:
        """Send a request and wait for the answer, which has its kind."""
        self._socket.settimeout(timeout)
        self._socket.sendall(request.encoded())
        deadline = time.monotonic() + timeout
        while (remaining := deadline - time.monotonic()) > 0.0:
            self._socket.settimeout(remaining)
            try:
                chunk = self._socket.recv(_CHUNK)
            except TimeoutError:
                break
            if not chunk:
                raise ArmConnectionError(f"{place} ended the connection instead of answering: is it a UR controller?")
            found = None
            for packet in self._splitter.feed(chunk):
                if found is None and packet.kind is request.kind:
                    found = packet
                elif packet.kind is PacketKind.TEXT_MESSAGE:
                    self.messages.append(TextMessage.decoded(packet.payload).text)
                elif packet.kind is PacketKind.DATA:
                    self._early.append(packet)  # the first packages may come along with the answer to START
            if found is not None:
                return found
        raise ArmConnectionError(
            f"{place} took the connection but did not answer {request.kind.name} within {timeout:g} s: is it a UR "
            "controller?"
        )


def connect_socket(host: str, port: int, timeout: float, service: str) -> socket.socket:
    """A TCP connection, or an `ArmConnectionError` that says what to look at."""
    try:
        connection = socket.create_connection((host, port), timeout)
    except (socket.gaierror, UnicodeError):
        raise ArmConnectionError(f"{host!r} is no known host: give the address that the teach pendant shows") from None
    except TimeoutError:
        raise ArmConnectionError(
            f"no answer from {host}:{port} within {timeout:g} s: is the address right, the controller on, and in the "
            "same network?"
        ) from None
    except ConnectionRefusedError:
        raise ArmConnectionError(
            f"{host} refuses connections to port {port} ({service}): is it a UR controller, has it started, and is "
            "the service allowed (Settings > Security > Services)?"
        ) from None
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ArmConnectionError(f"cannot connect to {host}:{port}: {reason}") from None
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection
