"""The playback node: plays what passes the check, from the start pose, and stops."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.bridges.ros2.nodes.playback_plan import PlaybackPlan, PlaybackSettings
from iparam.errors import ContradictionError

NODE = "/iparam_playback"
DATA = Path(__file__).resolve().parents[3] / "data"
GOOD, BAD = DATA / "optimized_ur5e.json", DATA / "short_ur5e.json"


def test_a_bad_motion_is_refused(refusal: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    cell = tmp_path / "cell.json"
    cell.write_text('{"format": "iparam-cell/1", "ground_height": 0.45}', encoding="utf-8")
    runs = {
        "is not valid and is not played: joint acceleration": refusal("play", trajectory=BAD),
        "is not valid and is not played: ": refusal("play", trajectory=GOOD, cell=cell),
        "moves 6 joints": refusal("play", trajectory=GOOD, robot=DATA / "sample_robot.urdf"),
        "nowhere.json": refusal("play", trajectory="nowhere.json"),
    }
    for reason, (code, text) in runs.items():
        assert code != 0
        assert text.startswith("iparam: error: ")
        assert reason in text
        assert len(text.splitlines()) == 1


def test_a_motion_of_another_arm_is_told_and_one_in_degrees_refused(tmp_path: Path) -> None:
    (remark,) = PlaybackPlan.load(PlaybackSettings(str(GOOD), robot="ur5e")).remarks
    assert (remark.code, remark.values["path"]) == ("payload-size-unstated", str(GOOD))
    remark, _ = PlaybackPlan.load(PlaybackSettings(str(GOOD), robot="ur10e", scale=0.2)).remarks
    assert (remark.code, remark.values["stated"], remark.values["given"]) == ("robot-is-another", "ur5e", "ur10e")
    document = json.loads(GOOD.read_text(encoding="utf-8"))
    document["config"]["q0"] = np.degrees(document["config"]["q0"]).tolist()
    turned = tmp_path / "degrees.json"
    turned.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ContradictionError, match="are its angles in degrees"):
        PlaybackPlan.load(PlaybackSettings(str(turned)))


def test_a_motion_that_starts_in_motion_is_played_from_rest(tmp_path: Path, ur5e: iparam.Robot) -> None:
    q0 = iparam.load_trajectory(GOOD).trajectory.evaluate(0.0).q[0]
    moving = iparam.trajectory.FourierTrajectory(q0, np.full((6, 1), 0.1), np.zeros((6, 1)), 0.2, 5.0)
    assert np.abs(moving.evaluate([0.0, 5.0]).dq).min() > 0.1
    path = tmp_path / "moving.json"
    iparam.save_trajectory(path, moving, robot="ur5e", fps=100.0)
    with pytest.raises(iparam.IparamError, match="is not valid and is not played"):
        PlaybackPlan.load(PlaybackSettings(str(path)))
    points = PlaybackPlan.load(PlaybackSettings(str(path), blend=1.0)).points
    np.testing.assert_allclose(points.q[[0, -1]], moving.evaluate([0.0, 5.0]).q, atol=1e-12)
    np.testing.assert_allclose([points.dq[[0, -1]], points.ddq[[0, -1]], points.jerk[[0, -1]]], 0.0, atol=1e-9)
    between = (points.time > 1.0) & (points.time < 4.0)
    np.testing.assert_array_equal(points.q[between], moving.evaluate(points.time[between]).q)


def test_a_good_motion_is_played_from_its_start_and_stopped(
    peer: Any, start_node: Callable[..., Any], ur5e: iparam.Robot, joint_state: Callable[..., Any]
) -> None:
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory

    node = start_node("play", trajectory=GOOD, scale=0.5, rate=50.0, joint_prefix="left_", lead=0.4)
    names = tuple(f"left_{name}" for name in ur5e.joint_names)
    joints = peer.publisher(JointState, "joint_states")
    peer.connected(joints)
    start = iparam.load_trajectory(GOOD).trajectory.evaluate(0.0).q[0]

    def arm_at(q: np.ndarray, dq: np.ndarray | None = None) -> None:
        for _ in range(3):
            joints.publish(joint_state(names, 0, q, dq))
            peer.spin(0.05)

    assert "nobody listens to /joint_trajectory: is the controller" in peer.call(f"{NODE}/play").message
    peer.listen(JointTrajectory, "/arm_controller/joint_trajectory")  # as controllers of ros2_control do
    peer.spin(0.6)
    message = peer.call(f"{NODE}/play").message
    assert message.endswith("start with -r joint_trajectory:=/arm_controller/joint_trajectory")
    trajectories = peer.listen(JointTrajectory, "joint_trajectory")
    peer.spin(0.6)
    answer = peer.call(f"{NODE}/play")
    assert not answer.success
    assert "no message on joint_states" in answer.message
    arm_at(start + np.array([0.0, 0.0, 0.03, 0.0, 0.0, 0.0]))
    answer = peer.call(f"{NODE}/play")
    assert not answer.success
    assert "elbow_joint is 0.03 rad from the start pose, more than 0.02 rad" in answer.message
    arm_at(start, np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0]))
    answer = peer.call(f"{NODE}/play")
    assert not answer.success
    assert "shoulder_lift_joint moves at 0.3 rad/s" in answer.message
    assert trajectories == []

    arm_at(start + 0.01, np.zeros(6))
    answer = peer.call(f"{NODE}/play")
    assert answer.success, answer.message
    peer.until(lambda: trajectories, "a trajectory")
    played = trajectories[0]
    assert tuple(played.joint_names) == names
    motion = iparam.load_trajectory(GOOD).trajectory.sample(50.0)
    assert len(played.points) == motion.num_samples == 501
    times = [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in played.points]
    np.testing.assert_allclose(times, motion.time + 0.4, atol=1e-9)
    for key, half in (
        ("positions", start + 0.5 * (motion.q - start)),
        ("velocities", 0.5 * motion.dq),
        ("accelerations", 0.5 * motion.ddq),
    ):
        np.testing.assert_allclose([getattr(point, key) for point in played.points], half, atol=1e-12)
    assert "call ~/stop first" in peer.call(f"{NODE}/play").message

    speed = np.array([0.4, 0.0, -0.8, 0.0, 0.0, 0.0])
    arm_at(start, speed)
    assert not peer.call(f"{NODE}/stop").success  # nobody sees the arm stand still; see test_playback_stop.py
    peer.until(lambda: len(trajectories) == 2, "a hold trajectory")
    (hold,) = trajectories[1].points
    np.testing.assert_allclose(hold.positions, start + 0.125 * speed)  # slowing down evenly over 0.25 s
    assert list(hold.velocities) == [0.0] * 6
    assert node.stop() == 1
    peer.until(lambda: len(trajectories) == 3, "a hold trajectory at the end")
    # An arm that is not seen is stopped where it should be: to be sent back to where it was would be a jump.
    stops = np.array([np.add(point.positions, 0.125 * np.array(point.velocities)) for point in played.points])
    away = np.abs(stops - trajectories[2].points[0].positions).max(axis=1)
    assert away.min() < 0.03
    assert times[int(np.argmin(away))] > 3.0  # for so long the first stop was waited for


def test_parameter_errors_are_one_line(refusal: Callable[..., tuple[int, str]]) -> None:
    runs = {
        "parameter frame must be one of tool, base, got 'world'": refusal("kinematics", frame="world"),
        "out of range Min: 0.0": refusal("identify", rate=-1.0),
        "Write 500.0 and not 500.": refusal("identify", rate=500),
        "unknown wrench_frame 'elbow'": refusal("compensate", robot="ur5e", wrench_frame="elbow"),
    }
    for reason, (code, text) in runs.items():
        assert code == 2, text
        assert text.startswith("iparam: error: ")
        assert reason in text
        assert len(text.splitlines()) == 1


def test_a_misspelt_parameter_is_mentioned(start_node: Callable[..., Any], peer: Any) -> None:
    node = start_node("kinematics", robot="ur5e", fram="base")
    peer.until(lambda: "motion of tool0" in node.text, "the node")
    assert "there is no parameter fram; did you mean frame?" in node.text
    assert node.stop() == 0


def test_without_ros_the_extra_is_named(ros_environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "rclpy.py").write_text("raise ImportError('No module named rclpy', name='rclpy')\n", encoding="utf-8")
    path = f"{tmp_path}:{ros_environment['PYTHONPATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "iparam", "ros2", "kinematics"],
        env={**ros_environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "rclpy (a sourced ROS 2 installation brings it, too)" in done.stderr
    assert "pip install 'iparam[ros2]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
