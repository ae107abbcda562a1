"""One recording, one task: fetch it, read it, identify what the arm carried, and say it in a row of the table."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import iparam
from iparam.errors import IparamError
from iparam.estimation.estimate import DERIVED_NAMES, Estimate
from iparam.estimation.payload.identify import identify_payload
from iparam.fleet.layout import Labels, Layout, label_columns
from iparam.fleet.stores import Source, StoreError, fetched
from iparam.fleet.table import BIAS_NAMES, PHI_NAMES
from iparam.recording.followers import with_followers
from iparam.recording.recording import Recording
from iparam.recording.statements import with_gravity
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.sensing.applied_setup import still_to_apply
from iparam.sensing.run_check import check_run, moves_without_arm, recorded_robot, with_told_frame

BagReader = Callable[[Path, Robot | str | None], Recording]
"""How a ROS bag becomes a recording: `iparam.bridges.bag.read_bag`, or that with settings."""

REFUSED, STORE, WORKER, BUG = "refused", "store", "worker", "bug"
"""Kinds of errors: the recording itself is not usable; the store did not give it; its worker died; a bug of iparam."""


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
        layout: what the parts of a source's name mean.
        storage: options of the store, for fsspec.
        described: all of this as texts, for the table: what differs there is identified anew.
        of_setup: entries of the correction that a setup gave: not applied to recordings that say they have been.
    """

    robot: Robot | str | None = None
    tip: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    identifying: Mapping[str, Any] = field(default_factory=dict)
    gravity: tuple[float, float, float] | None = None
    bags: BagReader | None = None
    layout: Layout | None = None
    storage: Mapping[str, Any] = field(default_factory=dict)
    described: Mapping[str, Any] = field(default_factory=dict)
    of_setup: tuple[str, ...] = ()

    @property
    def robot_name(self) -> str | None:
        """Of the arm that all recordings are said to be of."""
        return self.robot.name if isinstance(self.robot, Robot) else Path(self.robot).stem if self.robot else None

    @property
    def text(self) -> str:
        """One line of JSON for the column ``settings``."""
        stated = {name: value for name, value in self.described.items() if value not in (None, "", (), {})}
        if isinstance(self.robot, Robot):
            stated["robot"] = f"{self.robot.name} {kinematics_digest(self.robot)}"
        return json.dumps(stated, sort_keys=True, default=str)


@dataclass(frozen=True, eq=False)
class Task:
    """A recording to be identified, and the checksum that it had when it was identified last ("" if it was not)."""

    source: Source
    known: str = ""


def options_of(settings: str | None) -> dict[str, Any]:
    """What of the column ``settings`` decides the numbers: the layout says whose a recording is, no more."""
    return {name: value for name, value in json.loads(settings or "{}").items() if name != "layout"}


def kinematics_digest(robot: Robot) -> str:
    """Tells arms apart by where they reach, not by their files' names."""
    rng = np.random.default_rng(0)
    poses = forward_kinematics(robot, rng.uniform(-1.0, 1.0, (3, robot.num_joints)))
    return hashlib.blake2b(np.round(poses, 9).tobytes(), digest_size=6).hexdigest()


def identify_source(settings: FleetSettings, task: Task) -> dict[str, Any]:
    """The row of a recording; what is wrong with it, or with the store, is in its ``error``.

    A recording whose contents are those of ``task.known`` is not identified again: its row has the key ``same``.
    """
    source, began = task.source, time.perf_counter()
    row = first_columns(settings, source)
    # A path of a machine, or an address of a store, belongs into no result.
    hidden = {file.path: source.name for file in source.files}
    try:
        with fetched(source, settings.storage) as local:
            row["checksum"] = local.checksum
            if local.checksum == task.known:
                return {"source": source.name, "stamp": source.stamp, "same": True}
            hidden = {os.path.realpath(local.path): source.name, str(local.path): source.name, **hidden}
            try:
                recording = _read(settings, source, local.path)
            except IparamError:  # it may be another arm's, and says so
                if settings.robot is not None:
                    row |= _facts(settings, source, _read_as_stated(settings, source, local.path))
                raise
            row |= _facts(settings, source, recording)
            told, robot = _with_arm(settings, recording)
            row |= estimate_columns(identify_payload(told, robot, **_identifying(settings, told)))
    except StoreError as error:
        row |= {"error": _clean(str(error), hidden), "error_kind": STORE}
    except IparamError as error:
        row |= {"error": _clean(str(error), hidden), "error_kind": REFUSED}
    except Exception as error:  # one bad log is one row
        row |= {"error": _clean(f"{type(error).__name__}: {error}", hidden), "error_kind": BUG}
    row["warnings"] = [_clean(warning, hidden) for warning in row.get("warnings", ())]
    row["identified"] = datetime.datetime.now(datetime.UTC)
    row["seconds"] = time.perf_counter() - began
    return row


def _identifying(settings: FleetSettings, recording: Recording) -> dict[str, Any]:
    """For `identify_payload`, without what a setup says that has been applied to the recording."""
    given = settings.identifying.get("correction")
    if not settings.of_setup or given is None:
        return dict(settings.identifying)
    return {**settings.identifying, "correction": still_to_apply(given, recording, settings.of_setup, "the setup")}


def first_columns(settings: FleetSettings, source: Source) -> dict[str, Any]:
    """What is known of a recording before it is read."""
    return {
        "source": source.name,
        "size": source.size,
        "stamp": source.stamp,
        "robot": settings.robot_name,
        **label_columns(settings.layout, source, Labels()),
        "settings": settings.text,
        "version": iparam.__version__,
    }


def identify_fully(settings: FleetSettings, source: Source) -> tuple[Recording, Robot | None, Estimate]:
    """A recording, its arm and the estimate as `identify_source` has them, for a full report of it.

    Raises:
        IparamError: there is no estimate; the message names the source, and no path of this machine.
    """
    hidden = {file.path: source.name for file in source.files}
    try:
        with fetched(source, settings.storage) as local:
            hidden = {os.path.realpath(local.path): source.name, str(local.path): source.name, **hidden}
            recording = _read(settings, source, local.path)
        told, robot = _with_arm(settings, recording)
        estimate = identify_payload(told, robot, **settings.identifying)
    except IparamError as error:
        text = _clean(str(error), hidden)
        raise IparamError(text if source.name in text else f"{source.name}: {text}") from None
    warnings = tuple(_clean(warning, hidden) for warning in estimate.warnings)
    return told, robot, dataclasses.replace(estimate, warnings=warnings)


def _read(settings: FleetSettings, source: Source, path: Path) -> Recording:
    if source.is_bag:
        if settings.bags is None:
            raise IparamError(f"{source.name} is a ROS bag, and nothing was given that reads bags")
        recording = settings.bags(path, settings.robot)
    else:
        recording = Recording.load(path, robot=settings.robot, tip=settings.tip, **settings.reading)
    return with_gravity(recording, None if settings.gravity is None else np.array(settings.gravity))


def _read_as_stated(settings: FleetSettings, source: Source, path: Path) -> Recording:
    """A recording that is not of the robot given, for what it says of itself; an empty one if that cannot be read."""
    with contextlib.suppress(IparamError):
        return _read(dataclasses.replace(settings, robot=None, tip=None), source, path)
    return Recording()


def _with_arm(settings: FleetSettings, recording: Recording) -> tuple[Recording, Robot | None]:
    """The recording and its arm, as the command `identify payload` has them."""
    given = settings.robot
    if given is None and moves_without_arm(recording):
        return recording, None
    robot = given if isinstance(given, Robot) else recorded_robot(recording, given, settings.tip)
    told = with_followers(with_told_frame(recording, robot, settings.tip), robot)
    check_run(told, robot, uses_wrench=recording.has("wrench"))
    return told, robot


def _facts(settings: FleetSettings, source: Source, recording: Recording) -> dict[str, Any]:
    """What a recording says of itself: robot, arm, tool, when and how long."""
    stated = Labels.stated(recording.metadata)
    spans = [(signal.time[0], signal.time[-1]) for signal in recording.signals.values() if signal.num_samples]
    return {
        "robot": Path(recording.robot).stem if recording.robot else settings.robot_name,
        **label_columns(settings.layout, source, stated),
        **stated.columns,
        "duration": float(max(end for _, end in spans) - min(start for start, _ in spans)) if spans else None,
        "warnings": list(recording.warnings),
    }


def estimate_columns(estimate: Estimate) -> dict[str, Any]:
    """The columns that an estimate fills; what it does not determine is null."""
    deviation, assessment, upper = estimate.standard_deviation, estimate.assessment, np.triu_indices(3)
    values = [estimate.mass, *estimate.center_of_mass, *estimate.inertia_about_com[upper]]
    spreads = [deviation.mass, *deviation.center_of_mass, *deviation.inertia_about_com[upper]]
    row: dict[str, Any] = {}
    for names, numbers, ending in (
        (DERIVED_NAMES, values, ""),
        (DERIVED_NAMES, spreads, "_deviation"),
        ([f"phi_{name}" for name in PHI_NAMES], estimate.phi, ""),
        ([f"phi_{name}" for name in PHI_NAMES], deviation.phi, "_deviation"),
    ):
        row |= {f"{name}{ending}": _known(number) for name, number in zip(names, numbers, strict=True)}
    rest, bias = estimate.residual_rms, estimate.sensor_bias
    if bias is not None:
        row |= {f"bias_{name}": _known(x) for name, x in zip(BIAS_NAMES, [*bias.force, *bias.torque], strict=True)}
    return row | {
        "samples": int(estimate.samples),
        "residual_force": _known(float(np.linalg.norm(rest.force))),
        "residual_torque": _known(float(np.linalg.norm(rest.torque))),
        "condition_number": _known(estimate.condition_number),
        "verdict": assessment["verdict"],
        "sentence": assessment["sentence"],
        "causes": [cause["cause"] for cause in assessment["causes"]],
        "cause_sentences": [cause["sentence"] for cause in assessment["causes"]],
        "warnings": list(estimate.warnings),
    }


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _clean(text: str, hidden: Mapping[str, str]) -> str:
    for path, name in hidden.items():
        text = text.replace(path, name)
    return text
