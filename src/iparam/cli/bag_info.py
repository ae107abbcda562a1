"""`iparam bag info`: the topics of a ROS 2 bag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from iparam.cli.output import note, number, print_json, print_table


@dataclass(frozen=True, kw_only=True)
class BagInfo:
    r"""List the topics of a ROS 2 bag, sound or damaged.

    Example:
      iparam bag info mybag
      iparam bag info recorded.mcap --json
    """

    bag: Positional[Annotated[Path, arg(metavar="BAG")]]
    """The bag: a folder, or a single .mcap or .db3 file."""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """Print one JSON object."""

    def run(self) -> None:
        """Read and list."""
        from iparam.bridges.bag import open_bag

        contents = open_bag(self.bag, kept_types=())
        for remark in contents.notes:
            note(remark)
        if self.json:
            topics = [
                {
                    "topic": log.topic.name,
                    "type": log.topic.type,
                    "messages": log.count,
                    "rate": log.rate,
                    "span": log.span,
                }
                for log in contents.logs
            ]
            print_json({"storage": list(contents.storages), "topics": topics, "warnings": list(contents.notes)})
            return
        rows = [
            [log.topic.name, log.topic.type, str(log.count), number(log.rate, 1), number(log.span, 3)]
            for log in contents.logs
        ]
        title = f"{self.bag}: {', '.join(contents.storages)}"
        print_table(title, ["topic", "type", "messages", "rate Hz", "span s"], rows)
