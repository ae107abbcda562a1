"""`identify_fleet`: all recordings of a store into one table; `identify_many`: recordings that are in memory."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import difflib
import functools
import inspect
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import iparam
from iparam.errors import InputError, IparamError
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.identify import check_settings, identify_payload
from iparam.fleet.jobs import Failure, in_order, run_jobs
from iparam.fleet.resume import FleetRun, RunPlan, labelled
from iparam.fleet.stores import Source, find_sources
from iparam.fleet.table import FleetTable
from iparam.fleet.task import BUG, WORKER, FleetSettings, Task, first_columns, identify_source
from iparam.recording.recording import Recording
from iparam.robot.catalog import robot_names
from iparam.robot.loading import load_robot
from iparam.robot.model import Robot


class JobError(IparamError):
    """A recording could not be identified for no fault of its own; the message says why."""


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        done, total: recordings of this run, also those that turn out to be unchanged.
        errors: of those that are done, how many have an error.
        seconds: since the first was handed over.
    """

    done: int
    total: int
    errors: int
    seconds: float

    @property
    def rate(self) -> float:
        """Recordings a second."""
        return self.done / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def seconds_left(self) -> float:
        """At that rate; infinite before the first."""
        return (self.total - self.done) / self.rate if self.done else float("inf")


def identify_many(
    recordings: Iterable[Recording],
    robot: Robot | str | None = None,
    *,
    executor: Executor | None = None,
    **settings: Any,
) -> list[Estimate | IparamError]:
    """`identify_payload` of each recording, on many workers; in the order given, with the error where there is one.

    Args:
        recordings: taken as they are needed.
        robot: the arm of all; None takes each recording's own.
        executor: any `concurrent.futures.Executor`; None for processes over the cores of this machine.
        settings: as `identify_payload` takes them.

    Raises:
        InputError, UnknownNameError, FileFormatError: an argument suits no recording: before any is identified, but for
            an iterable that is no list or tuple, which shows what it holds only as it is taken.
    """
    _check_arguments(robot, settings)
    function = functools.partial(_identify_one, robot, settings)
    found: list[Estimate | IparamError] = []
    for outcome in in_order(run_jobs(function, _checked(recordings), executor)):
        if outcome.value is not None:
            found.append(outcome.value)
        else:
            assert outcome.failure is not None
            found.append(_as_error(outcome.failure))
    return found


def identify_fleet(
    pattern: str,
    output: str | os.PathLike[str],
    settings: FleetSettings | None = None,
    *,
    executor: Executor | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_start: Callable[[FleetRun], None] | None = None,
    on_row: Callable[[Mapping[str, Any], Progress], None] | None = None,
) -> FleetRun:
    """Identify the load in every recording of a store, one task a recording; see `FleetTable` for what is written.

    Args:
        pattern: see `find_sources`.
        output: folder of the table.
        settings: how each is read and identified.
        executor: that runs the tasks; None for processes over the cores of this machine.
        resume: keep the rows of an earlier run whose recording and settings have not changed.
        overwrite: delete the rows of an earlier run.
        on_start: told what there is to do, before anything is done.
        on_row: told each row that is written, and how far the run is; a row whose recording turned out to be the same
            as before has a further key ``unchanged``.

    Raises:
        InputError: the folder holds rows already, and neither ``resume`` nor ``overwrite`` is set; the layout fits no
            recording; the recordings are in the folder of the table.
        StoreError: the store cannot be listed, or has no recordings there.
        ExecutorLostError: the cluster is gone; what was done is in the table.
    """
    chosen = settings if settings is not None else FleetSettings()
    if not isinstance(chosen, FleetSettings):
        raise InputError(
            f"settings must be FleetSettings, got {type(chosen).__name__}; robot= and the others are in it"
        )
    table = FleetTable(output)
    if not overwrite:
        table.check()
    if table.exists and not (resume or overwrite):
        raise InputError(
            f"{table.folder} holds rows of an earlier run: resume=True does what is missing or changed, overwrite=True "
            "begins anew"
        )
    sources = [source for source in find_sources(pattern, chosen.storage) if not _is_output(source, table.folder)]
    if not sources:
        raise InputError(f"all recordings of {pattern} are in {table.folder}, the folder of the table: choose another")
    remarks = () if chosen.layout is None else tuple(chosen.layout.remarks([source.name for source in sources]))
    began = time.monotonic()
    with table:
        if overwrite:
            table.clear()
        plan = RunPlan.of(sources, table, chosen)
        run = dataclasses.replace(plan.run, remarks=remarks)
        if on_start is not None:
            on_start(run)
        for earlier in plan.earlier.rows(plan.relabelled):
            table.add(labelled(earlier, plan.sources[earlier["source"]], chosen))
        done = errors = unchanged = 0
        with contextlib.closing(_rows(chosen, plan.tasks, executor)) as rows:
            for row in rows:
                same = "same" in row
                full: Mapping[str, Any] = row
                if same:
                    source = plan.sources[row["source"]]
                    full = labelled(plan.earlier.row(source.name), source, chosen) | {"stamp": row["stamp"]}
                table.add(full)
                done += 1
                unchanged += same
                errors += not same and full.get("error") is not None
                if on_row is not None:
                    told = {**full, "unchanged": True} if same else full
                    on_row(told, Progress(done, len(plan.tasks), errors, time.monotonic() - began))
    return dataclasses.replace(
        run, kept=run.kept + unchanged, done=done - unchanged, errors=errors, seconds=time.monotonic() - began
    )


def _rows(settings: FleetSettings, tasks: list[Task], executor: Executor | None) -> Generator[Mapping[str, Any]]:
    if not tasks:
        return
    function = functools.partial(identify_source, settings)
    for outcome in run_jobs(function, tasks, executor, total=len(tasks)):
        if outcome.value is not None:
            yield outcome.value
            continue
        assert outcome.failure is not None
        source = tasks[outcome.index].source
        yield {
            **first_columns(settings, source),
            "error": outcome.failure.sentence,
            "error_kind": WORKER if outcome.failure.kind == "worker" else BUG,
            "identified": datetime.datetime.now(datetime.UTC),
            "seconds": outcome.seconds,
        }


def _is_output(source: Source, folder: Path) -> bool:
    """Whether a file is one of the table itself, which may lie in the folder that is searched."""
    if "://" in source.store:
        return False
    place, inside = (os.path.realpath(path) for path in (source.files[0].path, folder))  # links may lead in a circle
    return Path(place).is_relative_to(inside)


def _identify_one(robot: Robot | str | None, settings: Mapping[str, Any], recording: Recording) -> Estimate:
    return identify_payload(recording, robot, **settings)


def _check_arguments(robot: Robot | str | None, settings: Mapping[str, Any]) -> None:
    known = [name for name in inspect.signature(identify_payload).parameters if name not in ("recording", "robot")]
    for name in settings:
        if name not in known:
            close = "".join(f" Did you mean {one}=?" for one in difflib.get_close_matches(name, known, 1))
            raise InputError(f"identify_payload takes no {name}=.{close} It takes {', '.join(known)}")
    check_settings(**settings)
    is_name = isinstance(robot, str) and robot.lower() in robot_names()
    if not (robot is None or isinstance(robot, Robot) or is_name or (isinstance(robot, str) and Path(robot).is_file())):
        load_robot(robot)  # says what is wrong; of a file, the recording may have to say more


def _checked(recordings: Iterable[Recording]) -> Iterator[Recording]:
    """The recordings, once it is known that they are some."""
    if isinstance(recordings, str | os.PathLike | Recording) or not isinstance(recordings, Iterable):
        raise InputError(f"recordings must be a list of recordings, or another iterable, got {_called(recordings)}")
    if isinstance(recordings, list | tuple):
        for _ in _each_checked(recordings):
            pass
    return _each_checked(recordings)


def _each_checked(recordings: Iterable[Recording]) -> Iterator[Recording]:
    for number, recording in enumerate(recordings):
        if not isinstance(recording, Recording):
            raise InputError(
                f"recordings[{number}] is no Recording, but {_called(recording)}: Recording.load reads a file, and "
                "iparam.fleet.identify_fleet takes files of all kinds"
            )
        yield recording


def _called(value: object) -> str:
    if isinstance(value, str | os.PathLike):
        return f"{str(value)!r:.80}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _as_error(failure: Failure) -> IparamError:
    """An error of the class that the worker raised, if it is one of iparam's."""
    known = getattr(iparam.errors, failure.error, None) or getattr(iparam.estimation, failure.error, None)
    if failure.kind == "refused" and isinstance(known, type) and issubclass(known, IparamError):
        error = known.__new__(known)
        error.args = (failure.sentence,)
        return error
    prefix = "" if failure.kind in ("refused", "worker") else f"{failure.error}: "
    return JobError(f"{prefix}{failure.sentence}")
