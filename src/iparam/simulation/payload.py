"""`Payload`: what the simulated arm carries, a shape with its inertial parameters, rigidly on the tool frame."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.robot.collision.shapes import PayloadBox
from iparam.robot.model import Robot
from iparam.simulation.shapes import SHORTEST, Solid, SolidKind, SolidMesh, TriangleMesh, load_solid_mesh
from iparam.spatial.consistency import check_consistency
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.transforms import rotation_from_rpy, transform_from

LARGEST_MASS = 1e4
"""A payload above this is taken for a mistake of units [kg]."""

SMALLEST_MASS = 1e-9
"""A payload below this has no inertia that can be computed with [kg]."""

FARTHEST = 1e3
"""Where a payload is at most [m]."""


class Given(TypedDict, total=False):
    """What the constructors of `Payload` take besides lengths."""

    mass: float | None
    density: float | None
    offset: ArrayLike | None
    rotation_rpy: ArrayLike


@dataclass(frozen=True, eq=False)
class Payload:
    """A rigid body fixed to the tool frame. Make it with `box`, `cylinder`, `two_stage_cylinder`, `sphere` or `mesh`.

    The constructors take the mass [kg] or the density [kg/m^3], one of the two, and place the shape:

    - ``offset`` (3,) is the position of the shape's centre in the tool frame [m]; for a mesh, that of its file's own
      origin. If it is not given, the shape stands on the flange: centred on the tool's z axis, in front of z = 0
      and touching it.
    - ``rotation_rpy`` (3,) are the fixed-axis angles roll, pitch, yaw that turn the shape from the tool's axes [rad].

    Attributes:
        kind: of the shape, for messages.
        shape: the pieces that can collide; () for a body without a shape.
        parameters: mass, centre of mass and inertia in the tool frame.
    """

    kind: str
    shape: tuple[Solid | TriangleMesh, ...]
    parameters: InertialParameters

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))
        report = check_consistency(self.parameters.phi)
        if not report:
            raise InputError(f"no rigid body has the inertial parameters of this payload: {report.violations[0]}")

    @classmethod
    def box(cls, *, size: ArrayLike, **given: Unpack[Given]) -> Payload:
        """A solid box of edge lengths ``size`` (3,) [m]."""
        return _one_solid(SolidKind.BOX, size, **given)

    @classmethod
    def cylinder(cls, *, radius: float, length: float, **given: Unpack[Given]) -> Payload:
        """A solid cylinder about its z axis [m]."""
        return _one_solid(SolidKind.CYLINDER, (radius, length), **given)

    @classmethod
    def sphere(cls, *, radius: float, **given: Unpack[Given]) -> Payload:
        """A solid sphere [m]."""
        return _one_solid(SolidKind.SPHERE, (radius,), **given)

    @classmethod
    def two_stage_cylinder(
        cls, *, radius1: float, length1: float, radius2: float, length2: float, **given: Unpack[Given]
    ) -> Payload:
        """Two solid cylinders about one z axis, the second on top of the first, of one density [m].

        The shape's centre is the middle of its whole length.
        """
        total = float(as_float_array(length1, "length1")) + float(as_float_array(length2, "length2"))
        stages = []
        for radius, length, middle in ((radius1, length1, 0.5 * length1), (radius2, length2, length1 + 0.5 * length2)):
            pose = transform_from(np.eye(3), [0.0, 0.0, middle - 0.5 * total])
            stages.append(Solid(SolidKind.CYLINDER, (radius, length), pose))
        return _of_solids("two-stage cylinder", stages, **given)

    @classmethod
    def mesh(
        cls,
        path: str | os.PathLike[str],
        *,
        mass: float | None = None,
        density: float | None = None,
        scale: float = 1.0,
        offset: ArrayLike | None = None,
        rotation_rpy: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Payload:
        """A solid body of uniform density inside the closed surface that an OBJ or STL file holds.

        Args:
            path: of the file.
            mass, density, offset, rotation_rpy: see the class; ``offset`` is that of the file's origin.
            scale: metres in one of the file's units; 0.001 for a file in millimetres.
        """
        solid = load_solid_mesh(path, scale)
        rotation = rotation_from_rpy(_three(rotation_rpy, "rotation_rpy"))
        vertices = solid.vertices @ rotation.T
        position = _standing(vertices.min(axis=0), vertices.max(axis=0)) if offset is None else _three(offset, "offset")
        total = _mass(mass, density, solid.volume)
        parameters = _mesh_parameters(solid, total).transformed(transform_from(rotation, position))
        return cls("mesh", (TriangleMesh(vertices + position, solid.faces),), parameters)

    @classmethod
    def from_parameters(cls, parameters: InertialParameters) -> Payload:
        """A body known by its inertial parameters in the tool frame alone; it has no shape and hits nothing."""
        return cls("body without a shape", (), parameters)

    @property
    def boxes(self) -> tuple[PayloadBox, ...]:
        """The boxes that collisions are judged by: each piece's own box, or the one around it in tool0's axes.

        Whatever box a plan was made with, if it is one in tool0's axes that contains the payload, it contains these.
        """
        boxes = []
        for piece in self.shape:
            if isinstance(piece, TriangleMesh):
                lower, upper = piece.vertices.min(axis=0), piece.vertices.max(axis=0)
                half, middle = 0.5 * (upper - lower), 0.5 * (lower + upper)
                boxes.append(PayloadBox(np.maximum(half, SHORTEST), middle))
            elif piece.kind is SolidKind.BOX:
                boxes.append(PayloadBox(0.5 * np.array(piece.size), piece.pose[:3, 3], piece.pose[:3, :3]))
            else:
                boxes.append(PayloadBox(_half_extents(piece, piece.pose), piece.pose[:3, 3]))
        return tuple(boxes)

    @property
    def farthest(self) -> float:
        """A bound of the distance of its points from the tool frame's origin, close to the largest one [m]."""
        distances = [float(np.linalg.norm(self.parameters.center_of_mass))]
        for piece in self.shape:
            if isinstance(piece, TriangleMesh):
                distances.append(float(np.linalg.norm(piece.vertices, axis=1).max()))
            else:
                distances.append(float(np.linalg.norm(np.abs(piece.pose[:3, 3]) + _half_extents(piece, piece.pose))))
        return max(distances)


def payload_name(robot: Robot) -> str:
    """What the payload's body is called: "payload", or longer if the robot has a frame of that name."""
    name = "payload"
    while name in robot.frames:
        name += "_"
    return name


def _one_solid(kind: SolidKind, size: ArrayLike, **given: Unpack[Given]) -> Payload:
    solid = Solid(kind, tuple(np.atleast_1d(as_float_array(size, f"size of a {kind}")).tolist()), np.eye(4))
    return _of_solids(str(kind), [solid], **given)


def _of_solids(
    kind: str,
    solids: list[Solid],
    *,
    mass: float | None = None,
    density: float | None = None,
    offset: ArrayLike | None = None,
    rotation_rpy: ArrayLike = (0.0, 0.0, 0.0),
) -> Payload:
    """The payload of solids that are posed relative to the shape's centre."""
    rotation = rotation_from_rpy(_three(rotation_rpy, "rotation_rpy"))
    volume = sum(solid.volume for solid in solids)
    total = _mass(mass, density, volume)
    if offset is None:
        turned = [transform_from(rotation, np.zeros(3)) @ solid.pose for solid in solids]
        reach = np.array([_half_extents(solid, pose) for solid, pose in zip(solids, turned, strict=True)])
        centers = np.array([pose[:3, 3] for pose in turned])
        position = _standing((centers - reach).min(axis=0), (centers + reach).max(axis=0))
    else:
        position = _three(offset, "offset")
    placement = transform_from(rotation, position)
    placed = [Solid(solid.kind, solid.size, placement @ solid.pose) for solid in solids]
    bodies = [_parameters(solid, total * solid.volume / volume).transformed(solid.pose) for solid in placed]
    return Payload(kind, tuple(placed), sum(bodies[1:], start=bodies[0]))


def _parameters(solid: Solid, mass: float) -> InertialParameters:
    if solid.kind is SolidKind.BOX:
        return InertialParameters.box(mass, solid.size)
    if solid.kind is SolidKind.CYLINDER:
        return InertialParameters.cylinder(mass, *solid.size)
    return InertialParameters.sphere(mass, *solid.size)


def _mesh_parameters(solid: SolidMesh, mass: float) -> InertialParameters:
    return InertialParameters(mass, solid.center_of_mass, mass / solid.volume * solid.second_moments)


def _half_extents(solid: Solid, pose: FloatArray) -> FloatArray:
    """(3,) half the size of the solid's bounding box in the axes of ``pose`` [m]."""
    turn = np.abs(pose[:3, :3])
    if solid.kind is SolidKind.BOX:
        return turn @ (0.5 * np.array(solid.size))
    if solid.kind is SolidKind.SPHERE:
        return np.full(3, solid.size[0])
    radius, length = solid.size
    return 0.5 * length * turn[:, 2] + radius * np.sqrt(np.clip(1.0 - turn[:, 2] ** 2, 0.0, None))


def _standing(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """(3,) the shift that centres a bounding box on the z axis and brings its lower face to z = 0 [m]."""
    middle = -0.5 * (lower + upper)
    return np.array([middle[0], middle[1], -lower[2]])


def _mass(mass: float | None, density: float | None, volume: float) -> float:
    if (mass is None) == (density is None):
        raise InputError("give the payload's mass [kg] or its density [kg/m^3], one of the two", argument="mass")
    name, given = ("mass", mass) if density is None else ("density", density)
    value = as_float_array(given, name)  # type: ignore[arg-type]
    if value.shape != () or value <= 0.0:
        raise InputError(argument=name, value=value, expected="one positive number")
    total = float(value) if density is None else float(value) * volume
    if total < SMALLEST_MASS:
        raise InputError(
            f"the payload's mass would be {total:g} kg, less than {SMALLEST_MASS:g}, got a {name} of {float(value):g}: "
            "wrong units?",
            argument=name,
        )
    if total > LARGEST_MASS:
        raise InputError(
            f"the payload's mass would be {total:g} kg, more than {LARGEST_MASS:g}, got a {name} of {float(value):g}: "
            "wrong units?",
            argument=name,
        )
    return total


def _three(value: ArrayLike, name: str) -> FloatArray:
    array = as_float_array(value, name)
    if array.shape != (3,):
        raise InputError(argument=name, problem=f"must be three numbers, got shape {array.shape}")
    if name == "offset" and (np.abs(array) > FARTHEST).any():
        raise InputError(
            argument=name, problem=f"must be between {-FARTHEST:g} and {FARTHEST:g}, got {array.tolist()}: in SI units?"
        )
    return array
