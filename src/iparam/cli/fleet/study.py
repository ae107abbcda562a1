"""`iparam study ...`: Monte Carlo of plan, noise, payload and arm, with confidence intervals of what it finds."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tyro.conf import arg

import iparam
from iparam.cli.console.printing import AsJson, live_line, note, print_json, print_line, print_table, say
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.identify.payload import Method
from iparam.cli.options.joint_state import note_other_arm
from iparam.cli.options.payload import PayloadOptions
from iparam.cli.options.planning import read_plan
from iparam.cli.options.scheduler import SchedulerOptions
from iparam.errors import InputError, IparamError
from iparam.files.kind import FileKind
from iparam.robot.loading import load_stated_robot, stated_name
from iparam.rounding import number

if TYPE_CHECKING:
    from iparam.fleet import Experiment, Figure, Plan, Study

_SHOWN = 0.2  # s between two lines of progress
_PLAN_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class StudyOptions(PayloadOptions, SchedulerOptions):
    """The options of all studies."""

    kind: ClassVar[str]
    unit: ClassVar[tuple[float, str]] = (100.0, "%")

    output: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.STUDY)
    ] = None
    """File for the table of runs: .parquet or .csv."""
    overwrite: Overwrite = False
    robot: Annotated[tuple[str, ...], arg(metavar="ROBOT ..", help_behavior_hint="(default: the trajectories')")] = ()
    """Arms, taken in turn, each with a random motion of 10 s; or the one arm of --trajectory."""
    trajectory: Annotated[tuple[Path, ...], arg(metavar="FILE ..", help_behavior_hint="")] = ()
    """Plans of one arm or several, taken in turn: .json."""
    noise: Annotated[tuple[str, ...], arg(metavar="PRESET ..")] = ("ur5e",)
    """Noise of the sensors: ur5e or harsh; each is a scenario."""
    masses: Annotated[tuple[float, float], arg(metavar="LOW HIGH")] = (0.5, 3.0)
    """Masses of the boxes that are drawn where --payload does not say what is carried [kg]."""
    sensor_rate: Annotated[float, arg(metavar="HZ")] = 500.0
    """Samples of all sensors a second."""
    method: Method = "consistent"
    """The estimator."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """Seed of everything that is drawn: the same seed gives the same table on any number of workers."""
    precision: Annotated[float | None, arg(metavar="P")] = None
    runs: Annotated[int, arg(metavar="N")] = 10_000
    """Most runs: it stops at these in any case."""
    json: AsJson = False

    def run(self) -> None:
        """Run the study and print its figures."""
        if self.method == "all":
            raise InputError("--method all compares methods on one recording: choose one")
        shown, began = 0.0, time.monotonic()
        rows: Sequence[Mapping[str, Any]] = ()
        cut: KeyboardInterrupt | iparam.fleet.ExecutorLostError | None = None

        def tell(done: Sequence[Mapping[str, Any]], due: int, width: float) -> None:
            nonlocal shown, rows
            rows = done
            if show is not None and time.monotonic() - shown > _SHOWN:
                shown, rate = time.monotonic(), len(done) / (time.monotonic() - began)
                show(
                    f"{_runs(len(done))}{self._known(width)}, {rate:.3g} a second, "
                    f"{(due - len(done)) / rate:.0f} s to the next look, after {due}"
                )

        try:
            experiment = self.experiment()
            with self.executor() as executor, live_line("starting the workers") as show:
                study = iparam.fleet.run_study(
                    self.kind,
                    experiment,
                    executor=executor,
                    precision=self.precision,
                    most_runs=self.runs,
                    progress=tell,
                )
        except (KeyboardInterrupt, iparam.fleet.ExecutorLostError) as error:
            cut, study = error, iparam.fleet.Study.of(self.kind, rows, self.precision)
        if self.output is not None and study.rows:
            study.save(self.output)
        if cut is not None:
            say(self._cut_off(study, "interrupted" if isinstance(cut, KeyboardInterrupt) else str(cut)))
        if study.rows:
            self._report(study, time.monotonic() - began, interrupted=cut is not None)
        if isinstance(cut, KeyboardInterrupt):
            raise cut
        if cut is not None:
            raise IparamError("the study was cut off, see above")

    def _cut_off(self, study: Study, why: str) -> str:
        """What is left of a study that did not come to its end."""
        if not study.rows:
            return f"{why}, before the first run was done: nothing is written"
        kept = f"they are in {self.output}" if self.output is not None else "--output would keep their table"
        return (
            f"{why} after {_runs(len(study.rows))}, whose figures follow; {kept}. The same --seed gives the same runs "
            "again"
        )

    def _known(self, width: float) -> str:
        """The half width of the 95 % interval of the figure that the study stops by, as far as it is known."""
        factor, unit = self.unit
        return f", +-{factor * width:.2g}{unit and ' ' + unit} so far" if math.isfinite(width) else ""

    def experiment(self) -> Experiment:
        """What is drawn."""
        noises = tuple(iparam.noise_preset(name) for name in self.noise)
        if not noises:
            raise InputError("--noise needs a preset: ur5e or harsh")
        if self.payload == "none":
            raise InputError("--payload none leaves nothing to identify: leave it out, or say what is carried")
        return iparam.fleet.Experiment(
            plans=tuple(self._plans()),
            noises=self.scenarios(noises),
            payload=self.carried() if self.names_payload else None,
            masses=self.masses,
            rate=self.sensor_rate,
            method=self.method,
            seed=self.seed,
        )

    def scenarios(self, noises: tuple[iparam.sensing.NoiseModel, ...]) -> tuple[iparam.sensing.NoiseModel, ...]:
        """What sensors are simulated."""
        return noises

    def _plans(self) -> list[Plan]:
        if self.trajectory and len(self.robot) > 1:
            raise InputError("with --trajectory, --robot is the one arm of all trajectories: give one, or none")
        if not (self.trajectory or self.robot):
            raise InputError(
                "give --trajectory, plans of an arm or several, or --robot, arms that are to move at random"
            )
        plans = []
        for path in self.trajectory:
            planned = read_plan(path)
            if not (self.robot or planned.robot):
                raise InputError(f"{path} does not say which robot it belongs to: add --robot")
            name = self.robot[0] if self.robot else stated_name(planned.robot or "", path)
            robot = load_stated_robot(name, planned.arm)
            note_other_arm(planned.robot, robot, "".join(self.robot), str(path))
            plans.append(iparam.fleet.Plan(path.stem, robot, planned.trajectory))
        for name in () if self.trajectory else self.robot:
            robot = iparam.load_robot(name)
            problem = iparam.planning_problem(robot, duration=_PLAN_SECONDS)
            drawn = iparam.excitation.random_search(problem.q0, _PLAN_SECONDS, problem.constraints, seed=self.seed)
            plans.append(iparam.fleet.Plan(f"random {self.seed}", robot, drawn.trajectory))
        return plans

    def _report(self, study: Study, seconds: float, *, interrupted: bool) -> None:
        if not study.reached and not interrupted:
            known = self._known(study.half_width).removesuffix(" so far").removeprefix(", ") or "nothing yet"
            wanted = self._known(study.precision).removesuffix(" so far").removeprefix(", ")
            note(f"after {_runs(len(study.rows))} the precision is {known}, not {wanted} (--precision): more --runs")
        if self.json:
            print_json(
                {
                    "study": study.kind,
                    "runs": len(study.rows),
                    "seed": self.seed,
                    "precision": study.precision,
                    "half_width": study.half_width,
                    "reached": study.reached,
                    "interrupted": interrupted,
                    "figures": [dataclasses.asdict(figure) for figure in study.figures],
                    "seconds": seconds,
                    "output": None if self.output is None else str(self.output),
                }
            )
            return
        factor, unit = self.unit
        lines = [
            [f"{figure.scenario}: {figure.name}", *self._numbers(figure, factor), str(figure.runs)]
            for figure in study.figures
        ]
        title = f"{study.kind}, {_runs(len(study.rows))}, seed {self.seed}"
        print_table(title, ["", f"value {unit}".strip(), "95 % from", "to", "runs"], lines)
        print_line()
        print_line(f"made in   {seconds:.1f} s, {len(study.rows) / seconds:.3g} runs a second")
        if self.output is not None:
            print_line(f"runs      {self.output}")

    @staticmethod
    def _numbers(figure: Figure, factor: float) -> list[str]:
        return [number(factor * value, 3 if factor == 1.0 else 1) for value in (figure.value, figure.low, figure.high)]


def _runs(count: int) -> str:
    return f"{count} run" if count == 1 else f"{count} runs"


@dataclass(frozen=True, kw_only=True)
class StudyCoverage(StudyOptions):
    r"""How often the 95 % intervals of an identification hold.

    Example:
      iparam study coverage --trajectory t.json --noise harsh --output c.parquet
      iparam study coverage --robot ur5e ur10e --precision 0.02
    """

    kind: ClassVar[str] = "coverage"
    precision: Annotated[float | None, arg(metavar="P", help_behavior_hint="(default: 0.01)")] = None
    """Half width of the 95 % interval of the mean coverage at which the study stops; 0.01 is 1 %."""


@dataclass(frozen=True, kw_only=True)
class StudyPrecision(StudyOptions):
    r"""Root mean square errors in units of the Cramer-Rao bound.

    The bound is that of an exactly known motion and white noise of the wrench.

    Example:
      iparam study precision --trajectory t.json --payload box --mass 2 \
          --size .1 .15 .2
    """

    kind: ClassVar[str] = "precision"
    unit: ClassVar[tuple[float, str]] = (1.0, "")
    precision: Annotated[float | None, arg(metavar="P", help_behavior_hint="(default: 0.05)")] = None
    """Half width of the 95 % interval of the error of all ten at which the study stops, in bounds."""


@dataclass(frozen=True, kw_only=True)
class StudyRobustness(StudyOptions):
    r"""How often a result is wrong and trusted, or refuted, as sensors get worse.

    Example:
      iparam study robustness --trajectory t.json --precision 0.05
    """

    kind: ClassVar[str] = "robustness"
    precision: Annotated[float | None, arg(metavar="P", help_behavior_hint="(default: 0.05)")] = None
    """Half width of the 95 % interval of 'wrong and trusted' at which the study stops; 0.05 is 5 %."""

    def scenarios(self, noises: tuple[iparam.sensing.NoiseModel, ...]) -> tuple[iparam.sensing.NoiseModel, ...]:
        """Each noise, and what can get worse."""
        return tuple(scenario for noise in noises for scenario in iparam.fleet.worse_noises(noise))
