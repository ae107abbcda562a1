"""`iparam ros2 ...`: the nodes, without a ROS 2 workspace. Topics, parameters and services are in docs/ros2.md."""

from __future__ import annotations

from dataclasses import dataclass

from iparam.cli.ros2_options import NodeOptions


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
        from iparam.bridges.ros2.start import run_node

        run_node("kinematics", self.arguments())


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

    def run(self) -> None:
        """Run the node."""
        from iparam.bridges.ros2.start import run_node

        run_node("identify", self.arguments())


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
        from iparam.bridges.ros2.start import run_node

        run_node("play", self.arguments())


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
        from iparam.bridges.ros2.start import run_node

        run_node("compensate", self.arguments())
