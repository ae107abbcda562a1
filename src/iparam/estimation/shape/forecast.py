"""What a shape will be worth before anything is recorded: the same posterior, with a guess for the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError
from iparam.estimation.shape.data_rows import DataRows, known_rows
from iparam.estimation.shape.estimator import contradiction
from iparam.estimation.shape.posterior import ShapePosterior, shape_posterior
from iparam.estimation.shape.shape import Shape
from iparam.spatial.inertia import symmetric_array
from iparam.spatial.parameters import InertialParameters

GUESSED = 0.5
"""Relative standard deviation of a mass that was guessed."""

SAME = 0.02
"""The same of a mass that stands for the load: what densities are given to."""


def guessed_body(shape: Shape, mass: float) -> InertialParameters:
    """The shape as a body of about that ``mass`` [kg], with the densities that were given, and the likeliest others.

    Raises:
        ContradictionError: with these densities it has another mass, or no material is as dense.
    """
    found = _weighed(shape, mass, SAME)
    if against := contradiction(shape, found):
        raise ContradictionError(
            f"a guessed mass of {mass:.4g} kg contradicts the shape, which with its densities would have "
            f"{found.phi[0]:.4g} kg: correct the guess, the densities or the shape's unit. {against}",
            argument="payload_mass",
            value=mass,
        )
    return InertialParameters.from_phi(found.phi)


def shape_moments(shape: Shape, mass: float) -> tuple[FloatArray, FloatArray]:
    """Phi (10,) of a load of that shape and about that mass [kg], and the covariance (10, 10) of what it may be."""
    guessed_body(shape, mass)  # refuses densities that contradict it
    found = _weighed(shape, mass, GUESSED)
    return found.phi, found.covariance


def expected_with_shape(shape: Shape, covariance_phi: ArrayLike, mass: float) -> FloatArray:
    """The covariance (10, 10) of phi to be expected from data and shape together.

    Args:
        shape: in the tool frame.
        covariance_phi: (10, 10) of the data alone, e.g. of `iparam.excitation.predict_precision`.
        mass: guessed [kg].
    """
    covariance = symmetric_array(covariance_phi, "covariance_phi", 10)
    return shape_posterior(shape, known_rows(guessed_body(shape, mass).phi, covariance), mass).covariance


def _weighed(shape: Shape, mass: float, deviation: float) -> ShapePosterior:
    """The shape and nothing but its mass [kg], which has that relative standard deviation."""
    if not (np.isfinite(mass) and mass > 0.0):
        raise InputError(argument="payload_mass", value=mass, expected="positive [kg]")
    row = np.eye(1, 10) / (deviation * mass)
    return shape_posterior(shape, DataRows(row, row @ np.eye(10)[0] * mass), mass)
