"""`PayloadProblem`: what an estimator gets. Regressors, wrenches, what is known of their errors, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.estimation.payload.regressor_uncertainty import RegressorUncertainty
from iparam.regressor.samples import wrench_samples
from iparam.remarks import Remark

NUM_PARAMETERS = 10

UNSTATED_RATE = 100.0
"""Samples a second of arrays that come without times [Hz]: within the rates of usual sensors."""


@dataclass(frozen=True, eq=False)
class PayloadProblem:
    """y_k = A_k phi + b + noise, for N samples.

    Attributes:
        A: (N, 6, 10) regressors, those of a zeroed sensor already offset-compensated; may be given stacked (6 N, 10).
        y: (N, 6) measured [force, torque] [N, N m]; may be given stacked (6 N,).
        time: (N,) strictly increasing [s]; samples at 100 Hz if not given. Estimators only count in it how long
            something lasts.
        bias: whether a constant sensor bias b is to be estimated too.
        wrench_covariance: (6, 6) of the noise of one wrench sample; None estimates it from the residuals.
        uncertainty: errors of the regressors; None where nothing is known of them.
        instruments: (N, 6, 10) regressors of the same motion whose errors are independent of those of A; or None.
        averaged: how many successive samples of the recording each of the N is the mean of.
        hidden: names of parameters that must not be claimed, whatever the motion: what else acts on the wrench as they
            do is not known.
        delay_deviation: standard deviation of a delay between motion and wrench that was compensated [s].
        missing: (N, 6) components of samples that say nothing: their rows hold means; None where all count.
        covariance_terms: name -> (10, 10) that phi has from what else was estimated along, or is not known.
        remarks: what was found on the way here.
    """

    A: FloatArray
    y: FloatArray
    time: FloatArray = field(default_factory=lambda: np.empty(0))
    bias: bool = True
    wrench_covariance: FloatArray | None = None
    uncertainty: RegressorUncertainty | None = None
    instruments: FloatArray | None = None
    averaged: int = 1
    hidden: tuple[str, ...] = ()
    delay_deviation: float = 0.0
    missing: NDArray[np.bool] | None = None
    covariance_terms: Mapping[str, FloatArray] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    def __post_init__(self) -> None:
        A, y = wrench_samples(self.A, self.y)
        object.__setattr__(self, "A", frozen(A))
        object.__setattr__(self, "y", frozen(y))
        time = _shaped(self.time if np.size(self.time) else np.arange(len(A)) / UNSTATED_RATE, "time", (len(A),))
        if (np.diff(time) <= 0).any():
            raise InputError(argument="time", problem="must be strictly increasing")
        object.__setattr__(self, "time", time)
        if self.wrench_covariance is not None:
            covariance = _shaped(self.wrench_covariance, "wrench_covariance", (6, 6))
            if not np.allclose(covariance, covariance.T) or np.linalg.eigvalsh(covariance)[0] <= 0.0:
                raise InputError(argument="wrench_covariance", problem="must be symmetric and positive definite")
            object.__setattr__(self, "wrench_covariance", covariance)
        shape = (NUM_PARAMETERS, NUM_PARAMETERS)
        terms = {
            name: _shaped(term, f"covariance_terms[{name}]", shape) for name, term in self.covariance_terms.items()
        }
        object.__setattr__(self, "covariance_terms", MappingProxyType(terms))
        if self.instruments is not None:
            object.__setattr__(self, "instruments", _shaped(self.instruments, "instruments", A.shape))
        if self.uncertainty is not None and self.uncertainty.num_samples != len(A):
            raise InputError(
                argument="uncertainty", problem=f"is that of {self.uncertainty.num_samples} samples, there are {len(A)}"
            )
        object.__setattr__(self, "remarks", tuple(dict.fromkeys(self.remarks)))

    @property
    def num_samples(self) -> int:
        """N, the number of samples."""
        return len(self.A)

    @property
    def num_unknowns(self) -> int:
        """p, 10 or with a bias 16: phi, then b."""
        return NUM_PARAMETERS + 6 * self.bias

    @property
    def design(self) -> FloatArray:
        """(N, 6, p) what the unknowns [phi, b] are multiplied with."""
        return self._with_bias(self.A)

    @property
    def instrument_design(self) -> FloatArray | None:
        """(N, 6, p) the same with the instruments in place of A; the bias is its own instrument."""
        return None if self.instruments is None else self._with_bias(self.instruments)

    def _with_bias(self, matrices: FloatArray) -> FloatArray:
        if not self.bias:
            return matrices
        design = np.empty((len(matrices), 6, NUM_PARAMETERS + 6))
        design[:, :, :NUM_PARAMETERS] = matrices
        design[:, :, NUM_PARAMETERS:] = np.eye(6)
        return design


def _shaped(value: FloatArray, name: str, shape: tuple[int, ...]) -> FloatArray:
    array = as_float_array(value, name)
    if array.shape != shape:
        raise InputError(argument=name, problem=f"must have shape {shape}, got {array.shape}")
    return frozen(array)
