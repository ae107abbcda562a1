"""Compiled kernels where nothing can be written: a read-only installation and a user without a home."""

from __future__ import annotations

import subprocess
import sys

# As on a disk that cannot be written; a test that runs as root could not take its own right to write away.
NOWHERE_TO_KEEP = """
from numba.core import caching
for name in ("_CacheImpl", "CompileResultCacheImpl", "CodeLibraryCacheImpl"):
    if hasattr(caching, name):
        getattr(caching, name)._locator_classes = []
import numba
try:
    numba.njit(cache=True)(lambda: 0)
except RuntimeError as error:
    assert "cannot cache" in str(error)
else:
    raise AssertionError("numba found a place")
import iparam.estimation.torque.kernels
robot = iparam.load_robot("ur5e")
print(iparam.forward_kinematics(robot, [0.0] * 6)[0, 0])
"""


def test_kernels_work_where_they_cannot_be_kept() -> None:
    done = subprocess.run([sys.executable, "-c", NOWHERE_TO_KEEP], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "1.0"
