"""Code is loaded from folders that nobody else can write to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iparam.simulation.newton.backend import SharedFolderError, check_code_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such modes")

ROOT_ONLY = pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() != 0, reason="only root gives folders away")
SOMEBODY = 12345


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "above" / "own"
    folder.mkdir(parents=True, mode=0o755)
    return folder


def refuses(folder: Path) -> bool:
    try:
        check_code_folder(folder, "do something")
    except SharedFolderError:
        return True
    return False


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o555])
def test_a_folder_of_ones_own_is_taken(own: Path, mode: int) -> None:
    own.chmod(mode)
    assert not refuses(own)
    assert not refuses(own / "not" / "yet")
    (own / "file").touch()
    assert not refuses(own / "file" / "below")  # which cannot be made: that is for whoever tries


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o1777])
def test_one_that_others_can_write_to_is_refused(own: Path, mode: int) -> None:
    own.chmod(mode)
    assert refuses(own)
    assert refuses(own / "not yet") == (mode != 0o1777)  # there each can only remove their own


@ROOT_ONLY
def test_a_group_of_others_that_can_write_is_refused(own: Path) -> None:
    os.chown(own, 0, SOMEBODY)
    own.chmod(0o775)
    assert refuses(own)
    os.chown(own, 0, 0)  # root's own group
    assert not refuses(own)


def test_one_in_a_folder_that_others_can_write_to_is_refused(own: Path) -> None:
    own.parent.chmod(0o777)
    assert refuses(own)
    own.parent.chmod(0o1777)
    assert not refuses(own)


@ROOT_ONLY
def test_somebody_elses_is_refused_also_behind_a_link(own: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(own)
    assert not refuses(tmp_path / "link")
    os.chown(own, SOMEBODY, SOMEBODY)
    assert refuses(own)
    assert refuses(tmp_path / "link")
    assert refuses(own / "below")
