"""The program that `ur_rtde`'s control interface uploads, as the twin runs it.

The client steers its program through registers: the number of a command and its arguments go in, "ready" and "done" and
results come out. The twin does not interpret the uploaded text: it recognises it and runs a loop of its own that keeps
the same agreement. What of it the twin does not model, see `NOT_MODELLED`, ends the program with a notice, so that the
client does not take for done what was not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ur.twin.controller import STOP_DECELERATION, TwinController
from iparam.bridges.ur.twin.kinematics import pose_matrix
from iparam.bridges.ur.twin.load import KnownLoad
from iparam.bridges.ur.twin.motion import PERIOD, MoveJ, MoveL, Program, ProgramError, SpeedJ, SpeedL
from iparam.bridges.ur.twin.tool_commands import Place, ToolCommands, places_of

READY, DONE = 1, 2  # what the program writes into its first output register
STOP = 255
_JOG_STOP = 1.2  # rad/s^2

# Commands that the client repeats at 500 Hz, or waits for in one period: they are carried out in every period, and the
# program stays "ready".
_STREAMED = {6, 9, 10, 11, 24, 25, 26, 27, 38, 58, 66, 67, 68, 69, 70, 71}

NOT_MODELLED = {
    6: "forceMode",
    7: "forceModeStop",
    12: "servoC",
    18: "teachMode",
    19: "endTeachMode",
    20: "forceModeSetDamping",
    21: "forceModeSetGainScaling",
    25: "toolContact",
    27: "getActualJointPositionsHistory",
    51: "moveUntilContact",
    52: "freedriveMode",
    53: "endFreedriveMode",
    54: "getFreedriveStatus",
    56: "ftRtdeInputEnable",
    57: "enableExternalFtSensor",
    59: "setGravity",
    62: "startContactDetection",
    63: "stopContactDetection",
    64: "readContactDetection",
    66: "directTorque",
    67: "getMassMatrix",
    68: "getCoriolisAndCentrifugalTorques",
    69: "getTargetJointAccelerations",
    70: "getJacobian",
    71: "getJacobianTimeDerivative",
}
"""Commands of the client's program that end it: what the twin's arm cannot do, there is nothing that it could touch, or
what a controller of its version does not have."""

_OFFSETS = re.compile(r"reg_offset_float = [^\n]*\n\s*(\d+).*?reg_offset_int = [^\n]*\n\s*(\d+)", re.DOTALL)


def control_program(text: str, controller: TwinController) -> Program | None:
    """The program for ``text`` if that is what `ur_rtde` uploads; None if it is something else."""
    if not re.match(r"\s*def rtde_control\(\):", text) or "def signal_done_with_cmd():" not in text:
        return None
    found = _OFFSETS.search(text)
    floats, integers = (int(found[1]), int(found[2])) if found else (0, 0)
    return Program("rtde_control", ControlScript(controller, floats, integers, places_of(text)).steps())


class ControlScript:
    """The loop.

    Args:
        controller: that it runs on.
        float_offset, integer_offset: number of the first register that the client uses, 0 or 24.
        path: that the client has written into the program.
    """

    def __init__(
        self, controller: TwinController, float_offset: int, integer_offset: int, path: tuple[Place, ...] = ()
    ) -> None:
        self._controller, self._arm = controller, controller.arm
        self._tool, self._path = ToolCommands(controller), path
        self._floats, self._integers = float_offset, integer_offset
        self._watchdog = 0.0
        self._operation = self._writes = 0
        self._in_background = False
        self._streamed: dict[int, Callable[[], None]] = {
            9: self._speed_j,
            10: self._speed_l,
            11: self._servo_j,
            24: lambda: None,  # a kick of the watchdog: that it was written is all
            26: lambda: self._answer([PERIOD]),
            38: lambda: self._answer(controller.sample.motor_torque),
            58: lambda: self._answer(controller.tcp_pose(self._measured_q(), np.zeros(6))),
        }
        self._single: dict[int, Callable[[], Iterator[None]]] = {
            1: lambda: self._move(lambda: self._tool.joint_line(self._vector(0), self._float(6), self._float(7))),
            2: lambda: self._move(
                lambda: self._tool.joint_line(self._tool.solved(self._vector(0)), self._float(6), self._float(7))
            ),
            3: lambda: self._move(lambda: self._tool.line(self._vector(0), self._float(6), self._float(7))),
            4: lambda: self._move(
                lambda: self._tool.line(controller.tcp_pose(self._vector(0)), self._float(6), self._float(7))
            ),
            8: lambda: self._at_once(controller.zero_force),
            15: lambda: self._stop(self._float(0)),
            16: lambda: self._stop(self._float(0)),
            17: lambda: self._at_once(self._set_payload),
            28: lambda: self._at_once(lambda: self._answer(self._waypoint)),
            29: lambda: self._at_once(self._set_tcp),
            30: lambda: self._at_once(lambda: self._answer(self._inverse(True))),
            31: lambda: self._at_once(lambda: controller.protective_stop("asked for by the program")),
            33: self._stop_move,
            34: self._stop_move,
            35: lambda: self._at_once(self._set_watchdog),
            36: lambda: self._at_once(lambda: self._answer_flag(self._solution(False) is not None)),
            37: lambda: self._at_once(lambda: self._answer_flag(self._reachable())),
            39: lambda: self._at_once(self._pose_trans),
            40: lambda: self._at_once(lambda: self._answer(controller.tcp_offset)),
            41: lambda: self._at_once(self._jog),
            42: lambda: self._stop(_JOG_STOP),
            43: lambda: self._at_once(lambda: self._answer(controller.tcp_pose(self._measured_q()))),
            44: lambda: self._at_once(lambda: self._answer(controller.tcp_pose(self._vector(0), self._vector(6)))),
            45: self._move_path,
            46: lambda: self._at_once(lambda: self._answer(self._inverse(False))),
            47: lambda: self._at_once(lambda: self._answer_flag(not self._arm.moving)),
            60: lambda: self._at_once(lambda: self._answer_flag(self._solution(False) is not None)),
            61: lambda: self._at_once(lambda: self._answer_flag(self._solution(True) is not None)),
            65: lambda: self._at_once(self._set_target_payload),
        }

    def steps(self) -> Iterator[None]:
        """The loop itself, one command register a period."""
        self._waypoint = self._controller.tcp_pose(self._arm.goal.q)
        self._signal_background(-1)
        self._signal(READY)
        executed = False
        while True:
            self._check_watchdog()
            if self._in_background and not self._arm.moving:
                self._end_background()
            command = self._integer(0)
            if command in _STREAMED:
                if command not in self._streamed:
                    raise self._unknown(command)
                self._streamed[command]()
                self._signal(READY)
            elif command == 0:
                executed = False
                self._signal(READY)
            elif command == STOP:
                return
            elif not executed:
                if command not in self._single:
                    raise self._unknown(command)
                yield from self._single[command]()
                self._signal(DONE)
                executed = True
            yield

    # ---------------------------------------------------------------------------------------------------- registers
    def _integer(self, index: int) -> int:
        return int(self._controller.values[f"input_int_register_{index + self._integers}"])  # type: ignore[arg-type]

    def _float(self, index: int) -> float:
        value = float(self._controller.values[f"input_double_register_{index + self._floats}"])  # type: ignore[arg-type]
        if not np.isfinite(value):
            raise ProgramError(f"a client wrote {value} into input_double_register_{index + self._floats}")
        return value

    def _vector(self, first: int, count: int = 6) -> FloatArray:
        return np.array([self._float(first + i) for i in range(count)])

    def _signal(self, state: int) -> None:
        self._controller.values[f"output_int_register_{self._integers}"] = state

    def _answer(self, numbers: FloatArray | list[float]) -> None:
        for i, number in enumerate(numbers):
            self._controller.values[f"output_double_register_{i + self._floats}"] = float(number)

    def _answer_flag(self, flag: bool) -> None:
        self._controller.values[f"output_int_register_{1 + self._integers}"] = int(flag)

    def _signal_background(self, progress: int) -> None:
        """The progress of a motion that the client does not wait for; 0 at its start, negative after its end."""
        self._writes = (self._writes + 1) % 128
        if progress == 0:
            self._operation = (self._operation + 1) % 128
        value = (self._operation << 24) + (self._writes << 16) + (progress + (1 << 15) if progress >= 0 else 0)
        self._controller.values[f"output_int_register_{2 + self._integers}"] = value

    # ----------------------------------------------------------------------------------------------------- commands
    def _at_once(self, action: Callable[[], None]) -> Iterator[None]:
        action()
        yield from ()

    def _unknown(self, command: int) -> ProgramError:
        return ProgramError(f"{NOT_MODELLED.get(command, f'command {command}')} of ur_rtde is not modelled by the twin")

    def _move(self, planned: Callable[[], MoveJ | MoveL]) -> Iterator[None]:
        """A motion from rest to rest, which the client waits for or not."""
        background = self._integer(1) == 1
        if self._arm.moving:
            yield from self._stop(STOP_DECELERATION)
        if self._in_background:
            self._end_background()
        self._begin(planned())
        if background:
            self._in_background = True
            self._signal_background(0)
        else:
            yield from self._until_still()

    def _begin(self, motion: MoveJ | MoveL) -> None:
        self._arm.motion = motion
        if isinstance(motion, MoveL):
            self._waypoint = self._controller.kinematics.pose_vector(motion.pose(1.0))
        else:
            self._waypoint = self._controller.tcp_pose(motion.goal)

    def _move_path(self) -> Iterator[None]:
        """Through the places one after the other; the arm stands in each, as blends are not modelled."""
        if not self._path:
            raise ProgramError("a path without places that the twin understands")
        if self._integer(1) == 1:
            raise ProgramError("a path that the client does not wait for (asynchronous) is not modelled by the twin")
        if self._arm.moving:
            yield from self._stop(STOP_DECELERATION)
        for place in self._path:
            self._begin(self._tool.to_place(place))
            yield from self._until_still()

    def _solution(self, near: bool) -> FloatArray | None:
        """Joint angles (6,) for the pose in the registers, near those in the registers or where the arm is."""
        pose = pose_matrix(self._vector(0))
        if near:
            return self._tool.joints(pose, self._vector(6), self._float(12), self._float(13))
        return self._tool.joints(pose, self._measured_q())

    def _inverse(self, near: bool) -> FloatArray:
        found = self._solution(near)
        if found is None:
            raise ProgramError(f"get_inverse_kin: no solution for {np.round(self._vector(0), 4).tolist()}")
        return found

    def _speed_l(self) -> None:
        target, acceleration = self._vector(0), self._float(6)
        motion = self._arm.motion
        if isinstance(motion, SpeedL) and (motion.target == target).all() and motion.acceleration == acceleration:
            return
        self._arm.motion = self._tool.at_speed(target, acceleration)

    def _jog(self) -> None:
        velocity, feature = self._vector(0), int(self._float(6))
        if feature not in (0, 1):
            raise ProgramError("jogStart in a feature of its own is not modelled by the twin: base or tool")
        turn = pose_matrix(self._controller.tcp_pose(self._measured_q()))[:3, :3] if feature == 1 else np.eye(3)
        base = np.concatenate((turn @ velocity[:3], turn @ velocity[3:]))
        self._arm.motion = self._tool.at_speed(base, self._float(7))

    def _servo_j(self) -> None:
        self._controller.servo(self._vector(0), self._float(9), self._float(10))

    def _speed_j(self) -> None:
        target, acceleration = self._vector(0), self._float(6)
        if acceleration <= 0.0:
            raise ProgramError(f"speedj at {acceleration:g} rad/s^2: it must be positive")
        motion = self._arm.motion
        if isinstance(motion, SpeedJ) and (motion.target == target).all() and motion.acceleration == acceleration:
            return
        self._arm.motion = SpeedJ(target, acceleration)

    def _stop_move(self) -> Iterator[None]:
        background = self._integer(1) == 1
        if self._in_background:
            self._end_background()
        if not background:
            yield from self._stop(self._float(0))
            return
        self._arm.brake(self._deceleration(self._float(0)))
        self._in_background = True
        self._signal_background(0)

    def _stop(self, deceleration: float) -> Iterator[None]:
        if self._arm.moving:
            self._arm.brake(self._deceleration(deceleration))
            yield from self._until_still()

    def _deceleration(self, given: float) -> float:
        if given <= 0.0:
            raise ProgramError(f"a stop at {given:g} rad/s^2: it must be positive")
        return given

    def _until_still(self) -> Iterator[None]:
        while self._arm.moving:
            self._check_watchdog()
            yield

    def _end_background(self) -> None:
        self._in_background = False
        self._signal_background(-1)

    def _cog(self) -> tuple[float, ...]:
        """The centre of gravity in the registers; all 0 means the one that is known already."""
        given = tuple(self._vector(1, 3).tolist())
        return given if any(given) else self._controller.load.cog

    def _set_payload(self) -> None:
        self._controller.set_load(KnownLoad(self._float(0), self._cog()))

    def _set_target_payload(self) -> None:
        self._controller.set_load(KnownLoad(self._float(0), self._cog(), tuple(self._vector(4).tolist())))

    def _set_tcp(self) -> None:
        self._controller.set_tcp(self._vector(0))

    def _pose_trans(self) -> None:
        self._answer(
            self._controller.kinematics.pose_vector(pose_matrix(self._vector(0)) @ pose_matrix(self._vector(6)))
        )

    def _reachable(self) -> bool:
        limits, q = self._arm.robot.limits, self._vector(0)
        return bool(((q >= limits.lower) & (q <= limits.upper)).all())

    def _measured_q(self) -> FloatArray:
        return np.asarray(self._controller.values["actual_q"])

    def _set_watchdog(self) -> None:
        self._watchdog = self._float(0)
        if self._watchdog <= 0.0:
            raise ProgramError(f"a watchdog of {self._watchdog:g} Hz: it must be positive, and cannot be taken back")

    def _check_watchdog(self) -> None:
        """End the program if the client writes its command register less often than it promised [Hz]."""
        if self._watchdog <= 0.0:
            return
        name = f"input_int_register_{self._integers}"
        silence = (self._controller.ticks - self._controller.written.get(name, 0)) * PERIOD
        if silence > 1.0 / self._watchdog:
            raise ProgramError(f"the client has been silent for {silence:.3g} s, its watchdog asks for less")
