"""Which files are recordings, what they are called, and what their names say."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

import pytest

from iparam.errors import FileFormatError, InputError
from iparam.fleet import Layout, find_logs

UTC = datetime.UTC


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "a/1.parquet", "a/2.CSV", "a/notes.txt", "b/1.parquet", "b/deep/er/3.mcap", "b/[x].npz",
        "bags/one/metadata.yaml", "bags/one/0.mcap", "bags/one/1.mcap", "bags/two/metadata.yaml",
    ):  # fmt: skip
        (tmp_path / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "logs" / name).write_text("12", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "logs"


def names(*patterns: str | Path, **options: Path) -> list[str]:
    return [log.name for log in find_logs(patterns, **options)]


def test_folders_files_and_globs(logs: Path) -> None:
    every = ["a/1.parquet", "a/2.CSV", "b/1.parquet", "b/[x].npz", "b/deep/er/3.mcap", "bags/one"]
    assert names("logs") == names(logs) == names("logs/**") == every
    assert names("logs/*/1.parquet") == ["a/1.parquet", "b/1.parquet"]
    assert names("logs/**/*.parquet", "logs/a") == ["a/1.parquet", "a/2.CSV", "b/1.parquet"]
    assert names("logs/a/1.parquet") == ["1.parquet"]
    assert names("logs/a/1.parquet", "logs/b/1.parquet") == ["a/1.parquet", "b/1.parquet"]  # as a shell expands a glob
    assert names("logs/a/*.txt") == ["notes.txt"]
    assert names("logs/b/[x].npz") == ["[x].npz"]
    assert names("logs", outside=logs / "b") == [name for name in every if not name.startswith("b/")]


def test_a_bag_of_several_files_is_one_recording(logs: Path) -> None:
    for pattern in ("logs/bags", "logs/bags/*/*.mcap", "logs/bags/one/0.mcap", "logs/bags/one"):
        (log,) = find_logs([pattern])
        assert log.is_bag
        assert log.path == logs / "bags" / "one"
        assert log.size == 6
        assert log.modified == max(file.stat().st_mtime_ns for file in log.path.iterdir())


@pytest.mark.parametrize("pattern", ["nowhere", "logs/nothing*", "logs/bags/two", "logs/a/*.txt2"])
def test_nothing_there(logs: Path, pattern: str) -> None:
    with pytest.raises(FileFormatError, match=r"is not there|has no recordings"):
        find_logs([pattern])


@pytest.mark.parametrize("pattern", ["", "a\0b"])
def test_what_is_no_pattern(pattern: str) -> None:
    with pytest.raises(InputError, match="a pattern is a folder"):
        find_logs([pattern])


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_a_dead_link_is_a_log_that_cannot_be_read(logs: Path) -> None:
    (logs / "a" / "dead.csv").symlink_to("nowhere")
    (dead,) = [log for log in find_logs(["logs"]) if log.name == "a/dead.csv"]
    assert (dead.size, dead.modified) == (0, 0)


def test_what_a_name_says() -> None:
    when = datetime.datetime(2026, 11, 3, 4, 5, tzinfo=UTC)
    for text, name, wanted in (
        ("{arm}/{tool}/{time}", "hall/a1/saw/20261103-0405.parquet", {"arm": "a1", "tool": "saw", "recorded": when}),
        ("{arm}/{tool}/{time}", "a1/saw/2026-11-03T04:05", {"arm": "a1", "tool": "saw", "recorded": when}),
        ("{arm}-*.csv", "hall/a1-7.csv", {"arm": "a1"}),
        ("{arm}-*.csv", "hall/a1-7.parquet", None),
        ("{arm}/**/{time}.mcap.zstd", "a1/x/y/202611030405.mcap.zstd", {"arm": "a1", "recorded": when}),
        ("{tool}/{time}", "saw/run7.csv", {"tool": "saw"}),
    ):  # fmt: skip
        assert Layout(text).labels(name) == wanted


def test_a_time_zone_is_kept() -> None:
    found = Layout("{time}.csv").labels("2026-11-03T04:05:06+02:00.csv")
    assert found == {"recorded": datetime.datetime(2026, 11, 3, 2, 5, 6, tzinfo=UTC)}


def test_names_that_do_not_fit() -> None:
    assert Layout("{arm}").misfits(["a.csv", "b.parquet"]) is None
    remark = Layout("{arm}/{tool}").misfits(["a/b.csv", *(f"{number}.csv" for number in range(5))])
    assert remark is not None
    assert (remark.code, remark.values["count"], remark.values["recordings"]) == ("layout-misfits", 5, 6)
    assert remark.values["names"] == "0.csv, 1.csv, 2.csv and 2 more"
    with pytest.raises(InputError, match=r"fits none of the recordings: x.csv$"):
        Layout("{arm}/{tool}").misfits(["x.csv"])


@pytest.mark.parametrize("text", ["", "runs/*.csv", "{robot}/{tool}", "{arm}/{arm}"])
def test_what_is_no_layout_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"must name some of \{arm\}, \{tool\}, \{time\}, each once"):
        Layout(text)
