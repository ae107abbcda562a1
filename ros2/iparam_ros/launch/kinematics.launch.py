"""The kinematics node. Arguments: robot, frame (tool or base), joint_topic."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description():
    """What to start."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "robot",
                default_value="",
                description="a name from 'iparam robots', or a file; empty: robot_description",
            ),
            DeclareLaunchArgument("frame", default_value="tool", choices=["tool", "base"]),
            DeclareLaunchArgument("joint_topic", default_value="/joint_states"),
            Node(
                package="iparam_ros",
                executable="kinematics",
                name="iparam_kinematics",
                parameters=[
                    {
                        "robot": ParameterValue(LaunchConfiguration("robot"), value_type=str),
                        "frame": ParameterValue(LaunchConfiguration("frame"), value_type=str),
                    }
                ],
                remappings=[("joint_states", LaunchConfiguration("joint_topic"))],
                output="screen",
            ),
        ]
    )
