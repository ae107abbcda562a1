"""Rows that a logger garbled: left out, counted and listed up to a share, and no reason to doubt the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from iparam.errors import FileFormatError
from iparam.recording import Recording
from iparam.recording.files.garbled_rows import GARBLED_SHARE, LONGEST_RUN, absurd_rows

HEADER = "time,q0,q1,q2,q3,q4,q5,tau0,tau1,tau2,tau3,tau4,tau5"
COUNT = 6000


def rows(count: int = COUNT) -> list[str]:
    time = np.arange(count) / 500
    q = 2.5 * np.sin(0.7 * time[:, None] + np.arange(6))
    tau = 20.0 * np.cos(0.7 * time[:, None] + np.arange(6))
    return [",".join(f"{value:.6f}" for value in row) for row in np.column_stack([time, q, tau])]


def write(folder: Path, lines: list[str]) -> Path:
    path = folder / "run.csv"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


def test_two_garbled_rows_among_thousands_cost_themselves(tmp_path: Path) -> None:
    """A truncated line, and one in which fields overlap so that an angle reads 253: no degrees, and no refusal."""
    lines = rows()
    cells = lines[3000].split(",")
    cells[2] = "253.118"
    lines[2000], lines[3000] = lines[2000][:40], ",".join(cells)
    found = Recording.load(write(tmp_path, lines), robot="ur5e")
    whole = Recording.load(write(tmp_path, rows()), robot="ur5e")
    assert whole.remarks == ()
    np.testing.assert_array_equal(found.signal("q").values, np.delete(whole.signal("q").values, [2000, 3000], axis=0))
    assert found.signal("tau").num_samples == COUNT - 2  # the whole row went
    assert [(one.code, dict(one.values)) for one in found.remarks] == [
        ("rows-of-other-width", {"count": 1, "columns": 13, "lines": "2002"}),
        ("rows-absurd", {"count": 1, "example": "q1 = 253.1", "lines": "3002"}),
    ]


@pytest.mark.parametrize(
    ("cell", "kept"),
    [("1.25-0.3", False), ("0.1.2", False), ("abc", False), ("1_0", False), ("nan", True), ("", True), ("N/A", True)],
)
def test_text_is_told_from_a_cell_without_a_number(cell: str, kept: bool, tmp_path: Path) -> None:
    lines = rows(500)
    parts = lines[100].split(",")
    parts[2] = cell
    lines[100] = ",".join(parts)
    found = Recording.load(write(tmp_path, lines))
    assert found.signal("q").num_samples == 499
    assert found.signal("tau").num_samples == (500 if kept else 499)
    if not kept:
        values = {"count": 1, "example": repr(cell), "lines": "102"}
        assert [(one.code, one.values) for one in found.remarks] == [("rows-with-text", values)]


def test_above_the_share_the_file_is_refused_with_the_lines(tmp_path: Path) -> None:
    lines = rows()
    allowed = int(GARBLED_SHARE * COUNT)
    for row in range(allowed):
        lines[50 * row] = lines[50 * row][:30]
    assert Recording.load(write(tmp_path, lines)).signal("q").num_samples == COUNT - allowed
    lines[5999] = lines[5999].replace(".", "?", 3)
    told = rf"run\.csv: {allowed + 1} of {COUNT} rows are garbled, and at most 1 % .*line 2, 52, .* line 6001.*rows="
    with pytest.raises(FileFormatError, match=told):
        Recording.load(write(tmp_path, lines))
    part = Recording.load(write(tmp_path, lines), rows="3001:3049")  # the way out that was named
    assert part.signal("q").num_samples == 48
    assert part.remarks == ()


def test_one_garbled_row_is_always_left_out(tmp_path: Path) -> None:
    lines = rows(30)
    lines[7] = lines[7][:30]
    assert Recording.load(write(tmp_path, lines)).signal("q").num_samples == 29


def test_what_lasts_was_measured(tmp_path: Path) -> None:
    """A longer excursion stays, also of an arm that rests nearly all the time; so does an impact."""
    time = np.arange(5000) / 500
    q = np.zeros((5000, 2))
    q[2000:2050, 0] = 1.5 * np.sin(np.linspace(0, np.pi, 50))
    assert absurd_rows({"q0": q[:, 0], "q1": q[:, 1]}) == (None, "")
    force = np.random.default_rng(0).normal(0.0, 0.5, 5000)
    force[3000] = 60.0
    assert absurd_rows({"fx": force, "fy": force + 1.0}) == (None, "")
    force[3000] = 6e5
    found, example = absurd_rows({"fx": force})
    assert found is not None
    assert np.flatnonzero(found).tolist() == [3000]
    assert example == "fx = 6e+05"
    assert time.size == found.size


@pytest.mark.parametrize("length", [1, LONGEST_RUN, LONGEST_RUN + 1])
def test_runs_of_absurd_values(length: int) -> None:
    q = np.sin(np.arange(1000) / 50)
    q[:length] = 300.0
    q[500 : 500 + length] = -300.0
    found, _ = absurd_rows({"q0": q})
    assert (found is None) == (length > LONGEST_RUN)
    if found is not None:
        assert found.sum() == 2 * length


@pytest.mark.parametrize("scale", [1.0, 180 / np.pi])
def test_sound_columns_are_never_absurd(scale: float) -> None:
    """Noise, steps, spikes, rest, single rows of poses: nothing that was measured is taken for garbled."""
    rng = np.random.default_rng(1)
    steps = np.repeat(rng.uniform(-2.0, 2.0, 20), 100)
    columns = {
        "q0": scale * steps,
        "q1": scale * np.zeros(2000),
        "q2": scale * rng.uniform(-3.0, 3.0, 2000),
        "tau0": rng.standard_t(2.0, 2000),
        "tau1": np.zeros(2000),
        "current0": np.zeros(2000),
    }
    assert absurd_rows(columns) == (None, "")
    assert absurd_rows({"q0": np.full(2000, np.nan), "q1": np.array([])}) == (None, "")


def test_a_few_samples_do_not_make_degrees(tmp_path: Path) -> None:
    """Beyond the arm's limits for longer than a garbled row, and still far from being what the file is in."""
    lines = rows()
    for row in range(1000, 1010):
        parts = lines[row].split(",")
        parts[3] = "31.5"
        lines[row] = ",".join(parts)
    path = write(tmp_path, lines)
    (said,) = Recording.load(path, robot="ur5e").remarks
    assert (said.code, said.values["signal"], said.values["joint"]) == ("outliers-beyond-limit", "q", 2)
    assert (said.values["largest"], said.values["count"], said.values["samples"]) == (31.5, 10, 6000)
    assert Recording.load(path).remarks == ()  # an arm that is not known
