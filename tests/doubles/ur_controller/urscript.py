"""The little URScript that the twin understands: settings of the payload, in a strict grammar. Nothing is evaluated.

A program reaches a controller as text without a length: ``def name():`` to a line ``end``, or single lines. What is not
understood is left out with a notice; a real controller would run it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from doubles.ur_controller.control_script import control_program
from doubles.ur_controller.controller import TwinController
from doubles.ur_controller.load import KnownLoad
from doubles.ur_controller.motion import Program

from iparam.bridges.ur.rtde.packets import RtdeError

LARGEST_PROGRAM = 1_000_000  # characters

_NUMBER = r"\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?\s*"


def _list(count: int) -> str:
    return rf"\s*\[({_NUMBER}(?:,{_NUMBER}){{{count - 1}}})\]\s*"


_SET_PAYLOAD = re.compile(rf"set_payload\(({_NUMBER})(?:,{_list(3)})?\)$")
_SET_TARGET_PAYLOAD = re.compile(rf"set_target_payload\(({_NUMBER}),{_list(3)}(?:,{_list(6)})?\)$")
_ZERO = re.compile(r"zero_ftsensor\(\s*\)$")
# ur_rtde writes the number of a register as a sum, "0 +24".
_WRITE_INTEGER = re.compile(
    r"write_output_integer_register\(\s*(\d{1,2})(?:\s*\+\s*(\d{1,2}))?\s*,\s*([-+]?\d{1,9})\s*\)$"
)
_BEGIN = re.compile(r"(def|sec)\s+([A-Za-z_]\w*)\s*\(\s*\)\s*:\s*$")
_IGNORED = re.compile(r"(textmsg\(.*\)|sync\(\s*\)|end)?$")


class ScriptReader:
    """Cuts what arrives at a script port into programs and starts them.

    Args:
        controller: that runs them.

    Attributes:
        greeting: none.
        ended: never; a program outlives the connection that it came by.
    """

    greeting = b""

    def __init__(self, controller: TwinController) -> None:
        self._controller = controller
        self._rest = b""
        self._lines: list[str] = []
        self._size = 0
        self.ended = False

    def feed(self, chunk: bytes) -> bytes:
        """Take bytes; the answer is always empty, as a real controller sends no replies here.

        Raises:
            RtdeError: a program without an end.
        """
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._take(line.decode("utf-8", "replace").rstrip())
        if self._size + len(self._rest) > LARGEST_PROGRAM:
            raise RtdeError(f"a program of more than {LARGEST_PROGRAM} characters without an end")
        return b""

    def close(self) -> None:
        """What was not complete is lost."""

    def _take(self, line: str) -> None:
        self._size += len(line) + 1
        if self._lines:
            self._lines.append(line)
            if line == "end":
                self._run(self._lines)
        elif _BEGIN.match(line):
            self._lines = [line]
        elif _statement(line):
            self._run([line])
        else:
            self._size = 0

    def _run(self, lines: list[str]) -> None:
        self._lines, self._size = [], 0
        text = "\n".join(lines)
        begin = _BEGIN.match(lines[0])
        program = control_program(text, self._controller)
        if program is None:
            statements = [statement for statement in map(_statement, lines[1:] if begin else lines) if statement]
            program = Program(begin[2] if begin else "script", self._plain(statements))
        if begin is not None and begin[1] == "sec":  # runs beside the program and may not move the arm
            for _ in program.steps:
                pass
            return
        self._controller.start_program(program)

    def _plain(self, statements: list[str]) -> Iterator[None]:
        for statement in statements:
            action = _action(statement, self._controller)
            if action is not None:
                action()
            elif not _IGNORED.match(statement):
                self._controller.notice(f"URScript left out, the twin does not run it: {statement[:80]}")
        yield


def _statement(line: str) -> str:
    """The line without comment and indentation. A # within a text does not count, but none of what counts has texts."""
    return line.partition("#")[0].strip()


def _numbers(text: str | None) -> tuple[float, ...]:
    return tuple(float(number) for number in text.split(",")) if text else ()


def _action(statement: str, controller: TwinController) -> Callable[[], None] | None:
    """What a statement does; None if it is not understood."""
    if found := _SET_PAYLOAD.match(statement):
        cog = _numbers(found[2]) or controller.load.cog
        load = KnownLoad(float(found[1]), cog)
    elif found := _SET_TARGET_PAYLOAD.match(statement):
        load = KnownLoad(float(found[1]), _numbers(found[2]), _numbers(found[3]) or (0.0,) * 6)
    elif _ZERO.match(statement):
        return controller.zero_force
    elif found := _WRITE_INTEGER.match(statement):
        name, value = f"output_int_register_{int(found[1]) + int(found[2] or 0)}", int(found[3])
        return (lambda: controller.values.update({name: value})) if name in controller.values else None
    else:
        return None
    return lambda: controller.set_load(load)
