"""`iparam ur set-payload` against a simulated controller: it asks, it knows the arm, and it reads back."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from doubles.ur_controller.twin import UrTwin
from made_results import made_static

from iparam.bridges.ur.rtde.client import RtdeStream
from iparam.bridges.ur.run.payload_setting import PayloadReport
from iparam.cli.main import main
from iparam.remarks import remark

pytest.importorskip("rtde_control")
SAMPLE = Path(__file__).parents[3] / "data" / "sample_result.json"
MASS = json.loads(SAMPLE.read_text())["mass"]


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        return True


def known_mass(twin: UrTwin) -> float:
    with RtdeStream.open(twin.host, ("payload",)) as stream:
        return float(stream.read(5.0)[-1, 0])


def command(twin: UrTwin, *more: str, result: Path = SAMPLE) -> list[str]:
    return ["ur", "set-payload", str(result), "--host", twin.host, *more]


def test_it_asks_and_takes_no_for_an_answer(
    twin: UrTwin, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("no\n"))
    assert main(command(twin)) == 1
    err = capsys.readouterr().err
    assert f"Set the payload of {twin.host} (ur5e, now 0 kg) to {MASS:.4f} kg at " in err
    assert "not confirmed: the controller keeps its payload" in err
    assert known_mass(twin) == 0.0
    monkeypatch.setattr(sys, "stdin", Terminal("yes\n"))
    assert main(command(twin)) == 0
    assert known_mass(twin) == MASS


def test_the_arm_is_the_controllers(twin: UrTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its rated load counts, whatever the user says."""
    heavy = tmp_path / "heavy.json"
    heavy.write_text(json.dumps(made_static(8.0, [0.0, 0.0, 0.1])))
    assert main(command(twin, "--yes", result=heavy)) == 1
    assert "a mass of 8 kg: ur5e carries up to 5 kg" in capsys.readouterr().err
    assert main(command(twin, "--yes", "--robot", "ur10e", result=heavy)) == 1
    assert "ur5e, got 'ur10e' (--robot)" in capsys.readouterr().err
    assert known_mass(twin) == 0.0


def test_a_result_of_rests_is_sent_without_inertia(
    twin: UrTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = tmp_path / "static.json"
    doubt = remark("rests-disagree", quantity="forces", size=2.0, unit="N", factor=4.0)
    result.write_text(json.dumps(made_static(1.5, [0.0, 0.01, 0.1], [doubt])))
    assert main(command(twin, "--yes", "--json", result=result)) == 1
    assert "--accept-warnings" in capsys.readouterr().err
    assert main(command(twin, "--yes", "--json", "--accept-warnings", result=result)) == 0
    captured = capsys.readouterr()
    assert "warning: " in captured.err
    report = json.loads(captured.out)
    assert report["sent"] == {"mass": 1.5, "center_of_gravity": [0.0, 0.01, 0.1], "inertia": None}
    assert report["shown"]["mass"] == 1.5
    assert report["arrived"] is True
    assert report["taken"] == {"mass": "as sent", "center_of_gravity": "as sent", "inertia": "not sent"}


def test_a_result_of_another_arm_is_told(twin: UrTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps(json.loads(SAMPLE.read_text()) | {"robot": "ur10e"}))
    assert main(command(twin, "--yes", result=other)) == 0
    assert f"was identified on a ur10e, and {twin.host} has a ur5e" in capsys.readouterr().err
    assert main(command(twin, "--yes")) == 0
    assert "identified on" not in capsys.readouterr().err


def test_what_the_controller_took_is_said_entry_by_entry() -> None:
    sent = {"mass": 1.23456, "center_of_gravity": [0.01, 0.02, 0.1], "inertia": [0.01, 0.01, 0.01, 0.0, 0.0, 0.0]}
    shown = {"mass": 1.2346, "center_of_gravity": [0.01, 0.02, 0.1], "inertia": [0.01, 0.01, 0.002, 0.0, 0.0, 0.0]}
    taken = PayloadReport(sent, shown, False).taken
    assert taken["mass"] == "rounded, by 4e-05 kg at most"
    assert taken["center_of_gravity"] == "as sent"
    assert taken["inertia"].startswith("NOT as sent, off by 0.008 kg m^2: a limit")
    assert set(PayloadReport(sent, None, None).taken.values()) == {"not shown"}
    assert PayloadReport({**sent, "inertia": None}, shown, True).taken["inertia"] == "not sent"
