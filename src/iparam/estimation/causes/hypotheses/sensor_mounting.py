"""Hypotheses about where the sensor is: turned, further out, or with its wrench or a part of it in base axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypotheses.sensor_channels import signed_permutations
from iparam.estimation.causes.hypothesis import Explanation, Hypothesis, Model, deviations, fit_model, one_of, thinned
from iparam.rounding import NORMAL_95, significant
from iparam.sensing.correction import ESTIMATE, Correction, WrenchFrame
from iparam.sensing.wrench_source import Measures
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
    """The wrench is in the axes of the base, forces or torques alone, or turned as if it were; or it is a controller's,
    which turns it, may report the reaction and about a point ahead, and take a weight and an offset out of it.
    """

    slug = "base-axes"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        turned, still = run.path.rotation, np.broadcast_to(np.eye(3), run.path.rotation.shape)
        back = np.swapaxes(turned, 1, 2)
        alternatives: tuple[tuple[str, str, FloatArray, FloatArray, WrenchFrame], ...] = (
            (self.slug, "A wrench in the axes of the base", turned, turned, "base"),
            (self.slug, "A wrench in the axes of the tool, that was turned as if in the base's,", back, back, "tool"),
            (
                "mixed-frames",
                "Forces in the axes of the base, and torques in those of the tool,",
                turned,
                still,
                "forces-base",
            ),
            (
                "mixed-frames",
                "Torques in the axes of the base, and forces in those of the tool,",
                still,
                turned,
                "torques-base",
            ),
        )
        for cause, finding, force, torque, frame in alternatives:
            turns = in_two_parts(force, torque)
            fit = linear_fit(run, turns @ run.A, turns if run.bias else None)  # its bias turns with it, or does not
            correction = None if run.robot is None else Correction(wrench_frame=frame)
            yield Explanation(cause, finding, fit, 7 if run.bias else 1, correction)
        if run.robot is not None:
            yield from self._of_controller(run, in_two_parts(turned, turned))

    def _of_controller(self, run: ExaminedRun, turns: FloatArray) -> Iterator[Explanation]:
        """As UR's actual_TCP_force, and its like."""
        other: Measures = "action" if run.run.measures == "reaction" else "reaction"
        weight = turns @ run.of_gravity[:, :, 1:4]
        columns = np.concatenate([turns, weight], axis=2) if run.bias else weight
        for sign in (1.0, -1.0):
            measures = None if sign > 0.0 else other
            told = "" if measures is None else f", as {other} and not {run.run.measures},"
            fit = linear_fit(run, sign * turns @ (run.A - run.of_gravity), columns)
            finding = f"A controller's wrench in the axes of the base{told} with a weight and an offset taken out,"
            correction = Correction(wrench_frame="tcp", measures=measures)
            yield Explanation("tcp-force", finding, fit, columns.shape[2] + 1, correction)
            state, fit = fit_model(run, AboutPoint(sign), [np.zeros(3)])
            shown = ", ".join(f"{1e3 * value:.0f}" for value in state)
            finding = f"A controller's wrench in the axes of the base{told} about ({shown}) mm in the tool frame"
            place = tuple(round(float(value), 5) + 0.0 for value in state)
            correction = Correction(wrench_frame="base", measures=measures, sensor_offset=place)
            setting = {**correction.fix, "sensor_offset": ESTIMATE}
            yield Explanation("tcp-force", finding, fit, 10, correction, setting=setting)


class AboutPoint(Model):
    """A wrench in base axes, of one sign or the other, about the point of the tool that the state (3,) is [m]; its bias
    turns with the tool, or does not.
    """

    def __init__(self, sign: float) -> None:
        self._sign = sign

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        moved = np.eye(6)
        moved[3:, :3] = -skew(state)
        return np.asarray(self._sign * in_two_parts(run.path.rotation, run.path.rotation) @ (moved @ run.A))

    def beside(self, run: ExaminedRun, state: FloatArray) -> FloatArray | None:
        """See `Model.beside`."""
        return in_two_parts(run.path.rotation, run.path.rotation) if run.bias else None

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        force = run.A[:, :3] @ phi
        by_place = np.concatenate([np.zeros((len(force), 3, 3)), self._sign * skew(force)], axis=1)
        return np.asarray(in_two_parts(run.path.rotation, run.path.rotation) @ by_place)


def in_two_parts(force: FloatArray, torque: FloatArray) -> FloatArray:
    """(N, 6, 6) that turn forces and torques each by its own (N, 3, 3)."""
    turns = np.zeros((len(force), 6, 6))
    turns[:, :3, :3], turns[:, 3:, 3:] = force, torque
    return turns


def direction_name(axis: FloatArray) -> str:
    """An axis by name, if it nearly is one."""
    nearest = int(np.argmax(np.abs(axis)))
    if abs(axis[nearest]) > 0.995:
        return ("-" if axis[nearest] < 0.0 else "") + "xyz"[nearest]
    return f"({', '.join(f'{value:.2f}' for value in axis)})"
