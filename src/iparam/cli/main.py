"""The entry of the command `iparam`: runs a command and turns what goes wrong into a sentence and an exit code."""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import io
import os
import shutil
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import make_dataclass
from typing import Annotated, Any, Union

from iparam.child_process import safe_path_variables
from iparam.cli.command_table import COMMANDS, Command, Entry, choose, overview
from iparam.cli.console.fixes import error_in_words, speak_for
from iparam.errors import InputError, IparamError, UnknownNameError
from iparam.printable import printable

if sys.platform != "win32":
    import resource

SUCCESS = 0
FAILURE = 1
BAD_USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
BROKEN_PIPE = 141  # 128 + SIGPIPE

LEAST_COLUMNS = 20
"""That help and complaints are laid out for: in fewer than six tyro never finds the end of a line."""

LEAST_MEMORY = 1100 << 20
"""Bytes of address space below which no command starts: with 150 to 900 MB, OpenBLAS and the C library were seen to
wait for ever, or to end 'identify payload' without a word of ours; with 1100 MB it worked."""

SHELLS = ("bash", "zsh")
"""For which tyro has a script of completion without further packages."""

_SETUP_HINT = "--setup FILE, written by 'iparam setup', gives the options that it knows."
_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of malloc.h


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that ``argv`` names and return its exit code.

    0: it worked. 2: bad usage, i.e. an argument that cannot be. 1: any other failure, such as a file that cannot be
    read.

    Args:
        argv: the arguments without the program's name; None for those of the process.
    """
    # Read when NumPy is first loaded. Our matrices are small: threads of its own only make it wait for them, up to four
    # times as long on a busy machine, and what is large is spread over the cores by iparam itself.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if argv is None:
        os.environ.update(safe_path_variables())  # for the processes that libraries start, as glfw does for MuJoCo
    _return_large_memory()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error does: a name must not end the program
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this: what is said goes nowhere
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    if argv is None and not debug and not sys.warnoptions:
        # NumPy warns of an overflow with a line of our source. Whether the numbers can be used is checked where it
        # matters, and said in a sentence. Only as a program: a caller of this function has its own filters.
        warnings.simplefilter("ignore", RuntimeWarning)
    try:
        code = _ended([argument for argument in arguments if argument != "--debug"])
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        if str(stop):
            print(f"iparam: {stop}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    except Exception as error:
        text = _sentence(error)
        if not _flushed():
            text = f"standard output: {text}"
        for line in [*(_traceback(error) if debug else ()), f"iparam: error: {text}"]:
            print(printable(line), file=sys.stderr)
        return BAD_USAGE if isinstance(error, InputError | UnknownNameError) else FAILURE
    return code


def _ended(arguments: list[str]) -> int:
    """Run a command; the exit code of one that ends, or that tyro or rich ends."""
    nowhere = _is_null_device()
    try:
        _run(arguments)
    except SystemExit as stop:  # from tyro, after its help or its own message
        if stop.code == FAILURE and _is_null_device() and not nowhere:
            return BROKEN_PIPE  # rich puts that there in place of a closed pipe, and ends the program
        return stop.code if isinstance(stop.code, int) else SUCCESS if stop.code is None else BAD_USAGE
    return SUCCESS


def _return_large_memory() -> None:
    """Let the C library give arrays above 4 MB back to the system when they are freed.

    Otherwise it comes to keep them for later, in a heap of each thread: 200 MB of an hour's recording.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 4 << 20)


def _run(arguments: list[str]) -> None:
    if arguments[:1] == ["--version"]:
        from iparam import __version__

        print(f"iparam {__version__}")
        return
    if arguments[:1] == ["--tyro-print-completion"]:
        _print_completion(arguments)
    listing = overview(arguments)
    if listing is not None:
        sys.stdout.write(listing)
        return
    entry, rest = choose(arguments)
    limit = _memory_limit()
    if limit is not None and limit < LEAST_MEMORY:
        raise IparamError(
            f"there is not enough memory: ulimit -v allows {limit >> 20} MB, and libraries need {LEAST_MEMORY >> 20}"
        )
    command_type = entry.load()
    speak_for(command_type)
    from iparam.cli.console import option_counts, setup_option, written_files

    option_counts.check_counts(rest, command_type)
    filled = setup_option.with_setup(rest, command_type)
    if shutil.get_terminal_size().columns < LEAST_COLUMNS:
        os.environ["COLUMNS"] = str(LEAST_COLUMNS)
    command = filled.told(_parsed(command_type, entry.name, filled.arguments))
    written_files.check_outputs(command)
    command.run()


def _parsed(command_type: type[Command], name: str, arguments: Sequence[str]) -> Command:
    """The command of that name with its arguments."""
    import tyro  # here, because neither the list of commands nor the version needs it

    from iparam.cli.console import setup_option

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):  # tyro repeats in its complaints what it was given
            return tyro.cli(
                command_type,
                args=arguments,
                prog=f"iparam {name}",
                description=_description(command_type, setup_option.concerned(command_type)),
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    finally:
        for line in said.getvalue().split("\n")[:-1]:
            print(printable(line), file=sys.stderr)


def _description(command_type: type[Command], takes_setup: bool) -> str:
    text = inspect.cleandoc(command_type.__doc__ or "")
    return f"{text}\n\n{_SETUP_HINT}" if takes_setup else text


def _print_completion(arguments: Sequence[str]) -> None:
    """Let tyro print its script for a shell, of all commands, whose modules it imports, and end the program."""
    import tyro

    if list(arguments[1:]) not in ([shell] for shell in SHELLS):
        raise InputError(f"{arguments[0]} takes one shell, {' or '.join(SHELLS)}, got {' '.join(arguments[1:])!r}")
    omitted = (tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes)
    config = (tyro.conf.FlagCreatePairsOff, *omitted)
    tyro.cli(_choice(COMMANDS, 0), prog="iparam", args=list(arguments), config=config)


def _choice(entries: Sequence[Entry], depth: int) -> Any:
    """The type of one of some commands, told apart by their words from ``depth`` on."""
    import tyro

    kinds = []
    for name in dict.fromkeys(entry.words[depth] for entry in entries):
        inside = [entry for entry in entries if entry.words[depth] == name]
        is_command = len(inside[0].words) == depth + 1
        kind = inside[0].load() if is_command else make_dataclass(name, [("command", _choice(inside, depth + 1))])
        kinds.append(Annotated[kind, tyro.conf.subcommand(name=name, prefix_name=False)])
    return Union[tuple(kinds)]  # noqa: UP007  they are not known before


def _traceback(error: Exception) -> Iterator[str]:
    """The lines of the traceback; a message that has several is one of them."""
    for part in traceback.format_exception(error):
        yield from part.splitlines() if part.startswith("  File ") else [part.strip("\n")]


def _sentence(error: Exception) -> str:
    if isinstance(error, IparamError):
        return error_in_words(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "not enough memory for this many samples: use a part of the data, a shorter time or a lower rate"
    limit = _memory_limit()
    if limit is not None:  # libraries that cannot be loaded, threads that cannot be started: any error may come of it
        return f"{type(error).__name__}: {error}. Most likely ulimit -v allows too little memory ({limit >> 20} MB)"
    return f"{type(error).__name__}: {error}. This is a bug in iparam: please report it with the output of --debug."


def _memory_limit() -> int | None:
    """Bytes of address space that this process may have; None if there is no bound."""
    if sys.platform == "win32":
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def _flushed() -> bool:
    """Whether standard output took all that was printed; if not, the interpreter does not try again at its exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _discard_output()
        return False
    return True


def _is_null_device() -> bool:
    """Whether standard output goes nowhere."""
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.stat(os.devnull))
    except (OSError, ValueError):
        return False


def _discard_output() -> None:
    """Let the interpreter flush the rest of standard output, at its exit, into nothing."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
