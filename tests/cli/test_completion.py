"""tyro's completion: bash itself completes commands of one word and of two, options and choices."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from iparam.cli.main import main

LINES = {
    "iparam ": {"demo", "excite", "identify", "ur", "fleet"},
    "iparam exc": {"excite"},
    "iparam excite ": {"optimize", "check", "poses"},
    "iparam excite optimize --crit": {"--criterion"},
    "iparam excite optimize --criterion ": {"kappa", "d", "a", "e"},
    "iparam demo --see": {"--seed"},
}
BASH = """
source "$1"
read -ra COMP_WORDS <<< "$2"; [ "${2: -1}" = " " ] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tyro_iparam; printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tyro-print-completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out, encoding="utf-8")
    for line, wanted in LINES.items():
        words = ["bash", "-c", BASH, "bash", str(tmp_path / "script"), line]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
        assert wanted <= set(done.stdout.split()), line


def test_a_shell_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tyro-print-completion", "fish4"]) == 2
    assert "bash" in capsys.readouterr().err
