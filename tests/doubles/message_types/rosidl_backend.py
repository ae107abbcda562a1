"""Writes the C and Python sources of a package's messages and actions, by ROS 2's own generators.

Runs as a process of its own: the generators print, and change what they import.
"""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import Any

import rosidl_cli.entry_points as generator_names
from rosidl_cli.command.generate.api import generate

SUFFIXES = (".msg", ".srv", ".action")


def write_sources(source: Path, output: Path, include: list[str]) -> None:
    """Write the sources of the package whose definitions lie in ``source``, which is named after it.

    Args:
        source: its folder, with msg, srv or action in it.
        output: folder for the sources.
        include: folders that the definitions of other packages lie in.
    """
    # Wheels of ROS 2 name each of their generators twice, for which the original gives up.
    generator_names.get_entry_points = _named_once
    files = [f"{source}:{path.relative_to(source)}" for path in sorted(source.rglob("*")) if path.suffix in SUFFIXES]
    generate(
        package_name=source.name,
        interface_files=files,
        include_paths=include,
        output_path=output,
        types=["c", "py"],
        typesupports=["c", "introspection_c", "fastrtps_c"],
    )


def _named_once(group_name: str, *, specs: Any = None, strict: bool = False) -> dict[str, Any]:
    found = {entry.name: entry for entry in importlib.metadata.entry_points(group=group_name)}
    return {name: entry for name, entry in found.items() if specs is None or name in set(specs)}


if __name__ == "__main__":
    write_sources(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
