"""What a shape will be worth before anything is recorded: how loads of it differ, and what data will leave of that."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError
from iparam.estimation.shape.data_rows import known_rows
from iparam.estimation.shape.posterior.box_model import BoxModel
from iparam.estimation.shape.posterior.cells import shape_cells
from iparam.estimation.shape.posterior.density_model import DensityModel, Spread
from iparam.estimation.shape.posterior.prior import PARTS, WITHIN
from iparam.estimation.shape.posterior.shape_posterior import shape_posterior
from iparam.estimation.shape.shape import LEAST_DENSITY, MOST_DENSITY, Shape
from iparam.spatial.inertia import symmetric_array
from iparam.spatial.parameters import InertialParameters

DRAWS = 6
"""Loads, and errors of their data, that an expected precision is the mean of."""

MASS = 0.5
"""Relative standard deviation of a mass that was guessed."""


SAME = 0.02
"""Share by which a guess of the mass may differ from what stated densities make it."""


def guessed_body(shape: Shape, mass: float) -> InertialParameters:
    """The shape as a body of about that ``mass`` [kg], with the densities that were given, and one for its other parts.

    Raises:
        ContradictionError: with these densities it has another mass, or no material is as dense.
    """
    mean = mass / shape.volume
    if shape.metric and not shape.vague and not LEAST_DENSITY <= mean <= MOST_DENSITY:
        raise ContradictionError(
            f"a guessed mass of {mass:.4g} kg contradicts the shape: it would have {mean:.3g} kg/m^3, and materials "
            f"have {LEAST_DENSITY:g} to {MOST_DENSITY:g}. Correct --payload-mass or --shape-scale"
        )
    given = [part for part in shape.parts if part.density is not None]
    if not given:
        return shape.body(mass)
    least, most = (sum(part.volume * part.density[end] for part in given if part.density) for end in (0, 1))
    open_volume = shape.volume - sum(part.volume for part in given)
    opened = open_volume > 0.0
    if not least * (1.0 - SAME) <= mass <= (np.inf if opened else most * (1.0 + SAME)):
        weighs = f"{least:.4g} kg" if most - least < 1e-3 * least else f"{least:.4g} to {most:.4g} kg"
        raise ContradictionError(
            f"a guessed mass of {mass:.4g} kg contradicts the densities: with them "
            f"{', '.join(part.name for part in given)} would weigh {weighs}. Correct --payload-mass, --density or "
            "--shape-scale"
        )
    # As dense as it takes, within what is given; what that leaves is for the others.
    share = float(np.clip((mass - least) / (most - least), 0.0, 0.5 if opened else 1.0)) if most > least else 0.0
    rest = max(mass - least - share * (most - least), 0.0) / open_volume if opened else 0.0
    densities = [
        rest if part.density is None else part.density[0] + share * (part.density[1] - part.density[0])
        for part in shape.parts
    ]
    return shape.body(mass, densities)


def shape_moments(shape: Shape, mass: float) -> tuple[FloatArray, FloatArray]:
    """Phi (10,) of a load of that shape and about that mass [kg], and the covariance (10, 10) of what it may be.

    Parts differ as kinds of plastic do, their density varies as in a casting, and surfaces are off by the tolerance.
    """
    model, scales, unit = _ordinary(shape, mass)
    phi, slope = model(np.zeros((1, model.num_unknowns)))
    across = unit @ (slope[0] * scales)
    return unit @ phi[0], across @ across.T


def expected_with_shape(shape: Shape, covariance_phi: ArrayLike, mass: float) -> FloatArray:
    """The covariance (10, 10) of phi to be expected from data and shape together.

    The mean over loads of the shape that are drawn as in `shape_moments`, with data that have the given errors.

    Args:
        shape: in the tool frame.
        covariance_phi: (10, 10) of the data alone, e.g. of `iparam.excitation.predict_precision`.
        mass: guessed [kg].
    """
    covariance = symmetric_array(covariance_phi, "covariance_phi", 10)
    model, scales, unit = _ordinary(shape, mass)
    rng, found = np.random.default_rng(0), []
    for _ in range(DRAWS):
        z = rng.standard_normal((1, model.num_unknowns))
        z[0, 0] = 0.0
        phi = unit @ model(z * scales)[0][0]
        seen = rng.multivariate_normal(phi, covariance, method="eigh")
        found.append(shape_posterior(shape, known_rows(seen, covariance), mass).covariance)
    return np.asarray(np.mean(found, axis=0))


def _ordinary(shape: Shape, mass: float) -> tuple[DensityModel | BoxModel, FloatArray, FloatArray]:
    """The model, the scales of its unknowns for an ordinary load, and what takes its phi to the tool frame."""
    if not (np.isfinite(mass) and mass > 0.0):
        raise InputError(f"the guess of the payload's mass must be positive, got {mass!r} kg")
    guessed_body(shape, mass)  # refuses densities that contradict it
    if shape.vague:
        box = BoxModel(shape, mass)
        return box, np.array([MASS, *box.scales[1:]]), box.to_tool
    model = DensityModel(shape_cells(shape), mass)
    scales = model.scales(Spread(PARTS[1], WITHIN[1], shape.tolerance))
    scales[0] = min(float(scales[0]), MASS)
    return model, scales, model.cells.to_tool(mass)
