"""`identify_fleet` and `identify_many`: rows, errors, --resume, workers killed, schedulers gone."""

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
from iparam.fleet import FleetRun, FleetSettings, FleetTable, Layout, LocalPool, identify_fleet, identify_many
from iparam.recording import Recording

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
    return [{k: v for k, v in row.items() if k not in ONCE} for row in FleetTable(folder).read().to_pylist()]


def test_one_row_a_recording_and_a_bad_one_is_a_row(runs: Path, tmp_path: Path, pool: LocalPool) -> None:
    told: list[str] = []
    done = identify_fleet(
        str(runs), tmp_path / "fleet", SETTINGS, executor=pool, on_row=lambda row, progress: told.append(row["source"])
    )
    assert (done.found, done.done, done.identified, done.errors, done.kept) == (5, 5, 4, 1, 0)
    (remark,) = done.remarks
    assert remark.startswith("layout='{arm}/{tool}/{time}.*' does not fit 1 of 5 recordings, a2/broken.csv: it has the")
    rows = {row["source"]: row for row in rows_of(tmp_path / "fleet")}
    assert sorted(told) == sorted(rows) == sorted([
        "a1/saw/20261101.parquet", "a1/saw/20261102.parquet", "a2/saw/20261101.csv", "a2/drill/20261103.parquet",
        "a2/broken.csv",
    ])  # fmt: skip
    saw = rows["a2/saw/20261101.csv"]
    direct = iparam.identify_payload(Recording.load(runs / "a2/saw/20261101.csv", robot="ur5e"), "ur5e")
    assert saw["mass"] == direct.mass
    assert saw["phi_Izz_deviation"] == direct.standard_deviation.phi[9]
    assert saw["inertia_xy"] == direct.inertia_about_com[0, 1]
    assert (saw["verdict"], saw["error"]) == (direct.assessment["verdict"], None)
    assert saw["causes"] == [cause["cause"] for cause in direct.assessment["causes"]]
    assert (saw["robot"], saw["arm"], saw["tool"]) == ("ur5e", "a2", "saw")
    assert saw["recorded"].isoformat() == "2026-11-01T00:00:00+00:00"
    assert (saw["recorded_from"], saw["version"]) == ("name", iparam.__version__)
    broken = rows["a2/broken.csv"]
    assert broken["error_kind"] == "refused"
    assert (broken["robot"], broken["arm"], broken["tool"]) == ("ur5e", None, None)
    assert "broken.csv" in broken["error"]
    assert broken["mass"] is None
    assert not any(str(tmp_path) in str(value) for row in rows.values() for value in row.values())


def test_the_table_is_the_same_for_any_number_of_workers(runs: Path, tmp_path: Path, pool: LocalPool) -> None:
    identify_fleet(str(runs), tmp_path / "two", SETTINGS, executor=pool)
    identify_fleet(str(runs), tmp_path / "one", SETTINGS, executor=ThreadPoolExecutor(1))
    assert rows_of(tmp_path / "one") == rows_of(tmp_path / "two")


def test_resume_does_what_is_missing_or_changed(runs: Path, tmp_path: Path, recorded: Make) -> None:
    fleet, threads = tmp_path / "fleet", ThreadPoolExecutor(1)

    def again(settings: FleetSettings = SETTINGS, **options: Any) -> tuple[list[str], Any]:
        told: list[str] = []
        done = identify_fleet(
            str(runs), fleet, settings, executor=threads, on_row=lambda row, _: told.append(row["source"]), **options
        )
        return sorted(told), done

    again()
    with pytest.raises(InputError, match="holds rows of an earlier run"):
        again()
    assert again(resume=True)[0] == []
    recorded(2.5, 9).save(runs / "a1/saw/20261102.parquet")  # changed
    recorded(2.0, 9).save(runs / "a1/saw/20261105.parquet")  # new
    os.utime(runs / "a2/drill/20261103.parquet", (1.0, 1.0))  # only touched
    before = {row["source"]: row for row in FleetTable(fleet).read().to_pylist()}
    told, done = again(resume=True)
    assert told == ["a1/saw/20261102.parquet", "a1/saw/20261105.parquet", "a2/drill/20261103.parquet"]
    assert (done.kept, done.found, done.done, done.errors) == (4, 6, 2, 0)  # what was only touched is kept
    after = {row["source"]: row for row in FleetTable(fleet).read().to_pylist()}
    assert len(after) == 6
    assert after["a1/saw/20261102.parquet"]["mass"] == pytest.approx(2.5, abs=0.02)
    touched = "a2/drill/20261103.parquet"
    assert after[touched]["identified"] == before[touched]["identified"]  # the same contents: not done again
    assert again(resume=True)[0] == []
    assert not (fleet / "pieces").exists()
    (runs / "a1/saw/20261105.parquet").unlink()
    _, done = again(resume=True)
    assert (done.gone, done.gone_otherwise, done.found, done.kept) == (("a1/saw/20261105.parquet",), 0, 5, 5)
    other = FleetSettings(robot="ur5e", identifying={"method": "wls"}, described={"method": "wls"})
    told, done = again(other, resume=True)
    assert (len(told), done.gone_otherwise) == (5, 1)
    assert len(again(overwrite=True)[0]) == len(rows_of(fleet)) == 5


def test_another_layout_fills_in_anew_and_identifies_nothing(tmp_path: Path, recorded: Make) -> None:
    """Whose a recording is is by the layout of this run, else by what it states, else by the store as it is now."""
    runs, fleet = tmp_path / "runs" / "hall1", tmp_path / "fleet"
    runs.mkdir(parents=True)
    plain = recorded(2.0, 1)
    plain.save(runs / "saw-20261101.parquet")
    plain.with_metadata(arm="own", tool="drill", recorded="2026-10-01T12:00:00+02:00").save(runs / "x.parquet")
    (runs / "broken.csv").write_text("time,nonsense\n1,2\n", encoding="utf-8")

    def labels(text: str | None, **options: Any) -> tuple[Any, dict[str, tuple[Any, ...]]]:
        settings = FleetSettings(robot="ur5e", layout=text and Layout(text), described={"layout": text})  # type: ignore[arg-type]
        done = identify_fleet(
            str(tmp_path / "runs"), fleet, settings, executor=ThreadPoolExecutor(1), resume=True, **options
        )
        rows = {Path(row["source"]).stem: row for row in FleetTable(fleet).read().to_pylist()}
        columns = ("arm", "tool", "recorded_from", "mass", "identified")
        return done, {name: tuple(row[column] for column in columns) for name, row in rows.items()}

    _, before = labels(None)
    assert before["saw-20261101"][:3] == (None, None, "store")
    assert before["x"][:3] == ("own", "drill", "recording")
    assert before["broken"][:3] == (None, None, "store")
    done, named = labels("{arm}/{tool}-{time}", on_row=lambda row, progress: pytest.fail("identified again"))
    assert (done.kept, done.relabelled, done.done, done.gone_otherwise) == (3, 1, 0, 0)
    assert named["saw-20261101"][:3] == ("hall1", "saw", "name")
    assert [named[name][:3] for name in ("x", "broken")] == [before[name][:3] for name in ("x", "broken")]
    assert {name: row[3:] for name, row in named.items()} == {name: row[3:] for name, row in before.items()}
    assert labels("{arm}/{tool}-{time}")[0].relabelled == 0
    assert all('"layout"' in row["settings"] for row in FleetTable(fleet).read().to_pylist())
    done, again = labels(None)
    assert (done.relabelled, again) == (1, before)
    os.utime(runs / "saw-20261101.parquet", (1.0, 1.0))  # the same contents, copied anew
    assert labels(None)[0].done == 0
    (row,) = [row for row in FleetTable(fleet).read().to_pylist() if "saw" in row["source"]]
    assert (row["recorded"].timestamp(), row["recorded_from"]) == (1.0, "store")


def test_a_recording_of_another_robot_is_said_to_be_that_robots(tmp_path: Path, recorded: Make) -> None:
    (tmp_path / "runs").mkdir()
    other = dataclasses.replace(recorded(2.0, 1), robot="ur10e").with_metadata(arm="7", tool="drill")
    other.save(tmp_path / "runs" / "other.parquet")
    other.save(tmp_path / "runs" / "without.csv")  # has no room for it
    q = np.zeros((50, 7))
    seven = Recording("panda", metadata={"arm": "8"}).with_signal("q", time=np.arange(50) / 100, values=q)
    seven.save(tmp_path / "runs" / "seven.parquet")
    identify_fleet(str(tmp_path / "runs"), tmp_path / "fleet", PLAIN, executor=ThreadPoolExecutor(1))
    found, seventh, told = rows_of(tmp_path / "fleet")
    assert "q has 7 columns, but ur5e has 6 joints" in seventh["error"]
    assert (seventh["robot"], seventh["arm"]) == ("panda", "8")
    assert "belongs to a ur10e" in found["error"]
    assert (found["robot"], found["arm"], found["tool"]) == ("ur10e", "7", "drill")
    assert (told["robot"], told["error"]) == ("ur5e", None)


@pytest.fixture
def useless(tmp_path: Path) -> Path:
    """Five logs that are refused: rows that cost nothing, where only their keeping counts."""
    (tmp_path / "logs").mkdir()
    for number in range(5):
        (tmp_path / "logs" / f"{number}.csv").write_text(f"time,nonsense\n{number},2\n", encoding="utf-8")
    return tmp_path / "logs"


def test_an_interruption_before_anything_is_done_leaves_nothing(useless: Path, tmp_path: Path) -> None:
    def stop(run: FleetRun) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        identify_fleet(str(useless), tmp_path / "fleet", PLAIN, executor=ThreadPoolExecutor(1), on_start=stop)
    assert not (tmp_path / "fleet").exists()


def test_a_layout_that_fits_nothing_is_refused_before_anything_is_lost(useless: Path, tmp_path: Path) -> None:
    identify_fleet(str(useless), tmp_path / "fleet", PLAIN, executor=ThreadPoolExecutor(1))
    with pytest.raises(InputError, match=r"fits none of the recordings: 0.csv, 1.csv, 2.csv and 2 more; '\{arm\}'"):
        identify_fleet(str(useless), tmp_path / "fleet", FleetSettings(layout=Layout("{arm}.mcap")), overwrite=True)
    assert len(rows_of(tmp_path / "fleet")) == 5


def test_an_interruption_keeps_what_is_done(useless: Path, tmp_path: Path) -> None:
    def stop(row: Mapping[str, Any], progress: Any) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        identify_fleet(str(useless), tmp_path / "fleet", PLAIN, executor=ThreadPoolExecutor(1), on_row=stop)
    assert len(rows_of(tmp_path / "fleet")) == 2
    done = identify_fleet(str(useless), tmp_path / "fleet", PLAIN, executor=ThreadPoolExecutor(1), resume=True)
    assert (done.kept, done.done) == (2, 3)
    assert len(rows_of(tmp_path / "fleet")) == 5


def test_a_table_in_the_folder_of_the_recordings_is_not_one_of_them(useless: Path) -> None:
    for _ in range(2):
        done = identify_fleet(str(useless), useless / "fleet", PLAIN, executor=ThreadPoolExecutor(1), resume=True)
        assert done.found == 5


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_worker_killed_in_the_middle_costs_nothing(tmp_path: Path, recorded: Make) -> None:
    (tmp_path / "runs").mkdir()
    recorded(2.0, 1).save(tmp_path / "runs" / "000.parquet")
    for number in range(1, 8):
        shutil.copyfile(tmp_path / "runs" / "000.parquet", tmp_path / "runs" / f"{number:03d}.parquet")

    def kill(row: Mapping[str, Any], progress: Any) -> None:
        if progress.done == 3:
            os.kill(next(iter(workers._pool._processes)), signal.SIGKILL)

    with LocalPool(1) as workers:
        done = identify_fleet(str(tmp_path / "runs"), tmp_path / "fleet", PLAIN, executor=workers, on_row=kill)
    assert (done.done, done.errors) == (8, 0)
    rows = rows_of(tmp_path / "fleet")
    assert len({row["source"] for row in rows}) == len(rows) == 8
    assert len({row["mass"] for row in rows}) == 1


def test_many_recordings_in_memory(recorded: Make, pool: LocalPool) -> None:
    still = Recording("ur5e").with_signal("q", time=np.arange(50) / 100, values=np.zeros((50, 6)))
    found = identify_many([recorded(2.0, 1), still, recorded(3.0, 2)], "ur5e", executor=pool)
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
        ({"metod": "ls"}, InputError, r"takes no metod=. Did you mean method=\?"),
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
        ({"recordings": Path("runs")}, InputError, "must be a list of recordings.*, got 'runs'"),
        ({"recordings": ["a.csv"]}, InputError, r"recordings\[0\] is no Recording, but 'a.csv': Recording.load reads"),
        ({"recordings": [Recording("ur5e"), None]}, InputError, r"recordings\[1\] is no Recording, but a NoneType"),
        ({"recordings": Recording("ur5e")}, InputError, "got a Recording"),
        ({"recordings": None}, InputError, "got a NoneType"),
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


def test_what_an_iterable_holds_is_checked_as_it_is_taken(recorded: Make) -> None:
    with pytest.raises(InputError, match=r"recordings\[1\] is no Recording"):
        identify_many(iter([recorded(), "x.csv"]), "ur5e", executor=ThreadPoolExecutor(1))  # type: ignore[list-item]


def test_bags_need_who_reads_them(tmp_path: Path) -> None:
    (tmp_path / "one.mcap").write_bytes(b"x")
    settings = FleetSettings(robot="ur5e")
    identify_fleet(str(tmp_path / "*.mcap"), tmp_path / "none", settings, executor=ThreadPoolExecutor(1))
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
    for resume in (False, True):
        done = identify_fleet(
            str(tmp_path / "runs"), tmp_path / "fleet", PLAIN, executor=ThreadPoolExecutor(1), resume=resume
        )
        assert (done.found, done.errors) == (10, 2 if resume else 5)  # what the store did not give is tried again
    rows = {row["source"]: row for row in rows_of(tmp_path / "fleet")}
    kinds = {name: row["error_kind"] for name, row in rows.items() if row["error"]}
    assert kinds == {
        "dead.parquet": "store",
        "empty.parquet": "refused",
        "endless.csv": "refused",
        "loop.csv": "store",
        "pipe.csv": "refused",
    }
    assert "no file with contents" in rows["pipe.csv"]["error"]
    assert not any(str(tmp_path) in str(value) for row in rows.values() for value in row.values())
    assert "bad\\udcff.parquet" in rows


def test_the_time_left_is_told() -> None:
    progress = iparam.fleet.Progress(20, 100, 0, 10.0)
    assert (progress.rate, progress.seconds_left) == (2.0, 40.0)


def test_the_folder_of_the_recordings_is_not_that_of_the_table(useless: Path) -> None:
    logs = useless
    (logs / "recordings.parquet").write_bytes(b"a recording of this name")
    with pytest.raises(InputError, match=r"the folder of the table: choose another"):
        identify_fleet(str(logs), logs, FleetSettings(robot="ur5e"), overwrite=True)
    assert (logs / "recordings.parquet").read_bytes() == b"a recording of this name"
    with pytest.raises(InputError, match=r"settings must be FleetSettings, got str"):
        identify_fleet(str(logs), logs.parent / "out", "ur5e")  # type: ignore[arg-type]
