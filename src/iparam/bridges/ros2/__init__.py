"""ROS 2: nodes over the library. What they compute is in plain classes; the nodes only translate messages."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
