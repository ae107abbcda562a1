"""The options of a command that serves a page with an arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import arg

from iparam.errors import InputError


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """The options; a command adds its own to them."""

    capsules: Annotated[bool, arg(help_behavior_hint="")] = False
    """Draw the arm as the capsules of its collision tests, not with its meshes."""
    host: Annotated[str, arg(metavar="ADDRESS")] = "127.0.0.1"
    """Address to serve the page on. Another than this machine's own has a token in its link."""
    port: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: the first free one from 8080)")] = None
    """Port to serve the page on."""

    def check_page(self) -> None:
        """Refuse a port that there is not."""
        if self.port is not None and not 0 < self.port < 65536:
            raise InputError(f"--port must be 1 to 65535, got {self.port}")
