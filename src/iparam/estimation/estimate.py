"""`Estimate`: the result of an identification, with how far it can be trusted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, covariance_problem, frozen
from iparam.errors import InputError
from iparam.estimation.assessment.verdict import refuting, verdict_on
from iparam.estimation.errors import RefutedResultError
from iparam.estimation.estimate_table import estimate_html, estimate_lines, interval_groups
from iparam.estimation.shape.found import FoundShape
from iparam.files.json import write_json
from iparam.plotting.interval_plots import interval_figure
from iparam.printable import printable
from iparam.remarks import Plain, Remark, messages
from iparam.rounding import NORMAL_95, decimals_for, number, numbers, with_interval
from iparam.sensing.correction import Correction
from iparam.spatial.derived import derived_part, symmetric
from iparam.spatial.parameters import InertialParameters

FORMAT = "iparam-result/1"

SENSOR_FRAME = "sensor"
"""The frame of a result that belongs to no arm: the force/torque sensor's own."""

DERIVED_NAMES = (
    "mass",
    *(f"center_of_mass_{axis}" for axis in "xyz"),
    *(f"inertia_{entry}" for entry in ("xx", "xy", "xz", "yy", "yz", "zz")),
)
"""What a load is given by: its mass, centre of mass and inertia about it."""

SUCCESS = "All ten parameters were estimated."


@dataclass(frozen=True, eq=False)
class StandardDeviations:
    """Of the estimate: mass [kg], center_of_mass (3,) [m], inertia_about_com (3, 3) [kg m^2], phi (10,)."""

    mass: float
    center_of_mass: FloatArray
    inertia_about_com: FloatArray
    phi: FloatArray

    @classmethod
    def of(cls, phi: FloatArray, covariance: FloatArray) -> StandardDeviations:
        """Those of phi (10,) by its covariance (10, 10), to first order; NaN for what is not known."""
        derived = np.sqrt(derived_part(phi, covariance)[1])
        own = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        return cls(float(derived[0]), frozen(derived[1:4]), frozen(symmetric(derived[4:])), frozen(own))


@dataclass(frozen=True, eq=False)
class Wrench:
    """A force (3,) [N] and a torque (3,) [N m] about the tool's origin, in its axes."""

    force: FloatArray
    torque: FloatArray

    def __str__(self) -> str:
        return f"{' '.join(numbers(self.force, 3))} N, {' '.join(numbers(self.torque, 4))} N m"


@dataclass(frozen=True)
class Cause:
    """What would explain the data better.

    Attributes:
        cause: its slug, such as "wrench-sign".
        sentence: what it would explain.
        residual_before, residual_after: root mean square of the residuals as it is and with the correction, of the
            force [N] or, for joint torques, of the torques [N m].
        fix: what to change in the setup to correct it; empty where no setting does.
    """

    cause: str
    sentence: str
    residual_before: float
    residual_after: float
    fix: Mapping[str, Plain] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.cause, self.sentence))

    def to_document(self) -> dict[str, Any]:
        """As in a result file."""
        return {
            "cause": self.cause,
            "sentence": self.sentence,
            "residual_before": self.residual_before,
            "residual_after": self.residual_after,
            "fix": dict(self.fix),
        }


@dataclass(frozen=True)
class Refutation:
    """Why a result is refuted by its own data.

    Attributes:
        reason: one sentence.
        causes: that would explain it, best first.
    """

    reason: str
    causes: tuple[Cause, ...] = ()

    @property
    def sentence(self) -> str:
        """The reason, and what each cause would explain."""
        return " ".join([self.reason, *(cause.sentence for cause in self.causes)])


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """The inertial parameters of a payload in the tool frame, as far as the data tell them.

    What the data do not determine is NaN, and null in a file; `determined` names the rest.

    Attributes:
        method: name of the estimator.
        status: one sentence on how it went.
        mass: [kg].
        center_of_mass: (3,) [m].
        inertia_about_com, inertia_about_origin: (3, 3) in the tool's axes [kg m^2].
        phi: (10,) see `iparam.spatial.phi`.
        standard_deviation: of the above.
        covariance_phi: (10, 10); NaN as a whole, with all standard deviations, if nobody knows it.
        physically_consistent: whether a body of positive density can have these parameters.
        condition_number: of the stacked regressor in SI units; infinite, null in a file, if the motion determines less
            than all ten parameters and a prior the rest; NaN if there was no motion.
        residual_norm: root of the sum of squares of the residuals of the wrench [N and N m together].
        residual_rms: root mean square of each component of the residuals.
        sensor_bias: the sensor's bias where it was estimated, else None.
        samples: how many were used.
        data_share: (10,) which part of the knowledge of each of phi comes from the data and not from a prior, 0 to 1;
            None without a prior.
        time_correlation: by how much the variances were raised because the residuals are correlated in time; 1 where
            they are not, or where it is not known (a file does not hold it).
        remarks: what a reader should know; see `iparam.remarks`.
        robot: name or URDF path of the arm that carried it; "" if unknown.
        frame: the tool frame that all of it is in; "" if unknown.
        measurements: fingerprints of the signals that it comes from; () if unknown. Estimates that share one are not
            independent.
        unconstrained_phi: (10,) what least squares gives where no rigid body can have that, and the nearest possible
            one was taken; None where phi is the solution itself (a file does not hold it).
        refutation: why the data refute the result, or None where they do not.
        path: (P, n) the way of the joints in the run that it comes from [rad], see `motion_path`; None if unknown.
        causes: what would explain the data better than the load alone, best first; () for a result that is good.
        correction: what was put right in the recording; with the values found where they were estimated.
        correction_deviations: standard deviations of those that were estimated, by name, in the units of the options.
        shape: what was found of the shape that was given; None without one.
        covariance_terms: name -> (10, 10) whose sum the covariance is: noise, each tolerance, and what else was not
            known; empty if nobody knows them.
        gain: (10, 10) by how much phi changes with what the data alone say of it, where a shape holds it; None where
            that is all (a file does not hold it).
    """

    method: str
    mass: float
    center_of_mass: FloatArray
    inertia_about_com: FloatArray
    inertia_about_origin: FloatArray
    phi: FloatArray
    standard_deviation: StandardDeviations
    covariance_phi: FloatArray
    physically_consistent: bool
    condition_number: float
    residual_norm: float
    residual_rms: Wrench
    sensor_bias: Wrench | None
    samples: int
    data_share: FloatArray | None = None
    time_correlation: float = 1.0
    remarks: tuple[Remark, ...] = ()
    status: str = SUCCESS
    robot: str = ""
    frame: str = ""
    measurements: tuple[str, ...] = ()
    unconstrained_phi: FloatArray | None = None
    refutation: Refutation | None = None
    path: FloatArray | None = None
    causes: tuple[Cause, ...] = ()
    correction: Correction = field(default_factory=Correction)
    correction_deviations: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))
    shape: FoundShape | None = None
    covariance_terms: Mapping[str, FloatArray] = field(default_factory=lambda: MappingProxyType({}))
    gain: FloatArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "remarks", tuple(dict.fromkeys(self.remarks)))
        terms = {name: frozen(0.5 * (term + term.T)) for name, term in self.covariance_terms.items()}
        object.__setattr__(self, "covariance_terms", MappingProxyType(terms))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The messages of the remarks."""
        return messages(self.remarks)

    @classmethod
    def from_phi(cls, phi: ArrayLike, covariance: ArrayLike | None = None, method: str = "given") -> Estimate:
        """An estimate of parameters that are known from elsewhere, such as those of `least_squares`.

        Args:
            phi: (10,) see `iparam.spatial.phi`.
            covariance: (10, 10) of phi; None if nobody knows it: all standard deviations are then NaN.
            method: what to call the way that they were found.
        """
        from iparam.estimation.payload.estimate_assembly import estimate_of  # which makes estimates

        values = as_float_array(phi, "phi", (10,))
        known = np.full((10, 10), np.nan) if covariance is None else as_float_array(covariance, "covariance", (10, 10))
        if values.ndim != 1 or known.ndim != 2:
            raise InputError(f"phi and covariance must be of one load, got {values.shape} and {known.shape}")
        if covariance is not None and (problem := covariance_problem(known)):
            raise InputError(argument="covariance", problem=problem)
        return estimate_of(method, values, known, condition_number=np.nan, residual_norm=0.0, samples=0)

    @property
    def complete(self) -> bool:
        """Whether the data determine all ten parameters."""
        return not np.isnan(self.phi).any()

    @property
    def determined(self) -> tuple[str, ...]:
        """What the data determine: "mass", "center_of_mass", "inertia_about_com", or the components that they do."""
        six = self.inertia_about_com[np.triu_indices(3)]
        return grouped_names(~np.isnan([self.mass, *self.center_of_mass, *six]))

    @property
    def parameters(self) -> InertialParameters:
        """The same as a body."""
        self.require_complete("a body has all ten parameters")
        return InertialParameters.from_phi(self.phi)

    @property
    def known_phi(self) -> FloatArray:
        """(10,) phi with zeros for what the data do not determine."""
        return np.nan_to_num(self.phi, nan=0.0)

    @property
    def to_see_the_rest(self) -> str:
        """What the data determine, and what would show the rest, or the status if no remark says so; "" for a whole
        result.
        """
        return "" if self.complete else part_message(self.remarks, self.status)

    def require_complete(self, what: str) -> None:
        """Raise an error if the result is a part only; ``what`` needs all of it, in a sentence."""
        self._require(self.complete, what)

    def require_weight(self, what: str) -> None:
        """Raise an error if mass or centre of mass is not known; ``what`` needs them, in a sentence."""
        self._require(not np.isnan(self.phi[:4]).any(), what)

    def _require(self, known: bool, what: str) -> None:
        if not known:
            has = ", ".join(self.determined)
            raise InputError(
                f"{what}, and this result has {f'only {has}' if has else 'none of them'}. {self.to_see_the_rest}"
            )

    def require_credit(self, what: str) -> None:
        """Raise an error if the data refute the result; ``what`` would act on it, in a sentence."""
        for sentence in refuting(self.refutation, self.remarks):
            raise RefutedResultError(f"{what}, and this result is refuted by its own data: {sentence}")

    @property
    def assessment(self) -> dict[str, Any]:
        """The verdict ("good", "usable" or "refuted") with its sentence, its causes, and what the data could not show
        where they show nothing else, as in a result file.
        """
        verdict, refutation = verdict_on(self), self.refutation
        causes = self.causes if refutation is None else refutation.causes
        return {
            "verdict": verdict.word,
            "sentence": verdict.sentence if refutation is None else refutation.reason,
            "causes": [cause.to_document() for cause in causes],
            **({"unseen": verdict.unseen} if verdict.unseen else {}),
            "rules": [rule.to_document() for rule in verdict.rules],
        }

    def __str__(self) -> str:
        """The table of ``iparam identify payload``."""
        return "\n".join(estimate_lines(self))

    def __repr__(self) -> str:
        mass = with_interval(self.mass, NORMAL_95 * self.standard_deviation.mass, "kg")
        widths = 1e3 * NORMAL_95 * self.standard_deviation.center_of_mass
        center = " ".join(
            number(1e3 * value, decimals_for(width)) for value, width in zip(self.center_of_mass, widths, strict=True)
        )
        found = f"mass {mass}, centre of mass {center} mm" if "mass" in self.determined else ", ".join(self.determined)
        return printable(f"<Estimate by {self.method}, {verdict_on(self).word}: {found}; {self.samples} samples>")

    def _repr_html_(self) -> str:
        return estimate_html(self)

    def plot(self) -> Any:
        """The ten parameters with their 95 % intervals, as a ``matplotlib.figure.Figure``; one that the data refute
        is drawn in the colour of a warning.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        return interval_figure(interval_groups(self), doubtful=self.refutation is not None)

    def to_document(self) -> dict[str, Any]:
        """What `save` writes, as plain dictionaries and lists."""
        standard_deviation, bias, rest = self.standard_deviation, self.sensor_bias, self.residual_rms
        return {
            "format": FORMAT,
            "method": self.method,
            "status": self.status,
            **({} if self.complete else {"determined": list(self.determined)}),
            "mass": _nullable(self.mass),
            "center_of_mass": _nullable(self.center_of_mass),
            "inertia_about_com": _nullable(self.inertia_about_com),
            "inertia_about_origin": _nullable(self.inertia_about_origin),
            "phi": _nullable(self.phi),
            "standard_deviation": {
                "mass": _nullable(standard_deviation.mass),
                "center_of_mass": _nullable(standard_deviation.center_of_mass),
                "inertia_about_com": _nullable(standard_deviation.inertia_about_com),
                "phi": _nullable(standard_deviation.phi),
            },
            "covariance_phi": _nullable(self.covariance_phi),
            "covariance_terms": {name: _nullable(term) for name, term in self.covariance_terms.items()},
            "physically_consistent": self.physically_consistent,
            "condition_number": self.condition_number if np.isfinite(self.condition_number) else None,
            "residual_norm": self.residual_norm,
            "residual_rms": {"force": rest.force.tolist(), "torque": rest.torque.tolist()},
            "sensor_bias": None if bias is None else {"force": bias.force.tolist(), "torque": bias.torque.tolist()},
            "samples": self.samples,
            "data_share": None if self.data_share is None else self.data_share.tolist(),
            "warnings": list(self.warnings),
            "remarks": [one.to_document() for one in self.remarks],
            "robot": self.robot or None,
            "frame": self.frame or None,
            "measurements": list(self.measurements),
            **({} if self.path is None else {"path": self.path.tolist()}),
            **({"correction": self._correction_document()} if self.correction else {}),
            **({} if self.shape is None else {"shape": self.shape.to_document()}),
            "assessment": self.assessment,
        }

    def _correction_document(self) -> dict[str, Any]:
        known = self.correction_deviations
        return {
            name: {"value": value, "standard_deviation": list(known[name]) if name in known else None}
            for name, value in self.correction.to_document().items()
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON in the format ``iparam-result/1``, replacing the file in one step."""
        write_json(path, self.to_document())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Estimate:
        """Read and check what `save` wrote, or a result at rest (``iparam-static-result/1``): see `read_result`."""
        from iparam.estimation.result_file import read_result  # which makes an Estimate

        return read_result(path)


ONLY_A_PART = "only-a-part"
"""The code of the remark that says what the data determine of a load, and what would show the rest."""

OF_ONE_FIT = (ONLY_A_PART, "parameter-open")
"""Codes of remarks that say what one fit determines, which is not true of what becomes of it."""

_UNSTATED_PART = "The data do not show the rest (null). A planned excitation motion does."


def part_message(remarks: Iterable[Remark], otherwise: str = _UNSTATED_PART) -> str:
    """The message that says what would show the rest of a load, or ``otherwise`` if there is none."""
    return next((one.message for one in remarks if one.code == ONLY_A_PART), otherwise)


def lasting_remarks(remarks: Iterable[Remark]) -> list[Remark]:
    """Those that stay true where the result becomes a part of another: not what it determines."""
    return [one for one in remarks if one.code not in OF_ONE_FIT]


def grouped_names(known: ArrayLike) -> tuple[str, ...]:
    """The names of what is known (10,) of `DERIVED_NAMES`; a vector or matrix that is known as a whole by its own."""
    found = [name for name, seen in zip(DERIVED_NAMES, np.asarray(known, dtype=bool), strict=True) if seen]
    for whole, parts in (("center_of_mass", DERIVED_NAMES[1:4]), ("inertia_about_com", DERIVED_NAMES[4:])):
        if set(parts) <= set(found):
            found[found.index(parts[0])] = whole
            found = [name for name in found if name not in parts]
    return tuple(found)


def _nullable(values: ArrayLike) -> Any:
    """Plain numbers and lists, with None for what is not known; a list of nothing else is None as a whole."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isnan(array).any():
        return array.tolist()
    if np.isnan(array).all():
        return None
    plain = array.astype(object)
    plain[np.isnan(array)] = None
    return plain.tolist()
