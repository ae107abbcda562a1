"""Every command with bad files in the place of each of its own, and every format with random changes."""

from __future__ import annotations

import dataclasses
import inspect
import random
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tyro

from attack.corpus.bad_files import PLACES, Put, bad_contents, bad_names
from attack.corpus.command_lines import LINES, Line, Slot, mutated_case, spoiled
from attack.corpus.sample_files import SAMPLES
from attack.warm_pool import Case, WarmPool
from iparam.cli.command_table import COMMANDS

Attack = Callable[[Iterable[Callable[[Path], Case]]], None]

SLOTS = [(line, slot) for line in LINES for slot in line.slots]
FIRST = {slot.sample: (line, slot) for line, slot in reversed(SLOTS) if not (line.slow or line.endless)}
"""Sample -> the first call that reads it: it gets all bad files, other calls a few of them."""

A_FEW, FEW_NAMES, FEWER = 6, 2, 1

MUTATIONS = {"trajectory": 100, "urdf": 200, "recording": 150, "cell": 60, "truth": 60, "result": 60, "log": 50}
OTHER_MUTATIONS = 80


def name_of(case: tuple[Line, Slot]) -> str:
    line, slot = case
    return f"{line.command}-{slot.sample}-{LINES.index(line)}"


@pytest.mark.parametrize("line", [line for line in LINES if not (line.slow or line.endless)], ids=str)
def test_a_sound_call_works_and_keeps_the_rule(line: Line, pool: WarmPool, tmp_path: Path) -> None:
    line.put_samples(pool.samples, tmp_path / "0")
    case = Case(str(line), line.arguments(), tmp_path / "0", line.outputs)
    broken = pool.attack(case, expected=line.codes)
    assert broken is None, str(broken)


@pytest.mark.parametrize(("line", "slot"), SLOTS, ids=map(name_of, SLOTS))
def test_a_command_with_a_bad_file(line: Line, slot: Slot, pool: WarmPool, attack: Attack) -> None:
    attack(partial(_spoiled, line, slot, pool.samples, *bad) for bad in _chosen(line, slot, pool.samples))


def _chosen(line: Line, slot: Slot, samples: Path) -> Iterator[tuple[str, Put]]:
    sample = samples / slot.sample
    places, contents, names = (list(bad) for bad in (PLACES.items(), bad_contents(sample), bad_names(sample)))
    draw = random.Random(f"{line} {slot.place}")
    if line.endless:
        return iter(draw.sample(places, FEWER) + draw.sample(contents, FEWER))
    if FIRST[slot.sample] == (line, slot):
        return iter((*places, *contents, *names))
    few = [] if line.slow else draw.sample(names, FEW_NAMES)
    return iter((*places, *draw.sample(contents, A_FEW), *few))


def _spoiled(line: Line, slot: Slot, samples: Path, name: str, put: Put, folder: Path) -> Case:
    return spoiled(line, slot, samples, folder, name, put)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_format_with_random_changes(sample: str, pool: WarmPool, attack: Attack) -> None:
    if SAMPLES[sample] == "parameters":
        pytest.skip("only nodes read it, which start too slowly")
    count = MUTATIONS.get(SAMPLES[sample], OTHER_MUTATIONS)
    attack(partial(mutated_case, sample, f"{sample}:{number}", pool.samples) for number in range(count))


def test_every_command_and_every_file_argument_is_attacked() -> None:
    missing = []
    for entry in COMMANDS:
        kind: Any = entry.load()
        calls = [
            tyro.cli(kind, args=line.arguments()[len(entry.words) :]) for line in LINES if line.command == entry.name
        ]
        missing += [] if calls else [entry.name]
        for field in dataclasses.fields(kind):
            if "Path" in str(inspect.get_annotations(kind).get(field.name, field.type)):
                given = [value for call in calls if (value := getattr(call, field.name)) not in (None, field.default)]
                missing += [] if given else [f"{entry.name} {field.name}"]
    assert not missing
