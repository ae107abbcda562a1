"""The options of the commands that talk to a UR controller, and the line that shows what they are doing."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

import iparam
from iparam.bridges.ur.rtde.controller_state import MOVING_STATES
from iparam.bridges.ur.rtde.packets import RTDE_PORT
from iparam.cli.console.printing import note
from iparam.errors import InputError, IparamError
from iparam.printable import printable

if TYPE_CHECKING:
    from iparam.bridges.ur.record.health import Health, HealthWatch, RecordingHealth
    from iparam.bridges.ur.record.recorder import ArmRecorder
    from iparam.bridges.ur.record.spill_file import SpillFile
    from iparam.bridges.ur.rtde.controller_state import ControllerSample
    from iparam.recording.recording import Recording


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

    def show(self, text: str) -> None:
        """Replace the line, if it changes."""
        text = printable(text)[: shutil.get_terminal_size().columns - 1]  # one line is all that can be written over
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
        worth = f"  {self.latest.line}" if self.latest is not None else ""
        self._line.show(f"{stage} {100 * done:.0f} %{worth}")

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


def note_older(spill: SpillFile) -> None:
    """Tell about what earlier runs left behind."""
    for path in spill.older:
        note(f"{path} is what an earlier run left that did not end well: 'iparam identify payload' reads it")


def save_and_clean(recorder: ArmRecorder, recording: Recording, output: Path, spill: SpillFile) -> None:
    """Write the recording, and delete its file for emergencies only then.

    Raises:
        UnsavedRecordingError: it could not be written; the message says what there is of it.
    """
    try:
        recording.save(output)
    except Exception as error:
        way_out = ""
        if spill.until is not None:
            way_out = (
                f" of the {recorder.duration:.2f} s that were recorded. Whole rows, which 'iparam identify payload "
                f"{spill.path} --robot {recording.robot}' reads"
            )
        raise UnsavedRecordingError(f"the recording could not be saved: {error}; {spill.held}{way_out}") from error
    spill.remove()


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


PROTECTIVE_STOP_HELP = (
    "the arm stands in a protective stop: it met something, was pushed, or could not follow its path; the log on the "
    "pendant says which. Look at the arm, the load and the payload that the controller is set to, and remove the "
    "cause. Then unlock it on the teach pendant (Enable Robot), or start 'iparam ur run' again on a terminal, which "
    "offers to do it"
)

UNLOCK_TIME = 15.0
"""For a protective stop to be unlocked [s]: a controller refuses for the first five."""


def clear_protective_stop(host: str, recorder: ArmRecorder) -> ControllerSample:
    """Explain a protective stop and unlock it over the dashboard, if somebody at the terminal wants that.

    Returns:
        The controller's state afterwards.
    """
    note(PROTECTIVE_STOP_HELP)
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
