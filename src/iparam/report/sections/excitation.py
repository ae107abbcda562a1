"""The part of the page about excitation: what the motion could tell, predicted and obtained."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation.assessment.derived_values import NAMES, SCALES, UNITS
from iparam.estimation.assessment.run_analysis import RunAnalysis
from iparam.excitation.information.condition import condition_number
from iparam.excitation.prediction import Prediction, predict_precision
from iparam.plotting.matplotlib_backend import BLUE, SKY, new_figure, plain_log_ticks
from iparam.recording.noise_level import white_noise_level
from iparam.recording.statements import recorded_gravity
from iparam.report.content import (
    Block,
    Card,
    Cards,
    Heading,
    Missing,
    Paragraph,
    Section,
    Table,
    figure_card,
    missing_wrench,
)
from iparam.report.context import ReportContext
from iparam.rounding import NORMAL_95, significant
from iparam.sensing.noise import MeasurementNoise

HEIGHT = 3.1
UNSEEN = 1e-6
"""Share of the largest singular value below which a direction is none that the motion shows."""


def excitation_section(context: ReportContext) -> Section | Missing:
    """How well the motion excites the load."""
    if context.run is None or context.singular_values is None:
        return missing_wrench("Excitation quality")
    values = context.singular_values
    planned = context.given.trajectory
    if values[-1] <= UNSEEN * values[0]:
        shown = int((values > UNSEEN * values[0]).sum())
        sentence = f"The motion shows {shown} of ten directions of the parameters, and nothing of the others"
    else:
        sentence = f"The condition number of the stacked regressor is {significant(values[0] / values[-1])}"
    robot, recording = context.given.robot, context.given.recording
    if planned is not None and robot is not None and recording is not None:
        gravity = recorded_gravity(recording)
        wanted = condition_number(robot, planned.trajectory, gravity, planned.fps).regressor
        sentence += f"; that of the planned motion is {significant(wanted)}"
    prediction = _prediction(context, context.run)
    blocks: list[Block] = [Paragraph(sentence + "."), Cards([_singular_card(values)])]
    if prediction is not None:
        blocks += [Heading("Predicted against obtained precision"), _precision_table(context, prediction)]
    else:
        blocks += [Paragraph("Left out: the predicted precision. Add the trajectory, the plan of this run.", "missing")]
    return Section("excitation", "Excitation quality", blocks)


def _prediction(context: ReportContext, run: RunAnalysis) -> Prediction | None:
    """What the plan promised with the noise that this run had; None without a plan or a usable estimate."""
    given = context.given
    if given.trajectory is None or given.robot is None or given.recording is None:
        return None
    if not context.estimate.complete or context.estimate.mass <= 0.0:
        return None
    angles = given.recording.signals["q"].values if given.recording.has("q") else None
    joint_noise = float(np.median(white_noise_level(angles))) if angles is not None and len(angles) > 2 else 0.0
    planned, period = given.trajectory.trajectory, float(np.median(np.diff(run.problem.time)))
    repetitions = max(1, round(float(np.ptp(run.problem.time)) / planned.duration))
    try:
        return predict_precision(
            planned,
            given.robot,
            context.estimate.parameters,
            MeasurementNoise(np.maximum(run.noise, 1e-9), joint_noise),
            rate=1.0 / period,
            repetitions=repetitions,
            bias=context.estimate.sensor_bias is not None,
            gravity=recorded_gravity(given.recording),
        )
    except IparamError:
        return None


def _singular_card(values: FloatArray) -> Card:
    figure = new_figure(HEIGHT)
    axes = figure.add_axes((0.18, 0.135, 0.795, 0.82))
    axes.bar(np.arange(1, 11), values, color=SKY, edgecolor=BLUE, linewidth=0.8)
    for place, value in enumerate(values, start=1):
        if value <= UNSEEN * values[0]:
            continue
        axes.annotate(
            significant(value, 2), (place, value), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=7.5
        )
    axes.set_xticks(np.arange(1, 11))
    axes.set_xlabel("number")
    axes.set_ylabel("singular value")
    axes.grid(False, axis="x")
    axes.set_ylim(0.0, 1.12 * float(values[0]))
    if values[0] > 30.0 * values[-1]:
        least = float(values[values > UNSEEN * values[0]][-1])
        axes.set_yscale("log")
        plain_log_ticks(axes.yaxis)
        axes.set_ylim(0.4 * least, 2.5 * float(values[0]))
    words = "Of the stacked regressor in SI units, per root of a sample. The closer together, the better."
    return figure_card(figure, "singular-values", "Singular values.", words)


def _precision_table(context: ReportContext, prediction: Prediction) -> Table:
    predicted = NORMAL_95 * np.sqrt(np.diag(prediction.covariance_derived)) * SCALES
    obtained = context.derived.half_widths * SCALES
    truth = context.true_values
    header = ["95 % half width of", "predicted", "obtained", "ratio"] + (["true error"] if truth is not None else [])
    rows = []
    for i, name in enumerate(NAMES):
        ratio = obtained[i] / predicted[i] if predicted[i] > 0.0 else np.inf
        row = [f"{name} [{UNITS[i]}]", significant(predicted[i]), significant(obtained[i]), significant(ratio)]
        if truth is not None:
            row.append(significant(abs(context.derived.values[i] - truth[i]) * SCALES[i]))
        rows.append(row)
    words = (
        "The prediction is that of weighted least squares on the planned motion, with white noise of the size seen in "
        "this run; it knows nothing of what else may be wrong."
    )
    return Table(header, rows, "Predicted against obtained precision", notes=words)
