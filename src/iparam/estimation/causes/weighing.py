"""`weight_causes`: what is wrong with data that show a weight and no more: poses at rest, or a motion whose
acceleration nobody recorded.

Forces tell how the weight turns in the sensor, f = K u + bias with u = -g in its axes: K is m times the identity if all
is right, m times a rotation if the sensor is turned, and so on. Torques tell where the weight is, n = c x f + constant,
with the measured force, whatever K is. Both are compared with what any linear sensor could show.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.hypotheses.sensor_channels import NAMES, axis_names, signed_permutations
from iparam.estimation.causes.hypotheses.sensor_mounting import direction_name
from iparam.estimation.estimate import Cause
from iparam.rounding import significant
from iparam.sensing.correction import Correction
from iparam.spatial.transforms import exp_so3, log_so3, rpy_from_rotation, skew

CLEAR = 10.0
"""Gain of Schwarz's criterion from which on a hypothesis is believed."""

ALIKE = 6.0
"""Difference of it up to which data do not tell two hypotheses apart."""

MOST = 2
"""Hypotheses that are told of the forces, and of the torques."""

EXPLAINED = 0.5
"""Share of the squares that a hypothesis must explain: an acceleration that nobody recorded looks a little like any."""

EXACT = 1e-3
"""Residual, as a share of the changes of the force or of the torque, that no sensor is believed to go below."""

SHARED = 0.05
"""Correlation in time below which residuals count as independent."""

ITERATIONS = 15
"""Of Gauss and Newton."""

CONVERGED = 1e-9
"""Relative gain of an iteration below which it is the last one."""

STARTS = 3
"""Of the 24 rotations that exchange axes, from where the best one is sought."""

OFFSETS = 12
"""Zeros of a joint from the best of which the offset that fits best is sought."""

SAME = 1.0 + 1e-6
"""Ratio of squares up to which two joints fit alike."""

SMALL = 1e-4
"""Turn over which a slope is taken [rad]."""

CHANGES = 60
"""Times at which a change of the load is looked for."""

LEAST_GAIN = 0.05
"""Gain of a channel below which it can not be put right by a factor."""

LEAST_TURN = 0.02
"""Change of the weight's direction, a standard deviation, below which it tells nothing [rad]."""

ALL_AROUND = 0.03
"""Variance of the weight's direction along the axis that it changes least along, in that of the most, from which on
the data tell crosstalk; turns about one axis do not."""

MATERIAL = 0.05
"""Change of the load, as a share of its mass or of the distance of its centre, from which on it is refuted."""

SHORTEST = 0.02
"""Distance that the centre of mass is at least taken to have, where its moves are compared with it [m]."""

UNEXPLAINED = 0.5
"""Share of the changes of the force between poses from which on the weight does not follow the orientation at all."""

LONGEST_LEVER = 3.0
"""Distance of a centre of mass from the sensor that is believed [m]."""

_CALIBRATE = "Calibrate the sensor with known loads (iparam calibrate sensor)."
_GAINS = np.array([np.diag([2.0, -1.0, -1.0]), np.diag([0.0, 1.0, -1.0])])  # of no common factor
_ANY = np.array([*_GAINS, *(np.outer(a, b) for a in np.eye(3) for b in np.eye(3) if a @ b == 0.0)])


@dataclass(frozen=True, eq=False)
class Weighing:
    """Wrenches of a load that hangs on a sensor, which turns slowly or not at all.

    Attributes:
        up: (N, 3) minus gravity in the sensor's axes [m/s^2].
        wrench: (N, 6) means [N, N m].
        rotation: (N, 3, 3) of the sensor in the world, or in the base.
        gravity: (3,) in the world [m/s^2].
        turning: (N, 6, 10) regressors of what turning takes; None at rest.
        time: (N,) of the means [s]; None for poses, which are no neighbours of each other.
        bias: whether the sensor may have one.
        of_tool: whether the orientation is that of an arm's tool, in whose axes the load is wanted; else the load is in
            those of the sensor.
        joint_axes: (N, 3, n) that the joints of that arm turn about, in the base; zeros for those that do not turn.
    """

    up: FloatArray
    wrench: FloatArray
    rotation: FloatArray
    gravity: FloatArray
    turning: FloatArray | None = None
    time: FloatArray | None = None
    bias: bool = True
    of_tool: bool = False
    joint_axes: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class WeightCauses:
    """What would explain a weighing better than the load alone.

    Attributes:
        causes: best first.
        loads: (K, 4) mass and centre of mass by the best of them [kg, m].
        reason: what is against the load whatever its intervals; "" for nothing.
    """

    causes: tuple[Cause, ...]
    loads: FloatArray
    reason: str

    def moves(self, mass: float, center: FloatArray) -> FloatArray:
        """(K, 4) by how much these move a mass and a centre of mass (3,) [kg, m]."""
        return np.asarray(self.loads - np.array([mass, *center]))

    def share(self, mass: float, center: FloatArray, half_widths: FloatArray) -> float:
        """The largest move that 95 % intervals do not cover, as a share of the mass or of the centre's distance.

        Args:
            mass: [kg].
            center: (3,) centre of mass [m]; NaN where it is not known.
            half_widths: (4,) of the intervals of both.
        """
        distance = max(float(np.linalg.norm(np.nan_to_num(center))), SHORTEST)
        scales = np.array([abs(mass), distance, distance, distance])
        moves = np.abs(self.moves(mass, center))
        return float(np.where(moves > half_widths, moves / scales, 0.0).max(initial=0.0))

    def refuted(self, share: float) -> str:
        """Why a load that these move by a share is refuted; "" if it is not."""
        if self.reason or not share > MATERIAL:
            return self.reason
        return (
            "The weight does not follow the orientation as it should, and what would explain it better "
            f"({self.causes[0].cause}) moves the load by {100 * share:.0f} % ({100 * MATERIAL:g} % is allowed)."
        )


@dataclass(frozen=True, eq=False)
class _Fit:
    """Forces, or torques, seen through a hypothesis: its squares per number and what is left (N, 3)."""

    unknowns: FloatArray
    residual: FloatArray

    @property
    def squares(self) -> float:
        return float(np.sum(self.residual**2))


@dataclass(frozen=True, eq=False)
class _Reading:
    """A hypothesis fitted.

    Attributes:
        cause, finding, options: as in `Explanation`; options may be advice of its own.
        fit: of the force, or of the torque.
        parameters: that it has beside load and bias.
        load: (4,) mass and centre of mass, if it is right [kg, m].
        wrench: (N, 6) put right, where forces and torques fit together differently then; None for as it is.
    """

    cause: str
    finding: str
    options: str
    advice: str
    fit: _Fit
    parameters: float
    load: FloatArray
    wrench: FloatArray | None = None

    def told(self, plain: _Fit, unit: str) -> Cause:
        """For the reader of a result, beside the fit without it."""
        before, after = _rms(plain.residual), _rms(self.fit.residual)
        text = f"{self.finding} takes the residual from {significant(before, 3)} to {significant(after, 3)} {unit}"
        text += f": add {self.options}." if self.options else "."
        return Cause(self.cause, f"{text}{' ' * bool(self.advice)}{self.advice}", before, after, self.options)


def weight_causes(data: Weighing) -> WeightCauses:
    """Compare what forces and torques show with all that a turned, tilted, exchanged or uneven sensor would show."""
    if not np.sqrt(np.sum(np.var(data.up, axis=0))) > LEAST_TURN * np.linalg.norm(data.gravity):
        return WeightCauses((), np.zeros((0, 4)), "")
    base = _force_fit(data, np.eye(3))
    center = _center(data, data.wrench)
    here = np.array([base.unknowns[0], *center.unknowns[:3]])
    told: list[Cause] = []
    loads: list[FloatArray] = []
    readings = _compared(data, base, list(_of_forces(data, here)), data.wrench[:, :3])
    told += [one.told(base, "N") for one in readings]
    loads += [one.load for one in readings]
    if readings and readings[0].wrench is not None:  # what is wrong with the forces shows in the torques, too
        data = dataclasses.replace(data, wrench=readings[0].wrench)
        center = _center(data, data.wrench)
    there = np.array([readings[0].load[0] if readings else here[0], *center.unknowns[:3]])
    readings = _compared(data, center, list(_of_torques(data, there)), data.wrench[:, 3:])
    told += [one.told(center, "N m") for one in readings]
    loads += [one.load for one in readings]
    reason = ""
    changes = data.wrench[:, :3] - (data.wrench[:, :3].mean(axis=0) if data.bias else 0.0)
    left = base.squares / max(float(np.sum(changes**2)), 1e-300)
    if data.time is None and not told and left > UNEXPLAINED:
        reason = (
            f"The weight, turned as the orientation says, leaves {100 * left:.0f} % of the changes of the force "
            f"unexplained ({100 * UNEXPLAINED:.0f} % is allowed): is it the orientation of this sensor, at these rows?"
        )
    lever = float(np.linalg.norm(here[1:]))
    if lever > LONGEST_LEVER:
        reason = (
            f"The centre of mass would be {significant(lever, 3)} m from the sensor ({LONGEST_LEVER:g} m is allowed)."
        )
        rms = _rms(base.residual)
        options = Correction(wrench_scale=(1.0, 1.0, 1.0, 1e-3, 1e-3, 1e-3)).options
        said = f"Torques in N mm would make it {significant(lever, 3)} mm: add {options}."
        told.insert(0, Cause("units", said, rms, rms, options))
    return WeightCauses(tuple(told), np.array(loads).reshape(-1, 4), reason)


def _compared(data: Weighing, plain: _Fit, readings: list[_Reading], shown: FloatArray) -> list[_Reading]:
    """Those that explain clearly more than none of them, best first, with one that is as good; by Schwarz's criterion
    in as many samples as are independent of each other.

    Args:
        data: the weighing.
        plain: the fit without any of them.
        readings: of the hypotheses.
        shown: (N, 3) what is to be explained.
    """
    readings = [one for one in readings if one.fit.squares < (1.0 - EXPLAINED) * plain.squares and one.load[0] > 0.0]
    if not readings:
        return []
    best = min(readings, key=lambda one: one.fit.squares)
    count = best.fit.residual.size / (1.0 if data.time is None else _correlation(best.fit.residual))
    least = EXACT**2 * float(np.mean(np.var(shown, axis=0))) * best.fit.residual.size

    def criterion(fit: _Fit, parameters: float) -> float:
        # Of few poses, what is left per number that is left over: each unknown takes one of them along.
        free = max(count - plain.unknowns.size - 3 * data.bias - parameters, 1.0)
        return float(free * np.log(max(fit.squares, least) / free) + parameters * np.log(count))

    none = criterion(plain, 0.0)
    gains = sorted(((none - criterion(one.fit, one.parameters), k) for k, one in enumerate(readings)), reverse=True)
    if gains[0][0] <= CLEAR:
        return []
    return [readings[k] for gain, k in gains[:MOST] if gain > max(CLEAR, gains[0][0] - ALIKE)]


def _of_forces(data: Weighing, here: FloatArray) -> Iterator[_Reading]:
    """How else the force could follow the weight."""
    rotations = [turn for turn in signed_permutations() if np.linalg.det(turn) > 0.0]
    rotations.sort(key=lambda turn: _squares_of_load(data, turn))
    starts = [np.eye(3), *rotations[:STARTS]]
    turn, fit = min((_optimised(data, start, None) for start in starts), key=lambda pair: pair[1].squares)
    vector = log_so3(turn.T)
    angle = float(np.linalg.norm(vector))
    if angle > 0.0:
        rpy = tuple(round(float(value), 2) + 0.0 for value in np.degrees(rpy_from_rotation(turn.T)))
        yield _Reading(
            "sensor-rotation",
            f"Turning the sensor by {np.degrees(angle):.2f} deg about {direction_name(vector / angle)}",
            Correction(sensor_rotation=rpy).options,
            "" if data.of_tool else "The load is then in the axes of the recorded orientation.",
            fit,
            3,
            np.array([fit.unknowns[0], *(turn.T @ here[1:] if data.of_tool else here[1:])]),
        )
    mirrored = [turn for turn in signed_permutations() if np.linalg.det(turn) < 0.0 and abs(np.trace(turn)) < 3.0]
    found = min(mirrored, key=lambda turn: _squares_of_load(data, turn))
    axes = axis_names(found.T)
    both = data.wrench @ np.kron(np.eye(2), found)
    alone = data.wrench @ np.block([[found, np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3)]])
    fit = _force_fit(data, found)
    one_sign = bool((np.abs(found) == np.eye(3)).all())
    if one_sign and _center(data, alone).squares < _center(data, both).squares:
        reversed_ones = ", ".join(name for name, sign in zip(NAMES[:3], np.diag(found), strict=True) if sign < 0.0)
        options = Correction(wrench_scale=(*np.diag(found).tolist(), 1.0, 1.0, 1.0)).options
        finding, put_right = f"Reversing {reversed_ones}", alone
    else:
        options, put_right = Correction(wrench_axes=axes).options, both
        finding = f"Taking the sensor's axes {', '.join(axes)} for x, y, z"
    plain = bool((found >= 0.0).all())
    place = _center(data, put_right).unknowns[:3]
    cause = "axis-order" if plain else "left-handed"
    yield _Reading(cause, finding, options, "", fit, 1, np.array([fit.unknowns[0], *place]), put_right)
    tilted, fit = _tilted(data)
    strength = float(np.linalg.norm(data.gravity))
    down = -tilted * strength / max(float(np.linalg.norm(tilted)), 1e-300)
    angle = float(np.degrees(np.arccos(np.clip(down @ data.gravity / strength**2, -1.0, 1.0))))
    gravity = tuple(round(float(value), 3) + 0.0 for value in down)
    yield _Reading(
        "gravity-direction",
        f"A gravity that is tilted by {angle:.2f} deg",
        Correction(gravity=gravity).options,
        "",
        fit,
        2,
        np.array([float(np.linalg.norm(tilted)) / strength, *here[1:]]),
    )
    gains, fit = _optimised(data, np.eye(3), _GAINS)
    middle = float(np.median(np.abs(np.diag(gains))))
    scale = np.diag(gains) / max(middle, 1e-12)
    if (np.abs(scale) > LEAST_GAIN).all():
        listed = ", ".join(f"{name} {gain:.3f}" for name, gain in zip(NAMES[:3], scale, strict=True))
        factors = tuple(float(f"{1.0 / gain:.4g}") for gain in scale)
        put_right = data.wrench / np.array([*scale, 1.0, 1.0, 1.0])
        place = _center(data, put_right).unknowns[:3]
        options = Correction(wrench_scale=(*factors, 1.0, 1.0, 1.0)).options
        load = np.array([middle * fit.unknowns[0], *place])
        yield _Reading("sensor-gain", f"Gains of {listed}, in their median,", options, "", fit, 2, load, put_right)
    turned = np.einsum("nij,nkj->nki", data.rotation.transpose(0, 2, 1), data.wrench.reshape(-1, 2, 3))
    inside = dataclasses.replace(data, wrench=turned.reshape(-1, 6))
    fit, place = _force_fit(inside, np.eye(3)), _center(inside, inside.wrench).unknowns[:3]
    advice = "" if data.of_tool else "Turn it into the sensor's axes, whose orientation is in the file."
    options = Correction(wrench_frame="base").options if data.of_tool else ""
    finding = f"A wrench in the axes of the {'base' if data.of_tool else 'world'}"
    load = np.array([fit.unknowns[0], *place])
    yield _Reading("base-axes", finding, options, advice, fit, 1, load, inside.wrench)
    yield from _offset_joint(data, here)
    yield from _changed(data, here)
    if not _all_around(data.up):
        return
    matrix, fit = _optimised(data, np.eye(3), _ANY)
    size = float(abs(np.linalg.det(matrix))) ** (1.0 / 3.0)
    load = np.array([fit.unknowns[0] * size, *here[1:]])
    yield _Reading("sensor-gain", "Crosstalk between the forces", "", _CALIBRATE, fit, 8, load)


def _offset_joint(data: Weighing, here: FloatArray) -> Iterator[_Reading]:
    """A joint that is counted from another zero; of the last one apart, which no pose tells from a turned sensor."""
    if data.joint_axes is None:
        return
    found: dict[bool, list[tuple[int, float, _Fit]]] = {False: [], True: []}
    for joint, axes in enumerate(np.moveaxis(data.joint_axes, 2, 0)):
        in_tool = np.einsum("nji,nj->ni", data.rotation, axes)
        if axes.any():
            as_sensor = bool(np.sqrt(np.sum(np.var(in_tool, axis=0))) < LEAST_TURN)
            found[as_sensor].append((joint, *_best_offset(data, axes)))
    for as_sensor, tried in found.items():
        if not tried:
            continue
        joint, angle, fit = min(tried, key=lambda entry: entry[2].squares)
        added = np.where(np.arange(data.joint_axes.shape[2]) == joint, round(float(np.degrees(angle)), 2), 0.0)
        options = Correction(joint_offset=tuple(added.tolist())).options
        same = [str(other) for other, _, one in tried if other != joint and one.squares < SAME * fit.squares]
        alike = f"Of joint {' or '.join(same)} it would look the same: their axes are parallel." if same else ""
        advice = "No pose tells it from a turned sensor." if as_sensor else alike
        finding = f"Adding {np.degrees(angle):.2f} deg to joint {joint} (from 0)"
        # Which of the joints is one more thing that the data decide; a turned sensor has three.
        load = np.array([fit.unknowns[0], *here[1:]])
        yield _Reading("joint-offset", finding, options, advice, fit, 3 if as_sensor else 2, load)


def _best_offset(data: Weighing, axes: FloatArray) -> tuple[float, _Fit]:
    """The angle that added to a joint, whose axes (N, 3) in the base these are, explains the forces best [rad]."""

    def turned(angle: float) -> Weighing:
        weight = np.einsum("nij,j->ni", exp_so3(-angle * axes), -data.gravity)
        return dataclasses.replace(data, up=np.einsum("nji,nj->ni", data.rotation, weight))

    def loaded(angle: float) -> _Fit:
        fit = _force_fit(turned(angle), np.eye(3))
        return fit if fit.unknowns[0] > 0.0 else _Fit(fit.unknowns, np.full_like(fit.residual, np.inf))

    angle = min(np.linspace(-np.pi, np.pi, OFFSETS, endpoint=False).tolist(), key=lambda one: loaded(one).squares)
    fit = loaded(angle)
    for _ in range(ITERATIONS if np.isfinite(fit.squares) else 0):
        slope = (turned(angle + SMALL).up - turned(angle - SMALL).up) / (2.0 * SMALL)
        step = _force_fit(turned(angle), np.eye(3), fit.unknowns[0] * slope).unknowns[1]
        moved = loaded(angle + step)
        if not moved.squares < fit.squares:
            break
        before, angle, fit = fit.squares, angle + float(step), moved
        if before - fit.squares <= CONVERGED * before:
            break
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi), fit


def _changed(data: Weighing, here: FloatArray) -> Iterator[_Reading]:
    """Another load from some time on."""
    if data.time is None or len(data.time) < CHANGES:
        return
    fits = []
    for at in np.linspace(0.05, 0.95, CHANGES) * len(data.time):
        later = data.up * (np.arange(len(data.up)) >= int(at))[:, None]
        fits.append((_force_fit(data, np.eye(3), later), int(at)))
    fit, at = min(fits, key=lambda pair: pair[0].squares)
    when, first, second = float(data.time[at]), fit.unknowns[0], fit.unknowns[0] + fit.unknowns[1]
    start, stop = float(data.time[0]), float(data.time[-1])
    longer = when - start > stop - when
    rest = (when, stop + 1.0) if longer else (start - 1.0, when)
    options = Correction(exclude=((round(rest[0], 2), round(rest[1], 2)),)).options
    finding = (
        f"A load that changes at {when:.2f} s, its mass from {significant(first, 4)} to {significant(second, 4)} kg,"
    )
    yield _Reading("load-changed", finding, options, "", fit, 2, np.array([first if longer else second, *here[1:]]))


def _of_torques(data: Weighing, here: FloatArray) -> Iterator[_Reading]:
    """How else the torques could follow the forces."""
    for channel in range(3):
        scale = np.ones(6)
        gain, fit = _torque_gain(data, channel)
        if abs(gain) < LEAST_GAIN:
            continue
        scale[3 + channel] = float(f"{1.0 / gain:.4g}")
        load = np.array([here[0], *_center(data, data.wrench * scale).unknowns[:3]])
        finding = f"A gain of {gain:.3f} of {NAMES[3 + channel]}"
        yield _Reading("sensor-gain", finding, Correction(wrench_scale=tuple(scale)).options, "", fit, 2, load)
    swapped = [turn for turn in signed_permutations() if abs(np.trace(turn)) < 3.0]

    def with_torques(turn: FloatArray) -> FloatArray:
        return np.hstack([data.wrench[:, :3], data.wrench[:, 3:] @ turn])

    best = min(swapped, key=lambda turn: _center(data, with_torques(turn)).squares)
    fit = _center(data, with_torques(best))
    finding = f"Taking the torques about {', '.join(axis_names(best.T))} for those about x, y, z"
    advice = "Name the columns as they are (--map)."
    yield _Reading("axis-order", finding, "", advice, fit, 1, np.array([here[0], *fit.unknowns[:3]]))
    force, torque = data.wrench[:, :3], data.wrench[:, 3:]
    if not _all_around(force):
        return
    columns = np.einsum("ni,ab->nabi", force, np.eye(3)).reshape(len(force), 3, 9)
    fit = _solved(data, columns, torque, slice(3, 6))
    matrix = fit.unknowns[:9].reshape(3, 3)
    place = 0.5 * np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    yield _Reading("sensor-gain", "Crosstalk of the torques", "", _CALIBRATE, fit, 6, np.array([here[0], *place]))


def _torque_gain(data: Weighing, channel: int) -> tuple[float, _Fit]:
    """The gain of one torque that fits the forces best."""
    force, torque = data.wrench[:, :3], data.wrench[:, 3:]
    gain, columns = 1.0, -skew(force)
    fit = _solved(data, columns, torque, slice(3, 6))
    for _ in range(ITERATIONS):
        scaled = columns.copy()
        scaled[:, channel] *= gain
        slope = np.zeros((len(force), 3, 1))
        slope[:, channel, 0] = columns[:, channel] @ fit.unknowns[:3]
        step = _solved(data, np.concatenate([scaled, slope], axis=2), torque, slice(3, 6))
        gain += float(step.unknowns[3])
        scaled = columns.copy()
        scaled[:, channel] *= gain
        before, fit = fit.squares, _solved(data, scaled, torque, slice(3, 6))
        if abs(before - fit.squares) <= CONVERGED * before:
            break
    return gain, fit


def _center(data: Weighing, wrench: FloatArray) -> _Fit:
    """The centre of mass by torque against measured force."""
    return _solved(data, -skew(wrench[:, :3]), wrench[:, 3:], slice(3, 6))


def _force_fit(data: Weighing, matrix: FloatArray, further: FloatArray | None = None) -> _Fit:
    """Mass, and what turning takes, seen through a matrix (3, 3); further columns (N, 3) beside it."""
    columns = [(data.up @ matrix.T)[:, :, None]]
    if further is not None:
        columns.append(further[:, :, None])
    return _solved(data, np.concatenate(columns, axis=2), data.wrench[:, :3], slice(3), matrix)


def _squares_of_load(data: Weighing, matrix: FloatArray) -> float:
    """What a load, which has no negative mass, leaves through a matrix (3, 3)."""
    fit = _force_fit(data, matrix)
    return fit.squares if fit.unknowns[0] > 0.0 else np.inf


def _optimised(data: Weighing, start: FloatArray, entries: FloatArray | None) -> tuple[FloatArray, _Fit]:
    """The best matrix: a rotation near ``start``, or ``start`` and a mixture of entries (k, 3, 3)."""
    matrix, fit = start, _force_fit(data, start)
    for _ in range(ITERATIONS):
        basis = matrix @ skew(np.eye(3)) if entries is None else entries
        load = data.up * fit.unknowns[0] + _turned_part(data, fit)
        slopes = np.einsum("kij,nj->nik", basis, load)
        columns = np.concatenate([(data.up @ matrix.T)[:, :, None], slopes], axis=2)
        step = _solved(data, columns, data.wrench[:, :3], slice(3), matrix).unknowns[1 : 1 + len(basis)]
        for halving in range(6):
            part = step * 0.5**halving
            moved = matrix @ exp_so3(part) if entries is None else matrix + np.tensordot(part, entries, axes=1)
            found = _force_fit(data, moved)
            if found.squares < fit.squares:
                break
        else:
            break
        before, matrix, fit = fit.squares, moved, found
        if before - fit.squares <= CONVERGED * before:
            break
    return matrix, fit


def _tilted(data: Weighing) -> tuple[FloatArray, _Fit]:
    """The weight (3,) in the world that holds with the orientation as it is [N], upwards."""
    columns = data.rotation.transpose(0, 2, 1)
    fit = _solved(data, columns, data.wrench[:, :3], slice(3))
    return fit.unknowns[:3], fit


def _turned_part(data: Weighing, fit: _Fit) -> FloatArray:
    """(N, 3) what turning takes of the force, before any matrix [N]; the lever is last of the unknowns."""
    if data.turning is None:
        return np.zeros_like(data.up)
    return np.asarray(data.turning[:, :3, 1:4] @ fit.unknowns[-3:])


def _solved(
    data: Weighing, columns: FloatArray, measured: FloatArray, rows: slice, matrix: FloatArray | None = None
) -> _Fit:
    """Least squares with columns (N, 3, k), what turning takes, and a constant a channel."""
    if data.turning is not None:
        turning = data.turning[:, rows, 1:4] if rows.start is None else data.turning[:, rows, 4:]
        if matrix is not None:
            turning = matrix @ turning
        columns = np.concatenate([columns, turning], axis=2)
    if data.bias:
        columns, measured = columns - columns.mean(axis=0), measured - measured.mean(axis=0)
    flat = columns.reshape(-1, columns.shape[2])
    size = np.sqrt(np.sum(flat**2, axis=0))
    size = np.where(size > 0.0, size, 1.0)
    unknowns = np.linalg.lstsq(flat / size, measured.ravel(), rcond=1e-6)[0] / size
    return _Fit(unknowns, measured - columns @ unknowns)


def _all_around(values: FloatArray) -> bool:
    """Whether vectors (N, 3) change in all directions, so that they tell a whole matrix."""
    spread = np.linalg.eigvalsh(np.cov(values.T))
    return bool(spread[0] > ALL_AROUND * spread[2])


def _correlation(residual: FloatArray) -> float:
    """By how much correlation in time raises the variance of a mean, in the worst channel."""
    found = 1.0
    for values in residual.T:
        power, total = float(values @ values), 1.0
        for lag in range(1, len(values) // 4):
            shared = float(values[lag:] @ values[:-lag]) / max(power, 1e-300)
            if shared < SHARED:
                break
            total += 2.0 * shared
        found = max(found, total)
    return found


def _rms(residual: FloatArray) -> float:
    return float(np.sqrt(np.sum(np.mean(residual**2, axis=0))))
