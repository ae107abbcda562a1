"""Curves over time for pages, drawn by a small script that a page brings along.

The script is uPlot (MIT, see NOTICE) with `scripts/charts.js` around it; without JavaScript a page shows its pictures.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
