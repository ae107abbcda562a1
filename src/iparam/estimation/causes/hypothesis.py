"""`Hypothesis`: one way in which data could have come about; `Explanation`: what it makes of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.remarks import Plain
from iparam.rounding import significant
from iparam.sensing.correction import ESTIMATE, Correction

ITERATIONS = 12
"""Of Gauss and Newton, at most."""

LAST_ITERATIONS = 3
"""Of those, with all of the means."""

HALVINGS = 6
"""Of a step that does not help, at most."""

CONVERGED = 0.05
"""Gain of an iteration, in units of the noise's variance, below which it is the last one."""

MATTERS = 1.3
"""Times by which not knowing a parameter widens the standard deviation of some part of the load from which on it is
better estimated along than given."""

COARSE = 300
"""Means that a search looks at, before the last steps with all of them."""


ALIKE = 6.0
"""Difference of the deviance up to which data do not tell two hypotheses apart."""

FEW_MORE = 6.0
"""Parameters more than another hypothesis has with which one explains as much in any case."""

OTHER = 3.0
"""Standard deviations from which on two hypotheses give another load, besides `SAME_LOAD` of it."""

SAME_LOAD = 0.003
"""Difference of two loads, as a share of mass, first moment or inertia, that nobody minds."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a hypothesis makes of a run.

    Attributes:
        cause: slug of the hypothesis.
        finding: what it says is wrong, to be followed by what that does to the residual: "Turning the sensor by ...".
        fit: of load, bias and parameters.
        num_parameters: that were fitted or chosen, beside load and bias.
        correction: what puts it right; None where no correction does.
        advice: what to do where none puts it right, or beside it: "..."; "" for nothing.
        penalty: what it takes beyond its squares, in their unit: of samples that it leaves out.
        setting: what puts it right and is no correction of the recording, such as another robot's name.
        seen: whether the signals themselves show it, whatever the load: it is told even if it explains little.
        estimable: correction that can be estimated along with the load, and should be where its own error matters.
        relative_deviation: standard deviation of a lag, as a share of it; 0 for what is no lag.
        scale: what the load of the fit is to be multiplied with to be that of the corrected recording.
        plausible: whether it is believed where somebody says that another one, which explains as much, is right.
        factors: of its load that explain as much: with each channel's own gain, any of them may be the right one.
    """

    cause: str
    finding: str
    fit: Fit
    num_parameters: float
    correction: Correction | None = None
    advice: str = ""
    penalty: float = 0.0
    scale: float = 1.0
    setting: Mapping[str, Plain] = field(default_factory=dict)
    estimable: str = ""
    seen: bool = False
    relative_deviation: float = 0.0
    plausible: bool = True
    factors: tuple[float, ...] = (1.0,)

    @property
    def fix(self) -> Mapping[str, Plain]:
        """What to change to put it right; empty for nothing."""
        if self.setting or self.correction is None:
            return self.setting
        if self.estimable and self.fit.widening > MATTERS:
            return {self.estimable: ESTIMATE}
        return self.correction.fix

    @property
    def phi(self) -> FloatArray:
        """(10,) the load, if it is right."""
        return np.asarray(self.scale * self.fit.phi)

    @property
    def loads(self) -> FloatArray:
        """(K, 10) all loads, if it is right."""
        return np.outer(self.factors, self.phi)

    @property
    def squares(self) -> float:
        """What it leaves unexplained, in units of the variance of the sensor's noise."""
        return self.fit.squares + self.penalty

    def as_good_as(self, other: Explanation, unit: float) -> bool:
        """Whether it explains as much as another one, with a few parameters more; in units of noise as in
        `find_causes`.
        """
        few = self.num_parameters - other.num_parameters < FEW_MORE
        return few and self.squares - other.squares < ALIKE * unit

    def differs_from(self, other: Explanation) -> bool:
        """Whether its load is another one."""
        return loads_differ(self.phi, other.phi, other.fit.load_deviations)

    def named_beside(self, other: Explanation) -> str:
        """Its slug, and its load where that is not the other one's."""
        if not self.differs_from(other):
            return self.cause
        masses = float(self.phi[0]), float(other.phi[0])
        own = "with another centre of mass or inertia"
        if abs(masses[0] - masses[1]) > SAME_LOAD * abs(masses[1]):
            own = f"a load of {significant(masses[0], 4)} kg, here {significant(masses[1], 4)} kg"
        what = f"{self.finding[:1].lower()}{self.finding[1:].rstrip(',')}, " if self.cause == other.cause else ""
        return f"{self.cause} ({what}{own})"

    def sentence(self, base: Fit) -> str:
        """One sentence: what it would explain of a fit without it."""
        before, after, unit = base.force_rms, self.fit.force_rms, "N"
        if after > 0.9 * before and self.fit.torque_rms < 0.9 * base.torque_rms:
            before, after, unit = base.torque_rms, self.fit.torque_rms, "N m"
        text = f"{self.finding} takes the residual from {significant(before, 3)} to {significant(after, 3)} {unit}"
        if len(self.factors) > 1:
            low, high = (significant(float(one * self.phi[0]), 4) for one in (min(self.factors), max(self.factors)))
            text += f", with a load of {low} to {high} kg, by which channel is right"
        return f"{text}.{' ' + self.advice if self.advice else ''}"


def loads_differ(phi: FloatArray, other: FloatArray, deviations_of_other: FloatArray) -> bool:
    """Whether two loads (10,) are not the same, by what is known of the second (10,) and by what matters."""
    mass = max(abs(float(other[0])), 1e-12)
    largest = float(np.abs(other[[4, 7, 9]]).max())
    scales = np.array([mass, *[np.sqrt(mass * largest)] * 3, *[largest] * 6])
    return bool((np.abs(phi - other) > OTHER * deviations_of_other + SAME_LOAD * scales).any())


class Hypothesis(ABC):
    """One way in which data could have come about."""

    slug: ClassVar[str]

    @abstractmethod
    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """What it makes of a run; nothing where it has nothing to say. ``base`` is the fit without any hypothesis."""


class Model(ABC):
    """A load seen through something with parameters: A(state) phi + bias + effect(state). A state is any array."""

    @abstractmethod
    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """(N, 6, 10)."""

    @abstractmethod
    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """(N, 6, k) derivatives of A(state) phi + effect(state) by a small change of the state's k parameters."""

    def effect(self, run: ExaminedRun, state: FloatArray) -> FloatArray | None:
        """(N, 6) what does not depend on the load [N, N m]; None for nothing."""
        return None

    def beside(self, run: ExaminedRun, state: FloatArray) -> FloatArray | None:
        """(N, 6, m) columns whose factors, no part of the state, are fitted along with the load; None for none."""
        return None

    def moved(self, state: FloatArray, change: FloatArray) -> FloatArray:
        """The state after a change (k,) of its parameters: their sum, unless they are not numbers on a line."""
        return np.asarray(state + change)


def thinned(run: ExaminedRun, most: int = COARSE) -> ExaminedRun:
    """Every so many of its means."""
    return run.rows(slice(None, None, max(1, -(-len(run.time) // most))))


def gauss_newton(
    run: ExaminedRun, model: Model, start: FloatArray, iterations: int = ITERATIONS
) -> tuple[FloatArray, float]:
    """The best state near ``start``, and its squares without regard to what a body can be."""
    state, fit = start, _free(run, model, start)
    for _ in range(iterations):
        columns = model.slopes(run, state, fit.free_phi)
        step = _free(run, model, state, columns).parameters[: columns.shape[2]]
        if not np.isfinite(step).all():
            break
        for halving in range(HALVINGS):
            tried = model.moved(state, step * 0.5**halving)
            found = _free(run, model, tried)
            if found.squares < fit.squares:
                break
        else:
            break
        gained, state, fit = fit.squares - found.squares, tried, found
        if gained < CONVERGED + 1e-9 * fit.squares:
            break
    return state, fit.squares


def fit_model(run: ExaminedRun, model: Model, starts: Iterable[FloatArray]) -> tuple[FloatArray, Fit]:
    """The best state from any of the starts, and the fit with it, whose parameters are changes of the state (zeros) and
    the factors of what is fitted along.

    A few of the means find the way, all of them the end of it.
    """
    few = thinned(run)
    found = [gauss_newton(few, model, start) for start in starts]
    best = min(found, key=lambda pair: pair[1])[0]
    if len(few.time) < len(run.time):
        best = gauss_newton(run, model, best, LAST_ITERATIONS)[0]
    columns = _with(model.slopes(run, best, _free(run, model, best).phi), model.beside(run, best))
    return best, linear_fit(run, model.regressors(run, best), columns, effect=model.effect(run, best))


def _free(run: ExaminedRun, model: Model, state: FloatArray, columns: FloatArray | None = None) -> Fit:
    regressors, effect = model.regressors(run, state), model.effect(run, state)
    return linear_fit(run, regressors, _with(columns, model.beside(run, state)), possible=False, effect=effect)


def _with(columns: FloatArray | None, further: FloatArray | None) -> FloatArray | None:
    if columns is None or further is None:
        return further if columns is None else columns
    return np.concatenate([columns, further], axis=2)


def deviations(fit: Fit) -> FloatArray:
    """(k,) standard deviations of the parameters of a fit."""
    covariance = fit.covariance()[0]
    count = fit.parameters.size
    return np.sqrt(np.maximum(np.diag(covariance)[-count:], 0.0)) if count else np.zeros(0)


def one_of(choices: int, run: ExaminedRun) -> float:
    """What a parameter of one of several alternatives counts: itself, and the choice."""
    return 1.0 + float(np.log(choices) / np.log(run.y.size))
