"""Planning motions that tell most about inertial parameters, within the limits of arm and cell."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
