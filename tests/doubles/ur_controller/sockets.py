"""`SocketServer`: ports, connections, and the bytes that wait in them, for sessions that know bytes only; and the
faults that the twin can be told to have, so that clients can be tested against them.
"""

from __future__ import annotations

import math
import re
import selectors
import socket
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from iparam.bridges.ur.rtde.packets import RtdeError
from iparam.errors import InputError, UnknownNameError

CLOCK_JUMP = 5.0
"""Of the faults of the clock [s]."""

GARBAGE = 64
"""Bytes of garbage."""


class FaultKind(StrEnum):
    """What goes wrong.

    protective-stop: the arm makes a protective stop. drop: every RTDE connection is closed. half-packet: half a data
    packet, then the connection is closed. stall: half a data packet, and then nothing more. garbage: random bytes
    between two data packets. refuse-version: no protocol version is accepted on new connections. clock-forward,
    clock-back: ``timestamp`` jumps by 5 s.
    """

    PROTECTIVE_STOP = "protective-stop"
    DROP = "drop"
    HALF_PACKET = "half-packet"
    STALL = "stall"
    GARBAGE = "garbage"
    REFUSE_VERSION = "refuse-version"
    CLOCK_FORWARD = "clock-forward"
    CLOCK_BACK = "clock-back"


_NAMES = tuple(kind.value for kind in FaultKind)


@dataclass(frozen=True)
class Fault:
    """A fault and when it happens, once.

    Attributes:
        kind: what.
        seconds: after the twin's start; or
        packets: after that many data packets on one connection.
    """

    kind: FaultKind
    seconds: float | None = None
    packets: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in _NAMES:
            raise UnknownNameError("fault", self.kind, _NAMES)
        object.__setattr__(self, "kind", FaultKind(self.kind))
        if (self.seconds is None) == (self.packets is None):
            raise InputError(f"fault {self.kind}: give its time in seconds or a number of packets, one of the two")
        when = self.seconds if self.packets is None else self.packets
        if not (math.isfinite(when or 0.0) and (when or 0.0) >= 0.0):
            raise InputError(f"fault {self.kind}: its time must be at least 0, got {when!r}")

    @classmethod
    def parse(cls, text: str) -> Fault:
        """A fault from ``KIND@SECONDS`` or, after a number of packets, ``KIND@NUMBERp``: drop@2.5, stall@300p."""
        kind, _, when = text.partition("@")
        if kind not in _NAMES:
            raise UnknownNameError("fault", kind, _NAMES)
        if re.fullmatch(r"\d+p", when):
            return cls(FaultKind(kind), packets=int(when[:-1]))
        if re.fullmatch(r"\d+(\.\d*)?|\.\d+", when):
            return cls(FaultKind(kind), seconds=float(when))
        raise InputError(f"fault {text!r}: expected KIND@SECONDS or KIND@PACKETSp, such as drop@2.5 or drop@300p")

    def due(self, time: float, packets: int) -> bool:
        """Whether it happens at ``time`` [s], when the busiest connection has had that many packets."""
        if self.packets is not None:
            return packets >= self.packets
        return self.seconds is not None and time >= self.seconds


MOST_UNSENT = 1_000_000
"""Bytes that may wait for a client that does not read, before its connection is closed."""

MOST_CLIENTS = 64
_HIGHEST_DESCRIPTOR = 1000  # select's own limit is 1024


class Session(Protocol):
    """The twin's side of one connection.

    Attributes:
        greeting: what the twin says first.
        ended: the connection is to be closed once everything is sent.
    """

    greeting: bytes
    ended: bool

    def feed(self, chunk: bytes) -> bytes:
        """The answer to what arrived.

        Raises:
            RtdeError: the client is not understood; its connection is closed.
        """

    def close(self) -> None:
        """The connection is gone."""


class Connection:
    """A socket, the session behind it, and the bytes that the client has not taken yet."""

    def __init__(self, stream: socket.socket, session: Session) -> None:
        self.stream, self.session = stream, session
        self.unsent = bytearray()


class SocketServer:
    """Sessions behind ports, served in one thread without ever waiting for a client.

    Args:
        host: address to listen on.
        notice: is told of clients that misbehave.

    Attributes:
        connections: those that are open.
    """

    def __init__(self, host: str, notice: Callable[[str], None]) -> None:
        self._host, self._notice = host, notice
        # epoll counts whole milliseconds, of which a period of the controller has two.
        self._selector = selectors.SelectSelector()
        self._listeners: list[socket.socket] = []
        self.connections: list[Connection] = []

    def listen(self, port: int, session: Callable[[], Session]) -> int:
        """Open a port, 0 for any free one, whose clients get sessions from ``session``; its number."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listeners.append(listener)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self._host, port))
            listener.listen()
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(
                f"cannot listen on {self._host} port {port}: {reason}; --host must be an IPv4 address of this machine, "
                "and no other twin or program may listen there: 127.0.0.2 is free as a rule"
            ) from error
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ, session)
        return int(listener.getsockname()[1])

    def serve(self, timeout: float) -> None:
        """Answer whoever says something within ``timeout`` [s]."""
        for key, _ in self._selector.select(max(timeout, 0.0)):
            if isinstance(key.data, Connection):
                self._receive(key.data)
            else:
                self._accept(key.fileobj, key.data)  # type: ignore[arg-type]

    def send(self, connection: Connection, data: bytes) -> None:
        """Send as much as the client takes; the rest waits for the next call."""
        connection.unsent += data
        try:
            while connection.unsent:
                del connection.unsent[: connection.stream.send(connection.unsent)]
        except BlockingIOError:
            if len(connection.unsent) > MOST_UNSENT:
                self._notice("a connection closed: the client does not read")
                self.close(connection)
            return
        except OSError:
            self.close(connection)
            return
        if connection.session.ended:
            self.close(connection)

    def flush(self) -> None:
        """Try again to send what waits."""
        for connection in list(self.connections):
            if connection.unsent:
                self.send(connection, b"")

    def close(self, connection: Connection) -> None:
        """End a connection."""
        if connection in self.connections:
            self.connections.remove(connection)
            self._selector.unregister(connection.stream)
            connection.stream.close()
            connection.session.close()

    def close_all(self) -> None:
        """End every connection and close the ports."""
        for connection in list(self.connections):
            self.close(connection)
        for listener in self._listeners:
            listener.close()
        self._listeners = []
        self._selector.close()

    def _accept(self, listener: socket.socket, session: Callable[[], Session]) -> None:
        try:
            stream, _ = listener.accept()
        except OSError:
            return  # gone again
        if len(self.connections) >= MOST_CLIENTS or stream.fileno() >= _HIGHEST_DESCRIPTOR:
            stream.close()
            self._notice("a connection refused: there are too many")
            return
        stream.setblocking(False)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(stream, session())
        self.connections.append(connection)
        self._selector.register(stream, selectors.EVENT_READ, connection)
        self.send(connection, connection.session.greeting)

    def _receive(self, connection: Connection) -> None:
        try:
            chunk = connection.stream.recv(65536)
            reply = connection.session.feed(chunk)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        except RtdeError as error:
            self._notice(f"a connection closed: {error}")
            chunk = b""
        if chunk:
            self.send(connection, reply)
        else:
            self.close(connection)
