"""Logs of a real UR10e: the load of 2.805 kg, and the torques of a motion that was not used."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.estimation.torque.payload_from_torque import identify_payload_from_torque
from iparam.estimation.torque.robot_identification import identify_robot
from iparam.recording import Recording
from iparam.robot.urdf.writer import robot_to_urdf
from iparam.spatial.consistency import is_physically_consistent

COLUMNS = "time,q,dq,current,target_current,target_torque"
MASS = 2.805
BARE = {
    "14": "ur-20_02_19_14harm50sec.csv",
    "31": "ur-20_01_31-unload.csv",
    "12": "ur-20_02_10-30sec_12harm.csv",
    "points": "ur-20_01_17-ptp_10_points.csv",
}
LOADED = {"14": "ur-20_02_19_14harm50secLoad.csv", "31": "ur-20_01_31-load.csv"}


@cache
def log(folder: Path, name: str) -> Recording:
    path = folder / "ur10e" / name
    if not path.is_file():
        pytest.skip(f"needs the UR10e logs, and {path} is not there")
    return Recording.load(path, columns=COLUMNS, robot="ur10e")


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("bare", "loaded"), [("31", "31"), ("12", "14"), ("14", "31")])
def test_the_load(shared_data: Path, robot: iparam.Robot, bare: str, loaded: str) -> None:
    runs = (log(shared_data, BARE[bare]), log(shared_data, LOADED[loaded]))
    found = identify_payload_from_torque(*runs, robot)
    assert found.estimate.mass == pytest.approx(MASS, rel=0.03)
    low, high = found.mass_interval
    assert low < MASS < high
    if (bare, loaded) == ("14", "31"):  # weeks apart: the whole arm's weight is seen with other gains
        assert "gains-changed-between-runs" in [one.code for one in found.estimate.remarks]
        assert high - low < 0.8, "1.7 % of the arm's weight, which is ten times the load's"
    else:
        assert high - low < 0.4, "the joints' gains disagree by 3 to 4 %, and parts of a run by as much"
    assert found.estimate.physically_consistent
    np.testing.assert_allclose(found.drive_gains.values[1:5], [11.98, 9.84, 10.75, 10.69], rtol=0.01)


@pytest.mark.thorough
def test_half_of_each_run_is_enough(shared_data: Path, robot: iparam.Robot) -> None:
    bare, loaded = log(shared_data, BARE["14"]), log(shared_data, LOADED["14"])
    halves = bare.slice(bare.start, bare.start + 28.0), loaded.slice(loaded.start + 28.0, loaded.start + 60.0)
    found = identify_payload_from_torque(*halves, robot)
    assert found.estimate.mass == pytest.approx(MASS, rel=0.03)
    assert found.mass_interval[0] < MASS < found.mass_interval[1]


@pytest.mark.thorough
def test_no_load_is_found_where_there_is_none(shared_data: Path, robot: iparam.Robot) -> None:
    found = identify_payload_from_torque(log(shared_data, BARE["12"]), log(shared_data, BARE["14"]), robot)
    assert abs(found.estimate.mass) < 0.05
    assert found.mass_interval[0] < 0.0 < found.mass_interval[1]


@pytest.mark.thorough
def test_held_out_torques_and_urdf(shared_data: Path, robot: iparam.Robot, tmp_path: Path) -> None:
    found = identify_robot([log(shared_data, BARE["12"])], robot)
    assert is_physically_consistent(found.link_parameters).all()
    predictions = found.validate(log(shared_data, BARE["points"]))
    identified, maker, plain = (predictions[name].relative for name in ("identified", "maker", "ols"))
    moves = predictions["identified"].moves
    assert moves.all()
    assert (identified[moves] < maker[moves]).all()
    assert (identified <= 1.02 * plain).all()
    path = tmp_path / "arm.urdf"
    path.write_text(robot_to_urdf(found.robot), encoding="utf-8")
    q, dq, ddq = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 30, 6))
    fitted = iparam.joint_torque_regressor(robot, q, dq, ddq) @ found.link_parameters.ravel()
    rnea = iparam.inverse_dynamics(iparam.load_robot(path, tip="tool0"), q, dq, ddq)
    np.testing.assert_allclose(rnea, fitted, atol=1e-9)
