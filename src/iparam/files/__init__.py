"""Files that are replaced whole, what stands at a path, JSON documents, and how much of a file is taken into memory."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
