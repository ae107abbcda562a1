"""A recording replayed as if live, by a clock that is told the time: the load, the events, and how it ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.bridges.live.feed import LiveFeed
from iparam.bridges.live.replay import ReplaySource
from iparam.errors import InputError

PLAN = Path(__file__).parents[2] / "data" / "short_ur5e.json"
ONE = iparam.InertialParameters.box(1.0, (0.1, 0.1, 0.1))
TWO = iparam.InertialParameters.box(2.5, (0.1, 0.15, 0.2))


class Clock:
    """A time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def run_of(first: iparam.InertialParameters, then: iparam.InertialParameters, sign: float = 1.0) -> iparam.Recording:
    """A plan at 200 Hz, twice over, with one load at first and another one then."""
    robot, rng = iparam.load_robot("ur5e"), np.random.default_rng(0)
    motion = iparam.load_trajectory(PLAN).trajectory
    samples = motion.sample(200.0)
    regressor = iparam.wrench_regressor(robot, samples.q, samples.dq, samples.ddq)
    q = np.concatenate([samples.q, samples.q])
    wrench = sign * np.concatenate([regressor @ first.phi, regressor @ then.phi])
    time = np.arange(len(q)) / 200.0
    wrench += rng.normal(size=wrench.shape) * [0.5, 0.5, 0.5, 0.05, 0.05, 0.05]
    recording = iparam.Recording("ur5e").with_signal("q", time=time, values=q + 5e-5 * rng.normal(size=q.shape))
    return recording.with_signal("wrench", time=time, values=wrench)


def fed(recording: iparam.Recording) -> LiveFeed:
    clock = Clock()
    feed = LiveFeed(ReplaySource(recording, iparam.load_robot("ur5e"), clock, clock.sleep), clock)
    feed.run()
    return feed


@pytest.mark.thorough
def test_a_grasp_is_noticed_and_the_new_load_found() -> None:
    recording = run_of(ONE, TWO)
    now = fed(recording).state.snapshot()
    assert now is not None
    assert now.samples == recording.signal("wrench").num_samples
    assert [event.kind for event in now.events] == ["changed", "grasp", "end"]
    middle = 0.5 * recording.duration
    assert middle < now.events[0].time < middle + 1.0
    assert "->" in now.events[1].text
    assert now.estimate is not None
    assert abs(now.estimate.mass - 2.5) < 4.0 * now.estimate.standard_deviation.mass
    known = now.history[np.isfinite(now.history[:, 1])]
    before = known[known[:, 0] < middle]
    assert abs(before[-1, 1] - 1.0) < 2.0 * before[-1, 2]
    assert before[-1, 2] < before[0, 2]  # the interval has become narrower
    assert now.delay < 0.02


def test_a_load_that_the_samples_refute_is_marked() -> None:
    now = fed(run_of(TWO, TWO, sign=-1.0)).state.snapshot()
    assert now is not None
    assert "refuted" in {event.kind for event in now.events}
    assert now.estimate is not None
    assert now.estimate.refutation is not None


def test_each_sample_comes_when_it_was_measured_and_never_twice() -> None:
    recording, clock = run_of(ONE, ONE), Clock()
    source = ReplaySource(recording, iparam.load_robot("ur5e"), clock, clock.sleep)
    times = []
    while (samples := source.read(0.05)) is not None:
        assert (samples.there <= clock.now).all()
        np.testing.assert_allclose(samples.there - 100.0, samples.time)
        times += samples.time.tolist()
    np.testing.assert_allclose(times, recording.signal("wrench").time)
    np.testing.assert_allclose(clock.now - 100.0, recording.duration)


def test_what_cannot_be_replayed_is_refused() -> None:
    recording, robot = run_of(ONE, ONE), iparam.load_robot("ur5e")
    with pytest.raises(InputError, match="no wrench"):
        ReplaySource(recording.without_signal("wrench"), robot)
    with pytest.raises(InputError, match="6 joints, and scara"):
        ReplaySource(recording, _named(robot))


def _named(robot: iparam.Robot) -> iparam.Robot:
    class Scara:
        num_joints, name, couplings, free_joints = 4, "scara", (), range(4)

    return Scara()  # type: ignore[return-value]
