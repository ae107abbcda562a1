"""`iparam excite predict`: the precision that a trajectory will reach, and the shortest time to a wanted one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from tyro.conf import arg

import iparam
from iparam.cli.console.printing import note, print_json, print_line, print_table
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.joint_state import note_robot_file
from iparam.cli.options.planning import PlannedMotionOptions
from iparam.cli.options.shape import ShapeOptions, typed_box
from iparam.errors import InputError
from iparam.files.kind import FileKind
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.loading import StatedArm
from iparam.rounding import NORMAL_95, decimals_for, number, percent
from iparam.spatial.derived import derived_covariance

if TYPE_CHECKING:
    from iparam.excitation.duration import DurationChoice
    from iparam.excitation.prediction import Prediction, Target
    from iparam.robot.model import Robot
    from iparam.trajectory import TrajectoryFile

# What is printed of the ten derived numbers: name, unit, the unit in SI, and decimals.
_ROWS = (
    ("mass", "kg", 1.0, 4),
    *((f"centre of mass {axis}", "mm", 1e-3, 4) for axis in "xyz"),
    *((f"inertia {entry} (CoM)", "kg m^2", 1.0, 6) for entry in ("xx", "xy", "xz", "yy", "yz", "zz")),
)
_DIAGONAL = (0, 4, 7, 9)  # those with a size of their own, to which an error can be compared


@dataclass(frozen=True, kw_only=True)
class Predict(PlannedMotionOptions, ShapeOptions):
    r"""Predict how precisely a trajectory will tell a payload's parameters.

    --target finds the shortest time: how fast and how often to run the trajectory.

    Example:
      iparam excite predict t.json --robot ur5e --noise ur5e \
          --payload-mass 2 --payload-size 0.1 0.15 0.2
      iparam excite predict t.json --payload-mass 2 --payload-size 0.1 0.15 0.2 \
          --target mass=0.5%,com=1mm,inertia=5% --output timed.json
      iparam excite predict slow.json --shape part.stl --payload-mass 2
    """

    noise: Annotated[str, arg(metavar="PRESET")] = "ur5e"
    """Noise of the sensors: ur5e or harsh."""
    rate: Annotated[float, arg(metavar="HZ")] = 500.0
    """Samples of the sensors a second."""
    repetitions: Annotated[int, arg(metavar="N")] = 1
    """How often the trajectory is run."""
    unweighted: Annotated[bool, arg(help_behavior_hint="")] = False
    """The estimator takes N and N m alike instead of weighting them by their noise."""
    target: Annotated[str | None, arg(metavar="TARGETS", help_behavior_hint="")] = None
    """Standard deviations to reach: mass in %, g or kg; com in mm, cm or m; inertia in %."""
    output: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.TRAJECTORY)
    ] = None
    """With --target: file for the trajectory at the speed that was found: .json."""
    overwrite: Overwrite = False

    def run(self) -> None:
        """Predict and print."""
        noise = iparam.sensing.MeasurementNoise.from_model(iparam.noise_preset(self.noise))
        targets = None if self.target is None else iparam.excitation.parse_targets(self.target)
        if self.output is not None and targets is None:
            raise InputError("--output is for the trajectory that --target finds: add --target, or leave it out")
        shape = self.known_shape()
        if shape is not None and targets is not None:
            raise InputError("--target is for what the data tell by themselves: leave --target or the shape out")
        self.with_stated_mass(shape).with_box_of(shape)._predict(shape, noise, targets)

    def _typed_conditions(self) -> list[str]:
        """See `PlannedMotionOptions`: a box that nobody typed is that of the shape."""
        typed = super()._typed_conditions()
        if not self.box_of_shape:
            return typed
        others = [name for name in typed if name not in ("payload_size", "payload_center")]
        return ["shape" if self.shape is not None else "shape_box", *others]

    def _note_reach(self, shape: iparam.estimation.Shape, planned: TrajectoryFile) -> None:
        """A note if the motion was planned for less than the shape takes up: nobody knows what it hits."""
        if planned.conditions is None:
            return
        box = planned.conditions.payload
        beyond = np.inf if box is None else shape.beyond(box.size, box.center)
        if beyond > shape.tolerance:
            kept = (
                "without a payload" if box is None else f"for a box that the shape reaches {1e3 * beyond:.3g} mm out of"
            )
            mass = "" if self.payload_mass is None else f" --payload-mass {self.payload_mass:g}"
            note(
                f"{self.trajectory} was planned {kept}, so that it may hit something: 'iparam excite check "
                f"{self.trajectory} {typed_box(*shape.bounds)}{mass}' tells"
            )

    def _predict(
        self,
        shape: iparam.estimation.Shape | None,
        noise: iparam.sensing.MeasurementNoise,
        targets: tuple[Target, ...] | None,
    ) -> None:
        planned, robot = self.load()
        conditions = self.conditions(planned.conditions)
        payload = None if conditions.payload is None else conditions.payload.parameters
        if payload is None:
            size = "" if shape is not None else " and --payload-size x y z [m]"
            raise InputError(f"guess the payload: add --payload-mass [kg]{size}")
        if shape is not None:
            if self.box_of_shape or not self.payload_size:
                self._note_reach(shape, planned)
            else:
                self.check_box(shape, conditions.payload)
            payload = iparam.estimation.guessed_body(shape, payload.mass)
        gravity = self.agreed_gravity(planned)
        used = STANDARD_GRAVITY if gravity is None else gravity
        if targets is None:
            prediction = iparam.excitation.predict_precision(
                planned.trajectory,
                robot,
                payload,
                noise,
                rate=self.rate,
                repetitions=self.repetitions,
                weighted=not self.unweighted,
                gravity=used,
            )
            self._report(prediction if shape is None else _with_shape(prediction, shape), None, prediction)
            return

        choice = iparam.excitation.shortest_duration(
            planned.trajectory,
            robot,
            payload,
            noise,
            targets,
            self.constraints(planned.trajectory, robot, conditions, gravity),
            rate=self.rate,
            weighted=not self.unweighted,
            gravity=used,
        )
        if self.output is not None:
            self._save(self.output, choice, robot, planned)
        self._report(choice.prediction, choice, choice.prediction)

    def _save(self, output: Path, choice: DurationChoice, robot: Robot, planned: TrajectoryFile) -> None:
        gravity = self.agreed_gravity(planned)
        conditions = self.conditions(planned.conditions)
        checked = iparam.excitation.validate(
            choice.trajectory, self.constraints(choice.trajectory, robot, conditions, gravity)
        )
        name = self.robot or planned.robot or robot.name
        iparam.save_trajectory(
            output,
            choice.trajectory,
            robot=name,
            fps=planned.fps,
            validation=checked.as_json(),
            gravity=gravity,
            arm=StatedArm.of(robot),
            conditions=conditions,
        )
        note_robot_file(name, output)
        if choice.repetitions > 1:
            note(f"{output} holds one run; run it {choice.repetitions} times")

    def _report(self, prediction: Prediction, choice: DurationChoice | None, alone: Prediction) -> None:
        """Print a prediction; ``alone`` is that of the data, which a shape may have made better."""
        shaped = prediction is not alone
        if self.json:
            more = {"without_shape": _summary(alone, None)} if shaped else {}
            print_json({**_summary(prediction, choice), **more})
            return
        body = prediction.payload
        guess = np.array([body.mass, *body.center_of_mass, *iparam.spatial.inertia_entries(body.inertia_about_com)])
        deviations = np.sqrt(np.diag(prediction.covariance_derived))
        without = np.sqrt(np.diag(alone.covariance_derived))
        rows = []
        for index, (name, unit, scale, decimals) in enumerate(_ROWS):
            deviation = deviations[index] / scale
            share = deviations[index] / guess[index] if index in _DIAGONAL and guess[index] > 0 else np.inf
            rows.append(
                [
                    f"{name} [{unit}]",
                    number(guess[index] / scale, decimals),
                    f"+-{_half_width(NORMAL_95 * deviation, decimals)}",
                    f"+-{percent(NORMAL_95 * share)}" if np.isfinite(share) else "-",
                    *([f"+-{_half_width(NORMAL_95 * without[index] / scale, decimals)}"] if shaped else []),
                ]
            )
        title = f"Predicted precision after {prediction.duration:.4g} s, {prediction.samples} samples"
        header = ["parameter", "guess", "+-95 %", "of the guess"]
        print_table(title, [*header, *(["+-95 % without shape"] if shaped else [])], rows)
        print_line()
        for name, value, unit in (
            ("mass", 100 * prediction.relative_mass, "%"),
            ("centre of mass", 1e3 * prediction.worst_center_of_mass, "mm in the worst direction"),
            ("inertia", 100 * prediction.relative_inertia, "% of the whole tensor"),
        ):
            print_line(f"{name:<17} +-{NORMAL_95 * value:.3g} {unit} (95 %; standard deviation {value:.3g})")
        if choice is not None:
            speed = "faster" if choice.time_scale < 1 else "slower"
            factor = 1 / choice.time_scale if choice.time_scale < 1 else choice.time_scale
            print_line()
            print_line(f"shortest          {choice.repetitions} x {choice.trajectory.duration:.4g} s")
            print_line(f"in total          {choice.duration:.4g} s, {factor:.3g} times {speed} than given")
            if self.output is not None:
                print_line(f"written           {self.output}")


def _half_width(value: float, decimals: int) -> str:
    """With at least so many decimals, and two digits."""
    return number(value, max(decimals, decimals_for(value)))


def _with_shape(prediction: Prediction, shape: iparam.estimation.Shape) -> Prediction:
    """The same with what a shape tells beside the data."""
    body = prediction.payload
    covariance = iparam.estimation.expected_with_shape(shape, prediction.covariance_phi, body.mass)
    derived = derived_covariance(body.phi, covariance)
    return replace(prediction, covariance_phi=covariance, covariance_derived=derived)


def _summary(prediction: Prediction, choice: DurationChoice | None) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "duration": prediction.duration,
        "samples": prediction.samples,
        "standard_deviation": {
            "mass": prediction.mass,
            "center_of_mass": prediction.center_of_mass,
            "inertia_about_com": prediction.inertia_about_com,
            "phi": prediction.phi,
        },
        "covariance_phi": prediction.covariance_phi,
        "relative": {"mass": prediction.relative_mass, "inertia": prediction.relative_inertia},
    }
    if choice is not None:
        summary["shortest"] = {
            "repetitions": choice.repetitions,
            "run_duration": choice.trajectory.duration,
            "time_scale": choice.time_scale,
            "duration": choice.duration,
        }
    return summary
