"""What is known of the shape of a load: the options that say it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from tyro.conf import arg

import iparam
from iparam.cli.options.joint_state import exact_count
from iparam.errors import InputError


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
