"""`ros2 run iparam_ros identify_lifecycle`."""

from iparam.bridges.ros2 import start


def main() -> int:
    """Run the node until Ctrl-C; the exit code."""
    return start.main("identify_lifecycle")
