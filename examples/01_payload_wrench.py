"""
The wrench of a payload
=======================

What a wrist sensor reads is linear in the payload's ten parameters, y = A phi.
"""

import matplotlib.pyplot as plt
import numpy as np

import iparam

robot = iparam.load_robot("ur5e")

# A 2 kg box of 10 x 15 x 20 cm, its centre 10 cm in front of the flange.
mount = np.eye(4)
mount[2, 3] = 0.1  # [m]
payload = iparam.InertialParameters.box(2.0, [0.10, 0.15, 0.20]).transformed(mount)
print("phi:", payload.phi.round(5))
print(iparam.check_consistency(payload.phi))

# %%
# A whole motion at once: every function takes any leading batch shape.

rng = np.random.default_rng(0)
trajectory = iparam.WindowedFourierTrajectory(
    q0=np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0]),
    a=rng.uniform(-0.2, 0.2, (6, 5)),  # [rad]
    b=rng.uniform(-0.2, 0.2, (6, 5)),
    base_freq=0.1,  # [Hz]
    duration=10.0,  # [s]
)
motion = trajectory.sample(fps=100.0)
A = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq)  # (1001, 6, 10)
y = A @ payload.phi  # (1001, 6) [force, torque] that the robot exerts on the payload, in tool0
print("largest force [N]:", np.linalg.norm(y[:, :3], axis=1).max().round(2))
print("condition number of the stacked regressor:", np.linalg.cond(A.reshape(-1, 10)).round(1))

# %%
# The same seen from the arm: its joints carry that wrench at the tip.

carried = iparam.inverse_dynamics(robot, motion.q, motion.dq, motion.ddq, tip_wrench=y[:, [3, 4, 5, 0, 1, 2]])
heavier = iparam.inverse_dynamics(robot.with_payload(payload), motion.q, motion.dq, motion.ddq)
assert np.allclose(carried, heavier)

# %%
# Which part of the torque about x comes from which parameters? Weight and centre of mass make nearly all of it, which
# is why inertia is the hard part of identification.

figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for name, columns in {"mass and centre of mass": slice(0, 4), "inertia": slice(4, 10)}.items():
    axes.plot(motion.time, A[:, 3, columns] @ payload.phi[columns], label=name)
axes.set_xlabel("time [s]")
axes.set_ylabel("torque about x of the tool [N m]")
axes.legend()
plt.show()
