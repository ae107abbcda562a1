"""What bench_rigid_body.py times, here and in the environment of another revision, where this file is run by itself.

    python benchmarks/rigid_body_cases.py URDF SAMPLES

times, on one core, each case whose name it reads, and prints the seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import iparam


def states(samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.uniform(-3, 3, (3, samples, 6))
    return q, dq, ddq


def cases(urdf: str, samples: int) -> dict[str, Callable[[], object]]:
    robot = iparam.load_robot(urdf, tip="tool0")
    q, dq, ddq = states(samples)
    return {
        "tool_motion": lambda: iparam.tool_motion(robot, q, dq, ddq),
        "wrench_regressor": lambda: iparam.wrench_regressor(robot, q, dq, ddq),
        "inverse_dynamics": lambda: iparam.inverse_dynamics(robot, q, dq, ddq),
        "mass_matrix": lambda: iparam.mass_matrix(robot, q),
        "joint_torque_regressor": lambda: iparam.joint_torque_regressor(robot, q, dq, ddq),
    }


if __name__ == "__main__":
    known = cases(sys.argv[1], int(sys.argv[2]))
    iparam.set_num_threads(1)
    for name in map(str.strip, sys.stdin):
        start = time.perf_counter()
        known[name]()
        print(time.perf_counter() - start, flush=True)
