"""An arm as it moves, for the page that follows it: where samples come from, and the load that is found on the way."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
