"""
Kinematics and dynamics
=======================

Where the tool of a UR5e is, how it moves, and what torques that takes.
"""

import matplotlib.pyplot as plt
import numpy as np

import iparam

robot = iparam.load_robot("ur5e")
q = np.radians([0.0, -90.0, 90.0, -90.0, -90.0, 0.0])  # (6,) [rad]
dq = np.array([0.5, -0.3, 0.4, 0.0, 0.2, 1.0])  # [rad/s]
ddq = np.array([1.0, 0.5, -0.5, 0.0, 0.0, 2.0])  # [rad/s^2]

motion = iparam.tool_motion(robot, q, dq, ddq)
print("tool0 in base [m]:", motion.pose[:3, 3].round(4))
print("linear acceleration of tool0, in tool0 [m/s^2]:", motion.linear_acceleration.round(3))
print("smallest singular value of the Jacobian:", iparam.smallest_singular_value(robot, q).round(3))

# %%
# The joint torques are the sum of three parts, tau = M(q) ddq + c(q, dq) + g(q).

torques = iparam.inverse_dynamics(robot, q, dq, ddq)
parts = {
    "M(q) ddq": iparam.mass_matrix(robot, q) @ ddq,
    "c(q, dq)": iparam.coriolis_centrifugal(robot, q, dq),
    "g(q)": iparam.gravity_torques(robot, q),
}
print("joint torques [N m]:", torques.round(2))
assert np.allclose(torques, sum(parts.values()))

# %%
# In this pose the arm mostly carries itself.

figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
joints = np.arange(robot.num_joints)
for shift, (name, values) in zip((-0.27, 0.0, 0.27), parts.items(), strict=True):
    axes.bar(joints + shift, values, width=0.25, label=name)
axes.plot(joints, torques, "k_", markersize=22, label="sum")
axes.set_xticks(joints, [f"joint {joint + 1}" for joint in joints])
axes.set_ylabel("torque [N m]")
axes.legend()
plt.show()
