"""A controller's dashboard server: questions for its model, and whether it takes orders from outside; and the one
command that iparam gives there, to unlock a protective stop, which whoever calls it has to have been asked for.
"""

from __future__ import annotations

import re
from contextlib import suppress

from iparam.bridges.ur.rtde.client import ArmConnectionError, connect_socket
from iparam.robot.catalog import robot_names

DASHBOARD_PORT = 29999
PATIENCE = 1.0
"""Time to answer [s]."""

_MOST = 4096  # bytes of an answer


def ask_dashboard(host: str, question: str) -> str | None:
    """The answer to a question, e.g. "get robot model", or None if there is no dashboard that answers."""
    try:
        connection = connect_socket(host, DASHBOARD_PORT, PATIENCE, "dashboard")
    except ArmConnectionError:
        return None
    with connection, suppress(OSError, UnicodeDecodeError):
        stream = connection.makefile("rb")
        stream.readline(_MOST)  # its greeting
        connection.sendall(question.encode("ascii") + b"\n")
        return stream.readline(_MOST).decode("ascii").strip() or None
    return None


def robot_name_of(host: str, major_version: int) -> str | None:
    """The catalogue's name of the arm at ``host``, or None if it cannot be known.

    Args:
        host: of the controller.
        major_version: of its software: 5 and later run the e-Series, whose models the dashboard names like the older.
    """
    answer = ask_dashboard(host, "get robot model")
    match = re.fullmatch(r"UR(\d+)(e?)", answer or "", flags=re.IGNORECASE)
    if match is None:
        return None
    plain = f"ur{match[1]}"
    named = [f"{plain}e", plain] if major_version >= 5 or match[2] else [plain]
    return next((name for name in named if name in robot_names()), None)


def takes_remote_control(host: str) -> bool | None:
    """Whether the controller accepts programs from the network; None if it does not say (software before 5.6)."""
    return {"true": True, "false": False}.get((ask_dashboard(host, "is in remote control") or "").lower())


def unlock_protective_stop(host: str) -> str | None:
    """Ask the controller to unlock a protective stop, and close the window about it; its answer, None without one.

    A controller refuses that for the first five seconds after the stop.
    """
    ask_dashboard(host, "close safety popup")
    return ask_dashboard(host, "unlock protective stop")
