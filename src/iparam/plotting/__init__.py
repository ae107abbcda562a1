"""Small plots and tables of arrays and texts: for reports, and for values that a notebook shows. Knows no robots."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
