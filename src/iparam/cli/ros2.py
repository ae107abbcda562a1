"""`iparam ros2 ...`: the nodes, without a ROS 2 workspace. Topics, parameters and services are in docs/ros2.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import UseAppendAction, arg

import iparam
from iparam.errors import InputError


@dataclass(frozen=True, kw_only=True)
class NodeOptions:
    """The options, with the names that ROS 2 gives them."""

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


@dataclass(frozen=True, kw_only=True)
class Kinematics(NodeOptions):
    r"""Publish velocity and acceleration of the tool from joint states.

    Runs until Ctrl-C. Parameters: robot, tip, frame (tool or base), ...

    All of them: docs/ros2.md, or 'ros2 param describe'.

    Example:
      iparam ros2 kinematics -p robot:=ur5e -p frame:=base
      iparam ros2 kinematics --ros-args -r joint_states:=/left/joint_states
    """

    def run(self) -> None:
        """Run the node."""
        iparam.bridges.ros2.run_node("kinematics", self.arguments())


@dataclass(frozen=True, kw_only=True)
class Identify(NodeOptions):
    r"""Identify the load from joint states and wrenches while the arm moves.

    Runs until Ctrl-C, then writes the result to the parameter output, if set.

    Parameters: robot, output, measures (action or reaction), bias, rate, ...

    All of them: docs/ros2.md, or 'ros2 param describe'.

    Example:
      iparam ros2 identify -p robot:=ur5e -p output:=result.json
      iparam ros2 identify -r wrench:=/force_torque_sensor_broadcaster/wrench
    """

    lifecycle: Annotated[bool, arg(help_behavior_hint="")] = False
    """Wait for a lifecycle manager to configure and activate it ('ros2 lifecycle set')."""

    def run(self) -> None:
        """Run the node."""
        iparam.bridges.ros2.run_node("identify_lifecycle" if self.lifecycle else "identify", self.arguments())


@dataclass(frozen=True, kw_only=True)
class Play(NodeOptions):
    r"""Send a planned motion to a joint trajectory controller, when asked to.

    The motion is checked as by 'iparam excite check' and refused if it fails.

    It is played by a call of the service ~/play, with the arm at the start pose.

    Parameters: trajectory, scale (0.2 for a first try), payload_size, cell, ...

    All of them: docs/ros2.md, or 'ros2 param describe'.

    Example:
      iparam ros2 play -p trajectory:=plan.json -p scale:=0.2
    """

    def run(self) -> None:
        """Run the node."""
        iparam.bridges.ros2.run_node("play", self.arguments())


@dataclass(frozen=True, kw_only=True)
class Compensate(NodeOptions):
    r"""Take an identified load and the sensor's bias out of a wrench, live.

    Runs until Ctrl-C. The load is a file's, or that of the topic inertia.

    Parameters: result, mode (static: the weight only; full), robot, ...

    All of them: docs/ros2.md, or 'ros2 param describe'.

    Example:
      iparam ros2 compensate -p result:=result.json -p mode:=static
    """

    def run(self) -> None:
        """Run the node."""
        iparam.bridges.ros2.run_node("compensate", self.arguments())
