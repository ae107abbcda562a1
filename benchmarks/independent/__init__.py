"""A simulator of its own, and what estimates are held against: for `bench_independent.py`."""
