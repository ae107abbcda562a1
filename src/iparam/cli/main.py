"""The entry of the command `iparam`: runs a command and turns what goes wrong into a sentence and an exit code."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import traceback
from collections.abc import Sequence

from iparam.cli.command_table import choose, overview
from iparam.errors import InputError, IparamError, UnknownNameError

SUCCESS = 0
FAILURE = 1
BAD_USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
BROKEN_PIPE = 141  # 128 + SIGPIPE


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
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    try:
        _run([argument for argument in arguments if argument != "--debug"])
        sys.stdout.flush()
    except SystemExit as stop:  # from tyro, after its help or its own message
        return stop.code if isinstance(stop.code, int) else SUCCESS if stop.code is None else BAD_USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    except Exception as error:
        if debug:
            traceback.print_exc()
        print(f"iparam: error: {_sentence(error)}", file=sys.stderr)
        return BAD_USAGE if isinstance(error, InputError | UnknownNameError) else FAILURE
    return SUCCESS


def _run(arguments: list[str]) -> None:
    if arguments[:1] == ["--version"]:
        from iparam import __version__

        print(f"iparam {__version__}")
        return
    listing = overview(arguments)
    if listing is not None:
        sys.stdout.write(listing)
        return
    entry, rest = choose(arguments)
    command_type = entry.load()
    import tyro  # here, because neither the list of commands nor the version needs it

    command = tyro.cli(
        command_type,
        args=rest,
        prog=f"iparam {entry.name}",
        description=inspect.cleandoc(command_type.__doc__ or ""),
        config=(tyro.conf.FlagCreatePairsOff,),
    )
    command.run()


def _sentence(error: Exception) -> str:
    if isinstance(error, IparamError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "not enough memory for this many samples"
    return f"{type(error).__name__}: {error}. This is a bug in iparam: please report it with the output of --debug."


def _discard_output() -> None:
    """Let the interpreter flush the rest of standard output, at its exit, into nothing."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
