"""Tables in text as programs write them; headerless logs of controllers, and real ones where they are at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from iparam.errors import ContradictionError, FileFormatError, InputError
from iparam.recording import Recording

COLUMNS = "time,q,dq,current,target_current,target_torque"
REAL_LOGS = {
    "ur-20_01_17-ptp_10_points.csv",
    "ur-20_01_31-load.csv",
    "ur-20_01_31-unload.csv",
    "ur-20_02_10-30sec_12harm.csv",
    "ur-20_02_19_14harm50sec.csv",
    "ur-20_02_19_14harm50secLoad.csv",
}


def log(path: Path, count: int = 300, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = np.column_stack([np.cumsum(rng.uniform(0.010, 0.013, count)), rng.normal(size=(count, 30))])
    np.savetxt(path, table, fmt="%.6f", delimiter=",")
    return np.round(table, 6)


@pytest.mark.parametrize("robot", [None, "ur10e"])
def test_groups_take_as_many_columns_as_there_are_joints(robot: str | None, tmp_path: Path) -> None:
    table = log(tmp_path / "log.csv")
    found = Recording.load(tmp_path / "log.csv", columns=COLUMNS, robot=robot, angles="radians")
    assert list(found.signals) == COLUMNS.split(",")[1:]
    assert np.array_equal(found.signal("q").time, table[:, 0])
    assert np.array_equal(found.signal("q").values, table[:, 1:7])
    assert np.array_equal(found.signal("target_torque").values, table[:, 25:])
    assert found.signal("target_torque").unit == "N m"
    assert found.remarks == ()


def test_a_log_cut_and_garbled_is_read_around_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    table = log(path, 5000)
    lines = path.read_text().splitlines()
    lines[3] = lines[3][:50]
    lines[2500] = lines[2500].replace(".", "?", 1)
    lines[-1] = lines[-1][:-4]
    path.write_text("\n".join(lines))
    found = Recording.load(path, columns=COLUMNS, angles="radians")
    kept = np.delete(table, [3, 2500, 4999], axis=0)
    assert np.array_equal(found.signal("dq").values, kept[:, 7:13])
    said = {one.code: one.values for one in found.remarks}
    assert said["rows-of-other-width"] == {"count": 1, "columns": 31, "lines": "4"}
    assert said["rows-with-text"]["lines"] == "2501"
    assert said["row-cut"] == {"line": 5000}


def test_unwanted_columns_may_hold_anything(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("0,idle,1,2\n0.1,moving,3,4\n")
    found = Recording.load(tmp_path / "log.txt", columns="time,_,q")
    assert found.signal("q").values.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_column_lists_are_checked_against_the_file(tmp_path: Path) -> None:
    log(tmp_path / "log.csv")
    with pytest.raises(InputError, match="no whole number of joints"):
        Recording.load(tmp_path / "log.csv", columns="time,q,dq,current,tau")
    (tmp_path / "headed.csv").write_text("time,dq0,q0\n0,1,2\n1,3,4\n")
    with pytest.raises(ContradictionError, match=r"has a header, time,dq0,q0.*were given, time,q0,dq0.*leave them out"):
        Recording.load(tmp_path / "headed.csv", columns="time,q,dq")
    assert Recording.load(tmp_path / "headed.csv", columns="time,dq,q").signal("q").values.tolist() == [[2.0], [4.0]]
    Recording().with_signal("q", time=[0.0], values=[[1.0]]).save(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="leave them out"):
        Recording.load(tmp_path / "a.parquet", columns="time,q")


NUMBERS = np.round(np.column_stack([np.arange(60) / 10, np.random.default_rng(5).normal(size=(60, 2))]), 6)


def rows_of(delimiter: str, point: str = ".") -> str:
    return "".join(delimiter.join(f"{value:.6f}" for value in row).replace(".", point) + "\n" for row in NUMBERS)


@pytest.mark.parametrize(
    "text",
    [
        "time,q0,q1\n" + rows_of(","),
        "time, q0, q1\n" + rows_of(", "),
        "time,\tq0,\tq1\n" + rows_of(",\t"),
        "time;q0;q1\n" + rows_of(";"),
        "time\tq0\tq1\n" + rows_of("\t"),
        "time q0 q1\n" + rows_of(" "),
        "  time   q0   q1  \r\n" + rows_of("  \t ").replace("\n", " \r\n"),
        "time;q0;q1\n" + rows_of(";", ","),
        "time; q0; q1\n" + rows_of("; ", ","),
        "time\tq0\tq1\n" + rows_of("\t", ","),
        "time q0 q1\n" + rows_of(" ", ","),
        "# made by a program, in 2024\n\n# with a comment\ntime,q0,q1\n" + rows_of(","),
        "% of MATLAB\ntime q0 q1\n" + rows_of(" "),
        "// and of C\ntime;q0;q1\n" + rows_of(";", ","),
        "# time q0 q1\n" + rows_of(" "),  # numpy.savetxt
        "# a program\n#time,q0,q1\n" + rows_of(","),
        "# time;q0;q1\n" + rows_of(";", ","),
        "Time,Q0,Q1\n" + rows_of(","),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_tables_as_programs_write_them(text: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode(encoding))
    found = Recording.load(path)
    assert np.array_equal(found.signal("q").time, NUMBERS[:, 0])
    assert np.array_equal(found.signal("q").values, NUMBERS[:, 1:])
    assert [one.code for one in found.remarks] == (["decimal-commas"] if "0.1" not in text else [])
    part = Recording.load(path, rows="1:3")
    assert np.array_equal(part.signal("q").values, NUMBERS[1:3, 1:])


@pytest.mark.parametrize(
    "header",
    [
        "time,joint1,joint2\ns,pos,pos",
        "time,position,position\n,joint1,joint2",  # columns of two levels, of pandas
        "time,q,q\n,0,1",
        "time,q,q\ntime,1,2",
        ",joint1,joint2\ntime,pos,pos",
        "time,q,\n,1,2",  # cells that were joined in a spreadsheet
        "A,B,C\ntime,q0,q1",
        "a title, with a comma\ntime,q,q\n,0,1",
    ],
)
def test_headers_of_two_rows(header: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{header}\n{rows_of(',')}")
    found = Recording.load(path)
    assert np.array_equal(found.signal("q").time, NUMBERS[:, 0])
    assert np.array_equal(found.signal("q").values, NUMBERS[:, 1:])


def test_seconds_and_nanoseconds_are_one_time(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    whole = np.floor(NUMBERS[:, 0])
    rest = np.round(1e9 * (NUMBERS[:, 0] - whole))
    rows = [f"{a:.0f},{b:.0f},{q[0]},{q[1]}\n" for a, b, q in zip(whole, rest, NUMBERS[:, 1:], strict=True)]
    path.write_text("sec,nanosec,q0,q1\n" + "".join(rows))
    found = Recording.load(path)
    np.testing.assert_allclose(found.signal("q").time, NUMBERS[:, 0], atol=1e-12)
    assert np.array_equal(found.signal("q").values, NUMBERS[:, 1:])


def test_other_texts(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(("time,q0 [°],q1 [°]\n" + rows_of(",")).encode("latin-1"))
    np.testing.assert_allclose(Recording.load(path).signal("q").values, np.radians(NUMBERS[:, 1:]))
    path.write_text('{"time": 0.0, "q": [0.1, 0.2]}\n')
    with pytest.raises(FileFormatError, match="is JSON"):
        Recording.load(path)


def test_columns_may_be_given_below_a_title(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"arm 3, in May\nstamp,a,b\n{rows_of(',')}")
    found = Recording.load(path, columns="time,q")
    assert np.array_equal(found.signal("q").values, NUMBERS[:, 1:])
    assert [(one.code, one.values["count"]) for one in found.remarks] == [("lines-skipped", 2)]
    path.write_text(f"arm 3, in May\ntime,tau0,tau1\n{rows_of(',')}")
    with pytest.raises(ContradictionError, match="has a header, time,tau0,tau1"):
        Recording.load(path, columns="time,q")


@pytest.mark.parametrize(("delimiter", "point"), [(" ", "."), (";", ","), (" ", ",")])
def test_logs_without_header_may_have_blanks_and_decimal_commas(delimiter: str, point: str, tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("# no header\n" + rows_of(delimiter, point))
    with pytest.raises(FileFormatError, match="has no header: its first line holds 3 numbers"):
        Recording.load(path)
    found = Recording.load(path, columns="time,q")
    assert np.array_equal(found.signal("q").values, NUMBERS[:, 1:])
    path.write_text("# no header\n" + rows_of(delimiter, point) + "6" + point)
    cut = [one.values for one in Recording.load(path, columns="time,q").remarks if one.code == "row-cut"]
    assert cut == [{"line": 62}]


def test_a_comma_beside_points_is_no_decimal_comma(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time;q0\n0.5;1,234\n1.5;1,234\n2.5;1.5\n")
    with pytest.raises(FileFormatError, match=r"'1,234'"):
        Recording.load(path)
    path.write_text("time,note,q0\n0.5,2024-01-01 12:00,1\n1.5,2024-01-01 12:01,2\n")
    assert Recording.load(path).signal("q").values.tolist() == [[1.0], [2.0]]


def test_real_logs_are_read_whole(shared_data: Path) -> None:
    folder = shared_data / "ur10e"
    if not folder.is_dir():
        pytest.skip(f"needs the UR10e logs, which are not in {folder}")
    paths = sorted(folder.glob("*.csv"))
    assert {path.name for path in paths} >= REAL_LOGS
    for path in paths:
        found = Recording.load(path, columns=COLUMNS, robot="ur10e")
        lines = path.read_bytes().count(b"\n")
        assert lines - 1 <= found.signal("q").num_samples <= lines + 1
        assert found.num_joints == 6
        assert 80 < found.rate("q") < 101
        assert not {one.code for one in found.remarks} & {"signal-frozen", "signal-dropped-out", "angles-large"}


def test_a_real_log_cut_anywhere_loses_one_row(shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "ur10e" / "ur-20_01_31-load.csv"
    if not source.is_file():
        pytest.skip(f"needs the UR10e logs, and {source} is not there")
    contents = source.read_bytes()
    whole = Recording.load(source, columns=COLUMNS).signal("q")
    rng = np.random.default_rng(1)
    for cut in rng.integers(len(contents) // 2, len(contents), 25):
        path = tmp_path / "cut.csv"
        path.write_bytes(contents[:cut])
        found = Recording.load(path, columns=COLUMNS).signal("q")
        assert contents[:cut].count(b"\n") <= found.num_samples <= contents[:cut].count(b"\n") + 1
        assert np.array_equal(found.values, whole.values[: found.num_samples])
