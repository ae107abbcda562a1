"""Hypotheses about what pulls at the load: gravity from elsewhere, a weight that was taken out, a base that moves,
something else.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun, gravity_regressor
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypothesis import Explanation, Hypothesis, Model, deviations, fit_model, one_of
from iparam.regressor.wrench import body_regressor
from iparam.rounding import NORMAL_95, significant
from iparam.sensing.correction import Correction
from iparam.spatial.transforms import exp_so3, skew

NEAR = 0.75
"""Cosine of a tilt down to which it is found again from none at all."""

UNLOADED = 0.02
"""Share of the load's weight that may be left of one that was taken out as a whole."""


class TurnedGravity(Model):
    """Gravity of the same strength in another direction, the state (3,), in base axes."""

    def __init__(self, strength: float) -> None:
        self._strength = strength

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return np.asarray(run.A + gravity_regressor(run.path, state - run.gravity))

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`: by small turns about two axes that are perpendicular to it."""
        across = np.linalg.svd(state[None])[2][1:]
        return np.stack([gravity_regressor(run.path, np.cross(turn, state)) @ phi for turn in across], axis=2)

    def moved(self, state: FloatArray, change: FloatArray) -> FloatArray:
        """See `Model.moved`."""
        turned = exp_so3(change @ np.linalg.svd(state[None])[2][1:]) @ state
        return np.asarray(turned * self._strength / np.linalg.norm(turned))


class ScaledGravity(Model):
    """Gravity in the direction that it is said to have, ``state`` (1,) times as strong."""

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return np.asarray(run.A + (float(state[0]) - 1.0) * run.of_gravity)

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        return np.asarray((run.of_gravity @ phi)[:, :, None])


class GravityDirection(Hypothesis):
    """The base is tilted, or mounted on a wall or under a ceiling; or gravity has another size than was said."""

    slug = "gravity-direction"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        strength = float(np.linalg.norm(run.gravity))
        if strength == 0.0 or run.motion.linear_acceleration_minus_gravity is not None:
            return
        starts = [run.gravity, *(strength * sign * axis for axis in np.eye(3) for sign in (1.0, -1.0))]
        found, fit = fit_model(run, TurnedGravity(strength), starts)
        cosine = float(np.clip(found @ run.gravity / strength**2, -1.0, 1.0))
        half = float(np.degrees(NORMAL_95 * deviations(fit).max()))
        finding = (
            f"A gravity that is tilted by {np.degrees(np.arccos(cosine)):.2f} +- {significant(half, 2)} deg (95 %)"
        )
        correction = Correction(gravity=tuple(round(float(value), 4) + 0.0 for value in found))
        near = "gravity" if cosine > NEAR else ""
        yield Explanation(self.slug, finding, fit, 2, correction, estimable=near)
        yield from self._of_another_size(run, strength)

    def _of_another_size(self, run: ExaminedRun, strength: float) -> Iterable[Explanation]:
        """In the same direction: the same wrench as of a clock that is fast or slow, from another load."""
        state, fit = fit_model(run, ScaledGravity(), [np.array([share]) for share in (1.0, 0.3, 3.0)])
        share, half = float(state[0]), strength * NORMAL_95 * float(deviations(fit)[0])
        if share <= 0.0:
            return
        finding = f"A gravity of {strength * share:.4g} +- {significant(half, 2)} m/s^2 (95 %)"
        correction = Correction(gravity=tuple(float(f"{value:.6g}") + 0.0 for value in share * run.gravity))
        yield Explanation(self.slug, finding, fit, one_of(2, run), correction)


class WeightCompensated(Hypothesis):
    """The controller took the weight of a load out of the wrench: what is left of it is that of another load."""

    slug = "weight-compensated"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        if not run.gravity.any() or run.motion.linear_acceleration_minus_gravity is not None:
            return
        fit = linear_fit(run, columns=run.of_gravity[:, :, :4])
        taken, half = -float(fit.parameters[0]), NORMAL_95 * float(deviations(fit)[0])
        if taken < 0.0:
            return
        finding = (
            f"A weight of {significant(taken, 4)} +- {significant(half, 2)} kg (95 %) that was taken out of the wrench"
        )
        advice = "Or: set the payload of the controller to zero while recording."
        place = fit.parameters[1:] / max(taken, 1e-12)  # the centre of what was taken out, sign and all
        correction = Correction(external_force=_rounded(taken * -run.gravity, -place))
        nothing = linear_fit(run, run.A - run.of_gravity)
        if abs(taken - fit.phi[0]) < max(half, UNLOADED * fit.phi[0]):
            yield Explanation(self.slug, finding, nothing, 1, Correction(gravity=(0.0, 0.0, 0.0)), advice)
        yield Explanation(self.slug, finding, fit, 4, correction, advice, estimable="external_force")


class Pulled(Model):
    """A force F that is constant in base axes and acts at a point p of the tool: state (6,) of F [N] and p [m].

    With a spring (7,): F less k times the position of the tool [N/m]. What the arm has to exert is less by it.
    """

    def __init__(self, spring: bool) -> None:
        self._spring = spring

    def _force(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        force = run.path.in_tool(state[:3])
        if self._spring and run.path.position is not None:
            force = force - state[6] * _turned_back(run, run.path.position)
        return force

    def effect(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.effect`."""
        force = self._force(run, state)
        return -np.concatenate([force, np.cross(state[3:6], force)], axis=1)

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return run.A

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        force, lever = self._force(run, state), skew(state[3:6])
        units = [np.swapaxes(run.path.rotation, 1, 2)]
        if self._spring and run.path.position is not None:
            units.append(-_turned_back(run, run.path.position)[:, :, None])
        by_force = np.concatenate(units, axis=2)
        by_force = np.concatenate([by_force, lever @ by_force], axis=1)
        by_place = np.concatenate([np.zeros((len(force), 3, 3)), -skew(force)], axis=1)
        return -np.concatenate([by_force[:, :, :3], by_place, by_force[:, :, 3:]], axis=2)


def _turned_back(run: ExaminedRun, vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nji,nj->ni", run.path.rotation, vectors))


class ExternalForce(Hypothesis):
    """A cable, a hose or a balancer pulls at the load: constantly, or as a spring that is fixed in the room."""

    slug = "external-force"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        if run.motion.linear_acceleration_minus_gravity is not None and run.robot is None:
            return
        for spring in (False, True) if run.path.position is not None else (False,):
            state, fit = fit_model(run, Pulled(spring), [np.zeros(6 + spring)])
            force, half = state[:3], NORMAL_95 * float(deviations(fit)[:3].max())
            if spring and run.path.position is not None:
                force = force - state[6] * run.path.position.mean(axis=0)
            shown = ", ".join(f"{value:.2f}" for value in force)
            finding = f"A force of ({shown}) +- {significant(half, 2)} N (95 %) in base axes that pulls at the load"
            if spring:
                finding += f", as a spring of {significant(float(state[6]), 3)} N/m does,"
            shown = ", ".join(f"{1e3 * value:.0f}" for value in state[3:6])
            advice = f"It acts at ({shown}) mm in the tool frame: take off what pulls there."
            correction = None if spring else Correction(external_force=_rounded(force, state[3:6]))
            option = "" if spring else "external_force"
            yield Explanation(self.slug, finding, fit, 6 + spring, correction, advice, estimable=option)


def _rounded(force: FloatArray, place: FloatArray) -> tuple[float, ...]:
    """A force [N] and the point that it acts at [m], as one types them."""
    return tuple(round(float(value), 4) + 0.0 for value in (*force, *place))


FASTEST_BASE = 1.2
"""Fastest motion of a base that is looked for [Hz]: of vehicles and platforms."""

MOST_WAVES = 60
"""Waves of an axis that are fitted: of a run of 25 s. A longer one would take longer than it is worth."""

SLOWEST_VEHICLE, FASTEST_VEHICLE = 0.2, 5.0
"""Bounds of the root mean square acceleration of something that moves with an arm on it [m/s^2]: a floor has less, and
nothing that an arm is bolted to has more."""


class Carried(Model):
    """An arm whose base is accelerated: the state (3 K,) are factors of waves (N, K) of each axis, in base axes."""

    def __init__(self, run: ExaminedRun) -> None:
        self._start, self._span = float(run.time[0]), float(run.time[-1] - run.time[0])
        self.size = 3 * max(int(2.0 * self._span * FASTEST_BASE), 2)

    def _waves(self, run: ExaminedRun) -> FloatArray:
        share = (run.time - self._start) / self._span
        return np.cos(np.pi * np.outer(share, np.arange(1, self.size // 3 + 1)))

    def acceleration(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """(N, 3) of the base [m/s^2]."""
        return np.asarray(self._waves(run) @ state.reshape(-1, 3))

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        still = np.zeros((len(run.time), 3))
        felt = np.einsum("nji,nj->ni", run.path.rotation, self.acceleration(run, state))
        return np.asarray(run.A + body_regressor(still, still, felt))

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        pulls = np.stack([gravity_regressor(run.path, -axis) @ phi for axis in np.eye(3)], axis=2)
        waves = self._waves(run)
        return np.asarray((pulls[:, :, None, :] * waves[:, None, :, None]).reshape(len(waves), 6, -1))


class MovingBase(Hypothesis):
    """The arm stands on something that moves."""

    slug = "moving-base"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        if run.motion.linear_acceleration_minus_gravity is not None:
            return
        model = Carried(run)
        if not 10 * model.size < run.y.size or model.size > 3 * MOST_WAVES:
            return
        state, fit = fit_model(run, model, [np.zeros(model.size)])
        size = float(np.sqrt(np.mean(np.sum(model.acceleration(run, state) ** 2, axis=1))))
        if not SLOWEST_VEHICLE < size < FASTEST_VEHICLE:
            return
        finding = f"A base that is accelerated by {significant(size, 2)} m/s^2 in the root mean square"
        advice = "Let it stand still while recording, or record the acceleration of the tool."
        yield Explanation(self.slug, finding, fit, model.size, None, advice)
