"""Compiled parts of the excitation planner. Nothing here checks its input."""
