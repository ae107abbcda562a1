"""
Plan, simulate, identify
========================

The whole job: plan a motion, simulate it with noise, identify the payload, compare with the truth.
"""

import matplotlib.pyplot as plt

import iparam

robot = iparam.load_robot("ur5e")
size = [0.10, 0.15, 0.20]  # [m]
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size(size))
plan = iparam.optimize_excitation(problem, time_budget=1.0)  # [s]; 30 for the best motion
print(f"condition number {plan.condition_number:.2f}, from {len(plan.starts)} starts")
for margin in plan.margins:
    print(" ", margin)

# %%
# MuJoCo has the force/torque sensor between flange and payload; the noise is that of a UR5e's sensors.

scene = iparam.MujocoSimulator().load(robot, iparam.Payload.box(mass=2.0, size=size))
run = scene.run(plan.trajectory)
recording = iparam.noise_preset("ur5e").apply(run.recording, seed=1)

estimate = iparam.identify_payload(recording, robot=robot)
print(f"mass {estimate.mass:.4f} +- {1.96 * estimate.standard_deviation.mass:.4f} kg (95 %), truth 2 kg")
print("centre of mass [mm]", (1000 * estimate.center_of_mass).round(2))
print("inertia about it [kg m^2]", estimate.inertia_about_com.round(6).tolist())
assert estimate.physically_consistent

# %%
# All ten parameters, their errors in standard deviations: most within one, nearly all within two. In a notebook,
# ``estimate.plot()`` draws the values themselves with their 95 % intervals.

names = ["m", "m cx", "m cy", "m cz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"]
figure, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
axes.bar(names, (estimate.phi - run.truth.payload.phi) / estimate.standard_deviation.phi)
axes.axhspan(-1.96, 1.96, color="0.9", zorder=0, label="95 %")
axes.set_ylabel("error / standard deviation")
axes.legend()
plt.show()
