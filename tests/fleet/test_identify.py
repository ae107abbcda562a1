"""`identify_fleet` and `identify_many`: rows, errors, what is kept, workers killed."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import FileFormatError, InputError, IparamError, UnknownNameError
from iparam.fleet import FleetRun, FleetSettings, FleetTable, Layout, identify_fleet, identify_many
from iparam.recording import Recording
from iparam.worker_pool import WorkerPool

Make = Callable[..., Recording]
ONCE = ("identified", "seconds")


@pytest.fixture
def runs(tmp_path: Path, recorded: Make) -> Path:
    """Four recordings of two arms, one of them CSV, and a log that is none."""
    for name, mass, seed in (
        ("a1/saw/20261101.parquet", 2.0, 1),
        ("a1/saw/20261102.parquet", 2.0, 2),
        ("a2/saw/20261101.csv", 3.0, 3),
        ("a2/drill/20261103.parquet", 1.0, 4),
    ):
        (tmp_path / "runs" / name).parent.mkdir(parents=True, exist_ok=True)
        recorded(mass, seed).save(tmp_path / "runs" / name)
    (tmp_path / "runs" / "a2" / "broken.csv").write_text("time,nonsense\n1,2\n", encoding="utf-8")
    (tmp_path / "runs" / "notes.txt").write_text("no recording")
    return tmp_path / "runs"


SETTINGS = FleetSettings(robot="ur5e", layout=Layout("{arm}/{tool}/{time}.*"))
PLAIN = FleetSettings(robot="ur5e")


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k not in ONCE} for row in FleetTable(folder).rows().values()]


@pytest.fixture
def useless(tmp_path: Path) -> Path:
    """Five logs that are refused: rows that cost nothing, where only their keeping counts."""
    (tmp_path / "logs").mkdir()
    for number in range(5):
        (tmp_path / "logs" / f"{number}.csv").write_text(f"time,nonsense\n{number},2\n", encoding="utf-8")
    return tmp_path / "logs"


def test_one_row_a_recording_and_a_bad_one_is_a_row(runs: Path, tmp_path: Path, pool: WorkerPool) -> None:
    told: list[str] = []
    done = identify_fleet(
        [runs], tmp_path / "fleet", SETTINGS, executor=pool, on_row=lambda row, run: told.append(row["source"])
    )
    assert (done.found, done.done, done.errors, done.kept) == (5, 5, 1, 0)
    (remark,) = done.remarks
    assert (remark.code, remark.values["count"], remark.values["names"]) == ("layout-misfits", 1, "a2/broken.csv")
    rows = {row["source"]: row for row in rows_of(tmp_path / "fleet")}
    assert sorted(told) == sorted(rows) == sorted([
        "a1/saw/20261101.parquet", "a1/saw/20261102.parquet", "a2/saw/20261101.csv", "a2/drill/20261103.parquet",
        "a2/broken.csv",
    ])  # fmt: skip
    saw = rows["a2/saw/20261101.csv"]
    direct = iparam.identify_payload(Recording.load(runs / "a2/saw/20261101.csv", robot="ur5e"), "ur5e")
    assert saw["remarks"] == [one.code for one in direct.remarks]
    assert saw["mass"] == direct.mass
    assert saw["phi_Izz_deviation"] == direct.standard_deviation.phi[9]
    assert saw["inertia_xy"] == direct.inertia_about_com[0, 1]
    assert (saw["verdict"], saw["error"]) == (direct.assessment["verdict"], None)
    assert saw["causes"] == [cause["cause"] for cause in direct.assessment["causes"]]
    assert (saw["robot"], saw["arm"], saw["tool"]) == ("ur5e", "a2", "saw")
    assert saw["recorded"].isoformat() == "2026-11-01T00:00:00+00:00"
    assert saw["version"] == iparam.__version__
    broken = rows["a2/broken.csv"]
    assert broken["error_kind"] == "refused"
    assert (broken["robot"], broken["arm"], broken["tool"]) == ("ur5e", None, None)
    assert "broken.csv" in broken["error"]
    assert broken["mass"] is None
    assert not any(str(tmp_path) in str(value) for row in rows.values() for value in row.values())


def test_the_table_is_the_same_for_any_number_of_workers(runs: Path, tmp_path: Path, pool: WorkerPool) -> None:
    identify_fleet([runs], tmp_path / "two", SETTINGS, executor=pool)
    with WorkerPool(1) as one:
        identify_fleet([runs], tmp_path / "one", SETTINGS, executor=one)
    assert rows_of(tmp_path / "one") == rows_of(tmp_path / "two")


def test_forty_logs_with_bad_ones_are_cut_off_and_go_on(tmp_path: Path, recorded: Make, pool: WorkerPool) -> None:
    """Every kind of file that is none; then what is new, changed, or was made with other settings, and nothing else."""
    logs, fleet = tmp_path / "logs", tmp_path / "fleet"
    logs.mkdir()
    for seed in range(3):
        recorded(2.0, seed).save(logs / f"{seed:02d}.parquet")
    for number in range(3, 32):
        shutil.copyfile(logs / f"{number % 3:02d}.parquet", logs / f"{number:02d}.parquet")
    for number in range(32, 40):
        text = ("", "nothing", "time,nonsense\n1,2\n", "time,q0\nx,y\n", "\0" * 100)[number % 5]
        (logs / f"{number:02d}.{('csv', 'parquet', 'npz')[number % 3]}").write_text(text, encoding="utf-8")

    def again(settings: FleetSettings = PLAIN, stop: int = 0, **options: Any) -> tuple[list[str], FleetRun]:
        told: list[str] = []

        def tell(row: Mapping[str, Any], run: FleetRun) -> None:
            told.append(row["source"])
            if run.done == stop:
                raise KeyboardInterrupt

        return told, identify_fleet([logs], fleet, settings, executor=pool, on_row=tell, **options)

    with pytest.raises(KeyboardInterrupt):
        again(stop=7)
    assert len(rows_of(fleet)) == 7
    told, done = again()
    assert (len(told), done.kept, done.done, done.found) == (33, 7, 33, 40)
    rows = {row["source"]: row for row in rows_of(fleet)}
    assert len(rows) == 40
    assert [name for name, row in rows.items() if row["error"]] == [
        f"{number:02d}.{('csv', 'parquet', 'npz')[number % 3]}" for number in range(32, 40)
    ]
    assert {row["error_kind"] for row in rows.values()} == {None, "refused"}
    assert len({row["mass"] for row in rows.values()}) == 4  # of three recordings, and none
    assert again()[0] == []
    recorded(2.5, 9).save(logs / "05.parquet")  # changed
    recorded(2.0, 9).save(logs / "99.parquet")  # new
    (logs / "06.parquet").unlink()
    told, done = again()
    assert sorted(told) == ["05.parquet", "99.parquet"]
    assert (done.kept, done.gone) == (38, ("06.parquet",))
    assert len(rows_of(fleet)) == 41
    assert again(FleetSettings(robot="ur5e", layout=Layout("{tool}")))[0] == []
    assert {row["tool"] for row in rows_of(fleet)} == {Path(row["source"]).stem for row in rows_of(fleet)}
    told, done = again(FleetSettings(robot="ur5e", identifying={"method": "wls"}), overwrite=True)
    assert (len(told), len(rows_of(fleet))) == (40, 40)


def test_a_version_or_a_setting_that_differs_is_a_row_that_is_made_anew(useless: Path, tmp_path: Path) -> None:
    def done(settings: FleetSettings) -> int:
        return identify_fleet([useless], tmp_path / "fleet", settings, executor=ThreadPoolExecutor(1)).done

    assert done(PLAIN) == 5
    assert done(PLAIN) == 0
    assert done(FleetSettings(robot="ur5e", identifying={"method": "wls"})) == 5
    assert done(FleetSettings(robot=iparam.load_robot("ur5e"), identifying={"method": "wls"})) == 5
    table = FleetTable(tmp_path / "fleet")
    changes = ({"version": "0.0.0"}, {"error_kind": "worker"}, {"size": 1}, {"modified": 1}, {})
    rows = table.rows()
    table.write({name: {**row, **change} for (name, row), change in zip(rows.items(), changes, strict=True)})
    assert done(FleetSettings(robot=iparam.load_robot("ur5e"), identifying={"method": "wls"})) == 4


def test_an_interruption_before_anything_is_done_leaves_nothing(useless: Path, tmp_path: Path) -> None:
    class Stopped(ThreadPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        identify_fleet([useless], tmp_path / "fleet", PLAIN, executor=Stopped(1))
    assert not (tmp_path / "fleet").exists()
    with pytest.raises(
        InputError, match=r"layout '\{arm\}.mcap' fits none of the recordings: 0.csv, 1.csv, 2.csv and 2"
    ):
        identify_fleet([useless], tmp_path / "fleet", FleetSettings(layout=Layout("{arm}.mcap")))
    assert not (tmp_path / "fleet").exists()


def test_a_crash_costs_what_was_not_yet_written(useless: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iparam.fleet.identify.SAVE_SECONDS", 0.0)
    monkeypatch.setattr("iparam.fleet.identify.SAVE_SHARE", 1e9)
    seen: list[int] = []

    def look(row: Mapping[str, Any], run: FleetRun) -> None:
        seen.append(len(FleetTable(tmp_path / "fleet").rows()) if run.done > 1 else 0)

    identify_fleet([useless], tmp_path / "fleet", PLAIN, executor=ThreadPoolExecutor(1), on_row=look)
    assert seen == [0, 1, 2, 3, 4]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_log_that_kills_its_process_is_a_row_and_is_tried_again(useless: Path, tmp_path: Path) -> None:
    settings = FleetSettings(robot="ur5e", bags=_ended)
    (useless / "x.mcap").write_bytes(b"x")
    with WorkerPool(1) as pool:
        done = identify_fleet([useless], tmp_path / "fleet", settings, executor=pool)
        assert (done.done, done.errors) == (6, 6)
        (killed,) = [row for row in rows_of(tmp_path / "fleet") if row["error_kind"] == "worker"]
        assert killed["source"] == "x.mcap"
        assert "killed, or out of memory" in killed["error"]
        assert identify_fleet([useless], tmp_path / "fleet", settings, executor=pool).done == 1


def _ended(path: Path, robot: object) -> Recording:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def test_one_run_a_folder(useless: Path, tmp_path: Path) -> None:
    with FleetTable(tmp_path / "fleet").held(), pytest.raises(InputError, match="another run is writing"):
        identify_fleet([useless], tmp_path / "fleet", PLAIN, executor=ThreadPoolExecutor(1))


def test_a_table_in_the_folder_of_the_recordings_is_not_one_of_them(useless: Path) -> None:
    for _ in range(2):
        done = identify_fleet([useless], useless / "fleet", PLAIN, executor=ThreadPoolExecutor(1))
        assert done.found == 5


def test_a_recording_of_another_robot_is_said_to_be_that_robots(tmp_path: Path, recorded: Make) -> None:
    (tmp_path / "runs").mkdir()
    other = dataclasses.replace(recorded(2.0, 1), robot="ur10e").with_metadata(arm="7", tool="drill")
    other.save(tmp_path / "runs" / "other.parquet")
    other.save(tmp_path / "runs" / "without.csv")  # has no room for it
    q = np.zeros((50, 7))
    seven = Recording("panda", metadata={"arm": "8"}).with_signal("q", time=np.arange(50) / 100, values=q)
    seven.save(tmp_path / "runs" / "seven.parquet")
    identify_fleet([tmp_path / "runs"], tmp_path / "fleet", PLAIN, executor=ThreadPoolExecutor(1))
    found, seventh, told = rows_of(tmp_path / "fleet")
    assert "q has 7 columns, but ur5e has 6 joints" in seventh["error"]
    assert (seventh["robot"], seventh["arm"]) == ("panda", "8")
    assert "belongs to a ur10e" in found["error"]
    assert (found["robot"], found["arm"], found["tool"]) == ("ur10e", "7", "drill")
    assert (told["robot"], told["error"]) == ("ur5e", None)


def test_many_recordings_in_memory_and_in_files(recorded: Make, pool: WorkerPool, tmp_path: Path) -> None:
    still = Recording("ur5e").with_signal("q", time=np.arange(50) / 100, values=np.zeros((50, 6)))
    recorded(3.0, 2).save(tmp_path / "3.parquet")
    found = identify_many([recorded(2.0, 1), still, tmp_path / "3.parquet"], "ur5e", executor=pool)
    assert isinstance(found[0], iparam.Estimate)
    assert found[0].mass == iparam.identify_payload(recorded(2.0, 1), "ur5e").mass
    assert isinstance(found[2], iparam.Estimate)
    assert found[2].mass == pytest.approx(3.0, abs=0.02)
    with pytest.raises(IparamError) as direct:
        iparam.identify_payload(still, "ur5e")
    assert type(found[1]) is type(direct.value)
    assert str(found[1]) == str(direct.value)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"method": "nope"}, UnknownNameError, "unknown method 'nope'"),
        ({"method": 3}, InputError, "method must be the name of a method or an Estimator, got 3"),
        ({"metod": "ls"}, InputError, r"takes no metod. Did you mean method=\?"),
        ({"bias": "x"}, UnknownNameError, "unknown treatment of the bias 'x'"),
        ({"motion": "kalman"}, InputError, "motion must be a source of motion"),
        ({"wrench": "tcp"}, InputError, "wrench must be a source of the wrench"),
        ({"delay": "8 ms"}, InputError, "delay must be a time in s, got '8 ms'"),
        ({"wrench_covariance": np.eye(3)}, InputError, "wrench_covariance must have shape"),
        ({"gravity": "down"}, InputError, "gravity must hold real numbers"),
        ({"prior": 3, "method": "logchol"}, InputError, "prior must be an InertialParameters"),
        ({"partial": None}, InputError, "partial must be True or False"),
        ({"correction": {"delay": 1}}, InputError, "correction must be a Correction"),
        ({"robot": "ur55e"}, UnknownNameError, "unknown robot 'ur55e'"),
        ({"robot": "none.urdf"}, FileFormatError, "'none.urdf' does not exist"),
        ({"robot": 5}, InputError, "a robot is given by its name"),
        ({"executor": 2}, InputError, "executor must be a concurrent.futures.Executor"),
        ({"recordings": "runs/*.csv"}, InputError, r"must be a list of recordings.*, got 'runs/\*.csv'"),
        ({"recordings": Path("runs")}, InputError, "must be a list of recordings.*, got .*runs"),
        ({"recordings": [None]}, InputError, r"recordings\[0\] is neither a Recording nor a path, but None"),
        ({"recordings": Recording("ur5e")}, InputError, "must be a list of recordings"),
        ({"recordings": None}, InputError, "must be a list of recordings.*, got None"),
    ],
)
def test_what_suits_no_recording_is_refused_before_any_is_identified(
    options: dict[str, Any], kind: type[IparamError], message: str
) -> None:
    class Unused(ThreadPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Any:
            pytest.fail("a recording was handed over")

    with Unused(1) as unused, pytest.raises(kind, match=message):
        identify_many(**{"recordings": [Recording("ur5e")], "robot": "ur5e", "executor": unused, **options})


def test_bags_need_who_reads_them(tmp_path: Path) -> None:
    (tmp_path / "one.mcap").write_bytes(b"x")
    settings = FleetSettings(robot="ur5e")
    identify_fleet([tmp_path / "*.mcap"], tmp_path / "none", settings, executor=ThreadPoolExecutor(1))
    assert all("nothing was given that reads bags" in row["error"] for row in rows_of(tmp_path / "none"))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not have such names")
def test_names_may_be_anything(tmp_path: Path, recorded: Make) -> None:
    (tmp_path / "runs").mkdir()
    recorded(2.0, 1).save(tmp_path / "run.parquet")
    for name in (b"a\nb.parquet", b"\x1b[31mred.parquet", b"[x]*.parquet", b"bad\xff.parquet", b"-- $(x) 'q'.parquet"):
        shutil.copyfile(tmp_path / "run.parquet", os.fsencode(tmp_path / "runs") + b"/" + name)
    (tmp_path / "runs" / "dead.parquet").symlink_to("nowhere")
    (tmp_path / "runs" / "empty.parquet").touch()
    (tmp_path / "runs" / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "runs" / "endless.csv").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "runs" / "pipe.csv")  # whoever opens it waits for somebody to write
    done = identify_fleet([tmp_path / "runs"], tmp_path / "fleet", PLAIN, executor=ThreadPoolExecutor(1))
    assert (done.found, done.errors) == (10, 5)
    rows = {row["source"]: row for row in rows_of(tmp_path / "fleet")}
    bad = {name: row["error_kind"] for name, row in rows.items() if row["error"]}
    assert bad == dict.fromkeys(["dead.parquet", "empty.parquet", "endless.csv", "loop.csv", "pipe.csv"], "refused")
    assert "no file with contents" in rows["pipe.csv"]["error"]
    assert not any(str(tmp_path) in str(value) for row in rows.values() for value in row.values())
    assert "bad\\udcff.parquet" in rows
