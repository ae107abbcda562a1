"""`set_payload`: an identified load becomes the payload that a controller reckons with, and is read back from it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ur.arm_motion import ArmMotion
from iparam.bridges.ur.dashboard_query import robot_name_of
from iparam.bridges.ur.recording_of_rows import configured_payload
from iparam.bridges.ur.rtde_client import RtdeStream
from iparam.bridges.ur.rtde_packets import ControllerVersion
from iparam.errors import IparamError
from iparam.export import IdentifiedLoad

LARGEST_MASS = {"ur3": 3.0, "ur5": 5.0, "ur10": 10.0, "ur3e": 3.0, "ur5e": 5.0, "ur10e": 12.5, "ur16e": 16.0} | {
    "ur20": 25.0,
    "ur30": 35.0,
}
"""Rated payload of the arms [kg], the higher one where the maker gives two."""

LARGEST_DISTANCE = 0.5
"""Of a centre of gravity from the flange that is believed [m]."""

READ_BACK_TIME = 3.0
"""Time for the controller to show the new payload [s]."""

_FIELDS = ("payload", "payload_cog", "payload_inertia")
_SAME = 1e-4  # relative and absolute: what a controller may round off


class ImplausibleLoadError(IparamError):
    """A load that no controller should be told; the message says why."""


@dataclass(frozen=True)
class PayloadReport:
    """What was sent and what the controller shows afterwards.

    Attributes:
        sent: "mass" [kg], "center_of_gravity" (3,) [m], "inertia" (6,) [kg m^2] or None where it cannot be set.
        shown: the same, as the controller reports it; None if it does not.
        arrived: whether both agree; None if the controller does not show it.
    """

    sent: dict[str, Any]
    shown: dict[str, Any] | None
    arrived: bool | None


def check_load(load: IdentifiedLoad, robot_name: str | None) -> None:
    """Refuse a load that is impossible, or that the arm cannot carry.

    Args:
        load: the load.
        robot_name: the arm's catalogue name, None if unknown: then the largest arm's limit counts.
    """
    load.require_consistency()
    largest = LARGEST_MASS.get(robot_name or "", max(LARGEST_MASS.values()))
    if not 0.0 < load.mass <= largest:
        raise ImplausibleLoadError(
            f"a mass of {load.mass:.4g} kg: {robot_name or 'the largest UR arm'} carries up to {largest:g} kg. Look at "
            "the result's warnings and identify anew"
        )
    distance = float(np.linalg.norm(load.center_of_mass))
    if distance > LARGEST_DISTANCE:
        raise ImplausibleLoadError(
            f"a centre of mass {distance:.3g} m from the flange: more than {LARGEST_DISTANCE:g} m is not believed. "
            "Look at the result's warnings and identify anew"
        )


def inertia_in_ur_order(load: IdentifiedLoad) -> FloatArray:
    """(6,) Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the centre of mass, in the flange's axes [kg m^2]."""
    inertia = load.inertia_about_com
    return np.array([inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))])


def can_set_inertia(version: ControllerVersion) -> bool:
    """Whether a controller has set_target_payload: from software 5.10 or 3.15 on."""
    return (version.major, version.minor) >= (5, 10) or (version.major == 3 and version.minor >= 15)


def set_payload(host: str, load: IdentifiedLoad, robot_name: str | None = None) -> PayloadReport:
    """Check a load, send it to a controller and read it back.

    Args:
        host: of the controller.
        load: in the flange's frame, which tool0 is.
        robot_name: the arm's catalogue name, None to ask the controller.
    """
    with RtdeStream.open(host, ("timestamp",), _FIELDS) as stream:
        check_load(load, robot_name or robot_name_of(host, stream.version.major))
        inertia = inertia_in_ur_order(load) if can_set_inertia(stream.version) else None
        with ArmMotion(host) as motion:
            motion.connect()
            motion.set_payload(load.mass, load.center_of_mass, inertia)
            sent = {
                "mass": load.mass,
                "center_of_gravity": load.center_of_mass.tolist(),
                "inertia": None if inertia is None else inertia.tolist(),
            }
            shown, arrived = None, None
            deadline = time.monotonic() + READ_BACK_TIME
            while not arrived and time.monotonic() < deadline:
                rows = stream.read(0.1)
                if len(rows):
                    shown = configured_payload(stream.columns, rows[-1])
                    if shown is None:
                        break
                    arrived = _agree(sent, shown)
    return PayloadReport(sent, shown, arrived)


def _agree(sent: dict[str, Any], shown: dict[str, Any]) -> bool:
    return all(
        np.allclose(shown[key], value, rtol=_SAME, atol=_SAME)
        for key, value in sent.items()
        if value is not None and key in shown
    )
