"""`iparam study ...`: figures, tables and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from iparam.cli.main import main

PLAN = str(Path(__file__).parents[2] / "data" / "short_ur5e.json")
QUICK = ["--trajectory", PLAN, "--sensor-rate", "100", "--workers", "1"]


def test_figures_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["study", "robustness", *QUICK, "--runs", "8", "--output", "runs.parquet", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["study"], found["runs"], found["reached"]) == ("robustness", 8, False)
    assert "the precision 0.05 is not reached" in err
    assert len({figure["scenario"] for figure in found["figures"]}) == 8
    assert pq.read_table("runs.parquet")["noise"].to_pylist()[0] == "ur5e"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --trajectory"),
        (["--trajectory", PLAN, "--robot", "ur5e"], "give --trajectory"),
        (["--trajectory", PLAN, "--method", "all"], "choose one"),
        (["--trajectory", PLAN, "--payload", "none"], "leaves nothing to identify"),
        (["--trajectory", PLAN, "--noise", "loud"], "unknown noise preset 'loud'"),
        (["--trajectory", PLAN, "--seed", "-1"], "seed must be a whole number"),
    ],
)
def test_what_cannot_be_is_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "coverage", *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
