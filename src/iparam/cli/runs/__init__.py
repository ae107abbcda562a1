"""The commands that look at a recorded run: its checks, its load taken out, predicted, or known."""
