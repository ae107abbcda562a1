"""ROS 2 bags: their topics as recordings, and recordings as bags."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
