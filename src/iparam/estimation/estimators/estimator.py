"""`Estimator`: the contract that all estimators keep, and the methods by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from iparam.errors import InputError, UnknownNameError
from iparam.estimation import estimators
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.problem import PayloadProblem

if TYPE_CHECKING:
    from iparam.spatial.parameters import InertialParameters

METHODS = {
    "consistent": "ConsistentLeastSquares",
    "ls": "LeastSquares",
    "wls": "WeightedLeastSquares",
    "tls": "TotalLeastSquares",
    "rls": "RecursiveLeastSquares",
    "riv": "RecursiveInstrumentalVariables",
    "rtls": "RecursiveTotalLeastSquares",
    "robust": "HuberLeastSquares",
    "logchol": "LogCholesky",
}
"""The names of methods, and the classes of `iparam.estimation.estimators` that they stand for."""

DEFAULT_METHOD = "consistent"
"""The estimator that is taken where none is named."""


class Estimator(ABC):
    """Holds hyper-parameters only: a frozen dataclass.

    Attributes:
        needs_instruments: whether a problem has to come with regressors of a second motion.
        takes_prior: whether it is made with a guess of the load, ``Estimator(prior)``.
    """

    needs_instruments: ClassVar[bool] = False
    takes_prior: ClassVar[bool] = False

    @abstractmethod
    def fit(self, problem: PayloadProblem) -> Estimate:
        """Estimate the load of a problem; neither the problem nor the estimator changes.

        Raises:
            IdentificationError: the data do not allow an estimate; the message says why.
        """


def make_estimator(method: str, prior: InertialParameters | None = None) -> Estimator:
    """The estimator of that name, with its default settings; only its module is loaded.

    Args:
        method: one of `METHODS`.
        prior: a guess of the load, for those that take one.
    """
    if method not in METHODS:
        raise UnknownNameError("method", method, METHODS, argument="method")
    kind = getattr(estimators, METHODS[method])
    if prior is not None and not kind.takes_prior:
        able = [name for name, entry in METHODS.items() if getattr(estimators, entry).takes_prior]
        raise InputError(f"a prior needs the method {' or '.join(able)}, got {method}")
    estimator: Estimator = kind(prior) if kind.takes_prior else kind()
    return estimator
