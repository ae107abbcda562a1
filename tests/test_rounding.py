"""Numbers as people read them."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.rounding import fixed, percent, significant, with_interval


@pytest.mark.parametrize(
    ("value", "half_width", "shown"),
    [
        (2.00056, 0.00139, "2.0006 ± 0.0014"),
        (-0.0001, 0.3, "0.00 ± 0.30"),
        (12345.6, 230.0, "12346 ± 230"),
        (1, 0, "1.000000 ± 0.000000"),
    ],
)
def test_intervals_have_two_digits(value: float, half_width: float, shown: str) -> None:
    assert with_interval(value, half_width) == shown


def test_numbers_without_end() -> None:
    assert fixed(np.nan, 2) == significant(np.inf) == "–"
    assert significant(0.0) == "0"
    assert significant(1.5e-9) == "1.50e−9".replace("e−9", "e−09")
    assert fixed(-1e9, 1) == "−1.000e+09"


def _shown_uncertainties(tree: ast.AST) -> Iterator[tuple[str, int, bool]]:
    """Functions that put a number behind "+-": name, line, and whether one of their strings says "95 %"."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        strings = [part for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        said = any("95 %" in str(part.value) for part in strings)
        for text in (part for part in ast.walk(node) if isinstance(part, ast.JoinedStr)):
            for before, value in itertools.pairwise(text.values):
                words = str(before.value).split() if isinstance(before, ast.Constant) else []
                limit = isinstance(value, ast.FormattedValue) and ast.unparse(value.value) in ("LARGEST", "limit")
                if words and words[-1].endswith("+-") and not limit:
                    yield node.name, text.lineno, said


def test_plus_minus_means_95_percent_and_says_so() -> None:
    package = Path(iparam.__file__).parent
    silent, shown = [], 0
    for path in sorted(package.rglob("*.py")):
        for name, line, said in _shown_uncertainties(ast.parse(path.read_text("utf-8"))):
            shown += 1
            if not said:
                silent.append(f"{path.relative_to(package)}:{line} {name}")
    assert shown > 20
    assert not silent


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.00123, "0.12 %"), (0.0, "0 %"), (0.456, "46 %"), (0.996, "100 %"), (12.34, "1234 %"), (float("inf"), "-")],
)
def test_per_cent_without_powers_of_ten(share: float, text: str) -> None:
    assert percent(share) == text


def test_inertia_has_one_unit_wherever_it_is_shown() -> None:
    """kg m^2, as in URDF, SDF and MJCF files, on controllers' screens and in the exports."""
    root = Path(__file__).parents[1]
    pages = [
        path
        for folder in ("docs", "examples")
        for kind in ("*.md", "*.py")
        for path in root.glob(f"{folder}/**/{kind}")
        if "gallery" not in path.parts  # made from the examples, perhaps long ago
    ]
    found = [*sorted((root / "src").rglob("*.py")), *pages]
    assert len(found) > 300
    unit = re.compile(r"(?<![\w*])(?:m?g|t)(?: |·|\*|\\N\{NO-BREAK SPACE\})m(?:²|\^2|\*\*2)")
    assert not [path.name for path in found if unit.search(path.read_text(encoding="utf-8"))]
