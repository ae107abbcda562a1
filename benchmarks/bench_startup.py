"""What starting costs: the import, and commands with a warm cache. Run: python benchmarks/bench_startup.py"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from side_by_side import best_times, print_table

Q = ["--q", "0", "-1.57", "0", "-1.57", "0", "0"]
CASES = {
    'python -c "pass"': (["-c", "pass"], None),
    'python -c "import numpy"': (["-c", "import numpy"], None),
    'python -c "import iparam"': (["-c", "import iparam"], 0.6),
    "iparam --help": (["-m", "iparam", "--help"], None),
    "iparam kinematics compute": (["-m", "iparam", "kinematics", "compute", "--robot", "ur5e", *Q], 1.5),
    "iparam dynamics compute": (["-m", "iparam", "dynamics", "compute", "--robot", "ur5e", *Q], None),
}


DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
BOX = ["--payload", "box", "--mass", "2", "--size", "0.1", "0.15", "0.2", "--noise", "ur5e"]


def main() -> None:
    # As users have it: modules are compiled once, also where this process was told to keep no bytecode.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(arguments: list[str]) -> None:
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)

    with tempfile.TemporaryDirectory() as folder:
        recording = f"{folder}/run.parquet"
        trajectory = str(DATA / "optimized_ur5e.json")
        run(["-m", "iparam", "simulate", "--trajectory", trajectory, *BOX, "--output", recording])
        cases = CASES | {"iparam identify payload, 10 s": (["-m", "iparam", "identify", "payload", recording], 2.0)}
        times = best_times({name: lambda a=arguments: run(a) for name, (arguments, _) in cases.items()}, rounds=5)
    rows = [[name, f"{times[name]:.2f}", "" if goal is None else f"{goal:g}"] for name, (_, goal) in cases.items()]
    print_table("Whole processes, best of 5, warm caches", ["command", "s", "goal: below"], rows)


if __name__ == "__main__":
    main()
