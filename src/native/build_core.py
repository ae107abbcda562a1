"""Build the native core: find a C++20 compiler, compile every source once for each kind of processor, link.

Standard library only: the build hook (`hatch_build.py`) loads this file before anything is installed, and
`iparam.native.library` loads it where a source is newer than the library. Run by hand:
    python src/native/build_core.py TARGET [OPTION OF THE COMPILER ...]
    python src/native/build_core.py --requires     prints what pip has to install for it: nothing, or ziglang
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
ONCE = "processor.cpp"  # asks what the processor can do, so it has to run on every one

COMPILE = [
    "-std=c++20",
    "-O3",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-math-errno",
    "-fno-trapping-math",
    # A product and a sum become one instruction where there is one. It is a quarter faster, and the only thing in which
    # the kinds of processor differ, in the last digit: but for UNFUSED.
    "-ffp-contract=fast",
    "-nostdinc++",
]
UNFUSED = {"box_box_distances.cpp", "joint_filter.cpp", "joint_smoother.cpp"}
"""Where the last digit, which fusing changes, can grow: there it is left out, and the paths agree exactly."""

WARNINGS = ["-Wall", "-Wextra", "-Werror"]

FORGOTTEN = 7 * 24 * 3600.0
"""Time without use after which what was compiled goes, and what a build that was killed has left [s]."""

ZIG = "ziglang>=0.13"
"""The wheel that brings a compiler where there is none."""


class BuildError(Exception):
    """There is no compiler, or it refuses; the message says what to do."""


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C++, and whether it is the one of the ziglang wheel."""

    command: tuple[str, ...]
    zig: bool = False

    def architecture(self, level: str) -> list[str]:
        """Options for a level of x86-64, "v2" to "v4"; "" for what the compiler makes by itself."""
        if not level:
            return []
        return [f"-mcpu=x86_64_{level}"] if self.zig else [f"-march=x86-64-{level}"]


def levels() -> dict[str, str]:
    """The names of the paths that this machine's kind gets, with the x86-64 level that each is compiled for."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return {"baseline": "v2", "avx2": "v3", "avx512": "v4"}
    return {"baseline": ""}


def library_name() -> str:
    """File name of the library."""
    return {"win32": "core.dll", "darwin": "core.dylib"}.get(sys.platform, "core.so")


def source_files() -> list[Path]:
    """Everything that the library is made of."""
    return sorted([*SOURCES.glob("*.cpp"), *SOURCES.glob("*.hpp"), Path(__file__).resolve()])


def find_compiler() -> Compiler:
    """$CXX, else a compiler of the system, else that of the ziglang wheel.

    Raises:
        BuildError: there is none; or $CXX is set to one that does not compile C++20.
    """
    asked = shlex.split(os.environ.get("CXX", ""))
    if asked:
        compiler = Compiler(tuple(asked), zig=any("zig" in word for word in asked))
        if not _works(compiler):
            raise BuildError(f"CXX={os.environ['CXX']} does not compile C++20 here; unset it, or name another compiler")
        return compiler
    for compiler in _candidates():
        if _works(compiler):
            return compiler
    raise BuildError(
        "iparam's native core needs a C++20 compiler (g++ 11, clang++ 14 or newer), and none was found. Install one, "
        f"or its replacement from PyPI: pip install '{ZIG}'"
    )


def requirements() -> list[str]:
    """What pip has to install before: the compiler of the ziglang wheel where there is none."""
    try:
        return [ZIG] if find_compiler().zig else []
    except BuildError:
        return [ZIG]


def _candidates() -> Iterator[Compiler]:
    # g++ for Windows does not align the stack as AVX needs it.
    for name in ["clang++"] if sys.platform == "win32" else ["c++", "g++", "clang++"]:
        found = shutil.which(name)
        if found:
            yield Compiler((found,))
    if importlib.util.find_spec("ziglang"):
        # Not "c++", which would first compile a C++ library, for a minute.
        yield Compiler((sys.executable, "-m", "ziglang", "cc"), zig=True)


def _works(compiler: Compiler) -> bool:
    """Whether it compiles C++20 for the newest kind of processor."""
    probe = (
        "template <class T> concept Any = true; Any auto one = 1; typedef double V __attribute__((vector_size(16)));"
    )
    level = [*levels().values()][-1]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "probe.cpp"
        file.write_text(probe)
        command = [*compiler.command, "-std=c++20", *compiler.architecture(level), "-c", str(file), "-o", f"{file}.o"]
        try:
            return subprocess.run(command, capture_output=True, timeout=300, check=False).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            return False


def build(target: Path, extra: list[str] | None = None, keep: Path | None = None) -> None:
    """Make the library ``target``, which appears whole or not at all; several processes may do so at once.

    Args:
        target: a file, in a folder that exists. Its time is that of the start: what is edited meanwhile is newer.
        extra: further options of the compiler, as WARNINGS.
        keep: a folder for what is compiled, by content, so that the next time only what has changed is compiled.

    Raises:
        BuildError: no compiler, or it refuses the sources.
        OSError: the folder cannot be written.
    """
    compiler = find_compiler()
    with tempfile.TemporaryDirectory(prefix=".building-", dir=target.parent) as name:
        folder = Path(name)
        started = folder / "started"
        started.touch()
        jobs = [
            (source, path, level)
            for path, level in levels().items()
            for source in sorted(SOURCES.glob("*.cpp"))
            if source.name != ONCE or path == "baseline"
        ]

        headers = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(SOURCES.glob("*.hpp")))).digest()

        def compile_one(job: tuple[Path, str, str]) -> str:
            source, path, level = job
            options = [*COMPILE, *(extra or []), f"-DIPARAM_PATH={path}", *compiler.architecture(level)]
            if source.name in UNFUSED:
                options.append("-ffp-contract=off")
            command = [*compiler.command, *options, "-c", str(source)]
            content = hashlib.sha256(headers + source.read_bytes() + "\n".join(command).encode()).hexdigest()[:16]
            name = f"{source.stem}-{path}-{content}.o"
            kept = None if keep is None else keep / name
            if kept is not None and kept.exists():
                kept.touch()  # it is not forgotten
                return str(kept)
            _run([*command, "-o", str(folder / name)])
            if kept is None:
                return str(folder / name)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / name, folder / f"{name}.kept")
            os.replace(folder / f"{name}.kept", kept)
            return str(kept)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compile_one, jobs))
        library = folder / target.name
        sanitizers = [option for option in extra or [] if option.startswith("-fsanitize")]
        link = sanitizers or _LINK.get(sys.platform, _LINK["linux"])
        _run([*compiler.command, "-shared", *objects, *link, "-o", str(library)])
        stamp = started.stat()
        os.utime(library, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        os.replace(library, target)
    for old in [*target.parent.glob(".building-*"), *([] if keep is None else keep.glob("*.o"))]:
        with suppress(FileNotFoundError):  # another process was faster
            if time.time() - old.stat().st_mtime > FORGOTTEN:
                shutil.rmtree(old) if old.is_dir() else old.unlink()


_LINK = {
    "linux": ["-nodefaultlibs", "-Wl,--no-undefined", "-Wl,-s", "-lm", "-lc"],
    "darwin": ["-nodefaultlibs", "-lSystem"],
    "win32": ["-Wl,-s"],
}


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise BuildError(f"{shlex.join(command)} failed:\n{(done.stderr or done.stdout).strip()}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--requires"]:
        sys.stdout.write("\n".join(requirements()))
    else:
        build(Path(sys.argv[1]), [*WARNINGS, *sys.argv[2:]], SOURCES.parents[1] / "build" / "native")
