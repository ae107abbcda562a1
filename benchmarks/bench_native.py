"""What a session costs with the native core, against another revision of iparam: processor time, latency, size.

    python benchmarks/bench_native.py [--before PYTHON] [--rounds 5]

PYTHON is that of an environment with the other revision; both take turns. Processor time is that of all processes of a
command, which other work on the machine changes less than its duration. Without --before there is one column.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measured_data import other_revision
from side_by_side import print_table

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
BOX = ["--payload", "box", "--mass", "2", "--size", "0.1", "0.15", "0.2", "--noise", "ur5e"]
IMPORTS = ["-c", "import numpy, scipy.linalg, scipy.signal, pyarrow"]
GOAL = 1.4
"""Most processor time of an identification, in that of the imports."""

LOOPS = """
import sys, time
import numpy as np
import iparam
from iparam.estimation import OnlineIdentifier, OnlineSettings
from iparam.motion import JointProcess, kalman_smooth

recording, robot = iparam.Recording.load(sys.argv[1]), iparam.load_robot("ur5e")
q, wrench = recording.signal("q"), recording.signal("wrench")
identifier, taken = OnlineIdentifier(robot, OnlineSettings()), []
for k in range(q.num_samples):
    start = time.perf_counter()
    identifier.step(q.time[k], q.values[k], wrench.values[k])
    taken.append(time.perf_counter() - start)
print(*np.percentile(taken[500:], [50, 99]))
process, best = JointProcess(4, 5.0, 5e-5), np.inf
for _ in range(20):
    start = time.perf_counter()
    kalman_smooth(q.time, q.values, [process] * 6)
    best = min(best, time.perf_counter() - start)
print(best)
"""


def environment(python: str, cache: str | None = None) -> dict[str, str]:
    """As users have it: modules are compiled once, and one process has one thread for linear algebra."""
    left_out = {"PYTHONDONTWRITEBYTECODE"} | ({"PYTHONPATH"} if python != sys.executable else set())
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"OPENBLAS_NUM_THREADS": "1"} | ({} if cache is None else {"NUMBA_CACHE_DIR": cache})


def processor_time(python: str, arguments: list[str], cache: str | None = None) -> float:
    """User and system time [s] of a command and all its processes."""
    command = [python, "-P", *arguments]
    process = subprocess.Popen(
        command, env=environment(python, cache), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed: {said.decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime


def loops(python: str, recording: str) -> tuple[float, float, float]:
    """p50 and p99 of an on-line step, and a smoother of 10 s at 500 Hz and six joints [s]."""
    command = [python, "-P", "-c", LOOPS, recording]
    done = subprocess.run(command, env=environment(python), capture_output=True, text=True, check=True)
    p50, p99, smoother = map(float, done.stdout.split())
    return p50, p99, smoother


def installed_size(python: str) -> float:
    """What pip has installed there of iparam's own requirements, without extras [MB]."""
    code = """
import re
from importlib.metadata import PackageNotFoundError, distribution
known, waiting = set(), ["iparam"]
while waiting:
    name = waiting.pop()
    if name in known:
        continue
    try:
        found = distribution(name)
    except PackageNotFoundError:
        continue
    known.add(name)
    asked = [line for line in found.requires or [] if "extra ==" not in line]
    waiting += [re.match(r"[A-Za-z0-9._-]+", line)[0] for line in asked]
files = {file.locate() for name in known if name != "iparam" for file in distribution(name).files or []}
print(sum(file.stat().st_size for file in files if file.is_file()) / 1e6)
"""
    return float(subprocess.run([python, "-P", "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="PYTHON", help="of an environment with another revision")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    before = other_revision(arguments.before)
    pythons = {} if before is None else {"before": before}
    pythons["now"] = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        simulate = ["-m", "iparam", "simulate", "--trajectory", str(DATA / "optimized_ur5e.json"), *BOX]
        recordings = {name: f"{folder}/{name}.parquet" for name in pythons}
        for name, python in pythons.items():
            processor_time(python, [*simulate, "--sensor-rate", "500", "--output", recordings[name]])
        plan = ["-m", "iparam", "excite", "optimize", "--robot", "ur5e", "--starts", "1", "--overwrite"]
        cases = {
            "bare imports": IMPORTS,
            "excite optimize --starts 1": [*plan, "--output", f"{folder}/plan.json"],
            "demo": ["-m", "iparam", "demo", "--no-report", "--overwrite", "--output-dir", f"{folder}/demo"],
        }
        figures: dict[str, dict[str, float]] = {name: {} for name in pythons}
        for number in range(arguments.rounds):
            for name, python in pythons.items():
                own, identify = figures[name], ["-m", "iparam", "identify", "payload", recordings[name]]
                first = processor_time(python, identify, f"{folder}/{name}{number}")
                own["identify payload, first use"] = min(first, own.get("identify payload, first use", first))
                for case, command in (cases | {"identify payload": identify}).items():
                    if case in ("bare imports", "identify payload") or number < 2:  # the others are long
                        taken = processor_time(python, command, f"{folder}/{name}")
                        own[case] = min(taken, own.get(case, taken))
                p50, p99, smoother = loops(python, recordings[name])
                for key, value in {"on-line step, p50": p50, "on-line step, p99": p99, "smoother": smoother}.items():
                    own[key] = min(1e3 * value, own.get(key, 1e3 * value))
        for name, python in pythons.items():
            figures[name]["installed, without extras and iparam"] = installed_size(python)
    units = {"on-line": "ms", "smoother": "ms", "installed": "MB"}
    rows = []
    for case in figures["now"]:
        unit = next((unit for start, unit in units.items() if case.startswith(start)), "s")
        rows.append([case, unit, *(f"{own[case]:.3g}" for own in figures.values())])
    ratios = [own["identify payload"] / own["bare imports"] for own in figures.values()]
    rows.append(
        [f"identify payload / bare imports (goal: at most {GOAL:g})", "", *(f"{ratio:.2f}" for ratio in ratios)]
    )
    title = f"Processor time of commands, best of {arguments.rounds}; a recording of 10 s at 500 Hz"
    print_table(title, ["what", "unit", *figures], rows)


if __name__ == "__main__":
    main()
