"""Corrections that are estimated along with the load, and the calibration of a sensor by a load that is known."""
