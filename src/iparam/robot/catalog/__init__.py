"""The robots that iparam knows by name: a row an arm, each in a TOML file of its own in the folder of its series."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
