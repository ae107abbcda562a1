"""The twin over sockets: the RTDE conversation, several clients, clients that misbehave, and the faults it can have."""

from __future__ import annotations

import contextlib
import math
import socket
import struct
import time
from collections.abc import Callable, Iterator
from types import TracebackType

import numpy as np
import pytest
from doubles.ur_controller.sockets import Fault, FaultKind
from doubles.ur_controller.twin import TwinPorts, UrTwin

import iparam
from iparam.bridges.ur.rtde.client import RtdeStream
from iparam.bridges.ur.rtde.fields import Recipe
from iparam.bridges.ur.rtde.packets import (
    ControllerVersion,
    Packet,
    PacketKind,
    PacketSplitter,
    RtdeError,
    accepted,
    agreed_types,
    data_packet,
    output_request,
    protocol_request,
)
from iparam.bridges.ur.rtde.simulated_time import PATIENCE, RUN_UNTIL, SIMULATED_TIME
from iparam.errors import InputError, IparamError, UnknownNameError
from iparam.simulation import Payload

WAIT = 60.0

StartTwin = Callable[..., UrTwin]


def input_request(name: str) -> Packet:
    return Packet(PacketKind.SETUP_INPUTS, name.encode("ascii"))


class Client:
    """A client that speaks RTDE by the codec, and says what it gets."""

    def __init__(self, twin: UrTwin) -> None:
        self.stream = socket.create_connection((twin.host, twin.ports.rtde), timeout=WAIT)
        self._splitter = PacketSplitter()
        self._packets: list[Packet] = []
        self._error: RtdeError | None = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, t: TracebackType | None) -> None:
        self.stream.close()

    def next(self) -> Packet | None:
        """The next packet; None if the twin closed the connection. An error comes after the packets before it."""
        while not self._packets:
            if self._error is not None:
                raise self._error
            try:
                chunk = self.stream.recv(65536)
            except ConnectionError:
                return None
            if not chunk:
                return None
            try:
                for packet in self._splitter.feed(chunk):
                    self._packets.append(packet)
            except RtdeError as error:
                self._error = error
        return self._packets.pop(0)

    @property
    def pending(self) -> int:
        return self._splitter.pending

    def ask(self, packet: Packet) -> Packet:
        """Send a request and wait for its answer, past data."""
        self.stream.sendall(packet.encoded())
        while (reply := self.next()) is not None:
            if reply.kind is packet.kind:
                return reply
        raise AssertionError("the twin closed the connection")

    def open(self, *names: str, frequency: float = 500.0) -> Recipe:
        """Agree on outputs and start the stream."""
        assert accepted(self.ask(protocol_request()))
        _, types = agreed_types(self.ask(output_request(names, frequency)))
        recipe = Recipe.agreed(names, types)
        assert accepted(self.ask(Packet(PacketKind.START)))
        return recipe

    def rows(self, recipe: Recipe, count: int) -> Iterator[dict[str, object]]:
        for _ in range(count):
            packet = self.next()
            assert packet is not None
            assert packet.kind is PacketKind.DATA
            assert packet.payload[0] == 1
            yield dict(recipe.unpack(packet.payload[1:]))


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_client_gets_500_rows_a_second_of_what_it_asked_for(start_twin: StartTwin) -> None:
    payload = Payload.box(size=[0.1, 0.1, 0.1], mass=2.0)
    twin = start_twin(payload=payload, noise="ur5e", seed=4)
    with Client(twin) as client:
        recipe = client.open("timestamp", "actual_q", "actual_TCP_force", "robot_mode")
        rows = list(client.rows(recipe, 400))
    np.testing.assert_allclose(np.diff([row["timestamp"] for row in rows]), 0.002, atol=1e-9)  # type: ignore[misc]
    force = np.mean([row["actual_TCP_force"] for row in rows], axis=0)  # type: ignore[arg-type]
    assert abs(force[2] + 2.0 * 9.81) < 2.0 + 0.1  # the preset's bias is up to 2 N an axis
    q = np.mean([row["actual_q"] for row in rows], axis=0)  # type: ignore[arg-type]
    np.testing.assert_allclose(q, twin.sample.q, atol=5e-5 * 5 / math.sqrt(400))
    assert {row["robot_mode"] for row in rows} == {7}
    assert twin.truth.payload.mass == 2.0


@pytest.mark.parametrize("frequency", [125.0, 10.0])
def test_a_lower_frequency_is_kept_by_the_controllers_clock(start_twin: StartTwin, frequency: float) -> None:
    with Client(start_twin()) as client:
        recipe = client.open("timestamp", frequency=frequency)
        stamps = [row["timestamp"] for row in client.rows(recipe, 6)]
    np.testing.assert_allclose(np.diff(stamps), 1.0 / frequency, atol=1e-9)  # type: ignore[arg-type]


def test_the_conversation_of_a_setup(start_twin: StartTwin) -> None:
    with Client(start_twin()) as client:
        version = ControllerVersion.decoded(client.ask(Packet(PacketKind.CONTROLLER_VERSION)).payload)
        assert version.major == 5
        assert not accepted(client.ask(Packet(PacketKind.PROTOCOL_VERSION, struct.pack(">H", 9))))
        assert accepted(client.ask(protocol_request()))
        assert not accepted(client.ask(Packet(PacketKind.START)))  # of nothing
        asked = ("timestamp", "no_such_field", "actual_q")
        assert agreed_types(client.ask(output_request(asked, 500.0))) == (0, ("DOUBLE", "NOT_FOUND", "VECTOR6D"))
        assert not accepted(client.ask(Packet(PacketKind.START)))
        # As ur_rtde ends its list:
        reply = client.ask(Packet(PacketKind.SETUP_OUTPUTS, struct.pack(">d", 500.0) + b"timestamp,actual_q,"))
        assert agreed_types(reply) == (1, ("DOUBLE", "VECTOR6D"))
        assert accepted(client.ask(Packet(PacketKind.START)))
        assert accepted(client.ask(Packet(PacketKind.PAUSE)))
        assert agreed_types(client.ask(input_request("no_such_input")))[0] == 0


def test_two_clients_at_once_share_outputs_and_not_inputs(start_twin: StartTwin) -> None:
    twin = start_twin()
    register = "input_double_register_30"
    with Client(twin) as one, Client(twin) as other:
        recipes = [one.open("timestamp", register), other.open(register, "actual_q", frequency=50.0)]
        number, _ = agreed_types(one.ask(input_request(register)))
        assert number == 1
        assert agreed_types(other.ask(input_request(register))) == (0, ("IN_USE",))
        one.stream.sendall(data_packet(1, struct.pack(">d", 4.5)).encoded())
        for client, recipe in zip((one, other), recipes, strict=True):
            while next(client.rows(recipe, 1))[register] != 4.5:
                pass
        one.stream.close()
        # Its inputs are free again.
        end = time.monotonic() + WAIT
        while agreed_types(other.ask(input_request(register))) != (1, ("DOUBLE",)):
            assert time.monotonic() < end


@pytest.mark.parametrize(
    "nonsense",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\x01U",
        b"\xff\xff" + b"U" + bytes(70000),
        Packet(PacketKind.SETUP_OUTPUTS, b"\x00").encoded(),
        Packet(PacketKind.SETUP_OUTPUTS, struct.pack(">d", math.nan) + b"timestamp").encoded(),
        Packet(PacketKind.SETUP_INPUTS, b"\xff\xfe").encoded(),
        Packet(PacketKind.PROTOCOL_VERSION, b"").encoded(),
        Packet(PacketKind.DATA, b"").encoded(),
        Packet(PacketKind.DATA, b"\x09abc").encoded(),
    ],
)
def test_nonsense_from_one_client_does_not_disturb_another(start_twin: StartTwin, nonsense: bytes) -> None:
    twin = start_twin()
    with Client(twin) as good, Client(twin) as bad:
        recipe = good.open("timestamp")
        bad.stream.sendall(nonsense)
        wait_for(lambda: bool(twin.notices))
        stamps = [row["timestamp"] for row in good.rows(recipe, 30)]
    np.testing.assert_allclose(np.diff(stamps), 0.002, atol=1e-9)  # type: ignore[arg-type]


def test_a_client_that_does_not_read_is_left_behind(start_twin: StartTwin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doubles.ur_controller.sockets.MOST_UNSENT", 2000)
    twin = start_twin()
    with Client(twin) as good, Client(twin) as lazy:
        lazy.open("timestamp")
        # At 500 Hz it would take long to fill the system's buffers on the way: ask for long answers instead.
        request = output_request(tuple(f"no_such_field_{i}" for i in range(3000)), 500.0).encoded()
        lazy.stream.settimeout(0.1)
        unsent, end = b"", time.monotonic() + WAIT
        while not any("does not read" in text for text in twin.notices):
            assert time.monotonic() < end
            unsent = unsent or request
            with contextlib.suppress(TimeoutError, ConnectionError):
                unsent = unsent[lazy.stream.send(unsent) :]
        recipe = good.open("timestamp")
        assert len(list(good.rows(recipe, 20))) == 20


def test_the_script_and_dashboard_ports(start_twin: StartTwin) -> None:
    twin = start_twin()
    with socket.create_connection((twin.host, twin.ports.dashboard), timeout=WAIT) as dashboard:
        stream = dashboard.makefile("rwb")
        assert stream.readline().startswith(b"Connected: Universal Robots Dashboard Server")
        stream.write(b"safetymode\n")
        stream.flush()
        assert stream.readline() == b"Safetymode: NORMAL\n"
        stream.write(b"quit\n")
        stream.flush()
        assert stream.read() == b"Disconnected\n"
        stream.close()
    with Client(twin) as client:
        recipe = client.open("payload", "payload_cog")
        for port, mass in zip(twin.ports.script, (1.0, 2.0, 3.0), strict=True):
            with socket.create_connection((twin.host, port), timeout=WAIT) as script:
                script.sendall(f"set_payload({mass}, [0.0, 0.01, 0.02])\n".encode())
                while next(client.rows(recipe, 1)) != {"payload": mass, "payload_cog": (0.0, 0.01, 0.02)}:
                    pass


# ------------------------------------------------------------------------------------------------------------- faults
def broken(client: Client, recipe: Recipe) -> tuple[int, str]:
    """How many whole rows come, and how the stream ends."""
    count = 0
    client.stream.settimeout(1.0)
    try:
        while (packet := client.next()) is not None:
            recipe.unpack(packet.payload[1:])
            count += 1
    except TimeoutError:
        return count, "silence"
    except RtdeError:
        return count, "garbage"
    return count, "closed inside a packet" if client.pending else "closed"


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        (FaultKind.DROP, "closed"),
        (FaultKind.HALF_PACKET, "closed inside a packet"),
        (FaultKind.STALL, "silence"),
        (FaultKind.GARBAGE, "garbage"),
    ],
)
def test_a_fault_of_the_stream_happens_after_its_packets_and_once(
    start_twin: StartTwin, kind: FaultKind, ending: str
) -> None:
    twin = start_twin(faults=[Fault(kind, packets=40)])
    with Client(twin) as client:
        assert broken(client, client.open("timestamp", "actual_q")) == (40, ending)
    with Client(twin) as client:
        assert len(list(client.rows(client.open("timestamp"), 60))) == 60


def test_a_stalled_connection_holds_half_a_packet(start_twin: StartTwin) -> None:
    twin = start_twin()
    with Client(twin) as client:
        recipe = client.open("timestamp", "actual_q")
        list(client.rows(recipe, 5))
        twin.inject("stall")
        assert broken(client, recipe)[1] == "silence"
        assert client.pending == (3 + 1 + recipe.size) // 2


@pytest.mark.parametrize(("kind", "jump"), [("clock-forward", 5.0), ("clock-back", -5.0)])
def test_the_clock_jumps(start_twin: StartTwin, kind: str, jump: float) -> None:
    twin = start_twin(faults=[Fault.parse(f"{kind}@20p")])
    with Client(twin) as client:
        stamps = [row["timestamp"] for row in client.rows(client.open("timestamp"), 40)]
    steps = np.diff(stamps)  # type: ignore[arg-type]
    assert np.count_nonzero(np.abs(steps - 0.002) > 1e-9) == 1
    assert np.abs(steps - 0.002 - jump).min() < 1e-9


def test_a_version_can_be_refused(start_twin: StartTwin) -> None:
    twin = start_twin()
    with Client(twin) as client:
        assert accepted(client.ask(protocol_request()))
    twin.inject("refuse-version")
    wait_for(lambda: any("refuse-version" in text for text in twin.notices))
    with Client(twin) as client:
        assert not accepted(client.ask(protocol_request()))


def test_a_protective_stop_can_be_injected(start_twin: StartTwin) -> None:
    twin = start_twin()
    with Client(twin) as client:
        recipe = client.open("safety_mode", "safety_status_bits", "runtime_state")
        assert next(client.rows(recipe, 1))["safety_mode"] == 1
        twin.protective_stop()
        while next(client.rows(recipe, 1))["safety_mode"] != 3:
            pass
        assert next(client.rows(recipe, 1)) == {"safety_mode": 3, "safety_status_bits": 0x404, "runtime_state": 1}


@pytest.mark.parametrize("text", ["drop", "drop@", "drop@-1", "drop@p", "drop@1e3", "drop@nan", "@3"])
def test_a_fault_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(IparamError):
        Fault.parse(text)


def test_faults_say_what_they_want() -> None:
    assert Fault.parse("stall@2.5") == Fault(FaultKind.STALL, seconds=2.5)
    assert Fault.parse("drop@300p") == Fault(FaultKind.DROP, packets=300)
    with pytest.raises(UnknownNameError, match="did you mean 'garbage'"):
        Fault.parse("garbge@1")
    with pytest.raises(InputError, match="one of the two"):
        Fault(FaultKind.DROP)
    with pytest.raises(InputError, match="at least 0"):
        Fault(FaultKind.DROP, seconds=math.inf)


def test_ports_that_are_taken_are_refused(start_twin: StartTwin) -> None:
    twin = start_twin()
    with pytest.raises(InputError, match=rf"cannot listen on 127.0.0.1 port {twin.ports.dashboard}: .*--host"):
        UrTwin(iparam.load_robot("ur5e"), ports=TwinPorts(0, twin.ports.dashboard, ()))


def test_a_closed_twin_leaves_nothing_behind(start_twin: StartTwin) -> None:
    twin = start_twin()
    client = Client(twin)
    client.open("timestamp")
    twin.close()
    while client.next() is not None:
        pass
    client.stream.close()
    with pytest.raises(ConnectionRefusedError):
        Client(twin)


def test_simulated_time_goes_as_far_as_its_client_lets_it_and_on_without_one_that_is_silent(
    start_twin: StartTwin,
) -> None:
    twin = start_twin()
    with RtdeStream.open(twin.host, (SIMULATED_TIME,), port=twin.ports.rtde) as stream:
        stream.claim((RUN_UNTIL,))
        limit = twin.time + 0.1
        stream.write({RUN_UNTIL: float("nan")})  # says nothing
        stream.write({RUN_UNTIL: limit})
        wait_for(lambda: twin.time > limit - 0.004)
        time.sleep(0.5 * PATIENCE)
        assert twin.time == pytest.approx(limit, abs=0.003)
        stream.write({RUN_UNTIL: limit + 0.05})
        wait_for(lambda: twin.time > limit + 0.045)
        assert not any("goes on without it" in text for text in twin.notices)
        wait_for(lambda: twin.time > limit + 0.2)
        assert any("goes on without it" in text for text in twin.notices)
        stream.write({RUN_UNTIL: twin.time - 1.0})  # it is there again, and leaves
    left = twin.time
    wait_for(lambda: twin.time > left + 0.1)


def test_a_twin_on_the_wall_clock_knows_nothing_of_simulated_time(start_twin: StartTwin) -> None:
    twin = start_twin(clock="wall")
    with RtdeStream.open(twin.host, ("timestamp",), (SIMULATED_TIME,), port=twin.ports.rtde) as stream:
        assert stream.missing == (SIMULATED_TIME,)
        with pytest.raises(RtdeError, match="does not have"):
            stream.claim((RUN_UNTIL,))
        with pytest.raises(RtdeError, match="no input fields"):
            stream.write({RUN_UNTIL: 1.0})
