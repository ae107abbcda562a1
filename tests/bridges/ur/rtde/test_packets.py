"""The frames and fields of RTDE: what was packed is unpacked, however the bytes are cut, and nonsense is refused."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from doubles.ur_controller.protocol import (
    INPUT_TYPES,
    OUTPUT_TYPES,
    answer,
    requested_outputs,
    requested_protocol,
    setup_answer,
)
from hypothesis import given
from hypothesis import strategies as st

from iparam.bridges.ur.rtde.fields import Recipe, RtdeType
from iparam.bridges.ur.rtde.packets import (
    HEADER_SIZE,
    LARGEST_PACKET,
    ControllerVersion,
    Packet,
    PacketKind,
    PacketSplitter,
    RtdeError,
    TextMessage,
    accepted,
    agreed_types,
    data_packet,
    output_request,
    protocol_request,
    requested_names,
)
from iparam.errors import IparamError

KINDS = st.sampled_from(sorted(PacketKind))
PACKETS = st.lists(st.builds(Packet, KINDS, st.binary(max_size=300)), max_size=8)
NAMES = st.lists(st.sampled_from(sorted(OUTPUT_TYPES)), unique=True, max_size=20)
WHOLE = {
    RtdeType.BOOL: st.booleans(),
    RtdeType.UINT8: st.integers(0, 2**8 - 1),
    RtdeType.UINT32: st.integers(0, 2**32 - 1),
    RtdeType.UINT64: st.integers(0, 2**64 - 1),
    RtdeType.INT32: st.integers(-(2**31), 2**31 - 1),
}
PARTS = {RtdeType.VECTOR6INT32: WHOLE[RtdeType.INT32], RtdeType.VECTOR6UINT32: WHOLE[RtdeType.UINT32]}


@given(packets=PACKETS, cuts=st.lists(st.integers(0, 2400)))
def test_any_cutting_of_the_bytes_gives_the_same_packets(packets: list[Packet], cuts: list[int]) -> None:
    stream = b"".join(packet.encoded() for packet in packets)
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    splitter = PacketSplitter()
    found = [packet for a, b in pairwise(places) for packet in list(splitter.feed(stream[a:b]))]
    assert found == packets
    assert splitter.pending == 0


def test_a_packet_is_its_size_its_kind_and_its_payload_big_endian() -> None:
    assert Packet(PacketKind.START).encoded() == b"\x00\x03S"
    assert protocol_request(2).encoded() == b"\x00\x05V\x00\x02"


@given(packets=PACKETS, part=st.binary(min_size=1, max_size=20))
def test_a_part_of_a_packet_waits_for_the_rest(packets: list[Packet], part: bytes) -> None:
    half = Packet(PacketKind.DATA, part).encoded()[:-1]
    splitter = PacketSplitter()
    assert list(splitter.feed(b"".join(packet.encoded() for packet in packets) + half)) == packets
    assert splitter.pending == len(half)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_size_below_the_header_is_refused(size: int) -> None:
    with pytest.raises(RtdeError, match=f"says it has {size} bytes; expected 3 to 65535"):
        list(PacketSplitter().feed(struct.pack(">HB", size, PacketKind.DATA)))


def test_packets_before_a_bad_one_are_given() -> None:
    good = Packet(PacketKind.DATA, b"abc")
    packets = PacketSplitter().feed(good.encoded() + b"\x00\x08!hello")
    assert next(packets) == good
    with pytest.raises(RtdeError, match="a packet of kind 33"):
        next(packets)


@given(st.binary(max_size=400))
def test_garbage_gives_packets_or_an_error_of_iparam(garbage: bytes) -> None:
    splitter = PacketSplitter()
    try:
        sizes = [len(packet.payload) + HEADER_SIZE for packet in splitter.feed(garbage)]
    except IparamError:
        return
    assert sum(sizes) + splitter.pending == len(garbage)


def test_a_payload_that_no_packet_holds_is_refused() -> None:
    with pytest.raises(RtdeError, match="room for 65532"):
        Packet(PacketKind.DATA, bytes(LARGEST_PACKET))


@st.composite
def filled_recipes(draw: st.DrawFn) -> tuple[Recipe, dict[str, object]]:
    names = draw(NAMES)
    types = [OUTPUT_TYPES[name] for name in names]
    values: dict[str, object] = {}
    for name, kind in zip(names, types, strict=True):
        part = PARTS.get(kind, st.floats(allow_nan=False))
        values[name] = draw(WHOLE[kind]) if kind in WHOLE else draw(part)
        if kind.numbers > 1:
            values[name] = tuple(draw(part) for _ in range(kind.numbers))
    return Recipe.agreed(names, types), values


@given(filled_recipes())
def test_what_a_recipe_packs_it_unpacks(filled: tuple[Recipe, dict[str, object]]) -> None:
    recipe, values = filled
    packed = recipe.pack(values)  # type: ignore[arg-type]
    assert len(packed) == recipe.size
    assert recipe.unpack(packed) == values


def test_a_recipe_refuses_what_is_too_short_too_long_or_of_the_wrong_shape() -> None:
    recipe = Recipe.agreed(["actual_q", "robot_mode"], ["VECTOR6D", "INT32"])
    assert recipe.size == 52
    for size in (0, 51, 53):
        with pytest.raises(RtdeError, match=f"{size} bytes; the recipe has 52"):
            recipe.unpack(bytes(size))
    with pytest.raises(RtdeError, match="actual_q has 6 numbers, got 5"):
        recipe.pack({"actual_q": [0.0] * 5, "robot_mode": 7})
    with pytest.raises(RtdeError, match="do not fit"):
        recipe.pack({"actual_q": [0.0] * 6, "robot_mode": 2**31})


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (["DOUBLE", "NOT_FOUND"], "does not have: payload"),
        (["IN_USE", "DOUBLE"], "in use by another client: timestamp"),
        (["DOUBLE", "QUATERNION"], "no RTDE: QUATERNION"),
        (["DOUBLE"], "2 fields with 1 types"),
    ],
)
def test_a_refused_field_is_named(types: list[str], message: str) -> None:
    with pytest.raises(RtdeError, match=message):
        Recipe.agreed(["timestamp", "payload"], types)


def test_requests_and_answers_say_what_was_meant() -> None:
    assert requested_protocol(protocol_request(2).payload) == 2
    assert accepted(answer(PacketKind.START, True))
    assert not accepted(answer(PacketKind.START, False))
    assert requested_outputs(output_request(("timestamp", "actual_q"), 125.0).payload) == (
        ("timestamp", "actual_q"),
        125.0,
    )
    assert agreed_types(setup_answer(PacketKind.SETUP_INPUTS, 3, ("INT32", "DOUBLE"))) == (3, ("INT32", "DOUBLE"))
    version = ControllerVersion(5, 11, 1, 108318)
    assert ControllerVersion.decoded(version.encoded()) == version
    assert str(version) == "5.11.1.108318"
    assert data_packet(7, b"ab").encoded() == b"\x00\x06U\x07ab"


def test_a_list_of_names_that_ends_in_a_comma_has_no_empty_name() -> None:
    assert requested_names(b"timestamp,actual_q,") == ("timestamp", "actual_q")
    assert requested_names(b"") == ()


@given(st.text(max_size=60), st.text(max_size=60), st.integers(0, 3))
def test_a_text_message_comes_back(text: str, source: str, level: int) -> None:
    message = TextMessage(text, source, level)
    assert TextMessage.decoded(message.encoded()) == message


@given(st.binary(max_size=40))
def test_a_damaged_text_message_is_refused_or_read(payload: bytes) -> None:
    try:
        message = TextMessage.decoded(payload)
    except RtdeError:
        return
    assert message.level == payload[2 + payload[0] + payload[1 + payload[0]]]


@pytest.mark.parametrize("payload", [b"", b"\x00", b"\x00\x02\x00"])
def test_answers_of_the_wrong_size_are_refused(payload: bytes) -> None:
    with pytest.raises(RtdeError):
        requested_protocol(payload)
    with pytest.raises(RtdeError):
        ControllerVersion.decoded(payload)
    with pytest.raises(RtdeError):
        requested_outputs(payload)


def test_fields_are_known_by_name() -> None:
    assert OUTPUT_TYPES["actual_TCP_force"] is RtdeType.VECTOR6D
    assert OUTPUT_TYPES["output_int_register_47"] is RtdeType.INT32
    assert INPUT_TYPES["input_double_register_24"] is RtdeType.DOUBLE
