"""Messages on the command line name options, whatever the library calls its arguments."""

from __future__ import annotations

import ast
import contextvars
import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.console.option_names import ARGUMENTS as TABLE
from iparam.cli.console.option_names import in_options, speak_for
from iparam.cli.export import Export
from iparam.cli.identify.payload import IdentifyPayload
from iparam.cli.main import main
from iparam.cli.simulate import Simulate
from iparam.recording import Recording


def told(command: type, text: str) -> str:
    def speak() -> str:
        speak_for(command)
        return in_options(text)

    return contextvars.copy_context().run(speak)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("convert it with angles='degrees', or", "convert it with --angles degrees, or"),
        ("say time_unit='ms'", "say --time-unit ms"),
        ("(in Python motion=ButterworthMotion())", "(in Python motion=ButterworthMotion())"),
        ("say with tip=... which link", "say with --tip ... which link"),
        ("choose another base or tip=", "choose another base or --tip"),
        ("(rows='0:10')", "(--rows 0:10)"),
        ("map='q=pos_*' matches no column", "--map 'q=pos_*' matches no column"),
        ('Say columns="time,q,dq"; a group', "Say --columns time,q,dq; a group"),
        ("leave out columns=", "leave out --columns"),
        ("interpolated? motion='butterworth' smooths more", "interpolated? --motion butterworth smooths more"),
        ("was compensated (delay=0.01573).", "was compensated (--delay 0.01573)."),
        ("compensated (about delay=-0.00960).", "compensated (about --delay -0.00960)."),
        ("its gravity = [0, 0, 3] and a_tip=3, /tip=4", "its gravity = [0, 0, 3] and a_tip=3, /tip=4"),
        ("make it type='continuous'", "make it type='continuous'"),  # no option of the command
        ("scale=0.001 for millimetres", "scale=0.001 for millimetres"),
        ("", ""),
    ],
)
def test_arguments_become_options(text: str, expected: str) -> None:
    assert told(IdentifyPayload, text) == expected


def test_an_option_may_have_another_name() -> None:
    assert told(Simulate, "scale=0.001 for millimetres") == "--mesh-scale 0.001 for millimetres"


def test_a_command_without_the_option_says_which_has_it() -> None:
    expected = "--motion butterworth of 'iparam identify payload' smooths more"
    assert told(Simulate, "motion='butterworth' smooths more") == expected
    # A result's remarks are repeated by commands that read no recording.
    expected = "reach 7 rad: if they are degrees, say --angles degrees of 'iparam identify payload'"
    assert told(Export, "reach 7 rad: if they are degrees, say angles='degrees'") == expected
    assert told(Simulate, "(max_velocity= states it)") == "(--max-velocity of 'iparam excite optimize' states it)"


def test_a_value_that_looks_like_an_argument_is_left_alone() -> None:
    text = "give at least one target, e.g. mass=0.5%"
    assert "mass" in {field.name for field in dataclasses.fields(Simulate)}
    assert told(Simulate, text) == text


def test_without_a_command_nothing_changes() -> None:
    assert contextvars.Context().run(in_options, "angles='degrees'") == "angles='degrees'"


NO_ARGUMENTS = {
    "bridges/bag": {"force", "torque", "gyro", "acceleration", "journal_mode"},  # values of --units, a word of SQLite
    "bridges/isaac": {"joints", "step", "dt", "settle", "environment", "on", "wrench", "units", "meters"}
    | {"update_period"},  # only for programs
    "cli/bag.py": {"force"},  # the same
    "cli/options/shape.py": {"head"},  # a part in an example of --density
    "estimation/shape/shape.py": {"place"},  # of a shape made by a program
    "excitation/duration.py": {"mass"},  # values of --targets
    "excitation/prediction.py": {"name"},  # the same
    "excitation/setup.py": {"conditions"},  # the planner in a program
    "motion/orientation.py": {"qx", "qw"},  # columns, in a value of map=
    "recording/signal.py": {"unit", "frame"},  # how a Signal shows itself
    "robot/plausibility.py": {"type"},  # attributes of a URDF
    "robot/urdf/elements.py": {"link", "rpy"},
}
"""What looks like an argument in a sentence and is none of the library's, by folder or file."""


def sentences(path: Path) -> list[str]:
    """The texts of a module that people may read: neither docstrings, nor markup, nor single words."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent
    ]
    return [text for text in texts if " " in text and '="' not in text.replace('columns="', "") and "<" not in text]


def test_every_argument_that_a_sentence_names_can_become_an_option() -> None:
    """One that the table lacks would be told to those who typed a command."""
    source = Path(iparam.__file__).parent
    unknown = []
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source).as_posix()
        others = {name for key, names in NO_ARGUMENTS.items() if place.startswith(key) for name in names}
        for text in sentences(path):
            named = re.findall(r"(?<![^\s(])([a-z][a-z_]*)=", text)
            unknown += [(place, name) for name in named if name not in TABLE and name not in others]
    assert not unknown


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
        ("identify payload ms.csv --robot tree.urdf", "say with --tip"),
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
