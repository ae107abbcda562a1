"""`iparam ur set-payload`: tells a UR controller what hangs on its flange."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import AsJson, note, note_remark, print_json, print_line, print_table
from iparam.cli.ur.options import HostOption, confirm, require_somebody_to_ask
from iparam.errors import InputError, IparamError
from iparam.export.load import DEFAULT_FRAME
from iparam.robot.catalog.ur_robot import TOOL_FRAME as FLANGE
from iparam.rounding import numbers

if TYPE_CHECKING:
    from iparam.bridges.ur.run.payload_setting import PayloadReport


@dataclass(frozen=True, kw_only=True)
class SetPayload(HostOption):
    r"""Set a controller's payload to an identified load, and read it back.

    Loads that cannot be, or that the arm cannot carry, are refused.

    So are results that their own warnings discredit.

    The exit code is 0 only if the controller does not show another payload.

    Example:
      iparam ur set-payload result.json --host 192.168.0.10
    """

    result: Positional[Annotated[Path, arg(metavar="RESULT")]]
    """The load, from 'iparam identify payload --output': .json."""
    robot: Annotated[
        str | None, arg(metavar="ur3e|ur5e|ur10e|..", help_behavior_hint="(default: ask the controller)")
    ] = None
    """A name from 'iparam robots', for a controller that does not say which arm it has."""
    accept_warnings: Annotated[bool, arg(help_behavior_hint="")] = False
    """Send a result whose remarks discredit it: you know better, and why."""
    yes: Annotated[bool, arg(help_behavior_hint="")] = False
    """Send without asking first. Needed where there is no terminal."""
    json: AsJson = False

    def run(self) -> None:
        """Check, send, read back and print."""
        load = iparam.export.read_load(self.result)
        if load.frame not in (DEFAULT_FRAME, FLANGE):
            raise InputError(
                f"{self.result} is in frame {load.frame!r}, and a controller wants the flange's, {FLANGE}: identify "
                "with the robot's own tool frame"
            )
        name = self._named_arm()
        # Before any connection, as far as it goes.
        load.require_consistency()
        if name is not None:
            iparam.bridges.ur.check_load(load, name)
        if not self.accept_warnings:
            try:
                iparam.bridges.ur.check_credit(load)
            except iparam.bridges.ur.ImplausibleLoadError as error:
                raise iparam.bridges.ur.ImplausibleLoadError(
                    f"{self.result}: {error}; --accept-warnings sends it nevertheless"
                ) from None
        require_somebody_to_ask(self.yes, "set the payload", "it may be set")
        for one in load.remarks:
            note_remark(one)

        def approve(robot_name: str, present: dict[str, Any] | None) -> None:
            stated = load.robot.lower() if isinstance(load, iparam.export.IdentifiedLoad) else ""
            if stated in iparam.robot_names() and stated != robot_name:
                note(
                    f"{self.result} was identified on a {stated}, and {self.host} has a {robot_name}: right only if "
                    "the load was moved from the one to the other"
                )
            center = " ".join(numbers(1e3 * load.center_of_mass, 1))
            now = "" if present is None else f", now {present['mass']:.4g} kg"
            confirm(
                f"Set the payload of {self.host} ({robot_name}{now}) to {load.mass:.4f} kg at {center} mm?",
                self.yes,
                "the controller keeps its payload",
            )

        report = iparam.bridges.ur.set_payload(self.host, load, approve, name)
        self._report(report)
        if report.arrived is False:
            raise IparamError(f"{self.host} shows another payload than it was sent: is another program setting it?")
        if report.arrived is None:
            note("the controller does not show its payload, so that it could not be read back")

    def _named_arm(self) -> str | None:
        """The catalogue name that --robot gives, if any; a file, as in a setup, leaves it to the controller."""
        if self.robot is None or self.robot.lower() in iparam.robot_names():
            return None if self.robot is None else self.robot.lower()
        if Path(self.robot).is_file():
            note(f"{self.robot} is a robot file: what the arm carries at most, its controller says")
            return None
        raise InputError(f"--robot {self.robot}: no UR arm of that name; known: {', '.join(iparam.robot_names())}")

    def _report(self, report: PayloadReport) -> None:
        if self.json:
            print_json({"sent": report.sent, "shown": report.shown, "arrived": report.arrived, "taken": report.taken})
            return
        rows = []
        for key, label, unit in (
            ("mass", "mass", "kg"),
            ("center_of_gravity", "centre of gravity", "m"),
            ("inertia", "Ixx Iyy Izz Ixy Ixz Iyz", "kg m^2"),
        ):
            rows.append([f"{label} [{unit}]", _text(report.sent[key]), _text((report.shown or {}).get(key))])
        print_table(f"{self.host}: payload in the flange's frame", ["", "sent", "shown by the controller"], rows)
        print_line()
        for key, what in report.taken.items():
            print_line(f"{key.replace('_', ' '):<18}{what}")
        if report.sent["inertia"] is None:
            note("no inertia was sent: rests do not tell it, or the controller's software is older than 5.10")
        print_line()
        print_line("It holds until a program or the installation sets another payload.")


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return " ".join(numbers(value if isinstance(value, list) else [value], 5))
