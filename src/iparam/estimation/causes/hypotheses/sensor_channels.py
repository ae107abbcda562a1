"""Hypotheses about the six channels of the sensor: their signs, units, order, gains and crosstalk, and dead ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations, product

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypothesis import (
    Explanation,
    Hypothesis,
    Model,
    deviations,
    fit_model,
    gauss_newton,
    one_of,
    thinned,
)
from iparam.estimation.causes.plausible_load import expected_load
from iparam.recording.channels import CHANNELS
from iparam.rounding import NORMAL_95, significant
from iparam.sensing.correction import Correction
from iparam.sensing.wrench_source import Measures

NAMES = CHANNELS["wrench"].columns

FORCE_UNITS = {"N": 1.0, "mN": 1e3, "kN": 1e-3, "daN": 0.1, "kgf": 0.10197162, "lbf": 0.22480894}
"""Numbers that a force of 1 N is in other units."""

TORQUE_UNITS = {
    "N m": 1.0,
    "N mm": 1e3,
    "N cm": 1e2,
    "kN m": 1e-3,
    "kgf m": 0.10197162,
    "kgf cm": 10.197162,
    "kgf mm": 101.97162,
    "lbf ft": 0.73756215,
    "lbf in": 8.8507458,
    "ozf in": 141.61193,
}
"""Numbers that a torque of 1 N m is in other units."""

PAIRS = (
    *(("N", torque) for torque in TORQUE_UNITS if torque != "N m"),
    *((force, "N m") for force in FORCE_UNITS if force != "N"),
    ("mN", "N mm"),
    ("kN", "kN m"),
    ("kgf", "kgf m"),
    ("kgf", "kgf cm"),
    ("kgf", "kgf mm"),
    ("lbf", "lbf ft"),
    ("lbf", "lbf in"),
)
"""Units that come together: one of the two is wrong, or both are of another system."""

NEAR = 0.02
"""Relative difference, up to which it is taken for one, between what the data show and a ratio of units."""

SURE = 3.0
"""Standard deviations by which a light load may show another ratio."""

FARTHEST = 0.2
"""Relative difference beyond which no ratio is taken for one of units."""

LIGHTEST = 0.002
"""Share of what an arm can carry below which a load does not speak for units that would make it one."""

MATRIX_ITERATIONS = 6
"""Of Gauss and Newton for a whole matrix, which is nearly linear."""

WELL_CONDITIONED = 1e4
"""Condition number of a sensor's matrix up to which it can be undone."""

SHOWN = 5.0
"""Changes of a channel, in its noise, that a load must make for a dead one to be told."""

LARGEST_GAIN = 2.0
"""Factor beyond which forces or torques as a whole are in other units, and not of another gain."""

BENT_ROUNDS = 2
"""Fits of a gain that changes with the reading, each with the readings of the one before."""

DEAD = 3.0
"""Changes of a channel, in its noise, below which it could be dead."""


class Mixing(Model):
    """A sensor that shows fixed mixtures of the components of the wrench: y = C(state) A phi + bias.

    Args:
        entries: (k, 6, 6) what each parameter adds to the identity.
    """

    def __init__(self, entries: FloatArray) -> None:
        self._entries = entries

    def matrix(self, state: FloatArray) -> FloatArray:
        """C (6, 6)."""
        return np.asarray(np.eye(6) + np.tensordot(state, self._entries, axes=1))

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return np.asarray(self.matrix(state) @ run.A)

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        return np.asarray(np.einsum("kij,nj->nik", self._entries, run.A @ phi))


def _entry(row: int, column: int) -> FloatArray:
    matrix = np.zeros((6, 6))
    matrix[row, column] = 1.0
    return matrix


_GAINS = np.array([_entry(channel, channel) for channel in range(6)])
_TORQUE = np.diag([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])


class WrenchSign(Hypothesis):
    """The sensor reports the opposite of what it was said to."""

    slug = "wrench-sign"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        fit = linear_fit(run, -run.A)
        other: Measures = "action" if run.run.measures == "reaction" else "reaction"
        finding = f"Reversing the wrench, for a load of {significant(fit.phi[0], 4)} kg,"
        yield Explanation(self.slug, finding, fit, 1, Correction(measures=other))


class PartSign(Hypothesis):
    """The force alone, or the torque alone, has the wrong sign."""

    def __init__(self, part: str) -> None:
        self._part = part
        self.slug = f"{part}-sign"  # type: ignore[misc]

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        sign = np.repeat([-1.0, 1.0] if self._part == "force" else [1.0, -1.0], 3)
        fit = linear_fit(run, sign[:, None] * run.A)
        correction = Correction(wrench_scale=tuple(sign))
        yield Explanation(self.slug, f"Reversing the {self._part} alone", fit, 1, correction)


class Axes(Hypothesis):
    """The axes of the sensor are in another order, some of them reversed; one channel has the wrong sign, or two of the
    forces or of the torques are exchanged; or the torque comes before the force.
    """

    slug = "axis-order"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        few = thinned(run)
        found = []
        for turn in signed_permutations():
            plain = bool((turn >= 0.0).all())
            if (np.linalg.det(turn) > 0.0 and not plain) or abs(np.trace(turn)) == 3.0:
                continue  # a rotation, and the axes as they are
            found.append((linear_fit(few, np.kron(np.eye(2), turn) @ few.A, possible=False).squares, turn))
        found.sort(key=lambda pair: pair[0])
        for _, turn in found[:4]:
            fit = linear_fit(run, np.kron(np.eye(2), turn) @ run.A)
            axes = axis_names(turn.T)
            plain = bool((turn >= 0.0).all())
            finding = f"Taking the sensor's axes {', '.join(axes)} for x, y, z"
            cause = self.slug if plain else "left-handed"
            yield Explanation(cause, finding, fit, 1, Correction(wrench_axes=axes))
        yield from self._of_one_part(run, few)
        exchanged = np.kron(np.array([[0.0, 1.0], [1.0, 0.0]]), np.eye(3))
        fit = linear_fit(run, exchanged @ run.A)
        advice = "Name the columns in the order they have."
        yield Explanation(
            self.slug, "Taking the torque for the force and the force for the torque", fit, 2, None, advice
        )

    def _of_one_part(self, run: ExaminedRun, few: ExaminedRun) -> Iterator[Explanation]:
        """One channel mirrored, or two exchanged, of the forces or of the torques alone."""
        turns = [turn for turn in signed_permutations() if np.linalg.det(turn) < 0.0 and np.trace(turn) == 1.0]
        pairs = [pair for turn in turns for pair in ((turn, np.eye(3)), (np.eye(3), turn))]
        found: list[tuple[float, int, FloatArray]] = []
        for force, torque in pairs:
            mixed = np.kron(np.diag([1.0, 0.0]), force) + np.kron(np.diag([0.0, 1.0]), torque)
            squares = linear_fit(few, mixed @ few.A, possible=False).squares
            found.append((squares, len(found), mixed))
        for _, at, mixed in sorted(found)[:2]:
            force, torque = pairs[at]
            changed = [name for name, own in zip(NAMES, np.diag(mixed), strict=True) if own != 1.0]
            mirrored = bool((np.diag(mixed) != 0.0).all())
            finding = f"Reversing {changed[0]} alone" if mirrored else f"Exchanging {' and '.join(changed)}"
            if not mirrored and (mixed < 0.0).any():
                finding += ", both reversed,"
            correction = Correction(wrench_axes=axis_names(force) + axis_names(torque))
            fit = linear_fit(run, mixed @ run.A)
            cause = "channel-sign" if mirrored else "channel-order"
            yield Explanation(cause, finding, fit, one_of(len(pairs), run), correction)


def signed_permutations() -> Iterator[FloatArray]:
    """The 48 matrices (3, 3) that exchange and reverse axes."""
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        yield np.eye(3)[list(order)] * np.array(signs)[:, None]


def axis_names(turn: FloatArray) -> tuple[str, ...]:
    """Which axis, with its sign, each row of a signed permutation (3, 3) picks."""
    picked = np.argmax(np.abs(turn), axis=1)
    return tuple(("-" if turn[row, axis] < 0.0 else "") + "xyz"[axis] for row, axis in enumerate(picked))


class Units(Hypothesis):
    """Forces or torques are in other units than they were said to be: what their ratio and the load's mass show."""

    slug = "units"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        starts = [np.array([ratio - 1.0]) for ratio in (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3)]
        state, fit = fit_model(run, Mixing(_TORQUE[None]), starts)
        ratio, mass, largest = 1.0 + float(state[0]), float(fit.phi[0]), expected_load(run.robot)
        near = min(max(NEAR, SURE * float(deviations(fit)[0]) / max(abs(ratio), 1e-9)), FARTHEST)
        choices = []
        for force, torque in PAIRS:
            off = abs(np.log(max(ratio, 1e-9) * FORCE_UNITS[force] / TORQUE_UNITS[torque]))
            alike = TORQUE_UNITS[torque] == FORCE_UNITS[force]
            real = mass / FORCE_UNITS[force]
            if (
                off > near
                or real > largest
                or (force != "N" and real < LIGHTEST * largest)
                or (alike and mass <= largest)
            ):
                continue
            choices.append((off + (force != "N") * NEAR, force, torque))
        for _, force, torque in sorted(choices)[:1]:
            scale = np.repeat([1.0 / FORCE_UNITS[force], 1.0 / TORQUE_UNITS[torque]], 3)
            exact = linear_fit(run, (TORQUE_UNITS[torque] / FORCE_UNITS[force] * _TORQUE + np.eye(6) - _TORQUE) @ run.A)
            real = exact.phi[0] / FORCE_UNITS[force]
            finding = f"Forces in {force} and torques in {torque}, of a load of {significant(real, 4)} kg,"
            others = sorted({f"{one} and {two}" for _, one, two in choices if one != force}) if near > NEAR else []
            correction = None if others else Correction(wrench_scale=tuple(scale))
            advice = f"Or in {', or '.join(others)}: the load is too light to tell." if others else ""
            yield Explanation(self.slug, finding, exact, 1, correction, advice, scale=1.0 / FORCE_UNITS[force])


class SensorGain(Hypothesis):
    """A channel has another gain, or shows a part of another one: one of them, all gains, or all of the matrix."""

    slug = "sensor-gain"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        single = [_entry(row, column) for row in range(6) for column in range(6)]
        few = thinned(run)
        start = linear_fit(few, possible=False)
        tried = [
            linear_fit(few, columns=Mixing(entry[None]).slopes(few, np.zeros(1), start.phi), possible=False).squares
            for entry in single
        ]
        yield from self._of_parts(run)
        yield self._falling(run)
        yield self._bent(run, base)
        for best in np.argsort(tried)[:2]:
            row, column = divmod(int(best), 6)
            model = Mixing(single[best][None])
            state, fit = fit_model(run, model, [np.zeros(1)])
            half = NORMAL_95 * float(deviations(fit)[0])
            undone = np.linalg.inv(model.matrix(state)) if abs(1.0 + state[0]) > 1e-3 or row != column else None
            if undone is None:
                continue
            if row == column:
                finding = f"A gain of {1.0 + state[0]:.4f} +- {significant(half, 2)} (95 %) of {NAMES[row]}"
                correction, advice = Correction(wrench_scale=tuple(np.diag(undone))), ""
            else:
                unit = "" if (row < 3) == (column < 3) else " N m/N" if row > 2 else " N/(N m)"
                size = f"{state[0]:.4g} +- {significant(half, 2)} (95 %){unit}"
                finding = f"Crosstalk of {size} from {NAMES[column]} to {NAMES[row]}"
                correction, advice = None, "Calibrate the sensor with known loads (iparam calibrate sensor)."
            yield Explanation(self.slug, finding, fit, 2, correction, advice)
        model = Mixing(_GAINS)
        state, _ = fit_model(run, model, [np.zeros(6)])
        fit = linear_fit(run, model.regressors(run, state))  # with what was found: a common gain is the load's
        gains = 1.0 + state
        middle = float(np.median(np.abs(gains)))
        gains = gains / middle
        if (np.abs(gains) > 1e-3).all():
            listed = ", ".join(f"{name} {gain:.4g}" for name, gain in zip(NAMES, gains, strict=True))
            finding = f"Gains of the channels, in their median, of {listed},"
            correction = Correction(wrench_scale=tuple(1.0 / gains))
            factors = (1.0, float(np.abs(gains).min()), float(np.abs(gains).max()))
            setting = {"wrench_scale": "estimate"}  # their errors are the load's, too
            yield Explanation(self.slug, finding, fit, 5, correction, scale=middle, factors=factors, setting=setting)
        model = Mixing(np.array(single))
        state = gauss_newton(few, model, np.zeros(36), MATRIX_ITERATIONS)[0]
        fit = linear_fit(run, model.regressors(run, state))
        matrix = np.eye(6) + state.reshape(6, 6)
        middle = float(np.median(np.abs(np.diag(matrix))))
        matrix = matrix / middle
        advice = "Calibrate the sensor with known loads (iparam calibrate sensor)."  # nobody types 36 numbers
        yield Explanation(self.slug, "Crosstalk between all channels", fit, 35, None, advice, scale=middle)

    def _of_parts(self, run: ExaminedRun) -> Iterator[Explanation]:
        """A gain of all torques, or of all forces: the data show the ratio alone, and the load follows the forces."""
        state, fit = fit_model(run, Mixing(_TORQUE[None]), [np.zeros(1)])
        ratio, half = 1.0 + float(state[0]), NORMAL_95 * float(deviations(fit)[0])
        if not 1.0 / LARGEST_GAIN < ratio < LARGEST_GAIN:  # units, or a sign
            return
        both = (("torques", ratio, half, 1.0), ("forces", 1.0 / ratio, half / ratio**2, ratio))
        for part, gain, width, scale in both:
            finding = f"A gain of {gain:.4f} +- {significant(width, 2)} (95 %) of all {part}"
            factors = np.repeat([1.0, 1.0 / gain] if part == "torques" else [1.0 / gain, 1.0], 3)
            correction = Correction(wrench_scale=tuple(float(f"{factor:.6g}") for factor in factors))
            yield Explanation(self.slug, finding, fit, one_of(2, run), correction, scale=scale)

    def _falling(self, run: ExaminedRun) -> Explanation:
        """Gains that change steadily during the run, all alike, as of a sensor that warms up."""
        state, fit = fit_model(run, ChangingGain(run), [np.zeros(1)])
        half = 100.0 * NORMAL_95 * float(deviations(fit)[0])
        finding = (
            f"A gain of all channels that changes by {100.0 * state[0]:.3g} +- {significant(half, 2)} % (95 %) "
            "during the run"
        )
        advice = "Let the sensor warm up; or did the load lose or gain something all along?"
        return Explanation(self.slug, finding, fit, 2, None, advice)

    def _bent(self, run: ExaminedRun, base: Fit) -> Explanation:
        """Gains that change with what is shown, in all channels alike."""
        fit = base
        for _ in range(BENT_ROUNDS):
            shown = run.y - fit.residual
            if fit is not base:
                shown = shown - curved(shown) * fit.parameters[0]
            fit = linear_fit(run, columns=curved(shown)[:, :, None])
        half = 100.0 * NORMAL_95 * float(deviations(fit)[0])
        finding = (
            f"A gain of all channels that differs by {100.0 * float(fit.parameters[0]):.3g} +- "
            f"{significant(half, 2)} % (95 %) between no load and the largest of the run"
        )
        advice = "Is the sensor overloaded, or its characteristic not linear? Have it calibrated."
        return Explanation(self.slug, finding, fit, 2, None, advice)


def curved(shown: FloatArray) -> FloatArray:
    """(N, 6) what a gain that grows with the reading adds to readings (N, 6): their squares with their signs, in units
    of the largest force, and of the largest torque.
    """
    largest = np.repeat([np.abs(shown[:, :3]).max(), np.abs(shown[:, 3:]).max()], 3)
    return np.asarray(shown * np.abs(shown) / np.maximum(largest, 1e-12))


class ChangingGain(Model):
    """Gains that are right at the start of a run and differ by the share ``state`` (1,) at its end."""

    def __init__(self, run: ExaminedRun) -> None:
        self._start, self._span = float(run.time[0]), float(run.time[-1] - run.time[0])

    def _share(self, run: ExaminedRun) -> FloatArray:
        return np.asarray((run.time - self._start) / self._span)

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return np.asarray((1.0 + state[0] * self._share(run))[:, None, None] * run.A)

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        return np.asarray(self._share(run)[:, None, None] * (run.A @ phi)[:, :, None])


class DeadChannel(Hypothesis):
    """A channel shows nothing of the load."""

    slug = "channel-dead"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        dead = run.y.std(axis=0) < DEAD * run.noise
        if not dead.any() or dead.all():
            return
        for _ in range(2):
            fit = linear_fit(run, np.where(dead[:, None], 0.0, run.A))
            dead = dead & ((run.A @ fit.phi).std(axis=0) > SHOWN * run.noise)
            if not dead.any():
                return
        without = tuple(name for name, off in zip(NAMES, dead, strict=True) if off)
        verb = "shows" if len(without) == 1 else "show"
        finding = f"Leaving out {', '.join(without)}, which {verb} nothing of the load,"
        yield Explanation(self.slug, finding, fit, len(without), Correction(without=without))
