"""Full parameters of an arm that a body of positive density can have in every link, all links at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.errors import IdentificationError
from iparam.spatial.phi import pseudo_inertia_from_phi

MARGIN = 1e-5
"""Least eigenvalue of a link's pseudo-inertia in units of its own size in the prior."""

AT_LIMIT = 1e-3
"""Eigenvalue of a link's pseudo-inertia, in the same units, below which it counts as singular."""

LEAST_REACH = 0.02
"""A link is taken to extend at least that far [m]."""

PRIOR_DEVIATION = 0.3
"""Standard deviation of the maker's figures, in units of each link's mass and reach. It decides only what the data
leave open: in all else thousands of samples outweigh it."""


@dataclass(frozen=True, eq=False)
class ConsistentProblem:
    """Least squares over the parameters of all links and whatever else the model has.

    Attributes:
        triangle, right: (k, p) and (k,) whitened; the first 10 n columns are the links.
        prior: (n, 10) the maker's figures.
        not_negative: columns behind the links whose parameters are at least 0: rotors, Coulomb friction, ...
    """

    triangle: FloatArray
    right: FloatArray
    prior: FloatArray
    not_negative: NDArray[np.int64]


def link_units(prior: FloatArray) -> FloatArray:
    """(n, 10) size of each parameter by the mass and reach of its link."""
    mass = np.maximum(prior[:, 0], 0.05)
    largest = np.abs(prior[:, [4, 7, 9]]).max(axis=1)
    reach = np.maximum(np.sqrt(largest / mass), LEAST_REACH)
    return np.column_stack([mass, *[mass * reach] * 3, *[mass * reach**2] * 6])


def consistent_parameters(problem: ConsistentProblem) -> FloatArray:
    """(p,) the consistent parameters with the least squares, by Clarabel: one 4 x 4 matrix inequality a link."""
    import clarabel
    from scipy import sparse

    bodies, size = len(problem.prior), problem.triangle.shape[1]
    links = 10 * bodies
    sizes = link_units(problem.prior).ravel()
    lengths = np.linalg.norm(problem.triangle[:, links:], axis=0)
    units = np.concatenate([sizes, 1.0 / np.where(lengths > 0.0, lengths, 1.0)])
    weight = np.zeros(size)
    weight[:links] = 1.0 / PRIOR_DEVIATION  # in units of each link
    weight[links:] = 1e-6  # what nothing tells stays zero
    target = np.zeros(size)
    target[:links] = problem.prior.ravel() / sizes
    rows = np.concatenate([problem.triangle * units, np.diag(weight)])
    right = np.concatenate([problem.right, weight * target])
    norm = max(float(np.linalg.norm(rows, ord=2)), 1e-12)
    gram, pull = (rows.T @ rows) / norm**2, (rows.T @ right) / norm**2
    shapes = _pseudo_inertia_rows()
    constraints = np.zeros((links + problem.not_negative.size, size))
    floor = np.zeros(len(constraints))
    for body in range(bodies):
        own = slice(10 * body, 10 * body + 10)
        mass, reach = sizes[10 * body], sizes[10 * body + 1] / sizes[10 * body]
        scale = np.array([reach, reach, reach, 1.0])
        entries = np.array([scale[i] * scale[j] for j in range(4) for i in range(j + 1)]) * mass
        constraints[own, own] = -shapes * sizes[own] / entries[:, None]
        floor[own] = [-MARGIN if i == j else 0.0 for j in range(4) for i in range(j + 1)]
    constraints[np.arange(links, len(constraints)), problem.not_negative] = -1.0
    settings: Any = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    cones = [clarabel.PSDTriangleConeT(4)] * bodies
    if problem.not_negative.size:
        cones.append(clarabel.NonnegativeConeT(int(problem.not_negative.size)))
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(gram)), -pull, sparse.csc_matrix(constraints), floor, cones, settings
    )
    solution = solver.solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise IdentificationError(f"no consistent arm was found: the solver says {solution.status}")
    return np.asarray(np.array(solution.x) * units)


def changes_within_limits(links: FloatArray, prior: FloatArray) -> FloatArray:
    """(10 n, d) in which consistent bodies can change and keep the rank of their pseudo-inertias, to first order.

    Where a pseudo-inertia is singular, on vectors V, its changes dP have V' dP V = 0: to the one side of these no body
    is, and to the other side the data, which brought it here, do not want it to be.

    Args:
        links: (n, 10) phi of consistent bodies.
        prior: (n, 10) the maker's figures; the directions are orthonormal in the units of `link_units`.
    """
    sizes = link_units(prior)
    each = pseudo_inertia_from_phi(np.eye(10))
    limits = []
    for body, (phi, size) in enumerate(zip(links, sizes, strict=True)):
        unit = np.array([1.0, 1.0, 1.0, size[1] / size[0]]) / np.sqrt(size[4])
        values, vectors = np.linalg.eigh(unit[:, None] * pseudo_inertia_from_phi(phi) * unit)
        null = unit[:, None] * vectors[:, values < AT_LIMIT]
        for i, j in zip(*np.triu_indices(null.shape[1]), strict=True):
            limit = np.zeros_like(links)
            limit[body] = np.einsum("a,kab,b->k", null[:, i], each, null[:, j]) * size
            limits.append(limit.ravel())
    free = np.eye(links.size)
    if limits:
        _, values, rows = np.linalg.svd(np.array(limits))
        free = rows[np.count_nonzero(values > 1e-9 * values[0]) :].T
    return np.asarray(sizes.ravel()[:, None] * free)


def _pseudo_inertia_rows() -> FloatArray:
    """(10, 10): the upper triangle of the pseudo-inertia of each unit phi, off-diagonal entries times root 2."""
    matrices = pseudo_inertia_from_phi(np.eye(10))
    root = np.sqrt(2.0)
    return np.array([matrices[:, i, j] * (1.0 if i == j else root) for j in range(4) for i in range(j + 1)])
