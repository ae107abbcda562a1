"""`RobotSource`: the arm of a node, by the parameter robot, or from the description that a running robot publishes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iparam.bridges.ros2.backend import DESCRIPTION_QOS, Node, String
from iparam.bridges.ros2.input_node import InputNode
from iparam.errors import InputError, IparamError
from iparam.printable import printable
from iparam.remarks import Remark, remark
from iparam.robot.loading import load_description, load_robot
from iparam.robot.model import Robot

TOPIC = "robot_description"


class RobotSource:
    """Finds the arm and hands it over: at once if the parameter names it, else when its description comes.

    Args:
        node: that it is for.
        inputs: its subscriptions.
        robot, tip: the parameters.
        ready: called with the arm; what it raises ends the start with the parameter, and is said with a description.

    Attributes:
        problem: why a description that came is of no use; None if none came, or it is.
    """

    def __init__(self, node: Node, inputs: InputNode, robot: str, tip: str, ready: Callable[[Robot], None]) -> None:
        self._node, self._tip, self._ready = node, tip, ready
        self.problem: Remark | None = None
        if robot:
            ready(load_robot(robot, tip=tip or None))
        else:
            inputs.subscribe(String, TOPIC, self._description, DESCRIPTION_QOS)

    def _description(self, message: Any, info: Any) -> None:
        try:
            robot = robot_of_text(message.data, self._tip)
            self._node.get_logger().info(
                printable(f"{robot.name} by {TOPIC}: {robot.num_joints} joints, tool frame {robot.tool_frame}")
            )
            self._ready(robot)
            self.problem = None
        except IparamError as error:
            self.problem = remark("description-refused", topic=TOPIC, reason=str(error))
            self._node.get_logger().error(printable(self.problem.message))


def robot_of_text(text: str, tip: str = "") -> Robot:
    """The arm that the text of a description describes.

    Args:
        text: of a URDF.
        tip: its tool frame; "" for the flange, if that can be told.
    """
    if not text.strip():
        raise InputError("the description is empty")
    try:
        return load_description(text, "it", tip or None)
    except IparamError as error:
        raise InputError(str(error)) from None
