"""
Isaac Lab: identify a payload
=============================

Spawn an arm in Isaac Lab, settle, play the planned motion, record the wrench and identify the payload.

Run it with the Python of Isaac Lab 3, in which iparam is installed. The stage holds the arm, and the payload as a link
that a fixed joint welds to the flange::

    iparam excite optimize --robot ur10e --payload-size 0.1 0.15 0.2 --output plan.json
    python isaac_lab_identify.py arm.usd --robot ur10e --plan plan.json --payload-link payload --output result.json

Without --plan it draws random motions until one keeps the arm's limits and hits nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import isaaclab.sim as lab
import numpy as np
from isaaclab.actuators import IdealPDActuatorCfg
from isaaclab.assets import ArticulationCfg
from isaaclab.scene import InteractiveScene, InteractiveSceneCfg
from isaaclab.sensors.joint_wrench import JointWrenchSensorCfg
from isaaclab_newton.physics import MJWarpSolverCfg, NewtonCfg

import iparam
from iparam.bridges.isaac import JointWrench, record

RESET_POSE = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
"""Where a random motion starts and ends, for a UR arm."""


def random_motion(robot: iparam.Robot, size: tuple[float, ...], seed: int, duration: float) -> iparam.Trajectory:
    """A random motion from rest to rest that keeps the limits of the arm and hits nothing."""
    problem = iparam.planning_problem(
        robot, q0=RESET_POSE, payload=iparam.PayloadBox.from_size(size), duration=duration
    )
    return iparam.excitation.random_search(problem.q0, duration, problem.constraints, seed=seed).trajectory


def play(options: argparse.Namespace, robot: iparam.Robot, motion: iparam.Trajectory) -> iparam.Recording:
    """Spawn the stage with the arm at the motion's first pose, let it settle, play the motion and record."""
    start = motion.evaluate(0.0).q[0]
    physics = NewtonCfg(solver_cfg=MJWarpSolverCfg(integrator="euler"), num_substeps=1)
    settings = lab.SimulationCfg(dt=options.dt, device=options.device, physics=physics)
    with lab.build_simulation_context(sim_cfg=settings, device=options.device) as simulation:
        scene: Any = InteractiveSceneCfg(num_envs=1, env_spacing=4.0)
        scene.robot = ArticulationCfg(
            prim_path="{ENV_REGEX_NS}/Robot",
            spawn=lab.UsdFileCfg(usd_path=str(options.stage.resolve())),
            init_state=ArticulationCfg.InitialStateCfg(
                joint_pos=dict(zip(robot.joint_names, start.tolist(), strict=True))
            ),
            actuators={"arm": IdealPDActuatorCfg(joint_names_expr=[".*"], stiffness=1e4, damping=200.0, armature=1.0)},
        )
        scene.wrench = JointWrenchSensorCfg(prim_path="{ENV_REGEX_NS}/Robot")
        scene = InteractiveScene(scene)
        simulation.reset()
        arm = scene["robot"]
        arm.write_joint_position_to_sim_index(position=arm.data.default_joint_pos.torch.clone())

        def step() -> None:
            simulation.step(render=False)
            scene.update(options.dt)

        wrench = JointWrench(scene["wrench"], options.payload_link)
        return record(arm, motion, step, wrench=wrench, robot=robot, dt=options.dt, settle=options.settle)


def main() -> None:
    """Play, identify, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", type=Path, help="USD file of the arm with its payload")
    parser.add_argument("--robot", default="ur5e", help="the arm as iparam knows it")
    parser.add_argument("--payload-link", default="payload", help="link behind the joint that holds the payload")
    parser.add_argument("--plan", type=Path, help="trajectory of 'iparam excite optimize'; random if not given")
    parser.add_argument(
        "--payload-size", type=float, nargs=3, default=(0.1, 0.15, 0.2), help="of a random motion's box"
    )
    parser.add_argument("--duration", type=float, default=10.0, help="for a random motion [s]")
    parser.add_argument("--seed", type=int, default=0, help="for a random motion")
    parser.add_argument("--dt", type=float, default=1.0 / 500.0, help="physics step [s]")
    parser.add_argument("--settle", type=float, default=1.0, help="time at rest before the motion [s]")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--recording", type=Path, help="file for the recording: .parquet or .csv")
    parser.add_argument("--output", type=Path, help="file for the result: .json")
    options = parser.parse_args()
    robot = iparam.load_robot(options.robot)
    if options.plan is not None and options.plan.is_file():
        motion = iparam.load_trajectory(options.plan).trajectory
    else:
        print("no plan: a random motion is played; 'iparam excite optimize' plans one that tells far more")
        motion = random_motion(robot, tuple(options.payload_size), options.seed, options.duration)
    recording = play(options, robot, motion)
    if options.recording is not None:
        recording.save(options.recording)
    estimate = iparam.identify_payload(recording, robot=robot)
    print(estimate)
    if options.output is not None:
        estimate.save(options.output)


if __name__ == "__main__":
    main()
