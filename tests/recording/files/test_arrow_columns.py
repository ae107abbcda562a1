"""Arrow's columns by their buffers: the same as Arrow's own conversions give, and no pandas for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from conftest import SimulatedRun

from iparam.recording.files.arrow_columns import arrow_of_numbers, numbers_of_arrow

HOLES = pyarrow.array([None, 1.0, *[float(i) for i in range(20)], None, np.pi, None])


def test_what_is_written_is_what_arrow_makes_of_it() -> None:
    values = np.random.default_rng(0).normal(size=(19, 2))[:, 1]  # not contiguous
    present = np.arange(19) % 3 > 0
    assert arrow_of_numbers(values).equals(pyarrow.array(values))
    masked = arrow_of_numbers(values, present)
    masked.validate(full=True)
    assert masked.equals(pyarrow.array(values, mask=~present))


@pytest.mark.parametrize(
    "column",
    [
        HOLES,
        HOLES[1:],  # whose buffers begin before it
        HOLES[9:14],
        pyarrow.chunked_array([HOLES, [1.0, 2.0], HOLES[3:5]]),
        pyarrow.chunked_array([], pyarrow.float64()),
        pyarrow.array([], pyarrow.float64()),
        pyarrow.array([1, 2**53 + 1, None, -3]),
        pyarrow.array([1.5, None], pyarrow.float32()),
        pyarrow.array([True, None, False]).cast(pyarrow.uint8()),
    ],
)
def test_what_is_read_is_what_arrow_says(column: pyarrow.Array) -> None:
    values, empty = numbers_of_arrow(column)
    expected = np.array([np.nan if one is None else one for one in column.to_pylist()], dtype=np.float64)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(np.zeros(len(column), bool) if empty is None else empty, np.isnan(expected))


def test_neither_pandas_nor_scipys_distributions_are_loaded_to_identify_a_load(
    run: SimulatedRun, tmp_path: Path
) -> None:
    """Half a second each, for a column's type and for a quantile."""
    run.recording.save(tmp_path / "run.parquet")
    run.recording.save(tmp_path / "run.csv")
    script = (
        "import sys, iparam\n"
        "for suffix in ('csv', 'parquet'):\n"
        "    recording = iparam.Recording.load(f'run.{suffix}', robot='ur5e')\n"
        "    recording.save(f'again.{suffix}')\n"
        "iparam.identify_payload(recording, iparam.load_robot('ur5e'))\n"
        "print([name for name in ('pandas', 'scipy.stats', 'scipy.signal') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
