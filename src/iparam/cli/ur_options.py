"""The options of the commands that talk to a UR controller, and the line that shows what they are doing."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

from iparam.cli.output import note
from iparam.errors import InputError
from iparam.printable import printable

if TYPE_CHECKING:
    from iparam.bridges.ur.spill_file import SpillFile
    from iparam.recording.recording import Recording


@dataclass(frozen=True, kw_only=True)
class HostOption:
    """The option; a command adds its own to it."""

    host: Annotated[str, arg(metavar="HOST")]
    """Name or address of the controller. Nothing else is connected to."""


class StatusLine:
    """One line on standard error that is written over; silent if that is no terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._text = ""

    def show(self, text: str) -> None:
        """Replace the line, if it changes."""
        text = printable(text)
        if self._shown and text != self._text:
            sys.stderr.write("\r" + text.ljust(len(self._text)))
            sys.stderr.flush()
            self._text = text

    def end(self) -> None:
        """Leave the line as it is and begin a new one."""
        if self._text:
            sys.stderr.write("\n")
            sys.stderr.flush()
            self._text = ""


def check_recording_file(output: Path) -> None:
    """Refuse a file that could not be written, before anything moves or is recorded."""
    from iparam.recording.storage import SUFFIXES

    if output.suffix.lower() not in SUFFIXES:
        raise InputError(f"--output {output}: a recording is a {' or '.join(SUFFIXES)} file")
    if not output.absolute().parent.is_dir():
        raise InputError(f"--output {output}: the folder {output.parent} does not exist; create it first")
    if output.is_dir():
        raise InputError(f"--output {output} is a folder; give a file's path")


def note_older(spill: SpillFile) -> None:
    """Tell about what earlier runs left behind."""
    for path in spill.older:
        note(f"{path} is what an earlier run left that did not end well: 'iparam identify payload' reads it")


def save_and_clean(recording: Recording, output: Path, spill: SpillFile) -> None:
    """Write the recording, and delete its file for emergencies only then."""
    try:
        recording.save(output)
    except BaseException:
        note(f"the recording could not be saved, but {spill.path} holds it: 'iparam identify payload' reads it")
        raise
    spill.remove()
