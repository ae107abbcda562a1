"""What of a shape the data contradict, in a sentence, and what would explain it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

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

ELSEWHERE = 0.02
"""Standard deviation of how far the middle of a shape is from its centre of mass [m]."""

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


def likelier_shape(shape: Shape, data: DataRows, mass: float, *, wrong: bool = False) -> str:
    """Which other shape explains the data far better, in a sentence; "" if none does.

    Args:
        shape: that was given.
        data: to be explained.
        mass: about what the load has [kg].
        wrong: it is known to be wrong already: it may also be in another place, which uneven parts can look like.
    """
    own = log_evidence(shape, data, mass)
    gain, words = _best(_alternatives(shape), data, mass, own)
    if wrong or words:
        elsewhere, place = _best([_elsewhere(shape, data)], data, mass, own)
        words = place if elsewhere > gain else words
    return words


def _best(others: Iterable[tuple[str, Shape]], data: DataRows, mass: float, own: float) -> tuple[float, str]:
    """By how much the best of other shapes explains the data better, a logarithm, and its words; "" if none does."""
    best, explanation = LIKELIER, ""
    for words, other in others:
        try:
            gain = log_evidence(other, data, mass) - own
        except IparamError:
            continue
        if gain > best:
            best, explanation = gain, words
    return best, explanation


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


def _elsewhere(shape: Shape, data: DataRows) -> tuple[str, Shape]:
    """The shape with its middle where the data have the centre of mass, or near there, and the sentence for it."""
    scale = np.array([1.0, *[0.1] * 3, *[0.01] * 6])  # as in `data_mass`
    phi = scale * (np.linalg.pinv(data.rows * scale, rcond=1e-9) @ data.values)
    points = np.concatenate([part.points for part in shape.parts])
    weight = np.concatenate([part.volumes for part in shape.parts])
    shift = phi[1:4] / phi[0] - np.average(points, axis=0, weights=weight)
    place = " ".join(f"{1e3 * one:.0f}" for one in shift)
    words = (
        f"About {place} mm (x y z) from there, it would explain them far better: is its file in the tool frame "
        "(--shape-pose)?"
    )
    there = np.eye(4)
    there[:3, 3] = shift
    return words, dataclasses.replace(shape.deformed(there), place_deviation=ELSEWHERE)


def _map(matrix: FloatArray, about: FloatArray) -> FloatArray:
    """(4, 4) the linear map about a point."""
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = matrix, about - matrix @ about
    return found
