"""What the first use costs: commands without and with kept kernels. Run: python benchmarks/bench_cold.py [--kernels]

The machine may be shared: processor time counts. ``--source FOLDER`` runs the package of another checkout;
``--before REVISION`` runs an older one too, beside it; ``--kernels`` lists what is compiled, with the processor time
of each without those that it calls. ``--all``, with PYTHONPATH=tests, takes every command that ends by itself and needs
neither an arm nor a cluster, as the attacks call it: its files are small.
"""

from __future__ import annotations

import argparse
import collections
import io
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from side_by_side import print_table

REPOSITORY = Path(__file__).resolve().parents[1]
PLAN = str(REPOSITORY / "tests" / "data" / "optimized_ur5e.json")
BOX = ["--payload", "box", "--mass", "2", "--size", "0.1", "0.15", "0.2", "--noise", "ur5e"]
Q = ["--q", "0", "-1.57", "0", "-1.57", "0", "0"]
COMMANDS = {
    "kinematics compute": ["kinematics", "compute", "--robot", "ur5e", *Q],
    "dynamics compute": ["dynamics", "compute", "--robot", "ur5e", *Q],
    "excite check": ["excite", "check", PLAN],
    "simulate": ["simulate", "--trajectory", PLAN, *BOX, "--output", "run.parquet"],
    "identify payload": ["identify", "payload", "run.parquet", "--output", "result.json"],
    "doctor": ["doctor", "run.parquet"],
    "verify": ["verify", "result.json", "run.parquet"],
    "excite optimize": ["excite", "optimize", "--robot", "ur5e", "--time-budget", "3", "--output", "plan.json"],
    "demo": ["demo", "--seconds-budget", "3"],
}

# In each process of a command: a line a function that numba compiles, for whichever process does it.
LISTENER = """
import importlib.abc, importlib.machinery, os, sys, time
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "iparam.robot.kernels.compilation":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        load = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (listen(), load(module))[1]
        return spec
def listen():
    from numba.core import event
    open_ones = []
    class Listener(event.Listener):
        def on_start(self, started):
            open_ones.append([time.thread_time(), 0.0])
        def on_end(self, ended):
            began, inner = open_ones.pop()
            took = time.thread_time() - began
            if open_ones:
                open_ones[-1][1] += took
            function = ended.data["dispatcher"].py_func
            with open(os.environ["COMPILED"], "a") as file:
                file.write(f"{function.__module__}.{function.__qualname__}\\t{took - inner}\\n")
    event.register("numba:compile", Listener())
sys.meta_path.insert(0, Finder())
"""


class Run(NamedTuple):
    """Wall and processor time of a command [s], and what it compiled: name, processor time [s]."""

    wall: float
    processor: float
    compiled: list[tuple[str, float]]


def run(words: list[str], source: str, folder: Path, cache: Path) -> Run | None:
    """A command in ``folder``, with kernels kept in ``cache``; None if it failed."""
    log = folder / "compiled.tsv"
    log.write_text("")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": f"{folder / 'site'}{os.pathsep}{source}"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "iparam", *words],
        cwd=folder,
        env=environment | {"COMPILED": str(log), "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1) or "is a bug" in done.stderr:  # 1: a verdict
        print(f"iparam {' '.join(words)} failed:\n{done.stderr}", file=sys.stderr)
        return None
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    return Run(wall, processor, [(name, float(seconds)) for name, seconds in rows])


def every_command(folder: Path) -> dict[str, list[str]]:
    """A call of each command that works and ends by itself, with its files in ``folder``; those of `COMMANDS` first."""
    from attack.corpus.command_lines import LINES
    from attack.corpus.sample_files import make_samples

    make_samples(folder)
    found = dict(COMMANDS)
    for line in LINES:
        if 0 in line.codes and not line.endless and not line.command.startswith("ur "):
            words = [_numbered(word) if word in line.outputs else word for word in line.arguments()]
            found.setdefault(line.command, words)
    return found


def _numbered(word: str) -> str:
    """The name of an output with a place for the number of the run: in the second run it is not there yet, either."""
    path = Path(word)
    return f"{path.stem}-{{run}}{path.suffix}"


def measured(command: list[str], source: str, folder: Path, name: str) -> tuple[Run | None, Run | None]:
    """A command without and with kept kernels."""
    runs = []
    for number in ("1", "2"):
        words = [word.replace("{run}", f"{name}{number}") for word in command]
        runs.append(run(words, source, folder, folder / f"cache-{name}"))
    return runs[0], runs[1]


def check_out(revision: str, folder: Path) -> None:
    """Write the files of a revision to a new folder."""
    folder.mkdir()
    packed = subprocess.run(["git", "archive", revision], cwd=REPOSITORY, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def cells(cold: Run | None, warm: Run | None) -> list[str]:
    """Of a row: what was compiled, how long, and the times of both runs."""
    if cold is None or warm is None:
        return ["-"] * 6
    seconds = sum(took for _, took in cold.compiled)
    times = (seconds, cold.processor, warm.processor, cold.wall, warm.wall)
    return [str(len(cold.compiled)), *(f"{value:.1f}" for value in times)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", default=str(REPOSITORY / "src"), help="src folder of the checkout to run")
    parser.add_argument("--before", metavar="REVISION", help="an older revision of this repository, to run beside it")
    parser.add_argument("--kernels", action="store_true", help="also list what each command compiles")
    parser.add_argument("--all", action="store_true", help="every command; needs PYTHONPATH=tests")
    parser.add_argument("--commands", nargs="*", help="these alone")
    options = parser.parse_args()
    header = ["command", "compiled", "compiling s", "cold s", "warm s", "cold wall s", "warm wall s"]
    header += ["again", *(f"before: {name}" for name in header[3:])] if options.before else ["again"]
    rows, lists = [], {}
    with tempfile.TemporaryDirectory() as name:
        folder, older = Path(name) / "files", str(Path(name) / "older" / "src")
        if options.before:
            check_out(options.before, Path(name) / "older")
        commands = every_command(folder) if options.all else COMMANDS
        (folder / "site").mkdir(parents=True)
        (folder / "site" / "sitecustomize.py").write_text(LISTENER)
        for needed in ("simulate", "identify payload"):  # what later commands read
            run(COMMANDS[needed], options.source, folder, folder / "warm")
        for number, command in enumerate(commands):
            if options.commands and command not in options.commands:
                continue
            cold, warm = measured(commands[command], options.source, folder, f"{number}now")
            row = [f"`{command}`", *cells(cold, warm), str(len(warm.compiled)) if warm else "-"]
            lists[command] = cold.compiled if cold else []
            if options.before:
                row += cells(*measured(commands[command], older, folder, f"{number}before"))[2:]
            rows.append(row)
            print(" ".join(row), file=sys.stderr)
    print_table("First and second use; seconds of processor time unless said otherwise", header, rows)
    for command, compiled in lists.items() if options.kernels else ():
        by_name: dict[str, list[float]] = collections.defaultdict(list)
        for function, took in compiled:
            by_name[function].append(took)
        ordered = sorted(by_name.items(), key=lambda item: -sum(item[1]))
        print_table(
            f"iparam {command}: what is compiled",
            ["function", "times", "s"],
            [[function, str(len(took)), f"{sum(took):.2f}"] for function, took in ordered],
        )


if __name__ == "__main__":
    main()
