"""Compiled recursions over a chain. Nothing here checks its input: kinematics, dynamics and regressors do.

The kernels take the packed arrays of `Chain` and flat batches (N, n), write into arrays that the caller gives, and
release the GIL, so that `run_batched` can spread a batch over threads.
"""
