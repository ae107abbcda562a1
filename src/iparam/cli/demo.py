"""`iparam demo`: the whole job in simulation: plan a motion, run it, identify the load, compare with the truth."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from tyro.conf import arg

import iparam
from iparam.cli.console.printing import AsJson, note, note_remark, print_json, print_line, print_table, say
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.errors import FileWriteError, InputError, IparamError
from iparam.estimation import assessment
from iparam.files.kind import FileKind
from iparam.rounding import number, numbers

if TYPE_CHECKING:
    from iparam.estimation.assessment.method_comparison import MethodComparison
    from iparam.estimation.estimate import Estimate
    from iparam.recording.recording import Recording
    from iparam.robot.model import Robot
    from iparam.spatial.parameters import InertialParameters

PARAMETERS = (
    *("mass [kg]", "CoM x [mm]", "CoM y [mm]", "CoM z [mm]"),
    *(f"inertia {entry} [kg m^2]" for entry in ("xx", "xy", "xz", "yy", "yz", "zz")),
)
_DECIMALS = (4, 4, 4, 4, *[6] * 6)


def parameter_rows(estimate: Estimate, truth: InertialParameters) -> list[list[str]]:
    """A row for each of the ten numbers: name, estimate, 95 % half width, truth, error, whether the interval holds."""
    found, true = assessment.derived_values(estimate), assessment.SCALES * assessment.derived_of(truth)
    values, half = assessment.SCALES * found.values, assessment.SCALES * found.half_widths
    inside = found.holds(assessment.derived_of(truth))
    return [
        [name, *numbers([values[i], half[i], true[i], values[i] - true[i]], _DECIMALS[i]), "yes" if inside[i] else "no"]
        for i, name in enumerate(PARAMETERS)
    ]


def demo_summary(comparison: MethodComparison, truth: InertialParameters) -> dict[str, Any]:
    """For machines: the truth, and each method's estimate with its errors."""
    found = {}
    for name, estimate in comparison.estimates.items():
        errors = assessment.accuracy(estimate.phi, truth.phi)
        found[name] = {
            **estimate.to_document(),
            "error": {
                "mass_percent": errors.mass_percent,
                "center_of_mass": errors.center_of_mass_distance,
                "inertia_percent": errors.inertia_percent,
            },
            "truth_inside_95_percent": assessment.derived_values(estimate).holds(assessment.derived_of(truth)),
        }
    return {"simulated": True, "truth": {"phi": truth.phi}, "methods": found, "failures": dict(comparison.failures)}


def method_rows(estimates: Mapping[str, Estimate], truth: InertialParameters) -> list[list[str]]:
    """A row for each method: mass, and the errors of mass, centre of mass and inertia with 95 % half widths."""
    largest = float(np.linalg.eigvalsh(truth.inertia_about_com)[-1])
    rows = []
    for name, estimate in estimates.items():
        found, errors = assessment.derived_values(estimate), assessment.accuracy(estimate.phi, truth.phi)
        half = found.half_widths
        rows.append(
            [
                name,
                *numbers([estimate.mass, half[0]], 4),
                f"{errors.mass_percent:.3f} %",
                number(1e3 * errors.center_of_mass_distance, 2),
                number(1e3 * float(half[1:4].max()), 2),
                f"{float(errors.inertia_percent.max()):.2f} %",
                f"{100.0 * float(half[4:].max()) / largest:.2f}",
                f"{int(found.holds(assessment.derived_of(truth)).sum())}/10",
            ]
        )
    return rows


ROBOT = "ur5e"
MASS, SIZE = 2.0, (0.10, 0.15, 0.20)
"""Of the solid box on the flange [kg, m]."""

FILES = {
    "trajectory.json": FileKind.TRAJECTORY,
    "run.parquet": FileKind.RECORDING,
    "truth.json": FileKind.TRUTH,
    "result.json": FileKind.RESULT,
    "report.html": FileKind.REPORT,
}


@dataclass(frozen=True, kw_only=True)
class Demo:
    """The whole job in simulation: plan, move, identify, compare with the truth.

    A simulated UR5e with noisy sensors carries a box of 2 kg. No real arm moves.

    Example:
      iparam demo
      iparam demo --time-budget 15 --seed 3 --output-dir demo-3
    """

    time_budget: Annotated[float, arg(metavar="S")] = 10.0
    """Time to search a good motion [s]."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """Of the search and of the sensors' noise."""
    output_dir: Annotated[Path, arg(metavar="FOLDER"), Writes(files=FILES)] = Path("iparam-demo")
    """Folder for the files; made if it is not there, files in it replaced."""
    overwrite: Overwrite = False
    no_report: Annotated[bool, arg(help_behavior_hint="")] = False
    """Write no report.html (then matplotlib is not needed)."""
    json: AsJson = False

    def run(self) -> None:
        """Do it all."""
        if not (np.isfinite(self.time_budget) and self.time_budget > 0.0):
            raise InputError(argument="time_budget", value=self.time_budget, expected="a positive time in s")
        if self.seed < 0:
            raise InputError(f"--seed must be at least 0, got {self.seed}")
        iparam.robot.require_mujoco()
        if not self.no_report:
            iparam.report.require_plot_extra()
        try:
            self.output_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileWriteError(f"--output-dir {self.output_dir} cannot be made: {error.strerror}") from None
        began, before = time.perf_counter(), self._written()
        try:
            robot = self._plan()
            recording, truth = self._simulate(robot)
            estimate, comparison = self._identify(recording, robot)
            if not self.no_report:
                self._write_report(recording, robot, truth, estimate, comparison)
        except KeyboardInterrupt:
            kept = [path.name for path, when in self._written().items() if before.get(path) != when]
            say(f"interrupted: {', '.join(kept) or 'nothing'} of this run is in {self.output_dir}")
            raise
        if self.json:
            print_json({**demo_summary(comparison, truth), "files": [str(path) for path in self._files]})
            return
        self._print(truth, estimate, comparison)
        print_line()
        print_line(f"files     {', '.join(sorted(path.name for path in self._files))} in {self.output_dir}")
        if not self.no_report:
            print_line(f"report    {self.output_dir / 'report.html'}: open it in a browser")
        print_line(f"time      {time.perf_counter() - began:.1f} s")

    @property
    def _files(self) -> list[Path]:
        return [self.output_dir / name for name in FILES if not (self.no_report and name == "report.html")]

    def _written(self) -> dict[Path, int]:
        """The files that are there, and when each was written [ns]."""
        return {path: path.stat().st_mtime_ns for path in self._files if path.exists()}

    def _plan(self) -> Robot:
        say(f"1/4 planning a motion of 10 s that excites the load ({self.time_budget:g} s of search) ...")
        robot = iparam.load_robot(ROBOT)
        conditions = iparam.trajectory.PlanConditions(
            payload=iparam.trajectory.PlannedPayload.from_size(SIZE, mass=MASS)
        )
        problem = iparam.planning_problem(robot, conditions=conditions)
        found = iparam.optimize_excitation(problem, seed=self.seed, time_budget=self.time_budget)
        checked = iparam.excitation.validate(found.trajectory, problem.constraints)
        if not checked.satisfied:
            raise IparamError(f"the planned motion is not valid: {'; '.join(checked.violations)}")
        iparam.save_trajectory(
            self.output_dir / "trajectory.json",
            found.trajectory,
            robot=ROBOT,
            fps=problem.fps,
            condition_number=found.condition_number,
            validation=checked.as_json(),
            arm=iparam.robot.StatedArm.of(robot),
            conditions=conditions,
        )
        if found.interrupted:
            raise KeyboardInterrupt  # the search ends with what it has; whoever wants to stop means all of it
        say(f"    condition number {found.condition_number:.3f}, every limit kept, {len(found.starts)} starts")
        return robot

    def _simulate(self, robot: Robot) -> tuple[Recording, InertialParameters]:
        say("2/4 simulating it in MuJoCo, with the noise of a UR5e's sensors ...")
        planned = iparam.load_trajectory(self.output_dir / "trajectory.json")
        result = iparam.MujocoSimulator().load(robot, iparam.Payload.box(mass=MASS, size=SIZE)).run(planned.trajectory)
        recording = iparam.noise_preset(ROBOT).apply(result.recording, self.seed)
        recording.save(self.output_dir / "run.parquet")
        result.save_truth(self.output_dir / "truth.json")
        for one in recording.remarks:
            note_remark(one)
        return recording, result.truth.payload

    def _identify(self, recording: Recording, robot: Robot) -> tuple[Estimate, MethodComparison]:
        say("3/4 identifying the load from the recording alone, with all methods ...")
        comparison = iparam.estimation.compare_methods(recording, robot)
        if iparam.estimation.DEFAULT_METHOD not in comparison.estimates:
            raise IparamError(
                f"method {iparam.estimation.DEFAULT_METHOD}: {comparison.failures[iparam.estimation.DEFAULT_METHOD]}"
            )
        for name, reason in comparison.failures.items():
            note(f"{name}: {reason}")
        estimate = comparison.estimates[iparam.estimation.DEFAULT_METHOD]
        estimate.save(self.output_dir / "result.json")
        for one in estimate.remarks:
            note_remark(one)
        return estimate, comparison

    def _write_report(
        self,
        recording: Recording,
        robot: Robot,
        truth: InertialParameters,
        estimate: Estimate,
        comparison: MethodComparison,
    ) -> None:
        say("4/4 writing the report ...")
        iparam.report.write_report(
            self.output_dir / "report.html",
            iparam.report.ReportInput(
                estimate=estimate,
                robot=robot,
                recording=recording,
                trajectory=iparam.load_trajectory(self.output_dir / "trajectory.json"),
                truth=truth,
                comparison=comparison,
                title="iparam demo: a box on a simulated UR5e",
                sources={path.stem: path.name for path in self._files if path.suffix != ".html"},
                created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z"),
            ),
        )

    def _print(self, truth: InertialParameters, estimate: Estimate, comparison: MethodComparison) -> None:

        print_table(
            f"The load of a simulated {ROBOT}, method {estimate.method}, against the simulator's truth",
            ["", "estimate", "+-95 %", "truth", "error", "inside"],
            parameter_rows(estimate, truth),
        )
        print_line()
        print_table(
            "All methods: estimate and error against the truth, each with its 95 % interval",
            ["method", "mass kg", "+-", "error", "CoM error mm", "+-", "inertia error", "+-", "inside"],
            method_rows(comparison.estimates, truth),
        )
        largest = float(np.linalg.eigvalsh(truth.inertia_about_com)[-1])
        print_line()
        print_line("+-: 95 %. Inertia error: the largest of its six entries about the CoM, in")
        print_line(f"per cent of the largest moment, {number(largest)} kg m^2. Inside: how many of the")
        print_line("ten true values lie in their 95 % interval (9.5 on average). All of this is simulated.")
