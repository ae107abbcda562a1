"""`iparam setup`: writes down what stays from run to run, for the option --setup of every command."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import arg

import iparam
from iparam.cli.console.printing import AsJson, note, print_json, print_line
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.joint_state import robot_of
from iparam.cli.options.mounting import MountingOptions, three_of
from iparam.cli.options.payload import read_load
from iparam.errors import FileFormatError, InputError, StatedPathError
from iparam.files.kind import FileKind
from iparam.robot.loading import stated_in_setup
from iparam.sensing.setup import ZEROED

_NONE = "(default: not said)"


@dataclass(frozen=True, kw_only=True)
class WriteSetup(MountingOptions):
    r"""Write down arm, mounting, sensor, gripper and zeroing, once, for --setup.

    Every command takes the file: what it says need not be typed again.

    'iparam doctor run.parquet --setup setup.toml' holds it against a recording.

    Example:
      iparam setup --robot ur5e --mounting ceiling --sensor-rotation 0 0 90
      iparam setup --robot arm.urdf --tip flange --gripper gripper.json \
          --zeroed with-load --output cell1.toml
    """

    robot: Annotated[str, arg(metavar="ROBOT")]
    """A name from 'iparam robots', or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    tip: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the robot's own)")] = None
    """The frame taken as the tool: a link of the URDF, or 'flange'."""
    base: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the robot's own)")] = None
    """The link that the arm begins at."""
    sensor_rotation: Annotated[tuple[float, ...], arg(metavar="R P Y", help_behavior_hint=_NONE)] = ()
    """Roll, pitch and yaw of the force/torque sensor in the tool frame [deg]."""
    sensor_offset: Annotated[tuple[float, ...], arg(metavar="X Y Z", help_behavior_hint=_NONE)] = ()
    """Its origin in the tool frame [m]."""
    measures: Annotated[
        Literal["action", "reaction"] | None, arg(metavar="{action,reaction}", help_behavior_hint=_NONE)
    ] = None
    """Whose wrench the sensor reports: of the arm on the load (action), or the opposite, as UR controllers."""
    wrench_frame: Annotated[Literal["tool", "base"] | None, arg(metavar="{tool,base}", help_behavior_hint=_NONE)] = None
    """In whose axes it is reported."""
    sensor: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint=_NONE)] = None
    """Calibration of the sensor, from 'iparam calibrate sensor': .json."""
    zeroed: Annotated[
        Literal["with-load", "without-load", "never"] | None,
        arg(metavar="{with-load,without-load,never}", help_behavior_hint=_NONE),
    ] = None
    """Whether the sensor is zeroed right before each run, and what it carries then."""
    gripper: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint=_NONE)] = None
    """Load of the gripper or tool changer alone, in the tool frame: a result, .json."""
    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.SETUP)] = Path("setup.toml")
    """File for the setup: .toml. Replaced if it exists."""
    overwrite: Overwrite = False
    json: AsJson = False

    def run(self) -> None:
        """Check, write and print."""
        if self.output.suffix.lower() != ".toml":
            raise InputError(f"--output {self.output}: a setup is a .toml file")
        robot = robot_of(self.robot, self.tip, base=self.base)
        gravity = self.given_gravity()
        if self.sensor is not None:
            iparam.estimation.load_sensor_correction(self.sensor)
        mass = None if self.gripper is None else read_load(self.gripper, robot)[0].mass
        setup = iparam.sensing.Setup(
            robot=self.robot,
            tip=self.tip,
            base=self.base,
            mounting=self._mounting() if self.mounting else None,
            gravity=self._numbers() or None,
            sensor_rotation=three_of(self.sensor_rotation, "--sensor-rotation", "roll, pitch and yaw [deg]"),
            sensor_offset=three_of(self.sensor_offset, "--sensor-offset", "x y z in the tool frame [m]"),
            measures=self.measures,
            wrench_frame=self.wrench_frame,
            sensor=self.sensor,
            zeroed=None if self.zeroed is None else ZEROED[self.zeroed],
            gripper=self.gripper,
        )
        setup.save(self.output)
        try:
            stated_in_setup(iparam.sensing.Setup.load(self.output).robot, self.output)  # it is what it was meant to be
        except FileFormatError as error:
            raise InputError(f"the setup cannot be read back: {error}") from None
        except StatedPathError as error:
            note(
                f"besides --setup, type --robot {shlex.quote(error.path)}: from a setup, robot files are taken only if "
                "they lie in its own folder and are no xacro files"
            )
        if self.json:
            print_json({"output": str(self.output), "options": {key: list(v) for key, v in setup.options.items()}})
            return
        print_line(f"robot     {robot.name}, {robot.num_joints} joints, tool frame {robot.tool_frame}")
        if gravity is not None:
            print_line(f"gravity   {' '.join(f'{value:.4g}' for value in gravity)} m/s^2 in the axes of the base")
        if mass is not None:
            print_line(f"gripper   {mass:.4g} kg")
        print_line(f"setup     {self.output}; with any command: --setup {self.output}")
