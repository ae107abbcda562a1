"""The tree explains itself: folders say what they hold, tests stand where what they test stands."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import iparam

SOURCE = Path(iparam.__file__).resolve().parent
TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent

OF_THE_WHOLE = {"attack", "doubles", "laws", "mistakes", "recovery", "reference"}
"""Folders of tests that belong to no one module, and of the doubles that stand for others' machines."""

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
def test_a_folder_says_what_it_holds(folder: Path) -> None:
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", MIRRORED, ids=name)
def test_a_test_stands_where_what_it_tests_stands(path: Path) -> None:
    folder = SOURCE / path.parent.relative_to(TESTS)
    words = path.stem.removeprefix("test_").split("_")
    names = {"_".join(words[:count]) for count in range(1, len(words) + 1)}
    assert any((folder / f"{name}.py").is_file() or (folder / name).is_dir() for name in names)


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
