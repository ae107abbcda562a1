"""Facts are values: no module decides anything by looking at the English text of a remark, a cause or an error."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

import iparam

SOURCE = Path(iparam.__file__).resolve().parent
TEXTS = {"message", "warnings", "sentence", "complaint", "heading"}
"""Attributes that hold sentences for people."""

KEYS = {"error", "message", "warnings", "sentence"}
"""Entries of documents and tables that hold them."""

OF_ERRORS = {"args", "problem", "expected", "told"}
"""Attributes of an error that are texts."""

TELLING, SHOWING = {"messages", "in_words", "error_in_words"}, {"str", "repr", "format"}
"""Functions that make such texts, of remarks and of anything."""

KEEPING = {
    *(
        "join",
        "sorted",
        "list",
        "tuple",
        "set",
        "frozenset",
        "fromkeys",
        "enumerate",
        "zip",
        "reversed",
        "next",
        "iter",
    ),
    *("lower", "upper", "casefold", "strip", "printable", "format"),
}
"""Functions and methods that give the texts back that they are given."""

LOOKS = {
    *("startswith", "endswith", "find", "rfind", "index", "partition", "rpartition", "split", "rsplit", "replace"),
    *("removeprefix", "removesuffix", "match", "fullmatch", "search", "sub", "findall", "finditer", "count", "fnmatch"),
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


class Texts:
    """Which expressions of a function, or of a module outside of functions, are texts of remarks, causes and errors:
    those that are known by how they are made, and names that such a text, or a list of them, was given.
    """

    def __init__(self, nodes: list[ast.AST]) -> None:
        self.errors = {"error"} | {one.name for one in nodes if isinstance(one, ast.ExceptHandler) and one.name}
        self.errors |= {
            one.arg
            for one in nodes
            if isinstance(one, ast.arg) and one.annotation and re.search("Error|Exception", ast.unparse(one.annotation))
        }
        self.names = TEXTS - {"message", "heading"}  # those of ROS and of sections are no sentences
        pairs = [pair for one in nodes for pair in _given(one)]
        for _ in range(3):  # a name may be given to a name
            self.names = self.names | {
                name.id for target, value in pairs if self.are(value) for name in ast.walk(target) if _is_name(name)
            }

    def hold(self, node: ast.AST) -> bool:
        """Whether an expression is about such a text."""
        return any(self._is_text(part) for part in ast.walk(node))

    def are(self, node: ast.AST) -> bool:
        """Whether an expression is such a text, or texts."""
        if self._is_text(node):
            return True
        parts: list[ast.AST] = []
        if isinstance(node, ast.BinOp | ast.JoinedStr | ast.BoolOp | ast.List | ast.Tuple | ast.Set | ast.Starred):
            parts = list(ast.iter_child_nodes(node))
        elif isinstance(node, ast.IfExp):
            parts = [node.body, node.orelse]
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            parts = [node.elt]
        elif isinstance(node, ast.Subscript | ast.FormattedValue):
            parts = [node.value]
        elif isinstance(node, ast.Call) and _called(node) in KEEPING:
            parts = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
        return any(map(self.are, parts))

    def _is_text(self, part: ast.AST) -> bool:
        if isinstance(part, ast.Attribute):
            return part.attr in TEXTS or (part.attr in OF_ERRORS and self._is_error(part.value))
        if isinstance(part, ast.Name):
            return part.id in self.names
        if isinstance(part, ast.Subscript):
            return isinstance(part.slice, ast.Constant) and part.slice.value in KEYS
        if isinstance(part, ast.FormattedValue):
            return self._is_error(part.value)
        if not isinstance(part, ast.Call):
            return False
        if _called(part) in ("get", "getattr"):
            return any(isinstance(one, ast.Constant) and one.value in KEYS | TEXTS for one in part.args)
        if getattr(part.func, "id", "") in TELLING:
            return True
        return _called(part) in SHOWING and any(map(self._is_error, part.args))

    def _is_error(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and (node.id in self.errors or node.id in ("remark", "cause"))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _given(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What a statement or a comprehension gives to which names."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.NamedExpr) or (isinstance(node, ast.AnnAssign) and node.value):
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.target, node.iter


def _scopes(tree: ast.AST) -> Iterator[list[ast.AST]]:
    """The nodes of each outermost function, and of the rest of the module."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    rest, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, functions):
            yield list(ast.walk(node))
        else:
            rest.append(node)
            waiting += ast.iter_child_nodes(node)
    yield rest


def decisions(tree: ast.AST) -> Iterator[int]:
    """The lines that compare such a text, take it apart, or choose by it."""
    for nodes in _scopes(tree):
        texts = Texts(nodes)
        yield from (node.lineno for node in nodes if isinstance(node, ast.expr | ast.stmt) and _decides(node, texts))


def _decides(node: ast.AST, texts: Texts) -> bool:
    if isinstance(node, ast.Compare):
        present = all(isinstance(one, ast.Is | ast.IsNot) for one in node.ops)  # whether there is one
        none = any(isinstance(one, ast.List) and not one.elts for one in node.comparators)
        return not (present or none) and any(map(texts.hold, (node.left, *node.comparators)))
    if isinstance(node, ast.Match):
        return texts.hold(node.subject)
    if isinstance(node, ast.Subscript):
        return not isinstance(node.slice, ast.Constant) and texts.hold(node.slice)
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):  # how a result is depends on remarks by severity
        return any(isinstance(part, ast.Attribute) and part.attr == "warnings" for part in ast.walk(node.test))
    if not isinstance(node, ast.Call):
        return False
    called = _called(node)
    if called == "filter" and not (isinstance(node.args[0], ast.Constant) and node.args[0].value is None):
        return any(map(texts.hold, node.args))
    if called == "get" and node.args:
        return texts.are(node.args[0])
    if called not in LOOKS or (called == "split" and not node.args):  # white space is folded
        return False
    of_module = isinstance(node.func, ast.Name) or (
        _is_name(node.func.value) and node.func.value.id in ("re", "fnmatch")
    )
    return any(map(texts.hold, node.args if of_module else [node.func.value, *node.args]))


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
        "text = remark.message\nif 'gap' in text: pass",
        "for text in messages(estimate.remarks):\n    if text.startswith('The'): pass",
        "x = any('gap' in text for text in estimate.warnings)",
        "try:\n    f()\nexcept ValueError as failure:\n    if 'robot' in f'{failure}': pass",
        "if 'arm' in error.args[0]: pass",
        "def f(failure: IparamError):\n    return 'robot' in str(failure) or failure.problem.endswith('rad')",
        "match cause.sentence:\n    case 'a': pass",
        "x = FIXES[remark.message]",
        "x = FIXES.get(str(remark))",
        "x = filter(KNOWN.match, estimate.warnings)",
        "from re import search\nsearch('gap', remark.message)",
        "if document.get('warnings') == ['a']: pass",
        "if estimate.warnings: widen()",
        "x = verdict.heading == 'Good'",
    ],
)
def test_the_rule_finds_decisions_by_text(code: str) -> None:
    assert list(decisions(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "if one.code in CODES and one.severity is Severity.DOUBT: pass",
        "if error.argument == 'robot' and error.fix: pass",
        "print(' '.join(remark.message.split()))",
        "if remark is None or estimate.refutation is not None: say(str(error))",
    ],
)
def test_the_rule_lets_values_decide(code: str) -> None:
    assert not list(decisions(ast.parse(code)))


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
