"""Every command with bad files in the place of each of its own, and every format with random changes."""

from __future__ import annotations

import dataclasses
import inspect
import random
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tyro

from attack.corpus.bad_files import PLACES, Put, bad_contents, bad_names, foreign_contents
from attack.corpus.command_lines import LINES, Line, Slot, mutated_case, spoiled
from attack.corpus.sample_files import SAMPLES
from attack.warm_pool import Case, WarmPool
from iparam.cli.command_table import COMMANDS

Attack = Callable[[Iterable[Callable[[Path], Case]]], None]

SLOTS = [(line, slot) for line in LINES for slot in line.slots]

LIKE_OTHERS = {"calm.json", "loaded.txt", "other_result.json", "log.mcap", "bag_sqlite"}
"""Samples that are attacked as another of the same format is."""

FOREIGN, NAMES = 5, 2
"""Files of other formats, and awkward names, for each format; `make fuzz` tries them all."""

MUTATIONS = {"recording": 16, "urdf": 20}
OTHER_MUTATIONS = 8
"""Random changes of each sample, the same in every run; `make fuzz` goes on from there with new ones."""


def name_of(case: tuple[Line, Slot]) -> str:
    line, slot = case
    return f"{line.command}-{slot.sample}-{LINES.index(line)}"


@pytest.mark.parametrize("line", [line for line in LINES if not (line.slow or line.endless)], ids=str)
def test_a_sound_call_works(line: Line, pool: WarmPool) -> None:
    """What is attacked would work, so that it is the attack that is refused."""
    assert pool.sound_codes[str(line)] in line.codes


@pytest.mark.parametrize(("line", "slot"), SLOTS, ids=map(name_of, SLOTS))
def test_a_command_with_bad_files(line: Line, slot: Slot, pool: WarmPool, attack: Attack) -> None:
    """A few in every place where a command takes a file; where it takes long, only what it cannot begin with."""
    sample, draw = pool.samples / slot.sample, random.Random(f"{line} {slot.place}")
    chosen = [("missing", PLACES["missing"])] if line.endless else draw.sample(list(PLACES.items()), 2)
    if not (line.endless or line.slow):
        chosen += draw.sample([*foreign_contents(sample), *bad_contents(sample)], 1)
    if line.quick:
        chosen += draw.sample(bad_names(sample), 1)
    attack(partial(_spoiled, line, slot, pool.samples, *bad) for bad in chosen)


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name not in LIKE_OTHERS])
def test_a_format_with_bad_files(sample: str, pool: WarmPool, attack: Attack) -> None:
    """All that can be wrong with a format, for a command that does little more than read it."""
    readers = [(line, slot) for line, slot in SLOTS if slot.kind == SAMPLES[sample] and line.quick]
    if not readers:
        pytest.skip("only nodes read it, which start too slowly")
    line, slot = min(readers, key=lambda reader: reader[1].sample != sample)
    place, draw = pool.samples / sample, random.Random(sample)
    bad = [*PLACES.items(), *bad_contents(place)]
    bad += draw.sample(foreign_contents(place), FOREIGN) + draw.sample(bad_names(place), NAMES)
    attack(partial(_spoiled, line, Slot(slot.place, sample), pool.samples, *one) for one in bad)


def _spoiled(line: Line, slot: Slot, samples: Path, name: str, put: Put, folder: Path) -> Case:
    return spoiled(line, slot, samples, folder, name, put)


@pytest.mark.thorough(keep=8)
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
            typed = str(inspect.get_annotations(kind).get(field.name, field.type))
            if "Path" in typed and "Suppress" not in typed:  # which is no option: --setup of every command
                given = [value for call in calls if (value := getattr(call, field.name)) not in (None, field.default)]
                missing += [] if given else [f"{entry.name} {field.name}"]
    assert not missing
