"""`PlanConditions`: what a motion was planned with, so that whoever checks, simulates or plays it takes the same."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_bounded_array, as_float_array, frozen
from iparam.errors import FileFormatError, InputError, IparamError
from iparam.files.json import JsonSection
from iparam.robot.cell import WorkCell, cell_document, cell_from_document
from iparam.spatial.parameters import InertialParameters

CLEARANCE = 0.02
"""Least distance between two shapes that a motion is planned with, unless told otherwise [m]: what the model of an arm
and its mounting may be off by."""

LIMIT_FRACTION = 0.95
"""Share of the limits that a motion is planned with, unless told otherwise: an arm that follows it needs the rest."""

EARLIER = {"clearance": 0.01, "fraction": 1.0}
"""What a motion is held to whose file does not say: what was planned with before files said it."""

REFERENCE = "reference"
"""The reference problem, whose geometry and limits are its own."""

_PER_JOINT = ("velocity", "acceleration", "jerk", "torque")


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanningLimits:
    """What a planned motion may use of an arm.

    Attributes:
        velocity, acceleration, jerk, torque: (n,) or one number, instead of the robot's own; None for those. The robot
            has no jerk limit of its own.
        fraction: share of the limits on velocity, acceleration, jerk and torque that may be used.
        displacement: largest distance of the tool from its start [m]; None for no limit.
        speed: most of the tool, and of the box around what it carries, in the base frame [m/s]; None for what the
            arm's controller allows as delivered, where the catalogue knows it.
        clearance: least distance between shapes [m].
    """

    velocity: ArrayLike | None = None
    acceleration: ArrayLike | None = None
    jerk: ArrayLike | None = None
    torque: ArrayLike | None = None
    fraction: float = LIMIT_FRACTION
    displacement: float | None = None
    speed: float | None = None
    clearance: float = CLEARANCE

    def __post_init__(self) -> None:
        if not 0.0 < self.fraction <= 1.0:
            raise InputError(argument="fraction", value=self.fraction, expected="above 0 and at most 1")
        if not (np.isfinite(self.clearance) and self.clearance >= 0):
            raise InputError(argument="clearance", problem=f"must not be negative, got {self.clearance}")
        if self.speed is not None and not (np.isfinite(self.speed) and self.speed > 0.0):
            raise InputError(argument="speed", value=self.speed, expected="positive [m/s]")


@dataclass(frozen=True, eq=False)
class PlannedPayload:
    """The box around what the tool carries.

    Attributes:
        size: (3,) its edge lengths along the tool's axes [m].
        center: (3,) in the tool frame [m].
        mass: guessed, for the joint torques [kg]; 0 if it was left open.
    """

    size: FloatArray
    center: FloatArray
    mass: float = 0.0

    def __post_init__(self) -> None:
        size = as_bounded_array(self.size, "the payload's size")
        if size.shape != (3,) or (size <= 0.0).any():
            raise InputError(argument="size", value=size, expected="three positive lengths [m]")
        center = as_bounded_array(self.center, "the payload's center")
        if center.shape != (3,):
            raise InputError(argument="center", value=center, expected="x y z in the tool frame [m]")
        if not (np.isfinite(self.mass) and self.mass >= 0.0):
            raise InputError(argument="mass", problem=f"must not be negative, got {self.mass!r} kg")
        object.__setattr__(self, "size", frozen(size))
        object.__setattr__(self, "center", frozen(center))
        object.__setattr__(self, "mass", float(self.mass))

    @classmethod
    def from_size(cls, size: ArrayLike, center: ArrayLike | None = None, mass: float = 0.0) -> PlannedPayload:
        """A box of edge lengths ``size`` (3,) [m], by default standing on the tool frame's origin along its z."""
        edges = as_float_array(size, "the payload's size", (3,))
        middle = [0.0, 0.0, edges[2] / 2] if center is None else center
        return cls(edges, as_float_array(middle, "the payload's center", (3,)), mass)

    @property
    def parameters(self) -> InertialParameters | None:
        """The inertia of a solid box of its mass, in the tool frame; None if the mass was left open."""
        if self.mass == 0.0:
            return None
        pose = np.eye(4)
        pose[:3, 3] = self.center
        return InertialParameters.box(self.mass, self.size).transformed(pose)

    def __str__(self) -> str:
        edges = " x ".join(f"{edge:g}" for edge in self.size)
        on_flange = np.allclose(self.center, [0.0, 0.0, self.size[2] / 2], rtol=0.0, atol=1e-12)
        place = "" if on_flange else f" at {' '.join(f'{x:g}' for x in self.center)} m"
        return f"{edges} m{place}, " + (f"{self.mass:g} kg" if self.mass else "mass left open")


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanConditions:
    """What a motion has to keep beside the arm's own limits.

    Attributes:
        payload: on the tool; None for nothing.
        cell: the surroundings.
        limits: what may be used of the arm, and the clearance.
        preset: "reference" if the geometry and limits are those of `reference_problem`; else "".
    """

    payload: PlannedPayload | None = None
    cell: WorkCell = field(default_factory=WorkCell)
    limits: PlanningLimits = field(default_factory=PlanningLimits)
    preset: str = ""

    def __post_init__(self) -> None:
        if self.preset not in ("", REFERENCE):
            raise InputError(argument="preset", value=self.preset, expected=f"{REFERENCE!r} or none")

    def changed(
        self,
        *,
        payload_size: ArrayLike | None = None,
        payload_center: ArrayLike | None = None,
        payload_mass: float | None = None,
        cell: WorkCell | None = None,
        **limits: Any,
    ) -> PlanConditions:
        """These conditions with what is given in place of their own; themselves if nothing is.

        Args:
            payload_size: (3,) edge lengths [m]; zeros for no payload. The box stands on the flange unless
                ``payload_center`` is given, too.
            payload_center: (3,) in the tool frame [m].
            payload_mass: guessed [kg].
            cell: surroundings.
            limits: fields of `PlanningLimits`; None leaves one as it is.
        """
        bounds = {name: value for name, value in limits.items() if value is not None}
        if not bounds and all(given is None for given in (payload_size, payload_center, payload_mass, cell)):
            return self
        return PlanConditions(
            payload=self._changed_payload(payload_size, payload_center, payload_mass),
            cell=self.cell if cell is None else cell,
            limits=dataclasses.replace(self.limits, **bounds),
        )

    def _changed_payload(
        self, size: ArrayLike | None, center: ArrayLike | None, mass: float | None
    ) -> PlannedPayload | None:
        own = self.payload
        if size is not None and not np.any(as_float_array(size, "payload_size")):
            if center is not None or mass:
                raise InputError(
                    argument="payload_size", problem="of zeros is no payload, which has neither center nor mass"
                )
            return None
        if size is not None:
            known = 0.0 if own is None else own.mass
            return PlannedPayload.from_size(size, center, known if mass is None else mass)
        if own is not None:
            return PlannedPayload.from_size(
                own.size, own.center if center is None else center, own.mass if mass is None else mass
            )
        for name, given in (("payload_mass", mass), ("payload_center", center)):
            if given is not None and np.any(given):
                raise InputError(
                    argument=name, problem="needs payload_size, the edge lengths x y z of the box around the payload"
                )
        return None

    def __str__(self) -> str:
        cell, limits = self.cell, self.limits
        counts = ((len(cell.boxes), "box", "boxes"), (len(cell.planes), "wall", "walls"))
        around = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
        if cell.ground_height is None:
            around.append("no ground")
        elif cell.ground_height != 0.0:
            around.append(f"the ground at {cell.ground_height:g} m")
        own = [name for name in _PER_JOINT if getattr(limits, name) is not None]
        if limits.displacement is not None:
            own.append(f"displacement up to {limits.displacement:g} m")
        if limits.speed is not None:
            own.append(f"tool speed up to {limits.speed:g} m/s")
        return "; ".join(
            [
                "no payload" if self.payload is None else f"a payload of {self.payload}",
                f"{1e3 * limits.clearance:g} mm clearance",
                f"{100 * limits.fraction:g} % of the limits" + (f", those on {', '.join(own)} given" if own else ""),
                *([f"in a cell with {', '.join(around)}"] if around else []),
                *([f"the {self.preset} problem"] if self.preset else []),
            ]
        )

    def to_config(self) -> dict[str, Any]:
        """The entries that stand in "config" of a trajectory file."""
        payload, limits = self.payload, self.limits
        of_joints = {key: getattr(limits, key) for key in _PER_JOINT}
        return {
            "payload": None
            if payload is None
            else {
                "size": payload.size.tolist(),
                "center": payload.center.tolist(),
                "mass": payload.mass,
            },
            "cell": cell_document(self.cell),
            "clearance": float(limits.clearance),
            "limits": {
                "fraction": float(limits.fraction),
                **{key: None if value is None else np.asarray(value).tolist() for key, value in of_joints.items()},
                "displacement": None if limits.displacement is None else float(limits.displacement),
                "speed": None if limits.speed is None else float(limits.speed),
            },
            **({"preset": self.preset} if self.preset else {}),
        }

    @classmethod
    def unstated(cls) -> PlanConditions:
        """What a motion is held to that comes without its conditions: the arm's own limits, nothing on the tool."""
        return cls(limits=PlanningLimits(**EARLIER))

    @classmethod
    def from_config(cls, config: JsonSection) -> PlanConditions | None:
        """What `to_config` wrote; None if the file does not say whether there was a payload."""
        if "payload" not in config.content:
            return None
        try:
            return cls(
                payload=_payload(config.section("payload")) if config.has("payload") else None,
                cell=_cell(config),
                limits=_limits(config),
                preset=config.text("preset") if config.has("preset") else "",
            )
        except FileFormatError:
            raise
        except InputError as error:
            raise FileFormatError(f"{config.file}: {config.key} says what it cannot be planned with: {error}") from None


def _payload(section: JsonSection) -> PlannedPayload:
    return PlannedPayload.from_size(
        section.array("size", 1),
        section.array("center", 1) if section.has("center") else None,
        section.number("mass") if section.has("mass") else 0.0,
    )


def _cell(config: JsonSection) -> WorkCell:
    if not config.has("cell"):
        return WorkCell()
    section = config.section("cell")
    try:
        return cell_from_document(section.content)
    except IparamError as error:
        raise config.error("cell", f"cannot be used: {error}") from None


def _limits(config: JsonSection) -> PlanningLimits:
    given: dict[str, Any] = dict(EARLIER)
    if config.has("limits"):
        section = config.section("limits")
        given |= {key: section.number(key) for key in ("fraction", "displacement", "speed") if section.has(key)}
        for key in _PER_JOINT:
            if section.has(key):
                listed = isinstance(section.content[key], list)
                given[key] = section.array(key, 1) if listed else section.number(key)
    if config.has("clearance"):
        given["clearance"] = config.number("clearance")
    return PlanningLimits(**given)
