"""The real `ur_rtde` against the twin in a process of its own: the issue's whole conversation, with others' code."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bridges.command_server import CommandServer

import iparam
from iparam.simulation import GroundTruth
from iparam.spatial.transforms import exp_so3

rtde_control = pytest.importorskip("rtde_control")
rtde_receive = pytest.importorskip("rtde_receive")
dashboard_client = pytest.importorskip("dashboard_client")

pytestmark = pytest.mark.reference
LOAD = ("--mass", "1.5", "--size", "0.08", "0.1", "0.12", "--offset", "0.02", "-0.01", "0.06")
HOME = np.array([0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0])
WAIT = 60.0

TwinProcess = Any  # the class is in conftest.py, which cannot be imported
StartTwinProcess = Callable[..., TwinProcess]


@pytest.fixture(scope="module")
def truth_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("truth") / "truth.json"


@pytest.fixture(scope="module")
def twin(start_twin_process: StartTwinProcess, truth_file: Path) -> TwinProcess:
    return start_twin_process(*LOAD, "--truth", str(truth_file))


@pytest.fixture(scope="module")
def receive(twin: TwinProcess) -> Iterator[Any]:
    client = rtde_receive.RTDEReceiveInterface(twin.host)
    yield client
    client.disconnect()


@pytest.fixture(scope="module")
def control(twin: TwinProcess) -> Iterator[Any]:
    client = rtde_control.RTDEControlInterface(twin.host)
    yield client
    client.stopScript()
    client.disconnect()


def wait_for(condition: Any) -> None:
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_receive_sees_the_arm_and_its_load(receive: Any, truth_file: Path) -> None:
    truth = GroundTruth.load(truth_file).payload
    force, pose = np.array(receive.getActualTCPForce()), np.array(receive.getActualTCPPose())
    weight = np.array([0.0, 0.0, -truth.mass * 9.81])
    np.testing.assert_allclose(force[:3], weight, atol=5e-3)
    turn = exp_so3(pose[3:])
    np.testing.assert_allclose(force[3:], np.cross(turn @ truth.center_of_mass, weight), atol=5e-3)
    np.testing.assert_allclose(turn @ np.array(receive.getFtRawWrench())[:3], weight, atol=5e-3)
    flange = iparam.forward_kinematics(iparam.load_robot("ur5e"), receive.getActualQ())
    np.testing.assert_allclose(flange[:3, 3], pose[:3], atol=1e-6)
    np.testing.assert_allclose(flange[:3, :3], turn, atol=1e-6)
    assert receive.getRobotMode() == 7
    assert receive.getSafetyMode() == 1
    assert not receive.isProtectiveStopped()
    np.testing.assert_allclose(turn @ np.array(receive.getActualToolAccelerometer()), [0.0, 0.0, 9.81], atol=5e-3)


def test_the_clients_own_recording_has_the_controllers_clock(receive: Any, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    receive.startFileRecording(str(file), ["timestamp", "actual_q"])
    begin = receive.getTimestamp()
    wait_for(lambda: receive.getTimestamp() > begin + 0.5)
    receive.stopFileRecording()
    stamps = np.loadtxt(file, delimiter=",", skiprows=1, usecols=0) / 0.002
    np.testing.assert_allclose(stamps, np.round(stamps), atol=1e-6)
    steps = np.diff(np.unique(np.round(stamps)))
    assert steps.min() == 1  # of 2 ms
    assert steps.sum() >= 200


def test_movej_arrives(control: Any, receive: Any) -> None:
    goal = HOME + np.array([0.3, 0.1, -0.1, 0.2, 0.2, -0.4])
    assert control.moveJ(goal.tolist(), 1.5, 3.0)
    wait_for(lambda: np.abs(np.array(receive.getTargetQ()) - goal).max() < 1e-9)
    np.testing.assert_allclose(receive.getActualQ(), goal, atol=2e-3)
    assert control.isProgramRunning()


def test_servoj_sine_is_followed_and_servostop_stops(control: Any, receive: Any) -> None:
    assert control.moveJ(HOME.tolist(), 2.0, 4.0)
    wait_for(lambda: np.abs(np.array(receive.getTargetQ()) - HOME).max() < 1e-9)
    amplitude, lookahead, rate = 0.15, 0.03, 2.0 * np.pi
    begin, path = receive.getTimestamp(), []
    while (now := receive.getTimestamp() - begin) < 1.2:
        period = control.initPeriod()
        target = HOME.copy()
        target[0] += amplitude * (1.0 - np.cos(rate * now))
        assert control.servoJ(target.tolist(), 0.0, 0.0, 0.002, lookahead, 1000)
        path.append((target[0], receive.getActualQ()[0]))
        control.waitPeriod(period)
    # The arm is late by the look-ahead, the way there and back, and what a busy machine adds: so not the distance.
    wanted, reached = np.array(path).T
    assert np.corrcoef(wanted, reached)[0, 1] > 0.9
    assert np.ptp(reached) == pytest.approx(2.0 * amplitude, rel=0.15)
    assert control.servoStop(10.0)
    wait_for(lambda: np.abs(receive.getTargetQd()).max() == 0.0)
    assert not receive.isProtectiveStopped()


def test_speedj_stops(control: Any, receive: Any) -> None:
    assert control.speedJ([0.2, 0, 0, 0, 0, 0.1], 2.0, 0.0)
    wait_for(lambda: abs(receive.getActualQd()[0] - 0.2) < 0.01)
    assert control.speedStop(5.0)
    wait_for(lambda: np.abs(receive.getTargetQd()).max() == 0.0)
    assert control.speedJ([0, 0, 0, 0, 0, -0.3], 2.0, 0.0)
    wait_for(lambda: abs(receive.getActualQd()[5] + 0.3) < 0.01)
    control.stopJ(5.0)
    wait_for(lambda: np.abs(receive.getTargetQd()).max() == 0.0)


def test_the_payload_is_set_and_taken_out_of_the_force(control: Any, receive: Any, truth_file: Path) -> None:
    truth = GroundTruth.load(truth_file).payload
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = truth.inertia_about_com.tolist()
    inertia = [xx, yy, zz, xy, xz, yz]
    center = truth.center_of_mass.tolist()
    begin = receive.getTimestamp()
    wait_for(lambda: receive.getTimestamp() > begin + 0.3)  # at rest: what is zeroed is the mean of 0.1 s
    assert control.setTargetPayload(truth.mass, center, inertia)
    wait_for(lambda: receive.getPayload() == truth.mass)
    np.testing.assert_allclose(receive.getPayloadCog(), center)
    np.testing.assert_allclose(receive.getPayloadInertia(), inertia)
    assert control.moveJ((HOME + np.array([0.0, 0.0, 0.0, 0.3, 0.5, 0.4])).tolist(), 2.0, 4.0)
    wait_for(lambda: np.abs(receive.getActualTCPForce()).max() < 0.02)
    assert abs(np.linalg.norm(receive.getFtRawWrench()[:3]) - truth.mass * 9.81) < 0.02
    assert control.setPayload(0.7, [0.0, 0.0, 0.03])
    wait_for(lambda: receive.getPayload() == 0.7)
    assert control.sendCustomScriptFunction("load", "set_target_payload(0.4, [0, 0, 0.01], [0, 0, 0, 0, 0, 0])\n")
    wait_for(lambda: receive.getPayload() == 0.4)
    wait_for(control.isProgramRunning)


def test_a_second_client_reads_beside_the_first(receive: Any, twin: TwinProcess) -> None:
    other = rtde_receive.RTDEReceiveInterface(twin.host, 50.0, ["timestamp", "actual_q"])
    begin = other.getTimestamp()
    wait_for(lambda: other.getTimestamp() > begin + 0.1)
    assert abs(receive.getTimestamp() - other.getTimestamp()) < WAIT
    np.testing.assert_allclose(other.getActualQ(), receive.getActualQ(), atol=1e-3)
    other.disconnect()


def test_the_dashboard(twin: TwinProcess) -> None:
    client = dashboard_client.DashboardClient(twin.host)
    client.connect()
    assert client.robotmode() == "Robotmode: RUNNING"
    assert client.safetymode() == "Safetymode: NORMAL"
    assert client.polyscopeVersion().startswith("5.")
    assert client.isInRemoteControl()
    client.disconnect()


def test_a_protective_stop_is_seen(control: Any, receive: Any, twin: TwinProcess) -> None:
    """Last, because it ends the program."""
    control.servoJ((np.array(receive.getActualQ()) + 0.3).tolist(), 0.0, 0.0, 0.002, 0.1, 300)
    wait_for(receive.isProtectiveStopped)
    assert receive.getSafetyMode() == 3
    wait_for(lambda: not control.isProgramRunning())
    assert not control.moveJ(HOME.tolist(), 1.0, 1.0)
    assert np.abs(receive.getTargetQd()).max() == 0.0
    assert "jumped by 17.2 deg" in twin.notes


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_program_ends_by_a_signal_with_clients_connected(
    start_twin_process: StartTwinProcess, number: signal.Signals
) -> None:
    twin = start_twin_process("--fault", "protective-stop@0.05")
    # In a process of its own: what the client does when its controller goes is not ours to bear.
    script = f"import rtde_receive as r, time; c = r.RTDEReceiveInterface({twin.host!r})\n"
    script += "while not c.isProtectiveStopped(): time.sleep(0.01)\nprint(True, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        line = client.stdout.readline()
        code = twin.stop(number)
        client.kill()
    assert line == "True\n"
    assert code == 0
    notes = twin.notes
    assert "ur-simulator: protective stop at 0.0" in notes
    assert "Traceback" not in notes
    assert notes.splitlines()[-1].startswith("ur-simulator: ended after ")


def test_a_wrong_option_is_told(command_server: CommandServer) -> None:
    command = command_server.start("--fault", "drp@3", program="doubles.ur_controller.__main__")
    assert command.wait(60.0) == 2
    assert "did you mean 'drop'?" in command.err
    assert "Traceback" not in command.err
