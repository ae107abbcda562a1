"""The last part of the page: where everything in it comes from."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version

from iparam.report.content import Block, BulletList, Heading, Section, Table
from iparam.report.context import ReportContext
from iparam.report.rendering import plain
from iparam.rounding import fixed, significant


def provenance_section(context: ReportContext) -> Section:
    """Versions, files, robot, samples and settings."""
    given, estimate = context.given, context.estimate
    rows: list[list[str]] = []
    if given.created:
        rows.append(["report written", plain(given.created, 60)])
    rows += [[f"file: {name}", value] for name, value in given.sources.items()]
    rows.append(["method", f"{estimate.method}, {estimate.samples} samples"])
    if given.robot is not None:
        rows.append(["robot", f"{given.robot.name}, {given.robot.num_joints} joints, tool {given.robot.tool_frame}"])
    if given.recording is not None:
        recording = given.recording
        signals = ", ".join(f"{name} {significant(signal.rate)} Hz" for name, signal in recording.signals.items())
        rows.append(["recording", f"{fixed(recording.duration, 2)} s: {signals}"])
        rows += [[f"recorded: {name}", _shown(value)] for name, value in sorted(recording.metadata.items())]
    if given.trajectory is not None:
        planned = given.trajectory
        rows.append(["trajectory", f"{type(planned.trajectory).__name__}, {fixed(planned.trajectory.duration, 2)} s"])
    rows.append(["truth", "from a file of its own" if given.truth is not None else "not known"])
    versions = [f"{name} {_version(name)}" for name in ("iparam", "numpy", "scipy", "matplotlib")]
    rows.append(["versions", ", ".join([*versions, f"Python {platform.python_version()}"])])
    blocks: list[Block] = [Table((), rows, "Provenance", "words")]
    if given.recording is not None and given.recording.remarks:
        blocks += [Heading("About the recording"), BulletList(given.recording.warnings)]
    return Section("provenance", "Provenance", blocks)


def _shown(value: object) -> str:
    return plain(value if isinstance(value, str) else json.dumps(value), 300)


def _version(package: str) -> str:
    if package == "iparam":
        from iparam import __version__

        return __version__
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"
