"""`trimesh_errors`: a damaged mesh is an error of its file, and iparam's own errors stay what they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from iparam.errors import FileFormatError, InputError
from iparam.files.trimesh_errors import trimesh_errors


def test_whatever_a_parser_lets_escape_names_the_file() -> None:
    with (
        pytest.raises(FileFormatError, match=r"part\.stl: cannot be read as a mesh: .*index"),
        trimesh_errors(Path("part.stl")),
    ):
        np.zeros(3)[5]


@pytest.mark.parametrize("kind", [InputError, MemoryError])
def test_what_says_enough_goes_through(kind: type[Exception]) -> None:
    with pytest.raises(kind, match="as it was"), trimesh_errors(Path("part.stl")):
        raise kind("as it was")
