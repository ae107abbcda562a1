"""One run of a study: an arm, a plan and a payload simulated, noise drawn, the load identified and compared.

Whatever is drawn depends on the study's seed and the run's index alone, so that a run is the same on any worker. The
truth stays here: the estimator is given the noisy recording and nothing else.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError, IparamError
from iparam.estimation.assessment.derived_values import derived_of
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.estimation.payload.identify import identify_payload
from iparam.excitation.prediction import predict_precision
from iparam.recording.recording import Recording
from iparam.robot.model import Robot
from iparam.sensing.noise import MeasurementNoise, NoiseModel
from iparam.simulation.mujoco.simulator import MujocoSimulator
from iparam.simulation.payload import Payload
from iparam.simulation.simulator import SensorRates
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.checks import positive_number
from iparam.trajectory.trajectory import Trajectory

SMALLEST_EDGE, LARGEST_EDGE = 0.04, 0.25  # m, of random boxes


@dataclass(frozen=True, eq=False)
class Plan:
    """A motion of an arm: the arm, the motion, and what it is called in the table."""

    name: str
    robot: Robot
    trajectory: Trajectory


@dataclass(frozen=True, eq=False)
class Experiment:
    """What is drawn for each run.

    Attributes:
        plans: motions of one arm or several, taken in turn.
        noises: the sensors, each of which a scenario; taken in turn, too, so that all see the same plans and payloads.
        payload: the same in every run; None draws a box for each.
        masses: bounds of the mass of drawn boxes [kg].
        rate: samples a second [Hz].
        method: of `identify_payload`.
        seed: of everything.
    """

    plans: tuple[Plan, ...]
    noises: tuple[NoiseModel, ...]
    payload: Payload | None = None
    masses: tuple[float, float] = (0.5, 3.0)
    rate: float = 500.0
    method: str = "consistent"
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.plans or not self.noises:
            raise InputError("a study needs a plan and a noise model, at least")
        low, high = self.masses
        if not 0.0 < low <= high < np.inf:
            raise InputError(f"masses= must be two positive numbers [kg], the smaller one first, got {low:g} {high:g}")
        positive_number(self.rate, "the sensor rate", "Hz")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InputError(f"seed={self.seed!r} must be a whole number from 0")

    def drawn(self, index: int) -> tuple[Plan, NoiseModel, Payload, int]:
        """Plan, sensors, payload and the seed of the noise of run ``index``."""
        group, scenario = divmod(index, len(self.noises))
        plan = self.plans[group % len(self.plans)]
        payload = self.payload
        if payload is None:
            payload = random_box(np.random.default_rng([self.seed, group]), self.masses)
        noise_seed = int(np.random.SeedSequence([self.seed, index]).generate_state(1, np.uint32)[0])
        return plan, self.noises[scenario], payload, noise_seed


def random_box(rng: np.random.Generator, masses: tuple[float, float]) -> Payload:
    """A solid box somewhere before the flange, turned at random; heavier and lighter ones alike, in the logarithm."""
    mass = float(np.exp(rng.uniform(*np.log(masses))))
    size = rng.uniform(SMALLEST_EDGE, LARGEST_EDGE, 3)
    offset = np.array([*rng.uniform(-0.05, 0.05, 2), rng.uniform(0.02, 0.15)])
    box = Payload.box(mass=mass, size=size, offset=offset, rotation_rpy=rng.uniform(-np.pi, np.pi, 3))
    return dataclasses.replace(box, shape=())  # plans are judged without it


def run_experiment(experiment: Experiment, index: int) -> dict[str, Any]:
    """The row of a run: what was drawn, errors, standard deviations, bounds and the verdict."""
    plan, noise, payload, noise_seed = experiment.drawn(index)
    truth = payload.parameters
    row: dict[str, Any] = {"run": index, "robot": plan.robot.name, "plan": plan.name, "noise": noise.name}
    row["mass_true"] = truth.mass
    recording = noise.apply(_simulated(plan, payload, experiment), noise_seed)
    try:
        bounds = _bounds(plan, truth, noise, experiment.rate)
    except IparamError:  # a motion that does not tell all
        bounds = np.full(10, np.nan)
    row |= {f"{name}_bound": float(value) for name, value in zip(DERIVED_NAMES, bounds, strict=True)}
    try:
        estimate = identify_payload(recording, plan.robot, experiment.method)
    except IparamError as error:
        return row | {"verdict": "none", "failure": str(error)}
    stated, upper = estimate.standard_deviation, np.triu_indices(3)
    found = np.array([estimate.mass, *estimate.center_of_mass, *estimate.inertia_about_com[upper]])
    deviations = [stated.mass, *stated.center_of_mass, *stated.inertia_about_com[upper]]
    for name, value, deviation, true in zip(DERIVED_NAMES, found, deviations, derived_of(truth), strict=True):
        row[f"{name}_error"], row[f"{name}_deviation"] = float(value - true), float(deviation)
    assessment = estimate.assessment
    return row | {
        "verdict": assessment["verdict"],
        "causes": [cause["cause"] for cause in assessment["causes"]],
        "failure": None,
    }


@functools.lru_cache(maxsize=8)
def _cached(plan: Plan, payload: Payload, rate: float) -> Recording:
    simulator = MujocoSimulator(rates=SensorRates.all_at(rate))
    return simulator.load(plan.robot, payload).run(plan.trajectory).recording


def _simulated(plan: Plan, payload: Payload, experiment: Experiment) -> Recording:
    """The run of perfect sensors; it is simulated once if only the noise differs."""
    if experiment.payload is not None:
        return _cached(plan, payload, experiment.rate)
    return _cached.__wrapped__(plan, payload, experiment.rate)


def check_noises(experiment: Experiment) -> None:
    """Refuse sensors whose wrench is exact: the errors that are left then are rounding, which nothing bounds."""
    for noise in experiment.noises:
        try:
            MeasurementNoise.from_model(noise)
        except InputError:
            raise InputError(
                f"the noise {noise.name!r} has none of the wrench, which a study compares errors with: choose another"
            ) from None


def check_bounds(experiment: Experiment) -> None:
    """Refuse plans whose motion does not tell all ten parameters, so that there is no bound to compare with."""
    for index in range(len(experiment.plans) * len(experiment.noises)):
        plan, noise, payload, _ = experiment.drawn(index)
        try:
            _bounds(plan, payload.parameters, noise, experiment.rate)
        except IparamError as error:
            raise InputError(f"the plan {plan.name!r} of {plan.robot.name} has no Cramer-Rao bound: {error}") from None


def _bounds(plan: Plan, truth: InertialParameters, noise: NoiseModel, rate: float) -> FloatArray:
    """(10,) Cramer-Rao bounds of mass, centre of mass and inertia about it: exact motion, white noise, unknown bias."""
    measured = dataclasses.replace(MeasurementNoise.from_model(noise), joint_angle=0.0)
    found = predict_precision(plan.trajectory, plan.robot, truth, measured, rate=rate)
    return np.sqrt(np.diag(found.covariance_derived))


def worse_noises(model: NoiseModel) -> tuple[NoiseModel, ...]:
    """A noise model, and what can get worse with a force/torque sensor: the scenarios of a study of robustness."""
    wrench = model.sensors.get("wrench")
    if wrench is None:
        raise InputError(
            f"the noise {model.name!r} has no noise of the wrench: choose another for a study of robustness"
        )
    white = np.broadcast_to(wrench.white, (6,))

    def scenario(name: str, **changes: Any) -> NoiseModel:
        sensors: Mapping[str, Any] = {**model.sensors, "wrench": dataclasses.replace(wrench, **changes)}
        return NoiseModel(f"{model.name}, {name}", sensors)

    return (
        model,
        scenario("noise x 3", white=tuple(3.0 * white)),
        scenario("noise x 10", white=tuple(10.0 * white)),
        scenario("drift", drift=tuple(0.5 * white)),
        scenario("delay 8 ms", delay=0.008),
        scenario("5 % lost", dropout=0.05),
        scenario("rounded", quantum=tuple(2.0 * white)),
        scenario("saturated", limit=(20.0, 20.0, 20.0, 2.0, 2.0, 2.0)),
    )
