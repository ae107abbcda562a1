"""A simulated arm on ROS 2 topics, and the other nodes on it: what they publish against what the arm carries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.cli.main import main

pytest.importorskip("mujoco")

MOTION = Path(__file__).resolve().parents[2] / "data" / "optimized_ur5e.json"
CALM = MOTION.with_name("calm_ur5e.json")
LOAD = ("--payload", "box", "--size", "0.1", "0.15", "0.2", "--mass", "2")
NOISE = ("--noise", "ur5e", "--seed", "3")
SIMULATION = "iparam_simulation"
WHITE = np.array([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])
"""Standard deviations of the sensor's noise in the preset ur5e [N, N m]."""


def stamp_of(message: Any) -> float:
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def wrench_of(message: Any) -> np.ndarray:
    force, torque = message.wrench.force, message.wrench.torque
    return np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])


def lasts(messages: list[Any], seconds: float) -> Callable[[], bool]:
    """Whether messages have come for a time, by their stamps."""
    return lambda: bool(messages) and stamp_of(messages[-1]) - stamp_of(messages[0]) > seconds


def test_the_load_that_is_identified_is_the_one_that_is_carried(
    peer: Any, start_node: Callable[..., Any], tmp_path: Path, status_of: Callable[..., Any]
) -> None:
    from diagnostic_msgs.msg import DiagnosticArray
    from geometry_msgs.msg import InertiaStamped
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    start_node("identify", robot="ur5e", reliable=True)
    reports = peer.listen(DiagnosticArray, "/diagnostics")
    found, deviations = peer.listen(InertiaStamped, "inertia"), peer.listen(Float64MultiArray, "inertia_deviation")
    states = peer.listen(JointState, "joint_states", 1000)
    peer.until(lambda: (status_of(reports, "iparam_identification") or {}).get("examiner") == "ready", "the node")
    arm = start_node("simulate", "--trajectory", str(MOTION), *LOAD, *NOISE, "--rest", "1.5", "--truth", "truth.json")
    peer.until(lambda: states, "joint states")
    # Discovery announces endpoints and names separately: samples can come before the node's name is known.
    peer.until(lambda: peer.topics_of(SIMULATION) >= {"/joint_states", "/wrench"}, "the topics of the simulated arm")
    assert peer.topics_of(SIMULATION) <= {"/joint_states", "/wrench", "/rosout", "/parameter_events"}
    peer.until(lasts(states, 1.5 + 10.0 + 1.0), "the end of the motion")
    peer.until(lambda: len(found) == len(deviations), "the last deviation")
    assert arm.stop() == 0

    truth = iparam.simulation.GroundTruth.load(tmp_path / "truth.json").payload
    moments = truth.inertia_about_com
    true = np.concatenate([[truth.mass], truth.center_of_mass, moments[0], moments[1, 1:], moments[2, 2:]])
    inertia = [message.inertia for message in found]
    loads = np.array([[i.m, i.com.x, i.com.y, i.com.z, i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz] for i in inertia])
    deviation = np.array([message.data for message in deviations])
    known = loads[:, 0] > 0.0  # otherwise nothing is claimed
    assert known.sum() > 100
    off = np.abs(loads - true)[known] / deviation[known]
    assert np.nanmax(off) < 4.0  # of all ten, from the first that is published to the last
    assert known[-1]
    assert not np.isnan(loads[-1]).any()
    assert abs(loads[-1, 0] - 2.0) < 0.01


def test_nothing_is_left_of_the_wrench_when_the_load_is_taken_out(
    peer: Any, start_node: Callable[..., Any], tmp_path: Path
) -> None:
    """Load and bias are identified from a recording of the same arm with the same sensor: seed and noise agree."""
    from geometry_msgs.msg import WrenchStamped

    run, result = str(tmp_path / "run.parquet"), str(tmp_path / "result.json")
    assert main(["simulate", "--trajectory", str(MOTION), *LOAD, *NOISE, "--output", run]) == 0
    assert main(["identify", "payload", run, "--output", result]) == 0
    start_node("compensate", robot="ur5e", result=result, rate=500.0, reliable=True)
    left = peer.listen(WrenchStamped, "wrench_compensated", 5000)
    start_node("simulate", "--trajectory", str(MOTION), *LOAD, *NOISE, "--rest", "1")
    peer.until(lasts(left, 1.0 + 10.0 + 1.0), "the end of the motion")
    residual = np.array([wrench_of(message) for message in left])
    assert len(residual) > 3000  # the test itself may lose some on a busy machine
    assert (np.abs(residual).max(axis=0) < 7.5 * WHITE).all()  # of the sensor, and of the filter of the accelerations
    part = residual[: len(residual) // 100 * 100].reshape(-1, 100, 6).mean(axis=1)
    assert (np.abs(part) < 0.5 * WHITE).all()  # means of 0.2 s: five standard deviations of such means


def test_it_follows_what_is_played(peer: Any, start_node: Callable[..., Any]) -> None:
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

    start_node("simulate", "--trajectory", str(CALM), "--payload", "none", "--times", "0")
    start_node("play", trajectory=CALM, interface="topic")
    states, said = peer.listen(JointState, "joint_states", 5000), peer.listen(String, "/iparam_playback/state")
    peer.until(lambda: len(states) > 50, "joint states")
    answers: list[Any] = []

    def played() -> bool:
        answers.append(peer.call("/iparam_playback/play"))
        return bool(answers[-1].success)

    peer.until(played, f"the motion to begin: {answers[-1:]}")
    peer.until(lasts(states, stamp_of(states[-1]) - stamp_of(states[0]) + 5.0), "the end of the motion")
    motion = iparam.load_trajectory(CALM).trajectory
    times, q = np.array([stamp_of(state) for state in states]), np.array([state.position for state in states])
    goal = motion.sample(500.0)
    # When the message came is not known exactly; the motion is the same at every time after that.
    first = times[np.argmax(np.abs(q - q[0]).max(axis=1) > 0.01)]
    begins = first - goal.time[np.argmax(np.abs(goal.q - goal.q[0]).max(axis=1) > 0.01)]
    inside = (times > begins) & (times < begins + motion.duration)
    reached = motion.evaluate(times[inside] - begins)
    assert np.abs(q[inside] - reached.q).max() < 1e-3
    assert inside.sum() > 1000
    assert said
