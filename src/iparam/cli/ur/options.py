"""The options of the commands that talk to a UR controller, and the line that shows what they are doing."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

import iparam
from iparam.bridges.ur.rtde.controller_state import MOVING_STATES
from iparam.bridges.ur.rtde.packets import RTDE_PORT
from iparam.cli.console.printing import note
from iparam.cli.options.joint_state import note_robot_file
from iparam.errors import InputError, IparamError
from iparam.printable import printable
from iparam.robot.catalog.ur_robot import TOOL_FRAME as FLANGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iparam.bridges.ur.record.health import Health, HealthWatch, RecordingHealth
    from iparam.bridges.ur.record.recorder import ArmRecorder
    from iparam.bridges.ur.record.spill_file import SpillFile
    from iparam.bridges.ur.rtde.controller_state import ControllerSample
    from iparam.recording.recording import Recording
    from iparam.robot.model import Robot


class UnsavedRecordingError(IparamError):
    """A recording could not be written to its file."""


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

    def show(self, *words: str) -> None:
        """Replace the line, if it changes, by as many of the words as there is room for: the first ones matter most."""
        text = fitting([printable(word) for word in words], shutil.get_terminal_size().columns - 1)
        if self._shown and text != self._text:
            self._write("\r" + text.ljust(len(self._text)))
            self._text = text

    def end(self) -> None:
        """Leave the line as it is and begin a new one."""
        if self._text:
            self._write("\n")
            self._text = ""

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # of a terminal that was closed: the work is more than its line
            sys.stderr.write(text)
            sys.stderr.flush()


def fitting(words: Sequence[str], width: int) -> str:
    """The words in one line of that width, without those that there is no room for; the first is cut if it must be."""
    line = words[0][:width] if words else ""
    for word in words[1:]:
        if len(line) + 2 + len(word) <= width:
            line += f", {word}"
    return line


PRECISION = "mass=1%,com=1mm,inertia=5%"
"""What the live line reckons the time left for, if nothing else is wanted: standard deviations."""


class LiveRun:
    """The line that follows a run: its stage and, from the first rest on, what the recording is worth.

    Args:
        recorder: of the run.
        health: that takes its rows.
        until_reached: whether the motion may end when the load is known as well as wanted.

    Attributes:
        ended_early: why the motion ended before its end; None if it did not.
    """

    def __init__(self, recorder: ArmRecorder, health: RecordingHealth, until_reached: bool) -> None:
        self._recorder, self._health, self._until_reached = recorder, health, until_reached
        self._line = StatusLine()
        self._watch: HealthWatch | None = None
        self.ended_early: str | None = None

    @property
    def latest(self) -> Health | None:
        """What the recording was worth at the last look."""
        return None if self._watch is None else self._watch.latest

    def show(self, stage: str, done: float) -> None:
        """A stage of the run, and how much of it is done, 0 to 1."""
        if stage == iparam.bridges.ur.APPROACH:
            self._line.show(f"{stage} {100 * done:.0f} %")
            return
        if self._watch is None:
            self._watch = iparam.bridges.ur.HealthWatch(self._recorder, self._health)
        self._watch.played = done
        if self.latest is None:
            self._line.show(f"{stage} {100 * done:.0f} %")
        else:
            self._line.show(*self.latest.words(f"{100 * done:.0f} % played"))

    def enough(self) -> bool:
        """Whether the motion may end now."""
        if self._until_reached and self.latest is not None and self.latest.reached:
            self.ended_early = f"the wanted precision was reached ({', '.join(map(str, self.latest.targets))})"
        return self.ended_early is not None

    def end(self) -> None:
        """No more is shown."""
        if self._watch is not None:
            self._watch.stop()
        self._line.end()


def asked_model(host: str, port: int = RTDE_PORT) -> str:
    """The arm's catalogue name, by its controller."""
    with iparam.bridges.ur.RtdeStream.open(host, ("timestamp",), port=port) as stream:
        name = iparam.bridges.ur.robot_name_of(host, stream.version.major)
    if name is None:
        raise InputError(f"{host} does not say which arm it is: add --robot, e.g. --robot ur5e")
    return name


def at_flange(robot: Robot) -> Robot:
    """The arm with the frame as its tool that a controller measures in, whatever tip a motion was planned with."""
    if FLANGE in iparam.sensing.rigid_frames(robot):
        return dataclasses.replace(robot, tool_frame=FLANGE)
    return robot


def note_older(spill: SpillFile) -> None:
    """Tell about what earlier runs left behind."""
    for path in spill.older:
        note(f"{path} is what an earlier run left that did not end well: 'iparam identify payload' reads it")


def save_and_clean(recorder: ArmRecorder, recording: Recording, output: Path, spill: SpillFile) -> None:
    """Write the recording, and delete its file for emergencies only then.

    Raises:
        UnsavedRecordingError: it could not be written; the message says what there is of it, and where.
    """
    try:
        recording.save(output)
    except Exception as error:
        place = _saved_elsewhere(recording, output)
        if place is not None:
            spill.remove()
            raise UnsavedRecordingError(
                f"the recording could not be saved: {error}. All of it, {recorder.duration:.2f} s, is in {place}: move "
                "it from there"
            ) from error
        way_out = ""
        if spill.until is not None:
            way_out = (
                f" of the {recorder.duration:.2f} s that were recorded. Whole rows, which 'iparam identify payload "
                f"{spill.path} --robot {recording.robot}' reads"
            )
        raise UnsavedRecordingError(f"the recording could not be saved: {error}; {spill.held}{way_out}") from error
    spill.remove()
    note_robot_file(recording.robot, output)


def _saved_elsewhere(recording: Recording, output: Path) -> Path | None:
    """The file that a recording was saved to for which there is no room where it belongs; None without one."""
    for folder in (tempfile.gettempdir(), os.path.expanduser("~")):
        for number in range(1, 100):
            place = Path(folder, f"{output.stem}{'' if number == 1 else f'-{number}'}{output.suffix}")
            if place.exists():
                continue
            with contextlib.suppress(Exception):
                recording.save(place)
                return place
            break
    return None


SHORT_OF_ROOM = 600.0
"""Time for which there should be room where a recording may last as long as it likes [s]."""


def check_room(recorder: ArmRecorder, output: Path, duration: float | None) -> None:
    """Refuse a recording that the disk has no room for; warn of little room where nobody said how long it will be.

    Args:
        recorder: running.
        output: file for the recording, beside which its rows are written as they come.
        duration: of the recording [s]; None if it is not known.
    """
    free = shutil.disk_usage(output.absolute().parent).free
    need = recorder.bytes_per_second
    where = f"{output.absolute().parent} has {free / 1e6:.0f} MB free"
    if duration is not None and need * duration > free:
        raise InputError(
            f"{duration:g} s at {recorder.rate:g} Hz take {need * duration / 1e6:.0f} MB, rows and file, and {where}, "
            f"enough for {free / need:.0f} s: make room, or choose another folder for --output"
        )
    if duration is None and free < SHORT_OF_ROOM * need:
        note(f"{where}, enough for about {free / need:.0f} s at {recorder.rate:g} Hz: make room, or end in time")


def confirm(question: str, yes: bool, what: str) -> None:
    """Ask on the terminal, unless ``yes``; raises if the answer is not "yes".

    Args:
        question: to ask.
        yes: the answer that was given beforehand, by --yes.
        what: is the case if it is not confirmed.
    """
    if yes:
        return
    sys.stderr.write(f"{question} Type yes: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() != "yes":
        raise IparamError(f"not confirmed: {what}")


def require_somebody_to_ask(yes: bool, what: str, condition: str) -> None:
    """Refuse, before anything else is done, where `confirm` could ask nobody."""
    if not yes and not sys.stdin.isatty():
        raise InputError(f"there is no terminal to ask for permission to {what}: add --yes if {condition}")


STOPPED_BY_PROTECTION = (
    "the arm stands in a protective stop: it met something, was pushed, or could not follow its path; the log on the "
    "pendant says which. Look at the arm, the load and the payload that the controller is set to, and remove the "
    "cause"
)
PROTECTIVE_STOP_HELP = (
    f"{STOPPED_BY_PROTECTION}. Then unlock it on the teach pendant (Enable Robot), or start 'iparam ur run' again on a "
    "terminal, which offers to do it"
)

UNLOCK_TIME = 15.0
"""For a protective stop to be unlocked [s]: a controller refuses for the first five."""


def clear_protective_stop(host: str, recorder: ArmRecorder) -> ControllerSample:
    """Explain a protective stop and unlock it over the dashboard, if somebody at the terminal wants that.

    Returns:
        The controller's state afterwards.
    """
    note(STOPPED_BY_PROTECTION)
    what = "the protective stop stays; nothing has moved"
    confirm("Have you looked at the arm, is the cause removed, and may the stop be unlocked?", False, what)
    deadline = time.monotonic() + UNLOCK_TIME
    answer = None
    while time.monotonic() < deadline:
        sample = recorder.first_sample()
        if sample.safety in MOVING_STATES:
            note("the protective stop is unlocked")
            return sample
        answer = iparam.bridges.ur.unlock_protective_stop(host)
        time.sleep(1.0)
    said = answer or "the dashboard does not answer"
    raise IparamError(
        f"{host} did not unlock its protective stop within {UNLOCK_TIME:g} s ({said}): unlock it on the teach pendant"
    )
