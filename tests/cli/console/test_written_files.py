"""No command destroys what it reads: the law about outputs, for every command and every option that writes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from iparam.cli.command_table import COMMANDS, Command
from iparam.cli.console.written_files import check_outputs, written_options
from iparam.cli.main import main
from iparam.errors import FileWriteError, InputError

READ = {
    "kinematics batch": {"input"},
    "excite optimize": {"cell"},
    "excite random": {"cell"},
    "excite check": {"trajectory", "cell"},
    "excite predict": {"trajectory", "cell"},
    "excite poses": {"cell"},
    "identify payload": {"recording", "prior", "orientation", "sensor", "shape", "gripper"},
    "identify torque-payload": {"bare", "loaded", "known_load", "known_load_run"},
    **{f"ros2 {node}": {"setup"} for node in ("kinematics", "identify", "play", "compensate")},
    "identify fuse": {"results"},
    "identify robot": {"logs", "validate", "known_load", "known_load_run"},
    "fleet": {"sensor"},
    "combine": {"results"},
    "doctor": {"recording", "sensor", "setup"},
    "setup": {"sensor", "gripper"},
    "calibrate sensor": {"recordings", "known_load", "sensor"},
    "compensate": {"recording", "result", "sensor"},
    "simulate": {"trajectory", "payload_mesh", "cell"},
    "ros2 simulate": {"trajectory", "payload_mesh", "cell"},
    "report": {"result", "recording", "trajectory", "truth", "sensor"},
    "view": {"files"},
    "verify": {"result", "recording", "sensor"},
    "export": {"result", "known_load", "urdf", "stage"},
    "bag info": {"bag"},
    "bag import": {"bag"},
    "bag export": {"recording"},
    "ur run": {"trajectory", "cell"},
    "ros2 set-payload": {"result"},
    "ur set-payload": {"result"},
}
"""The options that are paths and only read."""

WITH_SETUP = (
    *("identify payload", "fleet", "calibrate sensor", "compensate", "simulate", "report"),
    *("verify", "bag import", "ur record", "ur run"),
)
"""That know which setup gave their options."""

for _name in WITH_SETUP:
    READ[_name] = {"setup", *READ.get(_name, set())}

TYPES: dict[str, type[Command]] = {entry.name: entry.load() for entry in COMMANDS}
WRITING = [(name, option) for name, kind in TYPES.items() for option in written_options(kind)]
FILES_ONLY = [
    pair for pair in WRITING if pair not in {("demo", "output_dir"), ("bag export", "output"), ("fleet", "output")}
]
SUFFIXES = {
    **{(name, "output"): ".html" for name in ("report", "view")},
    **{(name, "output"): ".parquet" for name in ("compensate", "simulate", "bag import")},
    **{(f"ur {name}", "output"): ".parquet" for name in ("record", "run")},
    ("kinematics batch", "output"): ".csv",
    ("setup", "output"): ".toml",
    ("bag export", "output"): "",
}
"""Of the outputs that are no .json."""

OTHER_KIND = b'{"format": "iparam-cell/1"}'


def holds_paths(hint: Any) -> bool:
    return hint is Path or any(holds_paths(part) for part in get_args(hint))


@pytest.mark.parametrize("name", TYPES)
def test_every_path_is_known_to_be_read_or_written(name: str) -> None:
    hints = get_type_hints(TYPES[name], include_extras=True)
    paths = {option for option, hint in hints.items() if holds_paths(hint)}
    unknown = paths - READ.get(name, set()) - set(written_options(TYPES[name]))
    assert not unknown, "mark an option that is written with `Writes`, or add it to READ above"
    assert READ.get(name, set()) <= paths


@pytest.mark.parametrize(("name", "option"), WRITING)
def test_every_command_that_writes_can_be_told_to_overwrite(name: str, option: str) -> None:
    assert {"overwrite", option} <= {field.name for field in dataclasses.fields(TYPES[name])}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def with_inputs(name: str, **options: object) -> Command:
    """The command with a file, of no sense, for every path that it reads, and the given options."""
    for option in (*READ.get(name, ()), "robot"):
        Path(f"{option}.dat").write_bytes(option.encode())
    given: dict[str, object] = {}
    for field in dataclasses.fields(TYPES[name]):
        if field.name in READ.get(name, ()):
            place = Path(f"{field.name}.dat")
            given[field.name] = (place,) if "tuple" in str(field.type) else place
        elif field.name == "robot":
            given[field.name] = ("robot.dat",) if "tuple" in str(field.type) else "robot.dat"
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            given[field.name] = "x"
    for option in written_options(TYPES[name]):
        given[option] = Path(f"new-{option}{SUFFIXES.get((name, option), '.json')}")
    return TYPES[name](**given | options)


def inputs(name: str) -> Iterator[Path]:
    yield from (Path(f"{option}.dat") for option in READ.get(name, ()))
    if any(field.name == "robot" for field in dataclasses.fields(TYPES[name])):
        yield Path("robot.dat")


@pytest.mark.parametrize(("name", "option"), WRITING)
def test_new_files_are_written(name: str, option: str, folder: Path) -> None:
    check_outputs(with_inputs(name))


@pytest.mark.parametrize("link", ["path", "symbolic link", "hard link", "link to a folder"])
@pytest.mark.parametrize(("name", "option"), [pair for pair in WRITING if pair[0] not in ("demo", "fleet")])
def test_an_input_is_never_an_output(name: str, option: str, link: str, folder: Path) -> None:
    with_inputs(name)
    for given in inputs(name):
        other = folder / f"{given.stem}-{link.replace(' ', '-')}.parquet"
        if link == "path":
            other = folder / "." / given.name
        elif link == "symbolic link":
            other.symlink_to(given)
        elif link == "hard link":
            other.hardlink_to(given)
        else:
            (folder / f"{given.stem}-folder").symlink_to(folder)
            other = folder / f"{given.stem}-folder" / given.name
        with pytest.raises(InputError, match=r"is read, too \(.*\), and would be lost: choose another file"):
            check_outputs(with_inputs(name, **{option: other, "overwrite": True}))


@pytest.mark.parametrize("name", [name for name in TYPES if len(written_options(TYPES[name])) > 1])
def test_two_outputs_are_never_one(name: str, folder: Path) -> None:
    (folder / "link").symlink_to("new.parquet")
    for second in ("new.parquet", "./new.parquet", "link"):
        places = dict(zip(written_options(TYPES[name]), (Path("new.parquet"), Path(second)), strict=True))
        with pytest.raises(InputError, match=r"are the same file, .*: give each its own"):
            check_outputs(with_inputs(name, overwrite=True, **places))


@pytest.mark.skipif(os.name == "nt", reason="special files of POSIX")
@pytest.mark.parametrize(("name", "option"), FILES_ONLY)
def test_what_is_no_file_is_never_an_output(name: str, option: str, folder: Path) -> None:
    suffix = with_inputs(name).__getattribute__(option).suffix
    os.mkfifo(f"pipe{suffix}")
    Path(f"folder{suffix}").mkdir()
    Path(f"device{suffix}").symlink_to(os.devnull)
    for what in ("pipe", "folder", "device"):
        with pytest.raises(InputError, match=f"is a {what}, not a file"):
            check_outputs(with_inputs(name, **{option: Path(f"{what}{suffix}"), "overwrite": True}))


@pytest.mark.parametrize(("name", "option"), FILES_ONLY)
def test_another_kind_is_replaced_on_demand_only(name: str, option: str, folder: Path) -> None:
    place = getattr(with_inputs(name), option)
    kind, content = (
        ("work cell", OTHER_KIND) if option != "cell_output" else ("result", b'{"format": "iparam-result/1"}')
    )
    place.write_bytes(content)
    with pytest.raises(InputError, match=rf"exists and is a {kind}, and .*or add --overwrite to replace it"):
        check_outputs(with_inputs(name))
    check_outputs(with_inputs(name, overwrite=True))
    place.write_bytes(b"my own notes")
    with pytest.raises(InputError, match="is nothing that iparam wrote, and"):
        check_outputs(with_inputs(name))


def test_the_files_of_the_demo(folder: Path) -> None:
    place = Path("out")
    check_outputs(with_inputs("demo", output_dir=place))
    place.mkdir()
    (place / "truth.json").write_bytes(OTHER_KIND)
    with pytest.raises(InputError, match=r"--output-dir out/truth\.json exists and is a work cell"):
        check_outputs(with_inputs("demo", output_dir=place))
    check_outputs(with_inputs("demo", output_dir=place, overwrite=True))
    Path("file").touch()
    with pytest.raises(InputError, match="is a file, not a folder"):
        check_outputs(with_inputs("demo", output_dir=Path("file"), overwrite=True))


def test_a_bag_is_no_output_where_an_input_is_inside(folder: Path) -> None:
    Path("bag").mkdir()
    Path("bag/run.mcap").write_bytes(b"PAR1")  # contents count, not names
    command = with_inputs("bag export", recording=Path("bag/run.mcap"), output=Path("bag"), overwrite=True)
    with pytest.raises(InputError, match=r"is read, too \(recording: bag/run\.mcap\)"):
        check_outputs(command)
    os.link("bag/run.mcap", "run.parquet")
    with pytest.raises(InputError, match=r"is read, too \(bag: bag\)"):
        check_outputs(with_inputs("bag import", bag=Path("bag"), output=Path("run.parquet")))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["identify", "payload", "x.parquet", "--output", "x.parquet"],
            "--output x.parquet is read, too (recording: x.parquet)",
        ),
        (
            ["simulate", "--trajectory", "t.json", "--output", "r.csv", "--truth", "t.json"],
            "--truth t.json is read, too (trajectory: t.json)",
        ),
        (
            ["identify", "fuse", "a.json", "b.json", "--output", "b.json"],
            "--output b.json is read, too (results: b.json)",
        ),
        (
            ["excite", "poses", "--robot", "arm.urdf", "--output", "./arm.urdf"],
            "--output arm.urdf is read, too (robot: arm.urdf)",
        ),
        (["excite", "optimize", "--robot", "ur5e", "--output", "t.json"], "exists and is nothing that iparam wrote"),
        (["excite", "optimize", "--robot", "ur5e", "--output", "pipe.json"], "is a pipe, not a file"),
        (["report", "a.json", "--output", "a.json"], "is read, too (result: a.json)"),
        (["report", "a.json", "--output", "r.pdf"], "a report is a .html or .htm file"),
        (["demo", "--output-dir", "t.json"], "is a file, not a folder"),
        (["ur", "record", "--host", "127.0.0.1", "--output", "x.parquet"], "exists and is nothing that iparam wrote"),
    ],
)
def test_refused_before_any_work(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo("pipe.json")
    before = {}
    for name in ("x.parquet", "t.json", "a.json", "b.json", "arm.urdf"):
        before[name] = f"contents of {name}".encode()
        Path(name).write_bytes(before[name])
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert {name: Path(name).read_bytes() for name in before} == before
    assert len(os.listdir(folder)) == len(before) + 1


@pytest.mark.parametrize(("name", "option"), WRITING)
def test_a_folder_that_may_not_be_written_to_is_known_before_any_work(
    name: str, option: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("closed").mkdir()
    place = Path("closed", getattr(with_inputs(name), option))
    check_outputs(with_inputs(name, **{option: place}))
    may = os.access  # root may write everywhere: for one folder, the answer is that for another user
    monkeypatch.setattr(os, "access", lambda path, mode: os.path.basename(path) != "closed" and may(path, mode))
    with pytest.raises(FileWriteError, match=f"^--{option.replace('_', '-')} closed/.* may not be written to .*choose"):
        check_outputs(with_inputs(name, **{option: place}))


def test_no_search_for_a_plan_that_could_not_be_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert main(["excite", "optimize", "--robot", "ur5e", "--time-budget", "1000", "--output", "t.json"]) == 1
    assert capsys.readouterr().err.startswith("iparam: error: --output t.json: the folder ")


@pytest.mark.parametrize(
    ("arguments", "suffix"),
    [
        ("identify payload run.csv --output r.txt", ".json"),
        ("excite optimize --robot ur5e --output t.json.gz", ".json"),
        ("simulate --trajectory t.json --output r.csv --truth truth.csv", ".json"),
        ("setup --robot ur5e --output s.json", ".toml"),
    ],
)
def test_another_suffix_is_refused(arguments: str, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments.split()) == 2
    assert capsys.readouterr().err.endswith(f" is a {suffix} file\n")
