"""`ShapeEstimator`: a load from data and from what is known of its shape."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation.errors import IdentificationError, NotIdentifiableError
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.consistent import ConsistentLeastSquares
from iparam.estimation.estimators.estimator import Estimator
from iparam.estimation.payload.estimate_assembly import LEFT_OUT, assemble_estimate
from iparam.estimation.payload.partial_estimate import partial_estimate
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import require_identifiable
from iparam.estimation.shape.contradiction import CAVITY, believed_densities, contradiction, unevenness
from iparam.estimation.shape.data_rows import WeightedData, known_rows, weighted_data
from iparam.estimation.shape.found import FoundShape
from iparam.estimation.shape.posterior.placement import Placement, placed_posterior
from iparam.estimation.shape.posterior.prior import HOLLOW_BELIEF, hollow_belief
from iparam.estimation.shape.posterior.rows import DataRows
from iparam.estimation.shape.posterior.shape_posterior import ShapePosterior
from iparam.estimation.shape.shape import Shape
from iparam.estimation.static.slow_motion import slow_motion_estimate
from iparam.rounding import NORMAL_95

METHOD = "shape"

SURE = 3.0
"""Standard deviations from which a negative mass is believed."""

TELLING = 0.3
"""Share of the data in the least known entry of the inertia from which on they are asked whether another shape,
mirrored or of another scale, explains them better."""

MOSTLY_SHAPE = 0.5
"""Share of the data in what is known of an inertia below which a warning says that it rests on the shape."""


@dataclass(frozen=True, eq=False)
class ShapeEstimator(Estimator):
    """Data and a shape whose parts have unknown densities, each weighing by how much it tells.

    Directions in which the data tell much are theirs; the rest follows from the shape, with intervals that hold how far
    densities may vary within parts, how hollow these may be, and how far the shape is off. Data that contradict the
    shape win: it is then left out, and a warning says what contradicts it. See docs/guide/shape.md.

    Attributes:
        shape: in the tool frame.
    """

    shape: Shape

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`. It also takes motions that do not determine all parameters."""
        data = self._data(problem)
        mass = data_mass(data.rows)
        shape, objection = believed_densities(self.shape, data.rows, mass)
        return dataclasses.replace(self, shape=shape)._fitted(problem, data, mass, objection)

    def _fitted(self, problem: PayloadProblem, data: WeightedData, mass: float, objection: str) -> Estimate:
        found, placement = placed_posterior(self.shape, data.rows, mass)
        share = data_share(found.covariance, data.rows)
        telling = float(share[4:].min()) > TELLING
        if against := contradiction(self.shape, data.rows, mass, found, telling=telling):
            return self._without_shape(problem, against)
        doubts = (objection, unevenness(self.shape, data.rows, found))
        return self._assembled(problem, data, found, tuple(filter(None, doubts)), placement)

    def _data(self, problem: PayloadProblem) -> WeightedData:
        guess = self.shape.body(_weighed_mass(problem)).phi
        data = weighted_data(problem, guess)
        if not problem.hidden:
            return data
        # The acceleration of the sensor is not known: only what slow motion shows may be claimed.
        reason = NotIdentifiableError("the acceleration of the sensor is not known", problem.hidden)
        slow = slow_motion_estimate(problem, reason)
        return dataclasses.replace(data, rows=known_rows(slow.phi, slow.covariance_phi))

    def _assembled(
        self,
        problem: PayloadProblem,
        data: WeightedData,
        found: ShapePosterior,
        warnings: tuple[str, ...],
        placement: Placement | None = None,
    ) -> Estimate:
        covariance = np.zeros((problem.num_unknowns,) * 2)
        covariance[:NUM_PARAMETERS, :NUM_PARAMETERS] = found.covariance
        share = data_share(found.covariance, data.rows)
        placed = () if placement is None else (placement.remark,)
        # What a delay and corrections add is in the rows already.
        plain = dataclasses.replace(problem, delay_deviation=0.0, correction_covariance=None)
        estimate = assemble_estimate(
            METHOD,
            plain,
            data.with_bias(found.phi),
            covariance,
            inflation=data.inflation,
            data_share=share,
            warnings=(*warnings, *self.shape.remarks, *placed, *reliance(self.shape, found, share)),
            status="All ten parameters were estimated, with the shape of the load.",
        )
        return dataclasses.replace(
            estimate,
            condition_number=_condition(problem, estimate),
            shape=found_shape(self.shape, found, placement),
            gain=found.gain,
        )

    def _without_shape(self, problem: PayloadProblem, against: str) -> Estimate:
        """What the data tell by themselves, be it all of the load or a part, and what they say against the shape."""
        try:
            require_identifiable(problem)
            alone = ConsistentLeastSquares().fit(problem)
        except NotIdentifiableError as reason:
            part = slow_motion_estimate if problem.hidden else partial_estimate
            alone = part(problem, reason)
        return dataclasses.replace(alone, warnings=(left_out(against), *alone.warnings))


def left_out(against: str) -> str:
    """What the data say against the shape, and what follows."""
    return f"{against} {LEFT_OUT}"


def found_shape(shape: Shape, found: ShapePosterior, placement: Placement | None) -> FoundShape:
    """What a result says of the shape."""
    if placement is None:
        return FoundShape.of(shape, found.densities)
    moved = shape.deformed(placement.moved)
    return FoundShape.of(moved, found.densities, pose=placement.pose, pose_deviation=placement.deviation)


def data_mass(data: DataRows) -> float:
    """The mass that the data show [kg], by themselves.

    Raises:
        IdentificationError: they show none, or a negative one.
    """
    scale = np.array([1.0, *[0.1] * 3, *[0.01] * 6])  # of a load of 1 kg, so that units do not decide
    inverse = np.linalg.pinv(data.rows * scale, rcond=1e-9)
    mass, deviation = float(inverse[0] @ data.values), float(np.linalg.norm(inverse[0]))
    if mass < -SURE * deviation:
        raise IdentificationError(
            f"the mass comes out as {mass:.4g} +- {NORMAL_95 * deviation:.2g} kg (95 %): does the sensor report what "
            "the load exerts on it, the opposite of what is expected here (--measures reaction)?"
        )
    if not mass > NORMAL_95 * deviation:
        raise IdentificationError(
            f"the mass comes out as {mass:.4g} +- {NORMAL_95 * deviation:.2g} kg (95 %), which is not above zero: a "
            "shape says nothing of a load that cannot be weighed. Turn the load so that gravity comes to lie along "
            "other axes of the sensor"
        )
    return mass


def data_share(covariance: FloatArray, data: DataRows) -> FloatArray:
    """(10,) which part of what is known of each of phi comes from the data, see `Estimate.data_share`."""
    known = covariance @ data.information @ covariance
    return np.clip(np.diag(known) / np.maximum(np.diag(covariance), 1e-300), 0.0, 1.0)


def reliance(shape: Shape, found: ShapePosterior, share: FloatArray) -> tuple[str, ...]:
    """A sentence if it is the shape that most of the inertia comes from."""
    least = float(share[4:].min())
    if least >= MOSTLY_SHAPE:
        return ()
    known = f"{100 * (1.0 - least):.0f} % of what is known of its least shown entry comes from it"
    if shape.vague:
        return (f"The inertia rests on the box: {known}, and the intervals hold what can fit inside.",)
    sentence = f"The inertia rests on the shape: {known}."
    mean = float(found.phi[0]) / shape.volume
    if all(part.density is not None for part in shape.parts):
        return (f"{sentence} The intervals hold how far densities and places may be off.",)
    if not shape.metric:
        return (f"{sentence} The intervals hold that parts may be hollow or have a core.",)
    if hollow_belief(mean) < HOLLOW_BELIEF["other"]:
        hold = (
            "as solid metal has: the intervals hold how far densities and places may be off, but neither a hollow body "
            f"nor a heavy core. {CAVITY} --shape-box holds any filling."
        )
    else:
        hold = (
            f"which no solid metal has: the intervals hold that parts may be hollow or have a core. {CAVITY} For a "
            "solid part, --density makes them narrower."
        )
    return (f"{sentence} It has {mean:.0f} kg/m^3 on the whole, {hold}",)


def _weighed_mass(problem: PayloadProblem) -> float:
    """A mass that is not far off: that of the force along the acceleration, with a constant beside it [kg]."""
    pull, force = problem.A[:, :3, 0], problem.y[:, :3]
    if problem.bias and problem.num_samples > 1:
        pull, force = pull - pull.mean(axis=0), force - force.mean(axis=0)
    return max(abs(float(np.sum(pull * force)) / max(float(np.sum(pull**2)), 1e-12)), 1e-3)


def _condition(problem: PayloadProblem, estimate: Estimate) -> float:
    """That of the motion, infinite where it determines less than all."""
    try:
        require_identifiable(problem)
    except IparamError:
        return float("inf")
    return estimate.condition_number
