"""Code is loaded from folders that nobody else can write to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from iparam.bridges.ros2.interfaces.generation import generated_package
from iparam.files.code_folder import SharedFolderError, check_code_folder

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


def test_kernels_are_not_loaded_from_a_shared_numba_cache(own: Path) -> None:
    script = "import iparam; iparam.forward_kinematics(iparam.load_robot('ur5e'), [0.0] * 6)"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(own)}
    own.chmod(0o777)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert "SharedFolderError" in done.stderr
    assert "NUMBA_CACHE_DIR" in done.stderr.splitlines()[-1]


def test_kernels_are_not_kept_beside_the_source_where_that_is_shared(own: Path) -> None:
    """They are kept elsewhere: nobody asked for that place."""
    (own / "kernel.py").write_text(
        "from iparam.robot.kernels.compilation import compiled\n@compiled\ndef twice(x):\n    return 2.0 * x\n"
        "print(twice.stats.cache_path)\n"
    )
    (own / "__pycache__").mkdir()
    for mode, beside in ((0o755, True), (0o777, False)):
        (own / "__pycache__").chmod(mode)
        done = subprocess.run(
            [sys.executable, str(own / "kernel.py")], capture_output=True, text=True, timeout=120, check=True
        )
        assert done.stdout.startswith(str(own)) == beside


def test_message_types_are_not_loaded_from_a_shared_cache(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even looked at: what lies there may be somebody's library."""
    monkeypatch.setenv("IPARAM_CACHE", str(own))
    (tmp_path / "some_msgs").mkdir()
    own.chmod(0o777)
    with pytest.raises(SharedFolderError, match="set IPARAM_CACHE to a folder of your own"):
        generated_package("some_msgs", tmp_path)
