"""A disk without room, here a limit on the size of files: whole rows stay, what is there is said, the arm stops."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.ur_controller.twin import UrTwin

import iparam
from iparam.bridges.ur.record.recorder import ArmRecorder, RecorderSettings
from iparam.bridges.ur.record.rows import BLOCK, GrowingRows
from iparam.bridges.ur.record.spill_file import SpillError, SpillFile
from iparam.cli.main import main
from iparam.cli.ur.options import UnsavedRecordingError, save_and_clean
from iparam.trajectory import load_trajectory

resource = pytest.importorskip("resource")
CALM = Path(__file__).parents[3] / "data" / "calm_ur5e.json"
ROWS = 60


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process may grow beyond ``size`` bytes; a write is cut there, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def batch(first: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    time = 0.002 * np.arange(first, first + ROWS)
    return time, {"q": np.sin(time[:, None] + np.arange(6)), "wrench": np.cos(time[:, None] * np.arange(1, 7))}


def test_only_whole_rows_stay_and_a_later_call_goes_on(tmp_path: Path) -> None:
    spill = SpillFile(tmp_path / "run.parquet")
    spill.append(*batch(0))
    full = spill.path.stat().st_size
    for more in range(full, 2 * full, full // 7):  # cut at many places of a row
        time, signals = batch(spill.rows)
        with room_for(more), pytest.raises(SpillError, match="cannot be written"):
            spill.append(time, signals)
        assert spill.path.read_bytes().endswith(b"\n")
        assert spill.path.stat().st_size <= more
        kept = iparam.Recording.load(spill.path, robot="ur5e")
        assert kept.remarks == ()
        assert kept.signal("q").num_samples == spill.rows
        assert kept.signal("q").time[-1] == spill.until
        np.testing.assert_array_equal(kept.signal("q").time, 0.002 * np.arange(spill.rows))
    assert ROWS < spill.rows < 2 * ROWS
    assert f"holds {spill.rows} samples, up to {spill.until:.2f} s" in spill.held
    spill.append(*batch(spill.rows))
    np.testing.assert_array_equal(
        iparam.Recording.load(spill.path, robot="ur5e").signal("q").time, 0.002 * np.arange(spill.rows)
    )
    spill.close()
    assert spill.path.exists()


@pytest.mark.parametrize("room", [0, 10, 70])
def test_a_file_without_a_whole_row_is_not_left(tmp_path: Path, room: int) -> None:
    """With a part of its heading, or with all of it."""
    spill = SpillFile(tmp_path / "run.parquet")
    with room_for(room), pytest.raises(SpillError):
        spill.append(*batch(0))
    assert spill.rows == 0
    assert spill.path.stat().st_size == 0
    assert spill.held == "nothing of it is on disk"
    spill.append(*batch(0))  # there is room again
    assert spill.rows == ROWS
    assert iparam.Recording.load(spill.path, robot="ur5e").signal("q").num_samples == ROWS
    spill.close()
    other = SpillFile(tmp_path / "other.parquet")
    other.close()
    assert [path.name for path in tmp_path.iterdir()] == ["run.parquet.partial.csv"]


def test_a_recording_that_finds_no_room_says_what_is_on_disk(
    twin: UrTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run.csv"  # which takes as much room as the partial one
    with room_for(200_000):
        code = main(["ur", "record", "--host", twin.host, "--duration", "3", "--output", str(output)])
    assert code == 1
    err = capsys.readouterr().err
    partial = tmp_path / "run.csv.partial.csv"
    assert [path.name for path in tmp_path.iterdir()] == [partial.name]
    kept = iparam.Recording.load(partial, robot="ur5e")
    assert kept.remarks == ()
    q = kept.signal("q")
    held = f"{partial} holds {q.num_samples} samples, up to {q.time[-1]:.2f} s"
    note, error = err.splitlines()
    assert f"({os.strerror(27)}); {held}. What comes now is in memory alone" in note
    assert f"the recording could not be saved: cannot write '{output}'" in error
    assert f"{held} of the " in error


def test_a_recording_without_room_is_refused_beforehand(
    twin: UrTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run.parquet"
    assert main(["ur", "record", "--host", twin.host, "--duration", "1e10", "--output", str(output)]) == 2
    assert re.search(
        r"1e\+10 s at 500 Hz take \d+ MB, .* MB free, enough for \d+ s: make room", capsys.readouterr().err
    )
    assert not list(tmp_path.iterdir())


def test_another_arms_name_is_not_believed(twin: UrTwin, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "run.parquet"
    words = ["ur", "record", "--host", twin.host, "--duration", "0.2", "--output", str(output)]
    assert main([*words, "--robot", "ur10e"]) == 2
    err = capsys.readouterr().err
    assert "--robot ur10e: " in err
    assert "Leave --robot out to record the arm that the controller names" in err
    assert not list(tmp_path.iterdir())
    assert main([*words, "--robot", "ur5e"]) == 0


def test_a_recording_goes_elsewhere_where_its_folder_takes_it_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that is full: here the folder is gone."""
    place, other = tmp_path / "gone", tmp_path / "elsewhere"
    for folder in (place, other):
        folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(other))
    spill = SpillFile(place / "run.parquet")
    time = np.arange(5) * 0.002
    spill.append(time, {"q": np.zeros((5, 6))})
    shutil.rmtree(place)
    recording = iparam.Recording("ur5e").with_signal("q", time=time, values=np.zeros((5, 6)))
    recorder = ArmRecorder(RecorderSettings("127.0.0.1", iparam.load_robot("ur5e"), "ur5e"))
    monkeypatch.setattr(ArmRecorder, "duration", 0.008)
    with pytest.raises(UnsavedRecordingError, match=r"All of it, 0.01 s, is in .*elsewhere/run\.parquet: move it"):
        save_and_clean(recorder, recording, place / "run.parquet", spill)
    assert iparam.Recording.load(other / "run.parquet").signal("q").num_samples == 5


def test_a_run_that_finds_no_room_stops_the_arm(
    make_twin: Callable[..., UrTwin], start_command: Callable[..., Any], tmp_path: Path
) -> None:
    pytest.importorskip("rtde_control")
    slow = load_trajectory(CALM).trajectory.time_scaled(2.0)  # 8 s
    start = slow.evaluate(0.0).q[0]
    iparam.trajectory.save_trajectory(tmp_path / "slow.json", slow, robot="ur5e", fps=100.0)
    twin = make_twin(q=start)
    output = tmp_path / "run.parquet"
    limit = 1_500_000  # some one and a half seconds
    options = ["--host", twin.host, "--yes", "--max-silence", "2", "--max-deviation", "0.25", "--output", str(output)]
    done = start_command("ur", "run", str(tmp_path / "slow.json"), *options, largest_file=limit)
    assert done.wait(180.0) == 1
    assert "the run was stopped: the recording can no longer be kept" in done.err
    assert float(np.abs(twin.sample.dq).max()) < 1e-3
    assert float(np.abs(twin.sample.q - slow.evaluate(8.0).q[0]).max()) > 0.02  # before its end
    # Parquet takes less room than text: the whole recording was saved after all.
    assert f"s were saved to {output}" in done.err
    assert iparam.Recording.load(output).metadata["stopped_by"].startswith("the recording can no longer be kept")
    assert not list(tmp_path.glob("*partial*"))


def test_rows_in_blocks_are_rows() -> None:
    rows = GrowingRows(2)
    assert rows.latest() is None
    assert rows.since(0).shape == (0, 2)
    for number in range(BLOCK + 3):
        rows.append(np.array([number, -number]))
    assert len(rows) == BLOCK + 3
    np.testing.assert_array_equal(rows.since(0)[:, 0], np.arange(BLOCK + 3))
    np.testing.assert_array_equal(rows.since(BLOCK - 1)[:, 1], -np.arange(BLOCK - 1, BLOCK + 3))
    np.testing.assert_array_equal(rows.since(BLOCK + 1)[:, 0], [BLOCK + 1, BLOCK + 2])
    assert rows.since(BLOCK + 3).shape == (0, 2)
    np.testing.assert_array_equal(rows.latest(), [BLOCK + 2, -BLOCK - 2])
