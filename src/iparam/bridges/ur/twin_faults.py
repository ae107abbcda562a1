"""Faults that the twin can be told to have, so that clients can be tested against them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

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
