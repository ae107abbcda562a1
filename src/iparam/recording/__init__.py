"""What was measured in a run: recordings, the files they are kept in, time alignment and screening."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
