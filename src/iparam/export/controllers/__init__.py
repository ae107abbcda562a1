"""Loads as the controllers of robot arms take them, one module a maker."""
