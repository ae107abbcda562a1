"""Colours that people with any colour vision tell apart (Okabe & Ito 2008), and line styles that differ as well."""

from __future__ import annotations

INK = "#1a1a1a"
GREY = "#6b6b6b"
PALE = "#d9d9d9"
BLUE = "#0072b2"
ORANGE = "#e69f00"
GREEN = "#009e73"
VERMILLION = "#d55e00"
SKY = "#56b4e9"
PURPLE = "#cc79a7"

AXES = (VERMILLION, GREEN, BLUE)
"""Of x, y and z."""

STYLES = ("-", "--", ":")
"""Line styles of what AXES or other triples colour."""

MARKERS = ("o", "s", "^")
"""Markers of the same."""
