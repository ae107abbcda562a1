"""`identify_fleet`: all recordings of folders into one table; `identify_many`: a list of recordings.

One recording is one job. What is wrong with it is in its row, or its place in the list.
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import functools
import hashlib
import inspect
import json
import os
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import iparam
from iparam.errors import FileFormatError, InputError, IparamError
from iparam.estimation.estimate import DERIVED_NAMES, Estimate
from iparam.estimation.payload.identify import check_settings, identify_payload
from iparam.fleet.jobs import in_order, run_jobs
from iparam.fleet.logs import Layout, Log, find_logs, moment_of
from iparam.fleet.table import BIAS_NAMES, PHI_NAMES, FleetTable, Row
from iparam.recording.followers import with_followers
from iparam.recording.recording import Recording
from iparam.recording.statements import with_gravity
from iparam.remarks import Remark
from iparam.robot.catalog import robot_names
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.loading import load_robot
from iparam.robot.model import Robot
from iparam.sensing.applied_setup import still_to_apply
from iparam.sensing.run_check import check_run, moves_without_arm, recorded_robot, with_told_frame

BagReader = Callable[[Path, Robot | str | None], Recording]
"""How a ROS bag becomes a recording: `iparam.bridges.bag.read_bag`, or that with settings."""

REFUSED, WORKER, BUG = "refused", "worker", "bug"
"""Kinds of errors: the recording is not usable; the process that worked on it ended; a bug of iparam."""

SAVE_SECONDS = 10.0
"""After which the rows that are new are written: what a crash costs at most."""

SAVE_SHARE = 0.05
"""Of the time of a run that writing them may take: large tables are written less often."""


@dataclass(frozen=True, eq=False)
class FleetSettings:
    """How every recording is read and identified.

    Attributes:
        robot: the arm of all of them; None takes what each recording names.
        tip: the tool frame instead of the recording's.
        reading: for `Recording.load`: columns, angles, map, time_unit, rows, time_range.
        identifying: for `identify_payload`: method, bias, motion, delay, ...
        gravity: (3,) in base axes [m/s^2]; None for the recording's own.
        bags: reads bags; None refuses them.
        layout: what the parts of a name mean.
        of_setup: entries of the correction that a setup gave: not applied to recordings that say they have been.
    """

    robot: Robot | str | None = None
    tip: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    identifying: Mapping[str, Any] = field(default_factory=dict)
    gravity: tuple[float, float, float] | None = None
    bags: BagReader | None = None
    layout: Layout | None = None
    of_setup: tuple[str, ...] = ()

    @functools.cached_property
    def text(self) -> str:
        """One line of JSON for the column ``settings``: what decides the numbers."""
        robot = f"{self.robot.name} {_digest(self.robot)}" if isinstance(self.robot, Robot) else self.robot
        stated = {**self.reading, **self.identifying, "robot": robot, "tip": self.tip, "gravity": self.gravity}
        stated["of_setup"] = self.of_setup or None
        return json.dumps({name: repr(value) for name, value in stated.items() if value is not None}, sort_keys=True)


def _digest(robot: Robot) -> str:
    """Tells arms apart by where they reach, not by their files' names."""
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (3, robot.num_joints))
    return hashlib.blake2b(np.round(forward_kinematics(robot, q), 9).tobytes(), digest_size=6).hexdigest()


@dataclass(frozen=True)
class FleetRun:
    """What a run has done.

    Attributes:
        found: recordings that there are.
        kept: how many of them have a row of an earlier run that still holds.
        done: recordings that were identified now.
        errors: how many of those have an error.
        gone: recordings of the table that are not there any more: their rows stay.
        remarks: about the recordings' names; see `Layout`.
        seconds: it took.
    """

    found: int
    kept: int
    done: int = 0
    errors: int = 0
    gone: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    seconds: float = 0.0


def identify_many(
    recordings: Iterable[Recording | str | os.PathLike[str]],
    robot: Robot | str | None = None,
    *,
    executor: Executor | None = None,
    **settings: Any,
) -> list[Estimate | Exception]:
    """`identify_payload` of each recording, in many processes; in the order given, with the error where there is one.

    Args:
        recordings: or the paths of their files; taken as they are needed.
        robot: the arm of all; None takes each recording's own.
        executor: any `concurrent.futures.Executor`; None for processes over the cores of this machine.
        settings: as `identify_payload` takes them.

    Raises:
        InputError, UnknownNameError, FileFormatError: an argument suits no recording: before any is identified.
    """
    _check_arguments(robot, settings)
    if isinstance(recordings, str | os.PathLike | Recording) or not isinstance(recordings, Iterable):
        raise InputError(
            argument="recordings", problem=f"must be a list of recordings, or another iterable, got {recordings!r:.80}"
        )
    function = functools.partial(_identify_one, robot, settings)
    outcomes = in_order(run_jobs(function, _each_checked(recordings), executor))
    return [outcome.value if outcome.error is None else outcome.error for outcome in outcomes]  # type: ignore[misc]


def _identify_one(
    robot: Robot | str | None, settings: Mapping[str, Any], recording: Recording | str | os.PathLike[str]
) -> Estimate:
    if not isinstance(recording, Recording):
        recording = Recording.load(recording, robot=robot)
    return identify_payload(recording, robot, **settings)


def _check_arguments(robot: Robot | str | None, settings: Mapping[str, Any]) -> None:
    known = [name for name in inspect.signature(identify_payload).parameters if name not in ("recording", "robot")]
    for name in settings:
        if name not in known:
            close = "".join(f" Did you mean {one}=?" for one in difflib.get_close_matches(name, known, 1))
            raise InputError(f"identify_payload takes no {name}.{close} It takes {', '.join(known)}", argument=name)
    check_settings(**settings)
    is_name = isinstance(robot, str) and robot.lower() in robot_names()
    if not (robot is None or isinstance(robot, Robot) or is_name or (isinstance(robot, str) and Path(robot).is_file())):
        load_robot(robot)  # says what is wrong; of a file, the recording may have to say more


def _each_checked(recordings: Iterable[Any]) -> Iterator[Any]:
    for number, recording in enumerate(recordings):
        if not isinstance(recording, Recording | str | os.PathLike):
            raise InputError(f"recordings[{number}] is neither a Recording nor a path, but {recording!r:.80}")
        yield recording


def identify_fleet(
    patterns: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    settings: FleetSettings | None = None,
    *,
    executor: Executor | None = None,
    overwrite: bool = False,
    on_row: Callable[[Row, FleetRun], None] | None = None,
) -> FleetRun:
    """Identify the load in every recording of some folders into a table, but for those that have not changed.

    A recording is done again if its size, its time stamp, the settings or the version of iparam are others than in its
    row, or if the process that worked on it ended.

    Args:
        patterns: see `find_logs`.
        output: folder of the table; see `FleetTable`.
        settings: how each is read and identified.
        executor: that runs the jobs; None for processes over the cores of this machine.
        overwrite: begin without the rows of an earlier run.
        on_row: told each new row, and how far the run is.

    Raises:
        FileFormatError: there are no recordings, or the table cannot be read.
        InputError: the layout fits no recording; another run writes into the folder.
        ExecutorLostError: the cluster is gone; what was done is in the table.
    """
    chosen = settings if settings is not None else FleetSettings()
    table, began = FleetTable(output), time.monotonic()
    logs = find_logs(patterns, outside=table.folder)
    misfits = None if chosen.layout is None else chosen.layout.misfits([log.name for log in logs])
    with table.held():
        rows = {} if overwrite or not table.path.exists() else table.rows()
        jobs = [log for log in logs if not _holds(rows.get(log.name), log, chosen)]
        gone = tuple(sorted(set(rows) - {log.name for log in logs}))
        run = FleetRun(len(logs), len(logs) - len(jobs), gone=gone, remarks=() if misfits is None else (misfits,))
        saved, took = time.monotonic(), 0.0
        try:
            with contextlib.closing(_new_rows(chosen, jobs, executor)) as made:
                for row in made:
                    rows[row["source"]] = row
                    errors, seconds = run.errors + (row.get("error") is not None), time.monotonic() - began
                    run = replace(run, done=run.done + 1, errors=errors, seconds=seconds)
                    if on_row is not None:
                        on_row(row, run)
                    if time.monotonic() - saved > max(SAVE_SECONDS, took / SAVE_SHARE):
                        saved = time.monotonic()
                        table.write(rows)
                        took = time.monotonic() - saved
        finally:
            if rows:
                table.write({name: _labelled(row, chosen.layout) for name, row in rows.items()})
    return replace(run, seconds=time.monotonic() - began)


def _holds(row: Row | None, log: Log, settings: FleetSettings) -> bool:
    """Whether the row of an earlier run is what this one would make."""
    return row is not None and row["error_kind"] != WORKER and _stated(log, settings).items() <= row.items()


def _stated(log: Log, settings: FleetSettings) -> dict[str, Any]:
    """What decides the rest of a row."""
    sizes = {"source": log.name, "size": log.size, "modified": log.modified}
    return {**sizes, "settings": settings.text, "version": iparam.__version__}


def _labelled(row: Row, layout: Layout | None) -> Row:
    """A row that says whose the recording is as its name has it, where it fits the layout."""
    labels = None if layout is None else layout.labels(row["source"])
    return row if labels is None else {**row, **labels}


def _new_rows(settings: FleetSettings, logs: list[Log], executor: Executor | None) -> Generator[Row]:
    for outcome in run_jobs(functools.partial(identify_log, settings), logs, executor) if logs else ():
        if outcome.value is not None:
            yield outcome.value
        else:
            sentence = f"{outcome.error}" if isinstance(outcome.error, IparamError) else repr(outcome.error)
            found = {"error": sentence, "error_kind": WORKER, "error_place": type(outcome.error).__name__}
            yield {**_stated(logs[outcome.index], settings), **found}


def identify_log(settings: FleetSettings, log: Log) -> Row:
    """The row of a recording; what is wrong with it is in its ``error``."""
    began = time.perf_counter()
    row: dict[str, Any] = {**_stated(log, settings), "robot": _robot_name(settings)}
    try:
        try:
            recording = _read(settings, log)
        except IparamError:  # it may be another arm's, and says so
            with contextlib.suppress(IparamError):
                row |= _facts(settings, _read(replace(settings, robot=None, tip=None), log))
            raise
        row |= _facts(settings, recording)
        told, robot = _with_arm(settings, recording)
        row |= estimate_columns(identify_payload(told, robot, **_identifying(settings, told)))
    except IparamError as error:
        row |= {"error": _named(str(error), log), "error_kind": REFUSED, "error_place": _place(error)}
    except Exception as error:  # one bad log is one row
        sentence = _named(f"{type(error).__name__}: {error}", log)
        row |= {"error": sentence, "error_kind": BUG, "error_place": _place(error)}
    row["warnings"] = [_named(text, log) for text in row.get("warnings", ())]
    row["identified"] = datetime.datetime.now(datetime.UTC)
    row["seconds"] = time.perf_counter() - began
    return row


def _named(text: str, log: Log) -> str:
    """A text with a log's name in place of its path on this machine, which belongs into no result."""
    for path in (os.path.realpath(log.path), str(log.path)):
        text = text.replace(path, log.name)
    return text


def _place(error: Exception) -> str:
    """The last line of this package that an error came from, as file:line."""
    package = Path(iparam.__file__).parent
    places = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    own = [(path.relative_to(package), line) for path, line in places if path.is_relative_to(package)]
    return f"{own[-1][0].as_posix()}:{own[-1][1]}"


def _robot_name(settings: FleetSettings) -> str | None:
    robot = settings.robot
    return robot.name if isinstance(robot, Robot) else Path(robot).stem if robot else None


def _read(settings: FleetSettings, log: Log) -> Recording:
    if not log.path.exists():
        raise FileFormatError(f"{log.name} is not there any more, or a link to nothing")
    if not (log.is_bag or log.path.is_file()):  # reading from one need not end
        raise FileFormatError(f"{log.name} is no file with contents, but a pipe, a device or a folder")
    if not log.is_bag:
        recording = Recording.load(log.path, robot=settings.robot, tip=settings.tip, **settings.reading)
    elif settings.bags is None:
        raise FileFormatError(f"{log.name} is a ROS bag, and nothing was given that reads bags")
    else:
        recording = settings.bags(log.path, settings.robot)
    return with_gravity(recording, None if settings.gravity is None else np.array(settings.gravity))


def _with_arm(settings: FleetSettings, recording: Recording) -> tuple[Recording, Robot | None]:
    """The recording and its arm, as the command `identify payload` has them."""
    given = settings.robot
    if given is None and moves_without_arm(recording):
        return recording, None
    robot = given if isinstance(given, Robot) else recorded_robot(recording, given, settings.tip)
    told = with_followers(with_told_frame(recording, robot, settings.tip), robot)
    check_run(told, robot, uses_wrench=recording.has("wrench"))
    return told, robot


def _identifying(settings: FleetSettings, recording: Recording) -> dict[str, Any]:
    """For `identify_payload`, without what a setup says that has been applied to the recording."""
    given = settings.identifying.get("correction")
    if not settings.of_setup or given is None:
        return dict(settings.identifying)
    return {**settings.identifying, "correction": still_to_apply(given, recording, settings.of_setup, "the setup")}


def _facts(settings: FleetSettings, recording: Recording) -> dict[str, Any]:
    """What a recording says of itself: robot, arm, tool, when and how long."""
    stated = recording.metadata
    spans = [(signal.time[0], signal.time[-1]) for signal in recording.signals.values() if signal.num_samples]
    return {
        "robot": Path(recording.robot).stem if recording.robot else _robot_name(settings),
        "arm": str(stated.get("arm") or stated.get("serial_number") or "")[:200] or None,
        "tool": str(stated.get("tool") or "")[:200] or None,
        "recorded": moment_of(str(stated.get("recorded") or "")),
        "duration": float(max(end for _, end in spans) - min(start for start, _ in spans)) if spans else None,
        "remarks": [one.code for one in recording.remarks],
        "warnings": list(recording.warnings),
    }


def estimate_columns(estimate: Estimate) -> dict[str, Any]:
    """The columns that an estimate fills; what it does not determine is null."""
    deviation, assessment, upper = estimate.standard_deviation, estimate.assessment, np.triu_indices(3)
    values = [estimate.mass, *estimate.center_of_mass, *estimate.inertia_about_com[upper], *estimate.phi]
    spreads = [deviation.mass, *deviation.center_of_mass, *deviation.inertia_about_com[upper], *deviation.phi]
    names = [*DERIVED_NAMES, *(f"phi_{name}" for name in PHI_NAMES)]
    numbers = dict(zip(names, values, strict=True))
    numbers |= dict(zip((f"{name}_deviation" for name in names), spreads, strict=True))
    rest, bias = estimate.residual_rms, estimate.sensor_bias
    if bias is not None:
        numbers |= dict(zip((f"bias_{name}" for name in BIAS_NAMES), [*bias.force, *bias.torque], strict=True))
    numbers |= {
        "residual_force": float(np.linalg.norm(rest.force)),
        "residual_torque": float(np.linalg.norm(rest.torque)),
        "condition_number": estimate.condition_number,
    }
    return {
        **{name: float(value) if np.isfinite(value) else None for name, value in numbers.items()},
        "samples": int(estimate.samples),
        "verdict": assessment["verdict"],
        "sentence": assessment["sentence"],
        "causes": [cause["cause"] for cause in assessment["causes"]],
        "cause_sentences": [cause["sentence"] for cause in assessment["causes"]],
        "remarks": [one.code for one in estimate.remarks],
        "warnings": list(estimate.warnings),
    }
