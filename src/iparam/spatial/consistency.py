"""Whether ten inertial parameters can belong to a real body, and if not, why not.

A body of positive density has a positive mass, and its principal moments of inertia about the centre of mass fulfil the
triangle inequalities strictly. Both together are the same as a positive definite pseudo-inertia.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.spatial.batches import answer
from iparam.spatial.derived import derived_part
from iparam.spatial.phi import inertia_matrix, pseudo_inertia_from_phi

# Values this many times smaller than what they were computed from are rounding, and count as 0.
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class ConsistencyReport:
    """What `check_consistency` found.

    Attributes:
        consistent: True if nothing is violated.
        violations: a sentence with the numbers for each condition that fails.
        smallest_pseudo_inertia_eigenvalue: of the 4x4 pseudo-inertia in SI units; positive for a real body.
        principal_moments: (3,) about the centre of mass, ascending [kg m^2]; NaN if the mass is 0 and the first moment
            is not, as there is no centre of mass then.
    """

    consistent: bool
    violations: tuple[str, ...]
    smallest_pseudo_inertia_eigenvalue: float
    principal_moments: FloatArray

    def __bool__(self) -> bool:
        return self.consistent


@dataclass(frozen=True, eq=False)
class _Conditions:
    """The quantities that must be above their bounds, for a batch (...,) of phi."""

    mass: FloatArray
    eigenvalue: FloatArray
    moments: FloatArray
    slacks: FloatArray  # (..., 3): I2 + I3 - I1, I3 + I1 - I2, I1 + I2 - I3
    eigenvalue_rounding: FloatArray
    moment_rounding: FloatArray

    def hold(self, tolerance: float) -> NDArray[np.bool_]:
        """(..., 8) for the mass, the eigenvalue, the three moments and the three slacks."""
        rounding = self.moment_rounding[..., None]
        margins = [self.mass[..., None], (self.eigenvalue - self.eigenvalue_rounding)[..., None]]
        margins += [self.moments - rounding, self.slacks - rounding]
        held: NDArray[np.bool_] = np.concatenate(margins, axis=-1) > -tolerance
        return held


def check_consistency(phi: ArrayLike, tolerance: float = 0.0) -> ConsistencyReport:
    """Check the parameters of one body, about any frame's origin.

    Args:
        phi: (10,) see `iparam.spatial.phi`.
        tolerance: by how much a condition may be missed, in its own SI unit [kg or kg m^2]. At 0 the limiting cases
            (a point, a thin rod, a flat plate) are inconsistent: their pseudo-inertia is singular.
    """
    parameters = as_float_array(phi, "phi", (10,))
    if parameters.ndim != 1:
        raise InputError(
            argument="phi",
            problem=f"must have shape (10,), got {parameters.shape}; is_physically_consistent takes batches",
        )
    bound = as_float_array(tolerance, "tolerance")
    if bound.ndim or bound < 0.0:
        raise InputError(argument="tolerance", value=tolerance, expected="one number of at least 0")
    found = _conditions(parameters)
    held = found.hold(float(bound))
    violations = tuple(text for text, good in zip(_sentences(found), held, strict=True) if not good)
    return ConsistencyReport(
        consistent=not violations,
        violations=violations,
        smallest_pseudo_inertia_eigenvalue=float(found.eigenvalue),
        principal_moments=frozen(found.moments),
    )


def is_physically_consistent(phi: ArrayLike) -> bool | NDArray[np.bool_]:
    """(...,) whether phi (..., 10) belongs to a body of positive density: `check_consistency` for batches, at 0."""
    return answer(_conditions(as_float_array(phi, "phi", (10,))).hold(0.0).all(axis=-1))


def may_be_body(phi: FloatArray) -> bool:
    """Whether a body can have phi (10,); where some of it is NaN, not known, by its mass and known moments."""
    if not np.isnan(phi).any():
        return check_consistency(phi).consistent
    values = derived_part(phi, np.zeros((10, 10)))[0]
    return bool(values[0] > 0.0 and not (values[[4, 7, 9]] < 0.0).any())


def _conditions(phi: FloatArray) -> _Conditions:
    mass, first_moment = phi[..., 0], phi[..., 1:4]
    about_origin = inertia_matrix(phi[..., 4:])
    with np.errstate(all="ignore"):
        center = np.where(first_moment == 0.0, 0.0, first_moment / mass[..., None])
        along = (center * first_moment).sum(axis=-1)[..., None, None] * np.eye(3)
        shift = along - center[..., :, None] * first_moment[..., None, :]
    defined = np.isfinite(shift).all(axis=(-1, -2))[..., None]
    shift = np.where(defined[..., None], shift, 0.0)
    moments = np.where(defined, np.linalg.eigvalsh(about_origin - shift), np.nan)
    pseudo_inertia = pseudo_inertia_from_phi(phi)
    eigenvalues: FloatArray = np.asarray(np.linalg.eigvalsh(pseudo_inertia), dtype=np.float64)
    return _Conditions(
        mass=mass,
        eigenvalue=eigenvalues[..., 0],
        moments=moments,
        slacks=moments.sum(axis=-1, keepdims=True) - 2.0 * moments,
        eigenvalue_rounding=_ROUNDING * np.abs(pseudo_inertia).max(axis=(-1, -2)),
        moment_rounding=_ROUNDING * np.maximum(np.abs(about_origin), np.abs(shift)).max(axis=(-1, -2)),
    )


def _sentences(found: _Conditions) -> list[str]:
    """What to say of each condition of one body if it fails, in the order of `_Conditions.hold`."""
    eigenvalue = f"{found.eigenvalue:.6g} (rounding error up to {found.eigenvalue_rounding:.1g})"
    text = [
        f"The mass must be positive, but is {found.mass:.6g} kg.",
        f"The pseudo-inertia must be positive definite, but its smallest eigenvalue is {eigenvalue}.",
    ]
    for i in range(3):
        moment = f"Principal moment I{i + 1} about the centre of mass"
        text.append(f"{moment} must be positive, but is {found.moments[i]:.6g} kg m^2.")
    for i in range(3):
        j, k = sorted({0, 1, 2} - {i})
        text.append(
            f"The triangle inequality I{j + 1} + I{k + 1} > I{i + 1} of the principal moments about the centre of mass "
            f"fails: {found.moments[j]:.6g} + {found.moments[k]:.6g} is not above {found.moments[i]:.6g} kg m^2."
        )
    return text
