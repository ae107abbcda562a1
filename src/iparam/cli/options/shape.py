"""What is known of the shape of a load: the options that say it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
from tyro.conf import Suppress, arg

import iparam
from iparam.cli.options.joint_state import exact_count
from iparam.errors import InputError

if TYPE_CHECKING:
    from iparam.arrays import FloatArray
    from iparam.trajectory import PlannedPayload


@dataclass(frozen=True, kw_only=True)
class ShapeOptions:
    """The options; a command adds its own to them."""

    shape: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Shape of the load: a closed mesh (.stl .obj .ply .glb), its bodies are parts; or points (.csv .npz)."""
    shape_pose: Annotated[tuple[float, ...], arg(metavar="X Y Z R P Y", help_behavior_hint="(default: the same)")] = ()
    """Where the shape's frame is in the tool frame [m, deg]."""
    shape_scale: Annotated[float, arg(metavar="M")] = 1.0
    """Metres in one of the file's units: 0.001 for millimetres."""
    shape_tolerance: Annotated[float, arg(metavar="M")] = 0.001
    """How far its surfaces may be off, by placement or form: a standard deviation [m]."""
    density: Annotated[tuple[str, ...], arg(metavar="PART=KG/M3 ..", help_behavior_hint="(default: unknown)")] = ()
    """What is known of parts' densities [kg/m^3]: head=7850, or handle=500:1200 for a range."""
    shape_box: Annotated[tuple[float, ...], arg(metavar="LX LY LZ [X Y Z]", help_behavior_hint="")] = ()
    """Instead of a shape: edges of a box that holds the load, and its centre (0 0 0), in the tool frame [m]."""

    box_of_shape: Annotated[bool, Suppress] = False  # the payload's box is that around the shape

    @property
    def names_shape(self) -> bool:
        """Whether the options say anything of a shape."""
        return self.shape is not None or bool(self.shape_box)

    def known_shape(self) -> iparam.estimation.Shape | None:
        """The shape that the options describe, in the tool frame; None for none."""
        self._refuse_alone()
        if self.shape_box:
            if len(self.shape_box) not in (3, 6):
                raise InputError(
                    f"--shape-box needs 3 edge lengths, and perhaps the centre x y z, all in m, got "
                    f"{len(self.shape_box)} numbers"
                )
            center = self.shape_box[3:] or (0.0, 0.0, 0.0)
            return iparam.estimation.Shape.box(self.shape_box[:3], center, self.shape_tolerance)
        if self.shape is None:
            return None
        try:
            shape = iparam.estimation.load_shape(self.shape, scale=self.shape_scale, tolerance=self.shape_tolerance)
        except InputError as error:
            raise error.renamed({"scale": "shape_scale"}) from None
        if self.density:
            shape = shape.with_densities(_densities(self.density))
        if not self.shape_pose:
            return shape
        numbers = exact_count(self.shape_pose, "--shape-pose", "x y z [m] and roll, pitch, yaw [deg]", 6)
        turn = iparam.spatial.rotation_from_rpy(np.radians(numbers[3:]))
        return shape.placed(iparam.spatial.transform_from(turn, numbers[:3]))

    def with_stated_mass(self, shape: iparam.estimation.Shape | None) -> Self:
        """The options of a plan with the mass that stated densities make, unless they name one."""
        if shape is None or shape.stated_mass is None or getattr(self, "payload_mass", None) is not None:
            return self
        return replace(self, payload_mass=shape.stated_mass)  # type: ignore[call-arg]

    def with_box_of(self, shape: iparam.estimation.Shape | None) -> Self:
        """The options of a plan with the box around the shape as that of the payload, unless they name one."""
        if shape is None or getattr(self, "payload_size", None) or getattr(self, "payload_mass", None) is None:
            return self
        if getattr(self, "payload_center", None):
            raise InputError("--payload-center is that of --payload-size: leave it out, the shape says where it is")
        size, center = shape.bounds
        box = {"payload_size": tuple(size.tolist()), "payload_center": tuple(center.tolist())}
        return replace(self, box_of_shape=True, **box)  # type: ignore[arg-type]

    def check_box(self, shape: iparam.estimation.Shape, box: PlannedPayload | None) -> None:
        """Refuse a box of --payload-size that does not hold the shape."""
        if box is not None and (beyond := shape.beyond(box.size, box.center)) > shape.tolerance:
            raise InputError(
                f"--payload-size is a box that the shape reaches {1e3 * beyond:.3g} mm out of, so that it could hit "
                f"what the box does not: leave --payload-size out, or give {typed_box(*shape.bounds)}"
            )

    def typed_shape(self) -> str:
        """The options about the shape as they would be typed, each behind a blank; "" for none."""
        words: list[str] = []
        if self.shape is not None:
            words += ["--shape", str(self.shape)]
        for option, values in (
            ("--shape-box", [f"{value:g}" for value in self.shape_box]),
            ("--shape-pose", [f"{value:g}" for value in self.shape_pose]),
            ("--density", list(self.density)),
        ):
            words += [option, *values] if values else []
        for option, number, usual in (
            ("--shape-scale", self.shape_scale, ShapeOptions.shape_scale),
            ("--shape-tolerance", self.shape_tolerance, ShapeOptions.shape_tolerance),
        ):
            words += [option, f"{number:g}"] if number != usual else []
        return "".join(f" {shlex.quote(word)}" for word in words)

    def _refuse_alone(self) -> None:
        """Refuse options about a shape file where there is none."""
        if self.shape is not None and self.shape_box:
            raise InputError("--shape-box is what is known without a --shape: leave one of the two out")
        tolerance = self.shape_tolerance != ShapeOptions.shape_tolerance and not self.shape_box
        for option, given in (
            ("--shape-pose", bool(self.shape_pose)),
            ("--shape-scale", self.shape_scale != 1.0),
            ("--shape-tolerance", tolerance),
            ("--density", bool(self.density)),
        ):
            if given and self.shape is None:
                without = ", and --shape-box is none" if self.shape_box else ""
                raise InputError(f"{option} says something of a shape{without}: add --shape FILE")


def typed_box(size: FloatArray, center: FloatArray) -> str:
    """The options of a payload's box as they would be typed, rounded to 0.1 mm, lengths upward."""
    reach = np.ceil(np.round(0.5e4 * size, 2)) / 1e4
    edges, middle = (
        " ".join(f"{value:.4g}" for value in values) for values in (2.0 * reach, np.round(center, 4) + 0.0)
    )
    return f"--payload-size {edges} --payload-center {middle}"


def _densities(texts: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        least, mark, most = value.partition(":")
        try:
            bounds = float(least), float(most if mark else least)
        except ValueError:
            bounds = float("nan"), float("nan")
        if not name or not np.isfinite(bounds).all():
            raise InputError(
                f"--density takes PART=KG/M3 or PART=LEAST:MOST, numbers in kg/m^3, e.g. head=7850, got {text!r}"
            )
        if name in found:
            raise InputError(f"--density names {name} twice")
        found[name] = bounds
    return found
