"""Figures of the page as inline SVG."""
