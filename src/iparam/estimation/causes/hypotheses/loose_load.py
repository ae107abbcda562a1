"""The hypothesis that a part of the load swings: on a hinge, a soft grip, or as a liquid."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypothesis import Explanation, Hypothesis, thinned
from iparam.estimation.causes.recursive_filter import recursive_filter

FREQUENCIES = np.geomspace(0.4, 8.0, 14)
"""At which a part may swing [Hz]."""

DAMPINGS = (0.05, 0.2, 0.5)
"""Of it, as shares of the critical one."""

LEAST_RATE = 5.0
"""Means in a period that it takes to see it."""


class LooseLoad(Hypothesis):
    """A part of the load swings in answer to how it is accelerated.

    A part on a spring follows the acceleration u of its place, less gravity, as x'' + 2 d w x' + w^2 x = -u, and takes
    its own force and torque along, m x''. In which direction it gives way, and with which lever, is fitted.
    """

    slug = "loose-load"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        step = float(np.median(np.diff(run.time)))
        few, tried = thinned(run, 500), []
        rows = np.searchsorted(run.time, few.time)
        for hertz, damping in product(FREQUENCIES.tolist(), DAMPINGS):
            if hertz * step * LEAST_RATE > 1.0:
                continue
            columns = _swung(run, hertz, damping, step)[rows]
            tried.append((linear_fit(few, columns=columns, possible=False).squares, hertz, damping))
        if not tried:
            return
        _, hertz, damping = min(tried)
        fit = linear_fit(run, columns=_swung(run, hertz, damping, step))
        finding = f"A part of the load that swings at about {hertz:.2g} Hz"
        advice = "Fix all of the load, and empty what holds a liquid."
        yield Explanation(self.slug, finding, fit, 20, None, advice)


def _swung(run: ExaminedRun, hertz: float, damping: float, step: float) -> FloatArray:
    """(N, 6, 18) the relative acceleration along each axis, in each component of the wrench."""
    pull = run.path.acceleration - run.path.in_tool(run.gravity)
    omega = 2.0 * np.pi * hertz
    swung = recursive_filter([1.0, 0.0, 0.0], [1.0, 2.0 * damping * omega, omega**2], pull - pull[:1], step)
    return np.asarray(np.einsum("nk,ij->nikj", swung, np.eye(6)).reshape(len(pull), 6, 18))
