"""The warm process that all attacks of a test session share."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from attack.warm_pool import Case, WarmPool

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]  # resources are bounded, and processes looked at, as Linux does it


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmPool]:
    from attack.warm_pool import WarmPool

    folder = tmp_path_factory.mktemp("attack")
    with WarmPool(folder / "pool", folder / "samples") as pool:
        yield pool


@pytest.fixture
def attack(pool: WarmPool, tmp_path: Path) -> Callable[[Iterable[Callable[[Path], Case]]], None]:
    """Does runs, each made in a new folder, and fails with all that they did and none may do.

    The folders of those that kept the rule are removed.
    """

    def attack(cases: Iterable[Callable[[Path], Case]]) -> None:
        found = []
        for number, make in enumerate(cases):
            folder = tmp_path / str(number)
            broken = pool.attack(make(folder))
            if broken is None:
                shutil.rmtree(folder)
            else:
                found.append(str(broken))
        assert not found, f"{len(found)} runs break the rule:\n" + "\n".join(found)

    return attack
