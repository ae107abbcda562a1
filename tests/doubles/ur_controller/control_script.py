"""The program that `ur_rtde`'s control interface uploads, as the twin runs it.

The client steers its program through registers: the number of a command and its arguments go in, "ready" and "done" and
results come out. The twin does not interpret the uploaded text: it recognises it and runs a loop of its own that keeps
the same agreement. It models the commands that iparam and its tests use; any other ends the program with a notice, so
that the client does not take for done what was not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
from doubles.ur_controller.controller import STOP_DECELERATION, TwinController
from doubles.ur_controller.load import KnownLoad
from doubles.ur_controller.motion import PERIOD, Program, ProgramError, SpeedJ

from iparam.arrays import FloatArray

READY, DONE = 1, 2  # what the program writes into its first output register
STOP = 255

_OFFSETS = re.compile(r"reg_offset_float = [^\n]*\n\s*(\d+).*?reg_offset_int = [^\n]*\n\s*(\d+)", re.DOTALL)


def control_program(text: str, controller: TwinController) -> Program | None:
    """The program for ``text`` if that is what `ur_rtde` uploads; None if it is something else."""
    if not re.match(r"\s*def rtde_control\(\):", text) or "def signal_done_with_cmd():" not in text:
        return None
    found = _OFFSETS.search(text)
    floats, integers = (int(found[1]), int(found[2])) if found else (0, 0)
    return Program("rtde_control", ControlScript(controller, floats, integers).steps())


class ControlScript:
    """The loop.

    Args:
        controller: that it runs on.
        float_offset, integer_offset: number of the first register that the client uses, 0 or 24.
    """

    def __init__(self, controller: TwinController, float_offset: int, integer_offset: int) -> None:
        self._controller, self._arm = controller, controller.arm
        self._floats, self._integers = float_offset, integer_offset
        self._watchdog = 0.0
        self._operation = self._writes = 0
        self._in_background = False
        # What the client repeats at 500 Hz: carried out in every period, and the program stays "ready".
        self._streamed: dict[int, Callable[[], None]] = {
            9: self._speed_j,
            11: self._servo_j,
            24: lambda: None,  # a kick of the watchdog: that it was written is all
        }
        self._single: dict[int, Callable[[], Iterator[None]]] = {
            1: self._move_j,
            8: lambda: self._at_once(controller.zero_force),
            15: lambda: self._stop(self._float(0)),
            16: lambda: self._stop(self._float(0)),
            17: lambda: self._at_once(self._set_payload),
            34: self._stop_move,
            35: lambda: self._at_once(self._set_watchdog),
            65: lambda: self._at_once(self._set_target_payload),
        }

    def steps(self) -> Iterator[None]:
        """The loop itself, one command register a period."""
        self._signal_background(-1)
        self._signal(READY)
        executed = False
        while True:
            self._check_watchdog()
            if self._in_background and not self._arm.moving:
                self._end_background()
            command = self._integer(0)
            if command in self._streamed:
                self._streamed[command]()
                self._signal(READY)
            elif command == 0:
                executed = False
                self._signal(READY)
            elif command == STOP:
                return
            elif not executed:
                if command not in self._single:
                    raise ProgramError(f"command {command} of ur_rtde is not modelled by the simulated controller")
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

    def _move_j(self) -> Iterator[None]:
        """From rest to rest on a straight line in joint space, which the client waits for or not."""
        background = self._integer(1) == 1
        if self._arm.moving:
            yield from self._stop(STOP_DECELERATION)
        if self._in_background:
            self._end_background()
        self._arm.motion = self._controller.joint_line(self._vector(0), self._float(6), self._float(7))
        if background:
            self._in_background = True
            self._signal_background(0)
        else:
            yield from self._until_still()

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
