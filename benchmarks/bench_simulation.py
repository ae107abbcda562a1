"""How much faster than real time the simulation runs: a UR5e with a 2 kg box on 10 s of excitation."""

from __future__ import annotations

import time

import numpy as np
from side_by_side import print_table

import iparam
from iparam.simulation import MujocoSimulator, Payload, SensorRates
from iparam.trajectory import WindowedFourierTrajectory

DURATION = 10.0
ROUNDS = 5


def main() -> None:
    robot = iparam.load_robot("ur5e")
    payload = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
    a, b = np.random.default_rng(1).normal(0.0, 0.12, (2, 6, 5))
    q0 = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
    trajectory = WindowedFourierTrajectory(q0, a, b, base_freq=0.2, duration=DURATION)
    rows = []
    for physics, sensors in ((2000.0, 500.0), (2000.0, 2000.0), (1000.0, 500.0), (240.0, 100.0)):
        scene = MujocoSimulator(physics_rate=physics, rates=SensorRates.all_at(sensors)).load(robot, payload)
        result = scene.run(trajectory)
        best = float("inf")
        for _ in range(ROUNDS):
            start = time.perf_counter()
            scene.run(trajectory)
            best = min(best, time.perf_counter() - start)
        motion = result.true_motion
        truth = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ payload.parameters.phi
        error = np.abs(truth - result.recording.signals["wrench"].values).max()
        signals = result.recording.signals
        tracking = np.abs(signals["q"].values - signals["target_q"].values).max()
        steps = (DURATION + 0.5) * physics
        rows.append(
            [
                f"{physics:g}",
                f"{sensors:g}",
                f"{DURATION / best:.1f}",
                f"{1e6 * best / steps:.1f}",
                f"{error:.1e}",
                f"{tracking:.1e}",
            ]
        )
    header = ["physics Hz", "sensors Hz", "x real time", "us a step", "wrench error N, N m", "tracking error rad"]
    print_table(f"MuJoCo, UR5e with a payload, {DURATION:g} s of excitation, one core, best of {ROUNDS}", header, rows)


if __name__ == "__main__":
    main()
