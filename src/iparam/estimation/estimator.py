"""`Estimator`: the contract that all estimators keep."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from iparam.estimation.estimate import Estimate
from iparam.estimation.problem import PayloadProblem


@runtime_checkable
class Estimator(Protocol):
    """Holds hyper-parameters only: a frozen dataclass."""

    def fit(self, problem: PayloadProblem) -> Estimate:
        """Estimate the load of a problem; neither the problem nor the estimator changes.

        Raises:
            IdentificationError: the data do not allow an estimate; the message says why.
        """
        ...
