"""What a motion must keep, and the check that it does."""
