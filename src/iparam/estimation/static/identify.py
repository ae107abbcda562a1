"""`identify_static`: mass, centre of mass and sensor bias from a few rests, without any motion that counts.

At rest y = [m a, h x a] + b, with a = -g in tool axes and the first moment h = m c. The force tells the mass, the
torque the first moment, and the inertia appears nowhere.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, frozen
from iparam.errors import ContradictionError, InputError
from iparam.estimation.assessment.verdict import first_rules, refuting
from iparam.estimation.causes.plausible_load import load_remarks
from iparam.estimation.causes.weighing.comparison import weight_causes
from iparam.estimation.causes.weighing.data import Weighing
from iparam.estimation.errors import IdentificationError, NotIdentifiableError
from iparam.estimation.estimate import SENSOR_FRAME, Cause, Refutation, Wrench
from iparam.estimation.static.rests import BATCHES, LEAST_REST, Rest, find_rests
from iparam.estimation.static.result_document import STATIC_FORMAT
from iparam.files.json import write_json
from iparam.motion.orientation import readings, sensor_turns
from iparam.recording.followers import joint_signal, with_followers
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.recording.statements import are_poses
from iparam.recording.units import USUAL_RATES, time_hint
from iparam.regressor.wrench import body_regressor, wrench_regressor
from iparam.remarks import Remark, messages, remark
from iparam.robot.kinematics import forward_kinematics, joint_axes
from iparam.robot.model import Robot
from iparam.sensing.run_check import check_run
from iparam.sensing.wrench_source import SensorWrench, WrenchSource, weighed_wrench, wrench_remarks
from iparam.spatial.transforms import exp_so3

INERTIA_UNSEEN = (
    "The inertia cannot be seen at rest: record a motion planned with 'iparam excite optimize' to identify it."
)
OF_INERTIA = 6
"""Parameters that rests do not show: the inertia."""

LEAST_POSES = 4
"""Three directions of gravity determine the ten unknowns; the fourth is what they can be checked with."""

MOVED = 0.02
"""Turn of a joint within one rest from which on it is none [rad]."""

SEPARATION = np.radians(10.0)
"""Angle from which two directions of gravity in the tool count as different [rad]."""

_AXES = tuple((f"{sign}{axis}", s * np.eye(3)[i]) for i, axis in enumerate("xyz") for sign, s in (("+", 1), ("-", -1)))


@dataclass(frozen=True, eq=False)
class StaticDeviations:
    """Standard deviations: mass [kg], center_of_mass (3,) [m], sensor_bias [N, N m]."""

    mass: float
    center_of_mass: FloatArray
    sensor_bias: Wrench


@dataclass(frozen=True, eq=False)
class StaticEstimate:
    """What rests tell of a payload in the tool frame: everything but its inertia.

    Attributes:
        mass: [kg].
        center_of_mass: (3,) [m].
        sensor_bias: of the sensor.
        standard_deviation: of the above. They hold what scatters within and between the rests. An error that all
            poses share, such as a wrong calibration of the sensor, shows in neither; a drift from rest to rest shows,
            but as if the rests were independent.
        covariance: (10, 10) of mass, first moment (3,) and bias (6,).
        interval_factor: half the width of a 95 % interval in standard deviations (Student's t: few rests, wide tails).
        residual_rms: root mean square, over the rests, of the residuals of each component of the wrench.
        num_poses: different directions of gravity in the tool.
        rests: what was averaged.
        remarks: what a reader should know.
        robot, frame: the arm and its tool frame, as in `Estimate`.
        causes: what would explain the rests better; by how much it moves mass and centre is in their deviations.
        refutation: why the rests themselves refute it, as in `Estimate`; None if they do not.
        measurements: fingerprints of the signals that it comes from, as in `Estimate`.
    """

    mass: float
    center_of_mass: FloatArray
    sensor_bias: Wrench
    standard_deviation: StaticDeviations
    covariance: FloatArray
    interval_factor: float
    residual_rms: Wrench
    num_poses: int
    rests: tuple[Rest, ...]
    remarks: tuple[Remark, ...] = ()
    status: str = INERTIA_UNSEEN
    robot: str = ""
    frame: str = ""
    causes: tuple[Cause, ...] = ()
    refutation: Refutation | None = None
    measurements: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The messages of the remarks."""
        return messages(self.remarks)

    @property
    def assessment(self) -> dict[str, Any]:
        """The verdict, "usable" or "refuted", with its sentence and causes: rests never tell all of a load."""
        against = refuting(self.refutation, self.remarks)
        return {
            "verdict": "refuted" if against else "usable",
            "sentence": self.refutation.reason if self.refutation is not None else (*against, self.status)[0],
            "causes": [cause.to_document() for cause in self.causes],
            "rules": [rule.to_document() for rule in first_rules(against, OF_INERTIA)],
        }

    def to_document(self) -> dict[str, Any]:
        """What `save` writes, as plain dictionaries and lists."""
        standard_deviation = self.standard_deviation
        return {
            "format": STATIC_FORMAT,
            "method": "static",
            "status": self.status,
            "mass": self.mass,
            "center_of_mass": self.center_of_mass.tolist(),
            "inertia_about_com": None,
            "standard_deviation": {
                "mass": standard_deviation.mass,
                "center_of_mass": standard_deviation.center_of_mass.tolist(),
                "inertia_about_com": None,
                "sensor_bias": _wrench_document(standard_deviation.sensor_bias),
            },
            "covariance_mass_first_moment_bias": self.covariance.tolist(),
            "interval_95_factor": self.interval_factor,
            "sensor_bias": _wrench_document(self.sensor_bias),
            "residual_rms": _wrench_document(self.residual_rms),
            "num_poses": self.num_poses,
            "rests": [{"start": r.start, "stop": r.stop, "q": r.q.tolist(), "samples": r.samples} for r in self.rests],
            "warnings": list(self.warnings),
            "remarks": [one.to_document() for one in self.remarks],
            "robot": self.robot or None,
            "frame": self.frame or None,
            "measurements": list(self.measurements),
            "assessment": self.assessment,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON in the format ``iparam-static-result/1``, replacing the file in one step."""
        write_json(path, self.to_document())


def identify_static(
    recording: Recording, robot: Robot | None, *, wrench: WrenchSource | None = None, gravity: ArrayLike | None = None
) -> StaticEstimate:
    """Identify mass, centre of mass and sensor bias from the rests of a recording.

    Args:
        recording: with q and the wrench; the arm rests at least 0.3 s, better 1 s, in each of at least 4 poses. Or one
            averaged row a pose, with the orientation of the sensor.
        robot: the arm; None where the sensor's own orientation is recorded instead of joint angles.
        wrench: where the wrench comes from; the signal ``wrench`` if not given, without an arm with the sign that the
            weight shows.
        gravity: (3,) in base axes [m/s^2]; None for the recording's own, or 9.81 downwards.
    """
    if robot is None:
        return _identify_sensor(recording, wrench, gravity)
    recording = with_followers(recording, robot)
    angles = joint_signal(recording, robot, "q")
    checked = check_run(recording, robot, gravity)
    recording, down = checked.recording, checked.gravity
    if not np.linalg.norm(down) > 0.0:
        raise InputError("without gravity, a load at rest exerts nothing: gravity must not be zero")
    rests = find_rests(angles, (SensorWrench() if wrench is None else wrench).read(recording))
    _require_rest(rests, angles)
    poses = np.array([rest.q for rest in rests]).reshape(-1, robot.num_joints)
    still = np.zeros_like(poses)
    regressors = wrench_regressor(robot, poses, still, still, down)[:, :, :4]
    num_poses = _require_directions(-regressors[:, :3, 0] / np.linalg.norm(down))
    turned = forward_kinematics(robot, poses)[:, :3, :3]
    axes = joint_axes(robot, poses, "base")
    found = _fit(
        rests, regressors, turned, down, num_poses, (*wrench_remarks(recording), *checked.remarks), joint_axes=axes
    )
    return dataclasses.replace(
        found,
        remarks=(*found.remarks, *load_remarks(robot, found.mass, found.standard_deviation.mass, recording)),
        robot=recording.robot or robot.name,
        frame=robot.tool_frame,
        measurements=_marks(recording),
    )


def _identify_sensor(recording: Recording, wrench: WrenchSource | None, gravity: ArrayLike | None) -> StaticEstimate:
    """The same from the orientation of the sensor: from its rests, or from rows that are a pose each."""
    checked = check_run(recording, None, gravity)
    remarks = [*wrench_remarks(recording), *checked.remarks]
    if wrench is None:
        wrench, sign = weighed_wrench(recording, checked.gravity)
        remarks += sign
    measured, turns = wrench.read(recording), sensor_turns(recording)
    if are_poses(recording):
        turned, rests = turns.orientation[np.searchsorted(turns.time, measured.time)], _poses_at_rest(measured)
    else:
        angles = Signal(turns.time, turns.angle)
        rests = find_rests(angles, measured)
        _require_rest(rests, angles)
        middle = [np.searchsorted(turns.time, 0.5 * (rest.start + rest.stop)) for rest in rests]
        turned = turns.orientation[middle] @ exp_so3(
            np.array([rest.q for rest in rests]).reshape(-1, 3) - turns.angle[middle]
        )
    up = -(np.swapaxes(turned, 1, 2) @ checked.gravity)
    num_poses = _require_directions(-up / np.linalg.norm(checked.gravity))
    still = np.zeros_like(up)
    regressors = body_regressor(still, still, up)[:, :, :4]
    other = readings(recording)
    found = _fit(rests, regressors, turned, checked.gravity, num_poses, tuple(remarks), other=other)
    return dataclasses.replace(found, robot=recording.robot, frame=SENSOR_FRAME, measurements=_marks(recording))


def _marks(recording: Recording) -> tuple[str, ...]:
    return (recording.signal("wrench").fingerprint,) if recording.has("wrench") else ()


def _poses_at_rest(measured: Signal) -> tuple[Rest, ...]:
    """Each row of a table of poses as a rest, whose scatter nobody recorded."""
    return tuple(
        Rest(float(at), float(at), frozen(np.zeros(0)), frozen(row), frozen(np.zeros(6)), 1)
        for at, row in zip(measured.time, measured.values, strict=True)
    )


def _require_rest(rests: tuple[Rest, ...], angles: Signal) -> None:
    """Refuse rests in which the arm moves, only so slowly that the time cannot be in seconds."""
    hint = time_hint(angles.time, slowest=USUAL_RATES[0])
    for rest in rests if hint else ():
        part = angles.slice(rest.start, rest.stop)
        moved = 0.0 if part is None else float(np.ptp(part.values, axis=0).max())
        if moved > MOVED:
            raise ContradictionError(
                f"from {rest.start:.6g} to {rest.stop:.6g} s the arm seems to rest, and turns by {moved:.3g} rad: the "
                f"angles have {hint}"
            )


def _require_directions(gravity: FloatArray) -> int:
    """The number of different directions (P, 3) of gravity in the tool, or an error that says which are missing."""
    if len(gravity) == 0:
        raise IdentificationError(
            f"the recording has no rest: the arm never stood still for {LEAST_REST:g} s with the wrench recorded. "
            "A recording in motion is identified as such; static poses are planned by 'iparam excite poses'"
        )
    different: list[FloatArray] = []
    for direction in gravity:
        if all(direction @ other < np.cos(SEPARATION) for other in different):
            different.append(direction)
    if len(different) >= LEAST_POSES:
        return len(different)
    known, missing = list(different), []
    while len(known) < LEAST_POSES:
        name, axis = min(_AXES, key=lambda item: max(float(item[1] @ other) for other in known))
        missing.append(name)
        known.append(axis)
    only = (
        "gravity has the same direction in the tool in all of them (turning about the vertical changes nothing)"
        if len(different) == 1
        else f"gravity has only {len(different)} different directions in the tool"
    )
    raise NotIdentifiableError(
        f"the recording has {len(gravity)} rests, and {only}; {LEAST_POSES} directions, at least "
        f"{np.degrees(SEPARATION):.0f} deg apart, are needed for mass, centre of mass and bias. Add a rest with "
        f"gravity along {' and one along '.join(missing)} of the tool frame ('iparam excite poses' chooses them)",
        ("m", "m cx", "m cy", "m cz"),
    )


def _fit(
    rests: tuple[Rest, ...],
    regressors: FloatArray,
    turned: FloatArray,
    gravity: FloatArray,
    num_poses: int,
    notes: tuple[Remark, ...],
    *,
    joint_axes: FloatArray | None = None,
    other: tuple[str, ...] = (),
) -> StaticEstimate:
    """Force and torque share no unknown at rest, so that each is fitted by itself and has its own noise.

    Args:
        rests: P of them.
        regressors: (P, 6, 4) of mass and first moment.
        turned: (P, 3, 3) orientations of the tool, or of the sensor.
        gravity: (3,) in the axes in which these are [m/s^2].
        num_poses: different directions of gravity.
        notes: remarks on the recording.
        joint_axes: (P, 3, n) of the arm whose tool that is, in the base; None for a sensor without an arm.
    """
    from scipy.special import fdtrc, stdtrit

    wrenches = np.array([rest.wrench for rest in rests])
    within = np.mean([rest.variance for rest in rests], axis=0)
    if (np.ptp(wrenches, axis=0) == 0.0).all():
        raise IdentificationError("the wrench is the same in all rests: is the force/torque sensor connected?")
    remarks = list(notes)
    values, covariance, residual = np.zeros(10), np.zeros((10, 10)), np.empty_like(wrenches)
    degrees = 0
    for name, unit, rows, columns, bias in (
        ("forces", "N", slice(0, 3), slice(0, 1), slice(4, 7)),
        ("torques", "N m", slice(3, 6), slice(1, 4), slice(7, 10)),
    ):
        unknowns = np.r_[columns, bias]
        measured, design = wrenches[:, rows], np.zeros((len(rests), 3, unknowns.size))
        design[:, :, :-3], design[:, :, -3:] = regressors[:, rows, columns], np.eye(3)
        # An axis that happens to be quiet, by rounding to steps, must not outweigh the others.
        noise = np.maximum(within[rows], 0.01 * within[rows].mean())
        noise = np.sqrt(np.maximum(noise, (1e-12 * max(float(np.abs(wrenches).max()), 1e-12)) ** 2))
        A, b = (design / noise[:, None]).reshape(-1, unknowns.size), (measured / noise).ravel()
        solution = np.linalg.lstsq(A, b, rcond=None)[0]
        rest = b - A @ solution
        degrees = b.size - unknowns.size
        ratio = float(rest @ rest) / degrees
        values[unknowns], residual[:, rows] = solution, rest.reshape(-1, 3) * noise
        # What scatters between the rests counts where it is more than what scatters within them.
        covariance[np.ix_(unknowns, unknowns)] = max(1.0, ratio) * np.linalg.inv(A.T @ A)
        size = float(np.sqrt(np.mean(residual[:, rows] ** 2)))
        chance = fdtrc(degrees, 3 * len(rests) * (BATCHES - 1), ratio)
        if within.any() and chance < 1e-3 and size > 1e-6 * float(np.abs(measured).max()):
            remarks.append(remark("rests-disagree", quantity=name, size=size, unit=unit, factor=np.sqrt(ratio)))
    factor = float(stdtrit(degrees, 0.975))  # of the torques, which have fewer left over
    deviations = np.sqrt(np.diag(covariance))
    mass = float(values[0])
    of_tool = joint_axes is not None
    weighing = Weighing(
        regressors[:, :3, 0], wrenches, turned, gravity, of_tool=of_tool, readings=other, joint_axes=joint_axes
    )
    found = weight_causes(weighing)
    if not mass > factor * deviations[0]:
        cause = (
            "a negative mass: does the sensor report what the payload exerts on the arm, the opposite of what is "
            "expected here?"
            if mass < -factor * deviations[0]
            else f"which is not above zero{'' if found.causes else ': there is no load that this sensor can see'}"
        )
        told = "".join(f". {one.sentence}" for one in found.causes[:1])
        raise IdentificationError(
            f"the mass comes out as {mass:.4g} +- {factor * deviations[0]:.2g} kg (95 %), {cause}{told}",
            fix=found.causes[0].fix if found.causes else None,
        )
    center = values[1:4] / mass
    by_phi = np.zeros((4, 4))
    by_phi[0, 0], by_phi[1:] = 1.0, np.column_stack([-center, np.eye(3)]) / mass

    def widths() -> FloatArray:
        """(4,) standard deviations of mass and centre of mass."""
        return np.asarray(np.sqrt(np.einsum("ij,jk,ik->i", by_phi, covariance[:4, :4], by_phi)))

    reason = found.refuted(found.share(mass, center, factor * widths()))
    if found.causes and not reason:
        remarks.append(remark("rests-hold-more", cause=found.causes[0].sentence))
    moves = np.hstack([found.loads[:, :1], found.loads[:, :1] * found.loads[:, 1:]]) - values[:4]
    covariance[:4, :4] += moves.T @ moves
    wider = widths()
    rms = np.sqrt(np.mean(residual**2, axis=0))
    return StaticEstimate(
        mass=mass,
        center_of_mass=frozen(center),
        sensor_bias=_wrench(values[4:]),
        standard_deviation=StaticDeviations(float(wider[0]), frozen(wider[1:]), _wrench(deviations[4:])),
        covariance=frozen(covariance),
        interval_factor=factor,
        residual_rms=_wrench(rms),
        num_poses=num_poses,
        rests=rests,
        remarks=tuple(dict.fromkeys(remarks)),
        causes=found.causes,
        refutation=Refutation(reason, found.causes) if reason else None,
    )


def _wrench(values: FloatArray) -> Wrench:
    return Wrench(frozen(values[:3]), frozen(values[3:]))


def _wrench_document(wrench: Wrench) -> dict[str, list[float]]:
    return {"force": wrench.force.tolist(), "torque": wrench.torque.tolist()}
