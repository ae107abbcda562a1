"""`find_causes`: all hypotheses fitted to a run, compared, best first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np

from iparam.errors import IparamError
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypotheses.arm_model import JointOffset, JointOrder, RobotModel
from iparam.estimation.causes.hypotheses.frozen_joint import FrozenJoint
from iparam.estimation.causes.hypotheses.gravity import ExternalForce, GravityDirection, MovingBase, WeightCompensated
from iparam.estimation.causes.hypotheses.loose_load import LooseLoad
from iparam.estimation.causes.hypotheses.sensor_channels import (
    Axes,
    DeadChannel,
    PartSign,
    SensorGain,
    Units,
    WrenchSign,
)
from iparam.estimation.causes.hypotheses.sensor_mounting import BaseAxes, SensorOffset, SensorRotation
from iparam.estimation.causes.hypotheses.time_local import Change, Contact, StuckChannel
from iparam.estimation.causes.hypotheses.timing import ClockRate, HighPass, LateWrench, LowPass
from iparam.estimation.causes.hypotheses.two_clocks import TwoClocks
from iparam.estimation.causes.hypothesis import ALIKE, Explanation, Hypothesis
from iparam.estimation.causes.plausible_load import largest_load
from iparam.estimation.estimate import Cause
from iparam.sensing.correction import Correction

HYPOTHESES: tuple[Hypothesis, ...] = (
    WrenchSign(),
    PartSign("force"),
    PartSign("torque"),
    Units(),
    Axes(),
    SensorRotation(),
    SensorOffset(),
    BaseAxes(),
    SensorGain(),
    DeadChannel(),
    RobotModel(),
    JointOrder(),
    JointOffset(),
    GravityDirection(),
    WeightCompensated(),
    ExternalForce(),
    MovingBase(),
    ClockRate(),
    LateWrench(),
    LowPass(),
    HighPass(),
    TwoClocks(),
    Change("load-changed"),
    Change("re-zeroed"),
    Contact(),
    StuckChannel(),
    FrozenJoint(),
    LooseLoad(),
)

CLEAR = 10.0
"""Gain of the criterion from which on a hypothesis is believed to explain something: noise alone reaches it once in
thousands of runs, whatever the number of hypotheses."""

IMPLAUSIBLE = 100.0
"""What it counts against a hypothesis that the arm would carry more than it can be believed to."""

WORTH_TELLING = 0.2
"""Gain of a hypothesis, as a share of the best one's, from which on it is told."""

MOST_TOLD = 4


@dataclass(frozen=True, eq=False)
class Causes:
    """What would explain a run better than the load alone.

    Attributes:
        base: the fit without any hypothesis.
        found: explanations, best first, with the gain of each: what it takes from the deviance, in units of noise that
            is correlated as the residuals are, less what its parameters cost by chance. One a slug, and those of a slug
            that are as good and give another load.
        unit: that unit, in variances of the sensor's noise.
        every: all explanations that explain something, in the same order.
    """

    base: Fit
    unit: float
    found: tuple[tuple[float, Explanation], ...]
    every: tuple[tuple[float, Explanation], ...] = ()

    @property
    def best(self) -> Fit:
        """The fit of the best explanation, or that without any."""
        return self.found[0][1].fit if self.found else self.base

    @property
    def alike(self) -> tuple[Explanation, ...]:
        """The best explanation, and those that explain as much of the data with a few parameters more."""
        if not self.found:
            return ()
        best = self.found[0][1]
        same = (one for _, one in self.found[1:] if one.as_good_as(best, self.unit))
        return (best, *same, *(one for _, one in self.found[1:] if one.seen))

    def told(self) -> tuple[Cause, ...]:
        """For the reader of a result, best first."""
        same = [one for one in self.alike if not one.seen]
        causes = []
        for gain, one in self.found:
            if gain < WORTH_TELLING * self.found[0][0] and not one.seen:
                continue
            sentence = one.sentence(self.base)
            others = [other.named_beside(one) for other in same if other is not one]
            if one in same and others:
                sentence += f" These data do not tell it from {' or '.join(others)}."
            causes.append(Cause(one.cause, sentence, self.base.force_rms, one.fit.force_rms, one.fix))
        return tuple(causes[:MOST_TOLD])


_searched: ContextVar[dict[tuple[bytes, ...], Causes] | None] = ContextVar("searched", default=None)


@contextmanager
def searched_once() -> Iterator[None]:
    """Within it, a run is searched once, however many methods identify from it: no hypothesis depends on the method."""
    token = _searched.set({})
    try:
        yield
    finally:
        _searched.reset(token)


def find_causes(run: ExaminedRun) -> Causes:
    """Fit all hypotheses to a run and compare them.

    The criterion is Schwarz's: what a hypothesis takes from the weighted squares, less the logarithm of the number of
    samples for each of its parameters. As errors of a smoothed motion last, and as no model is perfect, the squares are
    counted in units of what the best hypothesis leaves, and samples in those that are independent of each other.
    """
    known = _searched.get()
    if known is None:
        return _compared(run)
    key = run.content
    if key not in known:
        known[key] = _compared(run)
    return known[key]


def _compared(run: ExaminedRun) -> Causes:
    base = linear_fit(run)
    explanations: list[Explanation] = []
    for hypothesis in HYPOTHESES:
        try:
            explanations += hypothesis.explanations(run, base)
        except (IparamError, np.linalg.LinAlgError):  # it cannot be fitted to such data
            continue
    count = float(run.y.size)
    best = min(explanations, key=lambda one: one.squares + one.num_parameters * np.log(count), default=None)
    least = base if best is None or best.squares > base.squares else best.fit
    unit = max(1.0, least.squares / count) * max(1.0, least.covariance()[1])
    price, limit = np.log(max(count / unit, 10.0)), largest_load(run.robot)
    too_heavy = IMPLAUSIBLE * (base.phi[0] > limit)
    gains = [
        (
            (base.squares - one.squares) / unit
            - price * one.num_parameters
            + too_heavy
            - IMPLAUSIBLE * (one.phi[0] > limit),
            one,
        )
        for one in explanations
    ]
    gains = [(gain, _besides(run.run.given, one)) for gain, one in gains]
    every = tuple((max(gain, CLEAR), one) for gain, one in sorted(gains, key=_worse) if gain > CLEAR or one.seen)
    found: list[tuple[float, Explanation]] = []
    for gain, one in every:
        kin = [(known, other) for known, other in found if other.cause == one.cause]
        if all(known - gain < ALIKE and one.differs_from(other) for known, other in kin):
            found.append((gain, one))
    return Causes(base, unit, tuple(sorted(found, key=_worse)), every)


def _worse(pair: tuple[float, Explanation]) -> float:
    return -pair[0]


def _besides(given: Correction, one: Explanation) -> Explanation:
    """An explanation of a run to which a correction was applied, with what is to be typed in place of that."""
    if not given or one.correction is None:
        return one
    whole = given.followed_by(one.correction)
    if whole is not None:
        return replace(one, correction=whole)
    return replace(one, correction=None, estimable="", advice=f"It counts besides {given.text}. {one.advice}".rstrip())
