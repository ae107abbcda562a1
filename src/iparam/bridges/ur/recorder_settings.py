"""`RecorderSettings`: which controller to record from, and how."""

from __future__ import annotations

from dataclasses import dataclass

from iparam.bridges.ur.controller_signals import Measures, WrenchChoice
from iparam.bridges.ur.rtde_packets import RTDE_PORT
from iparam.robot.model import Robot


@dataclass(frozen=True)
class RecorderSettings:
    """What to record, and how.

    Attributes:
        host: the controller's name or address.
        robot: the arm.
        robot_name: how the recording names it: a catalogue name or the path of its URDF.
        port: of RTDE.
        wrench: field to make the wrench from.
        measures: whose wrench the controller reports.
        give_up_after: time without a connection after which the recording ends [s].
    """

    host: str
    robot: Robot
    robot_name: str
    port: int = RTDE_PORT
    wrench: WrenchChoice = "auto"
    measures: Measures = "reaction"
    give_up_after: float = float("inf")
