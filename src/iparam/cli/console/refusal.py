"""The option that lets a command act on a result which its own data refute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from tyro.conf import arg

from iparam.estimation.errors import RefutedResultError

AcceptRefuted = Annotated[bool, arg(help="Use a result even if its own data refute it.", help_behavior_hint="")]
"""The type of the option ``accept_refuted``."""


@contextmanager
def offering_acceptance() -> Iterator[None]:
    """A refusal of a refuted result that says which option accepts it."""
    try:
        yield
    except RefutedResultError as error:
        raise RefutedResultError(f"{error} --accept-refuted uses it nevertheless.") from None
