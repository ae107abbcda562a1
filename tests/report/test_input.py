"""A report's parts belong together, or it says which do not; a result is verified with another run of its arm."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from iparam.errors import ContradictionError
from iparam.estimation import verify_estimate
from iparam.report import ReportInput


def given(run: Any, **changes: Any) -> ReportInput:
    parts = {"estimate": run.estimate, "robot": run.robot, "recording": run.recording, "trajectory": run.trajectory}
    return ReportInput(**{**parts, **changes})


def test_what_belongs_together_has_no_remarks(run: Any) -> None:
    assert given(run, truth=run.truth, truth_frame="tool0").remarks == ()


def test_parts_of_other_runs_are_told(run: Any, other_run: Any) -> None:
    """The result's own run is wanted, and the plan that was played in it."""
    first, second = given(run, recording=other_run.recording).remarks
    assert (first.code, second.code) == ("result-of-other-recording", "trajectory-not-played")
    assert second.values["distance"] > 0.1
    dry = other_run.recording.with_metadata(amplitude=0.2)
    assert len(given(run, recording=dry).remarks) == 1
    (remark,) = given(run, trajectory=dataclasses.replace(run.trajectory, robot="ur10e")).remarks
    assert remark.code == "robot-is-another"
    assert (remark.values["stated"], remark.values["given"]) == ("ur10e", "ur5e")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"robot": "ur10e"}, "the result belongs to a ur10e, and ur5e is another arm"),
        ({"frame": "flange"}, "the load is given in the frame 'flange'"),
    ],
)
def test_a_result_of_another_arm_or_frame_is_refused(run: Any, changes: dict[str, str], message: str) -> None:
    with pytest.raises(ContradictionError, match=message):
        given(run, estimate=dataclasses.replace(run.estimate, **changes))


def test_a_truth_in_another_frame_is_refused(run: Any) -> None:
    with pytest.raises(ContradictionError, match="truth is in the frame 'flange', and the result in 'tool0'"):
        given(run, truth=run.truth, truth_frame="flange")


def test_a_recording_of_another_arm_is_refused(run: Any) -> None:
    with pytest.raises(ContradictionError, match="the recording belongs to a ur10, and ur5e is another arm"):
        given(run, recording=dataclasses.replace(run.recording, robot="ur10"))


def test_a_result_is_verified_with_another_run_of_its_arm(run: Any, other_run: Any) -> None:
    assert verify_estimate(run.estimate, other_run.recording, run.robot).remarks == ()
    (remark,) = verify_estimate(run.estimate, run.recording, run.robot).remarks
    assert remark.code == "verified-with-own-run"
    moved = dataclasses.replace(run.estimate, robot="ur10e")
    (remark,) = verify_estimate(moved, other_run.recording, run.robot).remarks
    assert (remark.code, remark.values["stated"], remark.values["given"]) == ("robot-is-another", "ur10e", "ur5e")
    with pytest.raises(ContradictionError, match="The bias of its sensor is not that of this one"):
        verify_estimate(moved, other_run.recording, run.robot, keep_bias=True)
    with pytest.raises(ContradictionError, match="in the frame 'flange'"):
        verify_estimate(dataclasses.replace(run.estimate, frame="flange"), other_run.recording, run.robot)
