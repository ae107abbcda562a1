"""`iparam ur simulate`: an arm in MuJoCo behind the ports of a UR controller."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import arg

import iparam
from iparam.cli.console.printing import note, print_line
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.arm import ArmOptions
from iparam.cli.options.joint_state import exact_count, robot_of
from iparam.cli.options.mounting import MountingOptions
from iparam.cli.options.payload import PayloadOptions
from iparam.errors import InputError
from iparam.files.kind import FileKind
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.plausibility import check_angles

if TYPE_CHECKING:
    from iparam.bridges.ur.twin.twin import UrTwin


@dataclass(frozen=True, kw_only=True)
class UrSimulate(ArmOptions, MountingOptions, PayloadOptions):
    r"""A simulated arm that programs take for a real UR controller.

    ur_rtde's receive, control, I/O and dashboard interfaces work with it.

    Of ur_rtde it lacks, and ends the program at:
      forceMode forceModeStop forceModeSetDamping forceModeSetGainScaling
      servoC teachMode endTeachMode freedriveMode endFreedriveMode
      getFreedriveStatus toolContact moveUntilContact startContactDetection
      stopContactDetection readContactDetection setGravity directTorque
      getActualJointPositionsHistory ftRtdeInputEnable enableExternalFtSensor
      getMassMatrix getCoriolisAndCentrifugalTorques getJacobian
      getTargetJointAccelerations getJacobianTimeDerivative, and at
      getForwardKinematics(q, tcp): ur_rtde 1.6.5 sends more than was agreed on.
      Paths stop in each place; analog outputs and the slider do nothing.

    Only programs on this machine reach it unless --host says otherwise.

    A second twin takes another loopback address: --host 127.0.0.2.

    Ctrl-C ends it.

    Example:
      iparam ur simulate --payload box --mass 2 --size 0.1 0.15 0.2 --noise ur5e
      iparam ur simulate --host 127.0.0.2 --fault protective-stop@20 \
          --duration 60
    """

    robot: Annotated[str, arg(metavar="ROBOT")] = "ur5e"
    """A name from 'iparam robots', or the path of a robot file (URDF, xacro, MJCF, SDF); six joints."""
    tip: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the robot's own)")] = None
    """The frame taken as the flange: a link of the URDF, or 'flange'."""
    q: Annotated[tuple[float, ...], arg(metavar="Q0 Q1 ..", help_behavior_hint="(default: elbow up, flange down)")] = ()
    """Where the arm stands at first [rad]."""
    noise: Annotated[str, arg(metavar="PRESET")] = "ideal"
    """Noise of the sensors: ideal, ur5e or harsh."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """Of the noise."""
    motors: Annotated[str | None, arg(metavar="ARM", help_behavior_hint="(default: ideal ones)")] = None
    """Friction, rotors and currents of a real arm's motors: ur10e."""
    truth: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.TRUTH)
    ] = None
    """File for the payload's true inertial parameters: .json."""
    overwrite: Overwrite = False
    host: Annotated[str, arg(metavar="ADDRESS")] = "127.0.0.1"
    """IPv4 address to listen on."""
    rtde_port: Annotated[int, arg(metavar="PORT")] = 30004
    """Of RTDE; 0 takes a free one."""
    dashboard_port: Annotated[int, arg(metavar="PORT")] = 29999
    """Of the dashboard; 0 takes a free one."""
    script_ports: Annotated[tuple[int, ...], arg(metavar="PORT ..")] = (30001, 30002, 30003)
    """That take URScript."""
    duration: Annotated[float | None, arg(metavar="S", help_behavior_hint="(default: until Ctrl-C)")] = None
    """How long to serve [s]."""
    clock: Literal["simulated", "wall"] = "simulated"
    """simulated: it waits for 'iparam ur run' where this computer is too busy, whose guards then count on its
    clock and stop for faults alone. wall: it goes on, as a real one."""
    max_speed: Annotated[float | None, arg(metavar="M/S", help_behavior_hint="(default: as delivered, 1.5)")] = None
    """Tool speed of its safety configuration, at which it stops the arm [m/s]."""
    fault: Annotated[tuple[str, ...], arg(metavar="KIND@S ..", help_behavior_hint="")] = ()
    """Faults to have, for tests of clients: KIND@SECONDS, or KIND@NUMBERp after that many packets on a
    connection. Kinds: protective-stop, drop, half-packet, stall, garbage, refuse-version, clock-forward,
    clock-back."""

    def _check_ports(self) -> None:
        """Refuse ports that cannot be, or that two servers would have."""
        taken: dict[int, str] = {}
        for option, ports in (
            ("--rtde-port", (self.rtde_port,)),
            ("--dashboard-port", (self.dashboard_port,)),
            ("--script-ports", self.script_ports),
        ):
            for port in ports:
                if not 0 <= port < 65536:
                    raise InputError(f"{option} must be 0 to 65535, 0 for a free one, got {port}")
                if port and port in taken:
                    other = " twice" if taken[port] == option else f", which is that of {taken[port]}"
                    raise InputError(
                        f"{option} has {port}{other}: each server needs a port of its own, 0 takes a free one"
                    )
                taken[port] = option

    def run(self) -> None:
        """Serve."""
        if self.duration is not None and not self.duration > 0.0:
            raise InputError(f"--duration must be positive, got {self.duration:g} s")
        self._check_ports()
        gravity = self.given_gravity()
        robot = robot_of(self.robot, self.tip, **self.cut())
        start = exact_count(self.q, "--q", "one for each joint [rad]", 6) if self.q else iparam.bridges.ur.HOME
        check_angles(start, robot, "--q")
        if self.motors is not None and self.motors != robot.name:
            note(f"--motors {self.motors} are those of another arm than {robot.name}")
        x, y, z = STANDARD_GRAVITY if gravity is None else gravity.tolist()
        twin = iparam.bridges.ur.UrTwin(
            robot,
            self.carried(),
            host=self.host,
            ports=iparam.bridges.ur.TwinPorts(self.rtde_port, self.dashboard_port, self.script_ports),
            noise=self.noise,
            seed=self.seed,
            motors=iparam.simulation.motors(self.motors) if self.motors is not None else None,
            q=start,
            faults=[iparam.bridges.ur.Fault.parse(text) for text in self.fault],
            notice=note,
            gravity=(x, y, z),
            clock=self.clock,
            tool_speed=self.max_speed,
        )
        # Both signals are an orderly end: a server has no other.
        previous = {number: signal.signal(number, lambda *_: twin.stop()) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            if self.truth is not None:
                twin.truth.save(self.truth)
            self._announce(twin)
            twin.run(self.duration)
        finally:
            twin.close()
            for number, handler in previous.items():
                signal.signal(number, handler)
        note(f"ended after {twin.time:.1f} s")

    def _announce(self, twin: UrTwin) -> None:
        ports = twin.ports
        scripts = ", ".join(str(port) for port in ports.script)
        print_line(
            f"ready: {self.robot} at {twin.host}, RTDE {ports.rtde}, dashboard {ports.dashboard}, script {scripts}; "
            f"connect with: iparam ur record --host {twin.host}"
        )
        sys.stdout.flush()
