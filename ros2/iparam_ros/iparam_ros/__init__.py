"""Executables for `ros2 run iparam_ros ...`. The nodes are in iparam.bridges.ros2."""
