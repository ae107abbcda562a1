"""Facts are values: no module decides anything by looking at the English text of a remark, a cause or an error."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import iparam

SOURCE = Path(iparam.__file__).resolve().parent
TEXTS = {"message", "messages", "warnings", "sentence", "complaint"}
"""Attributes that hold sentences for people."""

KEYS = {"error", "message", "warnings", "sentence"}
"""Entries of documents and tables that hold them."""

LOOKS = {
    *("startswith", "endswith", "find", "index", "partition", "rpartition", "split", "rsplit", "replace"),
    *("removeprefix", "removesuffix", "match", "fullmatch", "search", "sub", "findall", "count"),
}
"""Methods and functions that take a text apart."""

PLACES = {
    # Text of other people's libraries, which carry nothing else.
    "robot/description/xacro.py",
    "robot/description/mjcf.py",
    "bridges/ros2/start.py",
}

OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
OPTIONS_OF_OTHERS = {"--ros-args", "--params-file"}
"""Of ROS 2's programs."""


def is_text(node: ast.AST, errors: set[str]) -> bool:
    """Whether an expression is the text of a remark, a cause or an error."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr in TEXTS:
            return True
        if isinstance(part, ast.Name) and part.id in TEXTS - {"message", "messages"}:  # those of ROS are no sentences
            return True
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant) and part.slice.value in KEYS:
            return True
        if (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Name)
            and part.func.id == "str"
            and any(isinstance(argument, ast.Name) and argument.id in errors for argument in part.args)
        ):
            return True
    return False


def decisions(tree: ast.AST) -> Iterator[int]:
    """The lines that compare or take apart such a text."""
    errors = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):  # whether there is one
            continue
        if isinstance(node, ast.Compare) and any(is_text(one, errors) for one in (node.left, *node.comparators)):
            yield node.lineno
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKS:
            of_module = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            if node.func.attr == "split" and not node.args:  # white space is folded
                continue
            looked_at = node.args if of_module else [node.func.value, *node.args]
            if any(is_text(one, errors) for one in looked_at):
                yield node.lineno


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_decides_by_a_sentence(path: Path) -> None:
    if str(path.relative_to(SOURCE)) not in PLACES:
        assert not list(decisions(ast.parse(path.read_text("utf-8"))))


@pytest.mark.parametrize(
    "code",
    [
        "if 'gap' in remark.message: pass",
        "x = [one for one in estimate.warnings if one.startswith('The data')]\nestimate.warnings[0].startswith('a')",
        "try:\n    f()\nexcept ValueError as error:\n    if 'robot' in str(error): pass",
        "re.search('robot', cause.sentence)",
        "_TOO_FEW.search(error.message)",
        "row['error'].replace(row['source'], '')",
        "if sentence.startswith('The'): pass",
    ],
)
def test_the_rule_finds_decisions_by_text(code: str) -> None:
    assert list(decisions(ast.parse(code)))


def options_in(tree: ast.AST) -> Iterator[str]:
    """The options that the texts of a module name; its docstrings are for those who read the code."""
    comments = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in comments:
            yield from set(OPTION.findall(node.value)) - OPTIONS_OF_OTHERS


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SOURCE.rglob("*.py")) if not path.is_relative_to(SOURCE / "cli")],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_no_module_outside_the_commands_names_an_option(path: Path) -> None:
    """The library speaks of arguments; only the commands know how they are spelled as options."""
    assert not list(options_in(ast.parse(path.read_text("utf-8"))))


@pytest.mark.parametrize("code", ["raise InputError('name it with --robot')", "x = f'{path}: --rows {rows}'"])
def test_the_rule_finds_options(code: str) -> None:
    assert list(options_in(ast.parse(code)))


ARGUMENT = re.compile(r"(?<![^\s(])([a-z][a-z_]*)=(?!\")")
NO_ARGUMENTS = {
    "bridges/bag": {"journal_mode"},  # a word of SQLite
    "bridges/isaac": {
        "joints",
        "step",
        "dt",
        "wrench",
        "robot",
        "units",
        "meters",
        "update_period",
    },  # only for programs
    "excitation": {"mass", "name"},  # targets such as mass=0.5%
    "motion/orientation.py": {"qx", "qw"},  # columns, in a map
    "recording/signal.py": {"unit", "frame"},  # how a Signal shows itself
    "robot/urdf/elements.py": {"link"},  # an attribute of a URDF
}
"""What looks like an argument in a text and is none, by folder or file."""


def arguments_in(tree: ast.AST) -> Iterator[str]:
    """The arguments that sentences of a module name as ``name=``."""
    comments = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in comments:
            yield from ARGUMENT.findall(node.value) if " " in node.value and "<" not in node.value else ()


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SOURCE.rglob("*.py")) if not path.is_relative_to(SOURCE / "cli")],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_no_sentence_names_an_argument_that_its_error_should_carry(path: Path) -> None:
    """It would be told so to those who typed a command; the fields of an error are written as options."""
    place = path.relative_to(SOURCE).as_posix()
    others = {name for key, names in NO_ARGUMENTS.items() if place.startswith(key) for name in names}
    assert not set(arguments_in(ast.parse(path.read_text(encoding="utf-8")))) - others


def test_the_rule_finds_arguments() -> None:
    assert list(arguments_in(ast.parse("raise InputError(f'say with tip= which link')"))) == ["tip"]
