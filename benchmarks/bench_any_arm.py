"""Every serial arm of at least four moving joints in a folder of descriptions, from its file to its load, by commands.

The folder is that of example-robot-data, or the one that `--from` names.

For each: load, plan with a short budget, check, simulate, identify, verify with another motion, report, export to the
formats that take any arm, and into the file if that is a URDF. The load is a box of a tenth of the arm's moving mass
and about a tenth of its reach. Each arm has noise of its own, so that one unlucky draw does not count for all. Prints
for each arm how far it got and, if not to the end, what the command said; and over all arms, how often the truth is
within the 95 % intervals.

Of the two sides of a robot one is walked, and of files with the same chain one.

Printed are the arms that have a load to compare, those that did not come to the end, with the sentence that the command
said, and the shares over all of them.

Each arm's row is written to the file `--rows` when the arm is done; a run that was interrupted goes on from there, and
takes only rows of the same number of seeds.

Run: python benchmarks/bench_any_arm.py [seeds of noise] [words of paths and tips ...] [--rows FILE] [--jobs N]
                                            [--from FOLDER]
     python benchmarks/bench_any_arm.py 5 --rows arms.jsonl
     python benchmarks/bench_any_arm.py 1 talos panda
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import json
import math
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from side_by_side import in_workers, print_table

import iparam
from iparam.cli.main import main as iparam_command
from iparam.errors import IparamError
from iparam.robot.description.arm import cut_arm
from iparam.robot.description.arm_choice import arms_of, default_arm
from iparam.robot.description.installed import INSTALLED_ARMS, installed_description
from iparam.robot.loading import read_description
from iparam.robot.model import Robot
from iparam.worker_pool import WorkerPool

MOST_ARMS = 12  # of one file
LEAST_JOINTS = 4
PLAN = ["--duration", "6", "--harmonics", "3", "--starts", "1", "--workers", "1"]
# Another seed alone leads to the same motion now and then: there may be one good one for an arm and its start pose.
OTHER_PLAN = ["--duration", "7", "--harmonics", "4", "--starts", "1", "--workers", "1", "--seed", "7"]
NOISE = "ur5e"
INERTIAL_FIELDS = 10
FORMATS = ("json", "mjcf", "sdf", "urdf", "ros2")


class StepFailedError(Exception):
    """A command ended with another code than 0; the message is what it said."""


@dataclass
class Walk:
    """How far one arm got.

    Attributes:
        name: of the file and the tip.
        joints: that move.
        mass: of its load [kg].
        step: the last one that was begun; "" when all are done.
        reason: what the command said that failed.
        kappa: condition number of the plan.
        inside: (S, 10) whether the truth is within the 95 % intervals, for each seed.
        standardized: (S,) squared error of phi in the metric of its covariance; its mean should be 10.
        mass_error: largest error of the mass over the seeds [relative].
        ground: "none" if it took a cell without one.
        seconds: that all of it took.
    """

    name: str
    joints: int
    mass: float
    step: str = "load"
    reason: str = ""
    kappa: float = math.nan
    inside: list[list[bool]] = field(default_factory=list)
    standardized: list[float] = field(default_factory=list)
    mass_error: float = math.nan
    ground: str = "assumed"
    seconds: float = 0.0


def arms(words: list[str], folder: Path | None = None) -> Iterator[tuple[Path, Robot]]:
    """Each arm of the folder, or of the package, that is not the mirror image or the copy of one before it."""
    folder = installed_description(next(iter(INSTALLED_ARMS))).parents[2] if folder is None else folder
    seen = set()
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in (".urdf", ".xml", ".mjcf"):
            continue
        for robot in arms_in(path):
            place = path.relative_to(folder)
            signature = (place.parts[0], robot.num_joints, round(float(robot.body_parameters[:, 0].sum()), 3))
            if robot.num_joints < LEAST_JOINTS or signature in seen:
                continue
            if words and not any(word in f"{place} {robot.tool_frame}" for word in words):
                continue
            seen.add(signature)
            yield path, robot


def arms_in(path: Path) -> Iterator[Robot]:
    """Each arm of a description; none of what is no description, or holds none."""
    with contextlib.suppress(IparamError):
        tree = read_description(path)
        for arm in arms_of(tree, None)[:MOST_ARMS] or [default_arm(tree, None)]:
            with contextlib.suppress(IparamError):
                yield cut_arm(tree, arm.tip, arm.base)


def reach(robot: Robot) -> float:
    """Farthest that the tool was from the first joint in random poses [m]."""
    low, high = (np.nan_to_num(side, posinf=3.0, neginf=-3.0) for side in (robot.limits.lower, robot.limits.upper))
    poses = np.random.default_rng(0).uniform(low, high, (500, robot.num_joints))
    first = iparam.forward_kinematics(robot, poses, frame=robot.moving_joints[0].child)[:, :3, 3]
    return float(np.linalg.norm(iparam.forward_kinematics(robot, poses)[:, :3, 3] - first, axis=1).max())


def command(*arguments: str) -> str:
    """What a command prints; raises what it complains of."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = iparam_command(list(arguments))
    if code != 0:
        said = " ".join((err.getvalue() or out.getvalue()).split())
        raise StepFailedError(said[said.find("error:") :] if "error:" in said else said)
    return out.getvalue()


def name_of(path: Path, robot: Robot) -> str:
    return f"{path.stem} {robot.tool_frame}"


def walk(seeds: int, arm_of: tuple[Path, Robot]) -> Walk:
    """One arm through all commands."""
    with tempfile.TemporaryDirectory() as folder:
        return walk_in(Path(folder), *arm_of, seeds)


def walk_in(folder: Path, path: Path, robot: Robot, seeds: int) -> Walk:
    began = time.perf_counter()
    mass = 0.1 * float(robot.body_parameters[:, 0].sum())
    length = reach(robot)
    done = Walk(name_of(path, robot), robot.num_joints, mass)
    arm = ["--robot", str(path), "--base", robot.base_frame, "--tip", robot.tool_frame]
    tilted = next((note for note in robot.notes if "gravity=" in note), "")
    if found := re.search(r"of the base is (\S+ \S+ \S+) m/s", tilted):
        arm += ["--gravity", *found[1].split()]
    box = ["--payload-size", *(f"{share * length:.4f}" for share in (0.06, 0.08, 0.1)), "--payload-mass", f"{mass:.6g}"]
    file = {name: str(folder / name) for name in ("t.json", "u.json", "truth.json", "result.json")}
    file |= {name: str(folder / name) for name in ("run.parquet", "exact.parquet", "other.parquet")}
    file |= {name: str(folder / name) for name in ("report.html", "merged.urdf", "cell.json")}
    Path(file["cell.json"]).write_text('{"format": "iparam-cell/1", "ground_height": null}', encoding="utf-8")
    try:
        done.step = "plan"
        try:
            said = json.loads(command("excite", "optimize", *arm, *box, *PLAN, "--output", file["t.json"], "--json"))
        except StepFailedError as error:
            if "--cell" not in str(error):
                raise
            # The ground is a guess; what the message says is done: a cell that has none.
            done.ground, box = "none", [*box, "--cell", file["cell.json"]]
            said = json.loads(command("excite", "optimize", *arm, *box, *PLAN, "--output", file["t.json"], "--json"))
        done.kappa = float(said["condition_number"])
        command("excite", "optimize", *arm, *box, *OTHER_PLAN, "--output", file["u.json"])
        done.step = "check"
        command("excite", "check", file["t.json"])
        done.step = "simulate"
        run = ["simulate", "--noise", NOISE, "--physics-rate", "1000"]
        command(*run, "--trajectory", file["t.json"], "--output", file["run.parquet"], "--truth", file["truth.json"])
        command(*run, "--trajectory", file["u.json"], "--output", file["other.parquet"], "--seed", "99")
        command(*run[:1], *run[3:], "--trajectory", file["t.json"], "--output", file["exact.parquet"])
        exact, noise = iparam.Recording.load(file["exact.parquet"]), iparam.noise_preset(NOISE)
        done.step = "identify"
        truth = np.array(json.loads(Path(file["truth.json"]).read_text(encoding="utf-8"))["phi"])
        errors = []
        first = zlib.crc32(done.name.encode()) % 10**6
        for seed in range(first, first + seeds):
            noise.apply(exact, seed).save(file["run.parquet"])
            command("identify", "payload", file["run.parquet"], "--output", file["result.json"])
            result = json.loads(Path(file["result.json"]).read_text(encoding="utf-8"))
            covariance, error = np.array(result["covariance_phi"]), np.array(result["phi"]) - truth
            done.inside.append((np.abs(error) <= 1.959964 * np.sqrt(np.diag(covariance))).tolist())
            done.standardized.append(float(error @ np.linalg.solve(covariance, error)))
            errors.append(abs(result["mass"] - truth[0]) / truth[0])
        done.mass_error = max(errors)
        done.step = "verify"
        command("verify", file["result.json"], file["other.parquet"])
        done.step = "report"
        given = ["--recording", file["run.parquet"], "--trajectory", file["t.json"], "--truth", file["truth.json"]]
        command("report", file["result.json"], *given, "--output", file["report.html"])
        done.step = "export"
        for kind in FORMATS:
            command("export", file["result.json"], "--format", kind)
        if path.suffix == ".urdf":
            command("export", file["result.json"], "--urdf", str(path), "--output", file["merged.urdf"])
            heavier = iparam.load_robot(file["merged.urdf"], tip=robot.tool_frame, base=robot.base_frame)
            gained = heavier.body_parameters[-1, 0] - robot.body_parameters[-1, 0]
            if not math.isclose(gained, result["mass"], rel_tol=1e-6):
                raise StepFailedError(f"the merged URDF gained {gained} kg, not {result['mass']}")
        done.step = ""
    except StepFailedError as error:
        done.reason = str(error)
    done.seconds = time.perf_counter() - began
    return done


def walked(arguments: argparse.Namespace) -> Iterator[Walk]:
    """Every arm's walk: those of an earlier run from its file, then the others as they are done."""
    kept = {}
    if arguments.rows and arguments.rows.exists():
        for line in arguments.rows.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.pop("seeds") == arguments.seeds:
                kept[row["name"]] = Walk(**row)
    found = list(arms(arguments.words, arguments.folder))
    yield from (kept[name] for path, robot in found if (name := name_of(path, robot)) in kept)
    missing = [(path, robot) for path, robot in found if name_of(path, robot) not in kept]
    with WorkerPool(arguments.jobs) as pool:
        for done in in_workers(functools.partial(walk, arguments.seeds), missing, pool, ordered=False):
            if arguments.rows:
                with arguments.rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({**asdict(done), "seeds": arguments.seeds}) + "\n")
            yield done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", type=int, nargs="?", default=3)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--rows", type=Path, metavar="FILE")
    parser.add_argument("--from", type=Path, metavar="FOLDER", dest="folder")
    parser.add_argument("--jobs", type=int, help="arms at a time; one a core")
    arguments = parser.parse_args()
    walks = []
    for done in walked(arguments):
        walks.append(done)
        facts = f"{done.joints} joints, {done.mass:.3g} kg, {done.seconds:.0f} s"
        print(done.name, facts, done.step or "all steps done", done.reason, sep="  ", file=sys.stderr, flush=True)
    tell(sorted(walks, key=lambda done: done.name), arguments.folder, arguments.seeds)


def tell(walks: list[Walk], folder: Path | None, seeds: int) -> None:
    """Print the tables and the shares."""
    inside = [row for done in walks for row in done.inside]
    ended = [done for done in walks if done.step]
    place = folder.name if folder else "example-robot-data"
    print(
        f"{len(walks) - len(ended)} of {len(walks)} chains of {place} came to the end, with {seeds} draws of the noise "
        f"of a {NOISE}."
    )
    if inside:
        squares = np.mean([square for done in walks for square in done.standardized])
        share = f"{100.0 * np.mean(inside):.1f} % of {np.size(inside)} figures"
        print(
            f"The truth was within its 95 % interval in {share}; the mean "
            f"squared error in the metric of the stated covariance was {squares:.1f}, where {INERTIAL_FIELDS} is "
            "expected."
        )
    rows = []
    for done in (done for done in walks if done.inside):
        notes = [", no ground"] * (done.ground == "none") + [f", ends at `{done.step}`"] * bool(done.step)
        held = f"{np.sum(done.inside)} of {np.size(done.inside)}"
        off = f"{100.0 * done.mass_error:.2f} %" if math.isfinite(done.mass_error) else ""
        name = done.name.replace(" ", ", ") + "".join(notes)
        rows.append([name, str(done.joints), f"{done.mass:.3g}", f"{done.kappa:.3g}", held, off])
    header = ["file, tip", "joints", "load kg", "kappa", "truth in its 95 % intervals", "mass off by at most"]
    print_table("With a load that was identified:", header, rows)
    if ended:
        said = [[done.name.replace(" ", ", "), f"`{done.step}`", cell(done.reason)] for done in ended]
        print_table("Not to the end:", ["file, tip", "ends at", "what the command said"], said)


def cell(text: str, most: int = 240) -> str:
    """A text as a cell of a table, cut at a word."""
    text = text.removeprefix("error:").strip().replace("|", "/")
    return text if len(text) <= most else f"{text[:most].rpartition(' ')[0]} ..."


if __name__ == "__main__":
    main()
