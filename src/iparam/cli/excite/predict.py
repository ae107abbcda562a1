"""`iparam excite predict`: the precision that a trajectory will reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from tyro.conf import arg

import iparam
from iparam.cli.console.printing import print_json, print_line, print_table
from iparam.cli.options.planning import PlannedMotionOptions
from iparam.errors import InputError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.rounding import NORMAL_95, decimals_for, number, percent

if TYPE_CHECKING:
    from iparam.excitation.prediction import Prediction

# What is printed of the ten derived numbers: name, unit, the unit in SI, and decimals.
_ROWS = (
    ("mass", "kg", 1.0, 4),
    *((f"centre of mass {axis}", "mm", 1e-3, 4) for axis in "xyz"),
    *((f"inertia {entry} (CoM)", "kg m^2", 1.0, 6) for entry in ("xx", "xy", "xz", "yy", "yz", "zz")),
)
_DIAGONAL = (0, 4, 7, 9)  # those with a size of their own, to which an error can be compared


@dataclass(frozen=True, kw_only=True)
class Predict(PlannedMotionOptions):
    r"""Predict how precisely a trajectory will tell a payload's parameters.

    Example:
      iparam excite predict t.json --robot ur5e --noise ur5e \
          --payload-mass 2 --payload-size 0.1 0.15 0.2
    """

    noise: Annotated[str, arg(metavar="PRESET")] = "ur5e"
    """Noise of the sensors: ur5e or harsh."""
    rate: Annotated[float, arg(metavar="HZ")] = 500.0
    """Samples of the sensors a second."""
    repetitions: Annotated[int, arg(metavar="N")] = 1
    """How often the trajectory is run."""
    unweighted: Annotated[bool, arg(help_behavior_hint="")] = False
    """The estimator takes N and N m alike instead of weighting them by their noise."""

    def run(self) -> None:
        """Predict and print."""
        noise = iparam.sensing.MeasurementNoise.from_model(iparam.noise_preset(self.noise))
        planned, robot = self.load()
        conditions = self.conditions(planned.conditions)
        payload = None if conditions.payload is None else conditions.payload.parameters
        if payload is None:
            raise InputError("guess the payload: add --payload-mass [kg] and --payload-size x y z [m]")
        gravity = self.agreed_gravity(planned)
        self._report(
            iparam.excitation.predict_precision(
                planned.trajectory,
                robot,
                payload,
                noise,
                rate=self.rate,
                repetitions=self.repetitions,
                weighted=not self.unweighted,
                gravity=STANDARD_GRAVITY if gravity is None else gravity,
            )
        )

    def _report(self, prediction: Prediction) -> None:
        if self.json:
            print_json(_summary(prediction))
            return
        body = prediction.payload
        guess = np.array([body.mass, *body.center_of_mass, *iparam.spatial.inertia_entries(body.inertia_about_com)])
        deviations = np.sqrt(np.diag(prediction.covariance_derived))
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
                ]
            )
        title = f"Predicted precision after {prediction.duration:.4g} s, {prediction.samples} samples"
        print_table(title, ["parameter", "guess", "+-95 %", "of the guess"], rows)
        print_line()
        for name, value, unit in (
            ("mass", 100 * prediction.relative_mass, "%"),
            ("centre of mass", 1e3 * prediction.worst_center_of_mass, "mm in the worst direction"),
            ("inertia", 100 * prediction.relative_inertia, "% of the whole tensor"),
        ):
            print_line(f"{name:<17} +-{NORMAL_95 * value:.3g} {unit} (95 %; standard deviation {value:.3g})")


def _half_width(value: float, decimals: int) -> str:
    """With at least so many decimals, and two digits."""
    return number(value, max(decimals, decimals_for(value)))


def _summary(prediction: Prediction) -> dict[str, Any]:
    return {
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
