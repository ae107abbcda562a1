"""Types of messages and actions that no package brings: found in a sourced ROS 2, or made from their definitions."""
