"""
The arm itself
==============

Base parameters of an arm, and a motion that shows them all.
"""

import dataclasses

import matplotlib.pyplot as plt

import iparam
from iparam.excitation import TorqueInformation, arm_scales

robot = iparam.load_robot("ur10e")
base = iparam.base_parameters(robot)
print(f"{robot.name}: {base.rank} of {10 * robot.num_joints} parameters can be told from joint torques, e.g.")
for formula in base.formulas()[:3]:
    print(" ", formula)

# %%
# A motion for all of them; ``iparam excite optimize --identify robot`` does the same on the command line.

arm = TorqueInformation.of_robot(robot)
problem = iparam.planning_problem(robot, information=dataclasses.replace(arm, column_scales=arm_scales(arm)))
plan = iparam.optimize_excitation(problem, time_budget=1.0)  # [s]
print(f"condition number of the base regressor {plan.condition_number:.1f}")

# %%
# It uses the whole range of every joint, which is what tells the links apart.

motion = plan.trajectory.sample(fps=100.0)
figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for joint in range(robot.num_joints):
    axes.plot(motion.time, motion.q[:, joint], label=f"joint {joint + 1}")
axes.set_xlabel("time [s]")
axes.set_ylabel("angle [rad]")
axes.legend(ncols=3, fontsize="small")
plt.show()
