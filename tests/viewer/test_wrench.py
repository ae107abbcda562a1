from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.estimation.assessment.run_analysis import analyze_run
from iparam.viewer.source import Moment
from iparam.viewer.track import recorded_track
from iparam.viewer.wrench import analyzed_wrench, measured_wrench


def test_arrows_point_where_the_wrench_does(ur5e: iparam.Robot, recording: iparam.Recording) -> None:
    track = recorded_track(recording, ur5e, "run")
    shown = measured_wrench(recording, track.origin, ur5e.reach)
    assert shown is not None
    for index in (0, 300, 1000):
        arrows = Moment(0.0, (), shown.at(index / 500.0), shown.scales).arrows()
        wrench = recording.signal("wrench").values[index]
        assert not arrows["measured force"][0].any()
        np.testing.assert_allclose(arrows["measured force"][1], shown.scales[0] * wrench[:3], atol=1e-9)
        np.testing.assert_allclose(arrows["measured torque"][1], shown.scales[1] * wrench[3:], atol=1e-9)
    longest = shown.scales[0] * np.linalg.norm(shown.measured[:, :3], axis=1).max()
    assert longest == pytest.approx(0.35 * ur5e.reach)


def test_at_rest_the_force_carries_the_load_upwards(ur5e: iparam.Robot, recording: iparam.Recording) -> None:
    shown = measured_wrench(recording, 5.0, ur5e.reach)
    assert shown is not None
    pose = iparam.forward_kinematics(ur5e, recording.signal("q").values[0])
    np.testing.assert_allclose(pose[:3, :3] @ shown.at(0.0)["measured"][:3], [0.0, 0.0, 2.0 * 9.81], atol=0.1)


def test_prediction_and_residual_are_those_of_the_report(
    ur5e: iparam.Robot, recording: iparam.Recording, estimate: iparam.Estimate
) -> None:
    run = analyze_run(recording, ur5e, estimate)
    shown = analyzed_wrench(run, 5.0, ur5e.reach)
    assert shown.predicted is not None
    np.testing.assert_allclose(shown.measured - shown.predicted, run.residual, atol=1e-12)
    assert shown.time[0] == pytest.approx(run.problem.time[0] - 5.0)
    arrows = Moment(0.0, (), shown.at(1.0), shown.scales).arrows()
    assert set(arrows) == {
        "measured force",
        "measured torque",
        "predicted force",
        "predicted torque",
    }
    assert measured_wrench(recording.without_signal("wrench"), 5.0, 1.0) is None
