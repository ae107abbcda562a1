"""
A log of your own
=================

Columns with other names, milliseconds, degrees: a CSV file as a lab writes it, and what is said to read it.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import iparam

# %%
# First the log, since this page has no lab: a simulated run, written the way that somebody's script would.

robot = iparam.load_robot("ur5e")
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size([0.1, 0.1, 0.1]))
plan = iparam.optimize_excitation(problem, seed=0, starts=1)
scene = iparam.MujocoSimulator().load(robot, iparam.Payload.box(mass=1.5, size=[0.1, 0.1, 0.1]))
run = iparam.noise_preset("ur5e").apply(scene.run(plan.trajectory).recording, seed=5)
q, wrench = run.signal("q"), run.signal("wrench")
rows = np.column_stack([1e3 * q.time, np.degrees(q.values), wrench.values[: len(q.time)]])
names = ["stamp_ms"] + [f"axis_{joint}" for joint in range(1, 7)] + ["Fx", "Fy", "Fz", "Mx", "My", "Mz"]
path = Path(tempfile.mkdtemp()) / "log.csv"
np.savetxt(path, rows, delimiter=";", header=";".join(names), comments="")

# %%
# ``map`` says which columns are what; joint angles are a name with a star for the number. The same words follow
# ``--map`` on the command line. What is not said is found, and what was found is said.

recording = iparam.Recording.load(
    path,
    robot="ur5e",
    map="time=stamp_ms,q=axis_*,fx=Fx,fy=Fy,fz=Fz,tx=Mx,ty=My,tz=Mz",
    time_unit="ms",
    angles="degrees",
)
print(recording)
for remark in recording.remarks:
    print(f"{remark.severity}: {remark}")
estimate = iparam.identify_payload(recording, robot=robot)
print(f"mass {estimate.mass:.4f} +- {1.96 * estimate.standard_deviation.mass:.4f} kg (95 %), truth 1.5 kg")

# %%
# Look at what was read before believing what came out of it; in a notebook, ``recording.plot()`` does.

figure, (angles, forces) = plt.subplots(2, sharex=True, figsize=(6.4, 4.0), layout="constrained")
angles.plot(recording.signal("q").time, recording.signal("q").values)
angles.set_ylabel("joint angles [rad]")
forces.plot(recording.signal("wrench").time, recording.signal("wrench").values[:, :3])
forces.set(xlabel="time [s]", ylabel="force [N]")
plt.show()
