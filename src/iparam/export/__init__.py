"""An identified load in the form, frame and order that other programs and robot controllers expect."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
