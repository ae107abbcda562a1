"""`iparam excite design`: what it refuses, and that what its page saves is what the other commands read."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.excite.design import Design, _Planner
from iparam.cli.main import main
from iparam.robot.cell import Box, WorkCell
from iparam.viewer.design.sketch import Sketch

pytest.importorskip("viser", reason="the extra viewer is not installed")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--output t.json", "--robot"),
        ("--robot ur5e --output t.json --time-budget 0", "--time-budget must be positive"),
        ("--robot ur5e --output t.json --cell nowhere.json", "nowhere.json"),
        ("--robot ur5e --output t.json --cell-output t.json", "t.json"),
        ("--robot ur5e --output t.json --port 99999", "--port"),
    ],
)
def test_what_is_refused(
    options: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["excite", "design", *options.split()]) in (1, 2)  # that of a file is 1
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_what_is_planned_and_saved_is_what_other_commands_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = Design(
        robot="ur5e",
        payload_size=(0.1, 0.1, 0.1),
        payload_mass=1.0,
        duration=5.0,
        time_budget=1.0,
        output=Path("t.json"),
        cell_output=Path("cell.json"),
    )
    robot = iparam.load_robot("ur5e")
    work = _Planner(options, robot, options.conditions())
    table = Box(np.array([0.7, 0.2, 0.1]), np.full(3, 0.1), name="table")
    sketch = Sketch(robot, iparam.excitation.default_start(robot) + 0.1, WorkCell((table,)))
    assert work.objection(sketch) == ""
    inside = sketch.changed(Box(iparam.forward_kinematics(robot, sketch.q0)[:3, 3], np.full(3, 0.1), name="table"))
    assert "q0 itself violates" in work.objection(inside)
    with pytest.raises(iparam.IparamError, match="q0 itself violates"):
        work.plan(inside, lambda share, sentence: True)
    with pytest.raises(iparam.InputError, match="click Plan first"):
        _Planner(Design(robot="ur5e", output=Path("t.json")), robot, options.conditions()).save(sketch, None)
    told: list[str] = []
    planned = work.plan(sketch, lambda share, sentence: told.append(sentence) is None)
    assert told
    assert len(work.save(sketch, planned)) == 2
    np.testing.assert_allclose(iparam.load_trajectory("t.json").trajectory.evaluate(0.0).q[0], sketch.q0, atol=1e-12)
    assert iparam.robot.load_cell("cell.json").boxes[0].name == "table"
    capsys.readouterr()
    assert main(["excite", "check", "t.json"]) == 0
    shown = capsys.readouterr().out
    assert "all limits kept" in shown
    assert "1 box" in shown


@pytest.mark.thorough
def test_a_search_ends_when_it_is_told_to() -> None:
    robot = iparam.load_robot("ur5e")
    problem = iparam.planning_problem(robot, duration=5.0)
    seen = threading.Event()

    def stop(progress: object) -> bool:
        seen.set()
        return progress.finished == 0  # type: ignore[attr-defined]

    result = iparam.optimize_excitation(problem, time_budget=60.0, workers=1, progress=stop)
    assert seen.is_set()
    assert result.interrupted
    assert result.seconds < 50.0
