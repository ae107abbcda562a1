"""Peers that mean harm: controllers that answer nonsense, clients that send it, and messages that are none.

Each function is the target of a run in a child process, see `attack.warm_pool.Case`, and gives an exit code.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import socket
import stat
import struct
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from attack.corpus.hostile import HOSTILE
from attack.corpus.mutations import GENERAL
from attack.rule import EXIT_CODES
from attack.warm_pool import Case

_WAIT = 10.0
DASHBOARD_PORT, RTDE_PORT = 29999, 30004


def loopback(draw: random.Random) -> str:
    """An address of this machine that hardly anyone else uses: each has all ports."""
    return f"127.{draw.randrange(64, 128)}.{os.getpid() % 250 + 1}.{draw.randrange(1, 255)}"


def _command(*arguments: str) -> int:
    from iparam.cli.main import main

    sys.argv = ["iparam", *arguments]
    return main()


# ------------------------------------------------------------------------------------------- hostile controllers
def ur_record(seed: str) -> int:
    """``iparam ur record`` from a controller that answers nonsense, in a way that the seed decides."""
    draw = random.Random(seed)
    host = loopback(draw)
    command = ["ur", "record", "--host", host, "--duration", "0.15", "--give-up-after", "0.1", "--output", "out.csv"]
    if draw.random() < 0.7:
        command += ["--robot", "ur5e"]
    with (
        served(host, RTDE_PORT, lambda peer: _answer_rtde(peer, draw)),
        served(host, DASHBOARD_PORT, lambda peer: _answer_dashboard(peer, draw)),
    ):
        return _command(*command)


def ur_set_payload(seed: str, result: str) -> int:
    """``iparam ur set-payload`` to a controller that answers nonsense."""
    draw = random.Random(seed)
    host = loopback(draw)
    with (
        served(host, RTDE_PORT, lambda peer: _answer_rtde(peer, draw)),
        served(host, DASHBOARD_PORT, lambda peer: _answer_dashboard(peer, draw)),
    ):
        return _command("ur", "set-payload", result, "--host", host, "--robot", "ur5e")


@contextlib.contextmanager
def served(host: str, port: int, answer: Callable[[socket.socket], None]) -> Iterator[None]:
    """A port whose clients are handled by ``answer``, one after the other."""
    with socket.create_server((host, port)) as listener:

        def serve() -> None:
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                with peer, contextlib.suppress(OSError):
                    peer.settimeout(_WAIT)
                    answer(peer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(_WAIT)


def _answer_rtde(peer: socket.socket, draw: random.Random) -> None:
    """A conversation that goes well up to some point."""
    from doubles.ur_controller.protocol import OUTPUT_TYPES, answer, requested_outputs, setup_answer

    from iparam.bridges.ur.rtde.fields import Recipe
    from iparam.bridges.ur.rtde.packets import (
        ControllerVersion,
        Packet,
        PacketKind,
        PacketSplitter,
        TextMessage,
        data_packet,
    )

    good = draw.choice((0, 1, 2, 3, 4, 5, 20, 100))
    splitter, recipe = PacketSplitter(), None
    text = TextMessage(HOSTILE, HOSTILE, draw.randrange(4)).encoded()
    while chunk := peer.recv(65536):
        for packet in splitter.feed(chunk):
            match packet.kind:
                case PacketKind.CONTROLLER_VERSION:
                    version = (draw.choice((3, 5, 5, 5, 0, 2**32 - 1)), draw.randrange(20), 0, 0)
                    reply = Packet(packet.kind, ControllerVersion(*version).encoded()).encoded()
                case PacketKind.SETUP_OUTPUTS:
                    names, _ = requested_outputs(packet.payload)
                    types = tuple(str(OUTPUT_TYPES[name]) for name in names)
                    recipe = Recipe.agreed(names, types)
                    reply = setup_answer(packet.kind, 1, _odd_types(types, draw)).encoded()
                case _:
                    reply = answer(packet.kind, draw.random() < 0.9).encoded()
            if draw.random() < 0.2:
                reply = Packet(PacketKind.TEXT_MESSAGE, text).encoded() + reply
            good -= 1
            if good < 0:
                _misbehave(peer, reply, draw)
                return
            peer.sendall(reply)
            if packet.kind is PacketKind.START and recipe is not None:
                for number in range(good):
                    values = _odd_values(recipe.names, recipe.size, number, draw)
                    peer.sendall(data_packet(1, values).encoded())
                _misbehave(peer, data_packet(1, bytes(recipe.size)).encoded(), draw)
                return


def _odd_types(types: tuple[str, ...], draw: random.Random) -> tuple[str, ...]:
    if draw.random() < 0.8:
        return types
    changed = list(types)
    place = draw.randrange(len(changed))
    match draw.randrange(4):
        case 0:
            changed[place] = draw.choice(("NOT_FOUND", "IN_USE", "x", "DOUBLE", "BOOL", "\x1b[31m"))
        case 1:
            del changed[place:]
        case 2:
            changed *= 2
        case _:
            changed = ["NOT_FOUND"] * len(changed)
    return tuple(changed)


def _odd_values(names: Sequence[str], size: int, number: int, draw: random.Random) -> bytes:
    if draw.random() < 0.3:
        return draw.randbytes(size)
    value = draw.choice((0.0, 1.0, float("nan"), float("inf"), 1e308, -1.0))
    values = (struct.pack(">d", value) * (size // 8 + 1))[:size]
    return struct.pack(">d", 0.002 * number if draw.random() < 0.8 else value) + values[8:]


def _misbehave(peer: socket.socket, expected: bytes, draw: random.Random) -> None:
    match draw.randrange(7):
        case 0:
            peer.sendall(draw.randbytes(draw.choice((1, 3, 100, 10_000))))
        case 1:
            peer.sendall(expected[: draw.randrange(len(expected))])
        case 2:
            peer.sendall(struct.pack(">HB", draw.choice((0, 1, 2, 3, 65535)), draw.randrange(256)))
        case 3:
            for _ in range(3):
                peer.sendall(draw.choice(GENERAL)(expected, draw))
        case 4:
            peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 100)
        case 5:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets
        case _:
            pass


def _answer_dashboard(peer: socket.socket, draw: random.Random) -> None:
    greeting = draw.choice((b"Connected: Universal Robots Dashboard Server\n", b"", b"\xff\n", b"x" * 9000))
    peer.sendall(greeting)
    peer.recv(4096)
    peer.sendall(draw.choice((b"UR5\n", b"UR5e\n", b"UR\xb25\n", b"UR9\n", b"", b"\xff\xfe\n", b"x" * 100_000))[:])
    peer.sendall(draw.choice((b"", HOSTILE.encode() + b"\n", b"true\n", "UR٥\n".encode())))


# ----------------------------------------------------------------------------------------------- hostile clients
def twin_clients(seed: str, count: str) -> int:
    """Clients that send nonsense to a simulated controller; then one that does not, which must be served."""
    from doubles.ur_controller.twin import TwinPorts, UrTwin

    from iparam.cli.console.printing import note
    from iparam.robot.catalog import catalog_robot

    warnings.simplefilter("ignore", RuntimeWarning)  # as the command does
    draw = random.Random(seed)
    with UrTwin(catalog_robot("ur5e"), ports=TwinPorts(0, 0, (0,)), notice=note) as twin:
        idle = []
        for _ in range(int(count)):
            port = draw.choice((twin.ports.rtde, twin.ports.rtde, twin.ports.dashboard, *twin.ports.script))
            peer = socket.create_connection((twin.host, port), timeout=_WAIT)
            with contextlib.suppress(OSError):
                _pester(peer, draw)
            if draw.random() < 0.2:
                idle.append(peer)
            else:
                peer.close()
        for peer in idle:
            peer.close()
        _be_served(twin)
    return 0


def _pester(peer: socket.socket, draw: random.Random) -> None:
    from doubles.ur_controller.protocol import INPUT_TYPES, OUTPUT_TYPES

    from iparam.bridges.ur.rtde.packets import (
        Packet,
        PacketKind,
        data_packet,
        output_request,
        protocol_request,
    )

    outputs, inputs = tuple(OUTPUT_TYPES), tuple(INPUT_TYPES)
    said = [
        protocol_request(draw.choice((1, 2, 2, 2, 65535))).encoded(),
        Packet(PacketKind.CONTROLLER_VERSION).encoded(),
        output_request(
            tuple(draw.choice((*outputs, "x\x1b[31m")) for _ in range(draw.choice((1, 3, 50)))),
            draw.choice((500.0, 125.0, 0.0, -1.0, float("nan"), float("inf"), 1e-300, 1e308)),
        ).encoded(),
        Packet(
            PacketKind.SETUP_INPUTS, ",".join(draw.choice(inputs) for _ in range(draw.choice((1, 3, 20)))).encode()
        ).encoded(),
        Packet(PacketKind.START).encoded(),
        data_packet(draw.randrange(256), draw.randbytes(draw.choice((0, 1, 8, 48, 500)))).encoded(),
        draw.choice((b"get robot model\n", b"stop\n", b"popup " + HOSTILE.encode() + b"\n", b"load x\n", b"quit\n")),
        draw.choice(
            (
                b"set_payload(1e308, [1e308, 1e308, 1e308])\n",
                b"set_target_payload(-1, [0, 0, 0], [1, 2, 3, 4, 5, 6])\n",
                b"def f():\n" + b"x\n" * 100,
                b"def f():\n set_payload(99999999999999999999)\nend\n",
                b"sec f():\n movej([0,0,0,0,0,0])\n textmsg(" + HOSTILE.encode() + b")\nend\n",
                b"write_output_integer_register(0 +24, 999999999)\n",
                b"servoj([nan])\n" + HOSTILE.encode() + b"\n",
            )
        ),
    ]
    for words in said:
        kept = words if draw.random() < 0.6 else draw.choice(GENERAL)(words, draw)
        peer.sendall(kept * draw.choice((1, 1, 1, 2, 100)))
    match draw.randrange(4):
        case 0:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        case 1:
            peer.shutdown(socket.SHUT_WR)
        case 2:
            peer.settimeout(0.05)
            peer.recv(4096)


def _be_served(twin: object) -> None:
    from iparam.bridges.ur.rtde.client import RtdeStream

    host, ports = twin.host, twin.ports  # type: ignore[attr-defined]
    with RtdeStream.open(host, ("timestamp", "actual_q"), port=ports.rtde, timeout=_WAIT) as stream:
        deadline = time.monotonic() + _WAIT
        rows = 0
        while rows < 20:
            assert time.monotonic() < deadline, "the twin sends nothing any more"
            rows += len(stream.read(1.0))
    with socket.create_connection((host, ports.dashboard), timeout=_WAIT) as peer, peer.makefile("rb") as lines:
        lines.readline()
        peer.sendall(b"get robot model\n")
        assert lines.readline() == b"UR5\n"


# ---------------------------------------------------------------------------------------------------------- pages
def page_requests(seed: str, count: str, result: str) -> int:
    """Browsers that send nonsense to a page: none gets an error of the server's; then one that does not is served."""
    import iparam
    from iparam.errors import MissingExtraError
    from iparam.viewer.view import ViewInput, view_of

    draw = random.Random(seed)
    logging.getLogger("websockets").addHandler(logging.NullHandler())
    try:
        from iparam.viewer.viser_backend import ViewServer

        page = ViewServer(view_of(ViewInput(results=[(result, iparam.Estimate.load(result))])), port=0)
    except MissingExtraError:
        return 1
    try:
        address = page.link.removeprefix("http://").rstrip("/")
        for _ in range(int(count)):
            asked = _odd_request(address, draw)
            status = _status_of(address, asked)
            assert not status.startswith(b"5"), f"{asked[:200]!r} got {status!r}"
        assert _status_of(address, f"GET / HTTP/1.1\r\nHost: {address}\r\n\r\n".encode()) == b"200"
    finally:
        page.close()
    return 0


def _odd_request(address: str, draw: random.Random) -> bytes:
    hosts = (address, "[", "[::1", "a b", "\udc80", "x" * 9000, "127.0.0.1:99999999", f"{address}, evil", HOSTILE)
    paths = ("/", "/" + "x" * 400, "/" + "x" * 9000, "/%00", "/%2e%2e/x", "//[", "/?token=%ff", "http://[", "/\udc80")
    origin = draw.choice(("", f"Origin: http://{draw.choice(hosts)}\r\n", "Origin: null\r\n", "Origin: http://[\r\n"))
    cookie = draw.choice(("", "Cookie: iparam-view=\udc80\r\n", f"Cookie: {HOSTILE}\r\n"))
    text = f"GET {draw.choice(paths)} HTTP/1.1\r\nHost: {draw.choice(hosts)}\r\n{origin}{cookie}\r\n"
    asked = text.encode("utf-8", "surrogateescape")
    return asked if draw.random() < 0.7 else draw.choice(GENERAL)(asked, draw) + b"\r\n\r\n"


def _status_of(address: str, asked: bytes) -> bytes:
    """The status of an answer; none if the connection is closed without one."""
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), timeout=_WAIT) as peer, contextlib.suppress(OSError):
        peer.sendall(asked)
        return b"".join(peer.makefile("rb").readline().split()[1:2])
    return b""


# ------------------------------------------------------------------------------------------------------- planner
def planner(seed: str) -> int:
    """``iparam excite optimize`` while somebody knocks at every local socket that it opens."""
    done = threading.Event()
    knocking = threading.Thread(target=_knock, args=(random.Random(seed), done), daemon=True)
    knocking.start()
    try:
        problem = "--robot ur5e --duration 4 --harmonics 2 --starts 1 --workers 1 --output plan.json"
        return _command("excite", "optimize", *problem.split())
    finally:
        done.set()
        knocking.join()


def _knock(draw: random.Random, done: threading.Event) -> None:
    """Connect to sockets in the folder for temporary files: with a wrong key, with nonsense, and not saying a word."""
    kept = []
    while not done.wait(0.01):
        for path in Path(tempfile.gettempdir()).rglob("*"):
            with contextlib.suppress(OSError):
                if not stat.S_ISSOCK(path.lstat().st_mode):
                    continue
                peer = socket.socket(socket.AF_UNIX)
                peer.connect(str(path))
                peer.settimeout(0.2)
                peer.sendall(draw.choice((b"", draw.randbytes(100), struct.pack(">I", 20) + bytes(20))))
                kept.append(peer)
    for peer in kept:
        peer.close()


# ---------------------------------------------------------------------------------------------------------- ROS 2
def ros_messages(seed: str, count: str) -> int:
    """Serialised messages that are damaged: each is read, or refused by the error that is meant for that."""
    from rosbags.typesys import Stores, get_typestore

    from iparam.bridges.ros2.serialized import JointStateDecoder, read_linear_acceleration, read_wrench
    from iparam.errors import InputError

    sound = _sound_messages(get_typestore(Stores.LATEST))
    draw, decoder = random.Random(seed), JointStateDecoder()
    readers = (decoder, read_wrench, read_linear_acceleration)
    for _ in range(int(count)):
        data = draw.choice(sound)
        for _ in range(draw.choice((1, 1, 2, 5))):
            data = draw.choice(GENERAL)(data, draw)
        for reader in readers:
            with contextlib.suppress(InputError):
                reader(data)
    for reader, data in zip(readers, sound, strict=True):
        reader(data)
    return 0


def _sound_messages(store: object) -> list[bytes]:
    """A joint state, a wrench and an IMU message."""
    import numpy as np

    types = store.types  # type: ignore[attr-defined]
    header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](1, 2), "tool0")
    vector, turn = (
        types["geometry_msgs/msg/Vector3"](1.0, 2.0, 3.0),
        types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0),
    )
    joints, zeros = np.arange(6.0), np.zeros(9)
    messages = {
        "sensor_msgs/msg/JointState": (header, [f"joint{i}" for i in range(6)], joints, joints, joints),
        "geometry_msgs/msg/WrenchStamped": (header, types["geometry_msgs/msg/Wrench"](vector, vector)),
        "sensor_msgs/msg/Imu": (header, turn, zeros, vector, zeros, vector, zeros),
    }
    return [bytes(store.serialize_cdr(types[name](*parts), name)) for name, parts in messages.items()]  # type: ignore[attr-defined]


# ----------------------------------------------------------------------------------------------------------- runs
_RUNS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]] = {
    "ur_record": ((), ("out.csv",), EXIT_CODES),
    "ur_set_payload": (("result.json",), (), EXIT_CODES),
    "twin_clients": (("80",), (), (0,)),
    "page_requests": (("60", "result.json"), (), (0,) if find_spec("viser") else (1,)),
    "planner": ((), ("plan.json",), (0,)),
    "ros_messages": (("2000",), (), (0,)),
}
"""Target -> what follows the seed, files that it writes, exit codes."""

TARGETS = tuple(_RUNS)


def connection_case(target: str, seed: str, samples: Path, folder: Path) -> Case:
    """The run of a target, in a new folder."""
    folder.mkdir(parents=True)
    os.link(samples / "result.json", folder / "result.json")
    arguments, outputs, codes = _RUNS[target]
    return Case(f"{target} {seed}", (seed, *arguments), folder, outputs, f"attack.connections:{target}", codes)
