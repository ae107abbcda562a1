"""
Slow motion and a known shape
=============================

Near people an arm moves slowly, and slow motion hardly shows inertia. A mesh of the part knows where its mass can be.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import trimesh

import iparam
from iparam.estimation import ShapeEstimator, load_shape

robot = iparam.load_robot("ur5e")
size = [0.06, 0.10, 0.20]  # [m]
problem = iparam.planning_problem(robot, payload=iparam.PayloadBox.from_size(size))
plan = iparam.optimize_excitation(problem, seed=0, starts=1)
slow = plan.trajectory.time_scaled(6.0)

# %%
# A steel bar of 9.4 kg would be too heavy; this is a plastic one of 1.4 kg, and nobody tells the estimator so.

payload = iparam.Payload.box(mass=1.4, size=size)
run = iparam.MujocoSimulator().load(robot, payload).run(slow)
recording = iparam.noise_preset("ur5e").apply(run.recording, seed=1)

part = trimesh.creation.box(extents=size)
part.apply_translation([0.0, 0.0, size[2] / 2])  # in the tool frame: it stands on the flange
path = Path(tempfile.mkdtemp()) / "part.stl"
part.export(path)

without = iparam.identify_payload(recording, robot=robot)
with_shape = iparam.identify_payload(recording, robot=robot, method=ShapeEstimator(load_shape(path)))

# %%
# The mesh narrows what motion leaves open, most about the axis that this motion hardly turns. Nothing is assumed to be
# homogeneous: that the bar may be hollow or heavier at one end is part of the interval.

truth = run.truth.payload
names = ["Ixx", "Iyy", "Izz"]
figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
found = {"motion alone": without, "with the mesh": with_shape}
for shift, (label, estimate) in zip((-0.12, 0.12), found.items(), strict=True):
    values = np.diag(estimate.inertia_about_com)
    half = 1.96 * np.diag(estimate.standard_deviation.inertia_about_com)
    each = [f"{name} {v:.5f} +- {h:.5f}" for name, v, h in zip(names, values, half, strict=True)]
    print(label, each, "kg m^2 (95 %)")
    axes.errorbar(np.arange(3) + shift, values, yerr=half, fmt="o", capsize=4, label=label)
axes.plot(np.arange(3), np.diag(truth.inertia_about_com), "k_", markersize=30, label="truth")
axes.set_xticks(range(3), names)
axes.set_ylabel("about the centre of mass [kg m^2]")
axes.legend()
plt.show()
