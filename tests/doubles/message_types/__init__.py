"""Types of messages that the package index lacks and a sourced ROS 2 has, made from their definitions for the tests."""
