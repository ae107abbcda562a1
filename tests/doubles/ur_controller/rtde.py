"""`RtdeSession`: the controller's side of one RTDE connection. Pure: bytes in, bytes out."""

from __future__ import annotations

import math

import numpy as np
from doubles.ur_controller.controller import VERSION, TwinController
from doubles.ur_controller.motion import PERIOD
from doubles.ur_controller.protocol import OUTPUT_TYPES, answer, requested_outputs, requested_protocol, setup_answer

from iparam.bridges.ur.rtde.fields import (
    IN_USE,
    NOT_FOUND,
    Recipe,
    RtdeType,
)
from iparam.bridges.ur.rtde.packets import (
    PROTOCOL_VERSION,
    Packet,
    PacketKind,
    PacketSplitter,
    RtdeError,
    data_packet,
    requested_names,
)
from iparam.bridges.ur.rtde.simulated_time import RUN_UNTIL, SIMULATED_TIME

LARGEST_RECIPE = 255
COMMANDS = frozenset({"input_int_register_0", "input_int_register_24"})
"""Registers by which ur_rtde gives commands to its program, of either half."""
RATE = 1.0 / PERIOD


class InputOwners:
    """Which session writes which input: a controller lets one client at a time write a field."""

    def __init__(self) -> None:
        self._owners: dict[str, RtdeSession] = {}

    def claim(self, names: tuple[str, ...], session: RtdeSession) -> set[str]:
        """Take the inputs for a session; the names that belong to another one, in which case none is taken."""
        taken = {name for name in names if self._owners.get(name, session) is not session}
        if not taken:
            self._owners.update(dict.fromkeys(names, session))
        return taken

    def release(self, session: RtdeSession) -> None:
        """The session has ended."""
        self._owners = {name: owner for name, owner in self._owners.items() if owner is not session}


class RtdeSession:
    """One client.

    Args:
        controller: that it talks to.
        owners: of the inputs, common to all sessions.
        refuse: whether to refuse every protocol version.

    Attributes:
        streaming: the client has asked for data.
        packets: data packets made so far.
        stalled: nothing is sent any more.
        greeting: none.
        ended: the connection is to be closed once everything is sent.
        run_until: the controller's time that this client lets come [s]; infinite for one that never said.
    """

    greeting = b""

    def __init__(self, controller: TwinController, owners: InputOwners, refuse: bool = False) -> None:
        self._controller, self._owners, self._refuse = controller, owners, refuse
        self._splitter = PacketSplitter()
        self._outputs: Recipe | None = None
        self._inputs: list[Recipe] = []
        self._protocol = 1
        self._frequency, self._phase = RATE, 0.0
        self.streaming = self.stalled = self.ended = False
        self.packets = 0
        self.run_until = math.inf

    def feed(self, chunk: bytes) -> bytes:
        """The answers to what the client sends.

        Raises:
            RtdeError: what it sends is no RTDE.
        """
        replies = b"".join(reply.encoded() for packet in self._splitter.feed(chunk) for reply in self._replies(packet))
        return b"" if self.stalled else replies

    def close(self) -> None:
        """Give the inputs back."""
        self._owners.release(self)

    def tick(self) -> bytes:
        """The data package of this period; b"" if the client wants none now."""
        if not self.streaming or self.stalled:
            return b""
        self._phase += self._frequency / RATE
        if self._phase < 1.0 - 1e-9:
            return b""
        self._phase -= 1.0
        self.packets += 1
        return self.packet()

    def packet(self) -> bytes:
        """A data package of the present values; b"" if none has been agreed on."""
        if self._outputs is None:
            return b""
        return data_packet(1, self._outputs.pack(self._controller.values)).encoded()

    def _replies(self, packet: Packet) -> list[Packet]:
        kind = packet.kind
        match kind:
            case PacketKind.PROTOCOL_VERSION:
                accepted = requested_protocol(packet.payload) == PROTOCOL_VERSION and not self._refuse
                self._protocol = PROTOCOL_VERSION if accepted else 1
                return [answer(kind, accepted)]
            case PacketKind.CONTROLLER_VERSION:
                return [Packet(kind, VERSION.encoded())]
            case PacketKind.SETUP_OUTPUTS:
                return [self._setup_outputs(packet)]
            case PacketKind.SETUP_INPUTS:
                return [self._setup_inputs(packet)]
            case PacketKind.START:
                self.streaming, self._phase = self._outputs is not None, 0.0
                return [answer(kind, self.streaming)]
            case PacketKind.PAUSE:
                self.streaming = False
                return [answer(kind, True)]
            case PacketKind.DATA:
                self._take(packet.payload)
        return []

    def _setup_outputs(self, packet: Packet) -> Packet:
        if self._protocol != PROTOCOL_VERSION:
            raise RtdeError(f"the client wants protocol version {self._protocol}; the twin speaks {PROTOCOL_VERSION}")
        names, frequency = requested_outputs(packet.payload)
        if not (np.isfinite(frequency) and frequency > 0.0):
            raise RtdeError(f"the client wants data at {frequency} Hz; the twin sends at up to {RATE:g}")
        served = self._controller.values
        types = tuple(str(OUTPUT_TYPES[name]) if name in served else NOT_FOUND for name in names)
        self.streaming, self._outputs = False, None
        if NOT_FOUND in types or not names:
            missing = [name for name in names if name not in served]
            if missing != [SIMULATED_TIME]:  # which iparam asks of every controller, to know a twin by it
                self._controller.notice(f"a client asks for outputs that there are not: {', '.join(missing)[:200]}")
            return setup_answer(packet.kind, 0, types)
        self._frequency = min(frequency, RATE)
        self._outputs = Recipe.agreed(names, types)
        return setup_answer(packet.kind, 1, types)

    def _setup_inputs(self, packet: Packet) -> Packet:
        names = requested_names(packet.payload)
        known = {name: self._controller.input_type(name) for name in names}
        taken = self._owners.claim(tuple(name for name, kind in known.items() if kind is not None), self)
        types = tuple(IN_USE if name in taken else str(known[name] or NOT_FOUND) for name in names)
        if not names or not set(types) <= set(RtdeType) or len(self._inputs) == LARGEST_RECIPE:
            self._controller.notice(f"inputs refused to a client: {', '.join(names)[:200]}")
            return setup_answer(packet.kind, 0, types)
        self._inputs.append(Recipe.agreed(names, types))
        return setup_answer(packet.kind, len(self._inputs), types)

    def _take(self, payload: bytes) -> None:
        number = payload[0] if payload else 0
        if not 1 <= number <= len(self._inputs):
            self._controller.notice(f"inputs left out: a client sends recipe {number}, which was not agreed on")
            return
        recipe = self._inputs[number - 1]
        if len(payload) - 1 != recipe.size:
            said = f"{len(payload) - 1} bytes for recipe {number}, which has {recipe.size}"
            self._controller.notice(f"inputs left out: {said}")
            if not COMMANDS.isdisjoint(recipe.names):  # of a client that waits for an answer, which cannot come
                self._controller.stop_program(f"was stopped: a client sends {said}")
            return
        values = recipe.unpack(payload[1:])
        until = values.pop(RUN_UNTIL, None)
        if isinstance(until, float) and not math.isnan(until):
            self.run_until = until
        self._controller.write_inputs(values)
