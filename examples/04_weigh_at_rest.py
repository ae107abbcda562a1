"""
Weigh at rest
=============

Six poses at rest tell mass, centre of mass and the sensor's bias, in a minute and without swinging anything.
"""

import matplotlib.pyplot as plt
import numpy as np

import iparam
from iparam.excitation import choose_poses

robot = iparam.load_robot("ur5e")
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size([0.10, 0.15, 0.20]))
chosen = choose_poses(problem, count=6)
print(f"condition number {chosen.condition_number:.2f} (no poses have less than 1.22)")

# %%
# A log of the visit: 1.5 s in each pose, 1 s on the way to the next. The sensor reads the load of 2 kg, its bias and
# noise.

rate = 100.0  # [Hz]
u = np.linspace(0.0, 1.0, int(rate), endpoint=False)[:, None]
ease = 10.0 * u**3 - 15.0 * u**4 + 6.0 * u**5
legs = [np.repeat(chosen.poses[:1], 150, axis=0)]
for here, there in zip(chosen.poses, chosen.poses[1:], strict=False):
    legs += [here + ease * (there - here), np.repeat(there[None], 150, axis=0)]
q = np.concatenate(legs)
time = np.arange(len(q)) / rate
dq, ddq = np.gradient(q, 1.0 / rate, axis=0), np.gradient(np.gradient(q, 1.0 / rate, axis=0), 1.0 / rate, axis=0)

mount = np.eye(4)
mount[:3, 3] = [0.01, 0.02, 0.1]  # [m]
load = iparam.InertialParameters.box(2.0, [0.10, 0.15, 0.20]).transformed(mount)
bias = np.array([1.5, -0.8, 3.0, 0.05, 0.02, -0.04])  # [N, N m]
noise = np.random.default_rng(0).normal(size=(len(q), 6)) * [0.5, 0.5, 0.5, 0.02, 0.02, 0.02]
wrench = iparam.wrench_regressor(robot, q, dq, ddq) @ load.phi + bias + noise
recording = iparam.Recording("ur5e").with_signal("q", time=time, values=q)
recording = recording.with_signal("wrench", time=time, values=wrench)

# %%
# The rests are found in the log; the moves between them are left out.

estimate = iparam.identify_static(recording, robot)
half = estimate.interval_factor
print(f"mass {estimate.mass:.4f} +- {half * estimate.standard_deviation.mass:.4f} kg (95 %), truth 2 kg")
print("centre of mass [mm]", (1000 * estimate.center_of_mass).round(2), "truth [10 20 100]")
print(estimate.status)

# %%
# Each rest is one direction of gravity in the tool. Together they span all of them.

figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
axes.plot(time, wrench[:, :3], label=["x", "y", "z"])
for rest in estimate.rests:
    axes.axvspan(rest.start, rest.stop, color="0.85", zorder=0)
axes.set_xlabel("time [s]; rests in grey")
axes.set_ylabel("force in tool axes [N]")
axes.legend(title="axis")
plt.show()
