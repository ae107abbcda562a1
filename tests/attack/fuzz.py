"""``make fuzz MINUTES=n``: the attacks of the tests with new seeds, until the time is up.

What breaks the rule is kept in a folder each, with what it did and the command that does it again.
"""

from __future__ import annotations

import argparse
import random
import re
import secrets
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from attack.connections import TARGETS, connection_case
from attack.corpus.bad_files import PLACES, Put, bad_contents, bad_names, foreign_contents
from attack.corpus.bad_options import BadOption, bad_options
from attack.corpus.command_lines import LINES, mutated_case, spoiled
from attack.corpus.sample_files import SAMPLES
from attack.warm_pool import Broken, Case, WarmPool
from iparam.cli.command_table import COMMANDS

REPORT_EVERY = 10.0
"""Seconds between two lines that say how it goes."""

MOST_ALIKE = 3
"""Runs that are kept of those that did the same thing; the others are counted."""

_SLOW = 0.05
"""Share of the mutations that are given to commands that take seconds, too."""


@dataclass
class Fuzz:
    """What all threads of a session share.

    Attributes:
        keep: folder for what broke the rule.
        seed: of everything.
        deadline: when to stop, by the monotonic clock.
        runs: done so far.
        broken: what broke the rule -> how often.
    """

    keep: Path
    seed: int
    deadline: float
    runs: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)

    def work(self, worker: int, scratch: Path) -> None:
        """Attack until the time is up."""
        with WarmPool(scratch / "pool", scratch / "samples") as pool:
            number = 0
            while time.monotonic() < self.deadline and not self.stop.is_set():
                kind, case = random_case(f"{self.seed}:{worker}:{number}", pool.samples, scratch / str(number))
                broken = pool.attack(case)
                with self.lock:
                    self.runs[kind] += 1
                    if broken is not None:
                        self._keep(broken)
                shutil.rmtree(case.folder, ignore_errors=True)
                number += 1

    def _keep(self, broken: Broken) -> None:
        like = alike(broken)
        self.broken[like] += 1
        if self.broken[like] > MOST_ALIKE:
            return
        place = self.keep / f"{self.seed}-{sum(self.broken.values())}"
        inputs = place / "folder"
        shutil.copytree(broken.case.folder, inputs, symlinks=True, ignore=_pipes)
        again = str(broken.case.reproduction).replace(str(broken.case.folder), str(inputs))
        (place / "command.sh").write_text(f"{again}\n")
        (place / "why.txt").write_text(f"{broken}\n")
        (place / "stdout").write_bytes(broken.ending.out)
        (place / "stderr").write_bytes(broken.ending.err)
        print(f"\n{broken}\n    kept in {place}\n", flush=True)


def alike(broken: Broken) -> str:
    """What tells one fault from another: what it did and said, without the names and numbers in it."""
    said = re.sub(
        r"'[^']*'|\"[^\"]*\"|\d+|\S*bad\S*|\S*[/\\]\S*", "_", f"{'; '.join(broken.sentences)}: {broken.last_line}"
    )
    return said[:200]


def random_case(seed: str, samples: Path, folder: Path) -> tuple[str, Case]:
    """A run that a seed decides on, and what kind of attack it is."""
    draw = random.Random(seed)
    kind = draw.choices(("mutation", "bad file", "bad option", "peer"), (75, 12, 8, 5))[0]
    if kind == "mutation":
        sample = draw.choice([name for name, of in SAMPLES.items() if of != "parameters"])
        return f"{kind} of {sample}", mutated_case(sample, seed, samples, folder, slow=draw.random() < _SLOW)
    if kind == "bad file":
        line = draw.choice([line for line in LINES if line.slots and not line.slow])
        slot = draw.choice(line.slots)
        name, put = draw.choice(_bad_files(samples / slot.sample))
        return kind, spoiled(line, slot, samples, folder, name, put)
    if kind == "bad option":
        return kind, draw.choice(_bad_options()).case(samples, folder)
    target = draw.choices(TARGETS, (20, 2, 4, 1, 0.3, 4))[0]
    return target, connection_case(target, seed, samples, folder)


@cache
def _bad_files(sample: Path) -> list[tuple[str, Put]]:
    return [*PLACES.items(), *bad_contents(sample), *foreign_contents(sample), *bad_names(sample)]


@cache
def _bad_options() -> list[BadOption]:
    return [option for entry in COMMANDS for option in bad_options(entry.name)]


def _pipes(folder: str, names: list[str]) -> list[str]:
    """Those that cannot be copied."""
    return [name for name in names if (Path(folder) / name).is_fifo()]


def main() -> int:
    """Attack, report and keep; the exit code is 0 if nothing broke the rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9))
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    options = parser.parse_args()
    began = time.monotonic()
    fuzz = Fuzz(options.keep.absolute(), options.seed, began + 60.0 * options.minutes)
    print(f"fuzzing for {options.minutes:g} minutes with seed {options.seed} in {options.jobs} processes", flush=True)
    failures: list[BaseException] = []

    def guarded(work: Callable[[int, Path], None], worker: int, scratch: Path) -> None:
        try:
            work(worker, scratch)
        except BaseException as error:
            failures.append(error)
            fuzz.stop.set()

    with tempfile.TemporaryDirectory(prefix="iparam-fuzz-") as folder:
        threads = [
            threading.Thread(target=guarded, args=(fuzz.work, worker, Path(folder) / str(worker)))
            for worker in range(options.jobs)
        ]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                fuzz.stop.wait(REPORT_EVERY) if not fuzz.stop.is_set() else threads[0].join(REPORT_EVERY)
                passed = time.monotonic() - began
                print(f"{passed:6.0f} s  {fuzz.runs.total()} runs, {fuzz.broken.total()} broke the rule", flush=True)
        except KeyboardInterrupt:
            fuzz.stop.set()
        for thread in threads:
            thread.join()
    for kind, count in sorted(fuzz.runs.items()):
        print(f"{count:8d}  {kind}")
    if failures:
        raise failures[0]
    if fuzz.broken:
        print(f"{fuzz.broken.total()} runs in {len(fuzz.broken)} ways broke the rule; see {fuzz.keep}")
        for like, count in fuzz.broken.most_common():
            print(f"{count:8d}  {like}")
        return 1
    print(f"clean: {fuzz.runs.total()} runs kept the rule")
    return 0


if __name__ == "__main__":
    sys.exit(main())
