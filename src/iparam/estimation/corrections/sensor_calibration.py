"""`calibrate_sensor`: gains, crosstalk, turn and place of a force/torque sensor, from runs with loads that are known.

A known load's wrench w at the tool is known all along its motion. What the sensor records is C w + b, which is linear
in the 36 entries of C: its inverse is what a recorded wrench is multiplied with. C itself says what is the matter: C T
is the unit matrix for a sensor at (R, p) with gains of one and no crosstalk. The turn R is that of the force's part
(its polar factor: what is symmetric in the rest is gain and crosstalk), the place p that of the torques which forces
seem to make.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray, frozen
from iparam.errors import InputError, IparamError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.problem import PayloadProblem
from iparam.estimation.payload.problem_from_recording import problem_from_recording
from iparam.estimation.payload.weighted_fit import load_follows
from iparam.files.json import read_json, write_json
from iparam.files.kind import FileKind
from iparam.motion.sources import MotionSource
from iparam.recording.recording import Recording
from iparam.remarks import Remark, messages, remark
from iparam.robot.model import Robot
from iparam.sensing.correction import WRENCH_CHANNELS, Correction, wrench_transform
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.transforms import rpy_from_rotation

FORMAT = "iparam-sensor/1"

POORLY_KNOWN = 0.05
"""Standard deviation of a gain from which the runs do not tell it."""

_OF_SENSOR = ("sensor_rotation", "sensor_offset", "wrench_axes", "wrench_scale")


@dataclass(frozen=True, eq=False)
class SensorFigures:
    """What a sensor does to a wrench; or the standard deviations of that.

    Attributes:
        gains: (6,) of fx, fy, fz, tx, ty, tz: recorded over true.
        crosstalk: (6, 6) what of component j is recorded as i, as a share of i's gain [1, m, 1/m]; zero diagonal.
        rotation: (3,) roll, pitch, yaw in the tool frame [deg].
        offset: (3,) of its origin in the tool frame [m].
    """

    gains: FloatArray
    crosstalk: FloatArray
    rotation: FloatArray
    offset: FloatArray


@dataclass(frozen=True, eq=False)
class SensorCalibration:
    """How a sensor's recorded wrench becomes that of the tool.

    Attributes:
        matrix: (6, 6) that the recorded [force, torque] is multiplied with.
        covariance: (36, 36) of its inverse, what the sensor makes of a wrench, row by row.
        figures: the same in words of the field.
        standard_deviation: of the figures.
        residual_rms: (6,) of what the known loads leave [N, N m].
        samples: how many there were.
        robot, frame: the arm, and the tool frame that it is mounted at.
        measurements: fingerprints of the runs.
        remarks: what a reader should know.
    """

    matrix: FloatArray
    covariance: FloatArray
    figures: SensorFigures
    standard_deviation: SensorFigures
    residual_rms: FloatArray
    samples: int
    robot: str = ""
    frame: str = ""
    measurements: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def correction(self) -> Correction:
        """The correction that applies it to a recording."""
        return _correction(self.matrix, self.covariance)

    def to_document(self) -> dict[str, Any]:
        """What `save` writes, as plain dictionaries and lists."""
        return {
            "format": FORMAT,
            "matrix": self.matrix.tolist(),
            "covariance": self.covariance.tolist(),
            **_document(self.figures),
            "standard_deviation": _document(self.standard_deviation),
            "residual_rms": {"force": self.residual_rms[:3].tolist(), "torque": self.residual_rms[3:].tolist()},
            "samples": self.samples,
            "robot": self.robot or None,
            "frame": self.frame or None,
            "measurements": list(self.measurements),
            "warnings": list(messages(self.remarks)),
            "remarks": [one.to_document() for one in self.remarks],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON in the format ``iparam-sensor/1``, replacing the file in one step."""
        write_json(path, self.to_document())


def load_sensor_correction(path: str | os.PathLike[str]) -> tuple[Correction, str]:
    """The correction that a calibration's file holds, and the frame that the sensor is mounted at ("" if unknown)."""
    document = read_json(path, wanted=(FileKind.SENSOR,))
    stated = document.text("format")
    if stated != FORMAT:
        raise document.error("format", f"is {stated!r}; a sensor's calibration is {FORMAT!r}")
    matrix = document.array("matrix", 2)
    if matrix.shape != (6, 6):
        raise document.error("matrix", f"must be 6 x 6, got {matrix.shape}")
    covariance = document.array("covariance", 2) if document.has("covariance") else np.zeros((36, 36))
    if covariance.shape != (36, 36) or not np.allclose(covariance, covariance.T) or (np.diag(covariance) < 0.0).any():
        raise document.error("covariance", f"must be symmetric, 36 x 36, got {covariance.shape}")
    try:
        correction = _correction(matrix, covariance)
    except IparamError as error:
        raise document.error("matrix", f"cannot be used: {error}") from None
    return correction, document.text("frame") if document.has("frame") else ""


def _correction(matrix: FloatArray, covariance: FloatArray) -> Correction:
    rows, covariance_rows = (tuple(tuple(row) for row in values.tolist()) for values in (matrix, covariance))
    return Correction(wrench_scale=rows, wrench_scale_covariance=covariance_rows if covariance.any() else None)


def calibration_covariance(problem: PayloadProblem, correction: Correction) -> FloatArray | None:
    """(10, 10) of a load that comes from the errors of a calibration; None without one.

    A sensor that makes C w of a wrench w, with errors dC, shows C^-1 dC w too much, which load and bias follow as they
    follow any other wrench.
    """
    if correction.wrench_scale_covariance is None:
        return None
    frame = correction.frame_matrix()
    undo, shown = frame @ correction.wrench_matrix(), problem.y @ np.linalg.inv(frame).T
    follows = load_follows(problem, np.einsum("ci,nj->ncij", undo, shown).reshape(len(shown), 6, 36))
    return np.asarray(follows @ np.asarray(correction.wrench_scale_covariance) @ follows.T)


def calibrate_sensor(
    recordings: Sequence[Recording],
    robot: Robot,
    loads: Sequence[InertialParameters],
    *,
    motion: MotionSource | None = None,
    correction: Correction | None = None,
) -> SensorCalibration:
    """Find what a sensor does to a wrench.

    Args:
        recordings: of motions that excite known loads; a bias of its own is estimated for each.
        robot: the arm.
        loads: what was carried in each, all that is behind the sensor, in the tool frame.
        motion: where the motion comes from; the Kalman smoother if not given.
        correction: what is to be put right besides the sensor: joints, gravity, clock, intervals.
    """
    given = Correction() if correction is None else correction
    for name in _OF_SENSOR:
        if getattr(given, name) is not None:
            raise InputError(argument=name, problem="is what a calibration finds: leave it out")
    if len(recordings) != len(loads) or not recordings:
        raise InputError(f"each run needs its known load, got {len(recordings)} runs and {len(loads)} loads")
    problems = [problem_from_recording(run, robot, motion=motion, correction=given) for run in recordings]
    wrenches = [problem.A @ load.phi for problem, load in zip(problems, loads, strict=True)]
    columns = np.concatenate(wrenches)
    measured = np.concatenate([problem.y for problem in problems])
    _require_excitation(problems, wrenches)
    mixing, covariance, residual = _fit(columns, measured, [len(wrench) for wrench in wrenches])
    if np.linalg.det(mixing[:3, :3]) <= 0.0:
        raise IdentificationError(
            "the forces are those of a left-handed or reversed sensor, or of one that measures the reaction: "
            "correct its axes before it is calibrated, or say that",
            fix={"measures": "reaction"},
        )
    figures = sensor_figures(mixing)
    deviation = _deviations(mixing, covariance)
    remarks = [one for problem in problems for one in problem.remarks]
    for channel, gain_deviation in zip(WRENCH_CHANNELS, deviation.gains, strict=True):
        if gain_deviation > POORLY_KNOWN:
            remarks.append(remark("gain-open", channel=channel, deviation=gain_deviation))
    return SensorCalibration(
        matrix=frozen(np.linalg.inv(mixing)),
        covariance=frozen(0.5 * (covariance + covariance.T)),
        figures=figures,
        standard_deviation=deviation,
        residual_rms=frozen(np.sqrt(np.mean(residual**2, axis=0))),
        samples=sum(problem.num_samples * problem.averaged for problem in problems),
        robot=recordings[0].robot or robot.name,
        frame=robot.tool_frame,
        measurements=tuple(run.signal("wrench").fingerprint for run in recordings),
        remarks=tuple(dict.fromkeys(remarks)),
    )


def sensor_figures(mixing: FloatArray) -> SensorFigures:
    """The figures of a matrix C (6, 6) from the tool's wrench to the recorded one."""
    left, _, right = np.linalg.svd(mixing[:3, :3])
    turn = (left @ right).T  # the force's part is a symmetric matrix times R'
    size = np.diag(mixing[3:, 3:] @ turn)
    lever = -turn @ (mixing[3:, :3] / np.where(size == 0.0, 1.0, size)[:, None])
    lever = 0.5 * (lever - lever.T)
    place = np.array([lever[2, 1], lever[0, 2], lever[1, 0]])
    rotation = np.degrees(rpy_from_rotation(turn))
    remaining = mixing @ wrench_transform(rotation, place)
    gains = np.diag(remaining)
    crosstalk = remaining / np.where(gains == 0.0, 1.0, gains)[:, None]
    np.fill_diagonal(crosstalk, 0.0)
    return SensorFigures(frozen(gains), frozen(crosstalk), frozen(rotation), frozen(place))


def _fit(columns: FloatArray, measured: FloatArray, lengths: list[int]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """C (6, 6), its covariance (36, 36), row by row, and the residuals (N, 6).

    Args:
        columns: (N, 6) wrenches of the loads.
        measured: (N, 6).
        lengths: samples of each run.
    """
    edges = np.cumsum(lengths)[:-1]
    parts = np.split(columns, edges), np.split(measured, edges)
    # A bias of its own for each run is a mean that is taken out.
    loads, values = (np.concatenate([part - part.mean(axis=0) for part in one]) for one in parts)
    solution = np.linalg.lstsq(loads, values, rcond=None)[0]
    residual = values - loads @ solution
    weights = 1.0 / np.maximum(residual.std(axis=0), 1e-9 * np.abs(values).max())
    design = np.zeros((len(loads), 6, 36))
    for channel in range(6):
        design[:, channel, 6 * channel : 6 * channel + 6] = loads
    rows = (design * weights[:, None]).reshape(-1, 36)
    scores = Scores(design, residual * weights**2, np.zeros(36))
    covariance, _ = estimate_covariance(rows.T @ rows, scores)
    return np.asarray(solution.T), covariance, residual


def _require_excitation(problems: list[PayloadProblem], wrenches: list[FloatArray]) -> None:
    """Refuse runs whose load does not exert forces and torques in all six directions."""
    changes = np.concatenate([wrench - wrench.mean(axis=0) for wrench in wrenches])
    size = changes.std(axis=0)
    if (size > 0.0).all():
        values = np.linalg.svd(changes / size, compute_uv=False)
        if values[-1] > 1e-3 * values[0]:
            return
    count = len(problems)
    raise IdentificationError(
        f"{'this run does' if count == 1 else 'these runs do'} not show all 36 numbers of a sensor: the load must pull "
        "in all directions and off its axis. Take a heavier load beside the axis, a second load, or a motion of iparam "
        "excite optimize"
    )


def _deviations(mixing: FloatArray, covariance: FloatArray) -> SensorFigures:
    """Standard deviations of the figures, to first order."""
    steps = 1e-4 * np.sqrt(np.maximum(np.diag(covariance), 1e-30))
    slopes = []
    for place, step in enumerate(steps):
        change = np.zeros(36)
        change[place] = step
        ahead, behind = (_flat(sensor_figures(mixing + sign * change.reshape(6, 6))) for sign in (1.0, -1.0))
        difference = ahead - behind
        difference[-6:-3] = (difference[-6:-3] + 180.0) % 360.0 - 180.0
        slopes.append(difference / (2.0 * step))
    slope = np.stack(slopes, axis=1)
    deviations = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slope, covariance, slope), 0.0))
    return SensorFigures(
        frozen(deviations[:6]),
        frozen(deviations[6:42].reshape(6, 6)),
        frozen(deviations[42:45]),
        frozen(deviations[45:]),
    )


def _flat(figures: SensorFigures) -> FloatArray:
    return np.concatenate([figures.gains, figures.crosstalk.ravel(), figures.rotation, figures.offset])


def _document(figures: SensorFigures) -> dict[str, Any]:
    return {
        "gains": figures.gains.tolist(),
        "crosstalk": figures.crosstalk.tolist(),
        "rotation_deg": figures.rotation.tolist(),
        "offset": figures.offset.tolist(),
    }
