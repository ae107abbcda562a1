"""Invented loads on a UR5e, for `bench_shape.py`: payloads, and at rest.

Loads are two boxes off the axis. Their densities differ by part, and are of four kinds: 30 % solid, 20 % castings, 20 %
housings with something in them, 30 % shells or cores. All are off the place of their shape by 1 mm and 0.6 degrees.
"""

from __future__ import annotations

import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls
from side_by_side import in_workers, print_table

import iparam
from iparam.arrays import FloatArray
from iparam.estimation import ConsistentLeastSquares, Estimate, PayloadProblem, Shape, ShapeEstimator
from iparam.rounding import NORMAL_95
from iparam.sensing.correction import Correction

KINDS = ("solid",) * 3 + ("casting",) * 2 + ("housing",) * 2 + ("shell or core",) * 3


def kind_of(index: int) -> str:
    """Of the load of that number."""
    return KINDS[index % len(KINDS)]


def covered(estimate: Estimate, truth: iparam.InertialParameters) -> FloatArray:
    """(10,) whether the 95 % intervals of mass, centre of mass and inertia hold the truth."""
    deviation = estimate.standard_deviation
    six = np.triu_indices(3)
    found = [estimate.mass, *estimate.center_of_mass, *estimate.inertia_about_com[six]]
    true = [truth.mass, *truth.center_of_mass, *truth.inertia_about_com[six]]
    half = NORMAL_95 * np.array([deviation.mass, *deviation.center_of_mass, *deviation.inertia_about_com[six]])
    return np.asarray(np.abs(np.subtract(found, true)) <= half, dtype=float)


@functools.cache
def wrist_regressors(pace: float, rate: float = 125.0) -> tuple[FloatArray, FloatArray, float]:
    """Times, regressors of a UR5e whose wrist turns for 10 s, and the speed of its tool at most [m/s].

    Args:
        pace: 1 for slow; accelerations grow with its square.
        rate: samples a second.
    """
    robot, time = iparam.load_robot("ur5e"), np.arange(0.0, 10.0, 1.0 / rate)
    home, size = np.array([0.0, -1.4, 1.5, -1.6, -1.5, 0.0]), np.array([0.0, 0.0, 0.05, 0.7, 0.8, 1.0])
    turns, phase = pace * 2.0 * np.pi * np.array([0.1, 0.1, 0.1, 0.1, 0.13, 0.17]), np.arange(6.0)
    angle = turns * time[:, None] + phase
    q, dq, ddq = home + size * np.sin(angle), size * turns * np.cos(angle), -size * turns**2 * np.sin(angle)
    twist = np.linalg.norm((iparam.jacobian(robot, q) @ dq[..., None])[..., 0][:, 3:], axis=1)
    return time, iparam.wrench_regressor(robot, q, dq, ddq), float(twist.max())


GRID = 16  # cells along each edge of a box: a shell is one of them thick, or more


def invented_load(rng: np.random.Generator, kind: str) -> tuple[Shape, iparam.InertialParameters]:
    """A shape of two boxes off the axis, and a load of that kind, not quite in its place."""
    points, volumes, parts, density = [], [], [], []
    steps = (np.arange(GRID) + 0.5) / GRID - 0.5
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    for name, place in (("base", 0.05), ("arm", 0.14)):
        size = rng.uniform([0.03, 0.03, 0.03], [0.15, 0.15, 0.12])
        points.append(np.array([*rng.uniform(-0.05, 0.05, 2), place]) + grid * size)
        volumes.append(np.full(len(grid), np.prod(size) / len(grid)))
        parts += [name] * len(grid)
        density.append(np.exp(rng.normal(7.6, 0.7)) * course(rng, kind, grid, points[-1]))
    place, volume = np.vstack(points), np.concatenate(volumes)
    shape = Shape.from_points(place, volume, parts)
    off = iparam.spatial.exp_se3(np.concatenate([rng.normal(0.0, 0.01, 3), rng.normal(0.0, 0.001, 3)]))
    true = place @ off[:3, :3].T + off[:3, 3]
    homogeneous = np.column_stack([true, np.ones(len(true))])
    mass = np.concatenate(density) * volume
    phi = iparam.spatial.phi_from_pseudo_inertia((homogeneous * mass[:, None]).T @ homogeneous)
    return shape, iparam.InertialParameters.from_phi(phi * rng.uniform(0.5, 3.0) / phi[0])


def course(rng: np.random.Generator, kind: str, grid: FloatArray, points: FloatArray) -> FloatArray:
    """(n,) how dense a part is at its points (n, 3), which are at (n, 3) in its unit cube, up to a factor."""
    inside = np.abs(grid).max(axis=1) < rng.uniform(0.25, 0.46)
    lump = np.linalg.norm(grid - rng.uniform(-0.25, 0.25, 3), axis=1) < rng.uniform(0.15, 0.3)
    found = np.ones(len(grid))
    if kind == "casting":  # waves of any direction
        for _ in range(4):
            wave, phase = rng.normal(0.0, 25.0, 3), rng.uniform(0.0, 2.0 * np.pi)
            found = found * np.exp(rng.uniform(0.0, 0.3) * np.sin(points @ wave + phase))
    elif kind == "housing":
        found[inside] = rng.uniform(0.05, 0.3)
        found[lump] = rng.uniform(1.0, 3.0)
    elif kind == "shell or core":
        found[inside] = rng.choice([0.02, rng.uniform(2.0, 6.0)])
    return found


@dataclass(frozen=True, eq=False)
class Found:
    """One load: errors of its inertia are in % of its largest moment.

    Attributes:
        error: the largest with the shape; without: the 95 % interval without it.
        covers: (k,) whether the intervals hold the truth.
        relative: the error of the inertia over the inertia, Frobenius norms; stated: its standard deviation in the
            result.
    """

    error: float
    without: float
    covers: FloatArray
    relative: float = 0.0
    stated: float = 0.0


def scored(found: Estimate, alone: Estimate | None, truth: iparam.InertialParameters) -> Found:
    largest = np.linalg.eigvalsh(truth.inertia_about_com)[-1]
    off = found.inertia_about_com - truth.inertia_about_com
    half = np.inf if alone is None else np.nan_to_num(alone.standard_deviation.inertia_about_com, nan=np.inf).max()
    return Found(
        100.0 * float(np.abs(off).max() / largest),
        100.0 * NORMAL_95 * float(half / largest),
        covered(found, truth),
        float(np.linalg.norm(off) / np.linalg.norm(truth.inertia_about_com)),
        float(np.linalg.norm(found.standard_deviation.inertia_about_com) / np.linalg.norm(truth.inertia_about_com)),
    )


LOAD_HEADER = ["loads", "largest error: median", "90 %", "within 5 %", "95 % interval without", "cover %"]


def load_rows(done: list[Found]) -> list[list[str]]:
    """A row for each kind, and one for all."""
    kinds = np.array([kind_of(index) for index in range(len(done))])
    rows = []
    for name in (*dict.fromkeys(KINDS), "all"):
        own = [one for one, kind in zip(done, kinds, strict=True) if name in (kind, "all")]
        if own:
            rows.append([f"{len(own)} {name}", *load_cells(own)])
    return rows


def load_cells(own: list[Found]) -> list[str]:
    errors, covers = np.array([one.error for one in own]), np.array([one.covers for one in own])
    return [
        f"{np.median(errors):.1f}",
        f"{np.quantile(errors, 0.9):.1f}",
        f"{100 * np.mean(errors <= 5.0):.0f}",
        f"{np.median([one.without for one in own]):.0f}",
        f"{100 * covers.mean():.1f} ({100 * covers.mean(axis=0).min():.0f})",
    ]


def noisy_wrist(index: int, pace: float, truth: iparam.InertialParameters, rng: np.random.Generator) -> PayloadProblem:
    """What a wrist sensor with the noise of a UR5e's, and a bias, tells of a load; the motion is known exactly."""
    time, A, _ = wrist_regressors(pace)
    noise, offset = np.repeat([0.5, 0.05], 3), rng.normal(0.0, 1.0, 6) * np.repeat([1.0, 0.05], 3)
    return PayloadProblem(A, A @ truth.phi + offset + noise * rng.standard_normal((len(A), 6)), time)


def with_and_without(index: int) -> Found:
    rng = np.random.default_rng([2025, index])
    shape, truth = invented_load(rng, kind_of(index))
    problem = noisy_wrist(index, 1.0, truth, rng)
    return scored(ShapeEstimator(shape).fit(problem), ConsistentLeastSquares().fit(problem), truth)


def bench_payloads(count: int) -> None:
    """Errors and coverage over loads, with the shape and without, at a tool speed that people may be near."""
    title = (
        f"{count} loads, UR5e, 10 s, tool at {wrist_regressors(1.0)[2]:.2f} m/s at most, noise ur5e; "
        "inertia in % of its largest moment"
    )
    print_table(title, LOAD_HEADER, load_rows(list(in_workers(with_and_without, range(count)))))


SPEED = 0.25  # of the tool [m/s]

MOUNTING = Correction(gravity=(0.0, 0.0, -9.81), sensor_offset=(0.0, 0.0, 0.0), sensor_rotation=(0.0, 0.0, 0.0))
"""What is known of the simulated arm: without it, the intervals hold a tilted base and a misplaced sensor, too."""


@functools.cache
def slow_motion() -> iparam.Trajectory:
    """10 s of a UR5e that nobody near has to fear: a wrist that turns to and fro."""
    robot = iparam.load_robot("ur5e")
    home = np.array([0.0, -1.4, 1.5, -1.6, -1.5, 0.0])
    size = np.zeros((6, 2))
    size[3:, 0], size[3:, 1] = (0.7, 0.0, 0.5), (0.0, 0.4, 0.3)
    found = iparam.WindowedFourierTrajectory(home, size, -0.7 * size[:, ::-1], base_freq=0.1, duration=10.0)
    motion = found.sample(100.0)
    twist = (iparam.jacobian(robot, motion.q) @ motion.dq[..., None])[..., 0]
    assert np.linalg.norm(twist[:, 3:], axis=1).max() < SPEED
    return found


def write_obj(path: Path, shape: Shape) -> None:
    """The boxes around the parts, one object each."""
    lines, count = [], 0
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    faces = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    for part in shape.parts:
        # Points are the middles of cells.
        low, high = part.outline.min(axis=0), part.outline.max(axis=0)
        edge = 0.5 * (high - low) / (GRID - 1)
        low, high = low - edge, high + edge
        lines += [f"o {part.name}", *(f"v {x:.9f} {y:.9f} {z:.9f}" for x, y, z in low + corners * (high - low))]
        lines += ["f " + " ".join(str(count + corner) for corner in face) for face in faces]
        count += 8
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def as_obj(shape: Shape) -> Shape:
    """The shape as its OBJ file has it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.obj"
        write_obj(path, shape)
        return iparam.estimation.load_shape(path)


@functools.cache
def rest_poses(index: int) -> FloatArray:
    return np.asarray(iparam.excitation.choose_poses(iparam.planning_problem(iparam.load_robot("ur5e")), 6).poses)


def rest_rows(truth: iparam.InertialParameters, rng: np.random.Generator) -> iparam.StaticEstimate:
    """What six rests of 1 s tell of a load, with the noise of a UR5e's sensor and a bias."""
    robot, poses = iparam.load_robot("ur5e"), rest_poses(0)
    sensor = iparam.sensing.MeasurementNoise.from_model(iparam.noise_preset("ur5e")).wrench
    q = np.repeat(poses, 500, axis=0)
    still, time = np.zeros_like(q), np.arange(len(q)) / 500.0
    y = iparam.wrench_regressor(robot, q, still, still) @ truth.phi + sensor * rng.standard_normal((len(q), 6))
    recording = iparam.Recording(robot="ur5e").with_signal("q", time=time, values=q)
    recording = recording.with_signal("wrench", time=time, values=y + rng.normal(0.0, 1.0, 6) * np.repeat([1, 0.05], 3))
    return iparam.estimation.identify_static(recording, robot)


def about(place: FloatArray, matrix: FloatArray, by: FloatArray | float = 0.0) -> FloatArray:
    """(4, 4) a map (3, 3) about a place (3,), and a shift (3,) [m]."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = matrix, place - matrix @ place + by
    return T


def misstated(
    shape: Shape, truth: iparam.InertialParameters, other: Shape, rng: np.random.Generator
) -> dict[str, Shape]:
    """What people may say of a load: what is right, and what is not."""
    edges, middle = shape.bounds
    edges = edges * GRID / (GRID - 1)  # of the boxes, whose points are the middles of cells
    aside = rng.normal(0.0, 1.0, 3)
    aside /= np.linalg.norm(aside)
    # Masses of the parts that have the mass and the centre of mass of the load, as a scale and a drawing would give.
    columns = np.column_stack([part.phi[:4] / part.volume for part in shape.parts])
    masses = nnls(columns / [[1.0], [0.1], [0.1], [0.1]], truth.phi[:4] / [1.0, 0.1, 0.1, 0.1])[0]
    density = {part.name: max(mass, 1e-3) / part.volume for part, mass in zip(shape.parts, masses, strict=True)}

    def given(factor: float) -> Shape:
        top = {name: min(factor * value, 22e3) for name, value in density.items()}
        return shape.with_densities({name: (0.9 * value, 1.1 * value) for name, value in top.items()})

    def moved(matrix: FloatArray, by: FloatArray) -> Shape:
        return shape.deformed(about(middle, matrix, by))

    return {
        "right": shape,
        "right, densities within 10 %": given(1.0),
        "densities three times too large": given(3.0),
        "densities half": given(0.5),
        "20 mm off": moved(np.eye(3), 0.02 * aside),
        "100 mm off": moved(np.eye(3), 0.1 * aside),
        "another load": other,
        "mirrored": moved(np.diag([-1.0, 1.0, 1.0]), np.zeros(3)),
        "scaled by 1.2": moved(1.2 * np.eye(3), np.zeros(3)),
        "box that fits": Shape.box(edges + 0.004, middle),
        "box of twice the size": Shape.box(2.0 * edges, middle + 0.4 * edges * rng.uniform(-1.0, 1.0, 3)),
        "box of four times the size": Shape.box(4.0 * edges, middle + 1.4 * edges * rng.uniform(-1.0, 1.0, 3)),
        "box 100 mm off": Shape.box(edges, middle + 0.1 * aside),
        "box of a third of the size": Shape.box(edges / 3.0, middle),
    }


@dataclass(frozen=True, eq=False)
class Said:
    """What a result says of a shape: left out or believed; and whether intervals hold the truth."""

    left_out: bool
    covers: FloatArray


def said_at_rest(index: int) -> dict[str, Said]:
    rng = np.random.default_rng([2029, index])
    shape, truth = invented_load(rng, kind_of(index))
    other, _ = invented_load(rng, kind_of(index))
    static = rest_rows(truth, rng)
    found = {}
    for name, one in misstated(shape, truth, other, rng).items():
        estimate = iparam.estimation.with_shape(static, one)
        found[name] = Said(not estimate.complete, covered(estimate, truth))
    return found


def bench_rests(count: int) -> None:
    """Six rests with what is said of the load's shape, rightly or wrongly."""
    done, rows = list(in_workers(said_at_rest, range(count))), []
    for name in done[0]:
        own = [one[name] for one in done]
        row = [name]
        for left_out in (True, False):
            these = [one.covers for one in own if one.left_out == left_out]
            row.append(f"{100 * len(these) / len(own):.0f}")
            known = slice(0, 4) if left_out else slice(0, 10)
            row.append(f"{100 * np.mean([one[known] for one in these]):.0f}" if these else "-")
        rows.append(row)
    header = [
        "said of the shape",
        "left out %",
        "cover: mass, centre",
        "believed %",
        "cover",
    ]
    print_table(
        f"{count} loads, six rests of 1 s, noise ur5e: what becomes of the shape, and coverage in %", header, rows
    )
