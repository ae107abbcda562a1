"""`UrTwin`: the simulated arm behind the ports of a UR controller."""

from __future__ import annotations

import math
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

import numpy as np
from doubles.ur_controller.arm import HOME, ArmSample, TwinArm
from doubles.ur_controller.controller import TwinController
from doubles.ur_controller.dashboard import Dashboard
from doubles.ur_controller.motion import PERIOD
from doubles.ur_controller.rtde import InputOwners, RtdeSession
from doubles.ur_controller.sockets import CLOCK_JUMP, GARBAGE, Connection, Fault, FaultKind, SocketServer
from doubles.ur_controller.urscript import ScriptReader

from iparam.arrays import FloatArray
from iparam.bridges.ur.rtde.packets import RTDE_PORT
from iparam.bridges.ur.rtde.simulated_time import PATIENCE
from iparam.errors import InputError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.catalog import DELIVERED, safety_limits
from iparam.robot.model import Robot
from iparam.sensing.noise import NoiseModel, noise_preset
from iparam.simulation import GroundTruth, Motors, Payload
from iparam.spatial.parameters import InertialParameters

MOST_BEHIND = 10
"""Periods that a slow machine may make up for at once; beyond them the controller's clock loses time. Few, because its
clients cannot act meanwhile: they would seem silent to its watchdog."""

NOTICES = 200


@dataclass(frozen=True)
class TwinPorts:
    """The ports; `ur_rtde` knows no others than these.

    Attributes:
        rtde: real-time data.
        dashboard: lines of text.
        script: each takes URScript.
    """

    rtde: int = RTDE_PORT
    dashboard: int = 29999
    script: tuple[int, ...] = (30001, 30002, 30003)


class UrTwin:
    """A UR e-Series controller with a simulated arm, for clients on the network.

    One loop does everything: it answers the clients and lets the arm move in pace with the wall clock, or slower where
    a client that knows of simulated time cannot keep up. Run it in this thread with `run`, or in one of its own with
    `start`; as a context manager it starts and closes itself. A client written in C++ that keeps Python from running
    while it waits (the constructors of `ur_rtde`'s interfaces do) needs the twin in another process: ``iparam ur
    simulate``.

    Args:
        robot: with six joints.
        payload: what it carries; clients learn of it only what the sensors show.
        host: address to listen on.
        ports: to listen on; 0 takes any free one.
        noise: of the sensors, or the name of a preset.
        seed: of the noise.
        motors: rotors, friction and currents of the arm's motors; None for ideal ones.
        q: (6,) where the arm stands at first [rad].
        faults: to have.
        gravity: (3,) in base axes [m/s^2].
        notice: is told what a controller would write into its log.
        clock: "simulated" waits for clients of iparam that are late, see `iparam.bridges.ur.rtde.simulated_time`; on
            "wall" it is to them as a real controller.
        tool_speed: limit on the tool's speed in its safety configuration [m/s], and the others in proportion if it is
            higher; as delivered if not given.

    Attributes:
        host: that it listens on.
        ports: that it listens on.
        notices: the last ones, oldest first.
    """

    def __init__(
        self,
        robot: Robot,
        payload: Payload | None = None,
        *,
        host: str = "127.0.0.1",
        ports: TwinPorts | None = None,
        noise: NoiseModel | str = "ideal",
        seed: int = 0,
        motors: Motors | None = None,
        q: FloatArray = HOME,
        faults: Sequence[Fault] = (),
        notice: Callable[[str], None] | None = None,
        gravity: tuple[float, float, float] = STANDARD_GRAVITY,
        clock: Literal["simulated", "wall"] = "simulated",
        tool_speed: float | None = None,
    ) -> None:
        model = noise_preset(noise) if isinstance(noise, str) else noise
        if seed < 0:
            raise InputError(f"seed must be at least 0, got {seed}")
        safety = safety_limits(robot) or DELIVERED
        if tool_speed is not None:
            if not (math.isfinite(tool_speed) and tool_speed > 0.0):
                raise InputError(f"the limit on the tool's speed must be positive, got speed={tool_speed!r} m/s")
            safety = safety.with_tool_speed(tool_speed)
        self.notices = deque[str](maxlen=NOTICES)
        self._tell = notice
        self._faults = list(faults)
        self._asked = deque[FaultKind]()
        self._random = random.Random(seed)
        self._refuse_version = False
        self._owners = InputOwners()
        self._waiting: float | None = None  # since when the clock waits for a client, on the wall clock
        self._stopping = False  # no event: a signal handler must not wait for its lock
        self._thread: threading.Thread | None = None
        self._payload, self._robot = payload, robot
        self.host = host
        self._server = SocketServer(host, self._notice)
        wanted = ports if ports is not None else TwinPorts()
        try:
            rtde = self._server.listen(
                wanted.rtde, lambda: RtdeSession(self._controller, self._owners, self._refuse_version)
            )
            dashboard = self._server.listen(wanted.dashboard, lambda: Dashboard(self._controller))
            scripts = [self._server.listen(port, lambda: ScriptReader(self._controller)) for port in wanted.script]
            self.ports = TwinPorts(rtde, dashboard, tuple(scripts))
            arm = TwinArm(robot, payload, q, motors, gravity)
            self._controller = TwinController(arm, model, seed, self._notice, motors, clock == "simulated", safety)
        except BaseException:
            self._server.close_all()
            raise

    @property
    def truth(self) -> GroundTruth:
        """What the arm carries: for whoever tests a client, not for the client."""
        nothing = InertialParameters(0.0, np.zeros(3), np.zeros((3, 3)))
        carried = self._payload.parameters if self._payload is not None else nothing
        return GroundTruth(carried, self._robot.tool_frame)

    @property
    def sample(self) -> ArmSample:
        """The arm at the last instant, as the physics has it."""
        return self._controller.sample

    @property
    def time(self) -> float:
        """Of the controller since its start [s]."""
        return self._controller.time

    def start(self) -> UrTwin:
        """Run in a thread of its own until `close`."""
        self._thread = threading.Thread(target=self.run, name="iparam-ur-twin", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Let `run` return; may be called from a signal handler."""
        self._stopping = True

    def close(self) -> None:
        """Stop and close every connection."""
        self.stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._server.close_all()

    def inject(self, kind: FaultKind | str) -> None:
        """Have a fault now."""
        self._asked.append(Fault(FaultKind(kind), seconds=0.0).kind)

    def protective_stop(self) -> None:
        """Make a protective stop now."""
        self.inject(FaultKind.PROTECTIVE_STOP)

    def run(self, duration: float | None = None) -> None:
        """Serve until `stop`, or for ``duration`` [s] of the controller's time."""
        begin, done = time.monotonic(), 0
        while not self._stopping:
            elapsed = time.monotonic() - begin
            behind = int(elapsed / PERIOD) - done
            if behind <= 0:
                self._server.serve((done + 1) * PERIOD - elapsed)
                continue
            if self._held():
                self._server.serve(PERIOD)
                begin = time.monotonic() - (done + 1) * PERIOD  # what was waited for is not made up for
                continue
            if behind > MOST_BEHIND:
                begin += (behind - MOST_BEHIND) * PERIOD
                self._notice("this machine is too slow: the controller's clock loses time")
            self._server.serve(0.0)
            self._tick()
            done += 1
            if duration is not None and done * PERIOD >= duration:
                return

    def __enter__(self) -> UrTwin:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ----------------------------------------------------------------------------------------------------------- time
    def _held(self) -> bool:
        """Whether a client of simulated time has not said yet that the next period may come."""
        held = [one for _, one in self._rtde() if one.run_until < self._controller.time + 0.5 * PERIOD]
        if not held:
            self._waiting = None
            return False
        now = time.monotonic()
        self._waiting = now if self._waiting is None else self._waiting
        if now - self._waiting <= PATIENCE:
            return True
        self._notice(f"a client that the clock waits for was silent for {PATIENCE:g} s: time goes on without it")
        for session in held:
            session.run_until = math.inf
        self._waiting = None
        return False

    def _tick(self) -> None:
        self._controller.tick()
        self._have_faults()
        for connection, session in self._rtde():
            if data := session.tick():
                self._server.send(connection, data)
        self._server.flush()

    def _rtde(self) -> list[tuple[Connection, RtdeSession]]:
        return [(one, one.session) for one in self._server.connections if isinstance(one.session, RtdeSession)]

    def _have_faults(self) -> None:
        if not self._faults and not self._asked:
            return
        packets = max((session.packets for _, session in self._rtde()), default=0)
        due = [fault for fault in self._faults if fault.due(self._controller.time, packets)]
        self._faults = [fault for fault in self._faults if fault not in due]
        kinds = [fault.kind for fault in due]
        while self._asked:
            kinds.append(self._asked.popleft())
        for kind in kinds:
            self._have_fault(kind)

    def _have_fault(self, kind: FaultKind) -> None:
        self._notice(f"fault {kind} at {self._controller.time:.3f} s")
        match kind:
            case FaultKind.PROTECTIVE_STOP:
                self._controller.protective_stop("injected")
            case FaultKind.REFUSE_VERSION:
                self._refuse_version = True
            case FaultKind.CLOCK_FORWARD:
                self._controller.clock_error += CLOCK_JUMP
            case FaultKind.CLOCK_BACK:
                self._controller.clock_error -= CLOCK_JUMP
            case _:
                for connection, session in self._rtde():
                    self._break_stream(kind, connection, session)

    def _break_stream(self, kind: FaultKind, connection: Connection, session: RtdeSession) -> None:
        if kind is FaultKind.DROP:
            self._server.close(connection)
        elif session.streaming:
            if kind is FaultKind.GARBAGE:
                self._server.send(connection, self._random.randbytes(GARBAGE))
                return
            packet = session.packet()
            session.stalled = True
            session.ended = kind is FaultKind.HALF_PACKET
            self._server.send(connection, packet[: len(packet) // 2])

    def _notice(self, text: str) -> None:
        if text not in self.notices:  # a client that repeats its mistake 500 times a second is told once
            self.notices.append(text)
            if self._tell is not None:
                self._tell(text)
