"""The options that say how every recording of a fleet is read and identified."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import arg

import iparam
from iparam.bridges import bag
from iparam.cli.identify.payload import Method
from iparam.cli.options.correction import CorrectedRunOptions
from iparam.cli.options.joint_state import note_model
from iparam.cli.options.recorded_run import Motion, motion_source
from iparam.errors import InputError
from iparam.robot.catalog import robot_names

if TYPE_CHECKING:
    from iparam.fleet import FleetSettings
    from iparam.robot.model import Robot


@dataclass(frozen=True, kw_only=True)
class FleetSettingsOptions(CorrectedRunOptions):
    """The options; a command adds its own to them."""

    layout: Annotated[str | None, arg(metavar="NAMES", help_behavior_hint="(default: the recording says)")] = None
    """What the parts of a name mean, e.g. '{arm}/{tool}/{time}'; * is any text, and no suffix any of them."""
    method: Method = "consistent"
    """The estimator."""
    bias: Literal["estimate", "constant", "none", "drifting"] = "estimate"
    """The sensor's bias; see 'iparam identify payload'."""
    motion: Motion = "kalman"

    def settings(self) -> FleetSettings:
        """What the options say, and as texts what differs from the usual."""
        if self.method == "all":
            raise InputError("--method all compares methods on one recording: choose one")
        robot: Robot | str | None = self.robot
        if self.robot is not None and (self.robot.lower() not in robot_names() or self.base or self.lock or self.tip):
            robot = iparam.load_robot(self.robot, tip=self.tip, **self.cut())  # its file is here, not with the workers
            note_model(robot)
        gravity = self.given_gravity()
        described = {
            field.name: _described(getattr(self, field.name))
            for field in dataclasses.fields(FleetSettingsOptions)
            if getattr(self, field.name) != field.default and field.name != "setup"  # its options count
        }
        return iparam.fleet.FleetSettings(
            robot=robot,
            tip=self.tip,
            reading={
                "columns": self.columns,
                "map": self.map,
                "time_unit": self.time_unit,
                "angles": self.angles,
                "rows": self.rows,
                "time_range": self.time_range,
            },
            identifying={
                "method": self.method,
                "motion": motion_source(self.motion),
                "bias": self.bias,
                "correction": self.options_correction(),
            },
            gravity=None if gravity is None else (float(gravity[0]), float(gravity[1]), float(gravity[2])),
            bags=partial(bag.read_bag, settings=bag.ImportSettings(angles=self.angles)),
            layout=None if self.layout is None else iparam.fleet.Layout(self.layout),
            described=described,
            of_setup=self.of_setup,
        )


def one_pattern(given: tuple[str, ...], name: str) -> str:
    """The pattern that an option takes.

    Args:
        given: what stands there: several, where a shell has put the names of files in the place of a glob.
        name: of the option, for messages.
    """
    if len(given) == 1:
        return given[0]
    if not given:
        raise InputError(f"{name} is missing: a folder, a glob in quotes, or an address such as s3://bucket/runs")
    example = os.path.join(os.path.dirname(given[0]), f"*{os.path.splitext(given[0])[1]}")
    raise InputError(
        f"{name} is one pattern, got {len(given)} words from {given[0]!r} to {given[-1]!r}. If the shell has put files "
        f"in the place of a glob, put the pattern in quotes, e.g. {example!r}"
    )


def _described(value: Any) -> Any:
    """An option for the table: of a file its contents count, and no path is written down."""
    return hashlib.blake2b(value.read_bytes(), digest_size=6).hexdigest() if isinstance(value, Path) else value
