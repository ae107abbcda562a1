"""The tree explains itself: small folders, tests where what they test stands, imports at the top."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import iparam

SOURCE = Path(iparam.__file__).resolve().parent
TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
LEAST_PAGES, MOST_FILES = 3, 14
LEAST_MEDIAN = 120
SMALL = 60
MOST_SMALL = 0.12
MOST_INNER_IMPORTS = 120

OF_THE_WHOLE = {"attack", "laws", "mistakes", "recovery", "reference"}
"""Folders of tests that belong to no one module."""

PAGES = {"test_real_robot_page", "test_ament_package"}
"""Tests of a page of the documentation and of the ament package, which stand with the fixtures that they need."""

MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if path.name != "__init__.py"]
FOLDERS = sorted({path.parent for path in SOURCE.rglob("__init__.py")})
MIRRORED = [
    path
    for path in sorted(TESTS.rglob("test_*.py"))
    if path.parent != TESTS and path.relative_to(TESTS).parts[0] not in OF_THE_WHOLE and path.stem not in PAGES
]


def name(path: Path) -> str:
    return str(path.relative_to(SOURCE if path.is_relative_to(SOURCE) else TESTS))


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_a_folder_can_be_overlooked_and_says_what_it_holds(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MOST_FILES
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))


def test_modules_are_not_cut_too_fine() -> None:
    """Whatever the number of features: half of the modules are long enough to hold a concept, few are very short."""
    lines = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES)
    assert lines[len(lines) // 2] >= LEAST_MEDIAN
    assert sum(count < SMALL for count in lines) <= MOST_SMALL * len(lines)


@pytest.mark.parametrize("path", MIRRORED, ids=name)
def test_a_test_stands_where_what_it_tests_stands(path: Path) -> None:
    folder = SOURCE / path.parent.relative_to(TESTS)
    words = path.stem.removeprefix("test_").split("_")
    names = {"_".join(words[:count]) for count in range(1, len(words) + 1)}
    assert any((folder / f"{name}.py").is_file() or (folder / name).is_dir() for name in names)


def test_imports_stand_at_the_top() -> None:
    """Those inside functions keep heavy packages out of what does without them; they are the exception."""
    inner: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        functions = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        lines = {
            node.lineno
            for function in functions
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        inner[name(path)] = len(lines)
    assert inner.total() < MOST_INNER_IMPORTS, inner.most_common(10)


@pytest.mark.parametrize("stub", sorted(SOURCE.rglob("__init__.pyi")), ids=name)
def test_every_public_name_is_there(stub: Path) -> None:
    package = iparam
    for part in stub.parent.relative_to(SOURCE).parts:
        assert part in dir(package)  # reached with `import iparam` alone
        package = getattr(package, part)
    for public in dir(package):
        assert getattr(package, public) is not None


@pytest.mark.parametrize("stub", sorted(SOURCE.rglob("__init__.pyi")), ids=name)
def test_a_stub_lists_names_so_that_type_checkers_refuse_others(stub: Path) -> None:
    """A `__getattr__` in a stub would make every name valid, and without `py.typed` no stub is read."""
    assert (SOURCE / "py.typed").is_file()
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            assert all(alias.asname == alias.name for alias in node.names)  # said twice: exported on purpose
        else:
            assert isinstance(node, ast.AnnAssign), ast.unparse(node)


PAGES_OF_DOCS = [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name not in ("api", "gallery")]


@pytest.mark.parametrize("path", [".ci/run", ".github/workflows/test.yml"])
def test_what_make_test_leaves_out_is_run_by_others(path: str) -> None:
    assert "make test-all" in (TESTS.parent / path).read_text(encoding="utf-8")


def test_the_pages_lie_in_folders_that_can_be_overlooked() -> None:
    pages = Counter(page.parent.name for page in PAGES_OF_DOCS)
    assert pages.pop("docs") == 1  # index.md
    assert all(LEAST_PAGES <= count <= MOST_FILES for count in pages.values()), pages


@pytest.mark.parametrize("suffix", ["*.md", "*.py", "*.pyi", "*.yaml", "*.toml"])
def test_every_page_that_is_named_is_there(suffix: str) -> None:
    """In links of the pages that are read where they lie, and in help texts, docstrings and comments."""
    named = re.compile(r"\bdocs/[\w/-]+\.md\b")
    folders = ("src", "tests", "benchmarks", "examples", "ros2", "docs")
    paths = [*ROOT.glob(suffix), *(path for folder in folders for path in (ROOT / folder).rglob(suffix))]
    assert paths
    lost = {(str(path.relative_to(ROOT)), page) for path in paths for page in named.findall(path.read_text("utf-8"))}
    assert not {(path, page) for path, page in lost if not (ROOT / page).is_file()}
    if suffix == "*.md":
        link = re.compile(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)")
        links = {(path, target) for path in paths for target in link.findall(path.read_text("utf-8"))}
        made = re.compile(r"\.\./(?:api|gallery)/|^(?:api|gallery)/")  # by `make docs`
        assert not {
            (str(path.relative_to(ROOT)), target)
            for path, target in links
            if not made.search(target) and not (path.parent / target).exists()
        }
