"""What a shape adds: 15 hand tools with their parts, beside three published methods on the same logs; wrong shapes.

With the folder of data as an argument, or as `measured_data.py` finds it: the tools are in its folder workshop_tools
(Nadeau, Giamou, Kelly, ICRA 2023). Noise, errors and peers are that paper's; the peers are computed anew here, on the
same samples:

- least squares: ten parameters from all samples, as they are.
- entropic prior: least squares with the log-determinant divergence to a uniform body of the shape, given the TRUE mass.
- homogeneous parts: non-negative masses of the parts, from gravity alone at the samples of slow motion.

The tools' points have no unit of volume, so none of them knows a density. Noise of the accelerations is told to iparam,
as a data sheet would; that of the wrench is found from the residuals.

The other parts need no folder: invented loads on a UR5e that moves slowly, with the noise of its sensor, see
`shape_loads.py`: computed from regressors (payloads, poses, rests), or simulated in MuJoCo with a tool below 0.25 m/s,
with an OBJ file as the shape, and identified as `iparam identify payload` does (mujoco, forecasts). `built_loads.py`
has loads of real materials, with walls (built, in MuJoCo), and those that are held possible (possible).

    python benchmarks/bench_shape.py [FOLDER] [--part tools|wrong|division] [--seeds 10] [--levels low high] [--each]
    python benchmarks/bench_shape.py --part payloads|mujoco|built|possible|poses|forecasts|rests [--seeds 200]
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from built_loads import bench_built, bench_possible
from measured_data import measured_data
from scipy.cluster.vq import kmeans2
from scipy.optimize import linprog, nnls
from shape_loads import bench_forecasts, bench_mujoco, bench_payloads, bench_poses, bench_rests, covered
from side_by_side import in_workers, print_table

import iparam
from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation import (
    ConsistentLeastSquares,
    LogCholesky,
    PayloadProblem,
    RegressorUncertainty,
    Shape,
    ShapeEstimator,
    load_shape,
)
from iparam.estimation.shape.shape import part_phi
from iparam.regressor.wrench import body_regressor
from iparam.rounding import NORMAL_95
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


@dataclass(frozen=True, eq=False)
class Misled:
    """One tool with one draw of the noise, and what is taken for its shape.

    Attributes:
        error, without: of the inertia, with the shape and by the data alone [%].
        named: the contradiction is.
        unevenness: how uneven parts must be for the shape to be possible, see `least_unevenness`.
        determined: the data alone tell the inertia to less than its least moment.
    """

    error: float
    without: float
    named: bool
    unevenness: float
    determined: bool


def misled(level: str, job: tuple[Path, Path, int, int]) -> dict[str, Misled]:
    """By what is taken for the shape."""
    path, another, index, seed = job
    tool = load_tool(path)
    problem = good_motion(tool, level, seed, index)
    alone = ConsistentLeastSquares().fit(problem)
    half = NORMAL_95 * alone.standard_deviation.inertia_about_com.max()
    determined = bool(half <= np.linalg.eigvalsh(tool.truth.inertia_about_com)[0])
    found = {}
    for name, shape in wrong_shapes(tool.shape, load_tool(another).shape).items():
        estimate = ShapeEstimator(shape).fit(problem)
        found[name] = Misled(
            tool.inertia_error(estimate.parameters),
            tool.inertia_error(alone.parameters),
            any("contradict the shape" in text for text in estimate.warnings),
            _unevenness(path, name, shape, alone.covariance_phi),
            determined,
        )
    return found


UNEVEN = 1.5
"""Factor to both sides of its level within which the density of a part may be for a shape to be possible: what the
right shapes need, but one of them."""

TOLERANCE, CELLS = 1e-3, 40


def least_unevenness(shape: Shape, phi: FloatArray, covariance: FloatArray) -> float:
    """The least factor k so that densities of parts between level / k and level * k, whatever the levels, give phi.

    Within two standard deviations of the data, and with surfaces that are off by up to two tolerances in any of the
    twelve ways of an affine map. Infinite if not even 1000 does: then no density at all explains it.
    By linear programs that share no code with what iparam does.
    """
    values, vectors = np.linalg.eigh(covariance)
    rows = (vectors / np.sqrt(values)).T
    cells = [_cells(part.points, part.volumes) for part in shape.parts]
    count, parts = sum(len(one) for one in cells), len(cells)
    member = np.repeat(np.eye(parts), [len(one) for one in cells], axis=0)
    # Surfaces: along axis i of the shape, all of it or in proportion to where it is along j, by a tolerance at the end
    # of a box of the same moments.
    points = np.concatenate([part.points for part in shape.parts])
    weight = np.concatenate([part.volumes for part in shape.parts])
    middle = np.average(points, axis=0, weights=weight)
    spread, axes = np.linalg.eigh(np.cov(points.T, aweights=weight))
    body, maps = iparam.spatial.pseudo_inertia_from_phi(phi), []
    for i, j in itertools.product(range(3), range(4)):
        change = np.zeros((4, 4))
        across = np.zeros(3) if j == 3 else axes[:, j] / np.sqrt(3.0 * spread[j])
        change[:3, :3] = np.outer(axes[:, i], across)
        change[:3, 3] = axes[:, i] * (1.0 if j == 3 else -across @ middle)
        moved = TOLERANCE * change @ body
        maps.append(iparam.spatial.phi_from_pseudo_inertia(moved + moved.T))
    by_cell, by_map = rows @ np.concatenate(cells).T, rows @ np.array(maps).T
    matrix = np.concatenate([by_cell / np.abs(by_cell).max(), np.zeros((10, parts)), by_map], axis=1)
    wanted = rows @ phi
    limits = [(0.0, None)] * (count + parts) + [(-2.0, 2.0)] * 12

    def possible(factor: float) -> bool:
        above = np.concatenate([np.eye(count), -factor * member, np.zeros((count, 12))], axis=1)
        below = np.concatenate([-np.eye(count), member / factor, np.zeros((count, 12))], axis=1)
        size = np.maximum(np.abs(matrix).max(axis=1), np.abs(wanted))
        upper = np.concatenate([above, below, matrix / size[:, None], -matrix / size[:, None]])
        bound = np.concatenate([np.zeros(2 * count), (wanted + 2.0) / size, (2.0 - wanted) / size])
        return bool(linprog(np.zeros(upper.shape[1]), A_ub=upper, b_ub=bound, bounds=limits).status == 0)

    if not possible(1e3):
        return np.inf
    low, high = 0.0, np.log(1e3)
    while high - low > 0.02:
        middle_log = 0.5 * (low + high)
        low, high = (low, middle_log) if possible(np.exp(middle_log)) else (middle_log, high)
    return float(np.exp(high))


_KNOWN: dict[tuple[Path, str], float] = {}


def _unevenness(path: Path, name: str, shape: Shape, covariance: FloatArray) -> float:
    """The same for all draws of the noise: their covariance is."""
    if (path, name) not in _KNOWN:
        _KNOWN[path, name] = least_unevenness(shape, load_tool(path).truth.phi, covariance)
    return _KNOWN[path, name]


def _cells(points: FloatArray, volumes: FloatArray) -> FloatArray:
    """(n, 10) phi at unit density of pieces of a part: points near each other."""
    label = kmeans2(points / np.ptp(points, axis=0).max(), CELLS, minit="++", seed=0)[1]
    homogeneous = np.column_stack([points, np.ones(len(points))])
    pieces = [homogeneous[label == one] for one in np.unique(label)]
    weights = [volumes[label == one] for one in np.unique(label)]
    return np.array(
        [
            iparam.spatial.phi_from_pseudo_inertia((piece * weight[:, None]).T @ piece)
            for piece, weight in zip(pieces, weights, strict=True)
        ]
    )


def bench_wrong(paths: list[Path], level: str, seeds: int, each: bool) -> None:
    jobs = [
        (path, paths[(index + 1) % len(paths)], index, seed)
        for index, path in enumerate(paths)
        for seed in range(seeds)
    ]
    done, rows = list(in_workers(functools.partial(misled, level), jobs)), []
    for name in done[0]:
        own = [one[name] for one in done]
        squares = np.array([(one.error**2, one.without**2) for one in own]).reshape(len(paths), seeds, 2)
        ratios = np.sqrt(squares[..., 0].mean(axis=1) / squares[..., 1].mean(axis=1))
        known = np.array([one.determined for one in own]).reshape(len(paths), seeds).all(axis=1)
        told = [one.named for one in own if one.unevenness > UNEVEN]
        if each:
            print(name, dict(zip([path.stem for path in paths], np.round(ratios, 2).tolist(), strict=True)), flush=True)
        rows.append(
            [
                name,
                *(f"{value:.2f}" for value in np.sqrt(squares.mean(axis=(0, 1)))),
                f"{ratios.mean():.2f}",
                f"{ratios[known].mean():.2f} ({ratios[known].max():.2f})",
                f"{100 * np.mean([one.named for one in own]):.0f}",
                f"{100 * np.mean([one.unevenness > UNEVEN for one in own]):.0f}",
                f"{100 * np.mean(told):.0f}" if told else "-",
            ]
        )
    wrong = [one[name] for one in done for name in one if name != "right" and one[name].unevenness > UNEVEN]
    header = ["shape", "with it", "without", "ratio, mean of tools", f"{known.sum()} determined tools (largest)"]
    header += ["named %", "to be told %", "named of these %"]
    title = f"Wrong shapes, 10 s of good motion, noise {level}, {seeds} seeds: root mean square inertia error in %"
    print_table(title, header, rows)
    print(f"\nnamed of {len(wrong)} wrong shapes that can be told: {100 * np.mean([one.named for one in wrong]):.1f} %")


def divided(job: tuple[Path, int, int]) -> dict[str, tuple[float, FloatArray]]:
    """Inertia error [%] and coverage of a tool's shape by how it is divided into parts, at low noise, stop-and-go."""
    path, index, seed = job
    tool = load_tool(path)
    points = np.concatenate([part.points for part in tool.shape.parts])
    volumes = np.concatenate([part.volumes for part in tool.shape.parts])
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "body.npz"
        np.savez(whole, points=points, volume=volumes)
        shapes = {"one body": load_shape(whole), "4 by nearness": load_shape(whole, segments=4), "given": tool.shape}
    if importlib.util.find_spec("coacd"):
        shapes["4 convex"] = Shape.from_points(points, volumes, _convex_parts(path, points))
    problem = noisy_problem(tool, "low", seed, index, slow_only=True)
    fits = {name: ShapeEstimator(shape).fit(problem) for name, shape in shapes.items()}
    return {name: (tool.inertia_error(one.parameters), covered(one, tool.truth)) for name, one in fits.items()}


def _convex_parts(path: Path, points: FloatArray) -> list[int]:
    """The hull of a convex decomposition (CoACD) of the tool's mesh that each point is in, or next to."""
    coacd, trimesh = importlib.import_module("coacd"), importlib.import_module("trimesh")
    coacd.set_log_level("error")
    mesh, pose = trimesh.load(str(path.with_suffix(".ply"))), np.load(path)["object_in_sensor"]
    local = (points - pose[:3, 3]) @ pose[:3, :3]
    scale = np.ptp(mesh.vertices, axis=0).max() / np.ptp(local, axis=0).max()
    there = mesh.bounds.mean(axis=0) + scale * (local - 0.5 * (local.min(axis=0) + local.max(axis=0)))
    quick = {"preprocess_mode": "off", "resolution": 1000, "mcts_iterations": 60, "mcts_nodes": 10}
    hulls = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), threshold=0.1, max_convex_hull=4, **quick)
    outside = []
    for vertices, faces in hulls:
        hull = trimesh.Trimesh(vertices, faces).convex_hull
        level = np.einsum("fi,fi->f", hull.face_normals, hull.triangles[:, 0])
        outside.append((there @ hull.face_normals.T - level).max(axis=1))
    return np.argmin(outside, axis=0).tolist()


def bench_division(paths: list[Path], seeds: int) -> None:
    jobs = [(path, index, seed) for index, path in enumerate(paths) for seed in range(seeds)]
    done, rows = list(in_workers(divided, jobs)), []
    for name in done[0]:
        errors, covers = np.array([one[name][0] for one in done]), np.array([one[name][1] for one in done])
        cells = [f"{errors.mean():.1f}", f"{np.median(errors):.1f}"]
        rows.append([name, *cells, f"{100 * covers.mean():.0f} ({100 * covers.mean(axis=0).min():.0f})"])
    header = ["parts", "inertia error: mean [%]", "median", "cover % (least)"]
    print_table(f"Division into parts, {len(paths)} tools, {seeds} seeds, low noise, stop-and-go", header, rows)


LOADS = {
    "payloads": bench_payloads,
    "mujoco": bench_mujoco,
    "poses": bench_poses,
    "forecasts": bench_forecasts,
    "rests": bench_rests,
    "built": bench_built,
    "possible": bench_possible,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="of measured data")
    parser.add_argument("--part", choices=("tools", "wrong", "division", *LOADS), default="tools")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--levels", nargs="+", choices=tuple(NOISE), default=list(NOISE))
    parser.add_argument("--each", action="store_true", help="print each tool, too")
    options = parser.parse_args()
    if options.part in LOADS:
        LOADS[options.part](options.seeds)
        return
    files = sorted(measured_data("workshop_tools", options.folder).glob("*.npz"))
    if options.part == "division":
        bench_division(files, options.seeds)
    elif options.part == "tools":
        bench_tools(files, options.levels, options.seeds, options.each)
    else:
        bench_wrong(files, options.levels[0], options.seeds, options.each)


if __name__ == "__main__":
    try:
        main()
    except IparamError as error:
        raise SystemExit(str(error)) from None
