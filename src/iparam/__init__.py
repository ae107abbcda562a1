"""Inertial parameters of what a robot arm carries, and of the arm itself.

Names are loaded on first use: ``import iparam`` itself stays fast, and the native core is only loaded by the
functions that need them.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]


def __dir__() -> list[str]:
    """The public names: those of the stub, which are lazy, and the version."""
    return sorted(__all__)
