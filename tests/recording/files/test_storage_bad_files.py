"""Damaged, strange and misleading files: a clear error or a recorded warning, and what is readable is kept."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from iparam.errors import FileFormatError, InputError, UnknownNameError
from iparam.recording import Recording, Signal
from iparam.recording.files import storage

HEADER = "time,q0,q1,fx,fy,fz,tx,ty,tz"
ROW = "{},0.1,0.2,1,2,3,4,5,6"


def write(path: Path, *lines: str, end: str = "\n") -> Path:
    path.write_text("\n".join(lines) + end)
    return path


def rows(count: int) -> list[str]:
    return [ROW.format(i / 100) for i in range(count)]


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\x00\x01\x02\xff" * 100, "not text"),
        (b"t\x00i\x00m\x00e\x00", "not text"),
        (b"\xff\xfet\x00i\x00m\x00e\x00", "no samples"),
        (b"\xff\xfe\x00\xd8\x00\xd8", "begins as text in UTF-16"),
        (b"\xff\xfet", "begins as text in UTF-16"),
        (b"\xfe\xfd\n1,2\n", "no column .time."),
        (b"\x1f\x8b\x08\x00", r"is packed: unpack it first, by: gunzip .*run\.csv"),
        (b"time,q0\n", "no samples"),
        (b"a,b\n1,2\n", "no column 'time'"),
        (b"1,2,3\n4,5,6\n", "has no header.*columns ="),
        (b"time,q0,q0\n1,2,3\n", "'q0' more than once"),
        (b"time,note\n1,hello\n", "holds no usable samples"),
        (b"time,q0\nx,2\ny,3\n", "2 of 2 rows .*'x'.* line 2-3"),
        (b"time," + b",".join(b"a%d" % i for i in range(2000)) + b"\n", "has more than the 2000 columns that are read"),
        (b"PAR1", "cut|cannot"),
        (b"PAR1 no parquet PAR1", "cannot be read as Parquet"),
    ],
)
def test_unreadable_contents(contents: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(contents)
    with pytest.raises(FileFormatError, match=message):
        Recording.load(path)


def test_unreadable_paths(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="is a directory"):
        Recording.load(tmp_path)
    with pytest.raises(FileFormatError, match=r"cannot read .*No such file"):
        Recording.load(tmp_path / "none.csv")
    with pytest.raises(FileFormatError, match="cannot read"):
        Recording.load("nul\0byte.csv")
    with pytest.raises(InputError, match="read from a path"):
        Recording.load(3)  # type: ignore[arg-type]


@pytest.mark.skipif(os.name == "nt", reason="special files of POSIX")
def test_a_pipe_is_read_and_a_device_is_not(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    with os.fdopen(theirs, "wb") as stream:
        stream.write("\n".join([HEADER, *rows(20), ""]).encode())
    assert Recording.load(f"/dev/fd/{ours}").signal("q").num_samples == 20
    os.close(ours)
    with pytest.raises(FileFormatError, match="is a device, not a recording"):
        Recording.load("/dev/zero")


def test_a_file_that_ends_in_the_middle_of_a_row(tmp_path: Path) -> None:
    path = write(tmp_path / "run.csv", HEADER, *rows(50), "0.5,0.1,0.2,1,2", end="")
    found = Recording.load(path)
    assert found.signal("q").num_samples == 50
    assert [(one.code, one.values) for one in found.remarks] == [("row-cut", {"line": 52})]


@pytest.mark.parametrize(("last", "kept"), [("0.5,0.12,1.2345", True), ("0.5,0.12,1.2", False), ("0.5,0.12,1", False)])
def test_a_last_row_that_may_be_cut_inside_its_last_number(last: str, kept: bool, tmp_path: Path) -> None:
    path = write(tmp_path / "run.csv", "time,q0,q1", "0.4,0.12,1.2345", last, end="")
    found = Recording.load(path)
    assert found.signal("q").num_samples == 1 + kept
    assert [one.code for one in found.remarks] == [] if kept else ["row-cut"]


def test_damaged_rows_are_left_out_and_named(tmp_path: Path) -> None:
    lines = rows(5000)
    lines[10] = lines[10][:12]
    lines[20] = "%%%"
    lines[30] = lines[30].replace("0.1", "x", 1)
    lines[40] = ROW.format(0.4).replace(",1,", ",nan,")
    lines[41] = ROW.format(0.41).replace(",1,", ",inf,")
    lines[60] = ""
    found = Recording.load(write(tmp_path / "run.csv", HEADER, *lines))
    assert found.signal("q").num_samples == 4996
    assert found.signal("wrench").num_samples == 4994
    said = {one.code: one.values for one in found.remarks}
    assert said["rows-of-other-width"] == {"count": 2, "columns": 9, "lines": "12, 22"}
    assert said["rows-with-text"] == {"count": 1, "example": "'x'", "lines": "32"}
    assert said["samples-not-finite"] == {"signal": "wrench", "count": 2, "word": "line", "lines": "42-43"}
    assert not any(one.lowers for one in found.remarks)


def test_a_sensor_at_a_lower_rate_has_empty_cells(tmp_path: Path) -> None:
    lines = [ROW.format(i / 100) if i % 4 == 0 else f"{i / 100},0.1,0.2,,,,,," for i in range(40)]
    found = Recording.load(write(tmp_path / "run.csv", HEADER, *lines))
    assert found.signal("q").num_samples == 40
    assert found.signal("wrench").num_samples == 10
    assert found.remarks == ()


def test_missing_columns_cost_their_signal_only(tmp_path: Path) -> None:
    lines = ["time,q0,q1,fx,fy,fz,tx,ty,dq1", *(f"{i / 100},0,0,1,1,1,1,1,9" for i in range(9))]
    found = Recording.load(write(tmp_path / "run.csv", *lines))
    assert list(found.signals) == ["q"]
    with pytest.raises(UnknownNameError, match="wrench was left out: tz missing"):
        found.signal("wrench")
    said = [one.values for one in found.remarks if one.code == "signal-incomplete"]
    assert {"signal": "dq", "columns": "dq0"} in said


def test_columns_that_say_nothing_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "run.csv", "time,state,q0", "0,idle,1", "0.01,moving,2", "0.02,moving,3")
    found = Recording.load(path)
    assert found.signal("q").num_samples == 3
    assert [(one.code, one.values) for one in found.remarks] == [("columns-unknown", {"columns": "state"})]


def test_repeated_and_stray_times_cost_only_themselves(tmp_path: Path) -> None:
    times = [i / 100 for i in range(200)]
    times[50] = times[49]
    times[70] = 1e9
    times[90] = 0.2
    found = Recording.load(write(tmp_path / "run.csv", HEADER, *(ROW.format(t) for t in times)))
    assert found.signal("q").num_samples == 197
    assert found.signal("q").time[-1] == 1.99
    said = {one.code: one.values for one in found.remarks}
    assert (said["time-repeated"]["count"], said["time-repeated"]["lines"]) == (1, "52")
    assert (said["rows-out-of-order"]["count"], said["rows-out-of-order"]["lines"]) == (2, "72, 92")


@pytest.mark.parametrize("repeated", [0, 1])
@pytest.mark.parametrize("order", ["backwards", "shuffled"])
def test_rows_in_another_order_are_sorted(tmp_path: Path, order: str, repeated: int) -> None:
    """Rows from the last to the first were one stretch each: a single sample was left, and no way out was named."""
    times = np.arange(300) / 100
    rows = times[::-1] if order == "backwards" else np.random.default_rng(0).permutation(times)
    lines = [ROW.format(t) for t in [*rows, times[7]][: 300 + repeated]]
    found = Recording.load(write(tmp_path / "run.csv", HEADER, *lines))
    np.testing.assert_array_equal(found.signal("q").time, times)
    assert [one.values["count"] for one in found.remarks if one.code == "rows-sorted"] == [repeated]


def test_a_clock_that_was_set_back_keeps_the_longest_stretch(tmp_path: Path) -> None:
    times = [i / 100 for i in range(100)] + [i / 100 for i in range(300)]
    found = Recording.load(write(tmp_path / "run.csv", HEADER, *(ROW.format(t) for t in times)))
    assert found.signal("q").num_samples == 300
    said = found.remarks[0]
    assert (said.code, said.values["steps"]) == ("clock-set-back", 1)
    assert (said.values["first"], said.values["last"], said.values["count"]) == (102, 401, 100)


def test_jumps_in_time_are_reported(tmp_path: Path) -> None:
    times = [i / 100 + 5 * (i > 50) for i in range(100)]
    found = Recording.load(write(tmp_path / "run.csv", HEADER, *(ROW.format(t) for t in times)))
    (said,) = [one for one in found.remarks if one.code == "gaps" and one.values["signal"] == "q"]
    assert (said.values["count"], said.values["longest"], said.values["start"]) == (1, pytest.approx(5.01), 0.5)


def test_milliseconds_are_suspected(tmp_path: Path) -> None:
    found = Recording.load(write(tmp_path / "run.csv", HEADER, *(ROW.format(2 * i) for i in range(100))))
    assert {"time_unit": "ms"} in [one.fix for one in found.remarks if one.code == "time-unit-doubtful"]


def test_two_clocks_are_refused(tmp_path: Path) -> None:
    lines = [f"{i / 100},0,0,,,,,," for i in range(9)] + [f"{1e6 + i / 100},,,1,1,1,1,1,1" for i in range(9)]
    with pytest.raises(FileFormatError, match=r"no time in common: q 0 to 0\.08 s, wrench 1e\+06 .*two clocks"):
        Recording.load(write(tmp_path / "run.csv", HEADER, *lines))


def moving(frozen_from: float | None = None, scale: float = 1.0) -> Recording:
    time = np.arange(1000) / 100
    rng = np.random.default_rng(0)
    wrench = rng.normal(size=(1000, 6))
    if frozen_from is not None:
        wrench[time >= frozen_from, 2] = 3.5
    q = 2.5 * scale * np.sin(time[:, None] + np.arange(6))
    made = Recording("").with_signal("q", time=time, values=q).with_signal("wrench", time=time, values=wrench)
    return made.with_signal("dq", time=time, values=np.gradient(q, time, axis=0))


def test_a_dropped_sensor_is_reported_with_its_time(tmp_path: Path) -> None:
    moving(4.0).save(tmp_path / "run.csv")
    found = Recording.load(tmp_path / "run.csv")
    values = {"signal": "wrench", "component": 2, "value": 3.5, "start": 4.0, "stop": 9.99}
    assert [(one.code, one.values) for one in found.remarks] == [("signal-frozen", values)]
    whole = moving()
    ended = whole.with_signal("wrench", whole.signal("wrench").slice(0, 3))
    ended.save(tmp_path / "run.parquet")
    said = Recording.load(tmp_path / "run.parquet").remarks[0]
    assert (said.code, said.values["signal"], said.values["end"]) == ("signal-ends-early", "wrench", 3.0)
    assert said.values["missing"] == pytest.approx(6.99)


def test_an_arm_at_rest_is_no_dropped_sensor(tmp_path: Path) -> None:
    time = np.arange(500) / 100
    still = Recording().with_signal("q", time=time, values=np.zeros((500, 6)))
    still.with_signal("wrench", time=time, values=np.ones((500, 6))).save(tmp_path / "run.csv")
    assert Recording.load(tmp_path / "run.csv").remarks == ()


def test_degrees_are_refused_and_converted_on_request(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    moving(scale=180 / np.pi).save(path)
    with pytest.raises(FileFormatError, match=r"looks like degrees.*angles = degrees"):
        Recording.load(path, robot="ur5e")
    said = Recording.load(path).remarks[0]
    assert (said.code, said.fix) == ("angles-large", {"angles": "degrees"})
    found = Recording.load(path, robot="ur5e", angles="degrees")
    assert np.allclose(found.signal("q").values, moving().signal("q").values, rtol=1e-12)
    assert np.allclose(found.signal("dq").values, moving().signal("dq").values, rtol=1e-12)
    assert np.array_equal(found.signal("wrench").values, moving().signal("wrench").values)
    assert found.robot == "ur5e"
    assert np.abs(Recording.load(path, robot="ur5e", angles="radians").signal("q").values).max() > 100
    with pytest.raises(UnknownNameError, match="radians, degrees"):
        Recording.load(path, angles="turns")  # type: ignore[arg-type]


def test_velocities_give_degrees_away_too(tmp_path: Path) -> None:
    made = moving(scale=0.01)
    fast = Signal(made.signal("dq").time, 5000 * made.signal("dq").values, "rad/s", "joint")
    made.with_signal("dq", fast).save(tmp_path / "run.csv")
    with pytest.raises(FileFormatError, match=r"dq0 reaches .*looks like deg/s, and q is in rad\. Convert its columns"):
        Recording.load(tmp_path / "run.csv", robot="ur5e")
    made.without_signal("q").with_signal("dq", fast).save(tmp_path / "run.csv")
    with pytest.raises(FileFormatError, match=r"dq0 reaches .*looks like degrees.*angles = degrees"):
        Recording.load(tmp_path / "run.csv", robot="ur5e")


def test_the_number_of_joints_has_to_be_the_robots(tmp_path: Path) -> None:
    path = write(tmp_path / "run.csv", HEADER, *rows(5))
    with pytest.raises(FileFormatError, match="q has 2 columns, but ur5e has 6 joints"):
        Recording.load(path, robot="ur5e")
    path = write(tmp_path / "two.csv", "time,q0,q1,dq0", "0,1,1,1", "1,1,1,1")
    with pytest.raises(FileFormatError, match="dq has 1 column, but other signals have 2 joints"):
        Recording.load(path)


def test_other_separators_and_line_ends(tmp_path: Path) -> None:
    for name, text in {
        "semicolon": "time;q0\n0;1\n1;2\n",
        "tabs": "time\tq0\n0\t1\n1\t2\n",
        "windows": "time,q0\r\n0,1\r\n1,2\r\n",
        "marked": "\ufefftime,q0\n0,1\n1,2\n",
        "quoted": '"time","q0"\n"0","1"\n"1","2"\n',
        "spaced": "time, q0\n0, 1\n1, 2\n",
    }.items():
        path = tmp_path / f"{name}.csv"
        path.write_bytes(text.encode())
        assert Recording.load(path).signal("q").values.tolist() == [[1.0], [2.0]], name


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts the threads of a process as Linux does")
def test_no_thread_is_left_that_python_could_end_under(tmp_path: Path) -> None:
    """A thread of Arrow's that lets go of a text while Python ends aborts the process: one run in twenty did.

    Arrow's own thread for signals, which holds nothing, is allowed.
    """
    write(tmp_path / "run.csv", HEADER, *rows(20))
    script = (
        "import os, pyarrow.csv, iparam; tasks = lambda: len(os.listdir('/proc/self/task'));"
        "before = tasks(); iparam.Recording.load('run.csv'); print(tasks() - before)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 1


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_pipe_that_nobody_writes_to_is_not_waited_for_without_end(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(storage, "LONGEST_SILENCE", 0.1)
    os.mkfifo(tmp_path / "run.csv")
    with pytest.raises(FileFormatError, match=r"nothing came out of the pipe for 0\.1 s"):
        Recording.load(tmp_path / "run.csv")


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
@pytest.mark.parametrize("late", [0.0, 0.3])
def test_a_pipe_is_read_whenever_its_writer_comes(tmp_path: Path, late: float) -> None:
    path = tmp_path / "run.csv"
    os.mkfifo(path)
    text = "\n".join([HEADER, *(ROW.format(i / 100) for i in range(20))]) + "\n"
    writer = threading.Timer(late, path.write_text, (text,))
    writer.start()
    assert Recording.load(path).signal("q").num_samples == 20
    writer.join()
