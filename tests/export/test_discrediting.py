"""Which warnings discredit a result: sentences from those who write them, and from nobody."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made_results import made_result

import iparam
from iparam.bridges.ur.record.controller_signals import choose_conversion, sign_warning
from iparam.bridges.ur.record.rows import recording_of_rows
from iparam.bridges.ur.record.sample_times import SampleTimes
from iparam.cli.main import main
from iparam.estimation import PayloadProblem
from iparam.estimation.causes.judgement import COUNTED
from iparam.estimation.estimators.consistent import ConsistentLeastSquares
from iparam.estimation.payload.bias_drift import BiasDrift
from iparam.estimation.payload.estimate_assembly import precision_warnings
from iparam.export import IdentifiedLoad
from iparam.export.discrediting import discrediting
from iparam.recording.screening import find_faults
from iparam.recording.signal import Signal


def placed(body: iparam.InertialParameters, center: tuple[float, float, float]) -> iparam.InertialParameters:
    pose = np.eye(4)
    pose[:3, 3] = center
    return body.transformed(pose)


UR5E = iparam.load_robot("ur5e")
LOAD = placed(iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)), (0.02, -0.01, 0.11))
TRAJECTORY = iparam.load_trajectory(Path(__file__).parents[1] / "data" / "optimized_ur5e.json").trajectory
FIELDS = {"actual_q": 6, "actual_qd": 6, "actual_TCP_force": 6, "payload": 1}


def recording(lag: float = 0.0, drifting: float = 0.0, sign: float = 1.0) -> iparam.Recording:
    """The optimised motion at 200 Hz, with a wrench that is late [s], that wanders [N] or has the wrong sign."""
    random = np.random.default_rng(3)
    time = np.arange(0.0, TRAJECTORY.duration, 0.005)
    q = TRAJECTORY.evaluate(time).q
    felt = TRAJECTORY.evaluate(np.clip(time - lag, 0.0, None))
    wrench = iparam.wrench_regressor(UR5E, felt.q, felt.dq, felt.ddq) @ LOAD.phi
    noise = random.standard_normal(wrench.shape)
    slow = np.array([np.convolve(column, np.ones(6) / 6.0, "same") for column in random.standard_normal((6, len(q)))])
    wrench = sign * wrench + (0.05 * noise + drifting * slow.T) * [1.0, 1.0, 1.0, 0.1, 0.1, 0.1]
    noisy = q + 1e-5 * random.standard_normal(q.shape)
    return iparam.Recording("ur5e", {"q": Signal(time, noisy), "wrench": Signal(time, wrench)})


def test_what_was_compensated_or_is_accounted_for_takes_nothing_from_a_result() -> None:
    late = iparam.identify_payload(recording(lag=0.004), delay=None)
    assert any("lags behind" in warning for warning in late.warnings)
    assert discrediting(late.warnings) == ()
    said = "The wrench lags behind the motion by 15.8 +- 0.1 ms, as behind a low-pass filter with a corner of 10 Hz, "
    assert discrediting([said + "which was compensated (about delay=0.01582)."]) == ()
    wandering = iparam.identify_payload(recording(drifting=2.0))
    assert any("correlated in time" in warning for warning in wandering.warnings)
    assert discrediting(wandering.warnings) == ()
    assert discrediting([COUNTED]) == ()
    drift = BiasDrift(np.ones(6), np.ones(6))
    assert discrediting([drift.sentence]) == ()


def rows_of(force: np.ndarray, payload: float) -> tuple[np.ndarray, dict[str, slice]]:
    columns, first = {}, 0
    for name, width in FIELDS.items():
        columns[name] = slice(first, first + width)
        first += width
    rows = np.zeros((100, first))
    rows[:, columns["actual_TCP_force"]] = force
    rows[:, columns["payload"]] = payload
    return rows, columns


def controller_warnings(force: list[float], payload: float = 0.0, gap: float = 0.0) -> tuple[str, ...]:
    """What a recording of a controller says that measures this force at rest, in base axes [N]."""
    rows, columns = rows_of(np.array([*force, 0.0, 0.0, 0.0]), payload)
    times = SampleTimes(0.002)
    stamps = 0.002 * np.arange(100) + gap * (np.arange(100) >= 50)
    placed = np.array([times.place(stamp, stamp) for stamp in stamps])
    conversion, notes = choose_conversion(UR5E, columns, rows)
    return recording_of_rows("ur5e", np.column_stack([placed, rows]), conversion, times, {}, notes).warnings


def refused(found: iparam.Estimate, path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What `iparam ur set-payload` says when it does not send the result anywhere."""
    found.save(path)
    assert main(["ur", "set-payload", str(path), "--host", "192.0.2.1", "--yes"]) == 1
    return capsys.readouterr().err


def test_a_reversed_sensor_discredits_its_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a word of whoever recorded it: the default method finds a body, but one that the data do not show."""
    found = iparam.identify_payload(recording(sign=-1.0))
    assert found.mass > 0.0
    assert found.physically_consistent
    assert "parameters that no rigid body has" in refused(found, tmp_path / "result.json", capsys)


def test_a_force_without_the_configured_payload_discredits_its_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The controller has taken out the weight of 1.7 of 2 kg; the 0.3 kg that are left would be a plausible load."""
    whole = recording()
    q = whole.signal("q")
    pose = iparam.forward_kinematics(UR5E, q.values)
    weight = 1.7 * 9.81 * pose[:, 2, :3]  # upward, in tool0
    known = np.concatenate([weight, np.cross(LOAD.center_of_mass, weight)], axis=1)
    rest = Signal(q.time, whole.signal("wrench").values - known)
    said = controller_warnings([0.0, 0.0, -19.62], payload=1.7)
    found = iparam.identify_payload(whole.with_signal("wrench", rest).with_warnings(*said))
    assert 0.2 < found.mass < 2.0
    assert "what is identified is the load less that payload" in refused(found, tmp_path / "result.json", capsys)


def test_what_a_controllers_recording_says() -> None:
    weight = [0.0, 0.0, -19.62]
    assert discrediting(controller_warnings(weight)) == ()
    lost = controller_warnings(weight, gap=0.02)
    assert len(lost) == 1
    assert discrediting(lost) == ()
    assert len(discrediting(controller_warnings(weight, payload=2.0))) == 1  # what is left of the load
    reversed_force = controller_warnings([0.0, 0.0, 19.62])
    assert len(reversed_force) == 1
    assert discrediting(reversed_force) == reversed_force
    assert sign_warning(UR5E, {}, "reaction") is None


def test_what_a_bag_says_takes_nothing_from_a_result(tmp_path: Path) -> None:
    """Which topics, joints and frames were taken, and what was left out; of efforts, nothing concerns a wrench."""
    whole = recording()
    iparam.bridges.bag.write_bag(
        whole.with_signal("tau", time=whole.signal("q").time, values=whole.signal("q").values), tmp_path / "bag", "ur5e"
    )
    data = next((tmp_path / "bag").glob("*.mcap")).read_bytes()
    (tmp_path / "cut.mcap").write_bytes(data[:-100])
    imported = iparam.bridges.bag.read_bag(tmp_path / "cut.mcap", "ur5e")
    assert len(imported.warnings) == 2  # cut, and efforts
    assert discrediting(iparam.identify_payload(imported).warnings) == ()
    for said in (
        "/joint_states was taken, as drivers have the arm's own joints there, and not /grip: --joint-topic chooses",
        "/joint_states: the joints are those with the prefix 'left_'",
        "/joint_states: 6 messages are about other joints and were passed over",
        "/wrench: 3 messages came after later ones and were put in order",
    ):
        assert discrediting([said]) == ()
    doubted = "the stamps differ from the time of recording by 3 s: they come from two clocks. If so, take --stamps log"
    assert discrediting([doubted]) == (doubted,)


def test_a_sign_that_is_put_right_is_no_longer_doubted() -> None:
    reversed_ = recording(sign=-1.0).with_warnings(*controller_warnings([0.0, 0.0, 19.62]))
    assert len(reversed_.warnings) == 1
    found = iparam.identify_payload(reversed_, correction=iparam.sensing.Correction(measures="reaction"))
    assert not any("at rest the arm would push" in warning for warning in found.warnings)
    assert discrediting(found.warnings) == ()


def test_what_files_and_signals_say(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    times = np.delete(np.arange(0.0, 1.0, 0.01), slice(40, 60))
    lines = [f"{t},{t},1,2,3,4,5,{t},7" for t in times]
    path.write_text("time,q0,q1,q2,q3,q4,q5,strange,fx\n" + "\n".join(lines) + "\n9.9,1")
    found = iparam.Recording.load(path, robot="ur5e").warnings
    harmless = [text for text in found if text not in discrediting(found)]
    assert len(harmless) == 3  # the gap, the strange column and the row that was cut
    assert discrediting(found) == tuple(text for text in found if "fx" in text or "wrench" in text)
    time = np.arange(0.0, 3.0, 0.01)
    frozen = find_faults({"wrench": Signal(time, np.ones((300, 6)))})
    assert frozen
    assert discrediting(frozen) == tuple(frozen)


def test_distances_that_noise_explains() -> None:
    """The nearest consistent body, a little away from noisy data about a rod without thickness, and far from others."""
    random = np.random.default_rng(5)
    states = TRAJECTORY.evaluate(np.linspace(0.0, TRAJECTORY.duration, 300))
    A = iparam.wrench_regressor(UR5E, states.q, states.dq, states.ddq)
    deviation = np.array([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])
    rod = placed(iparam.InertialParameters.box(1.0, (1e-3, 1e-3, 0.2)), (0.0, 0.0, 0.1)).phi
    for phi, trusted in ((rod, True), (rod * [1, 1, 1, 1, -1, 1, 1, -1, 1, -1], False)):
        y = A @ phi + deviation * random.standard_normal((300, 6))
        found = ConsistentLeastSquares().fit(PayloadProblem(A, y, states.time, bias=False))
        moved = [text for text in found.warnings if "no rigid body has" in text]
        assert len(moved) == 1
        assert (discrediting(moved) == ()) == trusted


def test_everything_else_discredits() -> None:
    unknown = precision_warnings(np.ones(10), np.full(10, 5.0))
    assert unknown
    assert discrediting(unknown) == tuple(unknown)
    assert discrediting(["a sentence of a later version"]) == ("a sentence of a later version",)
    assert discrediting([""]) == ("",)
    assert discrediting([]) == ()


def test_a_result_that_says_nothing_of_warnings_is_not_one_without(tmp_path: Path) -> None:
    """Whoever cuts the list out of a file does not make the numbers better."""
    result = made_result(1.0, [0.0, 0.0, 0.1], np.diag([0.01] * 3).tolist())
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result))
    assert IdentifiedLoad.from_json(path).discredited_by == ()
    del result["warnings"]
    result["assessment"]["verdict"] = "usable"
    path.write_text(json.dumps(result))
    assert "does not say whether there were warnings" in IdentifiedLoad.from_json(path).discredited_by[0]
