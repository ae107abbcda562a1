"""What continuous integration runs of others is pinned to what was looked at."""

from __future__ import annotations

import re
from pathlib import Path

WORKFLOWS = Path(__file__).resolve().parents[1] / ".github" / "workflows"


def test_actions_are_pinned_by_commit_and_say_their_version() -> None:
    """A tag can be moved to other code by whoever takes over the action; a commit cannot."""
    lines = [line for path in sorted(WORKFLOWS.glob("*.y*ml")) for line in path.read_text("utf-8").splitlines()]
    uses = [line for line in lines if re.match(r"[\s-]*uses\s*:", line)]
    assert len(uses) >= 5
    pinned = re.compile(r"\s*- uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [line for line in uses if not pinned.fullmatch(line)] == []
