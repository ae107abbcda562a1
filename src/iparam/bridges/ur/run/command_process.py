"""The process that commands an arm: ``python -m iparam.bridges.ur.run.command_process``, started by `ArmMotion`.

ur_rtde is a C++ library that may block or end its process when a connection breaks. Here it can do so without harm to
the recording, which is its parent's. Commands come as JSON lines on standard input, events go out as JSON lines on
standard output; times are those of `dead_mans_switch.now`, or of a controller that has simulated time:

    {"command": "connect", "host": ...}                                  -> {"event": "connected"}
    {"command": "load", "table": [[6], ...], "lookahead": s, "gain": .}  -> {"event": "loaded"}
    {"command": "watch", "silence": s}                                   -> {"event": "watching", "time": s}, "alive" ..
    {"command": "beat", "time": s}                  the guard looked at the arm; has to come all the time after "watch"
    {"command": "move", "q": [6], "speed": rad/s, "acceleration": ...}
    {"command": "servo"}                                                 -> {"event": "progress", ...} .. "played"
    {"command": "set_payload", "mass": ..., "center": [3], "inertia": [6] or null}    -> {"event": "payload_sent"}
    {"command": "stop"}                                                  -> {"event": "stopped"}, and the process ends

When standard input ends, which it does when the parent dies, or the beats stay away, which they do when it hangs, the
arm is stopped in the same way. Any fault gives {"event": "error", "message": ...}.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from typing import Any

from iparam.bridges.ur.run.commander import STOP_TIME, Commander

LONGEST_MESSAGE = 1000
"""Characters of an error: a line that fits into a pipe as a whole or not at all."""


class EventPipe:
    """Standard output, as events alone see it; never waits for the parent to read.

    What the library prints goes to standard error, which does not wait either.
    """

    def __init__(self) -> None:
        self._descriptor = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        if os.name == "posix":
            for descriptor in (self._descriptor, sys.stderr.fileno()):
                os.set_blocking(descriptor, False)

    def emit(self, event: str, **entries: Any) -> None:
        """Send an event. It is lost if the parent does not read, or is no more: the arm matters more."""
        with contextlib.suppress(OSError):
            os.write(self._descriptor, (json.dumps({"event": event, **entries}) + "\n").encode("ascii"))


def main() -> int:
    """Serve the parent until it says stop, goes away or is silent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it decides in which order things stop
    pipe = EventPipe()
    commander = Commander(pipe.emit)
    # A simple one: the handler of SIGTERM puts into it in the middle of whatever this thread does with it.
    commands: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

    def stop_soon() -> None:
        commands.put(None)
        deadline = threading.Timer(STOP_TIME, os._exit, (3,))
        deadline.daemon = True
        deadline.start()

    def listen() -> None:
        with contextlib.suppress(ValueError, KeyError, TypeError):  # of a line that is none: the end as well
            for line in sys.stdin:
                command = json.loads(line)
                if command["command"] == "beat":
                    commander.beat(float(command["time"]))
                elif command["command"] == "stop":
                    break
                else:
                    commands.put(command)
        stop_soon()

    signal.signal(signal.SIGTERM, lambda number, frame: stop_soon())
    threading.Thread(target=listen, daemon=True).start()
    failed = False
    try:
        _serve(commander, commands)
    except Exception as error:
        failed = True
        pipe.emit("error", message=(str(error) or type(error).__name__)[:LONGEST_MESSAGE])
        stop_soon()  # the parent may be unable to ask for it
    try:
        commander.stop()
    except Exception as error:
        failed = True
        pipe.emit("error", message=f"the arm could not be told to stop: {error}"[:LONGEST_MESSAGE])
    return int(failed)


def _serve(commander: Commander, commands: queue.SimpleQueue[dict[str, Any] | None]) -> None:
    while True:
        if commander.watched:
            try:
                command = commands.get_nowait()
            except queue.Empty:
                commander.tick()
                continue
        else:
            command = commands.get()
        if command is None:
            return
        commander.carry_out(command)


if __name__ == "__main__":
    # Without the interpreter's clean-up: threads of the library may hang in it.
    code = main()
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(code)
