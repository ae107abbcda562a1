"""Tables in files of named arrays: NumPy's .npz and .npy, and MATLAB's .mat. Nothing in them is executed."""

from __future__ import annotations

import contextlib
import io
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from iparam.errors import FileFormatError, InputError, IparamError
from iparam.files.limited_process import Outcome, in_limited_process
from iparam.files.numpy_arrays import MOST_ARRAYS, Arrays, single_array, zipped_arrays
from iparam.files.reading_limit import check_size, reading_limit
from iparam.recording.channels import CHANNELS, check_name, column_names, expand_columns, signal_of_column
from iparam.recording.files.headers import Headers, read_headers, with_usual_names
from iparam.recording.files.reading import Reading, mapped_columns
from iparam.recording.files.table import Table, TableBuilder, check_names, numbered_poses, tells_poses
from iparam.recording.files.usual_names import usual_signal
from iparam.remarks import remark

NPZ, EMPTY_NPZ = b"PK\x03\x04", b"PK\x05\x06"
NPY = b"\x93NUMPY"
MAT5 = b"MATLAB 5.0 MAT-file"
MAT7 = b"MATLAB 7.3 MAT-file"
MAGICS = (NPZ, EMPTY_NPZ, NPY, MAT5, MAT7)
"""How such files begin."""

_COMPRESSED = 15  # miCOMPRESSED of the MAT-file format
_MAT_HEADER = 128
_STEP = 1 << 20
_DEEPEST = 8
"""Levels of MATLAB's structs that are looked into."""

_LEAST_SAMPLES, _WIDEST = 10, 100
"""Structs of an array from which on they may be samples, and numbers in a field of such a one."""


def read_array_table(stream: BinaryIO, source: str, reading: Reading, num_joints: int | None) -> Table:
    """Read a table from named arrays: ``time`` (T,), signals such as ``q`` (T, n), single columns such as ``q0`` (T,).

    Arrays may lie on their side, (n, T). Those of another length than ``time``, and what holds no real numbers, are
    left out with a note. Without a time, rows of a wrench and of how the sensor stood are poses at rest. Fields of
    MATLAB's structs and of structured arrays have their own names, or, where two fields have the same, the path to
    them, ``arm.q``. The structs of an array may be samples. A single matrix is read with ``reading.columns``.

    Args:
        stream: the file, at its beginning.
        source: its name, for messages.
        reading: what the arrays mean, and the rows that are wanted.
        num_joints: n, None if unknown.
    """
    head = stream.read(max(map(len, MAGICS)))
    stream.seek(0)
    if head.startswith(MAT7):
        raise FileFormatError(
            f"{source} is a MAT-file of version 7.3, which iparam does not read: save it as version 7, in MATLAB with "
            "save('log.mat', '-v7')"
        )
    with _errors(source, "a MAT-file" if head.startswith(MAT5) else "arrays of NumPy"):
        if head.startswith(MAT5):
            arrays = _mat_arrays(stream, source)
        elif head.startswith(NPY):
            arrays = single_array(stream, source)
        else:
            arrays = zipped_arrays(stream, source)
    numeric = {name: array for name, array in _by_short_names(arrays).items() if array.dtype.kind in "fiub"}
    others = [name for name in _by_short_names(arrays) if name not in numeric]
    notes = [remark("columns-without-numbers", columns=", ".join(others[:12]))] if others else []
    understood = Headers(())
    if reading.columns is not None:
        columns = _matrix_columns(numeric, source, reading.columns, num_joints)
    else:
        numeric, understood = _understood(numeric, source, reading)
        notes += understood.notes
        columns, odd, usual = _named_columns(numeric, source, reading)
        if usual:
            notes.append(remark("usual-names", columns=", ".join(usual)))
        if odd:
            notes.append(remark("arrays-of-other-length", columns=", ".join(odd[:12])))
    check_names(list(columns), source)
    rows = next(iter(columns.values())).size
    builder = TableBuilder(list(columns), rows, source, "row", reading.rows)
    builder.add(np.arange(1, rows + 1), [columns[name] for name in builder.wanted], [None] * len(builder.wanted))
    table = replace(builder.table(notes), units=understood.units)
    return table if "time" in columns else numbered_poses(table)


def _matrix_columns(
    arrays: Arrays, source: str, columns: str | Sequence[str], num_joints: int | None
) -> dict[str, NDArray[Any]]:
    """The columns of the only matrix of a file."""
    matrices = [name for name, array in arrays.items() if array.ndim == 2 and min(array.shape) > 1]
    if len(matrices) != 1:
        raise InputError(
            argument="columns",
            problem=(
                f"is for a file with one matrix, and {source} has {len(matrices)}: {_shapes(arrays)}; a map "
                "such as 'q=name' says which array is what"
            ),
        )
    matrix = arrays[matrices[0]]
    names = expand_columns(columns, matrix.shape[1], num_joints)
    return {name if name != "_" else f"_{i}_": matrix[:, i] for i, name in enumerate(names)}


def _understood(arrays: Arrays, source: str, reading: Reading) -> tuple[Arrays, Headers]:
    """The arrays with vectors by what their names mean as headers of a table, and what they mean.

    What ``reading`` maps, and the names of signals that another array states, stay as they are.
    """
    mapped = {} if reading.names is None else reading.names.assign(list(arrays), source)
    kept = {list(arrays)[place] for places in mapped.values() for place in places}
    vectors = [name for name, array in arrays.items() if name not in kept and array.size == max(array.shape, default=0)]
    found = with_usual_names(read_headers(vectors, source), vectors, source)
    whole = {name for name in arrays if name not in vectors}
    names = {
        header: header if (signal_of_column(name) or (name,))[0] in whole else name
        for header, name in zip(vectors, found.names, strict=True)
    }
    units = {name: unit for name, unit in found.units.items() if name in names.values()}
    usual = {name: header for name, header in found.usual.items() if name in names.values()}
    renamed = {names.get(name, name): array for name, array in arrays.items()}
    return (renamed, Headers(tuple(renamed), units, usual)) if len(renamed) == len(arrays) else (arrays, Headers(()))


def _named_columns(
    arrays: Arrays, source: str, reading: Reading
) -> tuple[dict[str, NDArray[Any]], list[str], list[str]]:
    """The columns of a recording, the arrays that do not fit beside its time, and those of usual names."""
    headers = list(arrays)
    assigned = {} if reading.names is None else reading.names.assign(headers, source)
    time_name = headers[assigned["time"][0]] if "time" in assigned else _time_name(headers)
    columns: dict[str, NDArray[Any]] = {}
    if time_name in arrays:
        columns["time"] = arrays[time_name].reshape(-1)
        if columns["time"].size != max(arrays[time_name].shape, default=0):
            raise FileFormatError(f"{source}: {time_name} is of shape {arrays[time_name].shape}; a time is a vector")
        rows, like = columns["time"].size, time_name
    else:
        like = headers[assigned["wrench"][0]] if "wrench" in assigned else "wrench" if "wrench" in arrays else "fx"
        rows = _num_poses(arrays.get(like, np.empty(0)))
    odd, used = [], {time_name}
    for name, places in assigned.items():
        if name == "time":
            continue
        parts = [_upright(arrays[headers[place]], rows) for place in places]
        for place, part in zip(places, parts, strict=True):
            used.add(headers[place])
            if part is None:
                raise FileFormatError(
                    f"{source}: {headers[place]} is of shape {arrays[headers[place]].shape}, which does not fit to the "
                    f"{rows} values of {like}"
                )
        whole = [column for part in parts if part is not None for column in part.T]
        names = mapped_columns(name, len(whole), [headers[place] for place in places])
        columns |= dict(zip(names, whole, strict=True))
    meant = _usual_names({name: array for name, array in arrays.items() if name not in used})
    usual = []
    for header, array in arrays.items():
        name = meant.get(header, header)
        if header in used or (reading.names is not None and reading.names.replaces(name)):
            continue
        part = _upright(array, rows)
        if part is None:
            odd.append(f"{header} {array.shape}")
            continue
        if name != header and not _as_many(columns, name, part.shape[1]):
            name = header
        if name != header:
            usual.append(f"{name} = {header}")
        for column, numbers in zip(_columns_of(name, part.shape[1]), part.T, strict=True):
            columns.setdefault(column, numbers)
    if "time" not in columns and not tells_poses(list(columns)):
        text, fix = _way_out(arrays)
        raise FileFormatError(f"{source} has no array 'time'; its arrays: {_shapes(arrays)}{text}", fix=fix)
    return columns, odd, usual


def _time_name(names: Sequence[str]) -> str:
    """The array that is the time by its name: time or t, in any case where only one is."""
    for word in ("time", "t"):
        found = [name for name in names if name.lower() == word]
        if word in names or len(found) == 1:
            return word if word in names else found[0]
    return "time"


def _way_out(arrays: Arrays) -> tuple[str, dict[str, str]]:
    """How to say which array is the time, with one that can be: of several runs in a file, one of the first."""
    vectors = [name for name, array in arrays.items() if array.size > 1 and array.size == max(array.shape)]
    if not vectors:
        return ". None of them is a vector, as a time is" if arrays else "", {}
    likely = next((name for name in vectors if _time_name([name.rpartition(".")[2]]) in name.split(".")), vectors[0])
    run, dot, _ = likely.rpartition(".")
    beside = [name for name in arrays if dot and name.rpartition(".")[0] == run and name != likely]
    known = [f"{last}={name}" for name in beside if (last := name.rpartition(".")[2]) in CHANNELS]
    if any(name.rpartition(".")[0] not in ("", run) for name in arrays) and known:
        return ". If it holds several runs, say which", {"map": ",".join([f"time={likely}", *known])}
    return ". If one of them is the time, say so", {"map": f"time={likely}"}


def _num_poses(wrench: NDArray[Any]) -> int:
    """The rows of a wrench (P, 6) that may lie on its side, or of a component of it (P,)."""
    columns = len(CHANNELS["wrench"].columns)
    if wrench.ndim == 2 and wrench.shape[1] != columns:
        return int(wrench.shape[1])
    return len(np.atleast_1d(wrench))


def _columns_of(name: str, width: int) -> list[str]:
    """The columns of a recording that an array of that name holds; names that say nothing stay as they are."""
    if width == 1 and signal_of_column(name) is not None:
        return [name]
    try:
        check_name(name)
    except InputError:
        return [f"{name}[{i}]" for i in range(width)]
    fixed = CHANNELS[name].columns if name in CHANNELS else ()
    return column_names(name, width) if len(fixed) in (0, width) else [f"{name}[{i}]" for i in range(width)]


def _upright(array: NDArray[Any], rows: int) -> NDArray[Any] | None:
    """An array as (rows, k), turned if it lies on its side; None if it does not fit."""
    if array.ndim == 1 and array.size == rows:
        return array[:, None]
    if array.ndim != 2 or rows not in array.shape or array.size == 0:
        return None
    return array if array.shape[0] == rows else array.T


def _shapes(arrays: Arrays) -> str:
    parts = [f"{name} {array.shape}" for name, array in list(arrays.items())[:30]]
    return ", ".join(parts) + (f" and {len(arrays) - 30} more" if len(arrays) > 30 else "") or "none"


def _by_short_names(arrays: Arrays) -> Arrays:
    """The arrays by the last part of their paths where no two have the same."""
    short = Counter(path.rpartition(".")[2] for path in arrays)
    return {last if short[last := path.rpartition(".")[2]] == 1 else path: array for path, array in arrays.items()}


def _as_many(columns: Iterable[str], name: str, width: int) -> bool:
    """Whether a signal of that width has as many components as it must have, or as others of the joints have."""
    if CHANNELS[name].columns:
        return len(CHANNELS[name].columns) == width
    places = [place for column in columns if (place := signal_of_column(column)) is not None]
    counts = Counter(signal for signal, _ in places if signal in CHANNELS and not CHANNELS[signal].columns)
    return all(count == width for count in counts.values())


def _usual_names(arrays: Arrays) -> dict[str, str]:
    """Signals by the names of arrays that must be meant by them, where no array states the signal by its own name."""
    meant: dict[str, list[str]] = {}
    for name in arrays:
        if (signal := usual_signal(name)) is not None:
            meant.setdefault(signal, []).append(name)
    stated = {place[0] for name in arrays if (place := signal_of_column(name)) is not None}
    return {names[0]: signal for signal, names in meant.items() if len(names) == 1 and signal not in stated}


def _mat_arrays(stream: BinaryIO, source: str) -> Arrays:
    contents = stream.read(reading_limit() + 1)
    check_size(len(contents), source, "a MAT-file")
    size = _unpacked_size(contents)
    check_size(size, source, "a packed MAT-file")
    others, arrays = in_limited_process(mat_arrays, source, {}, content=contents, size=size)
    return {**arrays, **{name: np.empty(0, dtype=object) for name in others}}


def mat_arrays(content: bytes) -> Outcome:
    """The names of what a MAT-file holds beside real numbers, and its arrays of these."""
    from scipy.io import loadmat

    arrays: Arrays = {}
    for name, value in loadmat(io.BytesIO(content), struct_as_record=True).items():
        if not name.startswith("__"):
            _add_fields(arrays, name, value, 0)
    numbers = {name: array for name, array in arrays.items() if array.dtype.kind in "fiub"}
    return [name for name in arrays if name not in numbers], numbers


def _add_fields(arrays: Arrays, path: str, value: Any, depth: int) -> None:
    """An array, the fields of structs and the cells of a cell array by their paths, as MATLAB writes them; what is
    neither is kept to be named.
    """
    if not isinstance(value, np.ndarray):
        value = np.asarray(value)
    if len(arrays) > MOST_ARRAYS:
        raise ValueError(f"it has more than {MOST_ARRAYS} arrays")  # told of the file by `in_limited_process`
    places = [""] if value.size == 1 else [str(place) for place in range(1, value.size + 1)]
    if value.dtype.names is not None and (rows := _rows_of_structs(value)):
        arrays |= {f"{path}.{name}": row for name, row in rows.items()}
    elif value.dtype.names is not None and value.size <= MOST_ARRAYS and depth < _DEEPEST:
        for place, element in zip(places, value.reshape(-1, order="F"), strict=True):
            for name in value.dtype.names:
                _add_fields(arrays, f"{path}{place and f'({place})'}.{name}", element[name], depth + 1)
    elif value.dtype.kind == "O" and 0 < value.size <= MOST_ARRAYS and depth < _DEEPEST:
        for place, element in zip(places, value.reshape(-1, order="F"), strict=True):
            _add_fields(arrays, f"{path}{place and f'{{{place}}}'}", element, depth + 1)
    else:
        arrays[path] = value


def _rows_of_structs(structs: NDArray[Any]) -> Arrays:
    """The fields of an array of structs, one a sample, as (T, k) each; none where they are runs, or not alike."""
    rows: Arrays = {}
    for name in (structs.dtype.names or ()) if structs.size >= _LEAST_SAMPLES else ():
        each = [np.asarray(one) for one in structs.reshape(-1, order="F")[name]]
        sizes = {one.size for one in each if one.dtype.kind in "fiub"}
        if len(sizes) != 1 or not 0 < max(sizes) <= _WIDEST or any(one.dtype.kind not in "fiub" for one in each):
            return {}
        rows[name] = np.array([one.reshape(-1, order="F") for one in each])
    return rows


def _unpacked_size(contents: bytes) -> int:
    """Bytes of a MAT-file of version 5 whose packed elements are unpacked, counted without keeping them."""
    order = "big" if contents[126:128] == b"MI" else "little"
    place, total, limit = _MAT_HEADER, 0, reading_limit()
    while place + 8 <= len(contents) and total <= limit:
        kind = int.from_bytes(contents[place : place + 4], order)  # type: ignore[arg-type]
        size = int.from_bytes(contents[place + 4 : place + 8], order)  # type: ignore[arg-type]
        place += 8
        if kind != _COMPRESSED:
            total += min(size, len(contents) - place)
            place += size + (-size) % 8
            continue
        unpacker, data = zlib.decompressobj(), contents[place : place + size]
        while data and not unpacker.eof and total <= limit:
            total += len(unpacker.decompress(data, _STEP))
            data = unpacker.unconsumed_tail
        place += size
    return total


@contextlib.contextmanager
def _errors(source: str, what: str) -> Iterator[None]:
    """Around calls of NumPy and SciPy: what damaged contents lead to is told as such, whatever its type."""
    try:
        yield
    except (IparamError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise FileFormatError(f"{source} cannot be read as {what}: {reason or type(error).__name__}") from None
