"""`iparam warm-up` leaves nothing to compile for the commands that come after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"


def test_after_it_a_command_compiles_nothing(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "IPARAM_COMPILING_NOTICE"}
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path)}

    def iparam(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "iparam", *words], capture_output=True, text=True, check=True, env=environment
        )

    first = iparam("warm-up", "--json")
    assert json.loads(first.stdout)["seconds"] > 0.0
    assert first.stderr == "iparam: compiling kernels, once, about 10 s\n"
    for words in (["dynamics", "compute", "--robot", "ur5e", "--q", *"000000"], ["excite", "check"]):
        words += [str(DATA / "optimized_ur5e.json")] if words[0] == "excite" else []
        assert "compiling" not in iparam(*words).stderr
