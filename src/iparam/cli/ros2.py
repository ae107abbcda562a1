"""`iparam ros2 ...`: the nodes, without a ROS 2 workspace. Topics, parameters and services: docs/platforms/ros2.md."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

from tyro.conf import Positional, UseAppendAction, arg

import iparam
from iparam.cli.console.printing import AsJson, note, print_json, print_line
from iparam.cli.simulate import SimulatedArmOptions
from iparam.cli.ur.options import confirm, require_somebody_to_ask
from iparam.errors import InputError, IparamError
from iparam.rounding import numbers

if TYPE_CHECKING:
    from iparam.simulation import MujocoScene


@dataclass(frozen=True, kw_only=True)
class RosOptions:
    """The options of every node, with the names that ROS 2 gives them."""

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
class NodeOptions(RosOptions):
    """The options of a node that is told all else by parameters."""

    setup: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Parameters from a file of 'iparam setup', those that -p gives excepted: .toml."""

    def arguments(self) -> list[str]:
        """The same as ROS 2 takes them."""
        given = super().arguments()
        return given if self.setup is None else [*(given or ["--ros-args"]), "-p", f"setup:={self.setup}"]


@dataclass(frozen=True, kw_only=True)
class Kinematics(NodeOptions):
    r"""Publish velocity and acceleration of the tool from joint states.

    Runs until Ctrl-C. Parameters: robot, tip, frame (tool or base), ...

    All of them: 'ros2 param describe', or page 'ROS 2' of the documentation.

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

    All of them: 'ros2 param describe', or page 'ROS 2' of the documentation.

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

    All of them: 'ros2 param describe', or page 'ROS 2' of the documentation.

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

    All of them: 'ros2 param describe', or page 'ROS 2' of the documentation.

    Example:
      iparam ros2 compensate -p result:=result.json -p mode:=static
    """

    def run(self) -> None:
        """Run the node."""
        iparam.bridges.ros2.run_node("compensate", self.arguments())


@dataclass(frozen=True, kw_only=True)
class Simulate(SimulatedArmOptions, RosOptions):
    r"""Publish joint states and wrench of a simulated arm, to try the other nodes.

    It rests, plays the trajectory, and rests again, in real time, until Ctrl-C.

    It also follows what 'iparam ros2 play' sends on the topic joint_trajectory.

    The payload is the trajectory's, unless options say another or none.

    Example:
      iparam ros2 simulate --trajectory plan.json --noise ur5e --loop
      iparam ros2 simulate --trajectory plan.json --payload sphere --size 0.05 \
          --mass 1.5 --times 0
    """

    times: Annotated[int, arg(metavar="N")] = 1
    """How often to play the trajectory; 0 waits for joint_trajectory."""
    loop: Annotated[bool, arg(help_behavior_hint="")] = False
    """Play it again and again."""
    rest: Annotated[float, arg(metavar="S")] = 2.0
    """Rest before each time [s]."""

    def run(self) -> None:
        """Run the node."""
        noise = iparam.noise_preset(self.noise)
        if self.times < 0 or not 0.0 <= self.rest < float("inf"):
            raise InputError(f"--times and --rest must not be negative, got {self.times} and {self.rest:g}")
        arm = self.load(iparam.simulation.MujocoSimulator)
        scene, motion = cast("MujocoScene", arm.scene), arm.trajectory
        scene.check(motion)
        if self.truth is not None:
            scene.truth.save(self.truth)
        iparam.bridges.ros2.run_node(
            "simulate",
            self.arguments(),
            arm=iparam.simulation.LiveArm(scene, motion.evaluate(0.0).q[0], noise, self.seed),
            robot=scene.robot,
            motion=motion,
            times=None if self.loop else self.times,
            rest=self.rest,
        )


@dataclass(frozen=True, kw_only=True)
class SetPayload:
    r"""Tell an arm's ROS 2 driver what the arm carries, by the driver's own service.

    ur: ur_robot_driver, franka: franka_ros2. Their workspace has to be sourced.

    The exit code is 0 only if the driver says that the controller took it.

    Example:
      iparam ros2 set-payload result.json --driver ur
    """

    result: Positional[Annotated[Path, arg(metavar="RESULT")]]
    """The load, from 'iparam identify payload --output': .json."""
    driver: Literal["ur", "franka"]
    """Whose service it is."""
    service: Annotated[str, arg(metavar="NAME", help_behavior_hint="(default: the driver's own)")] = ""
    """Name of the service, where it is not the usual one."""
    accept_warnings: Annotated[bool, arg(help_behavior_hint="")] = False
    """Send a result whose remarks discredit it: you know better, and why."""
    yes: Annotated[bool, arg(help_behavior_hint="")] = False
    """Send without asking first. Needed where there is no terminal."""
    json: AsJson = False

    def run(self) -> None:
        """Check, ask, send and print."""
        load = iparam.export.read_load(self.result)
        if not self.accept_warnings and (reasons := load.discredited_by):
            raise IparamError(
                f"{self.result} is discredited by its remarks, and is not sent: {'; '.join(reasons)}; "
                "--accept-warnings sends it nevertheless"
            )
        require_somebody_to_ask(self.yes, "set the payload", "it may be set")
        center = " ".join(numbers(1e3 * load.center_of_mass, 1))

        def approve(service: str) -> None:
            confirm(
                f"Tell {service} {load.mass:.4f} kg at {center} mm, in the frame {load.frame}?",
                self.yes,
                "the controller keeps its payload",
            )

        answer = iparam.bridges.ros2.set_driver_load(load, self.driver, self.service, approve=approve)
        if self.json:
            print_json(asdict(answer))
        else:
            print_line(f"{answer.service}: {'taken' if answer.taken else 'REFUSED'}")
            place = " ".join(numbers([1e3 * value for value in answer.center_of_mass], 2))
            print_line(f"sent  {answer.mass:.6g} kg at {place} mm")
        if answer.remark:
            note(answer.remark)
        if not answer.taken:
            raise IparamError(
                f"{answer.service} did not take the load: look at the driver's log, and at the arm's limit"
            )
        note("the driver does not show what the controller has: 'iparam verify' holds a short motion against it")
