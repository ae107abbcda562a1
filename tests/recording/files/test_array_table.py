"""Named arrays of NumPy and MATLAB become recordings; nothing in them is executed, or unpacked beyond the bound."""

from __future__ import annotations

import contextlib
import io
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

from iparam.errors import FileFormatError, InputError
from iparam.files.numpy_arrays import zipped_arrays
from iparam.files.reading_limit import VARIABLE, TooLargeError
from iparam.recording import Recording

COUNT = 200
TIME = np.arange(COUNT) / 100
RNG = np.random.default_rng(0)
Q, TAU, WRENCH = np.sin(TIME[:, None] + np.arange(6)), RNG.normal(size=(COUNT, 6)), RNG.normal(size=(COUNT, 6))


def write(path: Path, **arrays: Any) -> Path:
    if path.suffix == ".npz":
        np.savez_compressed(path, **arrays)
    else:
        savemat(path, arrays, do_compression=True)
    return path


@pytest.fixture(params=[".npz", ".mat"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"log{request.param}"


def test_arrays_are_signals_by_their_names(path: Path) -> None:
    found = Recording.load(write(path, time=TIME, q=Q, tau=TAU, wrench=WRENCH), robot="ur5e")
    assert sorted(found.signals) == ["q", "tau", "wrench"]
    for name, expected in (("q", Q), ("tau", TAU), ("wrench", WRENCH)):
        np.testing.assert_array_equal(found.signal(name).values, expected)
        np.testing.assert_array_equal(found.signal(name).time, TIME)
    assert found.signal("wrench").unit == "N, N m"
    assert found.remarks == ()


def test_other_shapes_types_and_single_columns(path: Path) -> None:
    arrays = {"time": TIME[:, None], "q": Q.T, "tau0": TAU[:, 0], "tau1": TAU[:, 1:2], "rest": np.ones((4, COUNT), int)}
    found = Recording.load(write(path, **arrays), map="current=rest,tau0,tau1")
    np.testing.assert_array_equal(found.signal("q").values, Q)
    assert found.signal("current").values[0].tolist() == [1, 1, 1, 1, *TAU[0, :2]]
    with pytest.raises(FileFormatError, match="tau has 2 columns, but other signals have 6 joints"):
        Recording.load(path)


def test_names_of_others_are_mapped(path: Path) -> None:
    write(path, t=1e3 * TIME, positions=Q, e_1=TAU[:, 0], e_10=TAU[:, 2], e_2=TAU[:, 1], rest=TAU[:, 3:])
    given = "time=t,q=positions,tau=e_*,rest"
    found = Recording.load(path, map=given, time_unit="ms", rows="10:20")
    np.testing.assert_array_equal(found.signal("q").values, Q[10:20])
    np.testing.assert_array_equal(found.signal("tau").values, TAU[10:20])
    np.testing.assert_allclose(found.signal("q").time, TIME[10:20], rtol=1e-15)
    with pytest.raises(InputError, match=r"map 'tau=f_\*' matches no column of .*; its columns: t, positions, e_1"):
        Recording.load(path, map="time=t,tau=f_*")
    np.testing.assert_array_equal(Recording.load(path, time_unit="ms").signal("q").values, Q)  # t is the time
    write(path, positions=Q, stamps=TIME)
    said = r"has no array 'time'; its arrays: positions \(200, 6\), stamps .*map = time=stamps"
    with pytest.raises(FileFormatError, match=said):
        Recording.load(path)
    write(path, positions=Q, table=Q)
    with pytest.raises(FileFormatError, match=r"no array 'time'.*\. None of them is a vector, as a time is"):
        Recording.load(path)
    with pytest.raises(FileFormatError, match=r"positions is of shape \(200, 6\); a time is a vector"):
        Recording.load(path, map="time=positions,q=table")


def test_what_does_not_fit_is_named(path: Path) -> None:
    arrays = {"time": TIME, "q": Q, "mesh": np.zeros((7, 3)), "mass": 2.0, "label": "arm", "cube": np.zeros((3, 3, 3))}
    found = Recording.load(write(path, **arrays))
    assert list(found.signals) == ["q"]
    told = {one.code: str(one.values["columns"]) for one in found.remarks}
    assert told["columns-without-numbers"] == "label"
    assert "mesh (7, 3)" in told["arrays-of-other-length"]
    assert "cube (3, 3, 3)" in told["arrays-of-other-length"]
    with pytest.raises(
        FileFormatError, match=r"mesh is of shape \(7, 3\), which does not fit to the 200 values of time"
    ):
        Recording.load(path, map="tau=mesh")


def test_one_matrix_is_a_table_without_header(path: Path) -> None:
    write(path, data=np.column_stack([TIME, Q, TAU]))
    found = Recording.load(path, columns="time,q,tau")
    np.testing.assert_array_equal(found.signal("tau").values, TAU)
    with pytest.raises(InputError, match="no whole number of joints"):
        Recording.load(path, columns="time,q,dq,ddq,tau,current")
    write(path, time=TIME, q=Q, tau=TAU)
    with pytest.raises(InputError, match=r"columns is for a file with one matrix, and .* has [23]: .*q \(200, 6\)"):
        Recording.load(path, columns="time,q,tau")


def test_structs_are_known_by_their_fields(tmp_path: Path) -> None:
    path = write(tmp_path / "log.mat", run={"time": TIME, "arm": {"q": Q, "tau": TAU}, "note": "x"}, setting=3.0)
    found = Recording.load(path)
    np.testing.assert_array_equal(found.signal("tau").values, TAU)
    write(path, left={"q": Q, "time": TIME}, right={"q": 2 * Q})
    with pytest.raises(FileFormatError, match=r"no usable samples.*left\.q.*right\.q"):
        Recording.load(path)
    np.testing.assert_array_equal(Recording.load(path, map="q=right.q").signal("q").values, 2 * Q)


def test_cells_and_arrays_of_structs_are_offered_by_their_paths(tmp_path: Path) -> None:
    run, other = {"t": TIME, "q": Q, "wrench": WRENCH}, {"t": TIME, "q": 2 * Q, "wrench": WRENCH}
    path = write(tmp_path / "log.mat", logs=np.array([run], dtype=object))
    np.testing.assert_array_equal(Recording.load(path).signal("wrench").values, WRENCH)  # one cell needs no path
    kind = [("t", object), ("q", object), ("wrench", object)]
    structs = np.array([tuple(one.values()) for one in (run, other)], dtype=kind)
    for arrays, first in ((np.array([run, other], dtype=object), "logs{1}"), (structs, "logs(1)")):
        write(path, logs=arrays)
        with pytest.raises(FileFormatError, match="If it holds several runs, say which") as error:
            Recording.load(path)
        advice = f"time={first}.t,q={first}.q,wrench={first}.wrench"
        assert error.value.fix == {"map": advice}
        np.testing.assert_array_equal(Recording.load(path, map=advice).signal("q").values, Q)
        second = Recording.load(path, map=advice.replace("1", "2")).signal("q")
        np.testing.assert_array_equal(second.values, 2 * Q)


def test_structs_may_be_samples(tmp_path: Path) -> None:
    samples = np.zeros(COUNT, dtype=[("t", float), ("q", float, (6,))])
    samples["t"], samples["q"] = TIME, Q
    found = Recording.load(write(tmp_path / "log.mat", samples=samples))
    np.testing.assert_array_equal(found.signal("q").values, Q)
    np.testing.assert_array_equal(found.signal("q").time, TIME)


def test_numpys_own_files_and_structured_arrays(tmp_path: Path) -> None:
    table = np.zeros(COUNT, dtype=[("time", float), ("q", float, (6,)), ("tau", np.float32, (6,))])
    table["time"], table["q"], table["tau"] = TIME, Q, TAU
    np.save(tmp_path / "log.npy", table)
    np.testing.assert_array_equal(Recording.load(tmp_path / "log.npy").signal("q").values, Q)
    np.save(tmp_path / "plain.npy", np.column_stack([TIME, Q]))
    np.testing.assert_array_equal(Recording.load(tmp_path / "plain.npy", columns="time,q").signal("q").values, Q)


class Trap:
    """Its unpickling would leave a mark."""

    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("trap", "w")


def test_pickles_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("log.npz", time=TIME, q=Q, tau=np.array([Trap()], dtype=object))
    found = Recording.load("log.npz")
    assert [(one.code, one.values["columns"]) for one in found.remarks] == [("columns-without-numbers", "tau")]
    assert not Path("trap").exists()


def test_version_7_3_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "log.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512) + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(FileFormatError, match=r"version 7\.3.*save\('log\.mat', '-v7'\)"):
        Recording.load(path)


def test_more_than_the_limit_is_not_unpacked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0.01")
    write(path, time=np.zeros(2_000_000))
    assert path.stat().st_size < 100_000
    with pytest.raises(TooLargeError, match=VARIABLE):
        Recording.load(path)


def test_what_is_made_beside_the_columns_counts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a table with two columns, that is more than the columns."""
    monkeypatch.setenv(VARIABLE, "0.05")
    write(path, time=np.arange(1_600_000) / 500.0, q0=np.zeros(1_600_000))  # 26 MB of 54
    with pytest.raises(TooLargeError, match=VARIABLE):
        Recording.load(path)


def test_unpacking_takes_the_memory_of_what_is_unpacked() -> None:
    stream = io.BytesIO()
    np.savez_compressed(stream, time=np.zeros(4_000_000))
    stream.seek(0)
    tracemalloc.start()
    try:
        arrays = zipped_arrays(stream, "log.npz")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert not arrays["time"].any()
    assert peak < 1.5 * arrays["time"].nbytes


def test_a_header_that_claims_more_than_there_is(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (1000,)})
    with zipfile.ZipFile(tmp_path / "log.npz", "w") as archive:
        archive.writestr("time.npy", stream.getvalue() + b"\0" * 80)
    with pytest.raises(FileFormatError, match=r"log\.npz: time is cut off"):
        Recording.load(tmp_path / "log.npz")


def test_cut_and_changed_files_are_refused_or_read(path: Path) -> None:
    whole = write(path, time=TIME, q=Q).read_bytes()
    rng = np.random.default_rng(2)
    for cut in rng.integers(4, len(whole), 40):
        path.write_bytes(whole[:cut])
        with pytest.raises(FileFormatError):
            Recording.load(path)
    for place in rng.integers(130, len(whole), 60):
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(changed))
        with contextlib.suppress(FileFormatError, InputError):  # and nothing else
            Recording.load(path)
