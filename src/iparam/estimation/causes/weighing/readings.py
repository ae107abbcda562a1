"""`of_forces`, `of_torques`: what else than a load on a sensor as it should be could have made a weighing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.hypotheses.sensor_channels import NAMES, axis_names, signed_permutations
from iparam.estimation.causes.hypotheses.sensor_mounting import direction_name
from iparam.estimation.causes.weighing.data import Weighing
from iparam.estimation.causes.weighing.fits import (
    WeightFit,
    best_joint_offset,
    best_matrix,
    center_fit,
    force_fit,
    solved,
    squares_of_load,
    tilted_weight,
    torque_gain,
)
from iparam.estimation.estimate import Cause
from iparam.motion.orientation import read_as
from iparam.remarks import Plain
from iparam.rounding import significant
from iparam.sensing.correction import Correction
from iparam.spatial.transforms import log_so3, rpy_from_rotation

STARTS = 3
"""Of the 24 rotations that exchange axes, from where the best one is sought."""

SAME = 1.0 + 1e-6
"""Ratio of squares up to which two joints fit alike."""

CHANGES = 60
"""Times at which a change of the load is looked for."""

LEAST_GAIN = 0.05
"""Gain of a channel below which it can not be put right by a factor."""

LEAST_TURN = 0.02
"""Change of the weight's direction, a standard deviation, below which it tells nothing [rad]."""

ALL_AROUND = 0.03
"""Variance of the weight's direction along the axis that it changes least along, in that of the most, from which on
the data tell crosstalk; turns about one axis do not."""

_CALIBRATE = "Calibrate the sensor with known loads (iparam calibrate sensor)."
_GAINS = np.array([np.diag([2.0, -1.0, -1.0]), np.diag([0.0, 1.0, -1.0])])  # of no common factor
_ANY = np.array([*_GAINS, *(np.outer(a, b) for a in np.eye(3) for b in np.eye(3) if a @ b == 0.0)])


@dataclass(frozen=True, eq=False)
class Reading:
    """A hypothesis fitted.

    Attributes:
        cause, finding, fix: as in `Explanation`.
        fit: of the force, or of the torque.
        parameters: that it has beside load and bias.
        load: (4,) mass and centre of mass, if it is right [kg, m].
        wrench: (N, 6) put right, where forces and torques fit together differently then; None for as it is.
    """

    cause: str
    finding: str
    fix: Mapping[str, Plain]
    advice: str
    fit: WeightFit
    parameters: float
    load: FloatArray
    wrench: FloatArray | None = None

    def told(self, plain: WeightFit, unit: str) -> Cause:
        """For the reader of a result, beside the fit without it."""
        before, after = plain.rms, self.fit.rms
        text = f"{self.finding} takes the residual from {significant(before, 3)} to {significant(after, 3)} {unit}"
        return Cause(self.cause, f"{text}.{' ' * bool(self.advice)}{self.advice}", before, after, self.fix)


def of_forces(data: Weighing, here: FloatArray) -> Iterator[Reading]:
    """How else the force could follow the weight."""
    rotations = [turn for turn in signed_permutations() if np.linalg.det(turn) > 0.0]
    rotations.sort(key=lambda turn: squares_of_load(data, turn))
    starts = [np.eye(3), *rotations[:STARTS]]
    turn, fit = min((best_matrix(data, start, None) for start in starts), key=lambda pair: pair[1].squares)
    vector = log_so3(turn.T)
    angle = float(np.linalg.norm(vector))
    if angle > 0.0:
        rpy = tuple(round(float(value), 2) + 0.0 for value in np.degrees(rpy_from_rotation(turn.T)))
        yield Reading(
            "sensor-rotation",
            f"Turning the sensor by {np.degrees(angle):.2f} deg about {direction_name(vector / angle)}",
            Correction(sensor_rotation=rpy).fix,
            "" if data.of_tool else "The load is then in the axes of the recorded orientation.",
            fit,
            3,
            np.array([fit.unknowns[0], *(turn.T @ here[1:] if data.of_tool else here[1:])]),
        )
    mirrored = [turn for turn in signed_permutations() if np.linalg.det(turn) < 0.0 and abs(np.trace(turn)) < 3.0]
    found = min(mirrored, key=lambda turn: squares_of_load(data, turn))
    axes = axis_names(found.T)
    both = data.wrench @ np.kron(np.eye(2), found)
    alone = data.wrench @ np.block([[found, np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3)]])
    fit = force_fit(data, found)
    one_sign = bool((np.abs(found) == np.eye(3)).all())
    if one_sign and center_fit(data, alone).squares < center_fit(data, both).squares:
        reversed_ones = ", ".join(name for name, sign in zip(NAMES[:3], np.diag(found), strict=True) if sign < 0.0)
        fix = Correction(wrench_scale=(*np.diag(found).tolist(), 1.0, 1.0, 1.0)).fix
        finding, put_right = f"Reversing {reversed_ones}", alone
    else:
        fix, put_right = Correction(wrench_axes=axes).fix, both
        finding = f"Taking the sensor's axes {', '.join(axes)} for x, y, z"
    plain = bool((found >= 0.0).all())
    place = center_fit(data, put_right).unknowns[:3]
    cause = "axis-order" if plain else "left-handed"
    yield Reading(cause, finding, fix, "", fit, 1, np.array([fit.unknowns[0], *place]), put_right)
    tilted, fit = tilted_weight(data)
    strength = float(np.linalg.norm(data.gravity))
    down = -tilted * strength / max(float(np.linalg.norm(tilted)), 1e-300)
    angle = float(np.degrees(np.arccos(np.clip(down @ data.gravity / strength**2, -1.0, 1.0))))
    gravity = tuple(round(float(value), 3) + 0.0 for value in down)
    yield Reading(
        "gravity-direction",
        f"A gravity that is tilted by {angle:.2f} deg",
        Correction(gravity=gravity).fix,
        "",
        fit,
        2,
        np.array([float(np.linalg.norm(tilted)) / strength, *here[1:]]),
    )
    gains, fit = best_matrix(data, np.eye(3), _GAINS)
    middle = float(np.median(np.abs(np.diag(gains))))
    scale = np.diag(gains) / max(middle, 1e-12)
    if (np.abs(scale) > LEAST_GAIN).all():
        listed = ", ".join(f"{name} {gain:.3f}" for name, gain in zip(NAMES[:3], scale, strict=True))
        factors = tuple(float(f"{1.0 / gain:.4g}") for gain in scale)
        put_right = data.wrench / np.array([*scale, 1.0, 1.0, 1.0])
        place = center_fit(data, put_right).unknowns[:3]
        fix = Correction(wrench_scale=(*factors, 1.0, 1.0, 1.0)).fix
        load = np.array([middle * fit.unknowns[0], *place])
        yield Reading("sensor-gain", f"Gains of {listed}, in their median,", fix, "", fit, 2, load, put_right)
    turned = np.einsum("nij,nkj->nki", data.rotation.transpose(0, 2, 1), data.wrench.reshape(-1, 2, 3))
    inside = dataclasses.replace(data, wrench=turned.reshape(-1, 6))
    fit, place = force_fit(inside, np.eye(3)), center_fit(inside, inside.wrench).unknowns[:3]
    advice = "" if data.of_tool else "Turn it into the sensor's axes, whose orientation is in the file."
    fix = Correction(wrench_frame="base").fix if data.of_tool else {}
    finding = f"A wrench in the axes of the {'base' if data.of_tool else 'world'}"
    load = np.array([fit.unknowns[0], *place])
    yield Reading("base-axes", finding, fix, advice, fit, 1, load, inside.wrench)
    yield from _oriented_otherwise(data, here)
    yield from _offset_joint(data, here)
    yield from _changed(data, here)
    if not all_around(data.up):
        return
    matrix, fit = best_matrix(data, np.eye(3), _ANY)
    size = float(abs(np.linalg.det(matrix))) ** (1.0 / 3.0)
    load = np.array([fit.unknowns[0] * size, *here[1:]])
    yield Reading("sensor-gain", "Crosstalk between the forces", {}, _CALIBRATE, fit, 8, load)


def _oriented_otherwise(data: Weighing, here: FloatArray) -> Iterator[Reading]:
    """Other things that the columns of an orientation hold; what turning takes is left out, as it would be another."""
    for name in data.readings:
        turned = np.asarray(read_as(data.rotation, name))
        other = dataclasses.replace(data, up=-(np.swapaxes(turned, 1, 2) @ data.gravity), rotation=turned, turning=None)
        fit = force_fit(other, np.eye(3))
        inverted, order = name.startswith("inverted"), name.removeprefix("inverted").removeprefix("-")
        holds = {"": "", "w-last": " with the scalar part last", "w-first": " with the scalar part first"}[order]
        finding = f"An orientation{' of the world in the sensor' * inverted}{holds}"
        load = np.array([abs(fit.unknowns[0]), *here[1:]])  # its sign is what the weight shows
        cause = "orientation-order" if order else "orientation-inverted"
        yield Reading(cause, finding, {"orientation_columns": name}, "", fit, 1, load)


def _offset_joint(data: Weighing, here: FloatArray) -> Iterator[Reading]:
    """A joint that is counted from another zero; of the last one apart, which no pose tells from a turned sensor."""
    if data.joint_axes is None:
        return
    found: dict[bool, list[tuple[int, float, WeightFit]]] = {False: [], True: []}
    for joint, axes in enumerate(np.moveaxis(data.joint_axes, 2, 0)):
        in_tool = np.einsum("nji,nj->ni", data.rotation, axes)
        if axes.any():
            as_sensor = bool(np.sqrt(np.sum(np.var(in_tool, axis=0))) < LEAST_TURN)
            found[as_sensor].append((joint, *best_joint_offset(data, axes)))
    for as_sensor, tried in found.items():
        if not tried:
            continue
        joint, angle, fit = min(tried, key=lambda entry: entry[2].squares)
        added = np.where(np.arange(data.joint_axes.shape[2]) == joint, round(float(np.degrees(angle)), 2), 0.0)
        fix = Correction(joint_offset=tuple(added.tolist())).fix
        same = [str(other + 1) for other, _, one in tried if other != joint and one.squares < SAME * fit.squares]
        alike = f"Of joint {' or '.join(same)} it would look the same: their axes are parallel." if same else ""
        advice = "No pose tells it from a turned sensor." if as_sensor else alike
        finding = f"Adding {np.degrees(angle):.2f} deg to joint {joint + 1}"
        # Which of the joints is one more thing that the data decide; a turned sensor has three.
        load = np.array([fit.unknowns[0], *here[1:]])
        yield Reading("joint-offset", finding, fix, advice, fit, 3 if as_sensor else 2, load)


def _changed(data: Weighing, here: FloatArray) -> Iterator[Reading]:
    """Another load from some time on."""
    if data.time is None or len(data.time) < CHANGES:
        return
    fits = []
    for at in np.linspace(0.05, 0.95, CHANGES) * len(data.time):
        later = data.up * (np.arange(len(data.up)) >= int(at))[:, None]
        fits.append((force_fit(data, np.eye(3), later), int(at)))
    fit, at = min(fits, key=lambda pair: pair[0].squares)
    when, first, second = float(data.time[at]), fit.unknowns[0], fit.unknowns[0] + fit.unknowns[1]
    start, stop = float(data.time[0]), float(data.time[-1])
    longer = when - start > stop - when
    rest = (when, stop + 1.0) if longer else (start - 1.0, when)
    fix = Correction(exclude=((round(rest[0], 2), round(rest[1], 2)),)).fix
    finding = (
        f"A load that changes at {when:.2f} s, its mass from {significant(first, 4)} to {significant(second, 4)} kg,"
    )
    yield Reading("load-changed", finding, fix, "", fit, 2, np.array([first if longer else second, *here[1:]]))


def of_torques(data: Weighing, here: FloatArray) -> Iterator[Reading]:
    """How else the torques could follow the forces."""
    for channel in range(3):
        scale = np.ones(6)
        gain, fit = torque_gain(data, channel)
        if abs(gain) < LEAST_GAIN:
            continue
        scale[3 + channel] = float(f"{1.0 / gain:.4g}")
        load = np.array([here[0], *center_fit(data, data.wrench * scale).unknowns[:3]])
        finding = f"A gain of {gain:.3f} of {NAMES[3 + channel]}"
        yield Reading("sensor-gain", finding, Correction(wrench_scale=tuple(scale)).fix, "", fit, 2, load)
    swapped = [turn for turn in signed_permutations() if abs(np.trace(turn)) < 3.0]

    def with_torques(turn: FloatArray) -> FloatArray:
        return np.hstack([data.wrench[:, :3], data.wrench[:, 3:] @ turn])

    best = min(swapped, key=lambda turn: center_fit(data, with_torques(turn)).squares)
    fit = center_fit(data, with_torques(best))
    finding = f"Taking the torques about {', '.join(axis_names(best.T))} for those about x, y, z"
    advice = "Name the columns as they are."
    yield Reading("axis-order", finding, {}, advice, fit, 1, np.array([here[0], *fit.unknowns[:3]]))
    force, torque = data.wrench[:, :3], data.wrench[:, 3:]
    if not all_around(force):
        return
    columns = np.einsum("ni,ab->nabi", force, np.eye(3)).reshape(len(force), 3, 9)
    fit = solved(data, columns, torque, slice(3, 6))
    matrix = fit.unknowns[:9].reshape(3, 3)
    place = 0.5 * np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    yield Reading("sensor-gain", "Crosstalk of the torques", {}, _CALIBRATE, fit, 6, np.array([here[0], *place]))


def all_around(values: FloatArray) -> bool:
    """Whether vectors (N, 3) change in all directions, so that they tell a whole matrix."""
    spread = np.linalg.eigvalsh(np.cov(values.T))
    return bool(spread[0] > ALL_AROUND * spread[2])
