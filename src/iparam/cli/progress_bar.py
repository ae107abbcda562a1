"""A bar that shows how far a long job is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from iparam.printable import printable


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error if that is a terminal; takes the fraction that is done."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(printable(title)), total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)
