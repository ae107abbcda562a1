"""`iparam doctor`: a table for people, JSON for machines, and an exit code that says red."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from iparam.cli.main import main


@pytest.fixture
def here(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run.recording.save("run.parquet")
    wrench = run.recording.signal("wrench")
    run.recording.with_signal("wrench", time=wrench.time, values=-wrench.values).save("reversed.parquet")
    return tmp_path


def test_a_sound_recording(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "run.parquet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[0] == "signals"
    assert next(line for line in lines if line.startswith("green")).split()[1] == "load"
    assert not any(line.startswith("red") for line in lines)
    assert "\x1b" not in "".join(lines)  # colours are for terminals


def test_a_reversed_wrench_is_red_and_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "reversed.parquet"]) == 1
    out, err = capsys.readouterr()
    assert "--measures" in out
    assert any(line.startswith("red") for line in out.splitlines())
    assert "red: do not believe a load from this run" in err
    assert main(["doctor", "reversed.parquet", "--measures", "reaction"]) == 0
    capsys.readouterr()
    assert main(["doctor", "reversed.parquet", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["level"] == "red"
    assert found["verdict"] == "refuted"
    assert "wrench-sign" in [cause["cause"] for cause in found["causes"]]
    assert {check["level"] for check in found["checks"]} <= {None, "amber", "red"}
    assert [rule["rule"] for rule in found["rules"] if not rule["passed"]] == ["refutations"]
    assert all(set(one) == {"code", "severity", "message", "values", "fix"} for one in found["remarks"])
