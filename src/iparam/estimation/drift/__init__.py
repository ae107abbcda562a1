"""A sensor's bias that is not constant."""

from iparam.estimation.drift.bias_drift import BiasDrift, find_drift, without_drift

__all__ = ["BiasDrift", "find_drift", "without_drift"]
