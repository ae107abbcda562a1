"""Logs that others made of their arms: iparam beside a textbook pipeline, on torques that neither has seen.

With the folder of data as an argument, or as `measured_data.py` finds it: the arms are in its folder real_arms, the
UR10e is in ur10e.

The textbook pipeline is written out below: a zero-phase Butterworth filter, central differences, viscous and Coulomb
friction, offset and rotor inertia, least squares; the filter's cut-off, and over which speed the sign of the velocity
changes, are chosen by cross-validating the torque prediction. Beside both stand the figures that came with the logs.

The part loads is about recordings of loads that are known by other means: what `iparam identify` makes of them.

    python benchmarks/bench_real_logs.py [FOLDER] [--part errors|rates|derived|agreement|loads ...]
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measured_data import measured_data
from scipy.signal import butter, sosfiltfilt
from side_by_side import in_workers, print_table

import iparam
from iparam.arrays import FloatArray
from iparam.cli.main import main as iparam_command
from iparam.estimation.torque import RobotEstimate, identify_robot
from iparam.recording import Recording
from iparam.regressor.identifiability import base_parameters
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95

CUTOFFS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0, 80.0)
SIGN_SPEEDS = (0.0, 0.02, 0.1)  # tanh(dq / speed) for the sign of the velocity; 0 is the sign itself [rad/s]
NAMES = {
    "tx40": "Staubli TX40, 5 kHz",
    "rokae": "Rokae xMate3 Pro, 1 kHz",
    "ar5": "AR5, 50 Hz, on its side",
    "kuka": "KUKA LWR4, 200 Hz",
    "ur10e": "UR10e, three runs",
}
PUBLISHED = {  # of such a pipeline, beside the logs: held-out errors [N m]
    "tx40": (3.3, 5.3, 1.6, 0.75, 5.2, 1.9),
    "rokae": (0.58, 2.5, 0.42, 0.85, 0.24, 0.36, 0.29),
    "ar5": (0.59, 0.72, 0.23, 0.30, 0.09, 0.09, 0.04),
    "kuka": (0.23, 1.0, 0.27, 0.43, 0.29, 0.15, 0.12),
}
FOLDS = 5
INSIDE = 1.96  # standard deviations of a 95 % interval
DRAWS = 4000
FITTED_ROWS = 6000
SIDEWAYS = (9.81, 0.0, 0.0)  # the gravity of the arm that is mounted on its side, in its base's axes [m/s^2]
UR10E_COLUMNS = "time,q,dq,current,target_current,target_torque"
UR10E_LOGS = {
    "14": "ur-20_02_19_14harm50sec.csv",
    "31": "ur-20_01_31-unload.csv",
    "12": "ur-20_02_10-30sec_12harm.csv",
}


@dataclass(frozen=True)
class Log:
    """One arm with what is fitted and what is predicted."""

    name: str
    robot: Robot
    fitted: Recording
    held_out: Recording


def logs(folder: Path) -> list[Log]:
    def load(name: str, urdf: str, log: str, gravity: tuple[float, ...] | None = None) -> tuple[Robot, Recording]:
        robot = iparam.load_robot(folder / name / urdf)
        recording = Recording.load(folder / name / log, robot=robot)
        return robot, recording if gravity is None else recording.with_metadata(gravity=list(gravity))

    found = []
    for name, urdf, log, share, gravity in (
        ("tx40", "tx40.urdf", "log_5khz.csv", 30_000, None),
        ("rokae", "xm3p.urdf", "log_1khz.csv", 12_000, None),
        ("ar5", "ar5.urdf", "log_50hz.csv", 0.6, SIDEWAYS),
    ):
        robot, recording = load(name, urdf, log, gravity)
        size = recording.signal("q").num_samples
        found.append(Log(name, robot, *divided(recording, int(share if share >= 1 else share * size))))
    robot, first = load("kuka", "kuka_lwr4.urdf", "m1.csv")
    found.append(Log("kuka", robot, first, load("kuka", "kuka_lwr4.urdf", "m2.csv")[1]))
    return found


def divided(recording: Recording, rows: int) -> tuple[Recording, Recording]:
    """The first rows, and the others."""
    time = recording.signal("q").time
    edge = 0.5 * float(time[rows - 1] + time[rows])
    return recording.slice(float(time[0]), edge), recording.slice(edge, float(time[-1]))


def every(recording: Recording, step: int) -> Recording:
    """Every so many of the rows."""
    thin = recording
    for name, signal in recording.signals.items():
        thin = thin.with_signal(name, time=signal.time[::step], values=signal.values[::step])
    return thin


class Textbook:
    """The pipeline to compare with."""

    def __init__(self, robot: Robot, recording: Recording) -> None:
        self._robot = robot
        self._gravity = np.array(recording.metadata.get("gravity", (0.0, 0.0, -9.81)))
        self._base = base_parameters(robot, gravity=self._gravity).independent
        possible = [cutoff for cutoff in CUTOFFS if cutoff < 0.45 * recording.rate("q")]
        self.cutoff, self._speed = min(
            ((cutoff, speed) for cutoff in possible for speed in SIGN_SPEEDS),
            key=lambda one: self._cross_validated(recording, *one),
        )
        self._parameters = least_squares(*self._rows(recording, self.cutoff, self._speed))

    def rms(self, recording: Recording) -> FloatArray:
        """(n,) of the errors of the torques [N m]."""
        rows, torque = self._rows(recording, self.cutoff, self._speed, thin=False)
        return np.asarray(np.sqrt(np.mean((torque - rows @ self._parameters) ** 2, axis=0)))

    def _cross_validated(self, recording: Recording, cutoff: float, speed: float) -> float:
        rows, torque = self._rows(recording, cutoff, speed)
        squares = np.zeros(torque.shape[1])
        for part in np.array_split(np.arange(len(torque)), FOLDS):
            others = np.setdiff1d(np.arange(len(torque)), part)
            squares += ((torque[part] - rows[part] @ least_squares(rows[others], torque[others])) ** 2).sum(axis=0)
        return float(np.log(squares).sum())

    def _rows(
        self, recording: Recording, cutoff: float, speed: float, thin: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        signal, torque = recording.signal("q"), recording.signal("tau").values
        grid = np.linspace(signal.time[0], signal.time[-1], signal.num_samples)
        angles = np.column_stack([np.interp(grid, signal.time, column) for column in signal.values.T])
        period = float(grid[1] - grid[0])
        sections = butter(4, cutoff, fs=1.0 / period, output="sos")
        q = sosfiltfilt(sections, angles, axis=0, padlen=min(len(grid) - 1, int(3.0 / (cutoff * period)) + 1))
        dq = np.gradient(q, period, axis=0)
        ddq = np.gradient(dq, period, axis=0)
        step = max(1, len(grid) // FITTED_ROWS) if thin else 1
        q, dq, ddq, torque = q[::step], dq[::step], ddq[::step], torque[::step]
        unit = np.eye(q.shape[1])
        inertial = iparam.joint_torque_regressor(self._robot, q, dq, ddq, self._gravity)[..., self._base]
        side = np.tanh(dq / speed) if speed else np.sign(dq)
        own = [unit * values[:, :, None] for values in (ddq, dq, side, np.ones_like(dq))]
        return np.concatenate([inertial, *own], axis=2), torque


def least_squares(rows: FloatArray, torque: FloatArray) -> FloatArray:
    flat = rows.reshape(-1, rows.shape[2])
    lengths = np.linalg.norm(flat, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    return np.asarray(np.linalg.lstsq(flat / lengths, torque.ravel(), rcond=1e-7)[0] / lengths)


def errors(folder: Path) -> None:
    rows = [row for own in in_workers(functools.partial(errors_of, folder), range(len(PUBLISHED))) for row in own]
    title = "Torques that were not fitted, root mean square of the errors [N m]; means of the ratios of the joints"
    heads = ["arm", "", *(f"joint {j}" for j in range(1, 8)), "ratio to textbook, mean", "to published"]
    print_table(title, heads, rows)


def errors_of(folder: Path, index: int) -> list[list[str]]:
    log = logs(folder)[index]
    textbook = Textbook(log.robot, log.fitted)
    found = identify_robot([log.fitted], log.robot, compare=False)
    print(f"{log.name}: textbook cut off at {textbook.cutoff:g} Hz; iparam {model_of(found)}", file=sys.stderr)
    plain, own = textbook.rms(log.held_out), found.validate(log.held_out)["identified"].rms
    published = np.array(PUBLISHED[log.name])
    means = [f"{(own / other).mean():.2f}" for other in (plain, published)]
    return [
        [NAMES[log.name], "published", *joints(published), "", ""],
        ["", "textbook", *joints(plain), "", ""],
        ["", "iparam", *joints(own), *means],
    ]


def rates(folder: Path) -> None:
    rows = list(in_workers(functools.partial(rates_of, folder), range(len(PUBLISHED))))
    title = "Fitted to every fifth row: errors of the same held-out rows, against those when fitted to all"
    print_table(title, ["arm", "fitted at", "errors of the joints change by"], rows)


def rates_of(folder: Path, index: int) -> list[str]:
    log = logs(folder)[index]
    thin = every(log.held_out, 5)
    whole = identify_robot([log.fitted], log.robot, compare=False).validate(thin)["identified"].rms
    fifth = identify_robot([every(log.fitted, 5)], log.robot, compare=False).validate(thin)["identified"].rms
    rate = 1.0 / float(np.median(np.diff(log.fitted.signal("q").time)))
    change = 100.0 * (fifth / whole - 1.0)
    return [NAMES[log.name], f"{rate / 5:.0f} Hz", f"{change.min():+.0f} to {change.max():+.0f} %"]


def jittered(recording: Recording) -> Recording:
    """Taken anew at times that are off the even grid by up to 0.3 periods, between the rows."""
    time = recording.signal("q").time
    period = float(np.median(np.diff(time)))
    random = np.random.default_rng(0)
    even = np.linspace(time[0] + period, time[-1] - period, len(time) - 2)
    stamps = even + random.uniform(-0.3, 0.3, even.size) * period
    anew = recording
    for name, signal in recording.signals.items():
        values = np.column_stack([np.interp(stamps, signal.time, column) for column in signal.values.T])
        anew = anew.with_signal(name, time=stamps, values=values)
    return anew


def rounded(recording: Recording) -> Recording:
    """Angles in steps of 5e-4 rad."""
    q = recording.signal("q")
    return recording.with_signal("q", time=q.time, values=5e-4 * np.round(q.values / 5e-4))


def third(recording: Recording) -> Recording:
    """The first third of it."""
    return divided(recording, recording.signal("q").num_samples // 3)[0]


DERIVED: dict[str, Callable[[Recording, Recording], tuple[Recording, Recording]]] = {
    "runs exchanged": lambda fitted, held_out: (held_out, fitted),
    "every third row": lambda fitted, held_out: (every(fitted, 3), every(held_out, 3)),
    "taken anew at jittered times": lambda fitted, held_out: (jittered(fitted), jittered(held_out)),
    "angles rounded to 5e-4 rad": lambda fitted, held_out: (rounded(fitted), rounded(held_out)),
    "fitted to a third as much": lambda fitted, held_out: (third(fitted), held_out),
}


def derived(folder: Path) -> None:
    """Logs made of these, on which nothing was chosen."""
    jobs = [(name, index) for name in DERIVED for index in range(len(PUBLISHED))]
    ratios = list(in_workers(functools.partial(derived_ratios, folder), jobs))
    rows = []
    for place, name in enumerate(DERIVED):
        own = dict(zip(PUBLISHED, ratios[len(PUBLISHED) * place : len(PUBLISHED) * (place + 1)], strict=True))
        arm = max(own, key=lambda arm: float(own[arm].max()))
        worst = f"{own[arm].max():.2f} ({short(arm)}, joint {int(own[arm].argmax()) + 1})"
        rows.append([name, *(f"{ratio.mean():.2f}" for ratio in own.values()), worst])
    title = "Logs derived from these: errors of the torques that were not fitted over those of the textbook pipeline"
    print_table(title, ["log", *(f"{short(arm)}, mean" for arm in PUBLISHED), "worst joint"], rows)


def derived_ratios(folder: Path, job: tuple[str, int]) -> FloatArray:
    """(n,) of the joints, to the textbook pipeline."""
    name, index = job
    log = logs(folder)[index]
    fitted, held_out = DERIVED[name](log.fitted, log.held_out)
    found = identify_robot([fitted], log.robot, compare=False).validate(held_out)["identified"].rms
    return np.asarray(found / Textbook(log.robot, fitted).rms(held_out))


def short(arm: str) -> str:
    return NAMES[arm].partition(",")[0]


def pairs_of_runs(folder: Path) -> dict[str, list[tuple[str, Robot, Recording, Recording]]]:
    """By arm: what is compared, of which "runs" and "halves", and the two."""
    found = {}
    for log in logs(folder):
        halves = divided(log.fitted, log.fitted.signal("q").num_samples // 2)
        found[log.name] = [("runs", log.robot, log.fitted, log.held_out), ("halves", log.robot, *halves)]
    robot = iparam.load_robot("ur10e")
    runs = {
        name: Recording.load(folder.parent / "ur10e" / file, columns=UR10E_COLUMNS, robot=robot)
        for name, file in UR10E_LOGS.items()
    }
    found["ur10e"] = [("runs", robot, runs[a], runs[b]) for a, b in (("14", "31"), ("14", "12"), ("31", "12"))]
    found["ur10e"] += [("halves", robot, *divided(run, run.signal("q").num_samples // 2)) for run in runs.values()]
    return found


def agreement(folder: Path) -> None:
    measured_data("ur10e", folder.parent)
    jobs = [(arm, number) for arm, own in pairs_of_runs(folder).items() for number in range(len(own))]
    by_arm: dict[str, dict[str, list[Differences]]] = {}
    for (arm, _), (kind, found) in zip(jobs, in_workers(functools.partial(compared, folder), jobs), strict=True):
        by_arm.setdefault(arm, {"runs": [], "halves": []})[kind].append(found)
    rows = [
        [
            short(arm),
            inside(own["runs"]),
            inside(own["halves"]),
            *agreeing(own["runs"] + own["halves"]),
        ]
        for arm, own in by_arm.items()
    ]
    everything = [one for own in by_arm.values() for pairs in own.values() for one in pairs]
    rows.append(["all", "", "", *agreeing(everything)])
    title = (
        "Parameters of two runs that agree within their stated 95 %; how many independent ones they are worth; between "
        "what the share lies (5 and 95 %) where intervals hold 95 % exactly; the differences in standard deviations"
    )
    header = ["arm", "runs", "halves of one", "both together", "worth", "exact", "median", "root mean square"]
    print_table(title, header, rows)


def compared(folder: Path, job: tuple[str, int]) -> tuple[str, Differences]:
    arm, number = job
    kind, robot, *both = pairs_of_runs(folder)[arm][number]
    return kind, Differences.between(*(identify_robot([run], robot, compare=False) for run in both))


def loads(folder: Path) -> None:
    """Real recordings of loads that are known by other means."""
    sensor, arm = folder / "ft_sensor", measured_data("ur10e", folder.parent)
    turned = f"{sensor}/1-baseline_wrench.csv --orientation {sensor}/1-baseline_orientations.csv --gravity 9.82"
    currents = f"torque-payload --robot ur10e --columns {UR10E_COLUMNS}"
    first = f"{arm}/ur-20_02_19_14harm50sec.csv", f"{arm}/ur-20_02_19_14harm50secLoad.csv"
    second = f"{arm}/ur-20_01_31-unload.csv", f"{arm}/ur-20_01_31-load.csv"
    rows = [
        ["ATI Gamma, 24 poses at rest", *found(f"payload {sensor}/0-calibration_fts-accel.csv", "0.932 kg")],
        ["the same in motion, orientation alone", *found(f"payload {turned}", "0.932 kg")],
    ]
    for name, (bare, loaded) in (
        ("UR10e, currents, first pair of runs", first),
        ("UR10e, currents, second pair", second),
        ("the first pair, bare and loaded exchanged", first[::-1]),
    ):
        rows.append([name, *found(f"{currents} --bare {bare} --loaded {loaded}", "2.805 kg")])
    header = ["recording", "verdict", "load +- 95 %", "known", "causes named"]
    print_table("Real recordings, of which the load is known by other means", header, rows)


def found(options: str, known: str) -> list[str]:
    """What a command makes of a recording."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        iparam_command(["identify", *options.split(), "--json"])
    result = json.loads(out.getvalue())
    verdict, mass = result["assessment"]["verdict"], f"{result['mass']:.4g}"
    if verdict != "refuted":
        half = NORMAL_95 * result["standard_deviation"]["mass"]
        if "mass_interval_95" in result:
            half = 0.5 * float(np.diff(result["mass_interval_95"])[0])
        mass += f" +- {half:.2g}"
    told = ", ".join(cause["cause"] for cause in result["assessment"]["causes"]) or "none"
    part = "" if result["inertia_about_com"] is not None else f", {' and '.join(result['determined'])} only"
    return [verdict + part.replace("_", " "), f"{mass} kg", known, told]


@dataclass(frozen=True)
class Differences:
    """Between the parameters of two runs.

    Attributes:
        scores: (r,) absolute, in standard deviations.
        correlation: (r, r) of them, by what the two runs state.
    """

    scores: FloatArray
    correlation: FloatArray

    @staticmethod
    def between(one: RobotEstimate, other: RobotEstimate) -> Differences:
        """Of those that both runs determine."""
        places = [
            {
                name: i
                for i, (name, value) in enumerate(zip(found.base_names, found.base_values, strict=True))
                if np.isfinite(value)
            }
            for found in (one, other)
        ]
        common = [name for name in places[0] if name in places[1]]
        total, difference = np.zeros((len(common), len(common))), np.zeros(len(common))
        for sign, found, place in zip((1.0, -1.0), (one, other), places, strict=True):
            own = [place[name] for name in common]
            total += found.base_covariance[np.ix_(own, own)]
            difference += sign * found.base_values[own]
        deviation = np.sqrt(np.diag(total))
        return Differences(np.abs(difference) / deviation, total / np.outer(deviation, deviation))

    @property
    def worth(self) -> float:
        """Independent comparisons whose share inside scatters as much: r^2 over the sum of the squared correlations."""
        return float(self.scores.size**2 / np.sum(self.correlation**2))

    def drawn(self, rng: np.random.Generator) -> FloatArray:
        """(DRAWS,) how many are inside where the differences are normal and have the stated covariance."""
        values, vectors = np.linalg.eigh(self.correlation)
        normal = rng.normal(size=(DRAWS, values.size)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        return np.asarray(np.count_nonzero(np.abs(normal) < INSIDE, axis=1))


def inside(pairs: list[Differences]) -> str:
    """How many of the parameters of each pair agree, and their share in all pairs."""
    counts = [(int(np.count_nonzero(pair.scores < INSIDE)), pair.scores.size) for pair in pairs]
    share = sum(count for count, _ in counts) / sum(size for _, size in counts)
    return f"{', '.join(f'{count} of {size}' for count, size in counts)}: {100 * share:.0f} %"


def agreeing(pairs: list[Differences]) -> list[str]:
    rng = np.random.default_rng(0)
    score = np.concatenate([pair.scores for pair in pairs])
    low, high = np.quantile(sum(pair.drawn(rng) for pair in pairs), (0.05, 0.95)) / score.size
    return [
        f"{100 * np.mean(score < INSIDE):.1f} %",
        f"{sum(pair.worth for pair in pairs):.0f}",
        f"{100 * low:.0f} to {100 * high:.0f} %",
        f"{np.median(score):.2f}",
        f"{np.sqrt(np.mean(score**2)):.2f}",
    ]


def joints(values: FloatArray) -> list[str]:
    return [*(f"{value:.3g}" for value in values), *[""] * (7 - len(values))]


def model_of(found: RobotEstimate) -> str:
    bandwidths = found.bandwidths
    drives = ", ".join(coupling.name for coupling in found.model.couplings)
    return f"{bandwidths.min():.2g} to {bandwidths.max():.2g} Hz" + (f", drives {drives}" if drives else "")


PARTS: dict[str, Callable[[Path], None]] = {
    "errors": errors,
    "rates": rates,
    "derived": derived,
    "agreement": agreement,
    "loads": loads,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="of measured data")
    parser.add_argument("--part", nargs="+", choices=tuple(PARTS), default=tuple(PARTS))
    options = parser.parse_args()
    folder = measured_data("real_arms", options.folder)
    for part in options.part:
        PARTS[part](folder)


if __name__ == "__main__":
    main()
