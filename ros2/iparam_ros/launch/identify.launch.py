"""The identification node, and the compensation node fed by it.

Arguments: robot, wrench_topic, joint_topic, params_file, output, compensate (true or false).
"""

import os

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description():
    """What to start."""
    share = get_package_share_directory("iparam_ros")
    arguments = [
        DeclareLaunchArgument(
            "robot", default_value="", description="a name from 'iparam robots', or a file; empty: robot_description"
        ),
        DeclareLaunchArgument("wrench_topic", default_value="/force_torque_sensor_broadcaster/wrench"),
        DeclareLaunchArgument("joint_topic", default_value="/joint_states"),
        DeclareLaunchArgument("output", default_value="", description="file for the result"),
        DeclareLaunchArgument("compensate", default_value="false", description="also publish wrench_compensated"),
        DeclareLaunchArgument("params_file", default_value=os.path.join(share, "config", "identify.yaml")),
    ]
    topics = [
        ("wrench", LaunchConfiguration("wrench_topic")),
        ("joint_states", LaunchConfiguration("joint_topic")),
    ]
    robot = {"robot": ParameterValue(LaunchConfiguration("robot"), value_type=str)}
    output = {"output": ParameterValue(LaunchConfiguration("output"), value_type=str)}
    return LaunchDescription(
        [
            *arguments,
            Node(
                package="iparam_ros",
                executable="identify",
                name="iparam_identification",
                parameters=[LaunchConfiguration("params_file"), robot, output],
                remappings=topics,
                output="screen",
            ),
            Node(
                package="iparam_ros",
                executable="compensate",
                name="iparam_compensation",
                parameters=[LaunchConfiguration("params_file"), robot],
                remappings=topics,
                condition=IfCondition(LaunchConfiguration("compensate")),
                output="screen",
            ),
        ]
    )
