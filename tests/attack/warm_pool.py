"""`WarmPool`: runs of the command, thousands of them, each in a child process with bounded resources.

A process that has loaded everything once forks children, and a child does a hundred runs: that costs milliseconds a run
instead of a start of Python. A child that crashes, hangs or grows ends with the run that made it so.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from attack.rule import BAD_USAGE, EXIT_CODES, LONGEST, Ending, snapshot, violations

MOST_ADDRESS_SPACE = 4 << 30
"""Bytes of address space that a child may take on top of the loaded program's: what asks for more gets none."""

LOADED_CHILD = 256 << 20
"""Bytes of resident memory that a process has which the command starts, with all that it loads."""

LARGEST_FILE = 1 << 30
RUNS_A_CHILD = 100
START_TIMEOUT = 300.0
"""Seconds for the first start."""

TESTS = Path(__file__).resolve().parents[1]
_UNCAUGHT = 70  # exit code of what lets an exception escape


@dataclass(frozen=True)
class Case:
    """A run.

    Attributes:
        name: tells it from the others, with the seed that it is made from.
        arguments: of the command; of ``target``, if that is set.
        folder: to run in, with all inputs in it.
        outputs: relative paths that it may write.
        target: "module:function" to call with ``arguments`` instead of the command; it returns an exit code.
        codes: exit codes that are allowed.
        largest_file: bytes that a file may have, as if the disk were full behind them.
        interrupt_after: seconds after which it gets the signal of Ctrl-C; None for never.
        must_name: the option that it has to name if it ends as bad usage; "" for none.
        stdout_errors: what standard output does with text that is no Unicode: "strict" as in most locales,
            "surrogateescape" as in the locale C.
    """

    name: str
    arguments: tuple[str, ...]
    folder: Path
    outputs: tuple[str, ...] = ()
    target: str = ""
    codes: tuple[int, ...] = EXIT_CODES
    largest_file: int = LARGEST_FILE
    interrupt_after: float | None = None
    must_name: str = ""
    stdout_errors: str = "strict"

    @property
    def reproduction(self) -> str:
        """A line for a shell that does the same."""
        if self.target:
            module, _, function = self.target.partition(":")
            called = f"from {module} import {function}; {function}(*{list(self.arguments)!r})"
            return f"cd {TESTS} && python -c {shlex.quote(called)}"
        return f"cd {shell_word(str(self.folder))} && iparam {' '.join(map(shell_word, self.arguments))}"


def shell_word(word: str) -> str:
    """A word as a shell takes it, written in printable ASCII."""
    if word.isascii() and word.isprintable():
        return shlex.quote(word)
    return (
        "$'"
        + "".join(chr(b) if 32 <= b < 127 and b not in b"'\\\\" else f"\\x{b:02x}" for b in os.fsencode(word))
        + "'"
    )


@dataclass(frozen=True)
class Broken:
    """A run that broke the rule.

    Attributes:
        case: it.
        ending: how it ended.
        sentences: what it did that none may do.
    """

    case: Case
    ending: Ending
    sentences: tuple[str, ...]

    @property
    def last_line(self) -> str:
        """What it said last on standard error."""
        lines = self.ending.err.decode("utf-8", "backslashreplace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def __str__(self) -> str:
        head = f"{ascii(self.case.name)[1:-1]}: {'; '.join(self.sentences)}"
        return f"{head}\n    {self.last_line!a}\n    {self.case.reproduction}"


class WarmPool:
    """A warm process and its present child.

    Args:
        scratch: folder for its own files; made.
        samples: folder that gets the sample files, see `attack.corpus.sample_files`; made.

    Attributes:
        samples: the same.
        sound_codes: the exit codes of the calls of `attack.corpus.command_lines` that are not slow, before any attack.
    """

    def __init__(self, scratch: Path, samples: Path) -> None:
        scratch.mkdir(parents=True)
        self.samples = samples
        self._scratch = scratch
        self._log = scratch / "log"
        # The attack imports itself and iparam from where this process has them from.
        paths = [str(TESTS), *(path for path in sys.path if path)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "OPENBLAS_NUM_THREADS": "1",
            "ROS_LOG_DIR": str(scratch / "ros"),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        }
        for name in ("COLUMNS", "FORCE_COLOR", "IPARAM_NUM_THREADS"):
            environment.pop(name, None)
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "attack.warm_pool", str(scratch), str(samples)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                text=True,
            )
        self.sound_codes: dict[str, int] = self._receive(START_TIMEOUT)["codes"]

    def run(self, case: Case) -> Ending:
        """Do a run and say how it ended."""
        assert self._process.stdin is not None
        request = {**asdict(case), "folder": str(case.folder)}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._receive(4 * LONGEST)
        out, err = ((self._scratch / name).read_bytes() for name in ("out", "err"))
        return Ending(answer["code"], out, err, answer["seconds"], answer["memory"])

    def attack(self, case: Case, expected: Collection[int] | None = None) -> Broken | None:
        """Do a run and say what it did that none may do; for ``expected`` exit codes, also if it has another one."""
        before = snapshot(case.folder)
        ending = self.run(case)
        found = violations(ending, before, snapshot(case.folder), case.outputs, codes=case.codes)
        temporary = self._scratch / "tmp"
        left = sorted(os.listdir(temporary))
        if left:
            found.append(f"leaves {left[0]!r} in the folder for temporary files")
            shutil.rmtree(temporary)
            temporary.mkdir()
        if ending.code == BAD_USAGE and case.must_name.encode() not in ending.err:
            found.append(f"does not name {case.must_name}")
        if expected is not None and ending.code not in expected:
            found.append(f"has the exit code {ending.code}, not {' or '.join(map(str, expected))}")
        return Broken(case, ending, tuple(found)) if found else None

    def close(self) -> None:
        """End the processes."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> WarmPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self, timeout: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], timeout)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            raise RuntimeError(f"the warm process is gone:\n{self._log.read_text(errors='backslashreplace')[-4000:]}")
        return dict(json.loads(line))


# ------------------------------------------------------------------------------------------- in the warm process
@dataclass(eq=False)
class _Child:
    """The warm process's side of a child."""

    pid: int
    requests: IO[str]
    answers: IO[str]
    runs: int = field(default=0)

    @classmethod
    def fork(cls, scratch: Path) -> _Child:
        request_end, requests = os.pipe()
        answers, answer_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(requests)
            os.close(answers)
            try:
                _work(os.fdopen(request_end), os.fdopen(answer_end, "w"), scratch)
            finally:
                os._exit(0)
        os.close(request_end)
        os.close(answer_end)
        return cls(pid, os.fdopen(requests, "w"), os.fdopen(answers))

    def run(self, line: str, interrupt_after: float | None) -> dict[str, Any] | None:
        """The answer to a request; None if the child did not live to give it."""
        self.runs += 1
        with contextlib.suppress(BrokenPipeError):
            self.requests.write(line)
            self.requests.flush()
        if interrupt_after is not None and not self._wait(interrupt_after):
            os.kill(self.pid, signal.SIGINT)
        if not self._wait(LONGEST):
            return None
        answer = self.answers.readline()
        return dict(json.loads(answer)) if answer else None

    def end(self) -> int | None:
        """End it; -n if signal n had ended it before, None if it was still at work."""
        for stream in (self.requests, self.answers):
            with contextlib.suppress(OSError):
                stream.close()
        late = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None and not self._ends(2.0)
        if late:
            os.kill(self.pid, signal.SIGABRT)  # its traceback tells where it is
            if not self._ends(2.0):
                os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        return None if late else os.waitstatus_to_exitcode(status)

    def _wait(self, timeout: float) -> bool:
        return bool(select.select([self.answers], [], [], timeout)[0])

    def _ends(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True


def serve(scratch: Path, samples: Path) -> None:
    """Load everything, then take requests from standard input until it ends."""
    from attack.corpus.sample_files import make_samples

    (scratch / "tmp").mkdir()
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what the commands print goes to the log
        make_samples(samples)
        _read_arguments_once()
        codes = _warm_up(scratch / "warm", samples)
        print(json.dumps({"codes": codes}), file=answers, flush=True)
        child: _Child | None = None
        for line in sys.stdin:
            request = json.loads(line)
            if child is not None and child.runs >= RUNS_A_CHILD:
                child.end()
                child = None
            child = child or _Child.fork(scratch)
            began = time.monotonic()
            answer = child.run(line, request["interrupt_after"])
            if answer is None:
                seconds = time.monotonic() - began
                answer = {"code": child.end(), "seconds": seconds, "memory": 0, "last": True}
            elif answer["last"]:
                child.end()
            if answer["last"]:
                child = None
            print(json.dumps(answer), file=answers, flush=True)
        if child is not None:
            child.end()


def _read_arguments_once() -> None:
    """Let runs with the same arguments share them as they were read: the runs differ in what the files hold.

    To read them takes tyro longer than most commands take to refuse a file.
    """
    module: Any = importlib.import_module("iparam.cli.main")
    read, known = module._parsed, {}

    def parsed(command_type: Any, name: str, arguments: list[str]) -> Any:
        key = command_type, *arguments
        if key not in known:
            known[key] = read(command_type, name, arguments)
        return known[key]

    module._parsed = parsed


def _warm_up(folder: Path, samples: Path) -> dict[str, int]:
    """Do what the children will do, so that none has to load it within the time of a run; the exit codes."""
    from attack.corpus.command_lines import LINES
    from iparam.cli.main import main

    codes = {}
    for number, line in enumerate(LINES):
        if not (line.slow or line.endless):
            line.put_samples(samples, folder / str(number))
            with contextlib.chdir(folder / str(number)):
                codes[str(line)] = main(line.arguments())
    shutil.rmtree(folder)
    return codes


# ---------------------------------------------------------------------------------------------------- in a child
def _work(requests: IO[str], answers: IO[str], scratch: Path) -> None:
    import faulthandler

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    most = _status("VmSize") + MOST_ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    faulthandler.enable(2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    first_size = _status("VmRSS")
    for line in requests:
        request = json.loads(line)
        _prepare(request, scratch)
        before = _status("VmRSS")
        _forget_peak()
        began = time.monotonic()
        code = _call(request)
        seconds = time.monotonic() - began
        children = (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10) - LOADED_CHILD
        memory = max(_status("VmHWM") - before, children)
        # A child that is no longer as it was at first is not given another run.
        last = threading.active_count() > 1 or _status("VmRSS") > first_size + (256 << 20)
        print(json.dumps({"code": code, "seconds": seconds, "memory": memory, "last": last}), file=answers, flush=True)
        if last:
            return


def _prepare(request: dict[str, Any], scratch: Path) -> None:
    """Make this process look like one that was started for the run."""
    os.chdir(request["folder"])
    for number, name, mode in (
        (0, os.devnull, os.O_RDONLY),
        (1, str(scratch / "out"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND),
        (2, str(scratch / "err"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND),
    ):
        descriptor = os.open(name, mode, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors=request["stdout_errors"], closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch / "tmp")
    warnings.simplefilter("always")  # every run sees its own, though the child has seen them before
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    warnings.simplefilter("ignore", ImportWarning)
    warnings.simplefilter("ignore", ResourceWarning)
    resource.setrlimit(resource.RLIMIT_FSIZE, (request["largest_file"], LARGEST_FILE))
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + LONGEST) + 1, hard))


def _call(request: dict[str, Any]) -> int:
    try:
        if request["target"]:
            module, _, function = request["target"].partition(":")
            code = int(getattr(importlib.import_module(module), function)(*request["arguments"]))
        else:
            from iparam.cli.main import main

            sys.argv = ["iparam", *request["arguments"]]
            code = main()
        sys.stdout.flush()  # as the interpreter does at its end
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        return _UNCAUGHT
    return code


def _status(name: str) -> int:
    """A size of this process [bytes]."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as stream:
        for line in stream:
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) << 10
    return 0


def _forget_peak() -> None:
    """Let the peak of the resident memory begin anew."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
        stream.write("5")


if __name__ == "__main__":
    serve(Path(sys.argv[1]), Path(sys.argv[2]))
