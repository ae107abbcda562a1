"""`Program`: what runs on the twin's controller, one step a period."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iparam.errors import IparamError


class ProgramError(IparamError):
    """A program asked for something that cannot be, or that the twin does not model: it ends, and the arm brakes."""


@dataclass(frozen=True, eq=False)
class Program:
    """A program.

    Attributes:
        name: that the dashboard shows.
        steps: gives control back once a period; its end is the program's.
    """

    name: str
    steps: Iterator[None]
