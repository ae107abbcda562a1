"""Log-Cholesky estimation with a prior: consistent by construction, and a guess fills in what the data leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.estimation.errors import IdentificationError, NotIdentifiableError
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.estimators.estimator import Estimator
from iparam.estimation.payload.covariance import Scores, score_covariance
from iparam.estimation.payload.estimate_assembly import assemble_estimate
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import (
    WeightedFit,
    check_wrench,
    first_weights,
    residual_weights,
    residuals,
    triangular_factor,
    weighted_fit,
)
from iparam.spatial.consistency import is_physically_consistent
from iparam.spatial.log_cholesky import log_cholesky_from_phi, log_cholesky_jacobian, phi_from_log_cholesky
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.phi import pseudo_inertia_from_phi

STEPS = 200
_BASIS = pseudo_inertia_from_phi(np.eye(NUM_PARAMETERS))  # (10, 4, 4): dJ / dphi_i


@dataclass(frozen=True, eq=False)
class LogCholesky(Estimator):
    """Weighted least squares over log-Cholesky parameters, plus the entropic distance to a prior.

    The distance is the log-determinant divergence of the pseudo-inertias, tr(J J0^-1) - log det(J J0^-1) - 4: it does
    not depend on units or frame, and near J0 it is half the squared relative change. Without a prior this is
    `ConsistentLeastSquares`.

    Attributes:
        prior: a guess of the load, from a mesh or CAD, in the tool frame; None for none.
        relative_standard_deviation: standard deviation of that guess, relative: 0.3 means about 30 %.
    """

    takes_prior: ClassVar[bool] = True

    prior: InertialParameters | None = None
    relative_standard_deviation: float = 0.3

    def __post_init__(self) -> None:
        if not (np.isfinite(self.relative_standard_deviation) and self.relative_standard_deviation > 0):
            raise InputError(
                argument="relative_standard_deviation", value=self.relative_standard_deviation, expected="positive"
            )
        if self.prior is not None:
            log_cholesky_from_phi(self.prior.phi)  # refuses what no body can be

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`. With a prior it also takes motions that do not determine all parameters."""
        if self.prior is None:
            found = weighted_fit(problem)
            return self._finish(problem, found.parameters, found.information, found)
        check_wrench(problem)
        try:
            found = weighted_fit(problem)
        except NotIdentifiableError:
            return self._finish(problem, *_regularised(problem, self.prior.phi), None)
        return self._finish(problem, found.parameters, found.information, found)

    def _finish(
        self, problem: PayloadProblem, parameters: FloatArray, information: FloatArray, found: WeightedFit | None
    ) -> Estimate:
        own, rest = information[:10, :10], information[10:, 10:]
        cross = information[:10, 10:]
        data = own - cross @ np.linalg.solve(rest, cross.T) if rest.size else own
        inverse_prior = None if self.prior is None else np.asarray(np.linalg.inv(self.prior.pseudo_inertia), float)
        phi = self._minimise(parameters[:10], data, inverse_prior)
        full = parameters.copy()
        full[:10] = phi
        if rest.size:
            full[10:] -= np.linalg.solve(rest, cross.T @ (phi - parameters[:10]))
        prior = np.zeros((10, 10)) if inverse_prior is None else self._prior_information(phi)
        posterior = information.copy()
        posterior[:10, :10] += prior
        inverse = np.asarray(np.linalg.inv(posterior), float)
        weights = found.weights if found is not None else first_weights(problem)
        if found is None:
            weights = residual_weights(problem, residuals(problem, full), phi)
        constant = np.zeros(len(full))
        scores = Scores(problem.design, weights.weighted(residuals(problem, full)), constant)
        scores_covariance = score_covariance(scores)
        # The data's part of the covariance is that of the scores where they tell more than the curvature does.
        sandwich = inverse @ scores_covariance.matrix @ inverse
        sandwich[:10, :10] += inverse[:10, :10] @ prior @ inverse[:10, :10]
        covariance = sandwich if inverse_prior is None else _larger(sandwich, inverse)
        share = None
        if inverse_prior is not None:
            marginal = np.linalg.inv(data + prior)
            share = np.diag(marginal @ data @ marginal) / np.diag(marginal)
        return assemble_estimate(
            "logchol", problem, full, covariance, inflation=scores_covariance.inflation, data_share=share
        )

    def _minimise(self, start: FloatArray, data: FloatArray, inverse_prior: FloatArray | None) -> FloatArray:
        """Levenberg-Marquardt over theta of (phi - start)' data (phi - start) / 2 + d(J, J0) / deviation^2."""
        if self.prior is None or inverse_prior is None:  # the minimum may lie on the boundary, where theta is infinite
            return start if is_physically_consistent(start) else nearest_consistent(start, data)
        weight = 1.0 / self.relative_standard_deviation**2
        theta = log_cholesky_from_phi(self.prior.phi)
        damping, value = 1e-3, self._value(theta, start, data, inverse_prior, weight)
        for _ in range(STEPS):
            phi, slope = phi_from_log_cholesky(theta), log_cholesky_jacobian(theta)
            gradient = data @ (phi - start)
            curvature = data.copy()
            inverse = np.linalg.inv(pseudo_inertia_from_phi(phi))
            gradient = gradient + weight * np.einsum("kij,ji->k", _BASIS, inverse_prior - inverse)
            curvature += self._prior_information(phi)
            gradient, curvature = slope.T @ gradient, slope.T @ curvature @ slope
            scale = np.diag(np.maximum(np.diag(curvature), 1e-12 * np.diag(curvature).max()))
            for _ in range(30):
                step = np.linalg.solve(curvature + damping * scale, -gradient)
                step *= min(1.0, 1.0 / np.abs(step[:4]).max()) if np.abs(step[:4]).max() > 0 else 1.0
                following = self._value(theta + step, start, data, inverse_prior, weight)
                if following <= value:
                    break
                damping *= 10.0
            else:
                break
            decrease, value = value - following, following
            theta = theta + step
            damping = max(damping / 10.0, 1e-12)
            if decrease <= 1e-14 * max(value, 1.0) and np.abs(step).max() < 1e-9:
                break
        if not np.isfinite(value):
            raise IdentificationError("the log-Cholesky fit did not converge")
        return phi_from_log_cholesky(theta)

    def _value(
        self, theta: FloatArray, start: FloatArray, data: FloatArray, inverse_prior: FloatArray, weight: float
    ) -> float:
        phi = phi_from_log_cholesky(theta)
        product = pseudo_inertia_from_phi(phi) @ inverse_prior
        divergence = float(np.trace(product) - np.linalg.slogdet(product)[1] - 4.0)
        return 0.5 * float((phi - start) @ data @ (phi - start)) + weight * divergence

    def _prior_information(self, phi: FloatArray) -> FloatArray:
        """(10, 10) second derivative of the prior's term by phi."""
        turned = np.linalg.inv(pseudo_inertia_from_phi(phi)) @ _BASIS
        return np.asarray(np.einsum("aij,bji->ab", turned, turned) / self.relative_standard_deviation**2)


def _regularised(problem: PayloadProblem, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Parameters and information of data that do not determine everything: the least change from a guess phi."""
    parameters, weights = np.zeros(problem.num_unknowns), first_weights(problem)
    parameters[:10] = phi
    information = np.zeros((problem.num_unknowns,) * 2)
    for _ in range(3):
        factor = triangular_factor(problem, weights)
        information = factor[:-1, :-1].T @ factor[:-1, :-1]
        scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
        gap = factor[:-1, :-1].T @ factor[:-1, -1] - information @ parameters
        step = np.linalg.pinv(information / np.outer(scale, scale), rcond=1e-9, hermitian=True) @ (gap / scale) / scale
        parameters = parameters + step
        weights = residual_weights(problem, residuals(problem, parameters), phi)
    factor = triangular_factor(problem, weights)
    return parameters, factor[:-1, :-1].T @ factor[:-1, :-1]


def _larger(first: FloatArray, second: FloatArray) -> FloatArray:
    """The first covariance, with variances raised to those of the second where these are larger."""
    ratio = np.sqrt(np.maximum(np.diag(second) / np.maximum(np.diag(first), 1e-300), 1.0))
    return np.asarray(first * np.outer(ratio, ratio))
