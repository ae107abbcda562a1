"""Completion: the shells themselves complete what the help texts list."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import iparam
from iparam.cli.command_table import COMMANDS
from iparam.cli.console.setup_option import concerned
from iparam.cli.installation.completion import Shell, completion_script, known_names, options_of
from iparam.cli.main import main
from iparam.robot.description.installed import INSTALLED_ARMS
from iparam.robot.gravity import mounted_gravity

LINES = {
    "iparam ": {"demo", "excite", "identify", "ur"},
    "iparam exc": {"excite"},
    "iparam excite ": {"optimize", "check", "poses"},
    "iparam excite optimize --crit": {"--criterion"},
    "iparam excite optimize --criterion ": {"kappa", "d", "a", "e"},
    "iparam identify payload run.parquet --method r": {"rls", "riv", "rtls", "robust"},
    "iparam demo --see": {"--seed"},
    "iparam demo --time": {"--time-budget"},
    "iparam excite optimize --robot ": {"ur5e", "ur10e", "panda"},
    "iparam excite optimize --robot ur3": {"ur3", "ur3e"},
    "iparam export result.json --format ": {"urdf", "urscript", "kuka"},
    "iparam simulate --noise h": {"harsh"},
    "iparam simulate --motors ": {"ur10e"},
    "iparam setup --mounting ": {"floor", "ceiling", "wall"},
    "iparam report result.json --methods ": {"all", "riv"},
    "iparam robots ur1": {"ur10", "ur10e", "ur16e"},
    "iparam completion ": {"bash", "zsh", "fish"},
    "iparam identify payload run.parquet --set": {"--setup"},
}
BASH = """
source "$1"
read -ra COMP_WORDS <<< "$2"; [ "${2: -1}" = " " ] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _iparam; printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
compdef() { }; compadd() { shift; printf '%s\\n' "$@" }; _files() { ls }
source "$1"
words=(${(s: :)2}); [[ "$2" == *' ' ]] && words+=(''); CURRENT=${#words}; _iparam
"""


def completed(shell: str, script: Path, line: str) -> set[str]:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    if shell == "fish":
        arguments = ["-c", f"source {script}; complete -C {line!r}"]
    else:
        arguments = ["-c", BASH if shell == "bash" else ZSH, shell, str(script), line]
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=60, check=True, cwd=script.parent
    )
    assert done.stderr == ""
    begun = line.rpartition(" ")[2]
    return {word.split("\t")[0] for word in done.stdout.splitlines() if word.startswith(begun)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_options_and_choices(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(completion_script(shell) + "\n", encoding="utf-8")
    for line, wanted in LINES.items():
        assert wanted <= completed(shell, script, line), line
    assert "optimize" not in completed(shell, script, "iparam demo ")
    assert completed(shell, script, "iparam export result.json --set") == set()


def test_every_option_is_there_and_once() -> None:
    for entry in COMMANDS:
        names = [option.name for option in options_of(entry)]
        assert len(names) == len(set(names)), entry.name
        assert {"--help", "--debug"} <= set(names), entry.name
        assert ("--setup" in names) == concerned(entry.load()), entry.name


@pytest.mark.parametrize("option", ["--robot", "--noise", "--motors", "--mounting"])
def test_what_is_offered_is_taken(option: str) -> None:
    take = {
        "--robot": lambda name: name in INSTALLED_ARMS or iparam.load_robot(name),
        "--noise": iparam.noise_preset,
        "--motors": iparam.simulation.motors,
        "--mounting": mounted_gravity,
    }[option]
    for name in known_names()[option]:
        take(name)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_files_are_offered_beside_names_where_a_robot_may_be_one(shell: Shell, tmp_path: Path) -> None:
    """Bash offers them where no name begins so."""
    script = tmp_path / "completion"
    script.write_text(completion_script(shell) + "\n", encoding="utf-8")
    (tmp_path / "url.urdf").touch()
    offered = completed(shell, script, "iparam excite optimize --robot ur")
    assert {"ur5e", "url.urdf"} <= offered
    assert "url.urdf" not in completed(shell, script, "iparam excite optimize --criterion ")


def test_a_shell_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "bash" in capsys.readouterr().err
