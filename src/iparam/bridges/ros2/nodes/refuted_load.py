"""`refuted_sentence`: why a load is refuted, with the parameters of a node that correct it."""

from __future__ import annotations

from iparam.estimation.estimate import Cause, Refutation
from iparam.remarks import Plain, fix_text

MOST_CAUSES = 2
"""Causes that are told, best first: a diagnostic is a line."""

PARAMETERS = ("gravity", "measures")
"""Corrections that are parameters of a node, whatever the sensor's frame is."""

OF_SENSOR = ("sensor_rotation", "sensor_offset")
"""Those that are parameters where the wrench is stated in the tool frame; elsewhere the sensor's frame says it."""


def refuted_sentence(refutation: Refutation, in_tool: bool) -> str:
    """The reason and the best causes.

    Args:
        refutation: of the load.
        in_tool: whether the wrench is stated in the tool's frame.
    """
    return " ".join([refutation.reason, *(_told(cause, in_tool) for cause in refutation.causes[:MOST_CAUSES])])


def _told(cause: Cause, in_tool: bool) -> str:
    """What a cause would explain, and what to change."""
    if not cause.fix:
        return cause.sentence
    names = set(cause.fix)
    if names <= {*PARAMETERS, *(OF_SENSOR if in_tool else ())}:
        parameters = ", ".join(f"{name} to {_parameter(value)}" for name, value in cause.fix.items())
        return f"{cause.sentence} Set {parameters}."
    where = "Correct the sensor's frame, in the tool's axes" if names <= set(OF_SENSOR) else "Off line"
    return f"{cause.sentence} {where}: {fix_text(cause.fix)}."


def _parameter(value: Plain) -> str:
    """A value as ROS 2 takes it: numbers of a list as floating-point ones."""
    if isinstance(value, tuple):
        return f"[{', '.join(str(float(f'{x:.6g}') if isinstance(x, float | int) else x) for x in value)}]"
    return str(value)
