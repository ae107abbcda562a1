from __future__ import annotations

import threading
import tracemalloc

import numpy as np

from iparam.estimation.online.estimate import OnlineEstimate
from iparam.rounding import NORMAL_95
from iparam.spatial.parameters import InertialParameters
from iparam.viewer.live.state import HISTORY, MOST_EVENTS, LiveEvent, LiveState, Ring, history_row

LOAD = InertialParameters(2.0, np.array([0.01, 0.02, 0.1]), np.diag([0.010, 0.008, 0.005])).phi


def estimate(time: float, deviation: float = 1e-3) -> OnlineEstimate:
    return OnlineEstimate(time, LOAD, deviation**2 * np.eye(10), 100, 0)


def test_a_ring_has_the_last_rows_in_order() -> None:
    ring = Ring(4, 2)
    for k in range(3):
        ring.append(np.full(2, float(k)))
    assert ring.rows()[:, 0].tolist() == [0.0, 1.0, 2.0]
    for k in range(3, 11):
        ring.append(np.full(2, float(k)))
    assert ring.rows()[:, 0].tolist() == [7.0, 8.0, 9.0, 10.0]
    assert len(ring) == 4


def test_the_history_has_the_load_and_its_intervals() -> None:
    found = estimate(3.0)
    row = history_row(3.0, found)
    np.testing.assert_allclose(row[:6], [3.0, 2.0, NORMAL_95 * 1e-3, 0.01, 0.02, 0.1], rtol=1e-12)
    np.testing.assert_allclose(row[6:], NORMAL_95 * found.derived_deviation[1:4])
    assert np.isnan(history_row(3.0, estimate(3.0, deviation=1.0))[1:]).all()  # not known to a factor of two
    assert np.isnan(history_row(3.0, None)[1:]).all()


def test_a_snapshot_is_the_newest_sample_its_speed_and_rate() -> None:
    state = LiveState(2)
    assert state.snapshot() is None
    for k in range(500):
        state.put(
            0.002 * k, np.array([0.01 * k, -0.02 * k]), np.full(6, float(k)), None, delay=1e-3 if k != 400 else 0.02
        )
    now = state.snapshot()
    assert now is not None
    assert (now.samples, now.time) == (500, 0.998)
    np.testing.assert_allclose(now.q, [4.99, -9.98])
    np.testing.assert_allclose(now.dq, [5.0, -10.0])
    np.testing.assert_allclose(now.rate, 500.0)
    assert now.wrench[0] == 499.0
    assert now.delay == 0.02
    np.testing.assert_allclose(now.history[:, 0], 0.1 * np.arange(10), atol=2e-3)


def test_ten_minutes_at_500_hz_take_no_more_memory_than_one() -> None:
    """By a clock that is told the time: what a live view keeps does not grow."""
    state, q, wrench = LiveState(6), np.zeros(6), np.zeros(6)
    sizes = []
    tracemalloc.start()
    try:
        for minute in range(12):
            for k in range(0, 30_000, 10):  # every tenth sample: rings do not know the rate
                state.put(60.0 * minute + 0.002 * k, q, wrench, None)
            state.put_event(LiveEvent(60.0 * minute, "grasp", "x" * 50))
            state.snapshot()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[-1] - sizes[1] < 50_000
    now = state.snapshot()
    assert now is not None
    assert len(now.history) == HISTORY
    assert 599.0 < now.time - now.history[0, 0] < 660.0


def test_events_are_bounded_and_threads_do_not_tear_a_sample() -> None:
    state = LiveState(3)
    stop = threading.Event()

    def write() -> None:
        k = 0
        while not stop.is_set():
            k += 1
            state.put(0.002 * k, np.full(3, float(k)), np.full(6, float(k)), None)
            state.put_event(LiveEvent(0.0, "changed", ""))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(300):
            now = state.snapshot()
            if now is not None:
                assert len(set(now.q.tolist())) == 1
                assert len(set(now.wrench.tolist())) == 1
                assert len(now.events) <= MOST_EVENTS
    finally:
        stop.set()
        thread.join()
