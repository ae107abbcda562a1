"""`iparam completion`: a script with which a shell completes commands, options and their choices.

The script is static: completing starts no program. What it knows is what the help texts say, and the names that iparam
knows of arms, formats and noises.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

import tyro

import iparam
from iparam.cli.command_table import COMMANDS, Entry
from iparam.cli.console.printing import print_line
from iparam.cli.console.setup_option import concerned
from iparam.robot.description.installed import INSTALLED_ARMS
from iparam.robot.gravity import MOUNTINGS

Shell = Literal["bash", "zsh", "fish"]

_OPTION = re.compile(
    r"^[│ ] {0,3}(?:-h, )?(?P<name>--[a-z0-9][a-z0-9-]*)(?: (?P<value>\S.*?))?"
    r"(?P<others>(?:, --[a-z0-9-]+(?: \S+)?)*)(?:  +(?P<help>\S.*?))?[│ ]*$"
)
_POSITIONAL = re.compile(r"^[│ ] {0,3}\{(?P<choices>[^}]+)\}")
_CONTINUED = re.compile(r"^[│ ] {6,}(?P<help>\S.*?)[│ ]*$")
_RULE = re.compile(r"^ *(?:╭|-{9})")  # above the options; what comes before are sentences and examples
_SENTENCE_END = re.compile(r"(?<!e\.g)\. ")


@dataclass(frozen=True)
class Option:
    """An option of a command.

    Attributes:
        name: as typed, with its dashes.
        choices: what it may be; () for anything.
        valued: whether it takes a value.
        summary: the first sentence of its help.
        open: whether it may be something else than its choices, such as the path of a file.
    """

    name: str
    choices: tuple[str, ...] = ()
    valued: bool = True
    summary: str = ""
    open: bool = False


SETUP = Option("--setup", summary="Options from a file of 'iparam setup'")
DEBUG = Option("--debug", valued=False, summary="Show the traceback of an error")


class Completed(NamedTuple):
    """What is completed after a command: its options, and the names that it may begin with."""

    options: tuple[Option, ...]
    first: tuple[str, ...]


@cache
def known_names() -> dict[str, tuple[str, ...]]:
    """Options, or what a command is called that begins with such a value -> names that iparam knows for them."""
    robots = (*iparam.robot.robot_names(), *INSTALLED_ARMS)
    return {
        "--robot": robots,
        "robots": robots,
        "--format": tuple(iparam.export.FORMATS),
        "--noise": iparam.sensing.noise_presets(),
        "--motors": iparam.simulation.motor_names(),
        "--mounting": tuple(MOUNTINGS),
        "--methods": ("all", *iparam.estimation.METHODS),
        "--scheduler": ("local",),
        "--log-level": ("debug", "info", "warn", "error", "fatal"),
    }


@dataclass(frozen=True)
class Completion:
    """Print a script that completes commands, options and choices in a shell.

    Example:
      iparam completion bash > ~/.local/share/bash-completion/completions/iparam
      iparam completion zsh > ~/.zfunc/_iparam
      iparam completion fish > ~/.config/fish/completions/iparam.fish

    For zsh the folder has to be in fpath before compinit runs.
    """

    shell: Annotated[Shell, tyro.conf.Positional]
    """Which shell."""

    def run(self) -> None:
        """Read the help texts and write the script."""
        for line in completion_script(self.shell).splitlines():
            print_line(line)


def completion_script(shell: Shell) -> str:
    """The script of all commands for a shell."""
    table = {entry.name: Completed(options_of(entry), first_words(entry)) for entry in COMMANDS}
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](table)


def options_of(entry: Entry) -> tuple[Option, ...]:
    """The options of a command, as its help lists them."""
    own = {option.name: _suggesting(option) for option in _listed(help_lines(entry))}
    more = (*((SETUP,) if concerned(entry.load()) else ()), DEBUG)
    return (*own.values(), *(option for option in more if option.name not in own))


def help_lines(entry: Entry) -> list[str]:
    """The help of a command, each option in one line."""
    from iparam.cli.main import main  # which imports this module's command by its name

    shown = io.StringIO()
    before = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR")}
    os.environ.update(COLUMNS="1000", NO_COLOR="1")
    try:
        with contextlib.redirect_stdout(shown):
            main([*entry.words, "--help"])
    finally:
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value
    return shown.getvalue().splitlines()


def first_words(entry: Entry) -> tuple[str, ...]:
    """What a command may begin with, where that is one of some names."""
    if entry.name in known_names():
        return known_names()[entry.name]
    shown = help_lines(entry)
    found = next(filter(None, map(_POSITIONAL.match, shown)), None)
    return tuple(found["choices"].split(",")) if found else ()


def _suggesting(option: Option) -> Option:
    """With the names that iparam knows for it."""
    if option.choices or not option.valued:
        return option
    names = known_names().get(option.name, ())
    return replace(option, choices=names, open=bool(names))


def _listed(lines: Sequence[str]) -> Iterator[Option]:
    rule = next((number for number, line in enumerate(lines) if _RULE.match(line)), len(lines))
    box = [*lines[rule:], ""]
    for line, following in pairwise(box):
        found = _OPTION.match(line)
        if found is None:
            continue
        continued = _CONTINUED.match(following)
        told = found["help"] or (continued["help"] if continued else "")
        value = found["value"] or ""
        choices = tuple(value.strip("{}").split(",")) if value.startswith("{") and value.endswith("}") else ()
        for name in (found["name"], *re.findall(r"--[a-z0-9-]+", found["others"])):
            yield Option(name, choices, bool(value), _SENTENCE_END.split(told)[0].rstrip("."))


def _groups() -> dict[str, list[str]]:
    """First words, each with the second words that may follow; [] for a command of one word."""
    found: dict[str, list[str]] = {}
    for entry in COMMANDS:
        found.setdefault(entry.words[0], []).extend(entry.words[1:])
    return found


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# --------------------------------------------------------------------------------------------------------- the shells
def _cases(table: dict[str, Completed]) -> tuple[str, str, str]:
    """What bash and zsh share: words after a group, options after a command, choices after an option."""
    words = [f"    {_quoted(first)}) found={_quoted(' '.join(rest))};;" for first, rest in _groups().items() if rest]
    options = [
        f"    {_quoted(name)}) found={_quoted(' '.join(option.name for option in command.options))};;"
        for name, command in table.items()
    ]
    # Behind the command's own last word stands what it begins with.
    first = [(name, name.split()[-1], command.first, True) for name, command in table.items()]
    options_with = [
        (name, option.name, option.choices, option.open)
        for name, command in table.items()
        for option in command.options
    ]
    choices = [
        f"    {_quoted(f'{name} {word}')}) found={_quoted(' '.join(values))}{'; open=1' if may_differ else ''};;"
        for name, word, values, may_differ in (*first, *options_with)
        if values
    ]
    return "\n".join(words), "\n".join(options), "\n".join(choices)


def _body(table: dict[str, Completed], current: str, previous: str, each: str, last: str) -> str:
    words, options, choices = _cases(table)
    return f"""\
  local current={current} previous={previous} command="" group="" found="" open="" word
  for word in {each}; do
    case "$word" in -*) break;; esac
    if [ -z "$command" ]; then command=$word; else command="$command $word"; fi
    case "$command" in
{words}
    esac
    if [ -z "$found" ]; then break; fi
    if [ "$command" != "${{command% *}}" ]; then break; fi
    group=$found; found=""
  done
  found=""
  case "$command $previous" in
{choices}
  esac
  if [ -z "$found" ]; then
    case "$current" in
      -*) case "$command" in
{options}
      esac;;
      *) if [ -z "$command" ]; then found={_quoted(" ".join(_groups()))}
      elif [ "$command" = "${{command% *}}" ] && [ -n "$group" ]; then found=$group; fi;;
    esac
  fi
  {last}"""


def _bash(table: dict[str, Completed]) -> str:
    body = _body(
        table,
        '"${COMP_WORDS[COMP_CWORD]}"',
        '"${COMP_WORDS[COMP_CWORD-1]}"',
        '"${COMP_WORDS[@]:1:COMP_CWORD-1}"',
        'COMPREPLY=($(compgen -W "$found" -- "$current"))',
    )
    return f"_iparam() {{\n{body}\n}}\ncomplete -o default -F _iparam iparam"


def _zsh(table: dict[str, Completed]) -> str:
    body = _body(
        table,
        '"${words[CURRENT]}"',
        '"${words[CURRENT-1]}"',
        '"${(@)words[2,CURRENT-1]}"',
        'if [ -n "$found" ]; then compadd -- ${=found}; fi; if [ -z "$found" ] || [ -n "$open" ]; then _files; fi',
    )
    # As a file of fpath it is the function's body; sourced, it has to register itself.
    start = 'if [ "$funcstack[1]" = "_iparam" ]; then _iparam; else compdef _iparam iparam; fi'
    return f"#compdef iparam\n_iparam() {{\n{body}\n}}\n{start}"


_FISH = """\
function __iparam_command
    set -l words (commandline -opc)[2..-1]
    set -l command
    for word in $words
        string match -q -- '-*' $word; and break
        set -a command $word
        test (count $command) -eq 2; and break
        contains -- $word $argv; or break
    end
    string join ' ' $command
end
function __iparam_is
    test "$(__iparam_command GROUPS)" = "$argv[1]"
end
complete -c iparam -n "__iparam_is ''" -f"""


def _fish(table: dict[str, Completed]) -> str:
    groups = _groups()
    lines = [_FISH.replace("GROUPS", " ".join(first for first, rest in groups.items() if rest))]
    for first, rest in groups.items():
        lines.append(f"complete -c iparam -n \"__iparam_is ''\" -f -a {first}")
        lines += [f'complete -c iparam -n "__iparam_is {first}" -f -a {second}' for second in rest]
    for name, command in table.items():
        condition = _fish_quoted(f"__iparam_is {_fish_quoted(name)}")
        if command.first:
            lines.append(f"complete -c iparam -n {condition} -a {_fish_quoted(' '.join(command.first))}")
        for option in command.options:
            parts = [f"complete -c iparam -n {condition} -l {option.name[2:]}"]
            if option.choices:
                parts.append(f"{'-r' if option.open else '-x'} -a {_fish_quoted(' '.join(option.choices))}")
            elif option.valued:
                parts.append("-r")
            if option.summary:
                parts.append(f"-d {_fish_quoted(option.summary)}")
            lines.append(" ".join(parts))
    return "\n".join(lines)


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
