"""What a recording is worth while it runs: as the estimator finds it afterwards, and what is wrong with it is seen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.ur_controller.twin import UrTwin

import iparam
from iparam.bridges.ur.record.health import Health, RecordingHealth
from iparam.cli.ur.options import fitting
from iparam.excitation.prediction import parse_targets

DATA = Path(__file__).parents[3] / "data"
PLAN = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
CALM = DATA / "calm_ur5e.json"
UR5E = iparam.load_robot("ur5e")
RATE = 500.0
GRAVITY = np.array([0.0, 0.0, -9.81])
DEVIATION = np.array([0.5] * 3 + [0.05] * 3)
BODY = iparam.InertialParameters(2.0, np.array([0.01, -0.02, 0.1]), np.diag([0.011, 0.009, 0.006]))
TARGETS = parse_targets("mass=0.1%,com=0.2mm,inertia=5%")


def rows(seconds: float = 10.0, late: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, angles and a wrench that is ``late`` [s], of the plan's first seconds."""
    random = np.random.default_rng(1)
    motion = PLAN.sample(RATE)
    count = round(seconds * RATE)
    before = PLAN.evaluate(np.clip(motion.time - late, 0.0, PLAN.duration))
    wrench = iparam.wrench_regressor(UR5E, before.q, before.dq, before.ddq) @ BODY.phi
    wrench = wrench + np.array([3.0, -1.0, 2.0, 0.1, 0.2, -0.1]) + DEVIATION * random.standard_normal(wrench.shape)
    q = motion.q + 5e-5 * random.standard_normal(motion.q.shape)
    return motion.time[:count], q[:count], wrench[:count]


def looked_at(time: np.ndarray, q: np.ndarray, wrench: np.ndarray, plan: Any = PLAN) -> list[Health]:
    """The reports, half a second apart."""
    health = RecordingHealth(UR5E, RATE, TARGETS, GRAVITY, plan)
    found = []
    for first in range(0, len(time), 250):
        part = slice(first, first + 250)
        health.add(time[part], q[part], wrench[part])
        found.append(health.report(None if plan is None else min(1.0, float(time[part][-1]) / PLAN.duration)))
    return found


@pytest.mark.thorough
def test_it_knows_what_the_estimator_will_find() -> None:
    time, q, wrench = rows()
    last = looked_at(time, q, wrench)[-1]
    recording = iparam.Recording(robot="ur5e").with_signal("q", time=time, values=q)
    found = iparam.identify_payload(recording.with_signal("wrench", time=time, values=wrench), tolerances="exact")
    assert last.prediction is not None
    assert last.prediction.mass == pytest.approx(found.standard_deviation.mass, rel=0.15)
    spread = np.linalg.norm(found.standard_deviation.inertia_about_com) / np.linalg.norm(found.inertia_about_com)
    assert last.prediction.relative_inertia == pytest.approx(spread, rel=0.15)
    assert abs(last.prediction.payload.mass - BODY.mass) < 4.0 * last.prediction.mass
    assert last.rate == pytest.approx(RATE, rel=1e-3)
    assert (last.gaps, last.saturated) == (0, 0.0)
    assert last.reached
    assert last.words()[0] == "precision reached"
    assert last.precision.endswith(": reached")
    assert last.as_json()["reached"] is True


def test_the_time_left_comes_true() -> None:
    found = looked_at(*rows())
    reached = next(one.duration for one in found if one.reached)
    early = next(one for one in found if one.remaining is not None and one.duration > 1.4)
    assert early.remaining is not None
    assert early.duration + early.remaining == pytest.approx(reached, abs=0.7)
    assert " in about " in early.outlook
    assert_the_time_left_is_always_seen(early)
    blind = next(one for one in looked_at(*rows(), plan=None) if one.duration > 2.4)
    assert blind.remaining is not None  # as much a second as so far
    assert 0.0 < blind.remaining < 30.0
    unreachable = RecordingHealth(UR5E, RATE, parse_targets("mass=0.001%"), GRAVITY, PLAN)
    unreachable.add(*rows(3.0))
    never = unreachable.report(0.3)
    assert never.outlook == "mass to 0.001 % not in this motion"
    assert never.precision.endswith("; not reached: mass to 0.001 %")
    assert_the_time_left_is_always_seen(never)


def assert_the_time_left_is_always_seen(health: Health) -> None:
    """In every terminal from 40 columns on, whole words, and nothing written over the edge."""
    words = health.words("45 % played")
    for width in range(40, 200):
        line = fitting(words, width - 1)
        assert line.startswith(health.outlook)
        assert len(line) < width
        assert all(word in words for word in line.split(", "))
    assert fitting(words, 200) == ", ".join(words)
    assert fitting(words, 10) == words[0][:10]


def test_a_target_counts_once_the_estimator_is_no_longer_too_uncertain() -> None:
    """Before, it counts sensors that are aside, and its intervals are several times as wide as the live ones."""
    time, q, wrench = rows()
    wanted = parse_targets("mass=1%")
    health = RecordingHealth(UR5E, RATE, wanted, GRAVITY, PLAN)
    verdicts = []
    for begin, end in pairwise((0, 650, 750, 1500)):
        health.add(time[begin:end], q[begin:end], wrench[begin:end])
        found = health.report(float(time[end - 1]) / PLAN.duration)
        assert found.prediction is not None
        assert found.excess[0] < 1.0  # of the mass alone
        recording = iparam.Recording(robot="ur5e").with_signal("q", time=time[:end], values=q[:end])
        estimate = iparam.identify_payload(recording.with_signal("wrench", time=time[:end], values=wrench[:end]))
        verdicts.append((found.reached, estimate.assessment["verdict"]))
        if not found.reached:
            assert found.outlook.startswith("all of the load in about")
    assert verdicts[0] == (False, "usable")
    assert verdicts[-1] == (True, "good")
    assert not any(reached and verdict != "good" for reached, verdict in verdicts)


def test_a_delay_a_gap_and_a_limit_are_seen() -> None:
    time, q, wrench = rows(6.0, late=0.008)
    delays = [one.delay for one in looked_at(time, q, wrench) if one.delay is not None]
    assert np.median(delays) == pytest.approx(0.008, abs=0.002)
    time, q, wrench = rows(4.0)
    kept = np.ones(len(time), dtype=bool)
    kept[900:950] = False
    assert looked_at(time[kept], q[kept], wrench[kept])[-1].gaps == 1
    top = float(np.quantile(wrench[:, 2], 0.9))
    last = looked_at(time, q, np.minimum(wrench, [np.inf, np.inf, top, np.inf, np.inf, np.inf]))[-1]
    assert last.saturated == pytest.approx(0.1, abs=0.02)
    assert last.words("45 % played")[1] == "SATURATED 10 %"  # what is wrong comes before where it is


def test_nothing_is_said_of_an_arm_that_stands_still() -> None:
    time, q, wrench = rows(2.0)
    last = looked_at(time, np.repeat(q[:1], len(q), axis=0), np.repeat(wrench[:1], len(q), axis=0))[-1]
    assert not last.reached
    assert last.prediction is None or last.excess[2] > 1.0


def test_a_run_ends_when_the_precision_is_reached(
    make_twin: Callable[..., UrTwin], start_command: Callable[..., Any], tmp_path: Path
) -> None:
    pytest.importorskip("rtde_control")
    start = iparam.load_trajectory(CALM).trajectory.evaluate(0.0).q[0]
    twin = make_twin(q=start, mass=4.0, clock="simulated", noise="ur5e")
    output = tmp_path / "run.parquet"
    box = ["--payload-size", "0.1", "0.15", "0.2", "--payload-mass", "4"]
    process = start_command(
        *("ur", "run", str(CALM), "--host", twin.host, "--yes", *box),
        *("--until-precision", "mass=1%", "--output", str(output)),
    )
    assert process.wait(120.0) == 0, process.err
    assert "played        until the wanted precision was reached (mass=1%)" in process.out, process.out
    recording = iparam.Recording.load(output)
    assert recording.metadata["ended_early"]
    assert recording.metadata["stopped_by"] is None
    end = iparam.load_trajectory(CALM).trajectory.evaluate(4.0).q[0]
    speed = np.abs(recording.signal("dq").values).max(axis=1)
    assert np.count_nonzero(speed > 0.02) / RATE < 3.5  # it was not all played
    assert np.abs(twin.sample.q - end).max() > 0.01
    estimate = iparam.identify_payload(recording, tolerances="exact")  # which motion could change
    assert estimate.standard_deviation.mass / estimate.mass < 0.01


@pytest.mark.thorough
def test_a_precision_that_is_never_reached_is_a_failure_and_the_run_is_kept(
    make_twin: Callable[..., UrTwin], start_command: Callable[..., Any], tmp_path: Path
) -> None:
    pytest.importorskip("rtde_control")
    start = iparam.load_trajectory(CALM).trajectory.evaluate(0.0).q[0]
    twin = make_twin(q=start, mass=4.0, clock="simulated", noise="ur5e")
    output = tmp_path / "run.parquet"
    box = ["--payload-size", "0.1", "0.15", "0.2", "--payload-mass", "4"]
    process = start_command(
        *("ur", "run", str(CALM), "--host", twin.host, "--yes", *box),
        *("--until-precision", "mass=0.001%", "--output", str(output)),
    )
    assert process.wait(120.0) == 1
    assert "--until-precision mass=0.001% was not reached (mass to " in process.err
    assert f"{output} holds the run" in process.err
    assert "played        the whole motion" in process.out
    assert iparam.Recording.load(output).metadata["ended_early"] is None
