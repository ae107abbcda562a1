"""Draws from the posterior of an identified load: as loads of their own, a file each in any format, and as one table.

Simulators that train or test a controller on many payloads take either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import iparam
from iparam.errors import InputError
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.export.comment import comment_lines, decimals, line_comment, uncertainty
from iparam.export.load import IdentifiedLoad
from iparam.rounding import percent
from iparam.spatial.parameters import InertialParameters, inertia_entries

ALL_BODIES = 0.99
"""Share of the Gaussian posterior that has to be real bodies for the draws to have its mean and covariance."""


@dataclass(frozen=True)
class LoadDraws:
    """What `draw_loads` returns.

    Attributes:
        loads: physically consistent, independent of each other.
        share: of the Gaussian posterior that belongs to real bodies, see `iparam.estimation.PosteriorDraws`.
    """

    loads: tuple[IdentifiedLoad, ...]
    share: float

    @property
    def caution(self) -> str:
        """Why mean and covariance of the draws are not those of the estimate, in a sentence; "" where they are."""
        if self.share >= ALL_BODIES:
            return ""
        share = percent(self.share) if self.share >= 1e-3 else "Less than 0.1 %"
        return (
            f"{share} of the Gaussian around the estimate are bodies that can exist, and the draws are those: their "
            "mean lies further inside than the estimate, and they scatter less than its standard deviations say."
        )


def draw_loads(load: IdentifiedLoad, count: int, seed: int = 0) -> LoadDraws:
    """Draw from the posterior of a load; see `iparam.estimation.draw_parameters`.

    Args:
        load: what was identified, with its covariance and physically consistent.
        count: how many.
        seed: the same one gives the same draws.
    """
    if load.covariance_phi is None:
        raise InputError(
            "the load states no covariance, so there is no posterior to draw from (a truth or an exported load has "
            "none): give the result of the identification itself"
        )
    load.require_consistency()
    drawn = iparam.estimation.draw_parameters(load.phi, load.covariance_phi, count, seed)
    bodies = [InertialParameters.from_phi(phi) for phi in drawn.phi]
    loads = tuple(
        replace(
            load,
            mass=body.mass,
            center_of_mass=body.center_of_mass,
            inertia_about_com=body.inertia_about_com,
            origin=f"Draw {place} of {count} from the posterior of the load (seed {seed}), not the estimate itself.",
        )
        for place, body in enumerate(bodies, 1)
    )
    return LoadDraws(loads, drawn.share)


def numbered(path: Path, count: int) -> list[Path]:
    """The paths of ``count`` files that belong to one name: payload.xml gives payload_01.xml, payload_02.xml, ..."""
    width = len(str(count))
    return [path.with_name(f"{path.stem}_{place:0{width}}{path.suffix}") for place in range(1, count + 1)]


def to_csv(load: IdentifiedLoad) -> str:
    """A table with one row, see `draws_to_csv`."""
    return _table(comment_lines(load, *_COLUMNS, *uncertainty(load)), [load])


def draws_to_csv(loads: Sequence[IdentifiedLoad]) -> str:
    """A table of loads, a row each: mass, centre of mass, inertia about it; lines of a comment before the header."""
    whole = replace(loads[0], origin=f"{len(loads)} draws from {loads[0].origin.partition(' from ')[2]}")
    return _table(comment_lines(whole, *_COLUMNS, *uncertainty(whole)), loads)


_COLUMNS = (
    "mass [kg]; center_of_mass_x, _y, _z in the frame [m];",
    "inertia_xx ... inertia_zz [kg m^2] about the centre of mass, in the frame's axes.",
)


def _table(comment: list[str], loads: Sequence[IdentifiedLoad]) -> str:
    rows = (
        decimals((load.mass, *load.center_of_mass, *inertia_entries(load.inertia_about_com)), ",") for load in loads
    )
    return line_comment(comment, "#") + "\n".join((",".join(DERIVED_NAMES), *rows, ""))
