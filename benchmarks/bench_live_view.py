"""Whether a page that is watched delays the identification, and whether its memory stays flat: a recording replayed at
500 Hz without a page and with one, and for minutes with a browser looking.

    python benchmarks/bench_live_view.py [--seconds 10]
    python benchmarks/bench_live_view.py --soak 10

The delay is from the time that a sample is there to the end of its identification; the page shows 30 moments a second.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from bench_viewer import recorded
from side_by_side import print_table

import iparam
from iparam.bridges.live.feed import LiveFeed
from iparam.bridges.live.replay import ReplaySource
from iparam.estimation.online.estimate import OnlineEstimate
from iparam.viewer.live.page import LiveView, live_scene
from iparam.viewer.viser_backend import ViewServer

MASS = 2.0
"""Of the load in the recording [kg]."""
FARTHEST = 7.0
"""Standard deviations that no mass is off by, but by chance one of 1e11."""

BROWSER = (
    "--headless=new",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--no-first-run",
    "--remote-debugging-port=0",
    "--window-size=600,300",
)


def watched(feed: LiveFeed) -> tuple[list[float], list[str]]:
    """Lists that grow by the delay of every sample [s], and by what is shown of its load and is not true."""
    delays, wrong = [], []
    put = feed.state.put

    def compared(time: float, q: np.ndarray, wrench: np.ndarray, estimate: OnlineEstimate | None, delay: float) -> None:
        delays.append(delay)
        put(time, q, wrench, estimate, delay)
        if estimate is not None and not np.isnan(estimate.mass):
            allowed = FARTHEST * float(np.sqrt(estimate.covariance_phi[0, 0]))
            if not abs(estimate.mass - MASS) < allowed:
                wrong.append(f"a mass of {estimate.mass} kg at {time} s, not {MASS} +- {allowed} kg")

    feed.state.put = compared  # type: ignore[method-assign]
    return delays, wrong


def require_truth(shown: int, sent: int, wrong: list[str]) -> None:
    """End with 1 if samples are missing, or anything that was shown is not true."""
    if wrong or shown != sent:
        raise SystemExit(f"{shown} of {sent} samples were shown, and {len(wrong)} were wrong: {'; '.join(wrong[:5])}")


def served(recording: iparam.Recording, feed: LiveFeed) -> ViewServer:
    """A page that follows."""
    robot = iparam.load_robot("ur5e")
    scene = live_scene(robot, "bench", recording.signal("q").values[0])
    return ViewServer(scene, source=LiveView(robot, feed.state))


def followed(recording: iparam.Recording, page: bool) -> np.ndarray:
    """The delays of all samples [s]."""
    robot = iparam.load_robot("ur5e")
    feed = LiveFeed(ReplaySource(recording, robot))
    delays, wrong = watched(feed)
    server = served(recording, feed) if page else None
    try:
        feed.run()
    finally:
        feed.stop()
        if server is not None:
            server.close()
    require_truth(len(delays), recording.signal("q").time.size, wrong)
    return np.array(delays)


def resident(process: str) -> float:
    """Memory of a process [MB]."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) / 1024.0


def soak(minutes: float) -> None:
    """Follow for minutes with a browser that looks, and print the memory at every minute."""
    recording = recorded(60.0 * minutes, 500.0)
    robot = iparam.load_robot("ur5e")
    feed = LiveFeed(ReplaySource(recording, robot))
    delays, wrong = watched(feed)
    page = served(recording, feed)
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as folder:
        watching = None
        if program is not None:
            watching = subprocess.Popen(
                [program, *BROWSER, f"--user-data-dir={folder}", page.link], stderr=subprocess.DEVNULL
            )
        try:
            feed.start()
            rows = []
            while not feed.ended.wait(60.0):
                rows.append([str(len(rows) + 1), f"{resident('self'):.1f}"])
        finally:
            if watching is not None:
                watching.terminate()
                watching.wait(20)
            feed.stop()
            page.close()
    require_truth(len(delays), recording.signal("q").time.size, wrong)
    header = ["minute", "memory [MB]"]
    print_table(f"{minutes:g} min at 500 Hz, {'a browser looks' if watching else 'nobody looks'}", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    options = parser.parse_args()
    if options.soak is not None:
        soak(options.soak)
        return
    followed(recorded(1.0, 500.0), page=False)  # loads all modules
    recording = recorded(options.seconds, 500.0)
    rows = {name: followed(recording, page) for name, page in (("without a page", False), ("with a page", True))}
    base = np.median(rows["without a page"])
    table = []
    for name, delays in rows.items():
        median, most = np.median(delays), np.quantile(delays, 0.99)
        table.append([name, f"{1e3 * median:.2f}", f"{1e3 * most:.2f}", f"{median / base:.2f}"])
    header = ["", "median [ms]", "99 % [ms]", "beside"]
    print_table(f"From a sample to the end of its identification, {options.seconds:g} s at 500 Hz", header, table)


if __name__ == "__main__":
    main()
