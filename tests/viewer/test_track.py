from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.viewer.track import joint_states, planned_track, recorded_track


def test_a_plan_is_exact_at_any_time(ur5e: iparam.Robot, plan: iparam.TrajectoryFile) -> None:
    track = planned_track(plan, ur5e, "plan.json")
    for moment in (0.0, 0.123456, 1.0, 1.999, 2.0, 3.0):
        q = plan.trajectory.evaluate(min(moment, 2.0)).q[0]
        np.testing.assert_allclose(track.at(moment)[0], q, atol=1e-12)


def test_a_recording_is_shown_on_its_own_clock(
    ur5e: iparam.Robot, recording: iparam.Recording, plan: iparam.TrajectoryFile
) -> None:
    track = recorded_track(recording, ur5e, "run.parquet")
    assert (track.origin, track.duration) == (5.0, 2.0)
    q = recording.signal("q").values
    np.testing.assert_array_equal(track.at(0.5)[0], q[250])
    np.testing.assert_allclose(track.at(0.501)[0], 0.5 * (q[250] + q[251]), atol=1e-12)
    _, dq = track.motion(np.array([0.5, 1.2]))  # from the angles, as it has no speeds
    np.testing.assert_allclose(dq, plan.trajectory.evaluate([0.5, 1.2]).dq, atol=0.05)


def test_joints_near_a_limit_and_beyond(ur5e: iparam.Robot) -> None:
    limits = ur5e.limits
    width = limits.upper - limits.lower
    q = np.zeros((4, 6))
    q[1, 2] = limits.upper[2] - 0.04 * width[2]
    q[2, 2] = limits.upper[2] + 0.01
    dq = np.zeros((4, 6))
    dq[3, 0], dq[3, 1] = 0.97 * limits.velocity[0], -1.1 * limits.velocity[1]
    states = joint_states(ur5e, q, dq)
    expected = np.zeros((4, 6))
    expected[1, 2], expected[2, 2], expected[3, 0], expected[3, 1] = 1, 2, 1, 2
    np.testing.assert_array_equal(states, expected)


def test_a_motion_of_another_arm_is_refused(recording: iparam.Recording, plan: iparam.TrajectoryFile) -> None:
    other = iparam.load_robot("ur5e")
    short = iparam.Recording("ur5e").with_signal("q", time=[0.0, 1.0], values=np.zeros((2, 4)))
    with pytest.raises(iparam.InputError, match="angles of 4 joints, and ur5e has 6"):
        recorded_track(short, other, "short.csv")
    with pytest.raises(iparam.InputError, match="no joint angles"):
        recorded_track(recording.without_signal("q"), other, "run.csv")
