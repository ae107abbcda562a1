"""Peak memory of reading recordings, beside what their numbers take. Run: python benchmarks/bench_reading.py [MB]"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
from side_by_side import print_table

NAMES = ["time", *(f"q{i}" for i in range(6)), "fx", "fy", "fz", "tx", "ty", "tz"]
BYTES_A_NUMBER = 19  # in a CSV of float64 with all digits, about
READERS = {
    "iparam": "import iparam\nread = iparam.Recording.load",
    "pyarrow, csv": "import pyarrow.csv\nread = pyarrow.csv.read_csv",
    "pyarrow, parquet": "import pyarrow.parquet\nread = pyarrow.parquet.read_table",
}
CHILD = """
import sys, time
{reader}
import pyarrow.csv, pyarrow.parquet, numpy
def peak():  # Linux's own count: that of getrusage also holds what the parent had when it started this process
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
before, start = peak(), time.perf_counter()
try:
    found = read(sys.argv[1])
    outcome = "read"
except Exception as error:
    outcome = type(error).__name__
print(outcome, peak() - before, time.perf_counter() - start)
"""


def measure(reader: str, path: Path) -> tuple[str, float, float]:
    """What came of reading a file, the memory that it took at its peak [MB], and the time [s]; in a new process."""
    program = CHILD.format(reader=READERS[reader])
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True)
    outcome, megabytes, seconds = done.stdout.split()
    return outcome, float(megabytes), float(seconds)


def table(rows: int) -> pyarrow.Table:
    """A run of an arm with a force/torque sensor: 13 columns."""
    generator = np.random.default_rng(0)
    time = np.arange(rows) / 500.0
    values = [time, *generator.normal(size=(12, rows))]
    return pyarrow.table(values, names=NAMES)


def write_csv(data: pyarrow.Table, path: Path, faulty_rows: bool) -> None:
    """A CSV; with a cell that is no number in every 10000th row if asked."""
    if faulty_rows:
        column = data.column("fx").cast(pyarrow.string()).to_pylist()
        column[5000::10000] = ["-"] * len(column[5000::10000])
        data = data.set_column(NAMES.index("fx"), "fx", pyarrow.array(column))
    pyarrow.csv.write_csv(data, path, pyarrow.csv.WriteOptions(quoting_style="none"))


def write_constant(path: Path, rows: int) -> None:
    """A Parquet file that compresses a thousandfold: every column but the time has one value."""
    fields = [pyarrow.field(name, pyarrow.float64()) for name in NAMES]
    step = 1 << 20
    with pyarrow.parquet.ParquetWriter(path, pyarrow.schema(fields), compression="zstd") as writer:
        for start in range(0, rows, step):
            count = min(step, rows - start)
            constant = pyarrow.repeat(1.0, count)
            writer.write_table(pyarrow.table([constant] * len(NAMES), schema=writer.schema))


def main() -> None:
    size = float(sys.argv[1]) if len(sys.argv) > 1 else 300.0
    rows = int(size * 1e6 / BYTES_A_NUMBER / len(NAMES))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        data = table(rows)
        write_csv(data, place / "sound.csv", faulty_rows=False)
        write_csv(data, place / "faulty.csv", faulty_rows=True)
        pyarrow.parquet.write_table(data, place / "plain.parquet")
        write_constant(place / "constant.parquet", 32 * rows)
        digits = pyarrow.table([np.arange(4 * rows), *np.ones((12, 4 * rows), dtype=np.int8)], names=NAMES)
        write_csv(digits, place / "digits.csv", faulty_rows=False)
        cases = (
            ("CSV", "sound.csv", "iparam", rows),
            ("CSV", "sound.csv", "pyarrow, csv", rows),
            ("CSV, a fault every 10000 rows", "faulty.csv", "iparam", rows),
            ("CSV of single digits", "digits.csv", "iparam", 4 * rows),
            ("Parquet", "plain.parquet", "iparam", rows),
            ("Parquet", "plain.parquet", "pyarrow, parquet", rows),
            ("Parquet of constants", "constant.parquet", "iparam", 32 * rows),
        )
        for what, name, reader, count in cases:
            numbers = count * len(NAMES)
            outcome, megabytes, seconds = measure(reader, place / name)
            array = numbers * 8 / (1 << 20)
            found.append(
                [
                    what,
                    reader,
                    f"{(place / name).stat().st_size / 1e6:.1f}",
                    f"{array:.0f}",
                    f"{megabytes:.0f}",
                    f"{megabytes / array:.2f}",
                    f"{seconds:.1f}",
                    outcome,
                ]
            )
    header = ["file", "reader", "MB on disk", "MiB of numbers", "MiB at the peak", "peak / numbers", "s", "outcome"]
    print_table("Memory of reading, above what the imported packages take", header, found)


if __name__ == "__main__":
    main()
