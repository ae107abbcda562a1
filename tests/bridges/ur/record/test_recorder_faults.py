"""What a recording survives: lost connections, half packets, garbage, clocks that jump, servers that are none."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from doubles.ur_controller.protocol import answer, setup_answer
from doubles.ur_controller.sockets import Fault
from doubles.ur_controller.twin import UrTwin

import iparam
from iparam.bridges.ur.record import recorder as recorder_module
from iparam.bridges.ur.record.recorder import ArmRecorder, RecorderSettings
from iparam.bridges.ur.record.spill_file import SpillFile
from iparam.bridges.ur.rtde.client import ArmConnectionError, RtdeStream
from iparam.bridges.ur.rtde.packets import (
    Packet,
    PacketKind,
    PacketSplitter,
    RtdeError,
    data_packet,
)
from iparam.cli.main import main

UR5E = iparam.load_robot("ur5e")
SAMPLE = Path(__file__).parents[3] / "data" / "sample_result.json"
MakeTwin = Callable[..., UrTwin]


def wait_until(condition: Callable[[], bool], what: str, timeout: float = 60.0) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout} s: {what}"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("drop", "connection"),
        ("half-packet", "connection"),
        ("stall", "connection"),
        ("garbage", "connection"),
        ("clock-forward", "clock"),
        ("clock-back", "clock"),
    ],
)
def test_a_recording_goes_on_after(
    fault: str, cause: str, make_twin: MakeTwin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "SILENCE", 1.0)
    twin = make_twin(faults=(Fault.parse(f"{fault}@200p"),))
    spill = SpillFile(tmp_path / "run.parquet")
    recorder = ArmRecorder(RecorderSettings(twin.host, UR5E, "ur5e"), spill)
    recorder.start()
    wait_until(lambda: recorder._times.gaps, "the gap")
    before = recorder.num_samples
    wait_until(lambda: recorder.num_samples > before + 200, "samples after the gap")
    recorder.stop()
    recording = recorder.recording()
    axis = recording.signal("q").time
    assert before >= 199  # nothing from before the fault is lost
    assert (np.diff(axis) > 0.0).all()
    assert axis[-1] < 60.0  # no jump of 5 s in either direction, but for the time that passed
    gaps = recording.metadata["gaps"]
    assert cause in [gap["cause"] for gap in gaps]
    steps = np.flatnonzero(np.diff(axis) > 0.003)
    np.testing.assert_allclose(axis[steps], [gap["start"] for gap in gaps if gap["stop"] - gap["start"] > 0.003])
    assert recording.metadata["reconnections"] == (1 if cause == "connection" else 0)
    assert "connection-gaps" in [one.code for one in recording.remarks]
    # The file for emergencies holds the same, bit for bit.
    partial = iparam.Recording.load(spill.path, robot="ur5e")
    np.testing.assert_array_equal(partial.signal("wrench").values, recording.signal("wrench").values)
    np.testing.assert_array_equal(partial.signal("q").time, axis)


def test_a_server_that_dies_ends_the_recording_and_saves_it(
    make_twin: MakeTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twin = make_twin()
    output = tmp_path / "run.parquet"

    def die() -> None:
        partial = tmp_path / "run.parquet.partial.csv"
        wait_until(lambda: partial.exists() and partial.stat().st_size > 0, "rows on disk")
        twin.close()

    killer = threading.Thread(target=die)
    killer.start()
    command = ["ur", "record", "--host", twin.host, "--robot", "ur5e", "--output", str(output)]
    assert main([*command, "--give-up-after", "0.5"]) == 1
    killer.join()
    captured = capsys.readouterr()
    assert "could not be made again within 0.5 s" in captured.err
    assert f"recording     {output}" in captured.out
    assert iparam.Recording.load(output).signal("q").num_samples > 10
    assert [path.name for path in tmp_path.iterdir()] == ["run.parquet"]


def test_a_refused_version_is_an_error(make_twin: MakeTwin) -> None:
    twin = make_twin(faults=(Fault.parse("refuse-version@0"),))
    wait_until(lambda: twin.time > 0.05, "the fault")
    with pytest.raises(RtdeError, match="does not speak version 2 of RTDE"):
        RtdeStream.open(twin.host, ("timestamp",))


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[socket.socket], None]], int]]:
    """Serves one connection on a free port with the given function."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads = []

    def start(talk: Callable[[socket.socket], None]) -> int:
        def run() -> None:
            connection, _ = listener.accept()
            with connection:
                talk(connection)

        threads.append(threading.Thread(target=run, daemon=True))
        threads[-1].start()
        return int(listener.getsockname()[1])

    yield start
    listener.close()
    for thread in threads:
        thread.join(10.0)


@pytest.mark.parametrize(
    ("greeting", "message"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "does not speak RTDE"),
        (b"\x00\x00\x00", "does not speak RTDE"),
        (b"", "ended the connection"),
        (b"\x00\x05V\x01\x01", "an answer PROTOCOL_VERSION of 2 bytes"),
    ],
)
def test_something_else_behind_the_port_is_an_error(
    greeting: bytes, message: str, serve: Callable[[Callable[[socket.socket], None]], int]
) -> None:
    port = serve(lambda connection: connection.sendall(greeting))
    with pytest.raises(iparam.IparamError, match=message):
        RtdeStream.open("127.0.0.1", ("timestamp",), port=port, timeout=5.0)


def test_a_server_that_says_nothing_is_an_error(serve: Callable[[Callable[[socket.socket], None]], int]) -> None:
    done = threading.Event()
    port = serve(lambda connection: done.wait(30.0) and None)
    with pytest.raises(ArmConnectionError, match=r"did not answer PROTOCOL_VERSION within 0\.2 s"):
        RtdeStream.open("127.0.0.1", ("timestamp",), port=port, timeout=0.2)
    done.set()


def test_packages_before_a_bad_one_count(serve: Callable[[Callable[[socket.socket], None]], int]) -> None:
    """A package of the wrong size: those before it are given, then the error, again and again."""
    good = data_packet(1, bytes(8)).encoded()

    def talk(connection: socket.socket) -> None:
        splitter = PacketSplitter()
        while chunk := connection.recv(4096):
            for packet in splitter.feed(chunk):
                reply = {
                    PacketKind.CONTROLLER_VERSION: Packet(packet.kind, bytes(16)),
                    PacketKind.SETUP_OUTPUTS: setup_answer(packet.kind, 1, ("DOUBLE",)),
                }.get(packet.kind, answer(packet.kind, True))
                connection.sendall(reply.encoded())
                if packet.kind is PacketKind.START:
                    connection.sendall(good + good + data_packet(1, bytes(7)).encoded() + good)

    port = serve(talk)
    with RtdeStream.open("127.0.0.1", ("timestamp",), port=port) as stream:
        found: list[int] = []
        with pytest.raises(RtdeError, match="8 bytes for recipe 01"):
            found.extend(len(stream.read(1.0)) for _ in range(10))
        with pytest.raises(RtdeError, match="8 bytes for recipe 01"):
            stream.read(0.1)
    assert sum(found) == 2


def test_fields_that_a_controller_lacks_are_left_out_or_an_error(tilted_twin: UrTwin) -> None:
    with RtdeStream.open(tilted_twin.host, ("timestamp",), ("actual_q", "no_such_field")) as stream:
        assert stream.missing == ("no_such_field",)
        assert list(stream.columns) == ["timestamp", "actual_q"]
    with pytest.raises(RtdeError, match="no_such_field"):
        RtdeStream.open(tilted_twin.host, ("timestamp", "no_such_field"))


def test_no_controller_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    base = ["ur", "record", "--robot", "ur5e", "--output", str(tmp_path / "r.parquet")]
    assert main([*base, "--host", "127.0.0.1", "--port", str(port)]) == 1
    refused = capsys.readouterr().err
    assert f"refuses connections to port {port}" in refused
    assert main([*base, "--host", "no..such..host"]) == 1
    assert "is no known host" in capsys.readouterr().err
    assert refused.count("\n") == 1
    motion = str(SAMPLE.with_name("calm_ur5e.json"))
    output = ["--output", str(tmp_path / "r.parquet")]
    assert main(["ur", "run", motion, "--host", "127.200.200.200", "--dry-run", *output]) == 1
    assert "refuses connections to port 30004" in capsys.readouterr().err
    assert main(["ur", "set-payload", str(SAMPLE), "--host", "127.200.200.200", "--yes"]) == 1
    assert "refuses connections to port 30004" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
