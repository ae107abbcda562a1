"""The ring buffer keeps the latest samples, in order, from any number of threads."""

from __future__ import annotations

import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iparam
from iparam.errors import FileFormatError, InputError
from iparam.recording import DataBuffer, EstimationData, Recording, SensorData


def sample(stamp: float, joints: int = 6) -> SensorData:
    rng = np.random.default_rng(int(stamp * 1000) + 1)
    return SensorData(stamp, *rng.normal(size=(3, joints)), *rng.normal(size=(2, 3)))


def same(one: SensorData, other: SensorData) -> bool:
    names = ("q", "dq", "ddq", "force", "torque")
    return one.timestamp == other.timestamp and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in names
    )


@settings(max_examples=60, deadline=None)
@given(capacity=st.integers(1, 12), count=st.integers(0, 40))
def test_the_ring_holds_the_latest_samples_in_order(capacity: int, count: int) -> None:
    buffer = DataBuffer(capacity)
    samples = [sample(float(k)) for k in range(count)]
    for one in samples:
        buffer.add_sample(one)
    kept = buffer.snapshot()
    assert len(buffer) == len(kept) == min(count, capacity)
    assert all(same(a, b) for a, b in zip(kept, samples[-capacity:], strict=False))


def test_the_stacked_system_is_that_of_the_samples() -> None:
    robot = iparam.load_robot("ur5e")
    buffer = DataBuffer(5)
    for k in range(8):
        buffer.add_sample(sample(float(k)))
    data = buffer.get_estimation_data("ur5e")
    A, y = data
    assert A is data.A
    assert y is data.y
    assert data.A.shape == (30, 10)
    assert data.y.shape == (30,)
    assert data.num_samples == 5
    for k, one in enumerate(buffer.snapshot()):
        assert np.array_equal(data.A[6 * k : 6 * k + 6], iparam.wrench_regressor(robot, one.q, one.dq, one.ddq))
        assert np.array_equal(data.y[6 * k : 6 * k + 6], [*one.force, *one.torque])


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_buffers_are_saved_as_recordings(suffix: str, tmp_path: Path) -> None:
    buffer = DataBuffer(6)
    for k in range(9):
        buffer.add_sample(sample(float(k)))
    buffer.save_to_file(tmp_path / f"b{suffix}", robot="ur5e")
    assert Recording.load(tmp_path / f"b{suffix}").signal("wrench").num_samples == 6
    again = DataBuffer(6)
    again.add_sample(sample(0.5, joints=7))
    again.load_from_file(tmp_path / f"b{suffix}")
    assert all(same(a, b) for a, b in zip(again.snapshot(), buffer.snapshot(), strict=True))
    again.add_sample(sample(100.0))
    assert len(again) == 6
    assert again.snapshot()[-1].timestamp == 100.0
    few = DataBuffer(2)
    few.load_from_file(tmp_path / f"b{suffix}")
    assert [one.timestamp for one in few.snapshot()] == [7.0, 8.0]
    with pytest.raises(FileFormatError):
        few.load_from_file(tmp_path / "missing.parquet")
    assert len(few) == 2


def test_readers_and_writers_may_be_in_different_threads() -> None:
    buffer = DataBuffer(50)
    failures: list[str] = []
    done = threading.Event()

    def write() -> None:
        for k in range(1500):
            buffer.add_sample(SensorData(float(k), *np.full((3, 2), float(k)), *np.full((2, 3), float(k))))
        done.set()

    def read() -> None:
        while not done.is_set():
            samples = buffer.snapshot()
            stamps = [one.timestamp for one in samples]
            if any(b - a != 1.0 for a, b in pairwise(stamps)):
                failures.append(f"out of order: {stamps}")
            if any((one.q != one.timestamp).any() or (one.torque != one.timestamp).any() for one in samples):
                failures.append("a sample of two parts")

    threads = [threading.Thread(target=write), threading.Thread(target=read), threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(buffer) == 50


def test_what_a_buffer_refuses(tmp_path: Path) -> None:
    buffer = DataBuffer(3)
    with pytest.raises(InputError, match="buffer is empty"):
        buffer.get_estimation_data(iparam.load_robot("ur5e"))
    with pytest.raises(InputError, match="buffer is empty"):
        buffer.to_recording()
    buffer.add_sample(sample(1.0))
    with pytest.raises(InputError, match=r"later than the one before, 1\.0 s, got 1\.0 s"):
        buffer.add_sample(sample(1.0))
    with pytest.raises(InputError, match="SensorData, got tuple"):
        buffer.add_sample((2.0, np.zeros(6)))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="samples of 6 joints, got one of 7"):
        buffer.add_sample(sample(2.0, joints=7))
    assert len(buffer) == 1
    buffer.clear()
    buffer.add_sample(sample(0.5, joints=7))
    for capacity in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="max_samples"):
            DataBuffer(capacity)  # type: ignore[arg-type]
    buffer.add_sample(sample(0.7, joints=7))
    made = buffer.to_recording().with_signal("wrench", time=[0.5, 0.6], values=np.zeros((2, 6)))
    made.save(tmp_path / "uneven.parquet")
    with pytest.raises(InputError, match="align"):
        buffer.load_from_file(tmp_path / "uneven.parquet")


def test_samples_check_their_shapes() -> None:
    good = sample(0.0)
    with pytest.raises(InputError, match="dq must have shape"):
        SensorData(0.0, good.q, good.dq[:5], good.ddq, good.force, good.torque)
    with pytest.raises(InputError, match="force must have shape"):
        SensorData(0.0, good.q, good.dq, good.ddq, good.q, good.torque)
    with pytest.raises(InputError, match="finite"):
        SensorData(np.nan, good.q, good.dq, good.ddq, good.force, good.torque)
    with pytest.raises(InputError, match=r"\(7, 10\) and \(7,\)"):
        EstimationData(np.zeros((7, 10)), np.zeros(7))
