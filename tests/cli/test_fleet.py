"""`iparam fleet`: table, page, summary, exit codes and refusals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.bridges.bag import write_bag
from iparam.cli.main import main
from iparam.fleet import FleetTable
from iparam.recording import Recording
from iparam.sensing.noise import noise_preset
from iparam.trajectory import WindowedFourierTrajectory

Q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
LINE = ["fleet", "runs", "--robot", "ur5e", "--output", "fleet"]


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


def test_bags_of_both_kinds_on_a_cluster(folder: Path, dask_scheduler: str) -> None:
    """Folders and single files, MCAP and .db3."""
    recording, robot = Recording.load("runs/arm1/saw.parquet", robot="ur5e"), iparam.load_robot("ur5e")
    Path("bags").mkdir()
    for storage in ("mcap", "sqlite3"):
        write_bag(recording, Path("bags") / storage, storage=storage, robot=robot)
    shutil.copyfile(next(Path("bags/mcap").glob("*.mcap")), "bags/one.mcap")
    shutil.copyfile(next(Path("bags/sqlite3").glob("*.db3")), "bags/one.db3")
    line = ["fleet", "bags", "--robot", "ur5e", "--measures", "reaction", "--output", "bagged"]
    assert main([*line, "--scheduler", dask_scheduler]) == 0
    rows = FleetTable("bagged").rows()
    assert sorted(rows) == ["mcap", "one.db3", "one.mcap", "sqlite3"]
    assert [row["error"] for row in rows.values()] == [None] * 4
    assert [row["mass"] for row in rows.values()] == pytest.approx([2.0] * 4, abs=0.02)


def test_a_table_a_page_and_a_summary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--workers", "1", "--layout", "{arm}/{tool}.parquet"]) == 0
    out, err = capsys.readouterr()
    assert "ur5e arm1 saw 1 0 0 1 0" in " ".join(out.split())
    assert "bad.csv has no column 'time'" in out
    assert "Set map = time=" in " ".join(out.split())
    assert "'{arm}/{tool}.parquet' does not fit 1 of 2 recordings, bad.csv" in err
    assert "arm1 saw" in Path("fleet/report.html").read_text(encoding="utf-8")
    (row,) = [row for row in FleetTable("fleet").rows().values() if row["error"] is None]
    assert row["verdict"] == "refuted"
    assert "wrench-sign" in row["causes"]
    assert main([*LINE, "--layout", "{arm}/{tool}.parquet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["found"], told["kept"], told["done"]) == (2, 2, 0)
    assert [group["tool"] for group in told["groups"]] == ["", "saw"]
    assert (told["changes"], told["outliers"], len(told["error_kinds"])) == ([], [], 1)
    shutil.rmtree("runs/arm1")
    assert main([*LINE, "--measures", "reaction"]) == 1  # which identifies anew
    out, err = capsys.readouterr()
    assert "1 row of recordings that are not there any more are kept (arm1/saw.parquet)" in err
    assert "none of 1 recording could be identified" in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--scheduler", "localhost:8786"], 2, "must be 'local' or an address"),
        (["--scheduler", "tcp://127.0.0.1:1", "--workers", "1"], 2, "--workers is for --scheduler local"),
        (["--layout", "{robot}"], 2, "--layout must name some of"),
        (["--method", "all"], 2, "choose one"),
        (["--robot", "nonsense"], 2, "nonsense"),
        (["--workers", "0"], 2, "--workers must be a whole number from 1, got 0"),
        (["--layout", "{arm}/{tool}/{time}.mcap"], 2, "fits none of the recordings: arm1/saw.parquet, bad.csv"),
    ],
)
def test_what_cannot_be_is_refused(
    words: list[str], code: int, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = {"--robot": "ur5e", "--output": "fleet"}
    others = [word for name, value in usual.items() if name not in words for word in (name, value)]
    assert main(["fleet", "runs", *others, *words]) == code
    assert message in " ".join(capsys.readouterr().err.replace("│", "").split())
    assert not (folder / "fleet").exists()


def test_nothing_to_identify(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "nowhere", "--output", "fleet"]) == 1
    assert "nowhere is not there" in capsys.readouterr().err
    assert main(["fleet", "--output", "fleet"]) == 2
    assert "is missing" in capsys.readouterr().err


def test_a_damaged_table_is_not_touched(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("fleet").mkdir()
    Path("fleet/table.parquet").write_bytes(b"PAR1 cut off")
    assert main(LINE) == 1
    assert "fleet/table.parquet is damaged" in capsys.readouterr().err
    assert Path("fleet/table.parquet").read_bytes() == b"PAR1 cut off"
