"""The whole job: plan a motion, simulate it with noise, identify the payload, compare with the truth."""

import iparam

robot = iparam.load_robot("ur5e")
size = [0.10, 0.15, 0.20]  # [m]
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size(size))
plan = iparam.optimize_excitation(problem, time_budget=1.0)  # [s]; 30 for the best motion
print(f"condition number {plan.condition_number:.2f}, from {len(plan.starts)} starts")
for margin in plan.margins:
    print(" ", margin)

scene = iparam.MujocoSimulator().load(robot, iparam.Payload.box(mass=2.0, size=size))
run = scene.run(plan.trajectory)
recording = iparam.noise_preset("ur5e").apply(run.recording, seed=1)

estimate = iparam.identify_payload(recording, robot=robot)
print(f"mass {estimate.mass:.4f} +- {1.96 * estimate.standard_deviation.mass:.4f} kg, truth 2 kg")
print("centre of mass [mm]", (1000 * estimate.center_of_mass).round(2))
print("inertia about it [g m^2]", (1000 * estimate.inertia_about_com).round(3).tolist())
assert estimate.physically_consistent
