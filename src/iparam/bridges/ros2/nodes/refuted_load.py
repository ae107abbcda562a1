"""`refuted_sentence`: why a load is refuted, with the parameters of a node that put it right."""

from __future__ import annotations

from iparam.estimation.estimate import Cause, Refutation

MOST_CAUSES = 2
"""Causes that are told, best first: a diagnostic is a line."""

PARAMETERS = {"gravity": "gravity", "measures": "measures"}
"""Options of the commands that are parameters of a node, whatever the sensor's frame is."""

OF_SENSOR = {"sensor-rotation": "sensor_rotation", "sensor-offset": "sensor_offset"}
"""Those that say the same where the sensor is said to be the tool frame itself, and in its tool axes elsewhere."""


def refuted_sentence(refutation: Refutation, in_tool: bool) -> str:
    """The reason and the best causes.

    Args:
        refutation: of the load.
        in_tool: whether the wrench is said to be in the tool's frame.
    """
    return " ".join([refutation.reason, *(_told(cause, in_tool) for cause in refutation.causes[:MOST_CAUSES])])


def _told(cause: Cause, in_tool: bool) -> str:
    """What a cause would explain, with the parameter instead of the option."""
    option, *values = cause.correction.split() or [""]
    name, given = option.removeprefix("--"), f": add {cause.correction}"
    if not cause.correction or given not in cause.sentence:
        return cause.sentence
    value = values[0] if len(values) == 1 else f"[{', '.join(_as_float(text) for text in values)}]"
    if len(values) > 3:  # several options, or one that no node has
        name = ""
    if name in PARAMETERS or (in_tool and name in OF_SENSOR):
        return cause.sentence.replace(given, f": set {name.replace('-', '_')} to {value}")
    if name in OF_SENSOR:
        return cause.sentence.replace(given, f": correct the sensor's frame, by {value} in the tool's axes")
    return cause.sentence.replace(given, f" (off line: {cause.correction})")


def _as_float(text: str) -> str:
    """A number as ROS 2 takes it for a floating-point one."""
    return text if "." in text or "e" in text else f"{text}.0"
