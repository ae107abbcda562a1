"""How the motion of an arm is known from a recording: sources, filters, and the smoother with its choice of models."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
