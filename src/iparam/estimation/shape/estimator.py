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
from iparam.estimation.payload.estimate_assembly import assemble_estimate, summed_terms
from iparam.estimation.payload.partial_estimate import partial_estimate
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import require_identifiable
from iparam.estimation.shape.data_rows import DataRows, WeightedData, known_rows, weighted_data
from iparam.estimation.shape.found import FoundShape
from iparam.estimation.shape.posterior import ShapePosterior, shape_posterior
from iparam.estimation.shape.shape import LEAST_DENSITY, MOST_DENSITY, Shape
from iparam.estimation.static.slow_motion import slow_motion_estimate
from iparam.remarks import Remark, remark
from iparam.rounding import NORMAL_95

METHOD = "shape"

SURE = 3.0
"""Standard deviations from which a negative mass is believed."""

MOSTLY_SHAPE = 0.5
"""Share of the data in what is known of an inertia below which a warning says that it rests on the shape."""


@dataclass(frozen=True, eq=False)
class ShapeEstimator(Estimator):
    """Data and a shape whose parts have unknown densities, each weighing by how much it tells.

    The shape is a wide Gaussian prior of phi: see `iparam.estimation.shape.posterior`. A shape that the data contradict
    is left out, and a warning says so. See docs/guide/shape.md.

    Attributes:
        shape: in the tool frame.
    """

    shape: Shape

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`. It also takes motions that do not determine all parameters."""
        data = self._data(problem)
        known = with_data(self.shape, data.rows)
        if isinstance(known, Remark):
            return _without_shape(problem, known)
        covariance = np.zeros((problem.num_unknowns,) * 2)
        covariance[:NUM_PARAMETERS, :NUM_PARAMETERS] = known.posterior.covariance
        # What a delay and corrections add is in the rows already.
        plain = dataclasses.replace(problem, delay_deviation=0.0, covariance_terms={})
        estimate = assemble_estimate(
            METHOD,
            plain,
            data.with_bias(known.posterior.phi),
            covariance,
            inflation=data.inflation,
            data_share=known.data_share,
            remarks=known.remarks,
            status="All ten parameters were estimated, with the shape of the load.",
        )
        gain = known.posterior.gain
        moved = {name: gain @ term @ gain.T for name, term in problem.covariance_terms.items()}
        rest = estimate.covariance_phi - sum(moved.values())  # of noise, and of what the shape leaves open
        return dataclasses.replace(
            estimate,
            covariance_terms=summed_terms({"noise": rest}, moved),
            condition_number=_condition(problem, estimate),
            shape=known.found,
            gain=gain,
        )

    def _data(self, problem: PayloadProblem) -> WeightedData:
        data = weighted_data(problem, self.shape.body(_weighed_mass(problem)).phi)
        if not problem.hidden:
            return data
        # The acceleration of the sensor is not known: only what slow motion shows may be claimed.
        reason = NotIdentifiableError("the acceleration of the sensor is not known", problem.hidden)
        slow = slow_motion_estimate(problem, reason)
        return dataclasses.replace(data, rows=known_rows(slow.phi, slow.covariance_phi))


@dataclass(frozen=True, eq=False)
class KnownLoad:
    """A load by data and by a shape that they do not contradict.

    Attributes:
        posterior: what both say.
        found: the shape with its densities.
        data_share: (10,) see `Estimate.data_share`.
        remarks: on the shape.
    """

    posterior: ShapePosterior
    found: FoundShape
    data_share: FloatArray
    remarks: tuple[Remark, ...]


def with_data(shape: Shape, data: DataRows) -> KnownLoad | Remark:
    """What data and a shape say together; a remark if the data contradict it, with any densities."""
    mass = data_mass(data)
    posterior = shape_posterior(shape, data, mass)
    against = contradiction(shape, posterior)
    remarks: tuple[Remark, ...] = ()
    if against and (stated := {part.name: None for part in shape.parts if part.density is not None}):
        shape = shape.with_densities(stated)
        posterior = shape_posterior(shape, data, mass)
        if not contradiction(shape, posterior):
            against = ""
            remarks = (remark("densities-left-open"),)
    if against:
        return remark("shape-left-out", reason=against)
    share = _data_share(posterior.covariance, data)
    least = float(share[4:].min())
    if least < MOSTLY_SHAPE:
        remarks = (*remarks, remark("inertia-rests-on-shape", share=100 * (1.0 - least), what="result"))
    return KnownLoad(posterior, FoundShape.of(shape, posterior.densities), share, remarks)


def contradiction(shape: Shape, found: ShapePosterior) -> str:
    """What the data say against a shape: a sentence or two; "" if nothing."""
    word, mass, center = _word(shape), found.phi[0], found.phi[1:4] / found.phi[0]
    mean = mass / shape.volume
    if (shape.metric and not (shape.vague or mean >= LEAST_DENSITY)) or (shape.metric and mean > MOST_DENSITY):
        return (
            f"The data contradict the {word}: with their mass, {mass:.4g} kg, it would have {mean:.3g} kg/m^3, and "
            f"materials have {LEAST_DENSITY:g} to {MOST_DENSITY:g}. Is its unit another one?"
        )
    edges, middle = shape.bounds
    outside = np.abs(center - middle) - 0.5 * edges - NORMAL_95 * shape.tolerance
    slope = np.hstack([-center[:, None], np.eye(3)]) / mass
    deviation = np.sqrt(np.diag(slope @ found.covariance[:4, :4] @ slope.T))
    if found.squares <= found.most_squares and (outside <= SURE * deviation).all():
        return ""
    here, there = (" ".join(f"{1e3 * value:.1f}" for value in one) for one in (center, shape.whole.center))
    return (
        f"The data contradict the {word}: chi-square is {found.squares:.3g}, and a right one has more than "
        f"{found.most_squares:.3g} once in a thousand times. The centre of mass is at {here} mm, the middle of the "
        f"{word} at {there} mm. Is it the right one, in the right place and unit?"
    )


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
            "the load exerts on it, the opposite of what is expected here",
            fix={"measures": "reaction"},
        )
    if not mass > NORMAL_95 * deviation:
        raise IdentificationError(
            f"the mass comes out as {mass:.4g} +- {NORMAL_95 * deviation:.2g} kg (95 %), which is not above zero: a "
            "shape says nothing of a load that cannot be weighed. Turn the load so that gravity comes to lie along "
            "other axes of the sensor"
        )
    return mass


def _without_shape(problem: PayloadProblem, against: Remark) -> Estimate:
    """What the data tell by themselves, be it all of the load or a part, and what they say against the shape."""
    try:
        require_identifiable(problem)
        alone = ConsistentLeastSquares().fit(problem)
    except NotIdentifiableError as reason:
        part = slow_motion_estimate if problem.hidden else partial_estimate
        alone = part(problem, reason)
    return dataclasses.replace(alone, remarks=(against, *alone.remarks))


def _word(shape: Shape) -> str:
    return "box" if shape.vague else "shape"


def _data_share(covariance: FloatArray, data: DataRows) -> FloatArray:
    known = covariance @ data.information @ covariance
    return np.clip(np.diag(known) / np.maximum(np.diag(covariance), 1e-300), 0.0, 1.0)


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
