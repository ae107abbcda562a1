"""The estimators, one a file; `estimator.py` has the contract that all keep, and their names."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
