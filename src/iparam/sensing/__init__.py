"""Sensors: what data sheets say about them, what they do to a signal, and what a recording tells by them.

Wrench sources say what the arm exerted on the load, whatever the sensor; `iparam.motion` says how it moved.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
