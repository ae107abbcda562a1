"""`iparam export`: an identified load for simulators, robot controllers and ROS 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from tyro.conf import Positional, arg

import iparam
from iparam.bridges.physical_bounds import ImplausibleLoadError, capacity_of_maker, check_load
from iparam.cli.console.printing import AsJson, note, note_remark, print_document, print_json, print_line
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.joint_state import exact_count, note_other_arm
from iparam.cli.options.payload import read_result
from iparam.errors import InputError, IparamError, UnknownNameError
from iparam.estimation.errors import RefutedResultError
from iparam.estimation.estimate import Estimate
from iparam.export import (
    FORMATS,
    IdentifiedLoad,
    InconsistentLoadError,
    LoadDraws,
    StageText,
    StaticLoad,
    draw_loads,
    export_load,
    load_of,
    merge_into_urdf,
    read_load,
    write_into_stage,
)
from iparam.export.comment import one_line
from iparam.export.draws import numbered
from iparam.files.atomic import write_atomically
from iparam.files.kind import FileKind
from iparam.robot.catalog import robot_names
from iparam.robot.loading import load_robot
from iparam.spatial.transforms import rotation_from_rpy, transform_from

MOST_FILES = 1000

_MAKERS = {"urscript": "ur", "franka": "franka"}
"""Formats of controllers -> the maker whose arms' capacities are known."""


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
      iparam export result.json --stage robot.usd --prim wrist_3_link \
          --own-mass add --output robot_with_payload.usda
      iparam export result.json --format mjcf --samples 20 --output payload.xml
      iparam export result.json --format csv --samples 1000 --output draws.csv
      iparam export whole.json --known-load gripper.json --format urdf
    """

    result: Annotated[Positional[Path | None], arg(metavar="[RESULT]", help_behavior_hint="")] = None
    """Result of an identification: .json."""
    format: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="")] = None
    """One of those that --list names."""
    output: Annotated[
        Path | None,
        arg(metavar="FILE", help_behavior_hint="(default: print it)"),
        Writes(lambda options: options.written_kind, paths=lambda options: options.written_files),
    ] = None
    """File to write."""
    overwrite: Overwrite = False
    known_load: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """A load that the result holds, too, such as the gripper: what is left without it is exported; .json."""
    urdf: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Put the load into this robot's URDF, and write the whole of it."""
    link: Annotated[str | None, arg(metavar="LINK", help_behavior_hint="(default: the result's frame)")] = None
    """With --urdf: the link that carries the load."""
    as_link: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="(default: add to LINK)")] = None
    """With --urdf: hang the load on LINK as a new link of this name."""
    stage: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Put the load into a rigid body of this USD stage: a layer over it, which leaves its files as they are."""
    prim: Annotated[
        str | None, arg(metavar="PATH", help_behavior_hint="(default: the one with the result's frame)")
    ] = None
    """With --stage: the rigid body that weighs it."""
    pose: Annotated[
        tuple[float, ...],
        arg(metavar="X Y Z R P Y", help_behavior_hint="(default: that of the prim of the frame's name, else the same)"),
    ] = ()
    """With --stage: of the result's frame in the prim's [m, deg: roll, pitch, yaw]."""
    own_mass: Annotated[Literal["add", "replace"] | None, arg(help_behavior_hint="")] = None
    """With --stage: add the load to what PATH weighs (it carries the load), or replace that (it is the load)."""
    copy: Annotated[bool, arg(help_behavior_hint="")] = False
    """With --stage: write the stage's root layer anew instead of a layer over it."""
    samples: Annotated[int | None, arg(metavar="N", help_behavior_hint="")] = None
    """Write N draws from the posterior instead of the estimate, each a body that can exist: FILE_1, FILE_2, ..., or one
    table with --format csv."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """With --samples: the same one gives the same draws."""
    force: Annotated[bool, arg(help_behavior_hint="")] = False
    """Export a load even if no real body can be like it, its own data refute it, or no arm of the maker carries it."""
    list: Annotated[bool, arg(help_behavior_hint="")] = False
    """List the formats."""
    json: AsJson = False

    @property
    def written_kind(self) -> FileKind:
        """What --output will be."""
        chosen = FORMATS[self._format()]
        return chosen.kind if self.urdf is None else FileKind.URDF

    @property
    def written_files(self) -> Sequence[Path]:
        """The paths that --output stands for: one, or with --samples one a draw."""
        if self.output is None:
            return ()
        if self._format() == "usd" and self.output.suffix.lower() in {".usdc", ".usdz"}:
            raise InputError(f"--output {self.output}: USD layers are written as text: choose .usda or .usd")
        if self.samples is None or FORMATS[self._format()].write_many is not None:
            return (self.output,)
        if not 1 <= self.samples <= MOST_FILES:
            raise InputError(
                f"--samples {self.samples}: from 1 to {MOST_FILES} files can be written; --format csv writes one table"
            )
        return numbered(self.output, self.samples)

    def run(self) -> None:
        """Export and write."""
        if self.list and self.json:
            print_json({entry.name: {"suffix": entry.suffix, "for": entry.consumer} for entry in FORMATS.values()})
            return
        if self.list:
            for entry in FORMATS.values():
                print_line(f"{entry.name:<10}{entry.suffix:<9}{entry.consumer}")
            return
        name = self._format()
        if self.urdf is not None and self.stage is not None:
            raise InputError("--urdf and --stage are two robots' files: give one of them")
        if self.result is None:
            raise InputError("give the result to export: iparam export result.json --format ...")
        load = self._load(self.result)
        try:
            if name in _MAKERS and not self.force:
                capacity_of_maker(_MAKERS[name]).check(load)
                self._note_rating(load)
            if self.samples is None:
                text, cautions = self._text(load, name)
                texts: tuple[str, ...] = (text,)
            else:
                draws = self._draws(load, self.samples)
                texts, cautions = self._texts_of_draws(draws, name)
        except (ImplausibleLoadError, InconsistentLoadError, RefutedResultError) as error:
            way_out = "" if self.samples and load.violations else ". --force exports it nevertheless"
            without = "" if self.known_load is None else f" without --known-load {self.known_load}"
            raise type(error)(f"{self.result}{without}: {str(error).rstrip('.')}{way_out}") from None
        if self.urdf is not None and isinstance(load, IdentifiedLoad):
            self._note_arm(load, self.urdf)
        for one in load.remarks:
            note_remark(one)
        for remark in (*((load.refuted,) if load.refuted else ()), *load.violations, *cautions):
            note(one_line(remark))
        described = {"format": name, "frame": load.frame, "remarks": [one.to_document() for one in load.remarks]}
        if self.output is None:
            if self.json:
                print_json({**described, "text": texts[0]})
            else:
                print_document(texts[0])
            return
        files = self.written_files
        for path, text in zip(files, texts, strict=True):
            write_atomically(path, text)
        if self.json:
            print_json({**described, "files": [str(path) for path in files]})
            return
        what = name if self.samples is None else f"{self.samples} draws as {name}"
        where = str(files[0]) if len(files) == 1 else f"{files[0]} to {files[-1].name}"
        print_line(f"{what} for frame {load.frame} written to {where}")

    def _note_rating(self, load: IdentifiedLoad | StaticLoad) -> None:
        """Say that a controller refuses the load, if its arm is not made to carry it."""
        if isinstance(load, IdentifiedLoad) and load.robot.lower() in robot_names():
            try:
                check_load(load, load.robot.lower())
            except ImplausibleLoadError as error:
                note(f"the controller will refuse {error}")

    def _load(self, result: Path) -> IdentifiedLoad | StaticLoad:
        """The load of the result, without the one that is known."""
        if self.known_load is None:
            return read_load(result)
        known, frame = read_result(self.known_load)
        names = (str(result), str(self.known_load))
        difference = iparam.combine_estimates(Estimate.load(result), known, minus=True, frame=frame, names=names)
        return load_of(difference)

    def _text(self, load: IdentifiedLoad | StaticLoad, name: str) -> tuple[str, tuple[str, ...]]:
        """The text of one file, and what to say about it."""
        if self.urdf is not None and isinstance(load, IdentifiedLoad):
            return merge_into_urdf(load, self.urdf, self.link, self.as_link, self.force), ()
        if self.stage is not None and isinstance(load, IdentifiedLoad):
            written = self._into_stage(load, self.stage)
            return written.text, written.notes
        return export_load(load, name, self.force), ()

    def _into_stage(self, load: IdentifiedLoad, stage: Path) -> StageText:
        pose = None
        if self.pose:
            numbers = exact_count(self.pose, "--pose", "x y z [m] and roll, pitch, yaw [deg]", 6)
            pose = transform_from(rotation_from_rpy(np.radians(numbers[3:])), numbers[:3])
        folder = Path() if self.output is None else self.output.parent
        return write_into_stage(
            load,
            stage,
            self.prim,
            pose=pose,
            own_mass=self.own_mass,
            copy=self.copy,
            folder=folder,
            force=self.force,
        )

    def _draws(self, load: IdentifiedLoad | StaticLoad, count: int) -> LoadDraws:
        if isinstance(load, StaticLoad):
            raise InputError(f"--samples draws whole bodies, and {self.result} has no inertia. {load.to_see_the_rest}")
        if not self.force:
            load.require_credit()
        return draw_loads(load, count, self.seed)

    def _texts_of_draws(self, draws: LoadDraws, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The texts of all files, and what to say about them."""
        caution = (draws.caution,) if draws.caution else ()
        if (write_many := FORMATS[name].write_many) is not None:
            return (write_many(draws.loads),), caution
        if self.output is None:
            raise InputError(f"--samples writes a file a draw as {name}: give --output, or --format csv for one table")
        written = [self._text(load, name) for load in draws.loads]
        return tuple(text for text, _ in written), (*written[0][1], *caution)

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
        into = {"urdf": self.urdf, "stage": self.stage}
        places: dict[str, tuple[object, str]]
        places = {"--link": (self.link, "urdf"), "--as-link": (self.as_link, "urdf"), "--prim": (self.prim, "stage")}
        places |= {"--pose": (self.pose or None, "stage"), "--own-mass": (self.own_mass, "stage")}
        places |= {"--copy": (self.copy or None, "stage")}
        for option, (value, file) in places.items():
            if value is not None and into[file] is None:
                raise InputError(f"{option} says where in a robot the load goes: add --{file} FILE")
        given = [name for name, path in into.items() if path is not None]
        if given:
            writes = "urdf" if self.urdf is not None else "usd"
            if self.format not in (None, writes):
                option = f"--{given[0]}"
                raise InputError(
                    f"{option} writes a {writes.upper()}, not {self.format}: leave one of {option} and --format out"
                )
            return writes
        if self.format is None:
            raise InputError(f"choose a --format: {', '.join(FORMATS)}; iparam export --list tells what they are for")
        if self.format not in FORMATS:
            raise UnknownNameError("format", self.format, FORMATS)
        return self.format
