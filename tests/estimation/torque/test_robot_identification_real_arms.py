"""Logs of other makers' arms: torques that were not fitted, beside the figures of a textbook pipeline, and two runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.estimation.torque.robot_identification import RobotEstimate, identify_robot
from iparam.recording import Recording

EVERY = 5  # rows: a fifth of a log tells as much, and takes a fifth of the time
TEXTBOOK = {  # root mean square of held-out torques [N m], as published beside the logs
    "rokae": [0.58, 2.5, 0.42, 0.85, 0.24, 0.36, 0.29],
    "tx40": [3.3, 5.3, 1.6, 0.75, 5.2, 1.9],
}
FAST = {"tx40": {0}}  # joints whose figure takes what only the log's own rate shows: the servo's answer to its encoder


def thin(recording: Recording) -> Recording:
    for name, signal in recording.signals.items():
        recording = recording.with_signal(name, time=signal.time[::EVERY], values=signal.values[::EVERY])
    return recording


def load(folder: Path, arm: str, urdf: str, log: str, every: bool = False) -> tuple[iparam.Robot, Recording]:
    path = folder / "real_arms" / arm / log
    if not path.is_file():
        pytest.skip(f"needs the logs of other arms, and {path} is not there")
    robot = iparam.load_robot(path.parent / urdf)
    recording = Recording.load(path, robot=robot)
    return robot, recording if every else thin(recording)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("arm", "urdf", "log", "edge", "couplings"),
    [("rokae", "xm3p.urdf", "log_1khz.csv", 12.0, []), ("tx40", "tx40.urdf", "log_5khz.csv", 6.0, ["5+6"])],
)
def test_held_out_torques(shared_data: Path, arm: str, urdf: str, log: str, edge: float, couplings: list[str]) -> None:
    robot, recording = load(shared_data, arm, urdf, log)
    end = recording.start + recording.duration
    found = identify_robot([recording.slice(recording.start, edge - 1e-6)], robot, compare=False)
    rms = found.validate(recording.slice(edge - 1e-6, end))["identified"].rms
    ratios = rms / TEXTBOOK[arm]
    assert ratios.mean() < 0.9
    assert all(ratio < 1.1 for joint, ratio in enumerate(ratios) if joint not in FAST.get(arm, ()))
    assert [coupling.name for coupling in found.model.couplings] == couplings


@pytest.mark.thorough
def test_a_servo_that_answers_its_encoder(shared_data: Path) -> None:
    robot, recording = load(shared_data, "tx40", "tx40.urdf", "log_5khz.csv", every=True)
    end = recording.start + recording.duration
    found = identify_robot([recording.slice(recording.start, 5.9999)], robot, compare=False)
    assert found.feedback is not None
    assert set(np.flatnonzero(found.feedback.damping > 0.0)) == {0, 1, 4, 5}
    rms = found.validate(recording.slice(5.9999, end))["identified"].rms
    assert (rms < 1.1 * np.array(TEXTBOOK["tx40"])).all()


@pytest.mark.thorough
def test_two_runs_agree_within_their_intervals(shared_data: Path) -> None:
    runs = [load(shared_data, "kuka", "kuka_lwr4.urdf", log) for log in ("m1.csv", "m2.csv")]
    found = [identify_robot([recording], robot, compare=False) for robot, recording in runs]
    tables = [_table(one) for one in found]
    common = tables[0].keys() & tables[1].keys()
    assert len(common) > 60
    scores = [
        (tables[0][name][0] - tables[1][name][0]) / np.hypot(tables[0][name][1], tables[1][name][1]) for name in common
    ]
    assert np.mean(np.abs(scores) < 1.96) > 0.88


def _table(found: RobotEstimate) -> dict[str, tuple[float, float]]:
    values = zip(found.base_values.tolist(), found.base_deviation.tolist(), strict=True)
    return dict(zip(found.base_names, values, strict=True))
