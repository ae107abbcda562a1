"""Connections to the outside: ROS 2 bags and nodes, and Universal Robots arms over RTDE. Nothing connects unasked."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
