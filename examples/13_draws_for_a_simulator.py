"""
Draws for a simulator
=====================

Domain randomisation that knows what is uncertain: bodies drawn from the posterior of an identification, each of which
can exist.
"""

import matplotlib.pyplot as plt
import numpy as np

import iparam
from iparam.estimation import draw_parameters

robot = iparam.load_robot("ur5e")
size = [0.10, 0.15, 0.20]  # [m]
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size(size))
plan = iparam.optimize_excitation(problem, seed=0, starts=1)
scene = iparam.MujocoSimulator().load(robot, iparam.Payload.box(mass=2.0, size=size))
recording = iparam.noise_preset("harsh").apply(scene.run(plan.trajectory).recording, seed=7)
estimate = iparam.identify_payload(recording, robot=robot)

drawn = draw_parameters(estimate.phi, estimate.covariance_phi, count=400, seed=0)
bodies = [iparam.InertialParameters.from_phi(phi) for phi in drawn.phi]
assert all(iparam.check_consistency(body.phi).consistent for body in bodies)
print(f"{len(bodies)} bodies; {100 * drawn.share:.1f} % of the Gaussian around the estimate can exist")

# %%
# ``iparam export result.json --format mjcf --samples 400`` writes them as files.

masses = np.array([body.mass for body in bodies])
heights = 1e3 * np.array([body.center_of_mass[2] for body in bodies])
figure, axes = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
axes.plot(masses, heights, ".", markersize=4, label="draws")
axes.plot(2.0, 100.0, "k+", markersize=14, label="truth")
axes.set(xlabel="mass [kg]", ylabel="centre of mass along z [mm]")
axes.legend()
plt.show()
