"""The playback node. Arguments: trajectory, scale, joint_topic, controller."""

import os

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description():
    """What to start."""
    share = get_package_share_directory("iparam_ros")
    return LaunchDescription(
        [
            DeclareLaunchArgument("trajectory", description="file from 'iparam excite optimize'"),
            DeclareLaunchArgument("scale", default_value="0.2", description="share of the amplitude"),
            DeclareLaunchArgument("joint_topic", default_value="/joint_states"),
            DeclareLaunchArgument("controller", default_value="/scaled_joint_trajectory_controller"),
            DeclareLaunchArgument("params_file", default_value=os.path.join(share, "config", "play.yaml")),
            Node(
                package="iparam_ros",
                executable="play",
                name="iparam_playback",
                parameters=[
                    LaunchConfiguration("params_file"),
                    {
                        "trajectory": ParameterValue(LaunchConfiguration("trajectory"), value_type=str),
                        "scale": ParameterValue(LaunchConfiguration("scale"), value_type=float),
                    },
                ],
                remappings=[
                    ("joint_states", LaunchConfiguration("joint_topic")),
                    (
                        "joint_trajectory",
                        PathJoinSubstitution([LaunchConfiguration("controller"), "joint_trajectory"]),
                    ),
                ],
                output="screen",
            ),
        ]
    )
