"""What a controller's modes and safety states mean, and which of them a motion may go on in."""

from __future__ import annotations

ROBOT_MODES = {
    -1: "no controller",
    0: "disconnected",
    1: "waiting for the safety confirmation",
    2: "booting",
    3: "powered off",
    4: "powered on, brakes closed",
    5: "idle, brakes closed",
    6: "in freedrive",
    7: "running",
    8: "updating its firmware",
}
RUNNING = 7

SAFETY_STATES = {
    1: "normal",
    2: "reduced",
    3: "protective stop",
    4: "recovery",
    5: "safeguard stop",
    6: "emergency stop (system)",
    7: "emergency stop (robot)",
    8: "violation",
    9: "fault",
}
"""Those that safety_mode and safety_status share; later software has more, all of which are stops."""

MOVING_STATES = (1, 2)
"""Safety states in which an arm may move: normal and reduced."""


def robot_mode_name(mode: int) -> str:
    """A robot_mode in words."""
    return ROBOT_MODES.get(mode, f"in an unknown mode ({mode})")


def safety_name(state: int) -> str:
    """A safety_status or safety_mode in words."""
    return SAFETY_STATES.get(state, f"safety state {state}")
