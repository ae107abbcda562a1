"""The same run, as other programs write it, gives the same result by the options that say how to read it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import SimulatedRun
from scipy.io import savemat

from iparam.cli.main import main

SPLIT = "120:"


@pytest.fixture
def folder(run: SimulatedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with one run in several dresses."""
    monkeypatch.chdir(tmp_path)
    recording = run.recording
    q, wrench = recording.signal("q"), recording.signal("wrench")
    rows = np.searchsorted(wrench.time, q.time)
    same = (rows < wrench.time.size) & (wrench.time[np.minimum(rows, wrench.time.size - 1)] == q.time)
    time, q_values, wrench_values = q.time[same], q.values[same], wrench.values[rows[same]]
    table = np.column_stack([time, q_values, wrench_values])
    header = ["time", *(f"q{i}" for i in range(6)), "fx", "fy", "fz", "tx", "ty", "tz"]
    lines = [",".join(map(repr, row)) for row in table.tolist()]
    Path("run.csv").write_text("\n".join([",".join(header), *lines]) + "\n")
    others = ["stamp", *(f"axis_{i}" for i in range(1, 7)), *(f"ft[{i}]" for i in range(6))]
    Path("other.csv").write_text("\n".join([",".join(others), *lines]) + "\n")
    Path("bare.csv").write_text("\n".join(lines) + "\n")
    np.savez("run.npz", time=time, q=q_values, wrench=wrench_values)
    savemat("run.mat", {"log": {"t": time, "joints": np.degrees(q_values).T, "ft": wrench_values}})
    garbled = lines.copy()
    garbled[5], garbled[40] = garbled[5][:30], garbled[40].replace(",", ",9e5", 1)
    Path("garbled.csv").write_text("\n".join([",".join(header), *garbled]) + "\n")
    return tmp_path


def identified(command: str, capsys: pytest.CaptureFixture[str]) -> np.ndarray:
    assert main([*command.split(), "--robot", "ur5e", "--json"]) == 0, capsys.readouterr().err
    return np.array(json.loads(capsys.readouterr().out)["phi"])


@pytest.mark.usefixtures("folder")
def test_one_run_in_several_dresses(capsys: pytest.CaptureFixture[str]) -> None:
    expected = identified("identify payload run.csv", capsys)
    for command in (
        "identify payload run.npz",
        "identify payload other.csv --map time=stamp,q=axis_*,wrench=ft[?]",
        "identify payload bare.csv --columns time,q,wrench",
    ):
        np.testing.assert_array_equal(identified(command, capsys), expected, err_msg=command)
    degrees = identified("identify payload run.mat --map time=t,q=joints,wrench=ft --angles degrees", capsys)
    np.testing.assert_allclose(degrees, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.usefixtures("folder")
def test_a_part_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("run.csv").read_text().splitlines(keepends=True)
    Path("part.csv").write_text("".join([lines[0], *lines[121:]]))
    expected = identified("identify payload part.csv", capsys)
    np.testing.assert_array_equal(identified(f"identify payload run.csv --rows {SPLIT}", capsys), expected)
    start = lines[121].partition(",")[0]
    np.testing.assert_array_equal(identified(f"identify payload run.npz --time-range {start} 1e6", capsys), expected)


@pytest.mark.usefixtures("folder")
def test_garbled_rows_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "payload", "garbled.csv", "--robot", "ur5e"]) == 0
    said = capsys.readouterr().err
    assert "iparam: note: 1 rows do not have 13 columns and were left out: line 7" in said
    assert "1 rows hold" in said
    assert "and were left out: line 42" in said
