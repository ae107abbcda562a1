"""The nodes: each translates messages for a plain class that does the work."""
