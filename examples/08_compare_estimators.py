"""
Compare estimators
==================

Three of the nine estimators on the same twenty recordings, and the bound that none of them can beat.
"""

import matplotlib.pyplot as plt
import numpy as np

import iparam
from iparam.estimation import compare_methods
from iparam.excitation import predict_precision
from iparam.sensing import MeasurementNoise

robot = iparam.load_robot("ur5e")
size = [0.10, 0.15, 0.20]  # [m]
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size(size))
plan = iparam.optimize_excitation(problem, seed=0, starts=1)
scene = iparam.MujocoSimulator().load(robot, iparam.Payload.box(mass=2.0, size=size))
run = scene.run(plan.trajectory)
noise = iparam.noise_preset("ur5e")
truth = run.truth.payload

# %%
# One motion, twenty draws of the sensors' noise.

methods = ("consistent", "robust", "ls")
errors = {method: [] for method in methods}
for seed in range(20):
    compared = compare_methods(noise.apply(run.recording, seed=seed), robot, methods)
    for method, estimate in compared.estimates.items():
        errors[method].append(estimate.inertia_about_com[0, 0] - truth.inertia_about_com[0, 0])

# %%
# The Cramer-Rao bound of the same noise, known before anything moved.

bound = predict_precision(plan.trajectory, robot, truth, MeasurementNoise.from_model(noise))
deviation = np.sqrt(bound.covariance_derived[4, 4])  # of Ixx about the centre of mass [kg m^2]
for method, found in errors.items():
    print(f"{method:10}  error / bound {np.sqrt(np.mean(np.square(found))) / deviation:.2f}")

# %%
# Twenty draws are few; ``benchmarks/bench_estimation.py`` does it with hundreds, on all cores.

figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
for row, found in enumerate(errors.values()):
    axes.plot(found, np.full(len(found), row), "o", alpha=0.6)
axes.set_yticks(range(len(errors)), list(errors))
axes.axvspan(-1.96 * deviation, 1.96 * deviation, color="0.9", zorder=0, label="95 % of the bound")
axes.axvline(0.0, color="0.5", linewidth=1)
axes.set_xlabel("error of the largest moment of inertia [kg m^2]")
axes.legend()
plt.show()
