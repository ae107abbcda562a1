"""`iparam warm-up` leaves nothing to compile for the commands that come after it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import UserProvidedCacheLocator

import iparam

DATA = Path(__file__).resolve().parents[2] / "data"
PACKAGE = Path(iparam.__file__).resolve().parent


@pytest.mark.thorough
def test_after_it_a_command_compiles_nothing(tmp_path: Path) -> None:
    # What other tests have compiled is taken over, to save time; not the dynamics, which the first command needs.
    for kept in PACKAGE.rglob("*.nb?"):
        folder = kept.parents[1]
        if not kept.name.startswith("dynamics."):
            subpath = UserProvidedCacheLocator.get_suitable_cache_subpath(str(folder / "kernels.py"))
            (tmp_path / subpath).mkdir(exist_ok=True)
            shutil.copy2(kept, tmp_path / subpath)
    environment = {name: value for name, value in os.environ.items() if name != "IPARAM_COMPILING_NOTICE"}
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path)}

    def iparam_command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "iparam", *words], capture_output=True, text=True, check=True, env=environment
        )

    first = iparam_command("warm-up", "--json")
    assert json.loads(first.stdout)["seconds"] > 0.0
    assert first.stderr == "iparam: compiling kernels, once, about 10 s\n"
    for words in (["dynamics", "compute", "--robot", "ur5e", "--q", *"000000"], ["excite", "check"]):
        words += [str(DATA / "optimized_ur5e.json")] if words[0] == "excite" else []
        assert "compiling" not in iparam_command(*words).stderr
