"""The commands of `iparam`, and the choice of the one that an argument list asks for.

A new command is one line in `COMMANDS`. Only the chosen command's module is imported, so that the help and the start
of a command cost the same however many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol, cast

from iparam.errors import InputError, UnknownNameError


class Command(Protocol):
    """A frozen dataclass: its fields are the command's options, its docstring is the help text."""

    __dataclass_fields__: ClassVar[dict[str, Any]]  # what makes a type checker accept dataclasses only

    def run(self) -> None:
        """Do the job: the result to standard output, everything else to standard error."""


@dataclass(frozen=True)
class Entry:
    """A command.

    Attributes:
        name: the words that call it, e.g. "kinematics compute".
        home: "module:class" of its `Command`.
        summary: one line for the list of commands.
    """

    name: str
    home: str
    summary: str

    @property
    def words(self) -> list[str]:
        """The name's words."""
        return self.name.split()

    def load(self) -> type[Command]:
        """The command's class; imports its module."""
        module, _, name = self.home.partition(":")
        return cast(type[Command], getattr(import_module(module), name))


COMMANDS = (
    Entry("demo", "iparam.cli.demo:Demo", "the whole job in MuJoCo: plan, move, identify, report"),
    Entry("robots", "iparam.cli.robots:Robots", "the robots known by name, or one in detail"),
    Entry("setup", "iparam.cli.runs.setup:WriteSetup", "write down arm, mounting, sensor and gripper, once"),
    Entry("kinematics compute", "iparam.cli.kinematics.compute:Compute", "pose, velocity and acceleration of the tool"),
    Entry("kinematics batch", "iparam.cli.kinematics.batch:Batch", "the same for a whole trajectory file"),
    Entry("dynamics compute", "iparam.cli.dynamics:Compute", "joint torques of a motion, and where they come from"),
    Entry("excite optimize", "iparam.cli.excite.optimize:Optimize", "plan the motion that tells most about a payload"),
    Entry(
        "excite random",
        "iparam.cli.excite.random:Random",
        "draw a random motion that keeps the limits and hits nothing",
    ),
    Entry("excite check", "iparam.cli.excite.check:Check", "whether a trajectory keeps every limit, and by how much"),
    Entry("excite predict", "iparam.cli.excite.predict:Predict", "the precision a trajectory will reach, and how soon"),
    Entry("excite poses", "iparam.cli.excite.poses:Poses", "choose a few poses to rest in, for identify --static"),
    Entry("identify payload", "iparam.cli.identify.payload:IdentifyPayload", "mass, centre of mass and inertia"),
    Entry(
        "identify torque-payload",
        "iparam.cli.identify.torque_payload:IdentifyTorquePayload",
        "the load from motor currents, without a force sensor",
    ),
    Entry("identify fuse", "iparam.cli.combine:IdentifyFuse", "one load from several independent results"),
    Entry("identify robot", "iparam.cli.identify.robot:IdentifyRobot", "the arm itself from its torques or currents"),
    Entry("fleet", "iparam.cli.fleet:Fleet", "the load in many recordings, as one table and one page"),
    Entry("combine", "iparam.cli.combine:Combine", "loads added to one body, or one taken away from another"),
    Entry("doctor", "iparam.cli.runs.doctor:Doctor", "what is wrong with a recording: green, amber, red"),
    Entry("calibrate sensor", "iparam.cli.runs.calibrate:CalibrateSensor", "a wrist sensor, from loads that are known"),
    Entry("compensate", "iparam.cli.runs.compensate:Compensate", "take an identified load out of a wrench"),
    Entry("simulate", "iparam.cli.simulate:Simulate", "an arm with a payload in MuJoCo, its sensors recorded"),
    Entry("report", "iparam.cli.report:Report", "one HTML page about an identification"),
    Entry("view", "iparam.cli.view:View", "the arm, the plan, the run and the load in the browser"),
    Entry("verify", "iparam.cli.runs.verify:Verify", "whether a result predicts a motion that was not used"),
    Entry("export", "iparam.cli.export:Export", "the load for simulators, robot controllers and ROS 2"),
    Entry("bag info", "iparam.cli.bag:BagInfo", "the topics of a ROS bag"),
    Entry("bag import", "iparam.cli.bag:BagImport", "a ROS bag as a recording"),
    Entry("bag export", "iparam.cli.bag:BagExport", "a recording as a ROS 2 bag"),
    Entry("ros2 kinematics", "iparam.cli.ros2:Kinematics", "node: motion of the tool from joint states"),
    Entry("ros2 identify", "iparam.cli.ros2:Identify", "node: the load while the arm moves"),
    Entry("ros2 play", "iparam.cli.ros2:Play", "node: a checked motion for a trajectory controller"),
    Entry("ros2 set-payload", "iparam.cli.ros2:SetPayload", "tell an arm's driver what the arm carries"),
    Entry("ros2 simulate", "iparam.cli.ros2:Simulate", "node: joint states and wrench of a simulated arm"),
    Entry("ros2 compensate", "iparam.cli.ros2:Compensate", "node: a wrench without the load"),
    Entry("ur record", "iparam.cli.ur.record:Record", "what a UR arm measures, at 500 Hz"),
    Entry("ur run", "iparam.cli.ur.run:Run", "move a UR arm through a checked motion, and record"),
    Entry("ur set-payload", "iparam.cli.ur.set_payload:SetPayload", "tell a UR controller the identified load"),
)

_USAGE = """\
usage: iparam COMMAND [OPTIONS]

Inertial parameters of what a robot arm carries, and of the arm itself, from
motion and force data.

"""

_FOOTER = """
  iparam COMMAND --help   its options and an example
  iparam --version        the version
  --setup FILE            with any command: its options from a file of 'iparam setup'
  --debug                 with any command: show the traceback of an error
  --tyro-print-completion bash|zsh   a script that completes all this in a shell

Example:
  iparam kinematics compute --robot ur5e --q 0 -1.57 0 -1.57 0 0
"""


def choose(arguments: Sequence[str]) -> tuple[Entry, list[str]]:
    """The command that the first words name, and the arguments left for it."""
    words = list(arguments)
    for entry in COMMANDS:
        count = len(entry.words)
        if words[:count] == entry.words:
            return entry, words[count:]
    if not words or words[0].startswith("-"):
        given = f"unknown option {words[0]!r}" if words else "no command given"
        raise InputError(f"{given}; commands: {', '.join(_first_words())}. See iparam --help.")
    inside = [entry.words[1] for entry in COMMANDS if entry.words[0] == words[0] and len(entry.words) > 1]
    if not inside:
        raise UnknownNameError("command", words[0], _first_words(), hint="See iparam --help.")
    if len(words) == 1 or words[1].startswith("-"):
        raise InputError(f"iparam {words[0]} needs a command: {', '.join(inside)}. See iparam {words[0]} --help.")
    raise UnknownNameError(f"{words[0]} command", words[1], inside, hint=f"See iparam {words[0]} --help.")


def overview(arguments: Sequence[str]) -> str | None:
    """The list of commands, if the arguments ask for it: ``--help``, or a group's name and ``--help``."""
    if not arguments or arguments[-1] not in ("-h", "--help"):
        return None
    group = list(arguments[:-1])
    entries = [entry for entry in COMMANDS if entry.words[: len(group)] == group]
    if not entries or any(entry.words == group for entry in entries):
        return None
    width = max(len(entry.name) for entry in entries)
    lines = [f"  {entry.name:<{width}}   {entry.summary}\n" for entry in entries]
    return "".join([_USAGE, "commands:\n", *lines, _FOOTER])


def _first_words() -> list[str]:
    return list(dict.fromkeys(entry.words[0] for entry in COMMANDS))
