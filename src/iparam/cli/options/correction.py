"""The options that put a recording right, shared by the commands that use its wrench."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Suppress, UseAppendAction, arg

import iparam
from iparam.cli.console.fixes import as_options
from iparam.cli.console.printing import note
from iparam.cli.options.recorded_run import RecordedRunOptions
from iparam.errors import InputError, StatedPathError
from iparam.remarks import Remark
from iparam.sensing.wrench_source import SIGN_DOUBTED

if TYPE_CHECKING:
    from iparam.arrays import FloatArray
    from iparam.recording.recording import Recording
    from iparam.sensing.correction import Correction

ESTIMATE = "estimate"

_NONE = "(default: none)"


@dataclass(frozen=True, kw_only=True)
class CorrectedRunOptions(RecordedRunOptions):
    """The options; a command adds its own to them. Most take numbers, or 'estimate' in 'iparam identify payload'."""

    delay: Annotated[str | None, arg(metavar="S", help_behavior_hint="(default: estimate; without an arm, 0)")] = None
    """By how much the wrench lags behind the joint angles [s], or 'estimate': compensate what the wrench shows."""
    measures: Annotated[
        Literal["action", "reaction"] | None,
        arg(metavar="{action,reaction}", help_behavior_hint="(default: action; without an arm, by the weight)"),
    ] = None
    """Whose wrench the sensor reports: of the arm on the load (action), or the opposite."""
    sensor: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint=_NONE)] = None
    """Calibration of the sensor, from 'iparam calibrate sensor': .json."""
    sensor_rotation: Annotated[tuple[str, ...], arg(metavar="R P Y", help_behavior_hint=_NONE)] = ()
    """Roll, pitch and yaw of the sensor in the tool frame [deg], or 'estimate'."""
    sensor_offset: Annotated[tuple[str, ...], arg(metavar="X Y Z", help_behavior_hint=_NONE)] = ()
    """Origin of the sensor in the tool frame [m], or 'estimate'."""
    wrench_axes: Annotated[str | None, arg(metavar="X,Y,Z", help_behavior_hint=_NONE)] = None
    """Which axis of the sensor each axis of the tool is: y,x,z; with a sign first: --wrench-axes=-x,y,z. Six for other
    ones of the torques: y,x,z,x,y,z."""
    wrench_scale: Annotated[tuple[str, ...], arg(metavar="F ..", help_behavior_hint=_NONE)] = ()
    """Six factors of fx fy fz tx ty tz, or 'estimate'."""
    wrench_frame: Annotated[
        Literal["tool", "base", "forces-base", "torques-base", "tcp"] | None,
        arg(metavar="{tool,base,forces-base,torques-base,tcp}", help_behavior_hint="(default: the recording's)"),
    ] = None
    """In whose axes the wrench is: the tool's or the base's, or the forces or torques alone; tcp: the base's, without a
    weight and an offset, as UR's actual_TCP_force."""
    low_pass: Annotated[str | None, arg(metavar="HZ", help_behavior_hint=_NONE)] = None
    """Corner of a low-pass filter that the wrench went through [Hz], or 'estimate'."""
    low_pass_order: Annotated[Literal[0, 1, 2] | None, arg(metavar="{0,1,2}", help_behavior_hint="(default: 1)")] = None
    """Its order; 2 is Butterworth's, and 0 the mean over the time before."""
    high_pass: Annotated[float | None, arg(metavar="HZ", help_behavior_hint=_NONE)] = None
    """Corner of a filter that took the slow parts of the wrench for drift [Hz]."""
    delays: Annotated[
        UseAppendAction[tuple[tuple[float, float], ...]], arg(metavar="T S", help_behavior_hint="(repeatable)")
    ] = ()
    """By how much the wrench is late at a time [s], in a straight line from one to the next: two clocks, rows lost."""
    orientation_columns: Annotated[
        Literal["inverted", "w-last", "w-first", "inverted-w-last", "inverted-w-first"] | None,
        arg(metavar="{inverted,w-last,w-first,..}", help_behavior_hint=_NONE),
    ] = None
    """What the columns qw qx qy qz hold: the inverse, or x y z w, or what was taken for that and is w x y z."""
    clock: Annotated[str | None, arg(metavar="FACTOR", help_behavior_hint=_NONE)] = None
    """True seconds in one of the time stamps', or 'estimate'."""
    joint_offset: Annotated[tuple[str, ...], arg(metavar="DEG ..", help_behavior_hint=_NONE)] = ()
    """What is added to each joint angle [deg], or 'estimate'."""
    joint_order: Annotated[tuple[str, ...], arg(metavar="I ..", help_behavior_hint=_NONE)] = ()
    """Which column each joint of the arm is, by the number in its name: 0 for q0."""
    joint_sign: Annotated[tuple[str, ...], arg(metavar="S ..", help_behavior_hint=_NONE)] = ()
    """1 or -1 for each joint of the arm."""
    external_force: Annotated[tuple[str, ...], arg(metavar="X Y Z [PX PY PZ]", help_behavior_hint=_NONE)] = ()
    """Constant force on the load, in base axes [N], and where in the tool frame it acts [m], or 'estimate'."""
    exclude: Annotated[
        UseAppendAction[tuple[tuple[str, ...], ...]], arg(metavar="T0 T1", help_behavior_hint="(repeatable)")
    ] = ()
    """Time in which the wrench is not used [s], or 'estimate': contacts that the wrench shows, as without it."""
    without: Annotated[tuple[str, ...], arg(metavar="NAME ..", help_behavior_hint=_NONE)] = ()
    """Components of the wrench that are not used: fx fy fz tx ty tz."""
    rezeroed: Annotated[tuple[str, ...], arg(metavar="T ..", help_behavior_hint=_NONE)] = ()
    """When the sensor was zeroed again, so that its bias jumps [s]."""

    setup: Annotated[Path | None, Suppress] = None
    # The file of --setup.
    of_setup: Annotated[tuple[str, ...], Suppress] = ()
    # Which of the options it gave.

    def concerns(self, remark: Remark) -> bool:
        """See `RecordingFileOptions.concerns`: a sign that is put right is no longer doubted."""
        return not (self.measures == "reaction" and remark.code in SIGN_DOUBTED)

    def given_gravity(self) -> FloatArray | None:
        """Gravity as a statement that the recording's own must agree with; None where the correction has it."""
        if len(self.gravity) == 3 or self.gravity == (ESTIMATE,):
            return None
        return super().given_gravity()

    def correction(self, recording: Recording) -> Correction:
        """What the options put right in a recording, without what of a setup has been applied to it before, and with
        what it says that is still to be.
        """
        given, applied = self.options_correction(), iparam.sensing.applied_setup(recording)
        if self.sensor is None and given.wrench_scale is None:
            calibration = iparam.sensing.pending_setup(recording).get("sensor")
            if calibration is not None:
                raise StatedPathError("the recording", "calibration of its sensor", calibration, "sensor")
        left = iparam.sensing.still_to_apply(given, recording, self.of_setup, str(self.setup))
        done = [name for name in self.of_setup if name in applied.to_document()]
        if done and left != given:
            note(f"applied to the recording before, so not again: {', '.join(_shown(name) for name in done)}")
        return left

    def options_correction(self) -> Correction:
        """What the options say."""
        given = iparam.sensing.Correction(
            delay=_number(self.delay, "--delay"),
            measures=self.measures,
            sensor_rotation=_numbers(self.sensor_rotation, "--sensor-rotation", 3),
            sensor_offset=_numbers(self.sensor_offset, "--sensor-offset", 3),
            wrench_axes=None if self.wrench_axes is None else _chosen(str, _words(self.wrench_axes), "--wrench-axes"),
            wrench_scale=_numbers(self.wrench_scale, "--wrench-scale", 6),
            wrench_frame=self.wrench_frame,
            gravity=self._gravity(),
            low_pass=_number(self.low_pass, "--low-pass"),
            low_pass_order=self.low_pass_order,
            high_pass=self.high_pass,
            delays=self.delays,
            orientation_columns=self.orientation_columns,
            clock=_number(self.clock, "--clock"),
            joint_offset=_numbers(self.joint_offset, "--joint-offset"),
            joint_order=_chosen(int, self.joint_order, "--joint-order") or None,
            joint_sign=_chosen(int, self.joint_sign, "--joint-sign") or None,
            external_force=_numbers(self.external_force, "--external-force"),
            exclude=_intervals(self.exclude),
            without=_chosen(str, self.without, "--without"),
            rezeroed=_chosen(float, self.rezeroed, "--rezeroed"),
        )
        if self.sensor is not None:
            calibrated, frame = iparam.estimation.load_sensor_correction(self.sensor)
            if given.wrench_scale is not None:
                raise InputError("--sensor has the factors of the wrench already: leave out --wrench-scale")
            if frame and self.tip not in (None, frame):
                raise InputError(
                    f"{self.sensor} is of a sensor at {frame!r}, and --tip is {self.tip!r}: give --tip {frame}"
                )
            given = calibrated.merged(given)
        if self.delay == ESTIMATE and given.estimated == ("delay",):
            given = dataclasses.replace(given, delay=None)  # what is compensated unasked, too
        return given

    def known_correction(self, recording: Recording, of_result: Correction) -> Correction:
        """What the options put right in a run that a result is held against, with what the result was found with.

        Args:
            recording: of the run.
            of_result: that of the result, as far as it holds for this run.
        """
        own = self.correction(recording)
        of_result = iparam.sensing.setup_of_result(of_result, self.of_setup)
        if own.estimated:
            option = f"--{own.estimated[0].replace('_', '-')}"
            raise InputError(
                f"{option} estimate is for 'iparam identify payload': the result holds what it found, which is used "
                f"here unless {option} gives another value"
            )
        if of_result:
            note(f"corrected as in the identification: {as_options(of_result.fix)}")
        return of_result.merged(own)

    def _gravity(self) -> Any:
        if self.gravity == (ESTIMATE,):
            if self.mounting:
                raise InputError("--gravity estimate finds how the base is mounted: leave out --mounting")
            return ESTIMATE
        if len(self.gravity) != 3:
            return None
        vector = super().given_gravity()
        return None if vector is None else tuple(vector.tolist())


def _shown(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


def _numbers(words: Sequence[str], option: str, count: int | None = None) -> Any:
    """The numbers of an option, ESTIMATE, or None if it was not given."""
    if not words:
        return None
    if tuple(words) == (ESTIMATE,):
        return ESTIMATE
    values = tuple(_converted(float, word, option) for word in words)
    if count is not None and len(values) != count:
        raise InputError(f"{option} needs {count} numbers or 'estimate', got {len(values)}")
    return values


def _intervals(given: Sequence[Sequence[str]]) -> tuple[Any, ...]:
    """The times of --exclude; contacts are left out unasked where the wrench shows them, so 'estimate' adds none."""
    if any(not words for words in given):
        raise InputError("--exclude needs 2 numbers or 'estimate', got none")
    found = [_numbers(words, "--exclude", 2) for words in given]
    return tuple(interval for interval in found if interval != ESTIMATE)


def _chosen(kind: Callable[[str], Any], words: Sequence[str], option: str) -> Any:
    """The values of an option that is a choice, or a time of which one is right, and nothing to be estimated."""
    if ESTIMATE in words:
        raise InputError(
            f"{option} takes no 'estimate': it is right or wrong, and adds nothing to an interval. Leave it out: where "
            f"the recording shows it, the result names it, with the {option} to give"
        )
    try:
        return tuple(kind(word) for word in words)
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise InputError(f"{option} takes {what}, got {' '.join(words)!r}") from None


def _number(word: str | None, option: str) -> Any:
    return word if word is None or word == ESTIMATE else _converted(float, word, option)


def _converted(kind: Callable[[str], Any], word: str, option: str) -> Any:
    try:
        return kind(word)
    except ValueError:
        raise InputError(f"{option} takes numbers or 'estimate', got {word!r}") from None
