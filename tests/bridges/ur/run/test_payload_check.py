"""The payload that a controller reckons with, against a short motion of the wrist: only a right one passes."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.ur_controller.arm import HOME, TwinArm
from doubles.ur_controller.controller import TwinController
from doubles.ur_controller.load import KnownLoad
from doubles.ur_controller.motion import PERIOD

import iparam
from iparam.bridges.ur.record.controller_signals import choose_conversion
from iparam.bridges.ur.record.rows import recording_of_rows
from iparam.bridges.ur.record.sample_times import SampleTimes
from iparam.bridges.ur.run.payload_check import AMPLITUDES, check_payload, wrist_motions
from iparam.cli.main import main
from iparam.errors import InputError
from iparam.recording.recording import Recording
from iparam.sensing.noise import noise_preset
from iparam.simulation import Payload

CALM = Path(__file__).parents[3] / "data" / "calm_ur5e.json"
UR5E = iparam.load_robot("ur5e")
MASS, CENTER = 2.0, (0.0, 0.0, 0.1)
FIELDS = {
    "timestamp": 1,
    "payload": 1,
    "payload_cog": 3,
    "payload_inertia": 6,
    **dict.fromkeys(("actual_q", "actual_qd", "ft_raw_wrench", "actual_TCP_force", "actual_current"), 6),
    **dict.fromkeys(("target_q", "target_qd", "target_current", "target_moment"), 6),
}


def columns() -> dict[str, slice]:
    ends = np.cumsum(list(FIELDS.values())).tolist()
    return {name: slice(end - width, end) for end, (name, width) in zip(ends, FIELDS.items(), strict=True)}


def played(mass: float, center: tuple[float, ...]) -> Recording:
    """The wrist of a twin that carries 2 kg and was told something, as a recorder has it."""
    payload = Payload.box(mass=MASS, size=(0.1, 0.15, 0.2))
    controller = TwinController(TwinArm(UR5E, payload, HOME), noise_preset("ur5e"), 1, lambda text: None)
    controller.tick()
    controller.set_load(KnownLoad(mass, center, (0.01, 0.0083, 0.0054, 0.0, 0.0, 0.0)))
    rows = []
    for target in next(wrist_motions(HOME, 1.0)).sample(1.0 / PERIOD).q:
        controller.servo(target, 0.05, 300.0)
        controller.tick()
        rows.append(np.concatenate([np.atleast_1d(controller.values[name]) for name in FIELDS]))
    times, packages = SampleTimes(PERIOD), np.array(rows)
    axis = np.array([times.place(stamp, stamp) for stamp in packages[:, 0]])
    conversion, notes = choose_conversion(UR5E, columns(), packages)
    assert not controller.stop_reason
    return recording_of_rows(
        "ur5e", np.column_stack([axis, packages]), conversion, times, {"wrench_measures": "reaction"}, notes
    )


@pytest.fixture(scope="module")
def right() -> Recording:
    return played(MASS, CENTER)


def told(recording: Recording, **changes: Any) -> Recording:
    """As if the controller had been told something else, and sent no TCP force."""
    payload = {**recording.metadata["configured_payload"], **changes}
    signals = {name: signal for name, signal in recording.signals.items() if name != "tcp_force"}
    return dataclasses.replace(recording, signals=signals).with_metadata(configured_payload=payload)


def test_a_right_payload_passes(right: Recording) -> None:
    found = check_payload(right, UR5E)
    assert found.passed, found.sentence
    assert set(found.witnesses) == {"wrench", "TCP force"}
    assert found.shown.mass == pytest.approx(MASS, abs=4.0 * found.shown.mass_deviation)
    assert found.shown.mass_deviation < 0.01 * MASS
    assert (np.abs(found.shown.center_of_mass - CENTER) < 4.0 * found.shown.center_deviation).all()
    assert found.currents is not None
    assert found.currents.difference < 0.02 * found.currents.target
    assert found.as_json()["passed"] is True


def test_a_wrong_payload_is_found_by_both_witnesses_and_moves_the_currents(right: Recording) -> None:
    wrong = check_payload(played(0.85 * MASS, CENTER), UR5E)
    assert not wrong.passed
    assert wrong.against == ["wrench", "TCP force"]
    assert "is not what hangs on the flange: wrench and TCP force contradict it. This motion shows " in wrong.sentence
    assert wrong.shown.mass == pytest.approx(MASS, rel=0.01)  # it says what it is instead
    usual = check_payload(right, UR5E).currents
    assert usual is not None
    assert wrong.currents is not None
    assert wrong.currents.difference > 3.0 * usual.difference


@pytest.mark.parametrize(
    ("changes", "against"),
    [
        ({"mass": 1.1 * MASS}, ["wrench"]),
        ({"mass": 0.9 * MASS}, ["wrench"]),
        ({"center_of_gravity": [0.01, 0.0, 0.1]}, ["the centre of mass"]),
        ({"center_of_gravity": [0.0, -0.01, 0.1]}, ["the centre of mass"]),
        ({"center_of_gravity": [0.0, 0.0, 0.13]}, ["wrench", "the centre of mass"]),
    ],
)
def test_what_is_wrong_is_named(right: Recording, changes: dict[str, Any], against: list[str]) -> None:
    assert check_payload(told(right, **changes), UR5E).against == against


def test_what_cannot_be_compared_is_said(right: Recording) -> None:
    with pytest.raises(InputError, match="set to a payload of 0 kg: there is nothing to check"):
        check_payload(told(right, mass=0.0), UR5E)
    with pytest.raises(InputError, match="does not show its payload"):
        check_payload(right.with_metadata(configured_payload=None), UR5E)
    tcp_alone = right.with_metadata(wrench_field="tcp-force")
    assert list(check_payload(tcp_alone, UR5E).witnesses) == ["TCP force"]
    with pytest.raises(InputError, match="Set the TCP to the flange"):
        check_payload(tcp_alone, UR5E, tcp_at_flange=False)


def test_an_inertia_that_is_not_shown_is_left_open(right: Recording) -> None:
    payload = {key: value for key, value in right.metadata["configured_payload"].items() if key != "inertia"}
    assert check_payload(right.with_metadata(configured_payload=payload), UR5E).passed


def test_the_wrist_alone_moves_and_no_faster_than_asked() -> None:
    motions = list(wrist_motions(HOME, 0.5, AMPLITUDES[1]))
    assert len(motions) == 8 * 3
    for motion in motions[::5]:
        samples = motion.sample(100.0)
        assert np.ptp(samples.q[:, :3], axis=0).max() < 1e-12
        assert np.abs(samples.dq).max() == pytest.approx(0.5, rel=0.01)
        np.testing.assert_allclose(motion.evaluate([0.0, motion.duration]).q, [HOME, HOME], atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "add --plan t.json"),
        (["--payload-size", "0.1", "0.1", "0.1", "--angle", "200"], "--angle must be 5 to 90 deg, got 200"),
        (["--payload-size", "0.1", "0.1", "0.1", "--speed", "3"], "--speed must be 0.05 to 1 rad/s, got 3"),
        (["--payload-size", "0.1", "0.1", "0.1", "--approach-speed", "3"], "at most 1 rad/s"),
        (["--plan", str(CALM), "--yes"], "was planned without a payload: say how large it is"),
        (["--payload-size", "0.1", "0.1", "0.1"], "no terminal to ask for permission to move: add --yes"),
    ],
)
def test_the_command_refuses_before_it_connects(
    options: list[str], message: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["--output", str(tmp_path / "c.parquet")]
    assert main(["ur", "check-payload", "--host", "192.0.2.1", *output, *options]) == 2
    assert message in capsys.readouterr().err
