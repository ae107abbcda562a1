"""Estimation of a payload's inertial parameters, with how far each estimate can be trusted."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
