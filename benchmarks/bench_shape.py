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
`shape_loads.py`: computed from regressors (payloads, rests). `built_loads.py` has loads
of real materials, with walls (built, in MuJoCo).

    python benchmarks/bench_shape.py [FOLDER] [--part tools|wrong] [--seeds 10] [--levels low high] [--each]
    python benchmarks/bench_shape.py --part payloads|built|rests [--seeds 200]
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from built_loads import bench_built
from measured_data import measured_data
from scipy.optimize import nnls
from shape_loads import about, bench_payloads, bench_rests, covered
from side_by_side import in_workers, print_table

import iparam
from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation import (
    ConsistentLeastSquares,
    LogCholesky,
    Part,
    PayloadProblem,
    RegressorUncertainty,
    Shape,
    ShapeEstimator,
)
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
    columns = np.column_stack([part.phi / part.volume for part in tool.shape.parts])
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
    size, middle = shape.bounds
    order = np.argsort([part.volume for part in shape.parts])
    return {
        "right": shape,
        "other tool": other,
        "scaled by 1.2": shape.deformed(about(middle, 1.2 * np.eye(3))),
        "mirrored": shape.deformed(about(middle, np.diag([-1.0, 1.0, 1.0]))),
        "moved by 20 mm": shape.deformed(about(middle, np.eye(3), 0.02 * np.eye(3)[np.argmax(size)])),
        "parts swapped": _swapped(shape, shape.parts[order[0]], shape.parts[order[-1]]),
    }


def _swapped(shape: Shape, one: Part, other: Part) -> Shape:
    """Densities are unknown, so that parts are swapped by their places: each about the other's centre."""
    to = {one.name: other.center, other.name: one.center}
    moved = [
        Shape((part,)).deformed(about(part.center, np.eye(3), to.get(part.name, part.center) - part.center)).parts[0]
        for part in shape.parts
    ]
    return Shape(tuple(moved))


@dataclass(frozen=True, eq=False)
class Misled:
    """One tool with one draw of the noise, and what is taken for its shape.

    Attributes:
        error, without: of the inertia, with the shape and by the data alone [%].
        named: the contradiction is.
        determined: the data alone tell the inertia to less than its least moment.
    """

    error: float
    without: float
    named: bool
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
            estimate.shape is None,
            determined,
        )
    return found


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
        if each:
            print(name, dict(zip([path.stem for path in paths], np.round(ratios, 2).tolist(), strict=True)), flush=True)
        rows.append(
            [
                name,
                *(f"{value:.2f}" for value in np.sqrt(squares.mean(axis=(0, 1)))),
                f"{ratios.mean():.2f}",
                f"{ratios[known].mean():.2f} ({ratios[known].max():.2f})",
                f"{100 * np.mean([one.named for one in own]):.0f}",
            ]
        )
    header = ["shape", "with it", "without", "ratio, mean of tools", f"{known.sum()} determined tools (largest)"]
    header += ["named %"]
    title = f"Wrong shapes, 10 s of good motion, noise {level}, {seeds} seeds: root mean square inertia error in %"
    print_table(title, header, rows)


LOADS = {
    "payloads": bench_payloads,
    "rests": bench_rests,
    "built": bench_built,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="of measured data")
    parser.add_argument("--part", choices=("tools", "wrong", *LOADS), default="tools")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--levels", nargs="+", choices=tuple(NOISE), default=list(NOISE))
    parser.add_argument("--each", action="store_true", help="print each tool, too")
    options = parser.parse_args()
    if options.part in LOADS:
        LOADS[options.part](options.seeds)
        return
    files = sorted(measured_data("workshop_tools", options.folder).glob("*.npz"))
    if options.part == "tools":
        bench_tools(files, options.levels, options.seeds, options.each)
    else:
        bench_wrong(files, options.levels[0], options.seeds, options.each)


if __name__ == "__main__":
    try:
        main()
    except IparamError as error:
        raise SystemExit(str(error)) from None
