"""What an estimate is worth: its residuals, its verdict, other methods, other runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
