"""Practising against the twin on a busy computer: runs with the default guards that are played to the end.

    python benchmarks/bench_ur_practice.py [--runs 20] [--load 4] [--clocks simulated,wall]

Each run is `iparam ur run` as a user starts it, against `make ur-simulator` in a process of its own, while as many
processes as ``--load`` says do nothing but compute. Both clocks of the twin, side by side: with simulated time it waits
for whoever is late, on the wall clock it does as a real controller does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from side_by_side import print_table

import iparam

MASS = 2.0
TESTS = Path(__file__).parents[1] / "tests"
MOTION = TESTS / "data" / "calm_ur5e.json"
SIMULATOR = [sys.executable, "-m", "doubles.ur_controller"]
COMMAND = [sys.executable, "-m", "iparam"]
_AS_PLANNED = ["--payload-size", "0.1", "0.15", "0.2", "--payload-mass", str(MASS), "--approach-speed", "1"]


def practise(clock: str, host: str, runs: int, folder: Path) -> list[dict[str, object]]:
    """One twin, so many runs: how each ended, how long it took and what was found."""
    twin = subprocess.Popen(
        [*SIMULATOR, "--host", host, "--clock", clock, "--noise", "ur5e", "--mass", str(MASS)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert twin.stdout is not None
    rows: list[dict[str, object]] = []
    try:
        assert twin.stdout.readline().startswith("ready")
        for number in range(runs):
            output = folder / f"{clock}{number}.parquet"
            begun = time.monotonic()
            done = subprocess.run(
                [*COMMAND, "ur", "run", str(MOTION), "--host", host, "--output", str(output), "--yes", *_AS_PLANNED],
                capture_output=True,
                text=True,
                check=False,
            )
            row: dict[str, object] = {"clock": clock, "run": number, "exit": done.returncode}
            row["seconds"] = round(time.monotonic() - begun, 1)
            row["load"] = round(os.getloadavg()[0], 1)
            if done.returncode == 0:
                recording = iparam.Recording.load(output)
                estimate = iparam.identify_payload(recording)
                row |= {"mass": round(float(estimate.mass), 5), "gaps": recording.metadata["gap_count"]}
            else:
                row["error"] = done.stderr.strip().splitlines()[-1]
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    finally:
        twin.terminate()
        twin.wait()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--load", type=int, default=4)
    parser.add_argument("--clocks", default="simulated,wall")
    given = parser.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(given.load)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            clocks = given.clocks.split(",")
            found = {
                c: practise(c, f"127.90.{os.getpid() % 250}.{i + 1}", given.runs, Path(folder))
                for i, c in enumerate(clocks)
            }
    finally:
        for process in busy:
            process.kill()
            process.wait()
    table = []
    for clock, rows in found.items():
        masses = [float(str(row["mass"])) for row in rows if "mass" in row]
        stopped = len(rows) - len(masses)
        span = f"{min(masses):.4f} to {max(masses):.4f} kg" if masses else "-"
        seconds = sum(float(str(row["seconds"])) for row in rows) / len(rows)
        loads = [float(str(row["load"])) for row in rows]
        load = f"{min(loads):.1f} to {max(loads):.1f}"
        table.append([clock, f"{len(masses)} of {len(rows)}", str(stopped), span, f"{seconds:.1f} s", load])
    header = ["clock", "played to the end", "stopped", "mass found, least to most", "a run takes", "load average"]
    title = f"{given.load} computing processes beside the runs on {os.cpu_count()} cores; default guards, 4 s of motion"
    print_table(title, header, table)


if __name__ == "__main__":
    main()
