"""The commands of docs/platforms/real-robot.md do the whole job against a simulated controller, and find its load."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.ur_controller.twin import UrTwin

import iparam
from iparam.bridges.ur.rtde.client import RtdeStream
from iparam.cli.main import main
from iparam.trajectory import PlanConditions, load_trajectory, save_trajectory

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "platforms" / "real-robot.md").read_text(encoding="utf-8")
MOTION = ROOT / "tests" / "data" / "calm_ur5e.json"
HOST = "192.168.0.10"
UNASKED = ["--yes", "--approach-speed", "1"]


def page_commands() -> list[list[str]]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("iparam ")]


def page_command(*words: str, output: str | None = None) -> list[str]:
    found = [command for command in page_commands() if command[: len(words)] == list(words)]
    chosen = [command for command in found if output is None or output in command]
    assert len(chosen) == 1, f"the page has {len(chosen)} commands {words} for {output}"
    return chosen[0]


def run(command: list[str], host: str) -> None:
    assert main([host if word == HOST else word for word in command]) == 0


@pytest.mark.thorough
@pytest.mark.recovery
@pytest.mark.usefixtures("ur_rtde")
def test_the_whole_job(
    make_twin: Callable[..., UrTwin],
    start_command: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    twin = make_twin(noise="ur5e", seed=5, clock="simulated")
    cell = re.search(r"^```json\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert cell is not None
    (tmp_path / "cell.json").write_text(cell[1])
    # In place of the page's planning, which takes half a minute.
    box = PlanConditions().changed(payload_size=[0.1, 0.15, 0.2], payload_mass=2.5)
    save_trajectory(tmp_path / "t.json", load_trajectory(MOTION).trajectory, robot="ur5e", fps=100.0, conditions=box)

    run(page_command("ur", "record", output="rest.parquet"), twin.host)
    rest = iparam.Recording.load(tmp_path / "rest.parquet")
    assert rest.signal("q").num_samples > 300
    assert rest.metadata["configured_payload"]["mass"] == 0.0

    small = [twin.host if word == HOST else word for word in page_command("ur", "run", output="dry.parquet")]
    played = start_command(*small, *UNASKED, folder=str(tmp_path))
    assert played.wait(240.0) == 0, played.err
    dry = iparam.Recording.load(tmp_path / "dry.parquet")
    trajectory = load_trajectory(MOTION).trajectory
    planned = np.ptp(trajectory.evaluate(np.linspace(0.0, trajectory.duration, 400)).q, axis=0)
    np.testing.assert_allclose(np.ptp(dry.signal("q").values, axis=0), 0.2 * planned, rtol=0.2, atol=0.01)
    assert dry.metadata["amplitude"] == 0.2
    # It rests at both ends, and the axis starts with the first rest.
    moving = np.abs(dry.signal("target_dq").values).max(axis=1) > 0.01
    assert dry.signal("q").time[0] == 0.0
    assert not moving[:100].any()
    assert not moving[-100:].any()

    whole_run = [twin.host if word == HOST else word for word in page_command("ur", "run", output="run.parquet")]
    played = start_command(*whole_run, *UNASKED, folder=str(tmp_path))
    assert played.wait(240.0) == 0, played.err
    assert "played        the whole motion" in played.out
    whole = iparam.Recording.load(tmp_path / "run.parquet")
    np.testing.assert_allclose(np.ptp(whole.signal("q").values, axis=0), planned, rtol=0.2, atol=0.01)
    assert whole.metadata["stopped_by"] is None

    run(page_command("identify", "payload"), twin.host)
    estimate = iparam.Estimate.load(tmp_path / "result.json")
    truth = twin.truth.payload
    assert estimate.mass == pytest.approx(truth.mass, rel=0.015)
    deviation = estimate.standard_deviation
    assert abs(estimate.mass - truth.mass) < 4.0 * deviation.mass
    assert (np.abs(estimate.center_of_mass - truth.center_of_mass) < 4.0 * deviation.center_of_mass).all()

    capsys.readouterr()
    run([*page_command("ur", "set-payload"), "--yes"], twin.host)
    assert capsys.readouterr().out.count(f"{estimate.mass:.5f}") == 2  # sent, and shown by the controller
    with RtdeStream.open(twin.host, ("payload", "payload_cog", "payload_inertia")) as stream:
        row = stream.read(5.0)[-1]
    inertia = estimate.inertia_about_com
    expected = [estimate.mass, *estimate.center_of_mass, *np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    np.testing.assert_allclose(row, expected, rtol=1e-9, atol=1e-9)


def test_every_command_of_the_page_is_one_that_runs_here_or_elsewhere() -> None:
    known = {("ur", command) for command in ("record", "run", "set-payload")}
    known |= {("identify", "payload")}
    elsewhere = {("excite", "optimize")}  # in its own tests
    assert {tuple(command[:2]) for command in page_commands()} == known | elsewhere
