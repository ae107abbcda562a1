"""`CommandServer`: starts commands as processes, each a fork of one that has loaded them before.

A command that moves an arm, or is a ROS 2 node, takes seconds of processor time to load, and the tests start many. Each
is a process of its own with its own streams, signals, session and exit code. Requests are JSON lines on standard input.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT = 120.0
_UNCAUGHT = 70  # exit code of what lets an exception escape


@dataclass(frozen=True)
class Command:
    """A command that was started.

    Attributes:
        pid: of its process.
        folder: with the files of its streams, ``out`` and ``err``, and ``status``, its exit code when it has ended.
    """

    pid: int
    folder: Path

    @property
    def out(self) -> str:
        return (self.folder / "out").read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return (self.folder / "err").read_text(encoding="utf-8")

    def poll(self) -> int | None:
        """Its exit code, -n if signal n ended it; None while it runs."""
        try:
            return int((self.folder / "status").read_text(encoding="ascii"))
        except FileNotFoundError:
            return None

    def wait(self, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def end(self) -> None:
        """Kill it if it still runs."""
        self.send_signal(signal.SIGKILL)
        self.wait(30.0)


def inherited_path() -> list[str]:
    """Of this process, without the message types that only a sourced ROS 2 has."""
    loading = sys.modules.get("doubles.message_types.loading")
    return [path for path in sys.path if path and (loading is None or path not in loading.ADDED)]


class CommandServer:
    """The process that forks.

    Args:
        kind: what it loads, a key of `LOADS`.
        folder: for the files of the commands.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self._folder, self._count = folder, 0
        environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",  # a thread would not survive a fork
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *inherited_path()]),
        }
        self._process = subprocess.Popen(
            [sys.executable, __file__, kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=folder,
            text=True,
        )
        self.commands: list[Command] = []

    def start(
        self,
        *arguments: str,
        program: str = "iparam.cli.main",
        environment: dict[str, str] | None = None,
        **options: Any,
    ) -> Command:
        """Run a program with ``arguments``.

        Args:
            arguments: of the command line.
            program: the module whose ``main`` is run.
            environment: of the process; None for that of this one.
            **options: ``folder`` to run in, ``terminal``, a device that becomes its terminal and all of its streams,
                ``largest_file``, how large a file may become [bytes], and ``sourced``, whether it has the
                types of a sourced ROS 2.
        """
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        for stream in ("out", "err"):
            (folder / stream).touch()
        request = {
            "arguments": arguments,
            "program": program,
            "environment": dict(os.environ if environment is None else environment),
            "files": str(folder),
            "folder": str(folder),
            **options,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        command = Command(int(self._process.stdout.readline()), folder)
        self.commands.append(command)
        return command

    def close(self) -> None:
        for command in self.commands:
            command.end()
        self._process.communicate(timeout=30)


# ------------------------------------------------------------------------------------------------ in the process
def load_arms() -> None:
    """What ``iparam ur run`` loads up to its connection: nobody listens there."""
    import_module("doubles.ur_controller.__main__")
    from iparam.cli.main import main

    motion = str(ROOT / "tests" / "data" / "calm_ur5e.json")
    box = ["--payload-size", "0.1", "0.15", "0.2", "--payload-mass", "2"]
    assert main(["ur", "run", motion, "--host", "127.113.7.9", "--yes", "--output", "nothing.parquet", *box]) == 1


def load_nodes() -> None:
    """The nodes; ROS 2 itself starts threads, and is started by each."""
    from iparam.bridges.ros2.start import NODES

    for name in NODES.values():
        import_module(name.partition(":")[0])


LOADS = {"arms": load_arms, "nodes": load_nodes}


def serve(kind: str) -> None:
    answers = os.dup(1)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        with contextlib.redirect_stderr(nowhere):
            LOADS[kind]()
    for line in sys.stdin:
        if os.fork() == 0:
            _watch(json.loads(line), answers)
        with contextlib.suppress(ChildProcessError):  # let go of those that have ended
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _watch(request: dict[str, Any], answers: int) -> None:
    """Start the command and write down its exit code."""
    pid = os.fork()
    if pid == 0:
        os.close(answers)
        _become(request)
    os.write(answers, f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    files = Path(request["files"])
    (files / "status~").write_text(str(os.waitstatus_to_exitcode(status)), encoding="ascii")
    (files / "status~").replace(files / "status")
    os._exit(0)


def _become(request: dict[str, Any]) -> None:
    """Look like a process that was started for the command, and end as one."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    files, new = request["files"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    streams = [(os.devnull, os.O_RDONLY), (f"{files}/out", new), (f"{files}/err", new)]
    if terminal := request.get("terminal"):
        streams = [(terminal, os.O_RDWR)] * 3  # the first that a new session opens is its own
    for number, (name, mode) in enumerate(streams):
        descriptor = os.open(name, mode, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    if request.get("sourced"):
        import_module("doubles.message_types.loading").load_types()
    if limit := request.get("largest_file"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv = ["iparam", *request["arguments"]]
    code = _UNCAUGHT
    try:
        code = import_module(request["program"]).main()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
