"""What of a shape the data contradict, in a sentence, and what would explain it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation.shape.posterior import DataRows, ShapePosterior, log_evidence
from iparam.estimation.shape.shape import Shape
from iparam.spatial.derived import derived_covariance, mass_com_inertia

LIKELIER = 10.0
"""Logarithm of the ratio of probabilities, twenty thousand to one, from which another shape, or uneven parts, are held
to be the truth: some fourteen shapes and thirty spreads are compared, and a right shape must not be suspected."""

SCALES = (2.0 / 3.0, 5.0 / 6.0, 1.2, 1.5)
"""Wrong scales that are tried."""

UNEVEN = (
    "Hollow or uneven parts would explain them, surfaces that are off by far more than the tolerance, or another "
    "shape: is it the right file, in the right place and unit?"
)

_NAMES = (
    "a mass",
    *(f"a centre of mass along {axis}" for axis in "xyz"),
    *(f"an inertia {entry}" for entry in ("xx", "xy", "xz", "yy", "yz", "zz")),
)
_UNITS = ((1.0, "kg"), *[(1e3, "mm")] * 3, *[(1.0, "kg m^2")] * 6)


def likelier_shape(shape: Shape, data: DataRows, mass: float) -> str:
    """Which other shape explains the data far better, in a sentence; "" if none does.

    Args:
        shape: that was given.
        data: to be explained.
        mass: about what the load has [kg].
    """
    own = log_evidence(shape, data, mass)
    best, explanation = LIKELIER, ""
    for words, other in _alternatives(shape):
        try:
            gain = log_evidence(other, data, mass) - own
        except IparamError:
            continue
        if gain > best:
            best, explanation = gain, words
    return explanation


def contradiction(found: ShapePosterior, likelier: str) -> str:
    """What the data say against the shape.

    Args:
        found: what both say together.
        likelier: which other shape explains them, see `likelier_shape`.
    """
    shown, possible = mass_com_inertia(found.phi), mass_com_inertia(found.stated)
    deviation = np.sqrt(np.maximum(np.diag(derived_covariance(found.phi, found.covariance)), 1e-300))
    index = int(np.argmax(np.abs(shown - possible) / deviation))
    factor, unit = _UNITS[index]
    return (
        f"The data contradict the shape: they show {_NAMES[index]} of {factor * shown[index]:.4g} {unit}, and the "
        f"shape, of solid parts with the densities that fit best, has {factor * possible[index]:.4g} {unit}. "
        f"{likelier or 'Is it the right file, in the right place?'}"
    )


def _alternatives(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Shapes that people take for one another, and the sentence for each."""
    points = np.concatenate([part.points for part in shape.parts])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    for axis in range(3):
        turn = np.ones(3)
        turn[axis] = -1.0
        for about, where in ((middle, "in its place"), (np.zeros(3), "about the frame's origin")):
            words = f"Mirrored along {'xyz'[axis]} {where}, it would explain them far better."
            yield words, shape.deformed(_map(np.diag(turn), about))
    for scale in SCALES:
        for about, where in ((np.zeros(3), "about its origin"), (middle, "in its place")):
            words = f"Scaled by {scale:.3g} {where}, it would explain them far better: look at its units and scale."
            yield words, shape.deformed(_map(scale * np.eye(3), about))


def _map(matrix: FloatArray, about: FloatArray) -> FloatArray:
    """(4, 4) the linear map about a point."""
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = matrix, about - matrix @ about
    return found
