"""
When the data are wrong
=======================

A sensor that is mounted with a quarter turn gives a smooth, plausible and wrong result. iparam refutes it, names the
cause, and puts it right when it is told to.
"""

import matplotlib.pyplot as plt
import numpy as np

import iparam
from iparam.sensing import Correction

robot = iparam.load_robot("ur5e")
size = [0.10, 0.15, 0.20]  # [m]
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size(size))
plan = iparam.optimize_excitation(problem, seed=0, starts=1)
scene = iparam.MujocoSimulator().load(robot, iparam.Payload.box(mass=2.0, size=size, offset=[0.03, 0.0, 0.1]))
sound = iparam.noise_preset("ur5e").apply(scene.run(plan.trajectory).recording, seed=2)

# %%
# The mistake: x of the sensor is y of the tool.

wrench = sound.signal("wrench")
turned = wrench.values[:, [1, 0, 2, 4, 3, 5]] * [1.0, -1.0, 1.0, 1.0, -1.0, 1.0]
recording = sound.with_signal("wrench", time=wrench.time, values=turned)

wrong = iparam.identify_payload(recording, robot=robot)
print(f"mass {wrong.mass:.3f} kg; refuted: {wrong.refutation.reason}")
for cause in wrong.causes:
    print(f"- {cause.cause}: {cause.sentence}")

# %%
# Estimated along with the load, the rotation is counted in the intervals.

right = iparam.identify_payload(recording, robot=robot, correction=Correction(sensor_rotation="estimate"))
print(f"mass {right.mass:.4f} +- {1.96 * right.standard_deviation.mass:.4f} kg (95 %), truth 2 kg")
print("centre of mass [mm]", (1000 * right.center_of_mass).round(2), "truth [30 0 100]")

# %%
# What is left of the force, as it is and with the first cause put right.

figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
best = wrong.causes[0]
for name, rms in {"as it is": best.residual_before, "sensor turned back": best.residual_after}.items():
    axes.barh(name, rms)
    axes.annotate(f" {rms:.2f} N", (rms, name), va="center")
axes.set_xlabel("root mean square of what is left of the force [N]")
axes.margins(x=0.15)
plt.show()
assert np.abs(right.center_of_mass - [0.03, 0.0, 0.1]).max() < 1e-3
