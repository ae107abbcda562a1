"""The load while the arm moves."""
