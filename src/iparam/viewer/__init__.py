"""The arm, the plan, the run and the load in the browser.

What is shown is computed as numbers in plain modules; one module draws it with viser, which is imported when a page is
made (extra ``viewer``).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
