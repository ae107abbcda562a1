"""Reading bags: iparam's import beside plain rosbags. Run: python benchmarks/bench_bags.py"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore
from side_by_side import best_times, print_table

import iparam
from iparam.bridges.bag import ImportSettings, read_bag, write_bag

SECONDS, RATE = 60, 500
STORE = get_typestore(Stores.LATEST)


def sample() -> iparam.Recording:
    generator = np.random.default_rng(0)
    time = np.arange(SECONDS * RATE) / RATE
    q = 0.5 * np.sin(2 * np.pi * 0.2 * time[:, None] + np.arange(6))
    recording = iparam.Recording("ur5e").with_signal("q", time=time, values=q)
    recording = recording.with_signal("dq", time=time, values=np.gradient(q, time, axis=0))
    wrench = generator.normal(size=(time.size, 6))
    wrench[:, 2] += 20.0
    return recording.with_signal("wrench", time=time, values=wrench)


def plain(path: Path) -> int:
    """Every message deserialised, and nothing done with it."""
    with Reader(path) as reader:
        return sum(STORE.deserialize_cdr(raw, c.msgtype) is not None for c, _, raw in reader.messages())


def main() -> None:
    rows = []
    settings = ImportSettings()
    with tempfile.TemporaryDirectory() as folder:
        for storage in ("mcap", "sqlite3"):
            path = Path(folder) / storage
            write_bag(sample(), path, storage=storage)
            count = plain(path)
            assert count == 2 * SECONDS * RATE
            times = best_times(
                {
                    "rosbags": lambda path=path: plain(path),
                    "iparam": lambda path=path: read_bag(path, "ur5e", settings),
                },
                rounds=5,
            )
            for name, seconds in times.items():
                ratio = seconds / times["rosbags"]
                rows.append([storage, name, f"{seconds:.2f}", f"{count / seconds / 1e3:.0f}", f"{ratio:.2f}"])
    title = f"Bag of {SECONDS} s at {RATE} Hz, {count} messages (joint states and wrench), best of 5"
    print_table(title, ["storage", "reader", "s", "1000 messages/s", "time / rosbags"], rows)
    print("\nrosbags: iterate and deserialise only. iparam: a checked recording, in a process of bounded memory.")


if __name__ == "__main__":
    main()
