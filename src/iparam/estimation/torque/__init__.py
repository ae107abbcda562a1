"""Identification from joint torques and motor currents: the arm itself, and a load without a force sensor."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
