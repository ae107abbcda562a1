"""Hypotheses about where the sensor is: turned, further out, or with its wrench in the axes of the base."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypotheses.sensor_channels import signed_permutations
from iparam.estimation.causes.hypothesis import Explanation, Hypothesis, Model, deviations, fit_model, one_of, thinned
from iparam.rounding import NORMAL_95, significant
from iparam.sensing.correction import Correction
from iparam.spatial.transforms import exp_so3, log_so3, rpy_from_rotation, skew

MAINLY = 0.9
"""Share of a rotation, or of a displacement, from which on it may be about, or along, one axis alone."""

FAR = np.radians(40.0)
"""Rotation from which on it is not found again from none at all [rad]."""

STARTS = 3
"""Of the 24 rotations that exchange axes, from where the best one is sought."""


class Turned(Model):
    """A sensor whose axes in the tool frame are the state R (3, 3): it shows R' f and R' n."""

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return np.asarray(np.kron(np.eye(2), state.T) @ run.A)

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`; R changes to R exp(change), so that R' f changes by (R' f) x change."""
        shown = np.einsum("ij,nj->ni", np.kron(np.eye(2), state.T), run.A @ phi)
        return np.concatenate([skew(shown[:, :3]), skew(shown[:, 3:])], axis=1)

    def moved(self, state: FloatArray, change: FloatArray) -> FloatArray:
        """See `Model.moved`."""
        return np.asarray(state @ exp_so3(change))


class TurnedAbout(Model):
    """A sensor turned about one of its axes by the state (1,) [rad]."""

    def __init__(self, axis: int) -> None:
        self._axis, self._turned = np.eye(3)[axis], Turned()

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return self._turned.regressors(run, exp_so3(state[0] * self._axis))

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        slopes = self._turned.slopes(run, exp_so3(state[0] * self._axis), phi)
        return np.asarray((slopes @ self._axis)[:, :, None])


class Displaced(Model):
    """A sensor whose origin is at the state p (3,) in the tool frame: it shows n - p x f."""

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        matrix = np.eye(6)
        matrix[3:, :3] = -skew(state)
        return np.asarray(matrix @ run.A)

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`; -p x f is f x p."""
        force = run.A[:, :3] @ phi
        return np.concatenate([np.zeros((len(force), 3, 3)), skew(force)], axis=1)


class SensorRotation(Hypothesis):
    """The sensor is turned against the tool."""

    slug = "sensor-rotation"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        few, model = thinned(run), Turned()
        turns = [turn for turn in signed_permutations() if np.linalg.det(turn) > 0.0]
        tried = [linear_fit(few, model.regressors(few, turn), possible=False).squares for turn in turns]
        starts = [np.eye(3), *(turns[best] for best in np.argsort(tried)[:STARTS])]
        state, fit = fit_model(run, model, starts)
        vector = log_so3(state)
        angle, half = float(np.linalg.norm(vector)), NORMAL_95 * float(deviations(fit).max())
        if angle == 0.0:
            return
        finding = (
            f"Turning the sensor by {np.degrees(angle):.2f} +- {significant(float(np.degrees(half)), 2)} deg (95 %) "
            f"about {direction_name(vector / angle)}"
        )
        rotation = tuple(round(float(value), 3) + 0.0 for value in np.degrees(rpy_from_rotation(state)))
        near = "sensor_rotation" if angle < FAR else ""
        yield Explanation(self.slug, finding, fit, 3, Correction(sensor_rotation=rotation), estimable=near)
        axis = int(np.argmax(np.abs(vector)))
        if abs(vector[axis]) > MAINLY * angle:
            yield self._about(run, axis, float(vector[axis]))

    def _about(self, run: ExaminedRun, axis: int, start: float) -> Explanation:
        """About one of its axes alone."""
        state, fit = fit_model(run, TurnedAbout(axis), [np.array([start])])
        angle, half = float(np.degrees(state[0])), float(np.degrees(NORMAL_95 * deviations(fit)[0]))
        finding = f"Turning the sensor by {angle:.2f} +- {significant(half, 2)} deg (95 %) about {'xyz'[axis]}"
        turned = np.where(np.arange(3) == axis, round(angle, 3), 0.0)
        correction = Correction(sensor_rotation=tuple(float(one) for one in turned))
        near = "sensor_rotation" if abs(state[0]) < FAR else ""
        return Explanation(self.slug, finding, fit, one_of(3, run), correction, estimable=near)


class SensorOffset(Hypothesis):
    """The sensor's origin is not that of the tool."""

    slug = "sensor-offset"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        place, fit = fit_model(run, Displaced(), [np.zeros(3)])
        half = 1e3 * NORMAL_95 * float(deviations(fit).max())
        shown = ", ".join(f"{1e3 * value:.1f}" for value in place)
        finding = f"A sensor at ({shown}) +- {significant(half, 2)} mm (95 %) in the tool frame"
        offset = tuple(round(float(value), 5) + 0.0 for value in place)
        yield Explanation(self.slug, finding, fit, 3, Correction(sensor_offset=offset), estimable="sensor_offset")


class BaseAxes(Hypothesis):
    """The wrench is in the axes of the base; or in those of the tool, and was turned as if in those of the base."""

    slug = "base-axes"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        turns = np.zeros((len(run.time), 6, 6))
        turns[:, :3, :3] = turns[:, 3:, 3:] = run.path.rotation
        of_base, of_tool = Correction(wrench_frame="base"), Correction(wrench_frame="tool")
        taken = "A wrench in the axes of the tool, that was turned as if in the base's,"
        for finding, right in (("A wrench in the axes of the base", of_base), (taken, of_tool)):
            fit = linear_fit(run, turns @ run.A, turns if run.bias else None)  # its bias turns with it, or does not
            correction = None if run.robot is None else right
            yield Explanation(self.slug, finding, fit, 7 if run.bias else 1, correction)
            turns = np.swapaxes(turns, 1, 2)


def direction_name(axis: FloatArray) -> str:
    """An axis by name, if it nearly is one."""
    nearest = int(np.argmax(np.abs(axis)))
    if abs(axis[nearest]) > 0.995:
        return ("-" if axis[nearest] < 0.0 else "") + "xyz"[nearest]
    return f"({', '.join(f'{value:.2f}' for value in axis)})"
