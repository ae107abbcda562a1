"""The parts of a shape as cells whose densities can vary, in a frame in which all shapes look alike.

phi holds the moments of the density up to second order. A density that varies within a part changes them, to first
order, only by its own linear and quadratic course: everything else is orthogonal to x, y, z and their products. So the
course of the log-density within a part is taken as a polynomial of second order, orthonormal over the part whatever its
form: three linear modes, as of a handle that is heavier at one end, and five that are heavier along one direction than
along others. The sixth of second order, heavier on all sides alike, is what hollow parts and cores are: `DensityModel`
has these. No length scale has to be chosen, and nothing depends on the frame, nor on which principal axes a round part
is given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from iparam.arrays import FloatArray
from iparam.estimation.shape.shape import Part, Shape
from iparam.spatial.phi import phi_from_pseudo_inertia, phi_map

CELLS = 40
"""Into which a part is divided, at most: their densities vary, that within a cell does not."""

MOST_VARIED = 12
"""Parts, the largest first, whose density may vary within them: small ones hardly change phi that way."""

FLATTEST = 1e-6
"""Least principal extent of a part, relative to its largest, that counts as one."""

MODE_SIZES = np.repeat([1.0, 0.5], [3, 5])
"""(8,) standard deviations of the modes relative to each other: walls, bosses and inserts lie on all sides of most
parts, so that these are rarely as much heavier along one direction, or diagonal, as at one end."""

MODES = len(MODE_SIZES)


@dataclass(frozen=True, eq=False)
class ShapeCells:
    """A shape in its own frame: centred, along its principal axes, of unit radius of gyration and unit volume.

    Attributes:
        phi: (n, 10) of each cell at unit density.
        part: (n,) its part's index.
        modes: (n, 8) of the density within its part, linear ones, then directions; zero where it does not vary.
        open_parts: (k,) indices of those of which nothing is known but where they are.
        thin_shells: (k, 4, 4) generators of maps of space that take a solid one of these to a thin shell of its form.
        half_extents: (3,) of a box of the same principal moments, in units of the radius of gyration.
        size: the radius of gyration [m].
        pose: (4, 4) affine map from this frame to the tool's [m].
        volume: of the shape [m^3].
        densities: of each part, least and most [kg/m^3], or None.
        shift, turn: standard deviations of where the shape is, in units of its size, and of how it is turned [rad].
    """

    phi: FloatArray
    part: FloatArray
    modes: FloatArray
    open_parts: NDArray[np.int64]
    thin_shells: FloatArray
    half_extents: FloatArray
    size: float
    pose: FloatArray
    volume: float
    densities: tuple[tuple[float, float] | None, ...]
    shift: float = 0.0
    turn: float = 0.0

    @property
    def num_parts(self) -> int:
        """How many there are."""
        return len(self.densities)

    def to_tool(self, mass: float) -> FloatArray:
        """(10, 10) that takes phi in this frame, for a mass unit of ``mass`` [kg], to phi in the tool frame."""
        return mass * phi_map(self.pose)


def shape_cells(shape: Shape) -> ShapeCells:
    """Divide a shape into cells."""
    points = np.concatenate([part.points for part in shape.parts])
    volumes = np.concatenate([part.volumes for part in shape.parts]) / shape.volume
    center = volumes @ points
    values, axes = np.linalg.eigh(((points - center) * volumes[:, None]).T @ (points - center))
    if np.linalg.det(axes) < 0.0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    size = float(np.sqrt(values.sum()))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes * size, center
    varied = set(np.argsort([-part.volume for part in shape.parts], kind="stable")[:MOST_VARIED].tolist())
    phi, label, modes, open_parts, shells = [], [], [], [], []
    for index, part in enumerate(shape.parts):
        place = (part.points - center) @ axes / size
        cells, courses = _cells(part, place, part.volumes / shape.volume)
        if index not in varied or part.density is not None:
            courses = np.zeros_like(courses)
        else:
            open_parts.append(index)
            shells.append(_thin_shell(place, part.volumes / part.volume))
        phi.append(cells)
        modes.append(courses)
        label += [index] * len(cells)
    return ShapeCells(
        np.concatenate(phi),
        np.array(label),
        np.concatenate(modes),
        np.array(open_parts, dtype=np.int64),
        np.array(shells).reshape(-1, 4, 4),
        np.sqrt(3.0 * np.maximum(values, FLATTEST**2 * values[-1])) / size,
        size,
        pose,
        shape.volume,
        tuple(part.density for part in shape.parts),
        shape.place_deviation / size,
        shape.turn_deviation,
    )


def _cells(part: Part, place: FloatArray, volumes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The cells of a part of points (k, 3) with volumes (k,): phi (n, 10) and the modes (n, 8)."""
    weight = volumes / volumes.sum()
    offset = place - weight @ place
    values, axes = _principal(offset, weight)
    own = offset @ axes / np.sqrt(values)
    courses = _orthonormal(np.column_stack([np.ones(len(own)), own, _directions(own)]), weight)
    if len(own) <= CELLS:
        cell = np.arange(len(own))
    else:
        cell = kmeans2(own, CELLS, minit="++", seed=0)[1]
    homogeneous = np.column_stack([place, np.ones(len(place))])
    found, modes = [], []
    for index in np.unique(cell):
        inside = cell == index
        rows, mass = homogeneous[inside], volumes[inside]
        found.append(phi_from_pseudo_inertia((rows * mass[:, None]).T @ rows))
        modes.append(mass @ courses[inside] / mass.sum())
    return np.array(found), np.array(modes)


def _principal(offset: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Variances (3,), not quite zero, of centred points (k, 3) along their principal axes, which are columns (3, 3)."""
    values, axes = np.linalg.eigh((offset * weight[:, None]).T @ offset)
    return np.maximum(values, FLATTEST**2 * max(float(values[-1]), 1e-300)), axes


def _thin_shell(place: FloatArray, weight: FloatArray) -> FloatArray:
    """(4, 4) generator of the stretch about its middle after which a part's points (k, 3) have a thin shell's moments.

    A box with edges of a, b and c and a thin wall all around has 1 + 2 bc / (ab + bc + ca) times the second moment of a
    solid one along a: 5/3 for a cube as for a sphere, 3 across a plate, and hardly more than 1 in its plane. Other
    forms are taken as the box of their principal moments.
    """
    middle = weight @ place
    values, axes = _principal(place - middle, weight)
    a, b, c = np.sqrt(values)
    faces = np.array([b * c, c * a, a * b])
    wider = (axes * (0.5 * np.log1p(2.0 * faces / faces.sum()))) @ axes.T
    found = np.zeros((4, 4))
    found[:3, :3], found[:3, 3] = wider, -wider @ middle
    return found


def _directions(own: FloatArray) -> FloatArray:
    """(k, 5) products of second order of coordinates (k, 3) that are not alike on all sides."""
    x, y, z = own.T
    return np.column_stack([x * x - y * y, x * x + y * y - 2.0 * z * z, x * y, x * z, y * z])


def _orthonormal(columns: FloatArray, weight: FloatArray) -> FloatArray:
    """(k, m) the columns (k, m + 1) but the first, made orthonormal in order under the weights; zero where they are not
    independent of those before.
    """
    kept: list[FloatArray] = []
    for column in columns.T:
        rest = column.copy()
        for other in kept:
            rest -= (weight @ (rest * other)) * other
        norm = float(np.sqrt(weight @ rest**2))
        scale = float(np.sqrt(weight @ column**2))
        kept.append(rest / norm if norm > 1e-6 * scale else np.zeros_like(rest))
    return np.column_stack(kept[1:])
