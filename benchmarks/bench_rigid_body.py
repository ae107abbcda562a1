"""Kinematics, dynamics and regressors against Pinocchio, on 10,000 random states of a UR5, in one run.

Pinocchio is called in C++ in a loop over the samples, compiled with the headers of its wheel (`pinocchio_in_cpp.py`);
where that is not possible, which the table says, once a sample from Python. Its model comes from example-robot-data's
URDF, and ours is loaded from the same file. Run: make bench, or

    python benchmarks/bench_rigid_body.py [--before PYTHON]

--before names the Python of an environment with another revision of iparam, which takes turns with this one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin
from measured_data import other_revision
from pinocchio_in_cpp import Loop, MissingError, loops
from rigid_body_cases import cases, states
from side_by_side import best_times, print_table

import iparam

SAMPLES = 10_000
URDF = Path(sysconfig.get_paths()["purelib"]) / (
    "cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
)


GOALS = {
    "tool_motion": 10.0,
    "wrench_regressor": 10.0,
    "inverse_dynamics": 10.0,
    "mass_matrix": 10.0,
    "joint_torque_regressor": 4.0,
}
CASES = Path(__file__).with_name("rigid_body_cases.py")
ROUNDS = 40  # a job of some milliseconds needs many before its best one was disturbed by nobody


class Before:
    """Another revision of iparam in a process of its own, which computes when it is asked to."""

    def __init__(self, python: str) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [python, "-P", str(CASES), str(URDF), str(SAMPLES)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
        for name in GOALS:
            self.seconds(name)  # what is compiled at first use

    def seconds(self, name: str) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(name, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="PYTHON", help="of an environment with another revision")
    before = other_revision(parser.parse_args().before)
    robot = iparam.load_robot(URDF, tip="tool0")
    against_pinocchio(None if before is None else Before(before))
    rng = np.random.default_rng(0)
    single_sample(robot, *rng.uniform(-3, 3, (3, 6)))
    growth_in_samples(robot)
    growth_in_joints()


def against_pinocchio(before: Before | None) -> None:
    own, state = cases(str(URDF), SAMPLES), states(SAMPLES)
    model = pin.buildModelFromUrdf(str(URDF))
    try:
        theirs, language = loops(model, "tool0"), "C++"
    except MissingError as error:
        theirs, language = loops_in_python(model), f"Python ({error})"
    rows = []
    for name, goal in GOALS.items():
        ours = own[name]

        def one_core(ours: Callable[[], object] = ours) -> None:
            iparam.set_num_threads(1)
            ours()

        def all_cores(ours: Callable[[], object] = ours) -> None:
            iparam.set_num_threads(None)
            ours()

        rivals = {"one": one_core, "all": all_cores, "pin": lambda name=name: theirs[name](*state)}
        if name == "joint_torque_regressor":
            rivals["memory"] = lambda: np.empty((SAMPLES, 6, 60)).fill(1.0)
        earlier = np.inf
        times = dict.fromkeys(rivals, np.inf)
        for _ in range(ROUNDS):
            for key, value in best_times(rivals, rounds=1).items():
                times[key] = min(times[key], value)
            if before is not None:
                earlier = min(earlier, before.seconds(name))
        one, every, pinocchio = (times[key] / SAMPLES * 1e6 for key in ("one", "all", "pin"))
        known = "" if before is None else f"{earlier / SAMPLES * 1e6:.2f}"
        rows.append(
            [
                name,
                f"{pinocchio:.2f}",
                known,
                f"{one:.3f}",
                f"{pinocchio / one:.1f}x (goal {goal:g}x)",
                f"{one / every:.2f}x",
            ]
        )
    iparam.set_num_threads(None)
    header = [
        "what",
        f"Pinocchio in {language}, us",
        "before, us",
        "iparam us",
        "ratio, one core",
        f"{iparam.get_num_threads()} cores: further",
    ]
    print_table(f"Time a sample, {SAMPLES} random states of a UR5 (6 joints)", header, rows)
    written = SAMPLES * 6 * 60 * 8
    rates = [written / times[key] / 1e9 for key in ("one", "memory")]
    slower = f"{rates[1] / rates[0]:.2f}x (goal: at most 2x)"
    print_table(
        "The joint-torque regressor and the memory, one core",
        ["regressor written GB/s", "a new array filled GB/s", "slower"],
        [[f"{rates[0]:.0f}", f"{rates[1]:.0f}", slower]],
    )


def loops_in_python(model: pin.Model) -> dict[str, Loop]:
    data, tool = model.createData(), model.getFrameId("tool0")

    def wrench_regressor(*state: np.ndarray) -> None:
        pin.rnea(model, data, *state)  # the accelerations with gravity, which the regressor needs
        pin.frameBodyRegressor(model, data, tool)

    algorithms = {
        "tool_motion": lambda *state: pin.forwardKinematics(model, data, *state),
        "wrench_regressor": wrench_regressor,
        "inverse_dynamics": lambda *state: pin.rnea(model, data, *state),
        "mass_matrix": lambda q, *_: pin.crba(model, data, q),
        "joint_torque_regressor": lambda *state: pin.computeJointTorqueRegressor(model, data, *state),
    }

    def loop(algorithm: Callable[..., object]) -> Loop:
        def run(*states: np.ndarray) -> None:
            for state in zip(*states, strict=True):
                algorithm(*state)

        return run

    return {name: loop(algorithm) for name, algorithm in algorithms.items()}


def single_sample(robot: iparam.Robot, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> None:
    """What one call costs when there is only one sample: checks, allocation and dispatch."""
    calls = {
        "tool_motion": lambda: iparam.tool_motion(robot, q, dq, ddq),
        "wrench_regressor": lambda: iparam.wrench_regressor(robot, q, dq, ddq),
        "inverse_dynamics": lambda: iparam.inverse_dynamics(robot, q, dq, ddq),
        "mass_matrix": lambda: iparam.mass_matrix(robot, q),
        "joint_torque_regressor": lambda: iparam.joint_torque_regressor(robot, q, dq, ddq),
    }
    times = best_times({name: lambda run=run: [run() for _ in range(1000)] for name, run in calls.items()})
    rows = [[name, f"{1e3 * seconds:.1f}"] for name, seconds in times.items()]
    print_table("One call with one sample (goal: at most 20 us of overhead)", ["call", "us"], rows)


def growth_in_samples(robot: iparam.Robot) -> None:
    """Time a sample from 1e3 to 1e6 samples; the large regressor is made in blocks, so memory stays bounded."""
    iparam.set_num_threads(1)
    rng = np.random.default_rng(1)
    rows = []
    for samples in (1_000, 10_000, 100_000, 1_000_000):
        q = rng.uniform(-3, 3, (samples, robot.num_joints))
        blocks = np.array_split(q, max(1, samples // 20_000))
        times = best_times(
            {
                "motion": lambda blocks=blocks: [iparam.tool_motion(robot, b, b, b) for b in blocks][-1],
                "torques": lambda q=q: iparam.inverse_dynamics(robot, q, q, q),
                "regressor": lambda blocks=blocks: [
                    iparam.joint_torque_regressor(robot, b, b, b).shape for b in blocks
                ],
            },
            rounds=3,
        )
        rows.append([f"{samples:,}", *(f"{1e6 * seconds / samples:.2f}" for seconds in times.values())])
    iparam.set_num_threads(None)
    header = ["samples", "tool motion us", "inverse dynamics us", "joint-torque regressor us (blocks of 20,000)"]
    print_table("Time a sample against the number of samples, one core", header, rows)


def growth_in_joints() -> None:
    """Time a joint against the number of joints, for a chain of UR5e-like links."""
    iparam.set_num_threads(1)
    ur5e = iparam.load_robot("ur5e")
    rng = np.random.default_rng(2)
    rows = []
    for count in (3, 6, 12, 24):
        links, joints = [iparam.Link("base")], []
        for i in range(count):
            model, link = ur5e.moving_joints[i % 6], ur5e.link(ur5e.moving_joints[i % 6].child)
            joints.append(iparam.Joint(f"j{i}", model.kind, links[-1].name, f"l{i}", model.origin, model.axis))
            links.append(iparam.Link(f"l{i}", link.inertial))
        robot = iparam.Robot("chain", tuple(joints), tuple(links), iparam.JointLimits.unlimited(count), links[-1].name)
        q = rng.uniform(-3, 3, (5_000, count))
        times = best_times(
            {
                "motion": lambda robot=robot, q=q: iparam.tool_motion(robot, q, q, q),
                "torques": lambda robot=robot, q=q: iparam.inverse_dynamics(robot, q, q, q),
            },
            rounds=7,
        )
        rows.append([str(count), *(f"{1e9 * seconds / len(q) / count:.0f}" for seconds in times.values())])
    iparam.set_num_threads(None)
    header = ["joints", "tool motion ns a joint", "inverse dynamics ns a joint"]
    print_table("Time a sample and joint against the number of joints, one core", header, rows)


if __name__ == "__main__":
    main()
