"""Newton beside MuJoCo: the loads that are found from its wrench, the wrenches of one plan, and many worlds at once.

    make test-newton  # makes the environment that has Newton
    .venv-newton/bin/python benchmarks/bench_newton.py [--part loads|steps ...] [--worlds 1 8 64]

Both simulators have the same physics rate and controller. The wrench of Newton is in single precision.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from pathlib import Path

import numpy as np
from measured_data import MISSING
from side_by_side import print_table

import iparam
from iparam.simulation import MujocoSimulator, NewtonSimulator, Payload, SensorRates

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
PART = "v 0 0 0\nv 0.09 0 0\nv 0 0.075 0\nv 0.015 0.0075 0.1125\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def loads(folder: Path) -> dict[str, Payload]:
    """The loads of the reference document, and a part beside the axis."""
    (folder / "part.obj").write_text(PART, encoding="utf-8")
    return {
        "aluminium box, 8.1 kg": Payload.box(size=(0.1, 0.15, 0.2), density=2700.0),
        "two-stage cylinder": Payload.two_stage_cylinder(
            radius1=0.05, length1=0.08, radius2=0.03, length2=0.1, density=2700.0
        ),
        "part from an OBJ file": Payload.mesh(folder / "part.obj", density=7850.0, offset=(-0.045, 0.0, 0.0)),
    }


def found(robot: iparam.Robot, given: dict[str, Payload]) -> None:
    """Print what is found, and how far the wrenches of the two simulators are apart."""
    plan = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    newton = NewtonSimulator(physics_rate=1000.0)
    mujoco = MujocoSimulator(physics_rate=newton.physics_rate, controller=newton.controller)
    results = newton.run_many(robot, list(given.values()), plan)
    rows = []
    for (name, load), result in zip(given.items(), results, strict=True):
        estimate, truth = iparam.identify_payload(result.recording, robot).parameters, load.parameters
        other = mujoco.load(robot, load).run(plan).recording.signals["wrench"].values
        apart = (result.recording.signals["wrench"].values - other).reshape(-1, 2, 3)
        force, torque = np.sqrt((apart**2).sum(axis=2).mean(axis=0))
        mass = 100.0 * abs(estimate.mass / truth.mass - 1.0)
        center = 1e3 * np.abs(estimate.center_of_mass - truth.center_of_mass).max()
        inertia = np.linalg.norm(estimate.inertia_about_com - truth.inertia_about_com)
        inertia *= 100.0 / np.linalg.norm(truth.inertia_about_com)
        apart_rms = f"{1e3 * force:.1f} mN, {1e3 * torque:.2f} mN m"
        rows.append([name, f"{mass:.4f} %", f"{center:.4f} mm", f"{inertia:.3f} %", apart_rms])
    header = ["load", "mass off", "centre of mass off", "inertia off", "Newton and MuJoCo apart, rms"]
    print_table("Loads identified from Newton's wrench", header, rows)


def many(robot: iparam.Robot, load: Payload, worlds: list[int]) -> None:
    """Print the processor time of a step, in all worlds and in one."""
    still = np.zeros((6, 1))
    q0 = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
    motion = iparam.WindowedFourierTrajectory(q0, still, still, base_freq=1.0, duration=0.2)
    mujoco = MujocoSimulator(physics_rate=1000.0, rates=SensorRates.all_at(500.0), settle_time=0.0).load(robot, load)
    simulator = NewtonSimulator(physics_rate=1000.0, settle_time=0.0)
    mujoco.run(motion), simulator.load(robot, load).run(motion)  # compiles
    began = time.process_time()
    mujoco.run(motion)
    base = (time.process_time() - began) / 201
    rows = [["MuJoCo", f"{1e3 * base:.3f}", "1"]]
    for count in worlds:
        began = time.process_time()
        simulator.run_many(robot, [load] * count, motion)
        step = (time.process_time() - began) / 201
        beside = step / count / base
        name = f"Newton, {count} world{'s' if count > 1 else ''}"
        rows.append([name, f"{1e3 * step:.2g}", f"{beside:.3g}"])
    header = ["a step of the physics, processor time", "ms", "a world, beside MuJoCo"]
    print_table("UR5e with a box of 8.1 kg", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="+", choices=("loads", "steps"), default=("loads", "steps"))
    parser.add_argument("--worlds", type=int, nargs="+", default=[1, 8, 64])
    options = parser.parse_args()
    if importlib.util.find_spec("newton") is None:
        print("needs Newton, in an environment that make test-newton makes")
        raise SystemExit(MISSING)
    robot = iparam.load_robot("ur5e")
    with tempfile.TemporaryDirectory() as folder:
        given = loads(Path(folder))
        if "steps" in options.part:
            many(robot, given["aluminium box, 8.1 kg"], options.worlds)
        if "loads" in options.part:
            found(robot, given)


if __name__ == "__main__":
    main()
