"""Inertial parameters of what a robot arm carries, and of the arm itself.

Names are loaded on first use: ``import iparam`` itself stays fast, and the compiled kernels are only loaded by the
functions that need them.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
