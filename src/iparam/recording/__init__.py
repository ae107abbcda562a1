"""What was measured in a run: recordings, the files they are kept in, filters and time alignment."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
