"""`identify_robot`: the inertial parameters of an arm, its rotors and its friction, from runs of the bare arm."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, frozen
from iparam.errors import ContradictionError, InputError
from iparam.estimation.torque.consistent_robot import (
    PRIOR_DEVIATION,
    ConsistentProblem,
    consistent_parameters,
    link_units,
)
from iparam.estimation.torque.drives.drive_gains import DriveGains, find_gains
from iparam.estimation.torque.drives.encoder_feedback import EncoderFeedback, encoder_feedback
from iparam.estimation.torque.drives.gain_scatter import with_measured_tolerance
from iparam.estimation.torque.friction import DISSIPATIVE, PLAIN, FrictionModel, kind
from iparam.estimation.torque.joint_data import JointDataSource, check_runs, effort_of, joints_without_effort
from iparam.estimation.torque.payload_from_torque import unless_left_out
from iparam.estimation.torque.term_choice import with_chosen_terms
from iparam.estimation.torque.torque_fit import TorqueFit, fit_torques
from iparam.estimation.torque.torque_model import (
    CoupledDrive,
    Coupling,
    TorqueModel,
    couplings_of,
)
from iparam.estimation.torque.validation import TorquePrediction, predict_torques
from iparam.estimation.torque.weighted_solution import whitened_triangle
from iparam.files.json import numbers_or_null, write_json
from iparam.motion.motion import MotionEstimate
from iparam.motion.sources import KalmanMotion, MotionSource
from iparam.recording.recording import Recording
from iparam.recording.statements import with_gravity
from iparam.regressor.joint_torque import joint_torque_regressor
from iparam.remarks import Remark, messages, remark
from iparam.robot.model import Link, Robot
from iparam.rounding import percent
from iparam.spatial.parameters import InertialParameters

FORMAT = "iparam-robot/1"
BADLY = 0.5
"""Residuals of a joint, as a share of what its torque varies by, from which on the model explains it badly."""

ROUNDED = 1e-5
"""Coefficient of a parameter in a formula, in kg, m and kg m^2, below which it is the rounding of a description."""

HEAVIER = 3.0
"""Times the mass of an arm that nobody expects it to have: a parameter whose standard deviation is more than what
such a mass at the arm's reach has is not determined."""

FAR, FAR_SHARE = 3.0, 0.05
"""Standard deviations from what a body can have, and the share of all parameters that may be further away by chance."""


@dataclass(frozen=True, eq=False)
class RobotEstimate:
    """An identified arm.

    Attributes:
        robot: the arm with the identified parameters in its links, physically consistent, and rotors.
        base_names: formulas of the base parameters; those of rotors and friction follow with their names.
        base_values: their estimates by weighted least squares; NaN for those that the runs do not determine.
        base_covariance: (r, r) theirs, drive gains included; NaN beside those that the runs do not determine.
        consistent_values: the same of the physically consistent arm.
        link_parameters: (n, 10) phi of each moving body in its link's frame.
        data_share: (n, 10) which part of the knowledge of each comes from the data and not from the maker's figures.
        rotor_inertia: (n,) [kg m^2]; NaN where a joint's effort was left out, and where it does not move.
        friction: (n,) coefficients by term, see `FrictionModel`. Zero where a joint does not have the term, NaN where
            its effort was left out, or where it does not move, but for its offset.
        drive_gains: that turned currents into torques.
        fit_rms: (n,) of the residuals of the consistent arm in the data it was identified from [N m]; NaN where they
            were left out.
        model, parameters: that predict torques, see `TorqueModel.torques`.
        comparisons: other models, fitted to the same data, by name: see `compare`.
        remarks: what a reader should know.
        samples: how many were used.
        measurements: fingerprints of the torques or currents that it comes from.
        motion: how the angles of other runs are to be smoothed.
        bandwidths: (n,) with which the angles of the first run were smoothed [Hz]; zeros where another filter did.
        feedback: what the controllers make of the errors of their encoders, which is no part of the arm and is taken
            from the residuals; None if it was not looked at.
    """

    robot: Robot
    base_names: tuple[str, ...]
    base_values: FloatArray
    base_covariance: FloatArray
    consistent_values: FloatArray
    link_parameters: FloatArray
    data_share: FloatArray
    rotor_inertia: FloatArray
    friction: dict[str, FloatArray]
    drive_gains: DriveGains
    fit_rms: FloatArray
    model: TorqueModel
    parameters: FloatArray
    comparisons: dict[str, tuple[TorqueModel, FloatArray]]
    remarks: tuple[Remark, ...]
    samples: int
    measurements: tuple[str, ...] = ()
    motion: MotionSource | None = None
    bandwidths: FloatArray = field(default_factory=lambda: np.zeros(0))
    feedback: EncoderFeedback | None = None

    @property
    def base_deviation(self) -> FloatArray:
        """(r,) standard deviations of the base values; NaN for those that the runs do not determine."""
        return np.sqrt(np.diag(self.base_covariance))

    @property
    def friction_terms(self) -> tuple[tuple[str, ...], ...]:
        """Which terms of friction each joint was given."""
        return self.model.terms

    @property
    def coupled_drives(self) -> tuple[CoupledDrive, ...]:
        """Drives that turn with several joints."""
        return self.model.coupled_drives(self.parameters)

    @property
    def left_out(self) -> tuple[int, ...]:
        """Joints whose efforts were not used, from 0."""
        return self.model.left_out

    def validate(self, recording: Recording) -> dict[str, TorquePrediction]:
        """How well this arm and those that it is compared with predict the torques of another run."""
        source = JointDataSource(recording, self.model.robot, None, self.motion)
        if recording.signal(source.effort).fingerprint in self.measurements:
            raise ContradictionError(
                "the run to validate with is one that the arm was identified from: that it is predicted says nothing. "
                "Use another one, or leave it out of the others"
            )
        check_runs([recording], self.model.robot, self.model.gravity)
        scale = self.drive_gains.values if source.effort == "current" else np.ones(self.model.num_joints)
        every = {"identified": (self.model, self.parameters), **self.comparisons}
        return {
            name: predict_torques(model, values, source, scale, self.feedback)
            for name, (model, values) in every.items()
        }

    def to_document(self) -> dict[str, Any]:
        """What `save` writes."""
        return {
            "format": FORMAT,
            "robot": self.robot.name,
            "base_parameters": [
                {"name": name, "value": value, "standard_deviation": standard_deviation, "consistent": consistent}
                for name, value, standard_deviation, consistent in zip(
                    self.base_names,
                    numbers_or_null(self.base_values),
                    numbers_or_null(self.base_deviation),
                    self.consistent_values.tolist(),
                    strict=True,
                )
            ],
            "links": [
                {"name": joint.child, "phi": phi, "data_share": share}
                for joint, phi, share in zip(
                    self.robot.moving_joints, self.link_parameters.tolist(), self.data_share.tolist(), strict=True
                )
            ],
            "rotor_inertia": numbers_or_null(self.rotor_inertia),
            "friction": {name: numbers_or_null(values) for name, values in self.friction.items()},
            "friction_terms": [list(own) for own in self.friction_terms],
            "couplings": [drive.to_document() for drive in self.coupled_drives],
            "encoder_damping": None if self.feedback is None else self.feedback.damping.tolist(),
            "left_out": [joint + 1 for joint in self.left_out],
            "drive_gains": self.drive_gains.to_document(),
            "torque_residual_rms": numbers_or_null(self.fit_rms),
            "smoothing_bandwidth_hz": self.bandwidths.tolist(),
            "samples": self.samples,
            "warnings": list(messages(self.remarks)),
            "remarks": [one.to_document() for one in self.remarks],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON in the format ``iparam-robot/1``, replacing the file in one step."""
        write_json(path, self.to_document())


def identify_robot(
    recordings: Sequence[Recording],
    robot: Robot,
    *,
    drive_gains: ArrayLike | DriveGains | None = None,
    friction: FrictionModel | None = None,
    couplings: Sequence[Coupling | str] | ArrayLike | None = None,
    leave_out: Sequence[int] = (),
    motion: MotionSource | None = None,
    gravity: ArrayLike | None = None,
    compare: bool = True,
    progress: Callable[[float], None] | None = None,
) -> RobotEstimate:
    """Identify an arm from runs without load.

    Args:
        recordings: with q, and tau or current.
        robot: the arm with the maker's figures; they decide what the data leave open.
        drive_gains: (n,) [N m/A], where they are known; else from the targets in the recordings, else from the maker's
            masses.
        friction: of the joints; None chooses its terms joint by joint, by what predicts held-out blocks best.
        couplings: drives that turn with several joints, see `couplings_of`; () for none; None chooses them among
            neighbouring joints, by the same rule.
        leave_out: joints whose efforts are not used, from 0: a broken sensor, a joint that hits its stop. Parameters
            that only they show are no base parameters then. So are joints without a sensor in a run.
        motion: where the motion comes from; None for the Kalman smoother whose bandwidth predicts the effort best.
        gravity: (3,) in base axes [m/s^2]; None for the recordings' own, or 9.81 downwards.
        compare: whether to fit, for `RobotEstimate.validate`, plain least squares with the same friction ("ols") and
            with the textbook's, viscous and Coulomb ("ols_textbook"), and the maker's figures with friction of the
            same kind as here ("maker").
        progress: told the fraction of the fit that is done, from time to time.
    """
    if not recordings:
        raise InputError("at least one recording is needed")
    checked = check_runs(recordings, robot, gravity)
    gravity = checked.gravity
    recordings = [with_gravity(recording, gravity) for recording in recordings]
    effort = effort_of(recordings[0])
    left_out = joints_without_effort(recordings, effort, leave_out, robot)
    gains = find_gains(recordings, recordings[0], robot, drive_gains, motion, left_out)
    sources = [JointDataSource(recording, robot, effort, motion, gains.values, left_out) for recording in recordings]
    model = TorqueModel(
        robot,
        FrictionModel() if friction is None else friction,
        len(sources),
        gravity=gravity,
        couplings=() if couplings is None else couplings_of(couplings, robot.num_joints),
        left_out=left_out,
    )
    model = with_chosen_terms(
        model,
        sources,
        gains.values,
        terms_given=friction is not None,
        couplings_given=couplings is not None,
        consistent=True,
    )
    still = [j for j in _still(sources, robot.num_joints) if j in model.measured]
    model = _with_offsets_alone(model, still)
    fit = with_measured_tolerance(fit_torques(model, sources, gains, progress=progress))
    gains = fit.gains
    parameters, share = _consistent(fit, still)
    count = robot.num_joints
    links = parameters[: 10 * count].reshape(count, 10)
    comparisons = {}
    if compare:
        textbook = TorqueModel(robot, PLAIN, len(sources), gravity=gravity, left_out=left_out)
        for name, plain in (("ols", model), ("ols_textbook", textbook)):
            comparisons[name] = (plain, fit_torques(plain, sources, gains, weighted=False).solution.parameters)
        comparisons["maker"] = _maker(fit)
    remarks = [one for recording in recordings for one in recording.remarks] + list(checked.remarks)
    remarks += [one for source in sources for one in source.motion.remarks]
    if gains.tolerance:
        remarks.append(remark("gains-estimated", source=gains.source, share=percent(gains.tolerance)))
    feedback = encoder_feedback(model, parameters, sources, gains.values)
    consistent, rms = grouped(model) @ parameters, _rms(model, parameters, sources, gains.values, feedback)
    remarks += _misfit_remarks(fit, consistent, rms, sources)
    names = _names(model)
    open_, unknown = _open_parameters(fit, names, float(links[:, 0].sum()), still)
    remarks += unknown
    remarks += [remark("joint-still", joint=j + 1) for j in still]
    if left_out:
        named = ", ".join(str(joint + 1) for joint in left_out)
        remarks.append(remark("efforts-left-out", joints=named))

    def known(values: FloatArray, term: str = "") -> FloatArray:
        silent = np.isin(np.arange(count), [] if term == "offset" else still)
        return np.where(silent, np.nan, unless_left_out(values, model))

    return RobotEstimate(
        robot=with_link_parameters(robot, links, parameters[10 * count : 11 * count]),
        base_names=names,
        base_values=frozen(np.where(open_, np.nan, fit.solution.parameters[model.independent])),
        base_covariance=frozen(np.where(open_ | open_[:, None], np.nan, fit.covariance)),
        consistent_values=frozen(consistent),
        link_parameters=frozen(links),
        data_share=frozen(share.reshape(count, 10)),
        rotor_inertia=frozen(known(parameters[10 * count : 11 * count])),
        friction={term: frozen(known(parameters[model.friction_columns(term)], term)) for term in model.friction.terms},
        drive_gains=gains,
        fit_rms=frozen(rms),
        model=model,
        parameters=frozen(parameters),
        comparisons=comparisons,
        remarks=tuple(dict.fromkeys(remarks)),
        samples=sum(source.num_samples for source in sources),
        measurements=tuple(recording.signal(effort).fingerprint for recording in recordings),
        motion=_for_other_runs(sources[0].motion) if motion is None else motion,
        bandwidths=frozen(_bandwidths(sources[0].motion)),
        feedback=feedback,
    )


def _bandwidths(motion: MotionEstimate) -> FloatArray:
    found = [process.bandwidth for process in motion.processes]
    return np.array(found or [0.0] * motion.num_joints)


def _misfit_remarks(
    fit: TorqueFit, consistent: FloatArray, rms: FloatArray, sources: Sequence[JointDataSource]
) -> list[Remark]:
    """Remarks on a model that explains its own data badly, and on parameters that no body has."""
    remarks = []
    efforts = np.concatenate([data.effort for source in sources for data in source.segments()])
    shares = rms / np.maximum(np.abs(fit.gains.values) * efforts.std(axis=0), 1e-9)
    if poor := np.flatnonzero(shares > BADLY).tolist():
        parts = ", ".join(f"{100 * shares[j]:.0f} % in joint {j + 1}" for j in poor)
        remarks.append(remark("torques-badly-explained", joints=parts))
    deviation = np.sqrt(np.diag(fit.covariance))
    values = fit.solution.parameters[fit.model.independent]
    far = np.flatnonzero(np.abs(values - consistent) > FAR * np.maximum(deviation, 1e-300))
    if far.size > FAR_SHARE * values.size:
        remarks.append(remark("parameters-of-no-arm", count=far.size, parameters=values.size, deviations=FAR))
    return remarks


def _open_parameters(
    fit: TorqueFit, names: Sequence[str], found: float, still: Sequence[int]
) -> tuple[NDArray[np.bool_], list[Remark]]:
    """(r,) the parameters that the runs do not determine, and remarks about them.

    Args:
        fit: of the runs.
        names: of the parameters.
        found: mass of the consistent arm [kg].
        still: joints that do not move, whose rotors are told of elsewhere.
    """
    rotors = np.isin(fit.model.independent, [10 * fit.model.num_joints + joint for joint in still])
    scattered, unseen = _undetermined(fit, found) & ~rotors, fit.solution.unseen & ~rotors

    def listed(which: NDArray[np.bool_]) -> str:
        return ", ".join(name.split(" ")[0] for name, own in zip(names, which, strict=True) if own)

    remarks = []
    if unseen.any():
        remarks.append(remark("parameters-not-separable", parameters=listed(unseen)))
    if (scattered & ~unseen).any():
        remarks.append(remark("parameters-not-determined", parameters=listed(scattered & ~unseen)))
    return rotors | scattered | unseen, remarks


def _with_offsets_alone(model: TorqueModel, still: Sequence[int]) -> TorqueModel:
    """The model without the friction that joints do not show which stand still: of it, an offset is left."""
    if not still:
        return model
    terms = tuple(
        tuple(term for term in own if term == "offset") if joint in still else own
        for joint, own in enumerate(model.terms)
    )
    return dataclasses.replace(model, joint_terms=terms)


def _undetermined(fit: TorqueFit, found: float) -> NDArray[np.bool_]:
    """(r,) which inertial parameters have a standard deviation beyond what any arm of that size can have.

    Args:
        fit: of the runs.
        found: mass of the consistent arm [kg]; the maker's counts where it is more.
    """
    model, count = fit.model, fit.model.num_joints
    robot = model.robot
    mass, reach = HEAVIER * max(found, float(robot.body_parameters[:, 0].sum())), robot.reach
    bounds = np.full(model.size, np.inf)
    if mass > 0.0 and reach > 0.0:
        bounds[: 10 * count] = np.tile(mass * np.array([1.0, *[reach] * 3, *[reach**2] * 6]), count)
        bounds[10 * count : 11 * count] = mass * reach**2
    return np.asarray(np.sqrt(np.diag(fit.covariance)) > bounds[model.independent])


def _for_other_runs(motion: MotionEstimate) -> MotionSource:
    """How to smooth runs whose effort must have no say in that: as their angles ask for, if that was right here."""
    alone = not any(process.tracking or process.velocity_noise for process in motion.processes)
    return KalmanMotion(predicts="", processes=motion.processes if motion.judge else (), angles_alone=alone)


def with_link_parameters(robot: Robot, links: FloatArray, rotors: FloatArray) -> Robot:
    """The robot with other inertial parameters of its moving bodies, all in the links that its joints carry.

    Args:
        robot: the arm.
        links: (n, 10) phi of each moving body in its link's frame.
        rotors: (n,) rotor inertia [kg m^2].
    """
    own = {joint.child: phi for joint, phi in zip(robot.moving_joints, links, strict=True)}
    fixed = {name for name, body in zip(robot.frames, robot.chain.frame_bodies, strict=True) if body == 0}
    changed = tuple(
        Link(link.name, InertialParameters.from_phi(own[link.name]))
        if link.name in own
        else (link if link.name in fixed else Link(link.name))
        for link in robot.links
    )
    return dataclasses.replace(robot, links=changed, armature=frozen(np.maximum(rotors, 0.0)))


def grouped(model: TorqueModel) -> FloatArray:
    """(r, p) that turns all parameters of a model into those that can be told apart."""
    count, used = model.num_joints, model.independent
    hidden = np.setdiff1d(np.arange(11 * count), used)
    rng = np.random.default_rng(1)
    q, dq, ddq = (rng.uniform(-2.0, 2.0, (300, count)) for _ in range(3))
    inertial = joint_torque_regressor(model.robot, q, dq, ddq, model.gravity)
    rows = np.concatenate([inertial, ddq[:, :, None] * np.eye(count)], axis=2)
    rows = rows[:, model.measured].reshape(-1, 11 * count)
    result = np.zeros((used.size, model.size))
    result[np.arange(used.size), used] = 1.0
    seen = used[used < 11 * count]
    result[: seen.size, hidden] = np.linalg.lstsq(rows[:, seen], rows[:, hidden], rcond=None)[0].round(9)
    return result


def _names(model: TorqueModel) -> tuple[str, ...]:
    """Formulas of the parameters that can be told apart; rotors that links hide are in them."""
    count, matrix = model.num_joints, grouped(model)
    names = []
    for row, own in zip(matrix, model.independent, strict=True):
        text = model.names[own]
        for column in np.flatnonzero(np.abs(row[: 11 * count]) > ROUNDED):
            if column != own:
                size = f"{abs(row[column]):.4g}"
                text += f" {'-' if row[column] < 0 else '+'} {'' if size == '1' else size + ' '}{model.names[column]}"
        names.append(text)
    return tuple(names)


def _consistent(fit: TorqueFit, still: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """The consistent parameters (p,), and the share of the data in the knowledge of each link's (10 n,).

    Args:
        fit: of the runs.
        still: joints that do not move: nothing shows their rotors, which stay the maker's.
    """
    model, solution = fit.model, fit.solution
    triangle, right = whitened_triangle(fit.runs, fit.columns, model.size, fit.gains.values, solution.noise)
    count = model.num_joints
    positive = [*range(10 * count, 11 * count)]
    for term in model.friction.terms:
        if kind(term) in DISSIPATIVE:
            positive += range(*model.friction_columns(term).indices(model.size))
    for index in range(len(model.couplings)):
        positive += range(*model.coupling_columns(index).indices(model.size))
    prior = model.robot.body_parameters
    own = [10 * count + joint for joint in (*model.left_out, *still)]
    kept = np.setdiff1d(np.arange(model.size), [*model.absent, *own])
    parameters = np.zeros(model.size)
    parameters[kept] = consistent_parameters(
        ConsistentProblem(
            triangle[:, kept], right, np.asarray(prior), np.flatnonzero(np.isin(kept, positive)).astype(np.int64)
        )
    )
    parameters[own] = model.robot.armature[[*model.left_out, *still]]
    standard_deviation = PRIOR_DEVIATION * link_units(np.asarray(prior)).ravel()
    precision = triangle.T @ triangle
    before = np.zeros(model.size)
    before[: 10 * count] = 1.0 / standard_deviation**2
    before[10 * count :] = 1e-12 * np.maximum(np.diag(precision)[10 * count :], 1e-12)
    after = np.diag(np.linalg.inv(precision + np.diag(before)))[: 10 * count]
    return parameters, np.clip(1.0 - after / standard_deviation**2, 0.0, 1.0)


def _maker(fit: TorqueFit) -> tuple[TorqueModel, FloatArray]:
    """The maker's figures for links and rotors, with the friction that fits best beside them, joint by joint."""
    model, count = fit.model, fit.model.num_joints
    parameters = np.zeros(model.size)
    parameters[: 10 * count] = model.robot.body_parameters.ravel()
    parameters[10 * count : 11 * count] = model.robot.armature
    ones = dict.fromkeys(fit.solution.noise, 1.0)
    triangle, right = whitened_triangle(fit.runs, fit.columns, model.size, fit.gains.values, ones)
    free = np.arange(11 * count, model.size)
    rest = right - triangle @ parameters
    parameters[free] = np.linalg.lstsq(triangle[:, free], rest, rcond=1e-10)[0]
    return model, parameters


def _rms(
    model: TorqueModel,
    parameters: FloatArray,
    sources: Sequence[JointDataSource],
    scale: FloatArray,
    feedback: EncoderFeedback,
) -> FloatArray:
    found = [predict_torques(model, parameters, source, scale, feedback) for source in sources]
    samples = np.array([one.samples for one in found])
    squares = np.array([one.rms**2 for one in found])
    return np.asarray(np.sqrt((squares * samples[:, None]).sum(axis=0) / samples.sum()))


def _still(sources: Sequence[JointDataSource], count: int) -> list[int]:
    ranges = np.zeros(count)
    for source in sources:
        for data in source.segments():
            ranges = np.maximum(ranges, np.ptp(data.q, axis=0))
    return [int(j) for j in np.flatnonzero(ranges < 0.01)]
