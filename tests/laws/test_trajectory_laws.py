"""Laws of the trajectories, over drawn coefficients, durations and rates.

Tolerances: coefficients are drawn up to 1 (rad or rad/s) and durations from 1 s, with up to 12 harmonics, where sums
of a dozen products in double precision are off by less than 1e-12, the accelerations' factor of 2 pi 12 / T included.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from iparam.errors import FileFormatError
from iparam.trajectory import (
    FourierTrajectory,
    IntegratedFourierTrajectory,
    JerkLimitedTrajectory,
    QuinticSpline,
    TrajectorySamples,
    WindowedFourierTrajectory,
    load_trajectory,
    save_trajectory,
)

laws = settings(deadline=None, max_examples=60)
durations = st.floats(1.0, 100.0)
frequencies = st.floats(0.01, 2.0)


def stacked(motion: TrajectorySamples) -> Any:
    return np.array([motion.q, motion.dq, motion.ddq, motion.jerk])


@st.composite
def coefficient_sets(draw: st.DrawFn, least: int = 1) -> Any:
    """q0 (n,), a (n, K), b (n, K)."""
    joints, harmonics = draw(st.integers(1, 7)), draw(st.integers(least, 12))
    numbers = st.floats(-1.0, 1.0)
    q0 = draw(arrays(np.float64, joints, elements=st.floats(-6.0, 6.0)))
    return q0, *(draw(arrays(np.float64, (joints, harmonics), elements=numbers)) for _ in range(2))


@laws
@given(coefficient_sets(least=2), durations)
def test_all_three_initial_conditions_hold_and_the_final_ones(coefficients: Any, duration: float) -> None:
    q0, a, b = coefficients
    made = IntegratedFourierTrajectory.with_initial_conditions(q0, a, b, duration)
    ends = made.evaluate([0.0, duration])
    assert_allclose(ends.q[0], q0, rtol=0, atol=1e-12)
    assert_allclose(ends.dq[0], 0.0, rtol=0, atol=1e-12)
    assert_allclose(ends.ddq[0], 0.0, rtol=0, atol=1e-12)
    assert_allclose(ends.q[1], q0, rtol=0, atol=1e-11)
    assert_allclose(ends.dq[1], 0.0, rtol=0, atol=1e-11)
    assert_allclose(ends.ddq[1], 0.0, rtol=0, atol=1e-11)
    assert np.linalg.norm(made.a) <= np.linalg.norm(a) * (1 + 1e-12)
    assert np.linalg.norm(made.b) <= np.linalg.norm(b) * (1 + 1e-12)


@laws
@given(coefficient_sets(), frequencies, durations)
def test_windowed_motions_rest_exactly_at_both_ends(coefficients: Any, frequency: float, duration: float) -> None:
    q0, a, b = coefficients
    made = WindowedFourierTrajectory(q0, a, b, frequency, duration)
    ends = stacked(made.evaluate([0.0, duration]))
    assert_array_equal(ends[0], [q0, q0])
    assert_array_equal(ends[1:], np.zeros_like(ends[1:]))


@laws
@given(coefficient_sets(), frequencies, durations, st.floats(0.1, 10.0), st.integers(0, 3))
def test_time_scaling(c: Any, frequency: float, duration: float, factor: float, family: int) -> None:
    q0, a, b = c
    made = [
        FourierTrajectory(q0, a, b, frequency, duration),
        WindowedFourierTrajectory(q0, a, b, frequency, duration),
        IntegratedFourierTrajectory(q0, a, b, duration),
        JerkLimitedTrajectory(FourierTrajectory(q0, a, b, frequency, duration), duration / 5),
    ][family]
    slower = made.time_scaled(factor)
    times = np.linspace(0.0, made.duration, 23)
    fast = stacked(made.evaluate(times))
    slow = stacked(slower.evaluate(np.minimum(times * factor, slower.duration)))
    rates = max(1.0, 2 * np.pi * a.shape[1] * max(frequency, 1 / duration))
    for order in range(4):
        bound = 1e-11 * rates ** (order + 1) * max(1.0, made.duration) + 1e-10 * np.abs(fast[order]).max()
        assert_allclose(slow[order] * factor**order, fast[order], rtol=0, atol=bound)


@laws
@given(durations, st.floats(0.5, 500.0))
def test_one_clock(duration: float, fps: float) -> None:
    motion = FourierTrajectory([0.0], [[1.0]], [[0.0]], 0.1, duration).sample(fps)
    assert motion.time.tolist() == [i / fps for i in range(motion.num_samples)]
    assert motion.time[-1] <= duration * (1 + 1e-12)
    assert motion.num_samples / fps > duration


@laws
@given(st.integers(1, 2000), st.floats(0.5, 500.0))
def test_a_duration_of_whole_ticks_is_sampled_to_its_end(ticks: int, fps: float) -> None:
    motion = FourierTrajectory([0.0], [[1.0]], [[0.0]], 0.1, ticks / fps).sample(fps)
    assert motion.num_samples == ticks + 1


@laws
@given(coefficient_sets(), coefficient_sets(), st.floats(-2.0, 2.0), frequencies, durations)
def test_the_motion_is_linear_in_the_coefficients(c: Any, d: Any, s: float, frequency: float, duration: float) -> None:
    (q0, a, b), joints, harmonics = c, c[1].shape[0], c[1].shape[1]
    other = np.resize(d[1], (2, joints, harmonics))
    times = np.linspace(0.0, duration, 17)

    def move(x: Any, y: Any) -> Any:
        return stacked(WindowedFourierTrajectory(q0 * 0, x, y, frequency, duration).evaluate(times))

    both = move(a + s * other[0], b + s * other[1])
    rates = max(1.0, 2 * np.pi * harmonics * frequency)
    for order in range(4):
        separate = move(a, b)[order] + s * move(*other)[order]
        assert_allclose(both[order], separate, rtol=0, atol=1e-12 * rates**order)


@laws
@given(st.data(), st.integers(2, 12))
def test_splines_pass_through_their_waypoints_and_rest(data: st.DataObject, count: int) -> None:
    spacing = data.draw(arrays(np.float64, count - 1, elements=st.floats(0.1, 5.0)))
    points = data.draw(arrays(np.float64, (count, 2), elements=st.floats(-6.0, 6.0)))
    times = np.concatenate([[0.0], np.cumsum(spacing)])
    made = QuinticSpline(times, points)
    motion = stacked(made.evaluate(times))
    assert_array_equal(motion[0], points)
    rest = motion[1:3, [0, -1]]
    assert_array_equal(rest, np.zeros_like(rest))
    backwards = QuinticSpline(np.concatenate([[0.0], np.cumsum(spacing[::-1])]), points[::-1])
    middle = np.linspace(0.0, min(made.duration, backwards.duration), 19)
    size = max(1.0, np.abs(made.evaluate(middle).q).max())
    mirrored = backwards.evaluate(np.maximum(backwards.duration - middle, 0.0))
    assert_allclose(mirrored.q, made.evaluate(middle).q, rtol=0, atol=1e-9 * size)


@laws
@given(coefficient_sets(), frequencies, durations, st.floats(1.0, 1000.0))
def test_files_keep_every_bit(
    tmp_path_factory: pytest.TempPathFactory, c: Any, frequency: float, duration: float, fps: float
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "trajectory_laws.json"
    made = WindowedFourierTrajectory(*c, frequency, duration)
    save_trajectory(path, made, robot="ur5e", fps=fps)
    back = load_trajectory(path)
    assert isinstance(back.trajectory, WindowedFourierTrajectory)
    for name in ("q0", "a", "b", "base_freq", "duration"):
        assert np.asarray(getattr(back.trajectory, name)).tobytes() == np.asarray(getattr(made, name)).tobytes()
    assert back.fps == fps


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@laws
@given(st.data())
def test_whatever_is_in_a_file_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Any value in any place of the document: a trajectory or a FileFormatError, nothing else."""
    document: dict[str, Any] = {
        "format": "iparam-trajectory/1",
        "robot": "ur5e",
        "config": {"num_harmonics": 1, "base_freq": 0.1, "duration": 10.0, "fps": 100.0, "q0": [0.5]},
        "coefficients": {"a": [[0.1]], "b": [[0.2]]},
        "condition_number": 2.0,
        "validation": {},
    }
    places = [(document, key) for key in document]
    places += [(document[name], key) for name in ("config", "coefficients") for key in document[name]]
    place, key = data.draw(st.sampled_from(places))
    place[key] = data.draw(json_values)
    path: Path = tmp_path_factory.getbasetemp() / "trajectory_fuzz.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    message = "trajectory_fuzz.json"
    try:
        load_trajectory(path).trajectory.evaluate(0.0)
    except FileFormatError as error:
        message = str(error)
    assert "trajectory_fuzz.json" in message
