"""Where the tool of a UR5e is, how it moves, and what torques that takes."""

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

# tau = M(q) ddq + c(q, dq) + g(q)
torques = iparam.inverse_dynamics(robot, q, dq, ddq)
parts = iparam.mass_matrix(robot, q) @ ddq, iparam.coriolis_centrifugal(robot, q, dq), iparam.gravity_torques(robot, q)
print("joint torques [N m]:", torques.round(2))
assert np.allclose(torques, sum(parts))
