"""Mistakes with what a command writes: an output that is an input, a device, somebody else's file, or has no room."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from attack.corpus.command_lines import LINES, Line
from attack.corpus.hostile import HOSTILE_NAMES
from attack.warm_pool import Case, WarmPool

WRITERS = [line for line in LINES if any(word.startswith(">") for word in line.words) and line.slots and not line.slow]
REFUSED = (1, 2)

Put = Callable[[Path, Path], str]


def _the_input(path: Path, sample: Path) -> str:
    return sample.name


def _round_about(path: Path, sample: Path) -> str:
    path.mkdir()
    return f"{path.name}/../{sample.name}"


def _soft_link(path: Path, sample: Path) -> str:
    path.symlink_to(sample.name)
    return path.name


def _hard_link(path: Path, sample: Path) -> str:
    os.link(sample, path)
    return path.name


def _folder(path: Path, sample: Path) -> str:
    path.mkdir()
    (path / "kept").write_text("kept")
    return path.name


def _pipe(path: Path, sample: Path) -> str:
    os.mkfifo(path)
    return path.name


def _device(path: Path, sample: Path) -> str:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # a null device of its own: the real one is precious
    except PermissionError:
        pytest.skip("only root makes devices")
    return path.name


def _link_to_a_device(path: Path, sample: Path) -> str:
    name = _device(path.with_name("device"), sample)
    path.symlink_to(name)
    return path.name


MISTAKES: dict[str, Put] = {
    "the input": _the_input,
    "the input by another path": _round_about,
    "a link to the input": _soft_link,
    "a hard link to the input": _hard_link,
    "a folder": _folder,
    "a pipe": _pipe,
    "a device": _device,
    "a link to a device": _link_to_a_device,
    "below a file": lambda path, sample: f"{sample.name}/{path.name}",
    "in no folder": lambda path, sample: f"nowhere/{path.name}",
    "no name": lambda path, sample: "",
    "a name that is too long": lambda path, sample: "n" * 300 + path.suffix,
}
"""Makes something where an output is to go, and gives the argument to pass; every input must survive."""


NOT_FOR_FOLDERS = {"a hard link to the input", "below a file"}


def places_of_outputs(line: Line) -> list[int]:
    return [place for place, word in enumerate(line.words) if word.startswith(">")]


@pytest.mark.parametrize("line", WRITERS, ids=str)
def test_an_output_that_cannot_be_meant(line: Line, pool: WarmPool, tmp_path: Path) -> None:
    """Every output in the place of every input, and one other mistake for each of them."""
    broken, draw = [], random.Random(str(line))
    for place in places_of_outputs(line):
        for number, slot in enumerate(line.slots):
            mistakes = {"the input", draw.choice(list(MISTAKES)), draw.choice(list(MISTAKES))}
            for mistake in sorted(mistakes - (NOT_FOR_FOLDERS if slot.sample.startswith("bag_") else set())):
                folder = tmp_path / f"{place}-{number}-{mistake}"
                line.put_samples(pool.samples, folder)
                name = line.words[place].removeprefix(">")
                argument = MISTAKES[mistake](folder / name, folder / slot.sample)
                others = tuple(one for one in line.outputs if one != name)
                case = Case(f"{line} writing to {mistake}", line.arguments({place: argument}), folder, others)
                broken.append(pool.attack(case, expected=REFUSED))
    assert not any(broken), "\n".join(str(one) for one in broken if one)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_with_an_output(mistake: str, pool: WarmPool, tmp_path: Path) -> None:
    line = next(line for line in WRITERS if line.command == "identify fuse")
    line.put_samples(pool.samples, tmp_path / "0")
    place = places_of_outputs(line)[0]
    argument = MISTAKES[mistake](tmp_path / "0" / "fused.json", tmp_path / "0" / line.slots[0].sample)
    case = Case(f"{line} writing to {mistake}", line.arguments({place: argument}), tmp_path / "0")
    broken = pool.attack(case, expected=REFUSED)
    assert broken is None, str(broken)


@pytest.mark.parametrize("line", WRITERS, ids=str)
def test_an_output_over_a_file_of_another_kind(line: Line, pool: WarmPool, tmp_path: Path) -> None:
    """A recording where a result is to go is worth more than the result."""
    place = places_of_outputs(line)[0]
    name = line.words[place].removeprefix(">")
    line.put_samples(pool.samples, tmp_path / "0")
    other = "calm.json" if name.endswith((".parquet", ".csv")) else "run.parquet"
    os.link(pool.samples / other, tmp_path / "0" / name)
    others = tuple(one for one in line.outputs if one != name)
    case = Case(f"{line} over {other}", line.arguments(), tmp_path / "0", others)
    broken = pool.attack(case, expected=REFUSED)
    assert broken is None, str(broken)


@pytest.mark.parametrize("line", [line for line in WRITERS if not line.endless], ids=str)
def test_an_output_with_an_awkward_name(line: Line, pool: WarmPool, tmp_path: Path) -> None:
    place = places_of_outputs(line)[0]
    written = line.words[place].removeprefix(">")
    name = HOSTILE_NAMES[LINES.index(line) % len(HOSTILE_NAMES)] + Path(written).suffix
    line.put_samples(pool.samples, tmp_path / "0")
    case = Case(
        f"{line} writing to {name!r}",
        line.arguments({place: name}),
        tmp_path / "0",
        (*line.outputs, name),
        stdout_errors="surrogateescape" if LINES.index(line) % 2 else "strict",
    )
    broken = pool.attack(case)
    assert broken is None, str(broken)


@pytest.mark.parametrize("line", [line for line in WRITERS if line.codes == (0,) and not line.endless], ids=str)
def test_an_output_without_room(line: Line, pool: WarmPool, tmp_path: Path) -> None:
    """The disk is full after some bytes: no part of a file is left, and what was there stays."""
    line.put_samples(pool.samples, tmp_path / "0")
    room = 100 if line.command == "setup" else 500  # whose file is small
    case = Case(f"{line} without room", line.arguments(), tmp_path / "0", largest_file=room)
    broken = pool.attack(case, expected=(1,))
    assert broken is None, str(broken)
