"""The wrench of Isaac Lab against Newton and Euler on the simulator's own motion, and the load that is found from it.

    make test-isaac  # makes the environment that has Isaac Lab
    PYTHONPATH=tests .venv-isaac/bin/python benchmarks/bench_isaac.py [--seconds 4]

A UR10e with a box of 8.1 kg in two environments, on the Newton backend on the processor, with implicit drives and with
explicit ones, whose wrench is looked at as it comes and turned back into the axes of its instant.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
from pathlib import Path

import numpy as np
from measured_data import MISSING
from side_by_side import print_table

import iparam


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    if importlib.util.find_spec("isaaclab") is None:
        print("needs Isaac Lab, in an environment that make test-isaac makes")
        raise SystemExit(MISSING)
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder) / "arm.usda", options.seconds)


def compare(stage: Path, seconds: float) -> None:
    from bridges.isaac.lab_run import BOX, DT, JOINT, ROBOT, Kept, Steps, plan, running
    from bridges.isaac.lab_stage import write_stage
    from isaaclab.actuators import IdealPDActuatorCfg, ImplicitActuatorCfg

    from iparam.bridges.isaac import JointWrench, record

    write_stage(stage, ROBOT, BOX, JOINT)
    implicit = ImplicitActuatorCfg(joint_names_expr=[".*"], stiffness=10000.0, damping=500.0, armature=0.1)
    explicit = IdealPDActuatorCfg(joint_names_expr=[".*"], stiffness=10000.0, damping=200.0, armature=1.0)
    given = {"robot": ROBOT, "dt": DT}
    with running(stage, implicit, "implicitfast") as (simulation, scene):
        simulation.reset()
        wrench, steps = JointWrench(scene["wrench"], "payload", JOINT), Steps(simulation, scene)
        recording = record(scene["robot"], plan(1.0), steps, wrench=wrench, settle=0.2, **given)
    rows = [
        [
            "`ImplicitActuatorCfg`, damping 500 N m s/rad, armature 0.1 kg m^2",
            *texts(steps.off(recording, 0, recording.signal("wrench").values)),
        ]
    ]
    with running(stage, explicit) as (simulation, scene):
        simulation.reset()
        kept, steps = Kept(JointWrench(scene["wrench"], "payload", JOINT)), Steps(simulation, scene)
        recording = record(scene["robot"], plan(seconds), steps, wrench=kept, settle=0.5, environment=1, **given)
    rows.append(
        [
            "`IdealPDActuatorCfg`, damping 200, armature 1, the sensor's wrench as it comes",
            *texts(steps.off(recording, 1, kept.as_it_comes)),
        ]
    )
    turned_back = steps.off(recording, 1, recording.signal("wrench").values)
    rows.append(["the same, turned back into the axes of its instant", *texts(turned_back)])
    found = iparam.identify_payload(recording, robot=ROBOT)
    center = np.abs(found.center_of_mass - BOX.center_of_mass).max()
    inertia = np.linalg.norm(found.inertia_about_com - BOX.inertia_about_com) / np.linalg.norm(BOX.inertia_about_com)
    header = ["UR10e, 8.1 kg, steps of 2 ms", "force off, rms", "torque off, rms"]
    print_table("Against Newton and Euler on the simulator's own motion", header, rows)
    print(
        f"\nFrom the last one the box is found within {abs(found.mass / BOX.mass - 1.0):.2g} of the mass, "
        f"{1e3 * center:.2g} mm and {inertia:.2g} of the inertia."
    )


def texts(off: np.ndarray) -> list[str]:
    return [f"{off[0]:.2g} N", f"{off[1]:.2g} N m"]


if __name__ == "__main__":
    main()
