"""Five arms of other makers, from their files to their loads, as a new user would go from the command line: 5 to 7
joints, tools named by nobody but their makers, trees that branch, a lift under the arm, 50 g and 500 g.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main

pytest.importorskip("mujoco")


@dataclass(frozen=True)
class Job:
    """An arm and what it carries: a box of edge lengths ``size`` [m] and ``mass`` [kg] on ``tip``."""

    arm: str
    tip: str
    frame: str
    joints: int
    size: tuple[str, str, str]
    mass: float


JOBS = (
    Job("xarm7", "", "link_eef", 7, ("0.05", "0.05", "0.08"), 0.5),
    Job("panda", "panda_link8", "panda_link8", 7, ("0.05", "0.05", "0.08"), 0.5),
    Job("so101", "gripper_link", "gripper_link", 5, ("0.03", "0.03", "0.04"), 0.05),
    Job("z1", "", "link06", 6, ("0.04", "0.04", "0.04"), 0.3),
    Job("tiago", "arm_tool_link", "arm_tool_link", 8, ("0.05", "0.05", "0.06"), 0.4),
)


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.arm)
def test_from_the_file_of_the_arm_to_its_load(
    job: Job, example_robot_urdf: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    arm = ["--robot", str(example_robot_urdf(job.arm)), *(["--tip", job.tip] if job.tip else [])]
    payload = ["--payload-size", *job.size, "--payload-mass", str(job.mass)]

    def call(*arguments: str) -> str:
        assert main([*arguments]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    plan = ["--duration", "4", "--harmonics", "3", "--amplitude", "0.5"]
    call("excite", "random", *arm, *payload, *plan, "--output", "t.json")
    planned = iparam.load_trajectory("t.json")
    assert planned.tool_frame == job.frame
    assert planned.trajectory.num_joints == job.joints
    # From here on, the trajectory says which tip and payload it is about; its path of the arm's file is not followed.
    robot = arm[:2]
    checked = json.loads(call("excite", "check", "t.json", *robot, "--json"))
    assert checked["tool_frame"] == job.frame
    assert checked["conditions"]["payload"]["mass"] == job.mass
    noise = ["--trajectory", "t.json", *robot, "--noise", "ur5e", "--physics-rate", "500"]
    call("simulate", *noise, "--output", "run.parquet", "--truth", "truth.json")
    call("identify", "payload", "run.parquet", *robot, "--output", "result.json")
    result = json.loads(Path("result.json").read_text(encoding="utf-8"))
    truth = json.loads(Path("truth.json").read_text(encoding="utf-8"))
    assert result["frame"] == truth["frame"] == job.frame
    deviation = np.sqrt(np.diag(result["covariance_phi"]))
    assert np.all(np.abs(np.array(result["phi"]) - truth["phi"]) < 5.0 * deviation)
    # A table names neither arm nor frame: the options do.
    iparam.Recording.load("run.parquet").save("run.csv")
    call("compensate", "run.csv", *arm, "--result", "result.json", "--output", "clean.parquet")
    assert iparam.Recording.load("clean.parquet", robot=arm[1], tip=job.frame).signal("wrench").num_samples > 1000
    for kind in ("mjcf", "sdf", "ros2"):
        assert job.frame in call("export", "result.json", "--format", kind)
    call("export", "result.json", "--urdf", arm[1], "--output", "merged.urdf")
    heavier, own = (iparam.load_robot(path, tip=job.frame) for path in ("merged.urdf", arm[1]))
    assert heavier.body_parameters[-1, 0] - own.body_parameters[-1, 0] == pytest.approx(result["mass"])
