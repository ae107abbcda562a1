"""What is held for likely of a load of a known shape before its data are seen: how uneven, how filled, how far off.

Each is a few values that are tried, with how much each is believed in; the data choose among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from iparam.arrays import FloatArray
from iparam.estimation.shape.posterior.density_model import SOLID, Filling, Spread
from iparam.estimation.shape.shape import Shape

PARTS = (0.1, 0.35, 1.2)
"""Standard deviations that are tried for the logarithm of parts' densities: alloys of a metal, kinds of plastic, and
anything from foam to steel (ln 7850/100 is 4.4, or four standard deviations of the last)."""

WITHIN = (0.03, 0.1, 0.3)
"""The same for the modes of the density within a part, of which a linear one has that, see `MODE_SIZES`: a solid piece,
a casting, a housing with something in it."""

COMMON = dict(zip(WITHIN, (0.45, 0.35, 0.2), strict=True))
"""How much these are believed in beforehand: most parts are solid."""

SOLID_PLASTIC = 850.0
"""A load whose mean density is less is hollow, or foam, or wood [kg/m^3]: polypropylene has 900."""

METALS = ((2500.0, 3000.0), (7300.0, 25000.0))
"""Densities that solid parts of aluminium, and of steel and heavier metals, have [kg/m^3]: few hollow ones do."""

HOLLOW_BELIEF = {"light": 0.5, "metal": 0.05, "other": 0.3}
"""How many loads are hollow or have a core, by their mean density: a third of what has that of no solid metal, or one
that nobody can tell, may be a housing of one; of what is lighter than plastic, half."""

HOLLOW_SHARE = 0.75
"""Of these, how many are hollow; the others have a core, or something heavy in their middle."""

MATERIALS = (900.0, 8500.0)
"""Densities between which those of the materials of walls are, polypropylene's and brass's [kg/m^3]."""

ANY_WALL = (0.03, 0.98)
"""How much of a hollow part walls fill, at least and at most; beyond that it is a skin, or solid."""

CORE = Filling(-0.7, 0.4)
"""Of parts with a core: second moments of three quarters of a solid one's, give or take."""

IMPROBABLE = 0.2
"""Probability of solid parts below which the estimate is no longer theirs, but that of hollow parts, or of a core."""

SURFACES = ((1.0, 0.8), (4.0, 0.16), (16.0, 0.04))
"""Factors of the tolerance of the surfaces, and how much they are believed in beforehand: as stated, careless, and
another shape or place altogether."""

SIZES = ((1.0, 0.8), (4.0, 0.2))
"""The same for how far a shape is stretched along each of its axes by itself, where it is as stated on the whole: that
it is as long as it should be, which the data may show, says nothing of how thick it is."""


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """What is tried.

    Attributes:
        spreads: of the unknowns.
        belief: (S,) logarithms of how much each is believed in.
        stated: (S,) whether the shape is as stated.
        another: (S,) whether it is off by as much as can be: another shape.
    """

    spreads: tuple[Spread, ...]
    belief: FloatArray
    stated: NDArray[np.bool_]
    another: NDArray[np.bool_]

    def believed_filling(self, evidence: FloatArray) -> NDArray[np.bool_]:
        """(S,) which of them have the filling to believe in, by logarithms (S,) of their probabilities: solid, if it
        is not improbable.
        """
        kinds = [spread.filling for spread in self.spreads]
        weight = np.exp(evidence - evidence.max())
        share = {one: float(weight[[one == other for other in kinds]].sum() / weight.sum()) for one in set(kinds)}
        best = SOLID if share[SOLID] > IMPROBABLE else max(share, key=lambda one: share[one])
        return np.array([one == best for one in kinds])


def hypotheses(shape: Shape, mass: float, *, trusted: bool) -> Hypotheses:
    """All that is tried for a shape.

    Args:
        shape: in the tool frame.
        mass: about what the load has [kg].
        trusted: the shape cannot be off by more than its tolerance.
    """
    parts = PARTS if sum(part.density is None for part in shape.parts) > 1 else PARTS[:1]
    surfaces = SURFACES[:1] if trusted else SURFACES
    tried = list(product(fillings(shape, mass), parts, WITHIN, surfaces))
    factors = np.array([factor for *_, (factor, _) in tried])
    return Hypotheses(
        tuple(
            Spread(between, within, far * shape.tolerance, filling) for (filling, _), between, within, (far, _) in tried
        ),
        np.log([chance * COMMON[within] * belief for (_, chance), _, within, (_, belief) in tried]),
        factors == factors.min(),
        factors == factors.max(),
    )


def fillings(shape: Shape, mass: float) -> tuple[tuple[Filling, float], ...]:
    """How parts may be filled, and how much that is believed in beforehand, see `hypotheses`."""
    if all(part.density is not None for part in shape.parts):
        return ((SOLID, 1.0),)
    density = mass / shape.volume if shape.metric else None
    belief = HOLLOW_BELIEF["other"] if density is None else hollow_belief(density)
    walls, core = HOLLOW_SHARE * belief, (1.0 - HOLLOW_SHARE) * belief
    return ((SOLID, 1.0 - belief), (hollow_filling(density), walls), (CORE, core))


def hollow_belief(density: float) -> float:
    """How probable it is that a load of that mean density [kg/m^3] is hollow, or has a core."""
    if density < SOLID_PLASTIC:
        return HOLLOW_BELIEF["light"]
    return HOLLOW_BELIEF["metal" if any(low <= density <= high for low, high in METALS) else "other"]


def hollow_filling(density: float | None) -> Filling:
    """How hollow parts of that mean density [kg/m^3] are filled: a material tells how thick their walls are.

    Any material between plastic and brass is alike, by the logarithm of its density; None: any wall is.
    """
    filled = np.array(ANY_WALL) if density is None else np.clip(density / np.array(MATERIALS)[::-1], *ANY_WALL)
    cavity = (1.0 - filled) ** (1.0 / 3.0)  # its size, in a part that is as long as wide
    second_moment = (1.0 - cavity**5) / filled
    thinnest, thickest = ndtri(0.5 + 0.5 * np.log(second_moment) / np.log(5.0 / 3.0))
    return Filling(float(0.5 * (thinnest + thickest)), float(max(thinnest - thickest, 1.0) / np.sqrt(12.0)))
