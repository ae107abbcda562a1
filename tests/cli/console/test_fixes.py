"""The library speaks of arguments and fixes, the commands of options: both are rendered from the fields of an error."""

from __future__ import annotations

import contextvars
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from iparam.cli.console.fixes import error_in_words, speak_for
from iparam.cli.main import main
from iparam.errors import InputError, UnknownNameError
from iparam.recording import Recording

DATA = Path(__file__).resolve().parents[2] / "data"


@dataclass(frozen=True)
class Wash:
    """A command."""

    time_budget: float = 1.0
    harmonics: int = 1
    tip: str = ""


def told(error: InputError | UnknownNameError) -> str:
    def tell() -> str:
        speak_for(Wash)
        return error_in_words(error)

    return contextvars.copy_context().run(tell)


@pytest.mark.parametrize(
    ("error", "of_library", "of_command"),
    [
        (
            InputError(argument="time_budget", value=np.float64(-3.0), expected="positive"),
            "time_budget must be positive, got -3.0",
            "--time-budget must be positive, got -3.0",
        ),
        (
            InputError(argument="num_harmonics", problem="needs a motion"),
            "num_harmonics needs a motion",
            "--harmonics needs a motion",
        ),
        # The command has no such option.
        (InputError(argument="phi", problem="has no mass"), "phi has no mass", "phi has no mass"),
        (InputError("a load has no mass", argument="phi"), "a load has no mass (phi=...)", "a load has no mass"),
        (InputError("it stands still", argument="tip"), "it stands still (tip=...)", "it stands still (--tip)"),
        (
            InputError("it stands still", fix={"tip": "flange", "time_budget": 2.0}),
            "it stands still. Set tip = flange, time_budget = 2",
            "it stands still. Set --tip flange --time-budget 2",
        ),
        (
            UnknownNameError("link", "x", ["a"], argument="tip"),
            "unknown link 'x'; known: a. (tip=...)",
            "unknown link 'x'; known: a. (--tip)",
        ),
    ],
)
def test_an_error_names_arguments_and_the_command_options(
    error: InputError | UnknownNameError, of_library: str, of_command: str
) -> None:
    assert str(error) == of_library
    assert told(error) == of_command


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
        *((PLAN, wrong) for wrong in ("--base nope", "--scheduler foo", "--q0 900 0 0 0 0 0")),
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


ARGUMENTS = re.compile(r"(?<![\w-])(angles|tip|columns|map|rows|time_unit|time_range|drive_gains|robot|motion|delay)=")


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("identify payload degrees.csv --robot ur5e", "--angles degrees"),
        ("identify robot degrees.csv --robot ur5e", "--angles degrees"),
        ("identify payload bare.csv --robot ur5e", "--columns time,q,dq,current"),
        ("identify payload other.csv --robot ur5e", "--map time=moment"),
        ("identify payload other.csv --robot ur5e --map q=x_*", "--map 'q=x_*' matches no column"),
        ("identify payload other.csv --robot ur5e --map time=moment --columns time,q", "--columns is for a table"),
        ("identify payload ms.csv --robot ur5e", "--time-unit ms"),
        ("identify payload ms.csv --robot ur5e --time-unit ms --rows 9000:", "(--rows)"),
        ("identify payload ms.csv --robot ur5e --time-unit ms --time-range 3 1", "--time-range needs a start"),
        ("identify payload ms.csv --robot tree.urdf", "(--tip)"),
        ("identify payload units.csv --robot ur5e", "--map 'time=moment [s]'"),
    ],
)
def test_commands_name_their_options(
    command: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    time = np.arange(400) / 100
    q = np.sin(time[:, None] + np.arange(6))
    recording = Recording().with_signal("q", time=time, values=100.0 * q)
    recording.save("degrees.csv")
    text = Path("degrees.csv").read_text()
    Path("bare.csv").write_text(text.partition("\n")[2])
    Path("other.csv").write_text(text.replace("time", "moment", 1))
    Path("units.csv").write_text(text.replace("time", "moment [s]", 1))
    slow = Recording().with_signal("q", time=1e3 * time, values=q)
    slow.with_signal("dq", time=1e3 * time, values=np.gradient(q, time, axis=0)).save("ms.csv")
    joints = "".join(
        f'<link name="{name}"/>'
        f'<joint name="j{name}" type="continuous"><parent link="base"/><child link="{name}"/></joint>'
        for name in "ab"
    )
    Path("tree.urdf").write_text(f'<robot name="tree"><link name="base"/>{joints}</robot>')
    assert main(command.split()) in (1, 2)
    error = capsys.readouterr().err
    assert named in error
    assert not ARGUMENTS.search(error)
