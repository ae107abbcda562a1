"""Logs that others made of their arms: iparam beside a textbook pipeline, on torques that neither has seen.

With the folder of logs as an argument, or in IPARAM_DATA: the arms in its folder real_arms, and the UR10e.

The textbook pipeline is written out below: a zero-phase Butterworth filter, central differences, viscous and Coulomb
friction, offset and rotor inertia, least squares; the filter's cut-off, and over which speed the sign of the velocity
changes, are chosen by cross-validating the torque prediction. Beside both stand the figures that came with the logs.

    python benchmarks/bench_real_logs.py [FOLDER] [--part errors|rates|agreement]
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfiltfilt
from side_by_side import print_table

import iparam
from iparam.arrays import FloatArray
from iparam.estimation.torque import RobotEstimate, identify_robot
from iparam.recording import Recording
from iparam.regressor.identifiability import base_parameters
from iparam.robot.model import Robot

CUTOFFS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0, 80.0)
SIGN_SPEEDS = (0.0, 0.02, 0.1)  # tanh(dq / speed) for the sign of the velocity; 0 is the sign itself [rad/s]
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
    arms = folder / "real_arms"

    def load(name: str, urdf: str, log: str, gravity: tuple[float, ...] | None = None) -> tuple[Robot, Recording]:
        robot = iparam.load_robot(arms / name / urdf)
        recording = Recording.load(arms / name / log, robot=robot)
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
    rows = []
    for log in logs(folder):
        textbook = Textbook(log.robot, log.fitted)
        start = time.perf_counter()
        found = identify_robot([log.fitted], log.robot, compare=False)
        took = time.perf_counter() - start
        plain, own = textbook.rms(log.held_out), found.validate(log.held_out)["identified"].rms
        published = np.array(PUBLISHED[log.name])
        means = [f"{(own / other).mean():.2f}" for other in (plain, published)]
        rows.append([log.name, "published", *joints(published), "", "", ""])
        rows.append([log.name, "textbook", *joints(plain), "", "", f"cut-off {textbook.cutoff:g} Hz"])
        rows.append([log.name, "iparam", *joints(own), *means, f"{took:.1f} s; {model_of(found)}"])
    title = "Torques that were not fitted, root mean square of the errors [N m]; means of the ratios of the joints"
    heads = ["arm", "", *(f"joint {j}" for j in range(1, 8)), "to textbook", "to published", ""]
    print_table(title, heads, rows)


def rates(folder: Path) -> None:
    rows = []
    for log in logs(folder):
        thin = every(log.held_out, 5)
        whole = identify_robot([log.fitted], log.robot, compare=False).validate(thin)["identified"].rms
        fifth = identify_robot([every(log.fitted, 5)], log.robot, compare=False).validate(thin)["identified"].rms
        rate = 1.0 / float(np.median(np.diff(log.fitted.signal("q").time)))
        rows.append([log.name, f"{rate:.0f} -> {rate / 5:.0f} Hz", *joints(fifth / whole)])
    title = "Fitted to every fifth row: errors of the same held-out rows, over those when fitted to all"
    print_table(title, ["arm", "", *(f"joint {j}" for j in range(1, 8))], rows)


def agreement(folder: Path) -> None:
    pairs = []
    for log in logs(folder):
        if log.name == "kuka":
            pairs.append(("kuka, two runs", log.robot, log.fitted, log.held_out))
            continue
        pairs.append((f"{log.name}, fitted and held out", log.robot, log.fitted, log.held_out))
    robot = iparam.load_robot("ur10e")
    runs = {
        name: Recording.load(folder / "ur10e" / file, columns=UR10E_COLUMNS, robot=robot)
        for name, file in UR10E_LOGS.items()
    }
    pairs += [
        (f"ur10e, runs {a} and {b}", robot, runs[a], runs[b]) for a, b in (("14", "31"), ("14", "12"), ("31", "12"))
    ]
    for name, arm, one in [
        *((f"{log.name}, halves", log.robot, log.fitted) for log in logs(folder)),
        *((f"ur10e {name}, halves", robot, run) for name, run in runs.items()),
    ]:
        pairs.append((name, arm, *divided(one, one.signal("q").num_samples // 2)))
    rows = []
    every_pair: dict[str, list[Differences]] = {}
    for name, arm, *both in pairs:
        found = Differences.between(*(identify_robot([run], arm, compare=False) for run in both))
        every_pair.setdefault(name.split()[0].rstrip(","), []).append(found)
        rows.append([name, *agreeing([found])])
    rows += [[f"{arm}, all of these", *agreeing(found)] for arm, found in every_pair.items()]
    title = (
        "Parameters of two runs that agree within their stated 95 %; how many independent ones they are worth; between "
        "what the share lies (5 and 95 %) where intervals hold 95 % exactly; the differences in standard deviations"
    )
    print_table(title, ["runs", "agree", "", "worth", "exact intervals", "median", "rms"], rows)


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


def agreeing(pairs: list[Differences]) -> list[str]:
    rng = np.random.default_rng(0)
    score = np.concatenate([pair.scores for pair in pairs])
    inside = int(np.count_nonzero(score < INSIDE))
    low, high = np.quantile(sum(pair.drawn(rng) for pair in pairs), (0.05, 0.95)) / score.size
    return [
        f"{100 * inside / score.size:.1f} %",
        f"{inside} of {score.size}",
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("IPARAM_DATA"))
    parser.add_argument("--part", choices=("errors", "rates", "agreement"))
    options = parser.parse_args()
    if options.folder is None or not (Path(options.folder) / "real_arms").is_dir():
        print("needs the folder of real logs, as an argument or in IPARAM_DATA: nothing to do without it")
        return
    for part in (errors, rates, agreement):
        if options.part in (None, part.__name__):
            part(Path(options.folder))


if __name__ == "__main__":
    main()
