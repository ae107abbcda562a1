"""A bag's folder appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from iparam.bridges.bag.bag_folder import new_bag_folder


def write(bag: Path, overwrite: bool = False, fails: bool = False) -> None:
    with new_bag_folder(bag, overwrite) as folder:
        folder.mkdir()
        (folder / "whole.mcap").write_bytes(b"whole")
        if fails:
            raise KeyboardInterrupt


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_interrupted_leaves_what_was_there(tmp_path: Path) -> None:
    bag = tmp_path / "bag"
    with pytest.raises(KeyboardInterrupt):
        write(bag, fails=True)
    assert names(tmp_path) == []
    bag.mkdir()
    (bag / "old.mcap").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write(bag, overwrite=True, fails=True)
    assert (names(tmp_path), names(bag)) == (["bag"], ["old.mcap"])
    write(bag, overwrite=True)
    assert (names(tmp_path), names(bag)) == (["bag"], ["whole.mcap"])


def test_a_folder_with_anything_else_is_not_replaced(tmp_path: Path) -> None:
    bag = tmp_path / "bag"
    write(bag)
    with pytest.raises(ValueError, match="exists already"):
        write(bag)
    (bag / "notes.txt").write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"notes\.txt"):
        write(bag, overwrite=True)
    assert names(bag) == ["notes.txt", "whole.mcap"]
