"""
A gripper and what it holds
===========================

Identify the gripper alone, then with a part in it: the difference is the part, with intervals that hold both errors.
"""

import matplotlib.pyplot as plt
import numpy as np

import iparam

robot = iparam.load_robot("ur5e")
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size([0.10, 0.10, 0.24]))
plan = iparam.optimize_excitation(problem, seed=0, starts=1)
simulator = iparam.MujocoSimulator()
noise = iparam.noise_preset("ur5e")

gripper = iparam.InertialParameters.box(0.9, [0.08, 0.08, 0.14]).transformed(
    np.block([[np.eye(3), np.array([[0.0], [0.0], [0.07]])], [np.zeros((1, 3)), 1.0]])
)
part = iparam.InertialParameters.box(0.6, [0.10, 0.04, 0.06]).transformed(
    np.block([[np.eye(3), np.array([[0.01], [0.0], [0.18]])], [np.zeros((1, 3)), 1.0]])
)


def identified(body: iparam.InertialParameters, seed: int) -> iparam.Estimate:
    """One run with a body on the flange."""
    run = simulator.load(robot, iparam.Payload.from_parameters(body)).run(plan.trajectory)
    return iparam.identify_payload(noise.apply(run.recording, seed=seed), robot=robot)


alone = identified(gripper, seed=1)
together = identified(iparam.InertialParameters.from_phi(gripper.phi + part.phi), seed=2)
difference = iparam.combine_estimates(together, alone, minus=True)
print(difference)

# %%
# ``iparam combine both.json gripper.json --minus`` is the same on the command line.

figure, axes = plt.subplots(1, 2, figsize=(7.0, 3.2), layout="constrained")
found = {"gripper": alone, "both": together, "part": difference}
truths = {"gripper": gripper.mass, "both": gripper.mass + part.mass, "part": part.mass}
for row, (name, estimate) in enumerate(found.items()):
    half = 1.96e3 * estimate.standard_deviation.mass
    axes[0].errorbar(1e3 * (estimate.mass - truths[name]), row, xerr=half, fmt="o", capsize=4)
axes[0].axvline(0.0, color="0.5", linewidth=1)
axes[0].set_yticks(range(3), [f"{name}, {truths[name]:.1f} kg" for name in found])
axes[0].set_xlabel("error of the mass [g]")
axes[1].errorbar(
    range(3),
    1e3 * (difference.center_of_mass - part.center_of_mass),
    yerr=1.96e3 * difference.standard_deviation.center_of_mass,
    fmt="o",
    capsize=4,
)
axes[1].axhline(0.0, color="0.5", linewidth=1)
axes[1].set_xticks(range(3), ["x", "y", "z"])
axes[1].set_ylabel("error of the part's centre of mass [mm]")
plt.show()
