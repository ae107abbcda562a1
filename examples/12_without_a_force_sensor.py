"""
Without a force sensor
======================

The load from the currents of the motors alone: a motion without it, and with it.
"""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np

import iparam
from iparam.excitation import TorqueInformation, arm_scales
from iparam.simulation import motors, with_motor_currents

robot = iparam.load_robot("ur10e")
size = [0.10, 0.15, 0.20]  # [m]
arm = TorqueInformation.of_robot(robot)
problem = iparam.planning_problem(
    robot,
    payload=iparam.PayloadBox.from_size(size),
    information=dataclasses.replace(arm, column_scales=arm_scales(arm)),
)
plan = iparam.optimize_excitation(problem, seed=0, starts=1)

# %%
# An arm with the friction, the rotors and the noisy currents that somebody measured on a UR10e.

drives = motors("ur10e")
simulator = iparam.MujocoSimulator(friction=drives.friction)
turning = robot.with_armature(drives.rotor_inertia)


def recorded(payload: iparam.Payload | None, seed: int) -> iparam.Recording:
    """Currents instead of torques."""
    run = simulator.load(turning, payload).run(plan.trajectory)
    return with_motor_currents(run.recording, drives.drive_gains, drives.current_noise, seed)


result = iparam.identify_payload_from_torque(
    recorded(None, seed=1),
    recorded(iparam.Payload.box(mass=2.0, size=size), seed=2),
    robot,
    drive_gains=drives.drive_gains,
)
low, high = result.mass_interval
print(f"mass {result.estimate.mass:.3f} kg, with 95 % from {low:.3f} to {high:.3f}; truth 2 kg")
print("centre of mass [mm]", (1000 * result.estimate.center_of_mass).round(1), "truth [0 0 100]")

# %%
# What the model leaves of each joint's torque: the noise of its current, and a little more.

figure, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
axes.bar(np.arange(1, 7), result.torque_rms, label="left over")
axes.plot(np.arange(1, 7), drives.current_noise * drives.drive_gains, "k_", markersize=26, label="noise of the current")
axes.set(xlabel="joint", ylabel="root mean square [N m]")
axes.legend()
plt.show()
