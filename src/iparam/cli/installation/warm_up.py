"""`iparam warm-up`: compile the kernels of the usual commands, for the image of a container or an installation."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import iparam
from iparam.cli.console.printing import AsJson, print_json, print_line
from iparam.errors import IparamError
from iparam.robot.kernels.notice import was_lost

MASS, SIZE = 2.0, (0.1, 0.15, 0.2)


def compile_identification() -> None:
    """Do a little of all that comes after a plan: simulation, all methods of identification, the report."""
    robot = iparam.load_robot("ur5e")
    a, b = np.random.default_rng(0).normal(0.0, 0.35, (2, robot.num_joints, 3))
    q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
    motion = iparam.WindowedFourierTrajectory(q0, a, b, base_freq=0.25, duration=4.0).sample(
        300.0
    )  # all that recursive methods do
    state = (motion.q, motion.dq, motion.ddq)
    wrench = iparam.wrench_regressor(robot, *state) @ iparam.InertialParameters.box(MASS, SIZE).phi
    noisy = wrench + np.random.default_rng(1).normal(0.0, 0.1, wrench.shape)
    recording = iparam.Recording(robot="ur5e").with_signal("q", time=motion.time, values=motion.q)
    recording = recording.with_signal("wrench", time=motion.time, values=noisy)
    for method in ("consistent", "tls", "rls", "rtls"):
        iparam.identify_payload(recording, robot, method)
    iparam.mass_matrix(robot, motion.q)


@dataclass(frozen=True, kw_only=True)
class WarmUp:
    """Compile the kernels now, so that no later command has to.

    Run it as the user who will run the commands; NUMBA_CACHE_DIR says where to.

    Example:
      iparam warm-up
    """

    json: AsJson = False

    def run(self) -> None:
        """Do a little of each."""
        began = time.perf_counter()
        robot = iparam.load_robot("ur5e")
        load, box = iparam.PayloadBox.from_size(SIZE), iparam.InertialParameters.box(MASS, SIZE)
        problem = iparam.planning_problem(robot, payload=load, payload_parameters=box)
        iparam.optimize_excitation(problem, starts=1, time_budget=0.5, workers=1)
        compile_identification()
        still = np.zeros((1, robot.num_joints))
        iparam.forward_kinematics(robot, still)
        iparam.jacobian(robot, still)
        iparam.inverse_dynamics(robot, still, still, still)
        iparam.joint_torque_regressor(robot, still, still, still)
        if was_lost():
            raise IparamError(
                "not all kernels were kept: no folder can be written, or its disk is full. Set NUMBA_CACHE_DIR to one "
                "that can"
            )
        seconds = time.perf_counter() - began
        if self.json:
            print_json({"seconds": seconds})
        else:
            print_line(f"kernels are ready after {seconds:.0f} s")
