"""How long a recording of a minute takes to open, and what it costs beside reading the file.

    python benchmarks/bench_viewer.py [--seconds 60] [--rate 500]

The page is open once the server answers with the scene in place; margins and the prediction come afterwards.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
from side_by_side import print_table

import iparam
from iparam.viewer.page import view_page
from iparam.viewer.view import ViewInput, view_of
from iparam.viewer.viser_backend import ViewServer


def recorded(seconds: float, rate: float) -> iparam.Recording:
    """A UR5e that moves all its joints with a box of 2 kg."""
    robot = iparam.load_robot("ur5e")
    a, b = np.random.default_rng(0).normal(0.0, 0.2, (2, 6, 5))
    q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
    samples = iparam.WindowedFourierTrajectory(q0, a, b, base_freq=0.1, duration=seconds).sample(rate)
    load = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2))
    wrench = iparam.wrench_regressor(robot, samples.q, samples.dq, samples.ddq) @ load.phi
    noise = np.random.default_rng(1).normal(0.0, 0.05, wrench.shape)
    run = iparam.Recording("ur5e").with_signal("q", time=samples.time, values=samples.q)
    return run.with_signal("wrench", time=samples.time, values=wrench + noise)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=500.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.parquet"
        recording = recorded(options.seconds, options.rate)
        recording.save(path)
        estimate = iparam.identify_payload(recording)
        reading, opening, completing = [], [], []
        for _ in range(3):
            start = time.perf_counter()
            run = iparam.Recording.load(path)
            reading.append(time.perf_counter() - start)
            given = ViewInput(
                robot=iparam.load_robot("ur5e"), recordings=[("run", run)], results=[("result", estimate)]
            )
            server = ViewServer(view_of(given), port=0)
            with urllib.request.urlopen(server.link) as page:
                page.read()
            opening.append(time.perf_counter() - start)
            server.complete()
            completing.append(time.perf_counter() - start)
            view = server.drawing.view
            server.close()
        size = len(view_page(view).encode())
    read, opened, completed = (min(times) for times in (reading, opening, completing))
    times = {"read": read, "page open": opened, "with margins and prediction": completed}
    rows = [[name, f"{value:.2f}", f"{value / read:.1f}"] for name, value in times.items()]
    header = [f"a recording of {options.seconds:g} s at {options.rate:g} Hz", "seconds", "beside reading the file"]
    print_table(f"As one file the page is {size / 1e6:.1f} MB.", header, rows)


if __name__ == "__main__":
    main()
