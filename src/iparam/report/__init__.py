"""Reports for people: one self-contained page about an identification.

matplotlib and jinja2 are imported when a page is made (extra ``plot``); everything else here does without them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
