"""`iparam combine`: a gripper and what it holds as one load, or what it holds as the difference of two.

`iparam identify fuse`: one load from several independent results.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import (
    AsJson,
    doubts_told_once,
    fail_refuted,
    note_remark,
    print_estimate,
    print_json,
    say_refuted,
)
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.joint_state import exact_count
from iparam.cli.options.payload import read_result
from iparam.errors import InputError
from iparam.files.kind import FileKind
from iparam.robot.loading import load_robot

if TYPE_CHECKING:
    from iparam.estimation.estimate import Estimate


@dataclass(frozen=True, kw_only=True)
class Combine:
    r"""Add loads to one rigid body, or take one away: with their covariances.

    A grasped part is the difference of two identifications, with it and without.

    Example:
      iparam combine gripper.json part.json --output whole.json
      iparam combine whole.json gripper.json --minus --output part.json
      iparam combine gripper.json part.json --pose 0 0 0.12 0 0 90 --json
    """

    results: Positional[Annotated[tuple[Path, ...], arg(metavar="FILE ..", help_behavior_hint="")]]
    """Two or more results; all but the first may also be loads without intervals (truth, exported): .json."""
    minus: Annotated[bool, arg(help_behavior_hint="")] = False
    """Take all but the first away from it."""
    pose: Annotated[tuple[float, ...], arg(metavar="X Y Z R P Y", help_behavior_hint="")] = ()
    """Of the second result's frame in the first's [m, deg: roll, pitch, yaw]."""
    robot: Annotated[str | None, arg(metavar="NAME|FILE", help_behavior_hint="")] = None
    """The robot behind whose last joint both frames are, instead of --pose."""
    tip: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="")] = None
    """With --robot: its tool frame, where that has several ends."""
    output: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.RESULT)
    ] = None
    """File for the result: .json. Replaced if it exists."""
    overwrite: Overwrite = False
    json: AsJson = False

    @doubts_told_once()
    def run(self) -> None:
        """Combine, print and write."""
        if len(self.results) < 2:
            raise InputError(f"give at least two results to combine, got {len(self.results)}")
        if self.pose and len(self.results) > 2:
            raise InputError("--pose places the second of two results: combine two at a time")
        if self.tip is not None and self.robot is None:
            raise InputError("--tip chooses a frame of a robot: add --robot")
        pose = None
        if self.pose:
            numbers = exact_count(self.pose, "--pose", "x y z [m] and roll, pitch, yaw [deg]", 6)
            turn = iparam.spatial.rotation_from_rpy(np.radians(numbers[3:]))
            pose = iparam.spatial.transform_from(turn, numbers[:3])
        robot = None if self.robot is None else load_robot(self.robot, tip=self.tip)
        found = iparam.Estimate.load(self.results[0])
        first = str(self.results[0])
        for path in self.results[1:]:
            load, frame = read_result(path)
            names = (first, str(path))
            found = iparam.combine_estimates(
                found, load, minus=self.minus, pose=pose, robot=robot, frame=frame, names=names
            )
        _tell(found, self.output, self.json)


@dataclass(frozen=True, kw_only=True)
class IdentifyFuse:
    r"""One load from several results, each weighing by how well it knows it.

    Their errors must be independent: wrist sensor and joint torques, or other runs.

    Example:
      iparam identify fuse wrist.json torque.json --output result.json
    """

    results: Positional[Annotated[tuple[Path, ...], arg(metavar="FILE ..", help_behavior_hint="")]]
    """Two or more results of the same load in the same frame: .json."""
    output: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.RESULT)
    ] = None
    """File for the result: .json. Replaced if it exists."""
    overwrite: Overwrite = False
    json: AsJson = False

    @doubts_told_once()
    def run(self) -> None:
        """Fuse, print and write."""
        if len(self.results) < 2:
            raise InputError(f"give at least two results to fuse, got {' '.join(map(str, self.results)) or 'none'}")
        found = iparam.fuse_estimates([iparam.Estimate.load(path) for path in self.results])
        _tell(found, self.output, self.json)


def _tell(found: Estimate, output: Path | None, as_json: bool) -> None:
    """Write and print a load; a refuted one is an error, after that."""
    if output is not None:
        found.save(output)
    say_refuted(found)
    for one in found.remarks:
        note_remark(one)
    if as_json:
        print_json(found.to_document())
    else:
        print_estimate(found, output)
    fail_refuted(found, output)
