"""The options of commands that start a ROS 2 node: the arguments that every node takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import UseAppendAction, arg

from iparam.errors import InputError


@dataclass(frozen=True, kw_only=True)
class NodeOptions:
    """The options, with the names that ROS 2 gives them; a command adds none."""

    ros_args: Annotated[bool, arg(help_behavior_hint="")] = False
    """Marks the start of ROS arguments, as in 'ros2 run'. May be left out."""
    param: Annotated[
        UseAppendAction[tuple[str, ...]], arg(aliases=("-p",), metavar="NAME:=VALUE", help_behavior_hint="")
    ] = ()
    """Set a parameter of the node. May be repeated."""
    remap: Annotated[
        UseAppendAction[tuple[str, ...]], arg(aliases=("-r",), metavar="FROM:=TO", help_behavior_hint="")
    ] = ()
    """Give a topic, a service or the node (__node) another name. May be repeated."""
    params_file: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="FILE", help_behavior_hint="")] = ()
    """Parameters in ROS 2's format: .yaml. May be repeated."""
    log_level: Annotated[str, arg(metavar="LEVEL", help_behavior_hint="(default: info)")] = ""
    """debug, info, warn, error or fatal."""

    def arguments(self) -> list[str]:
        """The same as ROS 2 takes them."""
        for option, entries in (("-p", self.param), ("-r", self.remap)):
            for entry in entries:
                if ":=" not in entry:
                    raise InputError(f"{option} takes NAME:=VALUE in one word, got {entry!r}")
        given = [("-p", entry) for entry in self.param] + [("-r", entry) for entry in self.remap]
        given += [("--params-file", entry) for entry in self.params_file]
        given += [("--log-level", self.log_level)] if self.log_level else []
        return ["--ros-args", *(word for pair in given for word in pair)] if given else []
