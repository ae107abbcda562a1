"""A simulated arm that goes on, against the same arm in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.sensing import noise_preset
from iparam.simulation import LiveArm, MujocoSimulator, Payload
from iparam.simulation.simulator import SensorRates
from iparam.trajectory import QuinticSpline

pytest.importorskip("mujoco")

MOTION = iparam.load_trajectory(Path(__file__).resolve().parents[1] / "data" / "calm_ur5e.json").trajectory
START = MOTION.evaluate(0.0).q[0]


def scene(rate: float = 500.0) -> Any:
    simulator = MujocoSimulator(rates=SensorRates.all_at(rate))
    return simulator.load(iparam.load_robot("ur5e"), Payload.box(size=(0.10, 0.15, 0.20), mass=2.0))


def collect(arm: LiveArm, *parts: int) -> tuple[np.ndarray, ...]:
    """Time, states and wrenches of parts of a run."""
    states, wrenches = zip(*(arm.advance(part) for part in parts), strict=True)
    return tuple(
        np.concatenate(part)
        for part in (
            [each.time for each in states],
            [each.values for each in states],
            [each.time for each in wrenches],
            [each.values for each in wrenches],
        )
    )


@pytest.mark.parametrize("rate", [500.0, 240.0])
@pytest.mark.parametrize("noise", ["ideal", "harsh"])
def test_parts_are_those_of_one_run(noise: str, rate: float) -> None:
    """The same physics and the same noise, sample by sample, wherever it is cut."""
    loaded, model = scene(rate), noise_preset(noise)
    recording = model.apply(loaded.run(MOTION).recording, 5)
    arm = LiveArm(loaded, START, model, 5)
    arm.play(MOTION)
    count = int(MOTION.duration * rate)
    times, states, stamps, wrenches = collect(arm, 1, 2, 7, *[10] * ((count - 10) // 10))
    q, wrench = recording.signal("q"), recording.signal("wrench")
    np.testing.assert_array_equal(times, q.time[: times.size])
    np.testing.assert_array_equal(states[:, :6], q.values[: times.size])
    np.testing.assert_array_equal(stamps, wrench.time[: stamps.size])
    np.testing.assert_allclose(wrenches, wrench.values[: stamps.size], rtol=0.0, atol=1e-9)
    assert times.size > 0.9 * count


def test_it_rests_plays_rests_and_plays_again() -> None:
    arm = LiveArm(scene(), START, noise_preset("ideal"))
    _, before, _, weight = collect(arm, 100)
    assert np.abs(before[:, 6:12]).max() < 1e-6
    runs = []
    for _ in range(2):
        arm.play(MOTION)
        assert arm.moving
        runs.append(collect(arm, *[10] * 200)[1])
        _, after, _, still = collect(arm, *[10] * 100)
        assert not arm.moving
        np.testing.assert_allclose(after[-1, :6], before[0, :6], atol=1e-5)
        np.testing.assert_allclose(still[-1], weight[0], atol=1e-3)
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-3)
    assert arm.time == pytest.approx((100 + 2 * 3000) / 500.0)


def test_a_motion_may_be_replaced_on_the_way() -> None:
    """As a controller is stopped: from the set point, with its velocity, to rest."""
    arm = LiveArm(scene(), START, noise_preset("ideal"))
    arm.play(MOTION)
    collect(arm, *[10] * 100)
    now = arm.set_point
    assert np.abs(now.dq).max() > 0.05
    end = now.q[0] + 0.1 * now.dq[0]
    stop = QuinticSpline([0.0, 0.2], [now.q[0], end], start_velocity=now.dq[0], start_acceleration=now.ddq[0])
    arm.play(stop)
    _, states, _, _ = collect(arm, 200)
    assert np.abs(np.diff(states[:, 6:12], axis=0)).max() < 0.05  # no jump of the velocity
    np.testing.assert_allclose(states[-1, :6], end, atol=1e-3)  # off by what the payload pulls, which it does not know
    with pytest.raises(InputError, match="2 joints"):
        arm.play(QuinticSpline([0.0, 1.0], np.zeros((2, 2))))
