"""Simulated runs of an arm with a payload, whose force/torque sensor is physics. MuJoCo is imported when it is used."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
