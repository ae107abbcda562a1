"""Whether a page that is watched delays the identification: a recording replayed at 500 Hz without a page and with one.

    python benchmarks/bench_live_view.py [--seconds 10]

The delay is from the time that a sample is there to the end of its identification; the page is sent 30 times a second.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from bench_viewer import recorded

import iparam
from iparam.bridges.live.feed import LiveFeed
from iparam.bridges.live.replay import ReplaySource
from iparam.viewer.live.page import live_view
from iparam.viewer.viser_backend import LiveServer


def followed(recording: iparam.Recording, page: bool) -> tuple[np.ndarray, float]:
    """The delays of all samples [s], and the frames a second of the page."""
    robot = iparam.load_robot("ur5e")
    feed = LiveFeed(ReplaySource(recording, robot))
    delays: list[float] = []
    put = feed.state.put

    def counted(time: float, q: np.ndarray, wrench: np.ndarray, estimate: object, delay: float) -> None:
        delays.append(delay)
        put(time, q, wrench, estimate, delay)  # type: ignore[arg-type]

    feed.state.put = counted  # type: ignore[method-assign]
    server = LiveServer(live_view(robot, feed.state, "bench"), feed.state) if page else None
    try:
        feed.run()
    finally:
        feed.stop()
        if server is not None:
            server.close()
    frames = 0.0 if server is None else server.panel.frames / recording.duration
    return np.array(delays), frames


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    seconds = parser.parse_args().seconds
    sys.setswitchinterval(5e-4)  # as the command does
    recording = recorded(seconds, 500.0)
    rows = {name: followed(recording, page) for name, page in (("without a page", False), ("with a page", True))}
    base = np.median(rows["without a page"][0])
    print(f"{'':16} median ms   99 % ms   beside   frames/s")
    for name, (delays, frames) in rows.items():
        median, most = np.median(delays), np.quantile(delays, 0.99)
        print(f"{name:16} {1e3 * median:9.2f} {1e3 * most:9.2f} {median / base:8.2f} {frames:10.1f}")


if __name__ == "__main__":
    main()
