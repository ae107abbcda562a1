"""What starting costs: the import, and commands with a warm cache. Run: python benchmarks/bench_startup.py"""

from __future__ import annotations

import subprocess
import sys

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


def main() -> None:
    def run(arguments: list[str]) -> None:
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    times = best_times({name: lambda a=arguments: run(a) for name, (arguments, _) in CASES.items()}, rounds=5)
    rows = [[name, f"{times[name]:.2f}", "" if goal is None else f"{goal:g}"] for name, (_, goal) in CASES.items()]
    print_table("Whole processes, best of 5, warm caches", ["command", "s", "goal: below"], rows)


if __name__ == "__main__":
    main()
