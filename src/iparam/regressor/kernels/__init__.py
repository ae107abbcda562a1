"""Compiled regressors, on the same forward steps as the kinematics. Nothing here checks its input."""
