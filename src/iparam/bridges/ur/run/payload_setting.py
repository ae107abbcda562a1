"""`set_payload`: an identified load becomes the payload that a controller reckons with, and is read back from it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.physical_bounds import ImplausibleLoadError as ImplausibleLoadError
from iparam.bridges.physical_bounds import Load
from iparam.bridges.physical_bounds import check_load as check_load
from iparam.bridges.ur.record.rows import configured_payload
from iparam.bridges.ur.rtde.client import RtdeStream
from iparam.bridges.ur.rtde.dashboard import robot_name_of
from iparam.bridges.ur.rtde.packets import ControllerVersion
from iparam.bridges.ur.run.command_client import ArmMotion
from iparam.errors import InputError
from iparam.export import IdentifiedLoad

READ_BACK_TIME = 3.0
"""Time for the controller to show the new payload [s]."""

_FIELDS = ("payload", "payload_cog", "payload_inertia")
UNITS = {"mass": "kg", "center_of_gravity": "m", "inertia": "kg m^2"}
_EXACT = 1e-12
_SAME = 1e-4  # relative and absolute: what a controller may round off


class Approve(Protocol):
    """Asks somebody whether the payload may be set; raises if not."""

    def __call__(self, robot_name: str, present: dict[str, Any] | None) -> None:
        """Ask.

        Args:
            robot_name: the arm's catalogue name.
            present: the payload that the controller has, see `configured_payload`; None if it does not say.
        """


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

    @property
    def taken(self) -> dict[str, str]:
        """What the controller made of each entry that was sent: "as sent", rounded by how much, or something else."""
        found: dict[str, str] = {}
        for key, value in self.sent.items():
            if value is None:
                found[key] = "not sent"
                continue
            if self.shown is None or key not in self.shown:
                found[key] = "not shown"
                continue
            wanted, shown = np.atleast_1d(value), np.atleast_1d(self.shown[key])
            off = float(np.abs(wanted - shown).max())
            if off <= _EXACT * max(1.0, float(np.abs(wanted).max())):
                found[key] = "as sent"
            elif np.allclose(shown, wanted, rtol=_SAME, atol=_SAME):
                found[key] = f"rounded, by {off:.2g} {UNITS[key]} at most"
            else:
                found[key] = f"NOT as sent, off by {off:.2g} {UNITS[key]}: a limit, or set by another program"
        return found


def check_credit(load: Load) -> None:
    """Refuse the result of an identification that discredits itself."""
    if reasons := load.discredited_by:
        raise ImplausibleLoadError(
            f"the result is discredited by {len(reasons)} of its remarks: "
            f"{'; '.join(repr(text) for text in reasons)}. Remove the cause and identify anew"
        )


def inertia_in_ur_order(load: IdentifiedLoad) -> FloatArray:
    """(6,) Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the centre of mass, in the flange's axes [kg m^2]."""
    inertia = load.inertia_about_com
    return np.array([inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))])


def can_set_inertia(version: ControllerVersion) -> bool:
    """Whether a controller has set_target_payload: from software 5.10 or 3.15 on."""
    return (version.major, version.minor) >= (5, 10) or (version.major == 3 and version.minor >= 15)


def set_payload(host: str, load: Load, approve: Approve, robot_name: str | None = None) -> PayloadReport:
    """Check a load, ask for approval, send it to a controller and read it back.

    Args:
        host: of the controller.
        load: in the flange's frame, which tool0 is.
        approve: is asked when everything else has been checked.
        robot_name: the arm's catalogue name, for a controller that does not say it.
    """
    with RtdeStream.open(host, ("timestamp",), _FIELDS) as stream:
        name = _robot_name(host, stream.version.major, robot_name)
        check_load(load, name)
        rows = stream.read(READ_BACK_TIME)
        approve(name, configured_payload(stream.columns, rows[-1]) if len(rows) else None)
    # Anew, because an answer may take its time.
    with RtdeStream.open(host, ("timestamp",), _FIELDS) as stream:
        inertia = None
        if isinstance(load, IdentifiedLoad) and can_set_inertia(stream.version):
            inertia = inertia_in_ur_order(load)
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


def _robot_name(host: str, major_version: int, given: str | None) -> str:
    """The arm's name, by the controller and by the user, who may not contradict it."""
    shown = robot_name_of(host, major_version)
    if shown is None and given is None:
        raise InputError(
            f"{host} does not say which arm it is, and what it carries at most: name it, e.g. ur5e", argument="robot"
        )
    if shown is not None and given not in (None, shown):
        raise ImplausibleLoadError(f"the controller's arm is a {shown}, got {given!r}", argument="robot", value=given)
    return shown or str(given)


def _agree(sent: dict[str, Any], shown: dict[str, Any]) -> bool:
    return all(
        np.allclose(shown[key], value, rtol=_SAME, atol=_SAME)
        for key, value in sent.items()
        if value is not None and key in shown
    )
