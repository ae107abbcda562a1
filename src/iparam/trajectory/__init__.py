"""Joint motions with exact derivatives: Fourier families, splines, blends, and the files they are kept in."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
