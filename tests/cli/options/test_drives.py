"""The options about drives, in both commands that identify from efforts: what they change, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.recording import Recording
from iparam.trajectory import WindowedFourierTrajectory

HOME = np.array([0.0, -1.4, 1.2, -1.0, -1.2, 0.3])
MISREAD = 0.9
"""What the torque sensors show of each newton metre."""


def body(mass: float) -> iparam.InertialParameters:
    offset = np.eye(4)
    offset[:3, 3] = [0.0, 0.05, 0.1]
    return iparam.InertialParameters.box(mass, [0.1] * 3).transformed(offset)


def run(seed: int, carried: iparam.InertialParameters | None = None) -> Recording:
    """A run whose fourth torque sensor is broken, and whose sixth motor turns with joints 5 and 6."""
    robot = iparam.load_robot("ur10e").with_armature(0.5)
    a, b = np.random.default_rng(3).normal(0.0, 0.16, (2, 6, 8))
    time = np.arange(0.0, 20.0, 0.02)
    point = WindowedFourierTrajectory(HOME, a, b, base_freq=0.05, duration=20.0).evaluate(time)
    q, dq, ddq = point.q, point.dq, point.ddq
    arm = robot if carried is None else robot.with_payload(carried)
    tau = iparam.inverse_dynamics(arm, q, dq, ddq) + 5.0 * np.tanh(dq / 0.02) + 4.0 * dq
    speed = dq[:, 4] + dq[:, 5]
    tau[:, 4:] += (0.3 * (ddq[:, 4] + ddq[:, 5]) + 2.0 * speed + 2.0 * np.tanh(speed / 0.02))[:, None]
    rng = np.random.default_rng(seed)
    tau += 0.3 * rng.standard_normal(tau.shape)
    tau[:, 3] = rng.normal(20.0, 20.0, len(tau))
    recording = Recording("ur10e").with_signal("q", time=time, values=q).with_signal("target_q", time=time, values=q)
    return recording.with_signal("tau", time=time, values=MISREAD * tau)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("drives")
    for number, (name, mass) in enumerate((("bare", 0.0), ("loaded", 3.0), ("weight", 5.0), ("other", 0.0))):
        run(number, body(mass) if mass else None).save(path / f"{name}.parquet")
    (path / "weight.json").write_text(json.dumps({"phi": body(5.0).phi.tolist()}), encoding="utf-8")
    return path


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


FRICTION = ("--friction", "viscous,coulomb,offset")
KNOWN = ("--known-load", "weight.json", "--known-load-run", "weight.parquet")


def payload(*arguments: str) -> int:
    files = ["--bare", "bare.parquet", "--loaded", "loaded.parquet", "--robot", "ur10e"]
    return main(["identify", "torque-payload", *files, *arguments])


def robot(*arguments: str) -> int:
    return main(["identify", "robot", "bare.parquet", "--robot", "ur10e", *arguments])


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.usefixtures("here")
def test_the_load_with_drives_that_a_known_load_calibrates(capsys: pytest.CaptureFixture[str]) -> None:
    options = (*FRICTION, "--leave-out", "4", "--coupled", "5+6", "--motion", "set-points")
    assert payload(*options, "--json") == 0
    wrong = printed(capsys)
    assert payload(*options, *KNOWN, "--json") == 0
    right = printed(capsys)
    assert wrong["mass"] == pytest.approx(MISREAD * 3.0, rel=0.02)
    assert right["mass"] == pytest.approx(3.0, rel=0.02)
    assert right["mass_interval_95"][0] < 3.0 < right["mass_interval_95"][1]
    assert "known load of 5 kg" in right["drive_gains"]["source"]
    assert right["friction_terms"][3] == []
    assert right["friction_terms"][0] == ["viscous", "coulomb", "offset"]
    assert right["couplings"][0]["joints"] == [5, 6]
    assert right["couplings"][0]["rotor_inertia"] == pytest.approx(0.3, rel=0.2)
    assert right["left_out"] == [4]


@pytest.mark.usefixtures("here")
def test_the_arm_is_shown_with_its_drives(capsys: pytest.CaptureFixture[str]) -> None:
    options = (*FRICTION, "--leave-out", "4", "--motion", "butterworth", "--urdf", "arm.urdf")
    assert robot(*options, *KNOWN, "--validate", "other.parquet", "--output", "arm.json") == 0
    out, err = capsys.readouterr()
    assert "friction     viscous, coulomb, offset: joints 1 2 3 5 6\n             none: joint 4\n" in out
    assert "coupled      5+6: rotor" in out
    shown = [line.split() for line in out.splitlines() if line.startswith("identified")]
    assert [line[4] for line in shown] == ["-", "-"]
    assert "joints 4 are left out" in err
    document = json.loads(Path("arm.json").read_text(encoding="utf-8"))
    assert document["validation"]["identified"]["rms"][3] is None
    assert document["rotor_inertia"][3] is None
    assert document["friction"]["viscous"][3] is None
    assert [drive["joints"] for drive in document["couplings"]] == [[5, 6]]
    assert iparam.load_robot("arm.urdf", tip="tool0").num_joints == 6
    assert robot(*FRICTION, "--leave-out", "4", "--coupled", "none", "--json") == 0
    assert printed(capsys)["couplings"] == []


@pytest.mark.usefixtures("here")
def test_drives_whose_current_is_counted_the_other_way_round(capsys: pytest.CaptureFixture[str]) -> None:
    signs = [1.0, -1.0, 1.0, 1.0, 1.0, -1.0]
    bare = run(0)
    currents = bare.without_signal("tau").with_signal(
        "current", time=bare.signal("tau").time, values=bare.signal("tau").values / (10.0 * np.array(signs))
    )
    currents.save("currents.parquet")
    gains = [str(10.0 * sign) for sign in signs]
    options = ["--robot", "ur10e", "--leave-out", "4", *FRICTION, "--coupled", "none", "--json"]
    assert main(["identify", "robot", "currents.parquet", "--drive-gains", *gains, *options]) == 0
    reversed_currents = printed(capsys)
    assert main(["identify", "robot", "bare.parquet", *options]) == 0
    torques = printed(capsys)
    values = [[one["value"] for one in found["base_parameters"]] for found in (reversed_currents, torques)]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-6, atol=1e-9)
    assert min(reversed_currents["drive_gains"]["standard_deviation"]) > 0.0


@pytest.mark.parametrize("command", [payload, robot], ids=["torque-payload", "robot"])
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--friction", "viscous,stickiness"], 2, "unknown friction term 'stickiness'"),
        (["--friction", "viscous,viscous"], 2, "more than once"),
        (["--friction", "viscous:3"], 2, "stribeck:0.05"),
        (["--coupled", "5x6"], 2, "--coupled must be 5+6"),
        (["--coupled", "6+7"], 2, "has 6 joints"),
        (["--coupled", "none", "5+6"], 2, "--coupled takes couplings or 'none'"),
        (["--leave-out", "7"], 2, "joints 1 to 6"),
        (["--leave-out", "1", "2", "3", "4", "5", "6"], 2, "all joints are left out"),
        (["--known-load", "weight.json"], 2, "belong together"),
        (["--known-load", "bare.parquet", "--known-load-run", "weight.parquet"], 1, "bare.parquet"),
        (["--motion", "accelerometer"], 2, "accelerometer"),
        (["--motion", "telepathy"], 2, "telepathy"),
    ],
)
@pytest.mark.usefixtures("here")
def test_bad_usage(
    command: Any, arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


@pytest.mark.usefixtures("here")
def test_an_unknown_term_of_friction_lists_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert robot("--friction", "sticky") == 2
    err = capsys.readouterr().err
    for term in ("viscous", "coulomb", "stribeck", "saturating", "load", "offset", "spring", "sine2"):
        assert term in err


@pytest.mark.usefixtures("here")
def test_a_load_from_the_very_run_that_it_calibrates_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    mark = run(2, body(5.0)).signal("tau").fingerprint
    dataclasses.replace(iparam.Estimate.from_phi(body(5.0).phi, 1e-8 * np.eye(10)), measurements=(mark,)).save(
        "same.json"
    )
    options = ("--known-load", "same.json", "--known-load-run", "weight.parquet", *FRICTION, "--coupled", "none")
    assert robot(*options, "--motion", "set-points") == 0
    assert "same.json was identified from weight.parquet itself" in capsys.readouterr().err
