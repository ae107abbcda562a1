"""`iparam identify fuse`: one load from several independent results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import AsJson, doubts_told_once, note_remark, print_estimate, print_json
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.errors import InputError
from iparam.files.kind import FileKind


@dataclass(frozen=True, kw_only=True)
class IdentifyFuse:
    r"""One load from several results, each weighing by how well it knows it.

    Their errors must be independent: wrist sensor and joint torques, or other runs.

    Example:
      iparam identify fuse wrist.json torque.json --output result.json
    """

    results: Positional[Annotated[tuple[Path, ...], arg(metavar="FILE ..", help_behavior_hint="")]]
    """Two or more results of the same load in the same frame: .json."""
    output: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.RESULT)
    ] = None
    """File for the result: .json. Replaced if it exists."""
    overwrite: Overwrite = False
    json: AsJson = False

    @doubts_told_once()
    def run(self) -> None:
        """Fuse, print and write."""
        if len(self.results) < 2:
            raise InputError(f"give at least two results to fuse, got {' '.join(map(str, self.results)) or 'none'}")
        found = iparam.fuse_estimates([iparam.Estimate.load(path) for path in self.results])
        if self.output is not None:
            found.save(self.output)
        for one in found.remarks:
            note_remark(one)
        if self.json:
            print_json(found.to_document())
        else:
            print_estimate(found, self.output)
