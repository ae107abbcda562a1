"""What a bag that iparam wrote says about itself, in the part of its metadata that is free for such things."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

KEY = "iparam"


@dataclass(frozen=True)
class Provenance:
    """Where a bag comes from.

    Attributes:
        robot: the arm's name, "" if unknown.
        time_origin: the stamp that is time zero of the recording [ns]; None if unknown.
    """

    robot: str = ""
    time_origin: int | None = None

    def to_custom(self) -> str:
        """As text for the bag's metadata."""
        return json.dumps({"robot": self.robot, "time_origin_ns": self.time_origin})

    @classmethod
    def from_custom(cls, custom: Mapping[str, str]) -> Provenance:
        """From the bag's metadata; what is not there or odd is unknown."""
        try:
            document = json.loads(custom.get(KEY, "{}"))
        except (ValueError, RecursionError):
            return cls()
        if not isinstance(document, dict):
            return cls()
        robot, origin = document.get("robot"), document.get("time_origin_ns")
        return cls(robot if isinstance(robot, str) else "", origin if type(origin) is int else None)
