"""Errors name the option as it was typed."""

from __future__ import annotations

import contextvars
from dataclasses import dataclass
from pathlib import Path

import pytest

from iparam.cli.console.typed_options import naming_file, naming_option, remember, too_much
from iparam.cli.main import main

DATA = Path(__file__).resolve().parents[2] / "data"


@dataclass(frozen=True)
class Wash:
    """A command."""

    file: Path = Path("shirt.json")
    time_budget: float = 1.0
    starts: int = 1
    seed: int = 1
    harmonics: int = 1
    limit_fraction: float = 1.0
    tip: str = ""
    cell: Path | None = None
    methods: tuple[str, ...] = ()
    size: tuple[float, ...] = ()
    duration: float = 1.0
    time_range: tuple[float, float] | None = None
    rows: str | None = None
    ports: tuple[int, ...] = ()
    dry: bool = False

    def run(self) -> None:
        """Do nothing."""


def told(text: str, arguments: str, command: Wash) -> str:
    def tell() -> str:
        remember(arguments.split(), command)
        return naming_option(text)

    return contextvars.copy_context().run(tell)


@pytest.mark.parametrize(
    ("arguments", "command", "text", "expected"),
    [
        (
            "--time-budget -3",
            Wash(time_budget=-3.0),
            "time_budget must be positive, got -3.0",
            "--time-budget must be positive, got -3.0",
        ),
        (
            "--time-range 0 0.1 --starts 3",
            Wash(time_range=(0.0, 0.1), starts=3),
            "at least 16 samples are needed, got 3",
            "--time-range 0 0.1: at least 16 samples are needed, got 3",
        ),
        ("--rows 0:1", Wash(rows="0:1"), "shirts need 2 samples, got 1", "--rows 0:1: shirts need 2 samples, got 1"),
        (
            "--ports 7 8",
            Wash(ports=(7, 8)),
            "cannot listen on 127.0.0.1 port 8: in use; --host must be free",
            "--ports 7 8: cannot listen on 127.0.0.1 port 8: in use; --host must be free",
        ),
        ("--starts=0", Wash(starts=0), "starts must be from 1, got 0", "--starts must be from 1, got 0"),
        ("--harmonics 0", Wash(harmonics=0), "num_harmonics must be 1, got 0", "--harmonics must be 1, got 0"),
        ("--starts 0 --seed 0", Wash(), "the seed must be from 1, got 0", "--seed must be from 1, got 0"),
        (
            "--limit-fraction 1.5",
            Wash(limit_fraction=1.5),
            "the usable fraction of the limits must be at most 1, got 1.5",
            "--limit-fraction 1.5: the usable fraction of the limits must be at most 1, got 1.5",
        ),
        # Two options have that value, and one of them is nearer to the words.
        (
            "--limit-fraction 0 --seed 0",
            Wash(limit_fraction=0.0),
            "the usable fraction of the limits must be above 0, got 0.0",
            "--limit-fraction 0: the usable fraction of the limits must be above 0, got 0.0",
        ),
        ("--starts 0 --seed 0", Wash(), "it is too small, got 0", "--starts 0 or --seed 0: it is too small, got 0"),
        ("--tip nope", Wash(tip="nope"), "unknown frame 'nope'", "--tip nope: unknown frame 'nope'"),
        ("--tip=", Wash(), "unknown frame ''", "--tip : unknown frame ''"),
        (
            "--tip nope --cell c.json",
            Wash(tip="nope", cell=Path("c.json")),
            "unknown frame 'nope' (or --cell)",
            "--tip nope: unknown frame 'nope' (or --cell)",
        ),
        ("--methods a lss", Wash(methods=("a", "lss")), "unknown 'lss'", "--methods a lss: unknown 'lss'"),
        ("--size 1 nan", Wash(size=(1.0, 2.0)), "got nan at index 1", "--size 1 nan: got nan at index 1"),
        ("--cell c.json", Wash(cell=Path("c.json")), "c.json is another arm's", "--cell c.json is another arm's"),
        # What names an option already, what was not typed, and what is only alike.
        ("--tip nope", Wash(tip="nope"), "--tip: unknown frame 'nope'", "--tip: unknown frame 'nope'"),
        ("", Wash(), "seed must be from 1, got 0", "seed must be from 1, got 0"),
        ("--seed 3", Wash(seed=3), "there are 3 bodies in the file's tree", "there are 3 bodies in the file's tree"),
        ("--dry shirt.json", Wash(dry=True), "unknown 'shirt.json'", "unknown 'shirt.json'"),
        ("--time-budget 1", Wash(), "my_time_budget.json is empty", "my_time_budget.json is empty"),
        ("--size 1 2 3 shirt.json", Wash(size=(1.0, 2.0, 3.0)), "unknown 'shirt.json'", "unknown 'shirt.json'"),
    ],
)
def test_an_error_names_what_was_typed(arguments: str, command: Wash, text: str, expected: str) -> None:
    assert told(text, arguments, command) == expected


def test_a_file_that_cannot_be_read_is_named_with_its_option() -> None:
    def tell(text: str) -> str:
        remember(["--cell", "c.json"], Wash(cell=Path("c.json")))
        return naming_file(text)

    for text in ("c.json does not exist", "c.json: not UTF-8 text", "c.json: No such file or directory"):
        assert contextvars.copy_context().run(tell, text) == f"--cell {text}"
    assert contextvars.copy_context().run(tell, "c.json.bak does not exist") == "c.json.bak does not exist"


def test_too_little_memory_is_said_with_what_asks_for_it() -> None:
    def tell(*arguments: str) -> str:
        remember(arguments, Wash(duration=1e9))
        return too_much()

    assert (
        contextvars.copy_context().run(tell, "--duration", "1e9", "--seed", "1") == ": ask for less than --duration 1e9"
    )
    assert "a part of the data" in contextvars.copy_context().run(tell)


PLAN = "excite optimize --robot ur5e --output o.json"
SIMULATE = "simulate --trajectory short_ur5e.json --output s.csv"
BOX = f"{SIMULATE} --payload box --size 0.1 0.1 0.1"
GUESS = "excite predict short_ur5e.json --payload-mass 2 --payload-size 0.1 0.1 0.1"
UR = "ur run short_ur5e.json --host 127.113.7.9 --yes --output x.parquet"


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        *((PLAN, wrong) for wrong in ("--time-budget -3", "--base-freq 0", "--harmonics 0", "--max-velocity 1 2")),
        *((PLAN, wrong) for wrong in ("--max-jerk 0", "--limit-fraction 1.5", "--duration 0", "--starts 0")),
        *((PLAN, wrong) for wrong in ("--workers 0", "--seed -1", "--clearance -0.1", "--max-displacement -1")),
        *((PLAN, wrong) for wrong in ("--payload-size -0.1 0.1 0.1", "--max-speed -1", "--noise x", "--tip nope")),
        *((PLAN, wrong) for wrong in ("--cell nope.json", "--base nope", "--scheduler foo", "--q0 900 0 0 0 0 0")),
        ("excite random --robot ur5e --output o.json", "--max-attempts 0"),
        ("excite random --robot ur5e --output o.json", "--amplitude -1"),
        ("excite random --robot ur5e --output o.json", "--duration 1e9"),
        ("excite poses --robot ur5e --output p.json", "--count 2"),
        ("excite check short_ur5e.json", "--rate -5"),
        ("excite check short_ur5e.json", "--tip nope"),
        (GUESS, "--rate 0"),
        (GUESS, "--repetitions 0"),
        (SIMULATE, "--sensor-rate 0"),
        (SIMULATE, "--noise x"),
        (SIMULATE, "--motors x"),
        (SIMULATE, "--seed -1"),
        (BOX, "--mass -2"),
        (BOX, "--density -1"),
        (f"{BOX} --mass 1", "--density 2"),
        (UR, "--amplitude 2"),
        (UR, "--dry-run 0.2"),
        (UR, "--max-deviation -1"),
        ("kinematics compute --robot ur5e", "--q 1 2 3 4 5 nan"),
    ],
)
def test_a_wrong_call(
    call: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "short_ur5e.json").symlink_to(DATA / "short_ur5e.json")
    monkeypatch.chdir(tmp_path)
    assert main([*call.split(), *wrong.split()]) in (1, 2)
    (error,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("iparam: error: "))
    option = wrong.split()[0]
    assert option in error
    assert "-" not in option[2:] or option[2:].replace("-", "_") not in error
    assert ".." not in error.replace("...", "")


def test_results_are_named_by_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "fuse", "result.json"]) == 2
    assert "give at least two results to fuse, got result.json" in capsys.readouterr().err
