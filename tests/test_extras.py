"""Each extra brings all that it is for: installed alone, beside what iparam itself needs, and used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import release
from release import Built, NoIndexError

import iparam
from iparam.robot import robot_to_urdf

DATA = Path(__file__).parent / "data"

ELSEWHERE = {"newton": "690 MB, and a MuJoCo of another version: make test-newton", "test": "", "docs": "", "dev": ""}
"""Extras that are not tried here, and why; the last three are of the developers."""

USES = {
    "mujoco": "main(['simulate', '--trajectory', 'short.json', '--output', 'simulated.csv'])",
    "plot": "main(['report', 'result.json', '--output', 'page.html'])",
    "pandas": "0\nrun = iparam.Recording.load('run.csv'); assert run.from_pandas(run.to_pandas()).has('q')",
    "bag": "main(['bag', 'export', 'run.csv', '--robot', 'ur5e', '--output', 'bag']) or main(['bag', 'info', 'bag'])",
    "ros2": """0
import iparam.bridges.ros2.backend
from iparam.bridges.ros2.optional_types import types_of
from iparam.errors import IparamError
for package in ("tf2_msgs", "control_msgs"):
    try:
        types_of(package, "msg")
        code = 1
    except IparamError as error:
        code = code or int("apt install ros-$ROS_DISTRO-" not in str(error))
""",
    "xacro": "main(['robots', 'arm.urdf.xacro flange:=mine', '--tip', 'mine'])",
    "usd": "main(['export', 'result.json', '--format', 'usd', '--output', 'load.usda'])",
    "robots": "main(['robots', 'panda'])",
    "viewer": "main(['view', 'result.json', '--output', 'view.html'])",
    "ur": """0
from iparam.bridges.ur.run.command_client import ArmMotion
with ArmMotion('127.0.0.1') as arm:
    arm.load(__import__('numpy').zeros((2, 6)))
""",
    "fleet": """0
import distributed
with distributed.LocalCluster(n_workers=1, processes=False, protocol='tcp', dashboard_address=None) as started:
    code = main(
        ['fleet', 'run.csv', '--robot', 'ur5e', '--output', 'fleet', '--scheduler', started.scheduler_address]
    )
""",
}
"""What each is for; ``code`` is 0 in the end."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    try:
        return release.build(tmp_path_factory.mktemp("dist"))
    except NoIndexError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def bare(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An environment with iparam and no extra; 500 MB, which do not stay."""
    folder = tmp_path_factory.mktemp("bare") / "environment"
    release.install(built.wheel, folder, extras="")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with files of all kinds."""
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copy(DATA / "short_ur5e.json", folder / "short.json")
    shutil.copy(DATA / "sample_result.json", folder / "result.json")
    motion = iparam.load_trajectory(folder / "short.json").trajectory.sample(100.0)
    robot, body = iparam.load_robot("ur5e"), iparam.InertialParameters(1.0, np.zeros(3), 0.01 * np.eye(3))
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ body.phi
    run = iparam.Recording("ur5e").with_signal("q", time=motion.time, values=motion.q)
    run.with_signal("wrench", time=motion.time, values=wrench).save(folder / "run.csv")
    arm = robot_to_urdf(robot).replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)
    arm = arm.replace("<link ", '<xacro:arg name="flange" default=""/><link ', 1).replace('"tool0"', '"$(arg flange)"')
    (folder / "arm.urdf.xacro").write_text(arm, encoding="utf-8")
    return folder


def test_every_extra_is_tried_or_said_to_be_elsewhere() -> None:
    project = tomllib.loads((release.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["optional-dependencies"]) == {*USES, *ELSEWHERE}


@pytest.mark.skipif("IPARAM_TEST_EXTRAS" not in os.environ, reason="make test-all does it, which takes minutes")
@pytest.mark.parametrize("extra", USES)
def test_an_extra_alone_brings_what_it_is_for(extra: str, built: Built, bare: Path, work: Path, tmp_path: Path) -> None:
    if extra == "ur" and sys.version_info >= (3, 13):
        pytest.skip("ur_rtde has no wheels for this Python")
    environment = tmp_path / "environment"
    release.install(built.wheel, environment, extras=extra, beneath=bare)
    script = (
        f"import os\nimport iparam\nfrom iparam.cli.main import main\ncode = {USES[extra]}\nassert code == 0, code\n"
    )
    variables = {
        "PATH": os.defpath,
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": "",
        "IPARAM_CACHE": str(tmp_path / "cache"),
    }
    command = [str(environment / "bin" / "python"), "-P", "-c", script]
    done = subprocess.run(command, cwd=work, env=variables, capture_output=True, text=True, check=False)
    shutil.rmtree(environment)
    assert done.returncode == 0, done.stderr
