"""Serial arms: the model, the catalogue of known arms, DH tables and URDF files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
