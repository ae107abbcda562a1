"""`with_motor_currents`: a recording as an arm without torque sensors makes it, with currents in place of torques."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import as_float_array
from iparam.errors import InputError
from iparam.recording import Recording


def with_motor_currents(
    recording: Recording, drive_gains: ArrayLike, noise: ArrayLike = 0.0, seed: int = 0
) -> Recording:
    """Replace the signal tau of a recording by the currents of its motors.

    Args:
        recording: with tau.
        drive_gains: (n,) torque that an ampere makes [N m/A].
        noise: standard deviation of a current sample, one number or (n,) [A].
        seed: of the noise.
    """
    torque = recording.signal("tau")
    gains = as_float_array(drive_gains, "drive_gains")
    spread = as_float_array(noise, "noise")
    if gains.shape != (torque.width,) or (gains <= 0.0).any():
        raise InputError(f"drive_gains must be {torque.width} positive numbers, got {gains.tolist()}")
    if spread.shape not in ((), (torque.width,)) or (spread < 0.0).any():
        raise InputError(f"noise must be one number or {torque.width}, none negative, got {spread.tolist()}")
    random = np.random.default_rng(seed).standard_normal(torque.values.shape)
    return recording.without_signal("tau").with_signal(
        "current", time=torque.time, values=torque.values / gains + spread * random
    )
