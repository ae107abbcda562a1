"""`Signal`: time-stamped samples of one quantity."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError

LATEST = 1e21
"""A stamp beyond this is none in any unit [s]: nanoseconds of 30,000 years. Differences of lesser ones stay finite."""


@dataclass(frozen=True, eq=False)
class Signal:
    """Samples of a quantity with k components, each with its own time stamp.

    Attributes:
        time: (T,) strictly increasing [s], T at least 1, each within +-1e21 s.
        values: (T, k) finite, in ``unit``; a (T,) array is taken for k = 1.
        unit: e.g. "rad" or "N, N m"; "" if unknown.
        frame: what the components refer to: "joint", a frame of the arm by its name, "tool" for its tool frame whatever
            that is called, "base", or "" if nothing or unknown.
    """

    time: FloatArray
    values: FloatArray
    unit: str = ""
    frame: str = ""

    def __post_init__(self) -> None:
        time, values = as_float_array(self.time, "time"), as_float_array(self.values, "values")
        if values.ndim == 1:
            values = values[:, None]
        if time.ndim != 1 or values.ndim != 2 or values.shape[0] != time.size or 0 in values.shape:
            raise InputError(
                f"a signal needs time (T,) and values (T, k) with T and k at least 1, got {np.shape(self.time)} and "
                f"{np.shape(self.values)}"
            )
        far = np.flatnonzero(np.abs(time) > LATEST)
        if far.size:
            raise InputError(
                argument="time",
                problem=(
                    f"must be in seconds, from {-LATEST:g} to {LATEST:g}, got {float(time[far[0]])!r} at {far[0]}: is "
                    "that column the time, and are its numbers whole?"
                ),
            )
        late = np.flatnonzero(np.diff(time) <= 0)
        if late.size:
            i = int(late[0])
            before, after = time[i : i + 2].tolist()
            raise InputError(
                argument="time", problem=f"must be strictly increasing, got {before!r} and then {after!r} at {i + 1}"
            )
        for name in ("unit", "frame"):
            if not isinstance(getattr(self, name), str):
                raise InputError(argument=name, problem=f"must be text, got {type(getattr(self, name)).__name__}")
        object.__setattr__(self, "time", frozen(time + 0.0))  # -0.0 becomes 0.0: one instant has one representation
        object.__setattr__(self, "values", frozen(values))

    @property
    def num_samples(self) -> int:
        """T, the number of samples."""
        return self.time.size

    @property
    def width(self) -> int:
        """k, the number of components."""
        return int(self.values.shape[1])

    @property
    def rate(self) -> float:
        """Median sampling rate [Hz]; 0 for a single sample."""
        return 1.0 / float(np.median(np.diff(self.time))) if self.time.size > 1 else 0.0

    @cached_property
    def fingerprint(self) -> str:
        """Tells one measurement from another: equal for equal values, whatever file and time stamps they have."""
        return hashlib.blake2b(self.values.data, digest_size=16).hexdigest()

    def slice(self, start: float, stop: float) -> Signal | None:
        """The samples with start <= time <= stop, or None if there are none."""
        first, last = np.searchsorted(self.time, start, "left"), np.searchsorted(self.time, stop, "right")
        if first >= last:
            return None
        return Signal(self.time[first:last], self.values[first:last], self.unit, self.frame)

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} to {self.time[-1]:g} s"
        return f"Signal({self.num_samples} x {self.width}, {span}, unit={self.unit!r}, frame={self.frame!r})"
