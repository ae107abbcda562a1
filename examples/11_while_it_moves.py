"""
While it moves
==============

The load sample by sample, as a controller would use it: each step takes one sample in and gives the present estimate.
"""

import matplotlib.pyplot as plt
import numpy as np

import iparam

robot = iparam.load_robot("ur5e")
size = [0.10, 0.15, 0.20]  # [m]
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size(size))
plan = iparam.optimize_excitation(problem, seed=0, starts=1)
scene = iparam.MujocoSimulator().load(robot, iparam.Payload.box(mass=2.0, size=size))
recording = iparam.noise_preset("ur5e").apply(scene.run(plan.trajectory).recording, seed=6)
q, wrench = recording.signal("q"), recording.signal("wrench")

identifier = iparam.OnlineIdentifier(robot)
times, masses, deviations = [], [], []
for time, angles, measured in zip(q.time, q.values, wrench.values, strict=False):
    estimate = identifier.step(time, angles, measured)
    if estimate is not None:
        times.append(estimate.time)
        masses.append(estimate.phi[0])
        deviations.append(np.sqrt(estimate.covariance_phi[0, 0]))
print(f"after {times[-1] - times[0]:.1f} s: {masses[-1]:.4f} +- {1.96 * deviations[-1]:.4f} kg (95 %), truth 2 kg")

# %%
# The interval narrows as the motion shows more.

mass, half = np.array(masses), 1.96 * np.array(deviations)
figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
axes.fill_between(times, mass - half, mass + half, alpha=0.3, label="95 % interval")
axes.plot(times, mass, label="estimate")
axes.axhline(2.0, color="0.3", linewidth=1, linestyle="--", label="truth")
axes.set(xlabel="time [s]", ylabel="mass [kg]", ylim=(1.97, 2.03))
axes.legend()
plt.show()
