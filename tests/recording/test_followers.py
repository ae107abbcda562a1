"""Joints that follow others need not be recorded: their angles are computed, and that is said."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.bridges.bag import read_bag, write_bag
from iparam.bridges.ros2.readers import JointReader
from iparam.errors import FileFormatError, InputError
from iparam.estimation.errors import IdentificationError
from iparam.recording.followers import COMPUTED, with_followers
from iparam.robot.model import JointCoupling, Robot
from iparam.sensing.correction import Correction

LEADERS = [0, 1, 2, 4, 5]
"""Of a UR5e whose fourth joint is driven by the third: q3 = 0.2 - 0.5 q2."""


@pytest.fixture(scope="module")
def robot() -> Robot:
    arm = iparam.load_robot("ur5e")
    names = arm.joint_names
    return dataclasses.replace(arm, couplings=(JointCoupling(names[3], names[2], -0.5, 0.2),))


@pytest.fixture(scope="module")
def whole(robot: Robot) -> iparam.Recording:
    """A load of 2 kg, 40 mm out, in a motion that the arm can make."""
    time = np.arange(0.0, 6.0, 0.01)
    phases, speeds = np.arange(6), 1.0 + 0.3 * np.arange(6)
    angle = speeds * time[:, None] + phases
    q = robot.follow(0.5 * np.sin(angle))
    rates = (0.5 * speeds * np.cos(angle), -0.5 * speeds**2 * np.sin(angle))
    dq, ddq = (robot.with_followers(rate[:, LEADERS], rates=True) for rate in rates)
    phi = np.array([2.0, 0.0, 0.0, 0.08, 0.01, 0.0, 0.0, 0.01, 0.0, 0.005])
    signals = {"q": q, "dq": dq, "tau": iparam.inverse_dynamics(robot, q, dq, ddq)}
    signals["wrench"] = iparam.wrench_regressor(robot, q, dq, ddq) @ phi
    return iparam.Recording("ur5e", {name: iparam.recording.Signal(time, values) for name, values in signals.items()})


def only_leaders(recording: iparam.Recording, *names: str) -> iparam.Recording:
    for name in names:
        signal = recording.signal(name)
        recording = recording.with_signal(name, dataclasses.replace(signal, values=signal.values[:, LEADERS]))
    return recording


def test_what_is_missing_is_computed_and_said_once(robot: Robot, whole: iparam.Recording) -> None:
    found = with_followers(only_leaders(whole, "q", "dq"), robot)
    for name in ("q", "dq"):
        np.testing.assert_allclose(found.signal(name).values, whole.signal(name).values, rtol=0, atol=1e-12)
    (said,) = found.remarks
    assert (said.code, said.values["signals"]) == ("followers-computed", "q, dq")
    assert "wrist_1_joint" in str(said.values["joints"])
    assert "-0.5" in str(said.values["joints"])
    assert found.metadata[COMPUTED] == ["q", "dq"]
    assert with_followers(found, robot) is not found or with_followers(found, robot).remarks == found.remarks
    assert with_followers(whole, robot).remarks == ()
    assert with_followers(whole, None) is whole


def test_the_load_is_the_same_from_the_leaders_alone(robot: Robot, whole: iparam.Recording) -> None:
    expected = iparam.identify_payload(whole, robot)
    found = iparam.identify_payload(only_leaders(whole, "q", "dq"), robot)
    np.testing.assert_allclose(found.phi, expected.phi, rtol=0, atol=1e-4)
    assert "followers-computed" in [one.code for one in found.remarks]


def test_a_follower_that_was_recorded_elsewhere_is_told(robot: Robot, whole: iparam.Recording) -> None:
    values = np.array(whole.signal("q").values)
    values[:, 3] = 0.0  # as a driver that does not know of the joint may fill it in
    odd = whole.with_signal("q", dataclasses.replace(whole.signal("q"), values=values))
    (said,) = with_followers(odd, robot).remarks
    assert (said.code, said.values["joint"]) == ("follower-off", "wrist_1_joint")
    assert said.values["distance"] == pytest.approx(np.abs(whole.signal("q").values[:, 3]).max())
    assert said.lowers


def test_a_zero_of_the_leader_moves_its_follower(robot: Robot, whole: iparam.Recording) -> None:
    shift = Correction(joint_offset=(0.0, 0.0, 2.0, 0.0, 0.0, 0.0))
    q = shift.applied(only_leaders(whole, "q", "dq"), robot).signal("q").values
    np.testing.assert_allclose(q[:, 3], 0.2 - 0.5 * q[:, 2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(q[:, 2], whole.signal("q").values[:, 2] + np.radians(2.0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("angles", ["radians", "degrees"])
def test_files_in_either_unit(robot: Robot, whole: iparam.Recording, angles: Any, tmp_path: Path) -> None:
    scale = 180.0 / np.pi if angles == "degrees" else 1.0
    part = only_leaders(whole, "q", "dq").signal("q")
    table = np.column_stack([part.time, scale * part.values, whole.signal("wrench").values])
    np.savetxt(tmp_path / "log.csv", table, delimiter=",", fmt="%.17g")
    found = iparam.Recording.load(tmp_path / "log.csv", columns="time,q,wrench", robot=robot, angles=angles)
    np.testing.assert_allclose(found.signal("q").values, whole.signal("q").values, rtol=0, atol=1e-12)


def test_another_number_of_columns_is_refused(robot: Robot, whole: iparam.Recording, tmp_path: Path) -> None:
    part = dataclasses.replace(whole.signal("q"), values=whole.signal("q").values[:, :4])
    dataclasses.replace(whole, signals={"q": part}).save(tmp_path / "four.parquet")
    with pytest.raises(FileFormatError, match="q has 4 columns, but ur5e has 6 joints, 5 of which follow no other"):
        iparam.Recording.load(tmp_path / "four.parquet", robot=robot)
    with pytest.raises(InputError, match="6 joints, 5 of which follow no other"):
        iparam.motion.KalmanMotion().motion(whole.with_signal("q", part), robot)


def test_torques_of_the_drives_are_read_and_not_taken_apart(
    robot: Robot, whole: iparam.Recording, tmp_path: Path
) -> None:
    only_leaders(whole, "q", "dq", "tau").save(tmp_path / "run.parquet")
    found = iparam.Recording.load(tmp_path / "run.parquet", robot=robot)
    assert [found.signal(name).width for name in ("q", "dq", "tau")] == [6, 6, 5]
    with pytest.raises(IdentificationError, match="measure the wrench at the tool"):
        iparam.identify_robot([found], robot)


def test_a_bag_and_messages_of_a_driver(robot: Robot, whole: iparam.Recording, tmp_path: Path) -> None:
    write_bag(only_leaders(whole, "tau"), tmp_path / "bag", robot)
    found = read_bag(tmp_path / "bag", robot)
    np.testing.assert_allclose(found.signal("q").values, whole.signal("q").values, rtol=0, atol=1e-12)
    assert found.signal("tau").width == 5
    assert "followers-computed" in [one.code for one in found.remarks]
    reader, q, dq = JointReader(robot, "a_"), whole.signal("q").values[7], whole.signal("dq").values[7]
    assert reader.driven == tuple(name for name in reader.names if name != "a_wrist_1_joint")
    back = reader.positions_and_velocities(reader.driven[::-1], q[LEADERS][::-1], dq[LEADERS][::-1])
    assert back is not None
    np.testing.assert_allclose(back, [q, dq], rtol=0, atol=1e-12)
    assert reader.positions_and_velocities(reader.driven[1:], q[LEADERS][1:], ()) is None
