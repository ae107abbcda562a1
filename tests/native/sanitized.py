"""The tests of the native core with a library that notices wrong addresses and undefined behaviour: make test-native.

The package is copied to a folder of its own, where such a library is built into it; Python is started with the
sanitizers' runtime, which has to be there first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ["tests/native", "tests/laws/test_native_paths.py"]
OPTIONS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def main() -> int:
    compiler = os.environ.get("CXX", "g++")
    runtime = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "iparam"
        shutil.copytree(ROOT / "src" / "iparam", package, ignore=shutil.ignore_patterns("core.*", "__pycache__"))
        library = package / "native" / "core.so"
        build = [sys.executable, str(ROOT / "src" / "native" / "build_core.py"), str(library), *OPTIONS]
        subprocess.run(build, env={**os.environ, "CXX": compiler}, check=True)
        environment = {
            **os.environ,
            "PYTHONPATH": folder,
            "LD_PRELOAD": runtime,
            "ASAN_OPTIONS": "detect_leaks=0",  # Python's own
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", *TESTS]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
