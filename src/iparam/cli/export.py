"""`iparam export`: an identified load for simulators, robot controllers and ROS 2."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from iparam.cli.console.printing import note, print_document, print_line
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.joint_state import note_other_arm
from iparam.errors import InputError, IparamError, UnknownNameError
from iparam.estimation.errors import RefutedResultError
from iparam.export import (
    FORMATS,
    IdentifiedLoad,
    InconsistentLoadError,
    StaticLoad,
    export_load,
    is_static_result,
    merge_into_urdf,
)
from iparam.export.remarks import one_line
from iparam.files.atomic import write_atomically
from iparam.files.kind import FileKind
from iparam.robot.catalog import robot_names
from iparam.robot.loading import load_robot


@dataclass(frozen=True, kw_only=True)
class Export:
    r"""Write an identified load as simulators, robot controllers and ROS 2 expect it.

    Frame, point and order are its consumer's, and a comment states them.

    Example:
      iparam export --list
      iparam export result.json --format urscript
      iparam export result.json --format mjcf --output payload.xml
      iparam export result.json --urdf robot.urdf --link tool0 --as-link payload \
          --output robot_with_payload.urdf
    """

    result: Annotated[Positional[Path | None], arg(metavar="[RESULT]", help_behavior_hint="")] = None
    """Result of an identification: .json."""
    format: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="")] = None
    """One of those that --list names."""
    output: Annotated[
        Path | None,
        arg(metavar="FILE", help_behavior_hint="(default: print it)"),
        Writes(lambda options: options.written_kind),
    ] = None
    """File to write."""
    overwrite: Overwrite = False
    urdf: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Put the load into this robot's URDF, and write the whole of it."""
    link: Annotated[str | None, arg(metavar="LINK", help_behavior_hint="(default: the result's frame)")] = None
    """With --urdf: the link that carries the load."""
    as_link: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="(default: add to LINK)")] = None
    """With --urdf: hang the load on LINK as a new link of this name."""
    force: Annotated[bool, arg(help_behavior_hint="")] = False
    """Export a load even if no real body can be like it, or if its own data refute it."""
    list: Annotated[bool, arg(help_behavior_hint="")] = False
    """List the formats."""

    @property
    def written_kind(self) -> FileKind:
        """What --output will be."""
        chosen = FORMATS[self._format()]
        return chosen.kind if self.urdf is None else FileKind.URDF

    def run(self) -> None:
        """Export and write."""
        if self.list:
            for entry in FORMATS.values():
                print_line(f"{entry.name:<10}{entry.suffix:<9}{entry.consumer}")
            return
        name = self._format()
        if self.result is None:
            raise InputError("give the result to export: iparam export result.json --format ...")
        load: IdentifiedLoad | StaticLoad
        load = (
            StaticLoad.from_json(self.result)
            if is_static_result(self.result)
            else IdentifiedLoad.from_json(self.result)
        )
        try:
            if self.urdf is not None and isinstance(load, IdentifiedLoad):
                text = merge_into_urdf(load, self.urdf, self.link, self.as_link, self.force)
                self._note_arm(load, self.urdf)
            else:
                text = export_load(load, name, self.force)
        except (InconsistentLoadError, RefutedResultError) as error:
            raise type(error)(f"{self.result}: {error} --force exports it nevertheless.") from None
        for remark in (*((load.refuted,) if load.refuted else ()), *load.warnings, *load.violations):
            note(one_line(remark))
        if self.output is None:
            print_document(text)
            return
        write_atomically(self.output, text)
        print_line(f"{name} for frame {load.frame} written to {self.output}")

    def _note_arm(self, load: IdentifiedLoad, urdf: Path) -> None:
        """A note if the URDF is of another arm than the one that carried the load; it may hang on any."""
        if load.robot.lower() not in robot_names():
            return
        try:
            robot = load_robot(urdf, tip=self.link or load.frame)
        except IparamError:  # not one serial arm up to there: nothing to compare
            return
        note_other_arm(load.robot, robot, str(urdf), str(self.result))

    def _format(self) -> str:
        if self.urdf is not None:
            if self.format not in (None, "urdf"):
                raise InputError(f"--urdf writes a URDF, not {self.format}: leave one of --urdf and --format out")
            return "urdf"
        for option, value in (("--link", self.link), ("--as-link", self.as_link)):
            if value is not None:
                raise InputError(f"{option} says where in a robot the load goes: add --urdf FILE")
        if self.format is None:
            raise InputError(f"choose a --format: {', '.join(FORMATS)}; iparam export --list tells what they are for")
        if self.format not in FORMATS:
            raise UnknownNameError("format", self.format, FORMATS)
        return self.format
