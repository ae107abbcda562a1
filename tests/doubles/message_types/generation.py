"""`generated_package`: a Python package of message and action types, compiled from their definitions and kept.

It takes a C and a C++ compiler and some 20 s, once. The libraries are loaded by their paths, so that nothing has to be
set in the environment.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

from iparam.files.kept import cache_folder

DEFINITIONS = Path(__file__).parent / "definitions"
SUPPORTS = ("rosidl_generator_c", "rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c")
LAST = "rosidl_typesupport_c"
FLAGS = ("-O1", "-fPIC", "-shared", "-w")


def libraries_of(package: str) -> tuple[str, ...]:
    """File names of the libraries of a package, in the order in which they have to be loaded."""
    return tuple(f"lib{package}__{support}.so" for support in (*SUPPORTS, LAST))


def generated_package(package: str, definitions: Path = DEFINITIONS) -> Path:
    """The folder to import a package from, with its libraries in ``lib``; it is made if it is not there."""
    source = definitions / package
    kept = cache_folder() / "message_types" / f"{package}-{_fingerprint(source)}"
    if (kept / package).is_dir():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as work:
        made = Path(work) / "made"
        _write_and_compile(source, Path(work), made)
        try:
            made.rename(kept)
        except OSError:  # another process was quicker
            if not (kept / package).is_dir():
                raise
    return kept


def _fingerprint(source: Path) -> str:
    text = b"".join(path.read_bytes() for path in sorted(source.rglob("*")) if path.is_file())
    versions = f"{sys.implementation.cache_tag} {np.__version__} {sys.prefix} {os.environ.get('ROS_DISTRO', '')}"
    for name in ("ros-rclpy", "rclpy"):
        try:
            versions += importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return hashlib.sha256(text + versions.encode()).hexdigest()[:16]


def _write_and_compile(source: Path, work: Path, made: Path) -> None:
    prefixes = [Path(path) for path in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if path]
    prefixes = [path for path in prefixes or [Path(sys.prefix)] if (path / "share").is_dir()]
    sources, package = work / "sources", source.name
    command = [sys.executable, str(Path(__file__).with_name("rosidl_backend.py")), str(source), str(sources)]
    environment = {"AMENT_PREFIX_PATH": os.pathsep.join(map(str, prefixes)), **os.environ}
    _run([*command, *(str(prefix / "share") for prefix in prefixes)], environment)
    include = []
    for part in ("c", "introspection_c", "fastrtps_c"):
        (work / f"include_{part}").mkdir()
        (work / f"include_{part}" / package).symlink_to(sources / part)
        include.append(f"-I{work / f'include_{part}'}")
    for prefix in prefixes:
        include.append(f"-I{prefix / 'include'}")
        include += [f"-I{path}" for path in sorted((prefix / "include").iterdir()) if path.is_dir()]
    (made / "lib").mkdir(parents=True)
    builder = _Builder(package, made / "lib", include, prefixes)
    c, cpp = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
    plain = [path for path in (sources / "c").rglob("*.c") if path.parent.name == "detail"]
    builder.link([c], SUPPORTS[0], plain, SUPPORTS[:1])
    builder.link([cpp, "-std=c++17"], SUPPORTS[1], (sources / "fastrtps_c").rglob("*.cpp"), SUPPORTS[:2])
    builder.link([c], SUPPORTS[2], (sources / "introspection_c").rglob("*.c"), (SUPPORTS[0], SUPPORTS[2]))
    builder.link([cpp, "-std=c++17"], LAST, (sources / "c").rglob("*__type_support.cpp"), (SUPPORTS[0], LAST))
    python = made / package
    for path in (sources / "py").rglob("*.py"):
        target = python / path.relative_to(sources / "py")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    (python / "__init__.py").touch()
    entry = sources / "py" / f"_{package}_s.ep.{LAST}.c"
    builder.include += [f"-I{sysconfig.get_path('include')}", f"-I{np.get_include()}"]
    files = [entry, *(sources / "py").rglob("*_s.c")]
    builder.link([c], LAST, files, (SUPPORTS[0], LAST, "rosidl_generator_py"), python / f"{package}_s__{LAST}.so")


class _Builder:
    """Compiles and links libraries of a package against all that an installation has of the same kind."""

    def __init__(self, package: str, folder: Path, include: list[str], prefixes: list[Path]) -> None:
        self.include = include
        self._package, self._folder = package, folder
        self._places = [prefix / "lib" for prefix in prefixes]

    def link(
        self, compiler: list[str], kind: str, files: object, kinds: tuple[str, ...], target: Path | None = None
    ) -> None:
        name = f"lib{self._package}__{kind}.so"
        own = [str(path) for path in sorted(self._folder.glob("*.so"))]
        others = [str(path) for place in self._places for used in kinds for path in sorted(place.glob(f"*__{used}.so"))]
        runtime = ("rosidl_runtime_c", "rosidl_typesupport_*", "rcutils", "fastcdr", "rosidl_dynamic_typesupport")
        others += [str(path) for place in self._places for part in runtime for path in place.glob(f"lib{part}.so")]
        paths = sorted(str(path) for path in files)  # type: ignore[attr-defined]
        output = self._folder / name if target is None else target
        command = [*compiler, *FLAGS, *self.include, "-o", str(output), f"-Wl,-soname,{output.name}", *paths]
        _run([*command, "-Wl,--as-needed", *own, *others])


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr or done.stdout
