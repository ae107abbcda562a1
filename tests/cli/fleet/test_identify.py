"""`iparam fleet identify`: table, events, exit codes and refusals."""

from __future__ import annotations

import datetime
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.bridges.bag import write_bag
from iparam.cli.main import main
from iparam.fleet import FleetTable
from iparam.fleet.history import COMPARED
from iparam.recording import Recording
from iparam.sensing.noise import noise_preset
from iparam.trajectory import WindowedFourierTrajectory

START = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
Q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with runs/arm1/saw.parquet, whose wrench has the wrong sign, and a log that is none."""
    monkeypatch.chdir(tmp_path)
    robot, pose = iparam.load_robot("ur5e"), np.eye(4)
    pose[2, 3] = 0.1
    load = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).transformed(pose)
    a, b = np.random.default_rng(1).normal(0.0, 0.35, (2, 6, 3))
    motion = WindowedFourierTrajectory(Q0, a, b, base_freq=0.25, duration=4.0).sample(100.0)
    wrench = -iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ load.phi
    exact = Recording(robot="ur5e").with_signal("q", time=motion.time, values=motion.q)
    noisy = noise_preset("ur5e").apply(exact.with_signal("wrench", time=motion.time, values=wrench), 1)
    (tmp_path / "runs" / "arm1").mkdir(parents=True)
    noisy.save(tmp_path / "runs" / "arm1" / "saw.parquet")
    (tmp_path / "runs" / "bad.csv").write_text("nothing", encoding="utf-8")
    return tmp_path


def test_bags_of_both_kinds(folder: Path, dask_scheduler: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Folders and single files, MCAP and .db3, on a cluster."""
    recording, robot = Recording.load("runs/arm1/saw.parquet", robot="ur5e"), iparam.load_robot("ur5e")
    Path("bags").mkdir()
    for storage in ("mcap", "sqlite3"):
        write_bag(recording, Path("bags") / storage, storage=storage, robot=robot)
    shutil.copyfile(next(Path("bags/mcap").glob("*.mcap")), "bags/one.mcap")
    shutil.copyfile(next(Path("bags/sqlite3").glob("*.db3")), "bags/one.db3")
    line = ["fleet", "identify", "bags", "--robot", "ur5e", "--measures", "reaction", "--output", "bagged"]
    assert main([*line, "--scheduler", dask_scheduler]) == 0
    rows = {row["source"]: row for row in FleetTable("bagged").read().to_pylist()}
    assert sorted(rows) == ["mcap", "one.db3", "one.mcap", "sqlite3"]
    assert [row["error"] for row in rows.values()] == [None] * 4
    assert [row["mass"] for row in rows.values()] == pytest.approx([2.0] * 4, abs=0.02)


LINE = ["fleet", "identify", "runs", "--robot", "ur5e", "--output", "fleet", "--workers", "1"]


def test_events_then_a_table_and_causes(folder: Path, dask_scheduler: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--layout", "{arm}/{tool}.parquet", "--json"]) == 0
    out, err = capsys.readouterr()
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["event"] for event in events] == ["start", "recording", "recording", "finish"]
    assert (events[0]["found"], events[0]["to_do"]) == (2, 2)
    told = {event["source"]: event for event in events[1:3]}
    assert told["arm1/saw.parquet"]["verdict"] == "refuted"
    assert "has no column 'time'" in told["bad.csv"]["error"]
    assert events[2]["done"] == 2
    assert events[3]["causes"]["wrench-sign"] == 1
    assert events[3]["groups"][1]["tool"] == "saw"
    assert "--layout '{arm}/{tool}.parquet' does not fit 1 of 2 recordings, bad.csv: it has the" in err
    assert (events[3]["done"], events[3]["identified"], events[3]["errors"]) == (2, 1, 1)
    assert (events[3]["changes"], events[3]["outliers"], events[3]["copies"]) == ([], [], [])
    (row,) = [row for row in FleetTable("fleet").read().to_pylist() if row["error"] is None]
    told = Recording.load("runs/arm1/saw.parquet", robot="ur5e")
    assert row["causes"] == [cause["cause"] for cause in iparam.identify_payload(told, "ur5e").assessment["causes"]]
    assert "wrench-sign" in row["causes"]
    assert "reaction" in row["cause_sentences"][row["causes"].index("wrench-sign")]
    line = [*LINE[:-2], "--scheduler", dask_scheduler]
    assert main([*line, "--resume", "--layout", "{arm}/{tool}.parquet", "--measures", "reaction"]) == 0
    out, _ = capsys.readouterr()
    assert "ur5e arm1 saw" in " ".join(out.split())
    assert "mass: the median of what is good or usable" in out
    assert re.search(r"errors, in how many recordings\n +1  bad.csv has no column 'time'; its columns: .*--map", out)
    assert re.search(r"done +1 identified, 1 with an error, in [\d.]+ s", out)
    shutil.rmtree("runs/arm1")
    shutil.copytree("runs", "other")
    assert main(["fleet", "identify", "other", "--output", "fleet", "--resume", "--scheduler", dask_scheduler]) == 1
    out, err = capsys.readouterr()
    assert "note: the table has 1 recording that other does not name, or not any more (arm1/saw.parquet)" in err
    assert "kept as before, 1 made with other options; --overwrite begins without it" in err
    assert "iparam: 1 recording\n" in err
    assert "the only recording could not be identified" in err
    (row,) = [row for row in FleetTable("fleet").read().to_pylist() if row["error"] is None]
    assert row["verdict"] != "refuted"
    assert row["mass"] == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--resume", "--overwrite"], 2, "give one of the two"),
        (["--scheduler", "localhost:8786"], 2, "--workers is for --scheduler local"),
        (["--tls-key", "k.pem"], 2, "go with --scheduler tls://"),
        (["--layout", "{robot}"], 2, "--layout must name some of"),
        (["--method", "all"], 2, "choose one"),
        (["--robot", "nonsense"], 2, "nonsense"),
        (["--workers", "2.5"], 2, "Error parsing --workers: it needs a whole number, got '2.5'"),
        (["--workers", "0"], 2, "--workers must be a whole number from 1, got 0"),
        (["--time-range", "0", "end"], 2, "Error parsing --time-range: it needs a number, got 'end'"),
        (["--layout", "{arm}/{tool}/{time}.mcap"], 2, "fits none of the recordings: arm1/saw.parquet, bad.csv"),
    ],
)
def test_what_cannot_be_is_refused(
    words: list[str], code: int, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = {"--robot": "ur5e", "--output": "fleet", "--workers": "1"}
    others = [word for name, value in usual.items() if name not in words for word in (name, value)]
    assert main(["fleet", "identify", "runs", *others, *words]) == code
    assert message in " ".join(capsys.readouterr().err.replace("│", "").split())
    assert not (folder / "fleet").exists()


def test_nothing_to_identify_and_nothing_identified(
    folder: Path, dask_scheduler: str, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--scheduler", dask_scheduler]
    assert main(["fleet", "identify", "nowhere", "--output", "fleet", *where]) == 1
    assert "nowhere: it is not there" in capsys.readouterr().err
    assert main(["fleet", "identify", "runs/*.csv", "--robot", "ur5e", "--output", "fleet", *where]) == 1
    assert "the only recording could not be identified" in capsys.readouterr().err
    assert main(["fleet", "identify", "runs/*.csv", "--robot", "ur5e", "--output", "fleet", *where]) == 2
    assert "--resume" in capsys.readouterr().err


def test_a_glob_that_the_shell_replaced_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, name in (
        (["fleet", "identify", "runs/a.csv", "runs/b.csv", "--output", "fleet"], "PATTERN"),
        (["fleet", "report", "fleet", "--from", "runs/a.csv", "runs/b.csv", "--full", "a.csv"], "--from"),
    ):
        assert main(words) == 2
        err = capsys.readouterr().err
        assert f"error: {name} is one pattern, got 2 words from 'runs/a.csv' to 'runs/b.csv'" in err
        assert "put the pattern in quotes, e.g. 'runs/*.csv'" in err
    assert main(["fleet", "identify", "--output", "fleet"]) == 2
    assert "PATTERN is missing" in capsys.readouterr().err


def test_a_damaged_table_is_neither_lost_nor_called_somebody_elses(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("fleet").mkdir()
    Path("fleet/recordings.parquet").write_bytes(b"PAR1 cut off")
    for words in ([*LINE, "--resume"], LINE, ["fleet", "report", "fleet"]):
        assert main(words) == 1
        assert "fleet/recordings.parquet is damaged: its end is missing" in capsys.readouterr().err
    assert Path("fleet/recordings.parquet").read_bytes() == b"PAR1 cut off"


def test_the_summary_tells_changes_outliers_and_copies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the whole table, also where nothing is left to do."""
    shutil.rmtree("runs/arm1")
    line = [*LINE, "--resume"]
    assert main(line) == 1
    loads = [("a", place, 2.0 if place < 8 else 2.3, f"a{place}") for place in range(16)]
    loads += [("b", place, 2.0, "same" if place > 7 else f"b{place}") for place in range(12)]
    with FleetTable("fleet") as table:
        for arm, place, mass, checksum in loads:
            row: dict[str, Any] = {"source": f"{arm}/{place:03d}", "checksum": checksum, "robot": "ur5e", "arm": arm}
            row |= {"recorded": START + datetime.timedelta(days=place), "recorded_from": "name", "verdict": "good"}
            numbers = [mass + 1e-3 * (place % 3), 0.0, 0.0, 0.1 + 1e-4 * (place % 2)]
            row |= dict(zip(COMPARED, numbers, strict=True))
            table.add(row | dict.fromkeys((f"{name}_deviation" for name in COMPARED), 1e-3))
    capsys.readouterr()
    assert main(line) == 0
    out = capsys.readouterr().out
    assert re.search(r"^changes    1 over time, e.g. ur5e a: the mass goes from 2.* to 2\.3.* kg before", out, re.M)
    assert re.search(r"^outliers   8 recordings, e.g. a/008: the mass 2\.3\d* kg, the fleet's median is", out, re.M)
    assert "copies     3 recordings with the contents of another, e.g. b/009 of b/008" in out
