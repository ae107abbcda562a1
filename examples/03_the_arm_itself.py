"""Base parameters of an arm, and a motion that shows them all."""

import dataclasses

import iparam
from iparam.excitation import TorqueInformation, arm_scales

robot = iparam.load_robot("ur10e")
base = iparam.base_parameters(robot)
print(f"{robot.name}: {base.rank} of {10 * robot.num_joints} parameters can be told from joint torques, e.g.")
for formula in base.formulas()[:3]:
    print(" ", formula)

arm = TorqueInformation.of_robot(robot)
problem = iparam.planning_problem(robot, information=dataclasses.replace(arm, column_scales=arm_scales(arm)))
plan = iparam.optimize_excitation(problem, time_budget=1.0)  # [s]
print(f"condition number of the base regressor {plan.condition_number:.1f}")
