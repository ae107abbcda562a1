"""What a shape adds: 15 hand tools with their parts, beside three published methods on the same logs; wrong shapes.

With the folder of data as an argument, or in IPARAM_DATA: the tools are in its folder workshop_tools (Nadeau, Giamou,
Kelly, ICRA 2023). Noise, errors and peers are that paper's; the peers are computed anew here, on the same samples:

- least squares: ten parameters from all samples, as they are.
- entropic prior: least squares with the log-determinant divergence to a uniform body of the shape, given the TRUE mass.
- homogeneous parts: non-negative masses of the parts, from gravity alone at the samples of slow motion.

The tools' points have no unit of volume, so none of them knows a density. Noise of the accelerations is told to iparam,
as a data sheet would; that of the wrench is found from the residuals.

Payloads need no folder: invented loads of two parts on a UR5e that moves slowly, with the noise of its sensor; computed
from regressors (payloads), or simulated in MuJoCo with a tool below 0.25 m/s, with an OBJ file as the shape, and
identified as `iparam identify payload` does (mujoco).

    python benchmarks/bench_shape.py [FOLDER] [--part tools|wrong] [--seeds 10] [--levels low moderate high] [--each]
    python benchmarks/bench_shape.py --part payloads|mujoco [--seeds 200]
"""

from __future__ import annotations

import argparse
import functools
import itertools
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls
from side_by_side import in_workers, print_table

import iparam
from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation import (
    ConsistentLeastSquares,
    Estimate,
    LogCholesky,
    PayloadProblem,
    RegressorUncertainty,
    Shape,
    ShapeEstimator,
)
from iparam.estimation.shape.shape import part_phi
from iparam.regressor.wrench import body_regressor
from iparam.rounding import NORMAL_95
from iparam.sensing.correction import Correction
from iparam.spatial import inertia_entries

NOISE = {  # of acceleration [m/s^2], angular acceleration [rad/s^2], force [N] and torque [N m]
    "low": (0.025, 0.25, 0.05, 0.0025),
    "moderate": (0.05, 0.5, 0.1, 0.005),
    "high": (0.1, 1.0, 0.2, 0.01),
}
PAPER = {  # mass / inertia error in %, mean over 20 tools: least squares, entropic prior with the true mass, parts
    "low": ("0.25/1018", "0.15/53", "0.64/10.0"),
    "moderate": ("0.19/1559", "0.34/52", "0.51/10.8"),
    "high": ("1.24/1890", "0.91/48", "2.80/13.7"),
}
GOOD = 0.1  # of the wrench's noise, for what counts as good data: the tools are light, and the noise is not
SAMPLES = ("all samples", "stop-and-go")
SLOWEST = 0.5  # share of the samples, by angular velocity, that count as stop-and-go


@dataclass(frozen=True, eq=False)
class Tool:
    """A tool's log in sensor axes, without noise, its shape there, and the truth."""

    name: str
    time: FloatArray
    omega: FloatArray
    alpha: FloatArray
    acceleration: FloatArray
    gravity: FloatArray
    wrench: FloatArray
    shape: Shape
    truth: iparam.InertialParameters
    extents: FloatArray
    mesh_axes: FloatArray

    def inertia_error(self, body: iparam.InertialParameters) -> float:
        """Of the paper: the mean over six entries of |error| over that of the bounding box [%]."""
        a, turn = self.extents, self.mesh_axes
        error = turn.T @ (body.inertia_about_com - self.truth.inertia_about_com) @ turn
        box = self.truth.mass / 12.0 * (a @ a * np.eye(3) - np.outer(a, a))
        return float(100.0 * np.mean(np.abs(inertia_entries(error) / inertia_entries(box))))


@functools.cache
def load_tool(path: Path) -> Tool:
    data = np.load(path)
    inverse = np.swapaxes(data["sensor_pose"][:, :3, :3], 1, 2)

    def turned(vectors: FloatArray) -> FloatArray:
        return np.asarray((inverse @ vectors[..., None])[..., 0])

    pose = data["object_in_sensor"]
    truth = iparam.InertialParameters(float(data["mass"]), data["com_in_mesh"], data["inertia_about_com_in_mesh"])
    return Tool(
        path.stem,
        data["time"],
        turned(data["velocity"][:, 3:]),
        turned(data["acceleration"][:, 3:]),
        turned(data["acceleration"][:, :3]),
        turned(np.broadcast_to([0.0, 0.0, 9.81], (len(inverse), 3))),
        np.concatenate([turned(data["wrench"][:, :3]), turned(data["wrench"][:, 3:])], axis=1),
        Shape.from_points(data["points"], data["point_volume"], data["point_part"]).placed(pose),
        truth.transformed(pose),
        np.ptp(data["points"], axis=0),
        pose[:3, :3],
    )


def noisy_problem(tool: Tool, level: str, seed: int, index: int, slow_only: bool = False) -> PayloadProblem:
    """The log with noise, all samples or those of slow motion."""
    deviations, count = NOISE[level], len(tool.time)
    rng = np.random.default_rng([2023, seed, index, list(NOISE).index(level)])
    linear, angular, force, torque = (s * rng.standard_normal((count, 3)) for s in deviations)
    A = body_regressor(tool.omega, tool.alpha + angular, tool.acceleration + linear - tool.gravity)
    y = tool.wrench + np.concatenate([force, torque], axis=1)
    speed = np.linalg.norm(tool.omega, axis=1)
    kept = speed <= np.quantile(speed, SLOWEST) if slow_only else np.ones(count, dtype=bool)
    unit, still = np.eye(3), np.zeros((3, 3))
    factors = np.concatenate(
        [body_regressor(still, deviations[1] * unit, still), body_regressor(still, still, deviations[0] * unit)]
    )
    uncertainty = RegressorUncertainty(int(kept.sum()), np.array([0]), factors[None])
    return PayloadProblem(A[kept], y[kept], tool.time[kept], bias=False, uncertainty=uncertainty)


def good_motion(tool: Tool, level: str, seed: int, index: int) -> PayloadProblem:
    """10 s of turning about all axes, known exactly, with the noise of the wrench: all ten parameters are shown."""
    rng, time = np.random.default_rng([2024, seed, index]), np.arange(0.0, 10.0, 0.01)
    angle = 0.8 * np.sin(2.0 * np.pi * np.array([0.6, 0.8, 1.1]) * time[:, None] + np.array([0.1, 1.2, 2.5]))
    turn = iparam.spatial.exp_so3(angle)
    omega = iparam.spatial.log_so3(np.swapaxes(turn[:-1], 1, 2) @ turn[1:]) / 0.01
    up = np.swapaxes(turn[:-1], 1, 2) @ np.array([0.0, 0.0, 9.81])
    A = body_regressor(omega, np.gradient(omega, 0.01, axis=0), up)
    noise = GOOD * np.repeat(NOISE[level][2:], 3) * rng.standard_normal((len(A), 6))
    return PayloadProblem(A, A @ tool.truth.phi + noise, time[:-1], bias=False)


def homogeneous_parts(tool: Tool, problem: PayloadProblem, level: str) -> iparam.InertialParameters:
    """Masses of the parts of at least zero, from gravity at the samples of slow motion."""
    speed = np.linalg.norm(tool.omega, axis=1)
    kept = speed <= np.quantile(speed, SLOWEST)
    still = np.zeros((int(kept.sum()), 3))
    A = body_regressor(still, still, -tool.gravity[kept])
    weight = 1.0 / np.repeat(NOISE[level][2:], 3)
    columns = np.column_stack([part_phi(part) / part_phi(part)[0] for part in tool.shape.parts])
    rows = (weight[:, None] * (A @ columns)).reshape(-1, columns.shape[1])
    masses = nnls(rows, (weight * problem.y[kept]).ravel())[0]
    return iparam.InertialParameters.from_phi(columns @ masses)


def least_squares(problem: PayloadProblem) -> iparam.InertialParameters:
    rows = problem.A.reshape(-1, 10)
    return iparam.InertialParameters.from_phi(np.linalg.lstsq(rows, problem.y.ravel(), rcond=None)[0])


def covered(estimate: Estimate, truth: iparam.InertialParameters) -> FloatArray:
    """(10,) whether the 95 % intervals of mass, centre of mass and inertia hold the truth."""
    deviation = estimate.standard_deviation
    six = np.triu_indices(3)
    found = [estimate.mass, *estimate.center_of_mass, *estimate.inertia_about_com[six]]
    true = [truth.mass, *truth.center_of_mass, *truth.inertia_about_com[six]]
    half = NORMAL_95 * np.array([deviation.mass, *deviation.center_of_mass, *deviation.inertia_about_com[six]])
    return np.asarray(np.abs(np.subtract(found, true)) <= half, dtype=float)


@dataclass(frozen=True, eq=False)
class Scored:
    """One tool with one draw of the noise: errors of mass and inertia [%] by each method, and iparam's intervals."""

    errors: dict[str, tuple[float, float]]
    covers: dict[str, FloatArray]
    consistent: dict[str, bool]


def scored(level: str, job: tuple[Path, int, int]) -> Scored:
    path, index, seed = job
    tool, whole = load_tool(path), noisy_problem(load_tool(path), level, seed, index)
    slow = noisy_problem(tool, level, seed, index, slow_only=True)
    fits = {name: ShapeEstimator(tool.shape).fit(problem) for name, problem in zip(SAMPLES, (whole, slow), strict=True)}
    bodies = {name: found.parameters for name, found in fits.items()}
    bodies["least squares"] = least_squares(whole)
    bodies["entropic"] = LogCholesky(tool.shape.body(tool.truth.mass)).fit(whole).parameters
    bodies["parts"] = homogeneous_parts(tool, whole, level)
    return Scored(
        {
            name: (100.0 * abs(body.mass / tool.truth.mass - 1.0), tool.inertia_error(body))
            for name, body in bodies.items()
        },
        {name: covered(found, tool.truth) for name, found in fits.items()},
        {name: found.physically_consistent for name, found in fits.items()},
    )


def bench_tools(paths: list[Path], levels: list[str], seeds: int, each: bool) -> None:
    rows = []
    jobs = [(path, index, seed) for index, path in enumerate(paths) for seed in range(seeds)]
    for level in levels:
        done: list[Scored] = []
        for one in in_workers(functools.partial(scored, level), jobs):
            done.append(one)
            if each and len(done) % seeds == 0:
                own = done[-seeds:]
                text = "  ".join(f"{k} {m:.2f}/{i:.1f}" for k, (m, i) in mean_errors(own).items())
                cover = np.mean([one.covers[SAMPLES[0]] for one in own], axis=0)
                name = paths[len(done) // seeds - 1].stem
                print(f"{level:<9}{name:<20}{text}  cover {cover.mean():.2f} {cover.round(1)}", flush=True)
        mean = mean_errors(done)
        for name in SAMPLES:
            (m, i), covers = mean[name], [one.covers[name] for one in done]
            rows.append(
                [
                    level,
                    name,
                    f"{m:.2f}/{i:.1f}",
                    f"{i / mean['parts'][1]:.2f}",
                    f"{100 * np.mean(covers):.0f} ({100 * np.mean(covers, axis=0).min():.0f})",
                    f"{100 * np.mean([one.consistent[name] for one in done]):.0f}",
                    *(f"{mean[k][0]:.2f}/{mean[k][1]:.1f}" for k in ("least squares", "entropic", "parts")),
                    *PAPER[level],
                ]
            )
    header = ["noise", "samples", "iparam", "/ parts", "cover % (least)", "consistent %"]
    header += ["least squares", "entropic, true mass", "parts", "paper: l.s.", "paper: entropic", "paper: parts"]
    print_table(f"{len(paths)} tools, {seeds} seeds: mass/inertia error in %", header, rows)


def mean_errors(done: list[Scored]) -> dict[str, FloatArray]:
    """(2,) of mass and inertia [%], by each method."""
    return {name: np.mean([one.errors[name] for one in done], axis=0) for name in done[0].errors}


def wrong_shapes(shape: Shape, other: Shape) -> dict[str, Shape]:
    """What people take for the shape of a tool."""
    points = np.concatenate([part.points for part in shape.parts])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    mirror, large = np.diag([-1.0, 1.0, 1.0, 1.0]), np.diag([1.2, 1.2, 1.2, 1.0])
    mirror[0, 3] = 2.0 * middle[0]
    large[:3, 3] = -0.2 * middle
    volumes = [part.volume for part in shape.parts]
    order = np.argsort(volumes)
    lightest, heaviest = shape.parts[order[0]], shape.parts[order[-1]]
    swapped = shape.with_densities({}) if len(volumes) < 2 else _swapped(shape, lightest.name, heaviest.name)
    return {
        "right": shape,
        "other tool": other,
        "scaled by 1.2": shape.deformed(large),
        "mirrored": shape.deformed(mirror),
        "parts swapped": swapped,
    }


def _swapped(shape: Shape, one: str, other: str) -> Shape:
    """Densities are unknown, so that parts are swapped by their places: each about the other's centre."""
    centers = {part.name: np.average(part.points, axis=0, weights=part.volumes) for part in shape.parts}
    parts = []
    for part in shape.parts:
        to = centers[other] if part.name == one else centers[one] if part.name == other else centers[part.name]
        parts.append(type(part)(part.name, part.points - centers[part.name] + to, part.volumes))
    return Shape(tuple(parts))


def misled(level: str, job: tuple[Path, Path, int, int]) -> dict[str, tuple[float, float, float]]:
    """By what is taken for the shape: inertia error with it and without [%], and 1 where it was contradicted."""
    path, another, index, seed = job
    tool, found = load_tool(path), {}
    problem = good_motion(tool, level, seed, index)
    base = _distance(ConsistentLeastSquares().fit(problem), tool)
    for name, shape in wrong_shapes(tool.shape, load_tool(another).shape).items():
        estimate = ShapeEstimator(shape).fit(problem)
        named = any("contradict the shape" in text for text in estimate.warnings)
        found[name] = (_distance(estimate, tool), base, float(named))
    return found


def bench_wrong(paths: list[Path], level: str, seeds: int) -> None:
    jobs = [
        (path, paths[(index + 1) % len(paths)], index, seed)
        for index, path in enumerate(paths)
        for seed in range(seeds)
    ]
    done, rows = list(in_workers(functools.partial(misled, level), jobs)), []
    for name in done[0]:
        values = np.array([one[name] for one in done])
        own, base, named = values.mean(axis=0)
        each = values.reshape(len(paths), seeds, 3).mean(axis=1)
        ratios = each[:, 0] / np.maximum(each[:, 1], 1e-9)
        cells = [f"{own:.2f}", f"{base:.2f}", f"{ratios.mean():.2f}", f"{ratios.max():.2f}", f"{100 * named:.0f}"]
        rows.append([name, *cells])
    header = ["shape", "with it", "without", "ratio, mean of tools", "largest of a tool", "named %"]
    print_table(f"Wrong shapes, 10 s of good motion, noise {level}, {seeds} seeds: inertia error in %", header, rows)


def _distance(estimate: Estimate, tool: Tool) -> float:
    return tool.inertia_error(estimate.parameters)


@functools.cache
def slow_regressors(rate: float) -> tuple[FloatArray, FloatArray, float]:
    """Times, regressors of a UR5e whose wrist turns slowly for 10 s, and the speed of its tool at most [m/s]."""
    robot, time = iparam.load_robot("ur5e"), np.arange(0.0, 10.0, 1.0 / rate)
    home, size = np.array([0.0, -1.4, 1.5, -1.6, -1.5, 0.0]), np.array([0.0, 0.0, 0.05, 0.7, 0.8, 1.0])
    pace, phase = 2.0 * np.pi * np.array([0.1, 0.1, 0.1, 0.1, 0.13, 0.17]), np.arange(6.0)
    angle = pace * time[:, None] + phase
    q, dq, ddq = home + size * np.sin(angle), size * pace * np.cos(angle), -size * pace**2 * np.sin(angle)
    twist = np.linalg.norm((iparam.jacobian(robot, q) @ dq[..., None])[..., 0][:, 3:], axis=1)
    return time, iparam.wrench_regressor(robot, q, dq, ddq), float(twist.max())


def invented_load(rng: np.random.Generator) -> tuple[Shape, iparam.InertialParameters]:
    """A shape of two boxes off the axis, and a load of other densities than it says, not quite in its place."""
    points, volumes, parts = [], [], []
    for name, place in (("base", 0.05), ("arm", 0.14)):
        size = rng.uniform([0.03, 0.03, 0.03], [0.15, 0.15, 0.12])
        center = np.array([*rng.uniform(-0.05, 0.05, 2), place])
        grid = (np.stack(np.meshgrid(*[np.arange(8)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 0.5) / 8.0 - 0.5
        points.append(center + grid * size)
        volumes.append(np.full(512, np.prod(size) / 512))
        parts += [name] * 512
    place, volume = np.vstack(points), np.concatenate(volumes)
    shape = Shape.from_points(place, volume, parts)
    # Densities of materials, with a course within each part that no polynomial has: waves of any direction.
    density = np.repeat(np.exp(rng.normal(7.6, 0.7, 2)), 512)
    for _ in range(4):
        wave, phase = rng.normal(0.0, 25.0, 3), rng.uniform(0.0, 2.0 * np.pi)
        density = density * np.exp(rng.uniform(0.0, 0.3) * np.sin(place @ wave + phase))
    off = iparam.spatial.exp_se3(np.concatenate([rng.normal(0.0, 0.01, 3), rng.normal(0.0, 0.001, 3)]))
    true = place @ off[:3, :3].T + off[:3, 3]
    homogeneous = np.column_stack([true, np.ones(len(true))])
    phi = iparam.spatial.phi_from_pseudo_inertia((homogeneous * (density * volume)[:, None]).T @ homogeneous)
    return shape, iparam.InertialParameters.from_phi(phi * rng.uniform(0.5, 3.0) / phi[0])


def with_and_without(index: int) -> tuple[float, float, FloatArray]:
    """One load: its largest error with the shape, the interval without [% of the largest moment], what is covered."""
    time, A, _ = slow_regressors(125.0)
    rng, noise = np.random.default_rng([2025, index]), np.repeat([0.5, 0.05], 3)
    shape, truth = invented_load(rng)
    offset = rng.normal(0.0, 1.0, 6) * np.repeat([1.0, 0.05], 3)
    problem = PayloadProblem(A, A @ truth.phi + offset + noise * rng.standard_normal((len(A), 6)), time)
    found, largest = ShapeEstimator(shape).fit(problem), np.linalg.eigvalsh(truth.inertia_about_com)[-1]
    deviation = ConsistentLeastSquares().fit(problem).standard_deviation.inertia_about_com
    return (
        100.0 * float(np.abs(found.inertia_about_com - truth.inertia_about_com).max() / largest),
        100.0 * NORMAL_95 * float(deviation.max() / largest),
        covered(found, truth),
    )


def bench_payloads(count: int) -> None:
    """Errors and coverage over loads, with the shape and without, at a tool speed that people may be near."""
    speed = slow_regressors(125.0)[2]
    with_it, without, inside = zip(*in_workers(with_and_without, range(count)), strict=True)
    title = (
        f"{count} loads, UR5e, 10 s, tool at {speed:.2f} m/s at most, noise ur5e; inertia in % of its largest moment"
    )
    header = ["largest error with it: median", "90 %", "95 % interval without: median", "cover %", "least of ten"]
    cells = [f"{np.median(with_it):.1f}", f"{np.quantile(with_it, 0.9):.1f}", f"{np.median(without):.0f}"]
    cells += [f"{100 * np.mean(inside):.1f}", f"{100 * np.mean(inside, axis=0).min():.0f}"]
    print_table(title, header, [cells])


SPEED = 0.25  # of the tool, and of all corners of the box around the loads where it is planned [m/s]
AROUND = {"payload_size": (0.26, 0.26, 0.2), "payload_center": (0.0, 0.0, 0.1)}  # all invented loads fit in

MOUNTING = Correction(gravity=(0.0, 0.0, -9.81), sensor_offset=(0.0, 0.0, 0.0), sensor_rotation=(0.0, 0.0, 0.0))
"""What is known of the simulated arm: without it, the intervals hold a tilted base and a misplaced sensor, too."""


@functools.cache
def slow_motion(planned: bool) -> iparam.Trajectory:
    """10 s of a UR5e that nobody near has to fear: a wrist that turns to and fro, or the best that the speed allows."""
    robot = iparam.load_robot("ur5e")
    if planned:
        limits = iparam.trajectory.PlanningLimits(speed=SPEED)
        conditions = iparam.trajectory.PlanConditions(limits=limits).changed(**AROUND)
        problem = iparam.planning_problem(robot, conditions=conditions, criterion="d")
        return iparam.optimize_excitation(problem, starts=1, workers=1).trajectory
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
        # Points are the middles of 8 x 8 x 8 cells.
        low, high = part.points.min(axis=0), part.points.max(axis=0)
        low, high = low - (high - low) / 14.0, high + (high - low) / 14.0
        lines += [f"o {part.name}", *(f"v {x:.9f} {y:.9f} {z:.9f}" for x, y, z in low + corners * (high - low))]
        lines += ["f " + " ".join(str(count + corner) for corner in face) for face in faces]
        count += 8
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def simulated_load(planned: bool, varied: bool, index: int) -> tuple[float, float, FloatArray]:
    """One load in MuJoCo: errors, interval and cover as in `with_and_without`; solid and in its place, or varied."""
    rng = np.random.default_rng([2026, index])
    shape, truth = invented_load(rng)
    if not varied:
        truth = shape.body(truth.mass, np.exp(rng.normal(0.0, 0.7, len(shape.parts))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.obj"
        write_obj(path, shape)
        known = iparam.estimation.load_shape(path)
    robot = iparam.load_robot("ur5e")
    run = (
        iparam.simulation.MujocoSimulator().load(robot, iparam.Payload.from_parameters(truth)).run(slow_motion(planned))
    )
    recording = iparam.noise_preset("ur5e").apply(run.recording, index)
    found = iparam.identify_payload(recording, robot, ShapeEstimator(known), correction=MOUNTING)
    alone = iparam.identify_payload(recording, robot, correction=MOUNTING)
    largest = np.linalg.eigvalsh(truth.inertia_about_com)[-1]
    half = np.nan_to_num(alone.standard_deviation.inertia_about_com, nan=np.inf).max()
    return (
        100.0 * float(np.abs(found.inertia_about_com - truth.inertia_about_com).max() / largest),
        100.0 * NORMAL_95 * float(half / largest),
        covered(found, truth),
    )


def bench_mujoco(count: int) -> None:
    """Errors and coverage of loads that MuJoCo moves slowly."""
    rows = []
    for motion, load in itertools.product(("wrist to and fro", "planned"), ("varied, off by 1 mm", "solid, in place")):
        work = functools.partial(simulated_load, motion == "planned", load.startswith("varied"))
        with_it, without, inside = (np.array(values) for values in zip(*in_workers(work, range(count)), strict=True))
        rows.append(
            [
                motion,
                load,
                f"{np.median(with_it):.1f}",
                f"{np.quantile(with_it, 0.9):.1f}",
                f"{100 * np.mean(with_it <= 5.0):.0f}",
                f"{np.median(without):.0f}",
                f"{100 * np.mean(inside):.1f}",
                f"{100 * np.mean(inside, axis=0).min():.0f}",
            ]
        )
        print(rows[-1], flush=True)
    title = f"{count} loads each, MuJoCo, UR5e, 10 s, tool below {SPEED} m/s, noise ur5e; inertia in % of its largest"
    header = ["motion", "loads", "largest error: median", "90 %", "within 5 %", "95 % interval without", "cover %"]
    print_table(title, [*header, "least of ten"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=os.environ.get("IPARAM_DATA", ""))
    parser.add_argument("--part", choices=("tools", "wrong", "payloads", "mujoco"), default="tools")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--levels", nargs="+", choices=tuple(NOISE), default=list(NOISE))
    parser.add_argument("--each", action="store_true", help="print each tool, too")
    options = parser.parse_args()
    if options.part == "payloads":
        bench_payloads(options.seeds)
        return
    if options.part == "mujoco":
        bench_mujoco(options.seeds)
        return
    files = sorted((Path(options.folder) / "workshop_tools").glob("*.npz"))
    if not options.folder or not files:
        raise SystemExit("give the folder that has workshop_tools in it, or set IPARAM_DATA")
    if options.part == "tools":
        bench_tools(files, options.levels, options.seeds, options.each)
    else:
        bench_wrong(files, options.levels[0], options.seeds)


if __name__ == "__main__":
    try:
        main()
    except IparamError as error:
        raise SystemExit(str(error)) from None
