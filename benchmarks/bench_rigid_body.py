"""Kinematics, dynamics and regressors against Pinocchio, on 10,000 random states of a UR5, in one run.

Pinocchio is called once a sample from Python, as a Python user calls it; its model comes from example-robot-data's
URDF, and ours is loaded from the same file. Run: make bench, or python benchmarks/bench_rigid_body.py
"""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np
import pinocchio as pin
from side_by_side import best_times, print_table

import iparam

SAMPLES = 10_000
URDF = Path(sysconfig.get_paths()["purelib"]) / (
    "cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
)


def main() -> None:
    robot = iparam.load_robot(URDF, tip="tool0")
    model = pin.buildModelFromUrdf(str(URDF))
    data, tool = model.createData(), model.getFrameId("tool0")
    rng = np.random.default_rng(0)
    q, dq, ddq = (rng.uniform(-3, 3, (SAMPLES, 6)) for _ in range(3))
    states = list(zip(q, dq, ddq, strict=True))

    def pin_motion() -> None:
        for state in states:
            pin.forwardKinematics(model, data, *state)

    def pin_wrench_regressor() -> None:
        for state in states:
            pin.rnea(model, data, *state)  # the accelerations with gravity, which the regressor needs
            pin.frameBodyRegressor(model, data, tool)

    def pin_rnea() -> None:
        for state in states:
            pin.rnea(model, data, *state)

    def pin_crba() -> None:
        for position, _, _ in states:
            pin.crba(model, data, position)

    def pin_torque_regressor() -> None:
        for state in states:
            pin.computeJointTorqueRegressor(model, data, *state)

    cases = [
        ("tool motion", 3.0, lambda: iparam.tool_motion(robot, q, dq, ddq), pin_motion, "forwardKinematics(q, v, a)"),
        (
            "wrench regressor",
            3.0,
            lambda: iparam.wrench_regressor(robot, q, dq, ddq),
            pin_wrench_regressor,
            "rnea + frameBodyRegressor",
        ),
        ("inverse dynamics", 2.0, lambda: iparam.inverse_dynamics(robot, q, dq, ddq), pin_rnea, "rnea"),
        ("mass matrix", 1.5, lambda: iparam.mass_matrix(robot, q), pin_crba, "crba"),
        (
            "joint-torque regressor",
            1.5,
            lambda: iparam.joint_torque_regressor(robot, q, dq, ddq),
            pin_torque_regressor,
            "computeJointTorqueRegressor",
        ),
    ]
    rows = []
    for name, goal, ours, theirs, call in cases:

        def one_core(ours=ours) -> None:
            iparam.set_num_threads(1)
            ours()

        def all_cores(ours=ours) -> None:
            iparam.set_num_threads(None)
            ours()

        # A job of some milliseconds needs many rounds before its best one was disturbed by nobody.
        times = best_times({"one": one_core, "all": all_cores, "pin": theirs}, rounds=40)
        one, every, pinocchio = (times[key] / SAMPLES * 1e6 for key in ("one", "all", "pin"))
        rows.append(
            [
                name,
                call,
                f"{pinocchio:.2f}",
                f"{one:.2f}",
                f"{pinocchio / one:.1f}x (goal {goal:g}x)",
                f"{one / every:.2f}x",
            ]
        )
    iparam.set_num_threads(None)
    header = [
        "what",
        "Pinocchio call",
        "Pinocchio us",
        "iparam us",
        "ratio, one core",
        f"{iparam.get_num_threads()} cores: further",
    ]
    print_table(f"Time a sample, {SAMPLES} random states of a UR5 (6 joints)", header, rows)
    single_sample(robot, q[0], dq[0], ddq[0])
    growth_in_samples(robot)
    growth_in_joints()


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
