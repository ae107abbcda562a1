"""`combine_estimates`: two loads as one body, or what is left of a load without a part of it.

phi is linear in the mass that it is the integral of. So a gripper and what it holds add, what it holds is the whole
minus the gripper, and so do their covariances, which always add: each result has errors of its own.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import ContradictionError, InputError
from iparam.estimation.assessment.refutation import shows_no_body
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate, Refutation, Wrench, lasting_remarks
from iparam.estimation.estimators.consistent import nearest_consistent, nearest_taken
from iparam.estimation.payload.estimate_assembly import estimate_of, precision_remarks
from iparam.estimation.payload.partial_estimate import part_of
from iparam.remarks import Remark, remark
from iparam.rounding import NORMAL_95
from iparam.sensing.sensor_frame import rigid_frames
from iparam.spatial.consistency import is_physically_consistent
from iparam.spatial.phi import phi_from_pseudo_inertia, pseudo_inertia_from_phi
from iparam.spatial.transforms import inverse_transform, is_transform

if TYPE_CHECKING:
    from iparam.robot.model import Robot
    from iparam.spatial.parameters import InertialParameters

METHODS = {False: "sum", True: "difference"}
"""What a combination is called, by whether the second load was taken away."""

MOSTLY_DATA = 0.5
"""Share of the data in what is known of an inertia below which a remark says that it rests on a shape."""

RESTS_ON_SHAPE = "inertia-rests-on-shape"
"""Code of the remark that says so."""

MIXED = 1e-12
"""Share from which a parameter that is not known has a part in another one, seen from another frame."""


def phi_transform(T_ab: ArrayLike) -> FloatArray:
    """(10, 10) matrix that takes phi of a body in frame b to its phi in frame a; T_ab (4, 4) is the pose of b in a."""
    pose = as_float_array(T_ab, "T_ab")
    if pose.shape != (4, 4) or not is_transform(pose):
        raise InputError("T_ab is not a rigid 4x4 transform")
    columns = pose @ pseudo_inertia_from_phi(np.eye(10)) @ pose.T
    return np.asarray(phi_from_pseudo_inertia(columns).T)


def combine_estimates(
    first: Estimate,
    second: Estimate | InertialParameters,
    *,
    minus: bool = False,
    pose: ArrayLike | None = None,
    robot: Robot | None = None,
    frame: str = "",
    names: tuple[str, str] = ("", ""),
) -> Estimate:
    """Both loads as one rigid body, or the first without the second, in the frame of the first.

    Args:
        first: e.g. the gripper; with ``minus`` the whole.
        second: e.g. the part that it holds; with ``minus`` the gripper. A body without standard deviations (from CAD, a
            data sheet) counts as known exactly, and a remark says so.
        minus: take the second away.
        pose: (4, 4) of the second's frame in the first's [m]; None where the two results name the same frame, or two
            that ``robot`` has behind its last joint.
        robot: whose frames the results name.
        frame: of a second that is a body; "" if it does not say. A result says its own.
        names: of the two, such as their files, for remarks that are those of one; "" for one that needs none.

    Raises:
        ContradictionError: the frames differ and nothing says how; or both come from one measured signal, so that their
            errors are not independent.
    """
    first.require_weight("a combination takes masses and centres of mass")
    first.require_credit("a combination believes its results")
    if isinstance(second, Estimate):
        second.require_weight("a combination takes masses and centres of mass")
        second.require_credit("a combination believes its results")
        _require_independent(first, second)
        other, other_covariance, frame = second.known_phi, np.nan_to_num(second.covariance_phi, nan=0.0), second.frame
        open_to = np.isnan(second.phi)
    else:
        other, other_covariance, open_to = second.phi, np.zeros((10, 10)), np.zeros(10, dtype=bool)
    moved = phi_transform(_pose_between(first.frame, frame, pose, robot))
    sign = -1.0 if minus else 1.0
    unknown = np.isnan(first.phi) | (np.abs(moved[:, open_to]) > MIXED).any(axis=1)
    free = np.where(unknown, np.nan, first.known_phi + sign * moved @ other)
    covariance = np.nan_to_num(first.covariance_phi, nan=0.0) + moved @ other_covariance @ moved.T
    covariance = np.where(unknown[:, None] | unknown, np.nan, covariance)
    remarks = _remarks(first, second, names)
    half = NORMAL_95 * float(np.sqrt(covariance[0, 0]))
    if not free[0] > half:
        raise IdentificationError(
            f"the {METHODS[minus]} has a mass of {free[0]:.4g} +- {half:.2g} kg (95 %), "
            "which is not above zero: the second result is not a part of the first, or nothing is left that could be "
            "seen"
        )
    phi = free
    possible = unknown.any() or bool(is_physically_consistent(free))
    if not possible:
        phi = nearest_consistent(free, _inverse(covariance))
        distance = np.sqrt((phi - free) @ _inverse(covariance) @ (phi - free))
        remarks.append(nearest_taken(float(distance)))
    left_open = [part_of(phi)] if unknown.any() else precision_remarks(phi, np.sqrt(np.diag(covariance)))
    share = None if unknown.any() else _data_share(first, second, moved)
    combined = estimate_of(
        METHODS[minus],
        phi,
        covariance,
        condition_number=float("inf"),  # that of one motion, and its residuals, are not those of two
        residual_norm=0.0,
        residual_rms=Wrench(np.zeros(3), np.zeros(3)),
        samples=first.samples + (second.samples if isinstance(second, Estimate) else 0),
        data_share=share,
        remarks=[*remarks, *_reliance(first, second, share, METHODS[minus]), *left_open],
        unconstrained_phi=None if possible else free,
    )
    reason = "" if unknown.any() else shows_no_body(combined, f"The {METHODS[minus]} is no possible load: it has")
    if reason:
        part = f"{names[1] or 'the second result'} is not a part of {names[0] or 'the first'}"
        reason = f"{reason} So {part}, or not where it is said to be."
    return dataclasses.replace(
        combined,
        robot=first.robot,
        frame=first.frame,
        measurements=(*first.measurements, *(second.measurements if isinstance(second, Estimate) else ())),
        refutation=Refutation(reason) if reason else None,
    )


def in_frame(load: Estimate, robot: Robot) -> Estimate:
    """The load in the tool frame of ``robot``; it says in which frame it is, behind the last joint.

    Raises:
        ContradictionError: it is in a frame that the robot does not have there.
    """
    if load.frame in ("", robot.tool_frame):
        return load
    moved = phi_transform(_pose_between(robot.tool_frame, load.frame, None, robot))
    found = estimate_of(
        load.method,
        moved @ load.phi,
        moved @ load.covariance_phi @ moved.T,
        condition_number=load.condition_number,
        residual_norm=load.residual_norm,
        residual_rms=load.residual_rms,
        samples=load.samples,
        remarks=load.remarks,
    )
    return dataclasses.replace(found, robot=load.robot, frame=robot.tool_frame, measurements=load.measurements)


def _pose_between(first: str, second: str, pose: ArrayLike | None, robot: Robot | None) -> FloatArray:
    """(4, 4) of the second frame in the first."""
    if pose is not None:
        return as_float_array(pose, "pose", (4, 4))
    if first == second or not first or not second:
        return np.eye(4)
    known = {} if robot is None else rigid_frames(robot)
    if first in known and second in known:
        return np.asarray(inverse_transform(known[first]) @ known[second])
    raise ContradictionError(
        f"the results are in different frames, {first!r} and {second!r}: say where the second is in the first "
        "(pose), or give the robot that has both behind its last joint"
    )


def _require_independent(first: Estimate, second: Estimate) -> None:
    same = np.array_equal(first.phi, second.phi) and np.array_equal(first.covariance_phi, second.covariance_phi)
    if same or set(first.measurements) & set(second.measurements):
        what = "are the same result" if same else "come from the same measured signal"
        raise ContradictionError(
            f"the two results {what}: their errors are not independent, and the intervals of what they make together "
            "would be wrong. Combine results of different recordings"
        )


def _remarks(first: Estimate, second: Estimate | InertialParameters, names: tuple[str, str]) -> list[Remark]:
    """What both had to say that stays true of the combination, with whose it is."""
    found = _owned(first, names[0])
    if not isinstance(second, Estimate):
        return [*found, remark("second-load-exact")]
    found += _owned(second, names[1])
    if not first.frame or not second.frame:
        found.append(remark("frames-assumed-equal"))
    if first.robot and second.robot and first.robot != second.robot:
        found.append(remark("estimates-of-different-arms", arms=f"{first.robot}, {second.robot}"))
    return found


def _owned(result: Estimate, name: str) -> list[Remark]:
    """The remarks of a result that last, with its name; what its inertia rests on is said of the combination."""
    lasting = [one for one in lasting_remarks(result.remarks) if one.code != RESTS_ON_SHAPE]
    return [one.of(name) if name and "owner" not in one.values else one for one in lasting]


def _reliance(
    first: Estimate, second: Estimate | InertialParameters, share: FloatArray | None, what: str
) -> tuple[Remark, ...]:
    """A remark if most of the inertia comes from shapes; ``share`` (10,) is that of the data, None if it is open."""
    given = (*first.remarks, *(second.remarks if isinstance(second, Estimate) else ()))
    least = 1.0 if share is None else float(share[4:].min())
    if least >= MOSTLY_DATA or not any(one.code == RESTS_ON_SHAPE for one in given):
        return ()
    return (remark(RESTS_ON_SHAPE, share=100.0 * (1.0 - least), what=what),)


def _data_share(first: Estimate, second: Estimate | InertialParameters, moved: FloatArray) -> FloatArray | None:
    """(10,) of the combination: each result's own share, weighing by the variance that it brings in."""
    other = second.data_share if isinstance(second, Estimate) else None
    if first.data_share is None and other is None:
        return None
    one = np.ones(10) if first.data_share is None else first.data_share
    variance = np.diag(first.covariance_phi)
    shares = variance * one
    if isinstance(second, Estimate):
        # What moves with the frame is mixed with other parameters, whose shares count by their part in the variance.
        parts = moved**2 * np.diag(second.covariance_phi)
        shares = shares + parts @ (np.ones(10) if other is None else other)
        variance = variance + parts.sum(axis=1)
    return np.clip(shares / np.maximum(variance, 1e-300), 0.0, 1.0)


def _inverse(covariance: FloatArray) -> FloatArray:
    unit = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    inverse = np.linalg.pinv(covariance / np.outer(unit, unit), hermitian=True)
    return np.asarray(inverse / np.outer(unit, unit))
