"""`iparam study ...`: figures, tables and refusals."""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from iparam.cli.main import main
from iparam.cli.options.scheduler import SchedulerOptions
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.fleet import Experiment
from iparam.fleet.studies import study
from iparam.fleet.studies.study import KINDS

PLAN = str(Path(__file__).parents[2] / "data" / "short_ur5e.json")
QUICK = ["--trajectory", PLAN, "--sensor-rate", "100", "--workers", "1"]


def test_figures_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["study", "robustness", *QUICK, "--runs", "8", "--output", "runs.parquet", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["study"], found["runs"], found["reached"]) == ("robustness", 8, False)
    assert "after 8 runs the precision is +-40 %, not +-5 % (--precision): more --runs" in err
    assert not found["interrupted"]
    assert len({figure["scenario"] for figure in found["figures"]}) == 8
    assert pq.read_table("runs.parquet")["noise"].to_pylist()[0] == "ur5e"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --trajectory"),
        (["--trajectory", PLAN, "--robot", "ur5e", "ur10e"], "the one arm of all trajectories"),
        (["--trajectory", PLAN, "--method", "all"], "choose one"),
        (["--trajectory", PLAN, "--payload", "none"], "leaves nothing to identify"),
        (["--trajectory", PLAN, "--noise", "loud"], "unknown noise preset 'loud'"),
        (["--trajectory", PLAN, "--seed", "-1"], "--seed -1 must be a whole number"),
        (["--trajectory", PLAN, "--runs", "0"], "--runs 0 must be a whole number"),
        (["--trajectory", PLAN, "--noise", "ur5e", "harsh", "--runs", "1"], "--runs 1 is less than"),
        (["--trajectory", PLAN, "--precision", "0"], "--precision 0.0 must be positive"),
        (["--trajectory", PLAN, "--masses", "2", "1"], "--masses must be two positive numbers"),
        (["--trajectory", PLAN, "--noise", "ideal"], "has none of the wrench"),
        (["--trajectory", PLAN, "--output", "runs.xlsx"], "a table of a study is a .parquet or .csv file"),
    ],
)
def test_what_cannot_be_is_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "coverage", *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of POSIX")
@pytest.mark.parametrize("written", [True, False])
def test_ctrl_c_keeps_the_runs_that_are_done(
    written: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(study, "run_experiment", interrupting)
    monkeypatch.setattr(SchedulerOptions, "executor", lambda _: ThreadPoolExecutor(1))
    line = ["study", "coverage", "--trajectory", PLAN, *(["--output", "runs.csv"] if written else [])]
    assert main(line) == 130
    out, err = capsys.readouterr()
    kept = re.search(r"interrupted after (\d+) runs?, whose figures follow; (.*)\. The same --seed", err)
    assert kept is not None
    assert f"coverage, {kept[1]} run" in out
    assert kept[2] == ("they are in runs.csv" if written else "--output would keep their table")
    if written:
        assert Path("runs.csv").read_text().count("\n") == int(kept[1]) + 1
    assert not list(tmp_path.glob("*.parquet"))


def interrupting(_: Experiment, run: int) -> dict[str, Any]:
    """A run that costs nothing, of which the fourth presses Ctrl-C."""
    if run == 3:
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.2)
    columns = {f"{name}_{kind}": 1.0 for name in DERIVED_NAMES for kind in ("error", "deviation", "bound")}
    return {"run": run, "noise": "n", "verdict": "good", **columns}


@pytest.mark.parametrize("kind", KINDS)
def test_the_help_says_how_precise_a_study_is(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", kind, "--help"]) == 0
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert re.search(rf"--precision P Half width .*? \(default: {KINDS[kind][2]}\)", text)
