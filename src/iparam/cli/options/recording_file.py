"""The options that say how to read a file of measurements that does not say it itself, shared by all that read one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import arg

import iparam
from iparam.cli.console.printing import note_remark
from iparam.remarks import Remark

if TYPE_CHECKING:
    from iparam.robot.model import Robot


@dataclass(frozen=True, kw_only=True)
class RecordingFileOptions:
    """The options; a command adds its own to them."""

    columns: Annotated[str | None, arg(metavar="NAMES", help_behavior_hint="(default: the file's header)")] = None
    """Columns of a log without a header, e.g. time,q,dq,current: a group takes one column a joint."""
    map: Annotated[str | None, arg(metavar="NAMES", help_behavior_hint="(default: the file's own names)")] = None
    """What headers of other names mean, e.g. 'time=stamp,q=pos_*,tau=effort_*'."""
    time_unit: Annotated[
        Literal["s", "ms", "us", "ns", "min"] | None,
        arg(metavar="{s,ms,us,ns,min}", help_behavior_hint="(default: seconds, checked)"),
    ] = None
    """Unit of the time in the file."""
    angles: Annotated[
        Literal["radians", "degrees"] | None,
        arg(metavar="{radians,degrees}", help_behavior_hint="(default: radians, checked)"),
    ] = None
    """Unit of the joint angles in the file."""
    rows: Annotated[str | None, arg(metavar="A:B", help_behavior_hint="(default: all)")] = None
    """Rows to read, counted from 0, without B: 0:30000, 30000: or, every fifth, ::5."""
    time_range: Annotated[tuple[float, float] | None, arg(metavar="T0 T1", help_behavior_hint="(default: all)")] = None
    """Times to read, from and to [s]."""

    def read_file(self, path: Path, robot: Robot | str | None, tip: str | None = None) -> iparam.Recording:
        """The recording, with notes on what is wrong with it.

        The notes come at once, because what is computed from the recording may fail for what they say.
        """
        recording = iparam.Recording.load(
            path,
            columns=self.columns,
            robot=robot,
            angles=self.angles,
            tip=tip,
            map=self.map,
            time_unit=self.time_unit,
            rows=self.rows,
            time_range=self.time_range,
        )
        for one in recording.remarks:
            if self.concerns(one):
                note_remark(one)
        return recording

    def concerns(self, remark: Remark) -> bool:
        """Whether a remark of a recording is still true with the other options."""
        return True
