"""The hypothesis that a joint's angle stood still in the recording while the joint moved."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun, path_of
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypothesis import Explanation, Hypothesis, Model, gauss_newton, thinned
from iparam.regressor.wrench import wrench_regressor_derivatives
from iparam.robot.model import Robot
from iparam.sensing.correction import Correction
from iparam.sensing.held_samples import frozen_stretches

MARGIN = 0.2
"""Before and after, in which the smoothed motion is wrong, too [s]."""

WHOLE = 0.6
"""Share of the run from which on the angle is sought in the wrench instead of leaving the time out."""

KNOT = 0.4
"""Time between the knots of the curve that is sought [s]."""

ITERATIONS = 25


class Moved(Model):
    """A joint that moved along a curve: the state (k,) are the factors of its cubic B-splines [rad]."""

    def __init__(self, robot: Robot, joint: int, run: ExaminedRun) -> None:
        from scipy.interpolate import BSpline

        self._robot, self._joint = robot, joint
        first, last = float(run.time[0]), float(run.time[-1])
        knots = np.linspace(first, last, max(int((last - first) / KNOT), 2) + 1)
        whole = np.concatenate([[first] * 3, knots, [last] * 3])
        self.size = whole.size - 4
        self._curve = BSpline(whole, np.eye(self.size), 3)

    def _shapes(self, run: ExaminedRun) -> list[FloatArray]:
        """(N, k) of the curve, and of its first and second derivatives."""
        return [np.asarray(self._curve(run.time, order)) for order in range(3)]

    def _motion(self, run: ExaminedRun, state: FloatArray) -> list[FloatArray]:
        moved = []
        for values, shape in zip((run.motion.q, run.motion.dq, run.motion.ddq), self._shapes(run), strict=True):
            whole = values.copy()
            whole[:, self._joint] += shape @ state
            moved.append(whole)
        return moved

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return run.of_path(path_of(self._robot, *self._motion(run, state)))

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        q, dq, ddq = self._motion(run, state)
        found = wrench_regressor_derivatives(self._robot, q, dq, ddq, run.gravity)
        parts = (found.by_q, found.by_dq, found.by_ddq)
        slopes = [
            (part[:, self._joint] @ phi)[:, :, None] * shape[:, None, :]
            for part, shape in zip(parts, self._shapes(run), strict=True)
        ]
        return np.asarray(slopes[0] + slopes[1] + slopes[2])


class FrozenJoint(Hypothesis):
    """An angle is the same for a while, to the last digit, in which other joints moved."""

    slug = "frozen-joint"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        robot = run.robot
        if robot is None or not run.run.recording.has("q"):
            return
        angles = run.run.recording.signal("q")
        for joint, start, stop in frozen_stretches(angles):
            share = (stop - start) / float(angles.time[-1] - angles.time[0])
            if share > WHOLE:
                yield self._sought(run, robot, joint)
                continue
            inside = (run.time > start - MARGIN) & (run.time < stop + MARGIN)
            fit = linear_fit(run, used=(~inside)[:, None].astype(float))
            scale = max(fit.squares / max(6.0 * float(np.count_nonzero(~inside)), 1.0), 1e-12)
            label = robot.joint_label(joint)
            finding = f"Leaving out {start:.2f} to {stop:.2f} s, in which the angle of {label} stands still,"
            exclude = ((round(start - MARGIN, 3), round(stop + MARGIN, 3)),)
            # That the angle stands still is seen in any case, so that what is left out costs no more than noise.
            penalty = scale * 6.0 * float(np.count_nonzero(inside))
            yield Explanation(self.slug, finding, fit, 2, Correction(exclude=exclude), "", penalty)

    def _sought(self, run: ExaminedRun, robot: Robot, joint: int) -> Explanation:
        model, few = Moved(robot, joint, run), thinned(run)
        state, _ = gauss_newton(few, model, np.zeros(model.size), ITERATIONS)
        fit = linear_fit(run, model.regressors(run, state))
        finding = f"A motion of {robot.joint_label(joint)}, whose angle stands still in the recording,"
        advice = "Its encoder is not recorded: take the motion from the set points, or record it."
        return Explanation(self.slug, finding, fit, float(model.size), None, advice)
