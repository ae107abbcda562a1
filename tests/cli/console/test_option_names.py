"""Messages on the command line name options, whatever the library calls its arguments."""

from __future__ import annotations

import contextvars
import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from iparam.cli.console.option_names import in_options, speak_for
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
        ("say with tip=... which link", "say with --tip ... which link"),
        ("choose another base or tip=", "choose another base or --tip"),
        ("(rows='0:10')", "(--rows 0:10)"),
        ("map='q=pos_*' matches no column", "--map 'q=pos_*' matches no column"),
        ('Say columns="time,q,dq"; a group', "Say --columns time,q,dq; a group"),
        ("leave out columns=", "leave out --columns"),
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


def test_a_value_that_looks_like_an_argument_is_left_alone() -> None:
    text = "give at least one target, e.g. mass=0.5%"
    assert "mass" in {field.name for field in dataclasses.fields(Simulate)}
    assert told(Simulate, text) == text


def test_without_a_command_nothing_changes() -> None:
    assert contextvars.Context().run(in_options, "angles='degrees'") == "angles='degrees'"


ARGUMENTS = re.compile(r"(?<![\w-])(angles|tip|columns|map|rows|time_unit|time_range|drive_gains|robot)=")


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("identify payload degrees.csv --robot ur5e", "--angles degrees"),
        ("identify robot degrees.csv --robot ur5e", "--angles degrees"),
        ("identify payload bare.csv --robot ur5e", "--columns time,q,dq,current"),
        ("identify payload other.csv --robot ur5e", "--map time=stamp"),
        ("identify payload other.csv --robot ur5e --map q=x_*", "--map 'q=x_*' matches no column"),
        ("identify payload other.csv --robot ur5e --map time=stamp --columns time,q", "--columns is for a table"),
        ("identify payload ms.csv --robot ur5e", "--time-unit ms"),
        ("identify payload ms.csv --robot ur5e --time-unit ms --rows 9000:", "--rows 9000: has none of the 400 rows"),
        ("identify payload ms.csv --robot ur5e --time-unit ms --time-range 3 1", "--time-range needs a start"),
        ("identify payload ms.csv --robot tree.urdf", "say with --tip"),
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
    Path("other.csv").write_text(text.replace("time", "stamp", 1))
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
