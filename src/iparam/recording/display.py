"""A recording as a notebook shows it: a table of its signals, and their curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from iparam.plotting.html import html_fragment, html_table
from iparam.plotting.time_plots import Panel, time_figure
from iparam.recording.channels import column_names
from iparam.recording.signal import Signal

if TYPE_CHECKING:
    from iparam.recording.recording import Recording

FIRST = ("q", "wrench", "tau", "current", "dq", "accelerometer", "gyro")
"""The signals that tell most, which are shown first."""

MOST_PANELS, MOST_SMALL_PANELS = 6, 3
"""Of a plot whose signals nobody chose."""


def chosen_signals(signals: Mapping[str, Signal]) -> list[str]:
    """The names of all signals, those of `FIRST` first."""
    return sorted(signals, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def panels_of(name: str, signal: Signal) -> list[Panel]:
    """The curves of a signal; one that has two units, as a wrench has, becomes two panels."""
    columns = column_names(name, signal.width)
    units = signal.unit.split(", ")
    parts = np.array_split(np.arange(signal.width), len(units))
    return [
        Panel(
            f"{name} [{unit}]" if unit else name,
            signal.time,
            signal.values[:, part],
            tuple(columns[i] for i in part),
        )
        for unit, part in zip(units, parts, strict=True)
        if part.size
    ]


def recording_figure(recording: Recording, names: Iterable[str] = (), *, small: bool = False) -> Any:
    """A ``matplotlib.figure.Figure`` of some signals over time, or of the first few.

    Args:
        recording: it.
        names: of the signals; none for the first few of `chosen_signals`.
        small: for a page.
    """
    wanted = list(names)
    shown = [
        panel
        for name in wanted or chosen_signals(recording.signals)
        for panel in panels_of(name, recording.signal(name))
    ]
    most = MOST_SMALL_PANELS if small else MOST_PANELS
    return time_figure(shown if wanted else shown[:most], small=small)


def recording_html(recording: Recording) -> str:
    """What a notebook shows: the signals as a table, what was found wrong with them, and the curves of the first."""
    rows = [
        [name, signal.unit, signal.frame, str(signal.width), str(signal.num_samples), f"{signal.rate:.4g}"]
        for name, signal in recording.signals.items()
    ]
    title = f"Recording of {recording.robot or 'an unknown robot'}, {recording.duration:.4g} s"
    return html_fragment(
        title,
        html_table(rows, ("signal", "unit", "frame", "components", "samples", "rate [Hz]")),
        remarks=recording.warnings,
        plot=(lambda: recording_figure(recording, small=True)) if recording.signals else None,
    )
