"""Connections to the outside: ROS 2 bags and nodes, and Universal Robots arms over RTDE. Nothing connects unasked."""
