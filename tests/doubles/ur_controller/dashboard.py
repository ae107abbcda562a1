"""The twin's dashboard: one line of text in, one line out, as a UR controller answers on port 29999."""

from __future__ import annotations

from doubles.ur_controller.controller import VERSION, TwinController

from iparam.bridges.ur.rtde.packets import RtdeError

LONGEST_LINE = 4096
SERIAL_NUMBER = "20205500000"


class Dashboard:
    """One connection.

    Args:
        controller: that it is about.

    Attributes:
        greeting: what the twin says first.
        ended: the client has said goodbye.
    """

    greeting = b"Connected: Universal Robots Dashboard Server\n"

    def __init__(self, controller: TwinController) -> None:
        self._controller = controller
        self._rest = b""
        self.ended = False

    def feed(self, chunk: bytes) -> bytes:
        """The answers to what the client sends.

        Raises:
            RtdeError: a line without an end.
        """
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise RtdeError(f"a dashboard command of more than {LONGEST_LINE} characters")
        return b"".join(self._answer(line.decode("utf-8", "replace").strip()).encode() + b"\n" for line in lines)

    def close(self) -> None:
        """Nothing is left to do."""

    def _answer(self, command: str) -> str:
        controller, words = self._controller, command.lower()
        safety = "PROTECTIVE_STOP" if controller.stop_reason else "NORMAL"
        running, name = controller.program is not None, controller.program.name if controller.program else "<unnamed>"
        match words:
            case "polyscopeversion" | "version":
                return f"URSoftware {VERSION} (simulated by iparam)"
            case "get serial number":
                return SERIAL_NUMBER
            case "get robot model":
                return controller.arm.robot.name.removesuffix("e").upper()
            case "is in remote control":
                return "true"
            case "robotmode":
                return "Robotmode: RUNNING"
            case "safetymode" | "safetystatus":
                return f"{command.capitalize()}: {safety}"
            case "running":
                return f"Program running: {'true' if running else 'false'}"
            case "programstate":
                return f"{'PLAYING' if running else 'STOPPED'} {name}"
            case "get loaded program":
                return "No program loaded"
            case "stop":
                controller.stop_program("was stopped from the dashboard")
                return "Stopped"
            case "unlock protective stop":
                if controller.unlock():
                    return "Protective stop releasing"
                return "Cannot unlock protective stop until 5s after occurrence"
            case "play" | "pause" | "power off" | "shutdown":
                return f"Failed to execute: {command}"
            case "power on":
                return "Powering on"
            case "brake release":
                return "Brake releasing"
            case "close popup" | "close safety popup":
                return f"closing {command.removeprefix('close ')}"
            case "quit":
                self.ended = True
                return "Disconnected"
        if words.startswith("popup "):
            controller.notice(f"popup: {command[6:]}")
            return "showing popup"
        if words.startswith("addtolog "):
            controller.notice(f"log: {command[9:]}")
            return "Added log message"
        return f'could not understand: "{command[:80]}"'
