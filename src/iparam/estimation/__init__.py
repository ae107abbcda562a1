"""Estimation of a payload's inertial parameters, with how far each estimate can be trusted."""

from iparam.estimation.compensation import compensate_wrench
from iparam.estimation.consistent import ConsistentLeastSquares
from iparam.estimation.errors import IdentificationError, NotIdentifiableError
from iparam.estimation.estimate import Estimate, StandardDeviations, Wrench
from iparam.estimation.estimator import Estimator
from iparam.estimation.identifiability import problem_identifiability
from iparam.estimation.identify import DEFAULT_METHOD, METHODS, identify_payload, make_estimator
from iparam.estimation.incremental_svd import IncrementalSVD
from iparam.estimation.instrumental import InstrumentalVariables
from iparam.estimation.least_squares import LeastSquares, WeightedLeastSquares
from iparam.estimation.log_cholesky import LogCholesky
from iparam.estimation.metrics import AccuracyReport, accuracy, geodesic_distance, relative_errors
from iparam.estimation.online import OnlineEstimate, OnlineIdentifier, OnlineSettings
from iparam.estimation.problem import PayloadProblem
from iparam.estimation.recording_problem import problem_from_recording
from iparam.estimation.recursive import RecursiveInstrumentalVariables, RecursiveLeastSquares
from iparam.estimation.recursive_total import RecursiveTotalLeastSquares
from iparam.estimation.regressor_uncertainty import RegressorUncertainty, regressor_uncertainty
from iparam.estimation.robust import HuberLeastSquares
from iparam.estimation.total_least_squares import TotalLeastSquares

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "AccuracyReport",
    "ConsistentLeastSquares",
    "Estimate",
    "Estimator",
    "HuberLeastSquares",
    "IdentificationError",
    "IncrementalSVD",
    "InstrumentalVariables",
    "LeastSquares",
    "LogCholesky",
    "NotIdentifiableError",
    "OnlineEstimate",
    "OnlineIdentifier",
    "OnlineSettings",
    "PayloadProblem",
    "RecursiveInstrumentalVariables",
    "RecursiveLeastSquares",
    "RecursiveTotalLeastSquares",
    "RegressorUncertainty",
    "StandardDeviations",
    "TotalLeastSquares",
    "WeightedLeastSquares",
    "Wrench",
    "accuracy",
    "compensate_wrench",
    "geodesic_distance",
    "identify_payload",
    "make_estimator",
    "problem_from_recording",
    "problem_identifiability",
    "regressor_uncertainty",
    "relative_errors",
]
