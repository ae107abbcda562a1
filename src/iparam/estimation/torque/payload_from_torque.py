"""`identify_payload_from_torque`: the load from a run without it and a run with it, without a force sensor."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, frozen
from iparam.errors import InputError
from iparam.estimation.assessment.motion_path import motion_path
from iparam.estimation.assessment.refutation import shows_no_body
from iparam.estimation.causes.plausible_load import expected_load, load_remarks, too_heavy
from iparam.estimation.errors import NotIdentifiableError
from iparam.estimation.estimate import Cause, Estimate, Refutation
from iparam.estimation.estimators.consistent import nearest_consistent, nearest_taken
from iparam.estimation.payload.estimate_assembly import estimate_of, precision_remarks
from iparam.estimation.torque.drives.drive_gains import DriveGains, find_gains
from iparam.estimation.torque.drives.gain_scatter import with_measured_tolerance, with_run_gains
from iparam.estimation.torque.friction import FrictionModel
from iparam.estimation.torque.joint_data import (
    OPPOSITE,
    JointDataSource,
    check_runs,
    effort_of,
    joints_without_effort,
    weight_likeness,
)
from iparam.estimation.torque.term_choice import with_chosen_terms
from iparam.estimation.torque.torque_fit import TorqueFit, fit_torques
from iparam.estimation.torque.torque_model import (
    NUM_LOAD,
    CoupledDrive,
    Coupling,
    TorqueModel,
    couplings_of,
)
from iparam.files.json import numbers_or_null, write_json
from iparam.motion.sources import MotionSource
from iparam.recording.recording import Recording
from iparam.recording.statements import with_gravity
from iparam.regressor.identifiability import PARAMETER_NAMES
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95, percent
from iparam.spatial.consistency import is_physically_consistent

METHOD = "torque-payload"
WARMING_TERMS = ("viscous", "coulomb")
"""Friction terms that each run has of its own: the gears are not equally warm."""

LEAST_BLOCKS = 24
"""Time blocks, of about a second, below which their scatter says little."""


@dataclass(frozen=True, eq=False)
class TorquePayloadEstimate:
    """A load found from joint torques.

    Attributes:
        estimate: the load, as from any other method; its residual norm is that of the joint torques [N m].
        unconstrained_phi: (10,) what plain weighted least squares gives, whether or not a body can have it.
        drive_gains: that turned currents into torques.
        friction: (n,) coefficients by term and run, such as "viscous_run1"; see `FrictionModel`. Zero where a joint
            does not have the term, NaN where its effort was left out.
        torque_rms: (n,) of the residuals of each joint's torque [N m]; NaN where it was left out.
        mass_interval: (2,) that holds the mass with 95 % probability [kg].
        friction_terms: which terms each joint was given.
        coupled_drives: that turn with several joints.
        left_out: joints whose efforts were not used, from 0.
    """

    estimate: Estimate
    unconstrained_phi: FloatArray
    drive_gains: DriveGains
    friction: dict[str, FloatArray]
    torque_rms: FloatArray
    mass_interval: tuple[float, float]
    friction_terms: tuple[tuple[str, ...], ...] = ()
    coupled_drives: tuple[CoupledDrive, ...] = ()
    left_out: tuple[int, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """What `save` writes: the result of any payload identification, and what is known of the joints."""
        document = self.estimate.to_document()
        del document["residual_rms"]  # there is no wrench
        document["mass_interval_95"] = list(self.mass_interval)
        document["unconstrained_phi"] = self.unconstrained_phi.tolist()
        document["torque_residual_rms"] = numbers_or_null(self.torque_rms)
        document["drive_gains"] = self.drive_gains.to_document()
        document["friction"] = {name: numbers_or_null(values) for name, values in self.friction.items()}
        document["friction_terms"] = [list(own) for own in self.friction_terms]
        document["couplings"] = [drive.to_document() for drive in self.coupled_drives]
        document["left_out"] = [joint + 1 for joint in self.left_out]
        return document

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON in the format ``iparam-result/1``, replacing the file in one step."""
        write_json(path, self.to_document())


def identify_payload_from_torque(
    bare: Recording,
    loaded: Recording,
    robot: Robot,
    *,
    drive_gains: ArrayLike | DriveGains | None = None,
    friction: FrictionModel | None = None,
    couplings: Sequence[Coupling | str] | ArrayLike | None = None,
    leave_out: Sequence[int] = (),
    motion: MotionSource | None = None,
    gravity: ArrayLike | None = None,
    progress: Callable[[float], None] | None = None,
) -> TorquePayloadEstimate:
    """Estimate the load that one run carries and the other does not, with the arm and its friction.

    The runs need not follow the same motion, nor be synchronous: both go into one least squares problem, in which they
    share the arm's base parameters and the rotors' inertia.

    Args:
        bare, loaded: runs with q, and tau or current. For currents with target_torque and target_current beside them
            the drive gains are estimated.
        robot: the arm.
        drive_gains: (n,) [N m/A], where they are known; else from the targets, else from the maker's masses.
        friction: of the joints; None chooses its terms joint by joint, by what predicts held-out blocks best.
        couplings: drives that turn with several joints, see `couplings_of`; () for none; None chooses them among
            neighbouring joints, by the same rule.
        leave_out: joints whose efforts are not used, from 0: a broken sensor, a joint that hits its stop.
        motion: where the motion comes from; None for the Kalman smoother whose bandwidth predicts the effort best.
        gravity: (3,) in base axes [m/s^2]; None for the recordings' own, or 9.81 downwards.
        progress: told the fraction of the fit that is done, from time to time.
    """
    checked = check_runs([bare, loaded], robot, gravity)
    bare, loaded = (with_gravity(run, checked.gravity) for run in (bare, loaded))
    effort = effort_of(bare)
    if not loaded.has(effort):
        raise InputError(f"the run without load has {effort}, the run with it does not")
    left_out = joints_without_effort([bare, loaded], effort, leave_out, robot)
    gains = find_gains([bare, loaded], bare, robot, drive_gains, motion, left_out)
    sources = [JointDataSource(run, robot, effort, motion, gains.values, left_out) for run in (bare, loaded)]
    model = TorqueModel(
        robot,
        FrictionModel() if friction is None else friction,
        runs=2,
        run_terms=WARMING_TERMS,
        loaded_runs=(1,),
        gravity=checked.gravity,
        couplings=() if couplings is None else couplings_of(couplings, robot.num_joints),
        left_out=left_out,
    )
    model = with_chosen_terms(
        model, sources, gains.values, terms_given=friction is not None, couplings_given=couplings is not None
    )
    fit = with_measured_tolerance(fit_torques(model, sources, gains, progress=progress))
    fit, gain_remarks = with_run_gains(fit)
    remarks = [*bare.remarks, *loaded.remarks, *checked.remarks, *gain_remarks]
    remarks += [one for source in sources for one in source.motion.remarks]
    likeness = weight_likeness(bare, robot, checked.gravity, gains.values)[0]
    found = _assemble(fit, sum(source.num_samples for source in sources), remarks, likeness)
    estimate = dataclasses.replace(
        found.estimate,
        robot=loaded.robot or robot.name,
        frame=robot.tool_frame,
        measurements=(loaded.signal(effort).fingerprint,),
        path=motion_path(loaded),
        remarks=(
            *found.estimate.remarks,
            *load_remarks(robot, found.estimate.mass, found.estimate.standard_deviation.mass, loaded),
        ),
    )
    return dataclasses.replace(found, estimate=estimate)


def _assemble(fit: TorqueFit, samples: int, remarks: list[Remark], likeness: float) -> TorquePayloadEstimate:
    model, solution = fit.model, fit.solution
    free = solution.parameters[model.load_columns]
    _require_identifiable(solution.triangle[-NUM_LOAD:, -NUM_LOAD:], solution.triangle[:, -NUM_LOAD:])
    covariance = fit.covariance[-NUM_LOAD:, -NUM_LOAD:]
    phi, of_data = free, []
    if not is_physically_consistent(free):
        # Nearest by what both runs say alike: what they disagree in widens the result, and does not move it.
        alike = dataclasses.replace(fit, run_gains=None).covariance[-NUM_LOAD:, -NUM_LOAD:]
        phi = nearest_consistent(free, np.asarray(np.linalg.inv(alike), dtype=np.float64))
        moved = float(np.sqrt((phi - free) @ np.linalg.solve(covariance, phi - free)))
        of_data.append(nearest_taken(moved))
    if solution.num_blocks < LEAST_BLOCKS:
        of_data.append(remark("runs-short", seconds=solution.num_blocks))
    if fit.gains.tolerance:
        share = fit.gains.tolerance
        of_data.append(remark("gains-estimated", source=fit.gains.source, share=percent(share)))
    standard_deviation = np.sqrt(np.diag(covariance))
    estimate = estimate_of(
        METHOD,
        phi,
        covariance,
        condition_number=float(np.linalg.cond(solution.triangle[-NUM_LOAD:, -NUM_LOAD:])),
        residual_norm=float(np.sqrt(samples * np.sum(solution.rms**2))),
        samples=samples,
        remarks=[*remarks, *of_data, *precision_remarks(phi, standard_deviation)],
        unconstrained_phi=None if phi is free else free,
    )
    estimate = dataclasses.replace(
        estimate, refutation=_refutation(estimate, free, solution.rms, model.robot, likeness)
    )
    reach = NORMAL_95 * float(standard_deviation[0])
    return TorquePayloadEstimate(
        estimate=estimate,
        unconstrained_phi=frozen(free),
        drive_gains=fit.gains,
        friction=friction_table(fit),
        torque_rms=frozen(unless_left_out(solution.rms, model)),
        mass_interval=(float(phi[0]) - reach, float(phi[0]) + reach),
        friction_terms=model.terms,
        coupled_drives=model.coupled_drives(solution.parameters),
        left_out=model.left_out,
    )


def _refutation(
    estimate: Estimate, free: FloatArray, rms: FloatArray, robot: Robot, likeness: float
) -> Refutation | None:
    """Why the runs refute the load, with the `weight_likeness` of the bare one; None where they do not.

    To exchange the runs means to give the arm the load and to take it away from the other run: the same torques, with
    the load negative. Least squares therefore need not be repeated for it.
    """
    size = float(np.linalg.norm(rms))
    if reason := too_heavy(estimate):
        mass = 1e-3 * float(estimate.mass)
        said = f"Torques in N mm would make it {mass:.4g} kg: state the unit in the header, as in tau0 [Nmm]."
        heavy = (Cause("too-heavy", reason, size, size),)
        likely = mass < expected_load(robot)
        return Refutation(reason, (Cause("units", said, size, size),) if likely else heavy)
    reason = shows_no_body(estimate)
    if not reason:
        return None
    possible = bool(is_physically_consistent(-free))
    if shows_no_body(dataclasses.replace(estimate, phi=-free, physically_consistent=possible, unconstrained_phi=None)):
        return Refutation(
            f"{reason} Look at the signs, the order and the units of the efforts, at the arm's model and how it is "
            "mounted, and whether both runs are of the same arm."
        )
    mass, half = -float(free[0]), NORMAL_95 * float(estimate.standard_deviation.mass)
    if likeness < OPPOSITE:
        sentence = (
            f"Torques of the opposite sign give {mass:.4f} +- {half:.2g} kg (95 %), and hold the arm's own weight in "
            "the bare run instead of pushing it down: negate their columns."
        )
        return Refutation(reason, (Cause("torque-sign", sentence, size, size),))
    sentence = (
        f"Exchanging the two runs gives {mass:.4f} +- {half:.2g} kg (95 %) with the same residuals: the run called "
        "bare carries the load."
    )
    return Refutation(reason, (Cause("runs-exchanged", sentence, size, size),))


def friction_table(fit: TorqueFit) -> dict[str, FloatArray]:
    """The friction coefficients (n,) by term, and by run where they differ."""
    model, parameters = fit.model, fit.solution.parameters
    table = {}
    for term in model.friction.terms:
        for run in range(model.runs if term in model.run_terms else 1):
            name = f"{term}_run{run + 1}" if term in model.run_terms else term
            table[name] = frozen(unless_left_out(parameters[model.friction_columns(term, run)], model))
    return table


def unless_left_out(values: FloatArray, model: TorqueModel) -> FloatArray:
    """(n,) values of the joints, NaN for those whose efforts were not used."""
    return np.asarray(np.where(np.isin(np.arange(model.num_joints), model.left_out), np.nan, values))


def _require_identifiable(load: FloatArray, columns: FloatArray) -> None:
    """Refuse a load that the rest of the model hides: what is left of its columns beside the others must be visible."""
    lengths = np.linalg.norm(columns, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    _, values, directions = np.linalg.svd(load / lengths)
    blind = values < 1e-8
    if blind.any():
        share = np.linalg.norm(directions[blind], axis=0)
        names = tuple(name for name, part in zip(PARAMETER_NAMES, share, strict=True) if part > 1e-3)
        raise NotIdentifiableError(
            f"these runs do not determine {', '.join(names)} of the load: move all joints, through more orientations, "
            "in both runs (see iparam excite optimize), and leave no more joints out than must be",
            names,
        )
