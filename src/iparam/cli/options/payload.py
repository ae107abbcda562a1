"""What an arm carries: the options that describe it for a simulation, and the files that say it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from tyro.conf import arg

import iparam
from iparam.cli.options.joint_state import exact_count
from iparam.errors import FileFormatError, InputError
from iparam.files.kind import FileKind, kind_stated

if TYPE_CHECKING:
    from iparam.robot.model import Robot

_LOADS = (FileKind.RESULT, FileKind.STATIC_RESULT, FileKind.TRUTH, FileKind.EXPORTED_LOAD)
_SIZES = {
    "box": ("edge lengths x y z [m]", 3),
    "cylinder": ("radius and length [m]", 2),
    "two-stage-cylinder": ("radius 1, length 1, radius 2, length 2 [m]", 4),
    "sphere": ("the radius [m]", 1),
}


@dataclass(frozen=True, kw_only=True)
class PayloadOptions:
    """The options; a command adds its own to them."""

    payload: Annotated[
        Literal["box", "cylinder", "two-stage-cylinder", "sphere", "none"] | None,
        arg(metavar="{box,cylinder,two-stage-cylinder,sphere,none}", help_behavior_hint=""),
    ] = None
    """Shape of the payload."""
    size: Annotated[tuple[float, ...], arg(metavar="LENGTH ..", help_behavior_hint="")] = ()
    """Its size [m]. box: x y z; cylinder: radius length; two-stage: both of each; sphere: radius."""
    payload_mesh: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """A closed mesh, .obj or .stl, instead of --payload."""
    mesh_scale: Annotated[float, arg(metavar="M")] = 1.0
    """Metres in one of the mesh's units: 0.001 for millimetres."""
    mass: Annotated[float | None, arg(metavar="KG", help_behavior_hint="")] = None
    """Mass of the payload [kg]."""
    density: Annotated[float | None, arg(metavar="KG/M3", help_behavior_hint="")] = None
    """Its density instead of its mass [kg/m^3]: 2700 for aluminium, 7850 for steel."""
    offset: Annotated[tuple[float, ...], arg(metavar="X Y Z", help_behavior_hint="(default: in front of it)")] = ()
    """Its centre, for a mesh its file's origin, in the tool frame [m]."""
    rpy_deg: Annotated[tuple[float, ...], arg(metavar="R P Y")] = (0.0, 0.0, 0.0)
    """Roll, pitch and yaw that turn it in the tool frame [deg]."""

    @property
    def names_payload(self) -> bool:
        """Whether the options say what the arm carries, be it nothing."""
        return self.payload is not None or self.payload_mesh is not None

    def carried(self) -> iparam.Payload | None:
        """The payload that the options describe; None for none."""
        place: dict[str, Any] = {
            "mass": self.mass,
            "density": self.density,
            "offset": exact_count(self.offset, "--offset", "x y z in the tool frame [m]", 3) if self.offset else None,
        }
        turn = np.radians(exact_count(self.rpy_deg, "--rpy-deg", "roll, pitch and yaw [deg]", 3))
        if self.payload_mesh is not None:
            if self.payload not in (None, "none") or self.size:
                raise InputError("give --payload with --size or --payload-mesh, not both")
            self._require_mass()
            return iparam.Payload.mesh(self.payload_mesh, scale=self.mesh_scale, rotation_rpy=turn, **place)
        if self.payload in (None, "none"):
            if self.size or self.mass is not None or self.density is not None or self.offset:
                raise InputError("the payload has no shape: add --payload box, cylinder, ... or --payload-mesh")
            return None
        lengths = exact_count(self.size, "--size", *_SIZES[self.payload]).tolist()
        self._require_mass()
        if self.payload == "box":
            return iparam.Payload.box(size=lengths, rotation_rpy=turn, **place)
        if self.payload == "cylinder":
            return iparam.Payload.cylinder(radius=lengths[0], length=lengths[1], rotation_rpy=turn, **place)
        if self.payload == "sphere":
            return iparam.Payload.sphere(radius=lengths[0], **place)
        stages = dict(zip(("radius1", "length1", "radius2", "length2"), lengths, strict=True))
        return iparam.Payload.two_stage_cylinder(**stages, rotation_rpy=turn, **place)

    def _require_mass(self) -> None:
        if (self.mass is None) == (self.density is None):
            raise InputError("give the payload's --mass [kg] or its --density [kg/m^3], one of the two")


def read_result(path: Path) -> tuple[iparam.Estimate | iparam.InertialParameters, str]:
    """A result, or the load of another file that has one, which counts as known exactly; and its frame.

    A file that somebody wrote by hand may state phi, and a frame, and nothing else.
    """
    document = iparam.files.read_json(path, wanted=_LOADS)
    kind = kind_stated(document.content)
    if "phi" in document.content and document.content.keys() <= {"phi", "frame"}:
        try:
            body = iparam.InertialParameters.from_phi(document.array("phi", 1))
        except InputError as error:
            raise FileFormatError(f"{path}: {error}") from None
        return body, document.text("frame") if document.has("frame") else ""
    if kind is FileKind.TRUTH:
        truth = iparam.simulation.GroundTruth.load(path)
        return truth.payload, truth.frame
    if kind is FileKind.EXPORTED_LOAD:
        load = iparam.export.IdentifiedLoad.from_json(path)
        load.require_credit()
        return load.parameters, load.frame
    found = iparam.Estimate.load(path)
    return found, found.frame


def read_load(path: Path, robot: Robot | None) -> tuple[iparam.InertialParameters, tuple[str, ...]]:
    """The load of a truth or result file, and the fingerprints of the measurements that it was identified from.

    Args:
        path: of the file.
        robot: whose tool frame the load must be given in; None where there is no arm.
    """
    found, frame = read_result(path)
    if robot is not None:
        iparam.estimation.check_frame(frame, robot)
    if not isinstance(found, iparam.Estimate):
        return found, ()
    if found.refutation is not None:
        raise InputError(
            f"{path} is refuted by its own data, so that nothing can be known by it: {found.refutation.sentence}"
        )
    return found.parameters, found.measurements
