"""The part of the page about the wrench: measured, predicted, and the residual."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.assessment.run_analysis import AXIS_NAMES, AXIS_UNITS, RunAnalysis
from iparam.plotting.matplotlib_backend import GREY, INK, SKY, VERMILLION, new_figure, side_label, stacked_axes
from iparam.report.content import Card, Cards, Missing, Section, Table, figure_card, missing_wrench
from iparam.report.context import ReportContext
from iparam.rounding import fixed, significant

BINS = 220


def wrench_section(context: ReportContext) -> Section | Missing:
    """Measured against predicted wrench."""
    run = context.run
    if run is None:
        return missing_wrench("Measured and predicted wrench")
    rows = []
    for i, (axis, unit) in enumerate(zip(AXIS_NAMES, AXIS_UNITS, strict=True)):
        rows.append(
            [
                f"{axis} [{unit}]",
                significant(run.rms[i]),
                significant(run.noise[i]),
                significant(run.signal[i]),
                f"{significant(100 * run.rms[i] / run.signal[i], 2)} %" if run.signal[i] > 0.0 else "–",
                fixed(run.offset[i], 3 if i < 3 else 4),
            ]
        )
    header = ["axis", "residual, rms", "white noise", "signal, rms", "residual/signal", "offset"]
    origin = "fitted to this run, as the result has none" if run.offset_fitted else "the result's sensor bias"
    words = (
        "The white noise is that of the second differences; a residual that is not larger has nothing left to explain. "
        f"The signal is counted about its mean. The offset is {origin}."
    )
    figures = Cards([_axis_card(run, axis) for axis in range(6)])
    residuals = Table(header, rows, "Residuals of the wrench", notes=words)
    return Section("wrench", "Measured and predicted wrench", (figures, residuals))


def _axis_card(run: RunAnalysis, axis: int) -> Card:
    figure = new_figure(2.9)
    upper, lower = stacked_axes(figure, (1.8, 1.0), top=0.28)
    time = run.problem.time - run.problem.time[0]
    upper.fill_between(*envelope(time, run.problem.y[:, axis]), color=SKY, alpha=0.65, linewidth=0.0, label="measured")
    picked = np.unique(np.linspace(0, len(time) - 1, 2 * BINS).astype(int))
    upper.plot(time[picked], run.predicted[picked, axis], color=VERMILLION, linestyle="-", label="predicted")
    lower.fill_between(*envelope(time, run.residual[:, axis]), color=GREY, alpha=0.55, linewidth=0.0)
    starts = _bin_starts(len(time), 50)
    means = _bin_means(time, starts), _bin_means(run.residual[:, axis], starts)
    lower.plot(*means, color=INK, linewidth=1.0)  # what is systematic in the residual
    side_label(upper, f"[{AXIS_UNITS[axis]}]")
    side_label(lower, f"residual [{AXIS_UNITS[axis]}]")
    lower.set_xlabel("time [s]")
    lower.set_xlim(time[0], time[-1])
    upper.legend(loc="lower center", bbox_to_anchor=(0.5, 0.97), ncols=2)
    share = 100.0 * run.rms[axis] / run.signal[axis] if run.signal[axis] > 0.0 else np.inf
    words = f"Residual {significant(run.rms[axis])} {AXIS_UNITS[axis]} rms"
    words += f", {significant(share, 2)} % of the signal." if np.isfinite(share) else "."
    return figure_card(figure, f"wrench-{axis}", f"{AXIS_NAMES[axis].capitalize()}.", words)


def envelope(time: FloatArray, values: FloatArray, bins: int = BINS) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times, least and largest values (B,) of a signal (T,) in bins: what a drawing of all its samples would cover."""
    starts = _bin_starts(len(time), bins)
    return _bin_means(time, starts), np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)


def _bin_starts(count: int, bins: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, count, min(bins, count) + 1).astype(int))[:-1]


def _bin_means(values: FloatArray, starts: NDArray[np.int64]) -> FloatArray:
    return np.asarray(np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values))))
