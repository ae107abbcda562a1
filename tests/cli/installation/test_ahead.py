"""Kernels of an identification are compiled meanwhile where it is their first use, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iparam.cli.installation import ahead
from iparam.motion import kernels


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would be started."""
    modules: list[str] = []

    def start(module: str, environment: Any) -> tuple[None, None]:
        assert environment["IPARAM_COMPILING_NOTICE"] == "0"
        modules.append(module)
        return None, None

    monkeypatch.setattr(ahead, "start_child", start)
    monkeypatch.setattr(ahead, "end_child", lambda process, channel: modules.append("ended"))
    return modules


@pytest.mark.parametrize("kept", [True, False])
def test_only_the_first_use_starts_a_process(
    kept: bool, started: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "kept.nbi"
    if kept:
        index.touch()
    monkeypatch.setattr(kernels.forward._cache._cache_file, "_index_path", str(index))
    with ahead.identification_compiled_meanwhile():
        assert started == ([] if kept else ["iparam.cli.installation.ahead"])
    assert started == ([] if kept else ["iparam.cli.installation.ahead", "ended"])
