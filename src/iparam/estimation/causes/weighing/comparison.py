"""`weight_causes`: what is wrong with data that show a weight and no more: poses at rest, or a motion whose
acceleration nobody recorded.

Forces tell how the weight turns in the sensor, f = K u + bias with u = -g in its axes: K is m times the identity if all
is right, m times a rotation if the sensor is turned, and so on. Torques tell where the weight is, n = c x f + constant,
with the measured force, whatever K is. Both are compared with what any linear sensor could show.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.weighing.data import Weighing
from iparam.estimation.causes.weighing.fits import WeightFit, center_fit, force_fit
from iparam.estimation.causes.weighing.readings import LEAST_TURN, Reading, of_forces, of_torques
from iparam.estimation.estimate import Cause
from iparam.rounding import significant
from iparam.sensing.correction import Correction

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

MATERIAL = 0.05
"""Change of the load, as a share of its mass or of the distance of its centre, from which on it is refuted."""

SHORTEST = 0.02
"""Distance that the centre of mass is at least taken to have, where its moves are compared with it [m]."""

UNEXPLAINED = 0.5
"""Share of the changes of the force between poses from which on the weight does not follow the orientation at all."""

LONGEST_LEVER = 3.0
"""Distance of a centre of mass from the sensor that is believed [m]."""


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


def weight_causes(data: Weighing) -> WeightCauses:
    """Compare what forces and torques show with all that a turned, tilted, exchanged or uneven sensor would show."""
    if not np.sqrt(np.sum(np.var(data.up, axis=0))) > LEAST_TURN * np.linalg.norm(data.gravity):
        return WeightCauses((), np.zeros((0, 4)), "")
    base = force_fit(data, np.eye(3))
    center = center_fit(data, data.wrench)
    here = np.array([base.unknowns[0], *center.unknowns[:3]])
    told: list[Cause] = []
    loads: list[FloatArray] = []
    readings = _compared(data, base, list(of_forces(data, here)), data.wrench[:, :3])
    told += [one.told(base, "N") for one in readings]
    loads += [one.load for one in readings]
    if readings and readings[0].wrench is not None:  # what is wrong with the forces shows in the torques, too
        data = dataclasses.replace(data, wrench=readings[0].wrench)
        center = center_fit(data, data.wrench)
    there = np.array([readings[0].load[0] if readings else here[0], *center.unknowns[:3]])
    readings = _compared(data, center, list(of_torques(data, there)), data.wrench[:, 3:])
    told += [one.told(center, "N m") for one in readings]
    loads += [one.load for one in readings]
    reason = ""
    changes = data.wrench[:, :3] - (data.wrench[:, :3].mean(axis=0) if data.bias else 0.0)
    unexplained = base.squares / max(float(np.sum(changes**2)), 1e-300)
    if data.time is None and not told and unexplained > UNEXPLAINED:
        reason = (
            f"The weight, turned as the orientation says, leaves {100 * unexplained:.0f} % of the changes of the force "
            f"unexplained ({100 * UNEXPLAINED:.0f} % is allowed): is it the orientation of this sensor, at these rows?"
        )
    lever = float(np.linalg.norm(here[1:]))
    if lever > LONGEST_LEVER:
        reason = (
            f"The centre of mass would be {significant(lever, 3)} m from the sensor ({LONGEST_LEVER:g} m is allowed)."
        )
        rms = base.rms
        fix = Correction(wrench_scale=(1.0, 1.0, 1.0, 1e-3, 1e-3, 1e-3)).fix
        said = f"Torques in N mm would make it {significant(lever, 3)} mm."
        told.insert(0, Cause("units", said, rms, rms, fix))
    return WeightCauses(tuple(told), np.array(loads).reshape(-1, 4), reason)


def _compared(data: Weighing, plain: WeightFit, readings: list[Reading], shown: FloatArray) -> list[Reading]:
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

    def criterion(fit: WeightFit, parameters: float) -> float:
        # Of few poses, what is left per number that is left over: each unknown takes one of them along.
        free = max(count - plain.unknowns.size - 3 * data.bias - parameters, 1.0)
        return float(free * np.log(max(fit.squares, least) / free) + parameters * np.log(count))

    none = criterion(plain, 0.0)
    gains = sorted(((none - criterion(one.fit, one.parameters), k) for k, one in enumerate(readings)), reverse=True)
    if gains[0][0] <= CLEAR:
        return []
    return [readings[k] for gain, k in gains[:MOST] if gain > max(CLEAR, gains[0][0] - ALIKE)]


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
