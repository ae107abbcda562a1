"""Modules that somebody put into the working folder, beside a recording, are not imported by any process of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from attack.rule import LONGEST

SOURCE = Path(__file__).resolve().parents[2] / "src" / "iparam"
MOTION = Path(__file__).parents[1] / "data" / "optimized_ur5e.json"

PLANTED = (
    *("iparam", "numpy", "scipy", "json", "pickle", "multiprocessing", "lazy_loader", "cloudpickle"),
    *("rtde_control", "mujoco", "viser", "xacro", "sitecustomize", "usercustomize", "ctypes", "struct"),
)

CHILDREN = {
    "iparam.worker_pool": """
import math
from iparam.worker_pool import WorkerPool
with WorkerPool(1) as pool:
    assert pool.submit(math.sqrt, 4.0).result() == 2.0
""",
    "iparam.bridges.ur.run.command_process": """
from iparam.bridges.ur.run.command_client import ArmMotion
with ArmMotion("127.0.0.1") as arm:
    arm.load(__import__("numpy").zeros((2, 6)))
""",
    "iparam.files.limited_process": """
from iparam.files.limited_process import in_limited_process
from iparam.files.json import parse_json
assert in_limited_process(parse_json, "it", {"data": "[{}, {}]", "name": "it"}) == ({}, {})
""",
    "iparam.__main__": """
import subprocess
from iparam.child_process import python_command, safe_path_variables
command = python_command("iparam", "robots")
subprocess.run(command, env={**os.environ, **safe_path_variables()}, stdout=subprocess.DEVNULL, check=True)
""",
}
"""What starts a process of each kind, and hears that it has begun to work."""

NEEDS = {"iparam.bridges.ur.run.command_process": "rtde_control"}


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder with modules that say that they were imported."""
    for name in PLANTED:
        text = f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r} + ' ')\n"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def imported(folder: Path) -> str:
    place = folder / "imported"
    return place.read_text(encoding="utf-8") if place.exists() else ""


@pytest.mark.thorough(keep=6)
@pytest.mark.parametrize("module", CHILDREN)
def test_a_child_process_imports_nothing_from_the_working_folder(module: str, planted: Path) -> None:
    """Nor by an empty entry of PYTHONPATH, which stands for that folder."""
    if module in NEEDS and find_spec(NEEDS[module]) is None:
        pytest.skip(f"needs {NEEDS[module]}")
    script = f"import os\nos.environ['PYTHONPATH'] = os.pathsep + os.environ.get('PYTHONPATH', '')\n{CHILDREN[module]}"
    done = subprocess.run([sys.executable, "-P", "-c", script], cwd=planted, timeout=LONGEST, check=False)
    assert (done.returncode, imported(planted)) == (0, "")


def test_every_process_of_ours_is_tried() -> None:
    started = {
        f"iparam.{'.'.join(path.relative_to(SOURCE).with_suffix('').parts)}"
        for path in SOURCE.rglob("*.py")
        if '\nif __name__ == "__main__":' in path.read_text(encoding="utf-8")
    }
    assert started == set(CHILDREN)


def test_one_module_starts_python() -> None:
    """Every other would have to think of the working folder for itself."""
    having = {path.name for path in SOURCE.rglob("*.py") if "sys.executable" in path.read_text(encoding="utf-8")}
    assert having == {"child_process.py"}


def test_the_command_itself_imports_nothing_from_the_working_folder(planted: Path) -> None:
    command = Path(sys.executable).with_name("iparam")
    done = subprocess.run([command, "robots", "ur5e"], cwd=planted, capture_output=True, timeout=LONGEST, check=False)
    assert (done.returncode, imported(planted)) == (0, "")


@pytest.mark.skipif(find_spec("mujoco") is None, reason="needs mujoco")
def test_nor_does_a_process_that_a_library_starts(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """glfw, which MuJoCo loads, starts ``python -c`` to look at a library."""
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    command = [Path(sys.executable).with_name("iparam"), "simulate", "--trajectory", MOTION, "--output", "run.parquet"]
    done = subprocess.run(command, cwd=planted, capture_output=True, timeout=LONGEST, check=False)
    assert (done.returncode, imported(planted)) == (0, "")


def test_python_m_iparam_takes_the_working_folder_off_its_path(planted: Path) -> None:
    """What Python imports before iparam begins, it takes from there; not what iparam imports."""
    for name in ("iparam", "lazy_loader"):
        (planted / f"{name}.py").unlink()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, "-m", "iparam", "robots", "ur5e"]
    done = subprocess.run(command, cwd=planted, capture_output=True, timeout=LONGEST, check=False, env=environment)
    assert (done.returncode, imported(planted)) == (0, "")
