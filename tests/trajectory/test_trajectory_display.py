from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from iparam.errors import MissingExtraError
from iparam.excitation.constraints.constraint import WorstMargin
from iparam.excitation.search.optimizer import OptimizationResult
from iparam.excitation.search.start import StartResult
from iparam.trajectory.jerk_limit import JerkLimitedTrajectory
from iparam.trajectory.spline import QuinticSpline
from iparam.trajectory.storage import TrajectoryFile, load_trajectory
from iparam.trajectory.trajectory import ScaledMotion

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def planned() -> TrajectoryFile:
    return load_trajectory(DATA / "optimized_ur5e.json")


def test_the_figure_is_the_motion(planned: TrajectoryFile) -> None:
    figure = planned.plot()
    samples = planned.trajectory.evaluate(figure.axes[0].lines[0].get_xdata())
    for axes, values in zip(figure.axes, (samples.q, samples.dq, samples.ddq), strict=True):
        np.testing.assert_array_equal(np.column_stack([line.get_ydata() for line in axes.lines]), values)
    assert [axes.get_ylabel() for axes in figure.axes] == ["q [rad]", "dq [rad/s]", "ddq [rad/s^2]"]
    assert figure.axes[-1].get_xlim() == (0.0, planned.trajectory.duration)


def test_every_family_has_a_readable_repr(planned: TrajectoryFile) -> None:
    spline = QuinticSpline(np.array([0.0, 1.0, 3.0]), np.array([[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]]))
    motions = (planned.trajectory, spline, ScaledMotion(spline, 0.5), JerkLimitedTrajectory(spline, 0.4))
    names = [
        "WindowedFourierTrajectory(6 joints, 5 harmonics, 10 s)",
        "QuinticSpline(2 joints, 3 s)",
        "ScaledMotion(2 joints, 3 s)",
        "JerkLimitedTrajectory(2 joints, 3 s)",
    ]
    for motion, name in zip(motions, names, strict=True):
        assert repr(motion) == name


def test_the_repr_of_a_file_escapes_what_the_file_holds(planned: TrajectoryFile) -> None:
    hostile = TrajectoryFile(planned.trajectory, "<script>\x1b", 100.0, 2.0, {"all_constraints_satisfied": [True]})
    assert "\x1b" not in repr(hostile)
    assert "for ur5e, 100 Hz" in repr(planned)


def test_the_result_of_the_planner(planned: TrajectoryFile) -> None:
    margins = (WorstMargin("speed", 0.25, "rad/s", 3.5, "elbow <b>"),)
    starts = tuple(StartResult(i, np.zeros(60), 9.0, 2.5 - 0.25 * i, True, 1.0) for i in range(3))
    result = OptimizationResult(planned.trajectory, 2.0, 2.0, margins, starts, 4.0, True)  # type: ignore[arg-type]
    assert "condition number 2.0000, 3 starts in 4 s" in repr(result)
    assert len(result.plot().axes) == 3


def test_without_matplotlib(planned: TrajectoryFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"iparam\[plot\]"):
        planned.trajectory.plot()
