"""Loads as people build them, for `bench_shape.py`.

Built: one to three boxes, cylinders and spheres of wood, plastics and metals, turned or not, some of them hollow with
walls of 1.5 to 10 mm, empty or with something in them, some with an insert of another material. Nothing of this is
taken from what iparam assumes; moments are exact. All are off their place by 1 mm and 0.6 degrees, and off their size
by 0.5 %.
"""

from __future__ import annotations

import numpy as np
from shape_loads import (
    LOAD_HEADER,
    MOUNTING,
    Found,
    load_cells,
    scored,
    slow_motion,
)
from side_by_side import in_workers, print_table

import iparam
from iparam.arrays import FloatArray
from iparam.estimation import Shape, ShapeEstimator
from iparam.spatial.phi import phi_from_pseudo_inertia

MATERIALS = (600.0, 1050.0, 1200.0, 1410.0, 2700.0, 2700.0, 2700.0, 7850.0, 7850.0, 8500.0)
"""Of wood, ABS, PC, POM, aluminium, steel and brass, as often as they are used [kg/m^3]."""

MASSES = (0.2, 6.0)
"""What the arm carries [kg]."""

VOLUME = {"box": 8.0, "cylinder": 2.0 * np.pi, "sphere": 4.0 / 3.0 * np.pi}
"""In units of the product of its half extents."""

SECOND = {"box": np.full(3, 1 / 3), "cylinder": np.array([1 / 4, 1 / 4, 1 / 3]), "sphere": np.full(3, 1 / 5)}
"""Second moments along its axes, in units of the squares of these."""


def moments(form: str, half: FloatArray, center: FloatArray, density: float) -> FloatArray:
    """(4, 4) pseudo-inertia of a solid body with half extents (3,), along the axes."""
    place = np.array([*center, 1.0])
    found = np.outer(place, place)
    found[:3, :3] += np.diag(SECOND[form] * half**2)
    return density * VOLUME[form] * float(np.prod(half)) * found


def filled(form: str, half: FloatArray) -> FloatArray:
    """(k, 3) points that fill it evenly and have exactly its second moments."""
    steps = (np.arange(12) + 0.5) / 6.0 - 1.0
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    across = grid[:, :2] if form == "cylinder" else grid
    inside = grid if form == "box" else grid[np.linalg.norm(across, axis=1) <= 1.0]
    return np.asarray(inside * np.sqrt(SECOND[form] / np.mean(inside**2, axis=0)) * half)


def built_part(rng: np.random.Generator, form: str, half: FloatArray) -> tuple[FloatArray, str]:
    """(4, 4) pseudo-inertia of a part about its middle, and what it is: solid, hollow, filled, or with an insert."""
    middle, density = np.zeros(3), rng.choice(MATERIALS) * np.exp(rng.normal(0.0, 0.03))
    kind = str(rng.choice(["solid", "hollow", "filled", "insert"], p=[0.55, 0.2, 0.15, 0.1]))
    inside = half - np.exp(rng.uniform(np.log(0.0015), np.log(0.01)))
    if kind in ("hollow", "filled") and inside.min() <= 0.001:
        kind = "solid"
    found = moments(form, half, middle, density)
    if kind == "insert":
        size = rng.uniform(0.2, 0.6, 3) * half
        place = 0.7 * (half - size) * rng.uniform(-1.0, 1.0, 3)
        found = found + moments("box", size, place, rng.choice(MATERIALS) - density)
    elif kind != "solid":
        found = found - moments(form, inside, middle, density)
        if kind == "filled":
            size = rng.uniform(0.3, 0.6, 3) * inside
            place = 0.7 * (inside - size) * rng.uniform(-1.0, 1.0, 3)
            found = found + moments("box", size, place, rng.uniform(800.0, 4000.0))
    return found, kind


def built_load(rng: np.random.Generator) -> tuple[Shape, iparam.InertialParameters, str]:
    """A shape, a load of it, and whether all its parts are solid, some or none."""
    pseudo = np.zeros((4, 4))
    while not MASSES[0] < pseudo[3, 3] < MASSES[1]:
        pseudo, top = np.zeros((4, 4)), 0.0
        points, volumes, names, kinds = [], [], [], []
        for index in range(int(rng.choice([1, 2, 3], p=[0.4, 0.35, 0.25]))):
            form = str(rng.choice(["box", "cylinder", "sphere"], p=[0.5, 0.4, 0.1]))
            half = np.exp(rng.uniform(np.log(0.01), np.log(0.08), 3))
            half[1] = half[1] if form == "box" else half[0]
            half[2] = half[0] if form == "sphere" else half[2]
            turn = iparam.spatial.exp_so3(rng.normal(0.0, 1.0, 3) * (rng.random() < 0.3))
            reach = float((np.abs(turn) @ half)[2])
            T = iparam.spatial.transform_from(turn, np.array([*rng.normal(0.0, 0.03, 2), top + reach]))
            top += 2.0 * reach
            part, kind = built_part(rng, form, half)
            pseudo += T @ part @ T.T
            own = filled(form, half) @ turn.T + T[:3, 3]
            points.append(own)
            volumes.append(np.full(len(own), VOLUME[form] * float(np.prod(half)) / len(own)))
            names += [f"part{index}"] * len(own)
            kinds.append(kind)
    off = iparam.spatial.exp_se3(np.concatenate([rng.normal(0.0, 0.01, 3), rng.normal(0.0, 0.001, 3)]))
    off = off @ np.diag([*(1.0 + rng.normal(0.0, 0.005, 3)), 1.0])
    truth = iparam.InertialParameters.from_phi(phi_from_pseudo_inertia(off @ pseudo @ off.T))
    solid = kinds.count("solid")
    word = "all parts solid" if solid == len(kinds) else "some parts solid" if solid else "no part solid"
    return Shape.from_points(np.vstack(points), np.concatenate(volumes), names), truth, word


def simulated(index: int) -> tuple[str, Found]:
    """One in MuJoCo, by the motion of `shape_loads`."""
    shape, truth, word = built_load(np.random.default_rng([2030, index]))
    robot = iparam.load_robot("ur5e")
    run = iparam.simulation.MujocoSimulator().load(robot, iparam.Payload.from_parameters(truth)).run(slow_motion())
    recording = iparam.noise_preset("ur5e").apply(run.recording, 1000 + index)
    found = iparam.identify_payload(recording, robot, ShapeEstimator(shape), correction=MOUNTING)
    return word, scored(found, iparam.identify_payload(recording, robot, correction=MOUNTING), truth)


def bench_built(count: int) -> None:
    """Errors and coverage of loads of real materials that MuJoCo moves slowly."""
    _print(list(in_workers(simulated, range(count))), "Loads of real materials and walls in MuJoCo, as above")


def _print(done: list[tuple[str, Found]], title: str) -> None:
    rows = []
    for word in (*sorted({word for word, _ in done}), "all"):
        own = [one for name, one in done if word in (name, "all")]
        rows.append([f"{len(own)} {word}", *load_cells(own)])
    print_table(f"{title}; inertia in % of its largest moment", LOAD_HEADER, rows)
