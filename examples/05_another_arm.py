"""
Another arm, from its file
==========================

Any serial arm that a URDF, xacro or MJCF file describes. The Franka Panda of the package example-robot-data has a
name already (``pip install 'iparam[robots]'``); for your own, put the path of its file in the place of ``panda``.
"""

import matplotlib.pyplot as plt
import numpy as np

import iparam

robot = iparam.load_robot("panda")
print(robot)

# %%
# Limits come from the file, and what the file does not know is said with the plan.

size = [0.08, 0.08, 0.12]  # [m]
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size(size))
plan = iparam.optimize_excitation(problem, seed=0, starts=1)
print(f"condition number {plan.condition_number:.2f}")

payload = iparam.Payload.box(mass=1.2, size=size)
run = iparam.MujocoSimulator().load(robot, payload).run(plan.trajectory)
recording = iparam.noise_preset("ur5e").apply(run.recording, seed=3)
estimate = iparam.identify_payload(recording, robot=robot)
print(estimate)

# %%
# The path of the tool, and how near the seven joints come to their limits of speed.

motion = plan.trajectory.sample(fps=100.0)
positions = iparam.forward_kinematics(robot, motion.q)[:, :3, 3]
limits = robot.limits.velocity
figure = plt.figure(figsize=(8.4, 3.6))
path = figure.add_subplot(1, 2, 1, projection="3d")
path.plot(*positions.T)
path.set(xlabel="x [m]", ylabel="y [m]", title="path of the tool, z up [m]")
speed = figure.add_subplot(1, 2, 2)
speed.bar(np.arange(1, 8), 100.0 * np.abs(motion.dq).max(axis=0) / limits)
speed.set(xlabel="joint", ylabel="largest speed [% of its limit]", ylim=(0, 105))
plt.show()
