"""`examine_samples`: the latest samples of an on-line run, looked at as a recording.

A recursion keeps sums, and sums do not tell a sensor that is turned, a wrench that is late or a bias that drifts from a
load that is like that. Off-line identification does: so the raw samples of the last seconds are kept, and now and then
they are identified and judged as a recording of the same length would be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError, IparamError
from iparam.estimation.estimate import Estimate, Refutation
from iparam.estimation.payload.identify import identify_payload
from iparam.estimation.payload.problem_from_recording import Bias
from iparam.motion.delay import CLEAR, MAX_DELAY, Delay, align_motion, estimate_delay
from iparam.motion.sources import KalmanMotion, known_motion
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.robot.model import Robot

LONGEST = 10.0
"""Time whose samples are kept [s]."""

PAUSE = 1_000_000_000
"""Time between two samples beyond which they do not belong to one recording [ns]."""

MOST_SAMPLES = 10_000
"""Samples that are kept, at most."""

LONGEST_DELAY = 0.25
"""The longest lag of a wrench that is looked for [s]."""

LEAST_SAMPLES = 100
"""Samples below which there is nothing to examine."""


class RecentSamples:
    """The raw samples of the last seconds, in arrays that are made once.

    Args:
        period: time between two of them [s].
        num_joints: n.
    """

    def __init__(self, period: float, num_joints: int) -> None:
        self._size = min(round(LONGEST / period), MOST_SAMPLES)
        self._stamps = np.zeros(self._size, dtype=np.int64)
        self._q, self._wrench = np.full((self._size, num_joints), np.nan), np.full((self._size, 6), np.nan)
        self._count = 0  # of all since they were cleared

    def __len__(self) -> int:
        return min(self._count, self._size)

    def add(self, stamp: int, q: FloatArray, wrench: FloatArray) -> bool:
        """Keep a sample of a stamp [ns]; whether those before it were forgotten: the clock was set, or a long pause."""
        step = stamp - int(self._stamps[(self._count - 1) % self._size])
        forgotten = self._count > 0 and not 0 < step <= PAUSE
        if forgotten:
            self.clear()
        place = self._count % self._size
        self._stamps[place], self._q[place], self._wrench[place] = stamp, q, wrench
        self._count += 1
        return forgotten

    def clear(self) -> None:
        """Forget all of them."""
        self._count = 0

    def recording(self, unless: float = 0.0) -> Recording:
        """The samples but for those of the last ``unless`` [s] as what was recorded, the wrench in the tool's axes."""
        places = np.arange(self._count - len(self), self._count) % self._size
        stamps = self._stamps[places]
        kept = stamps <= stamps[-1] - round(unless * 1e9)
        if kept.any():
            places, stamps = places[kept], stamps[kept]
        time = (stamps - stamps[0]) * 1e-9
        q, wrench = Signal(time, self._q[places], "rad"), Signal(time, self._wrench[places], "N, N m", "tool")
        return Recording("", {"q": q, "wrench": wrench})


@dataclass(frozen=True, eq=False)
class Examination:
    """What the latest samples are worth.

    Attributes:
        estimate: of the load, judged; None where the samples tell nothing.
        delay: by how much the wrench is late behind the joint angles; None where it is not, or not clearly.
        reason: why there is no estimate; "" where there is one.
    """

    estimate: Estimate | None
    delay: Delay | None = None
    reason: str = ""

    @property
    def refutation(self) -> Refutation | None:
        """Why the samples refute what the load, the sensor or the arm were taken to be; None where they do not."""
        return None if self.estimate is None else self.estimate.refutation

    @property
    def passed(self) -> bool:
        """Whether a load on this sensor and this arm explains the samples."""
        return self.estimate is not None and self.estimate.refutation is None

    @property
    def load_changed(self) -> bool:
        """Whether it is the load itself that explains best why no one load does."""
        refuted = self.refutation
        return refuted is not None and any(cause.cause == "load-changed" for cause in refuted.causes[:1])


def examine_samples(recording: Recording, robot: Robot, bias: Bias, gravity: tuple[float, float, float]) -> Examination:
    """Identify the samples of an on-line run as a recording, and judge them.

    Args:
        recording: of these samples.
        robot: the arm.
        bias: of the sensor; one that was zeroed in a pose that is not among the samples is unknown: "estimate".
        gravity: (3,) in base axes [m/s^2].
    """
    if recording.signal("wrench").num_samples < LEAST_SAMPLES:
        return Examination(None, reason=f"fewer than {LEAST_SAMPLES} samples")
    try:
        late = _delay(recording, robot, gravity)
        found = identify_payload(_in_step(recording, late), robot, bias=bias, gravity=gravity)
        if late is not None and found.refutation is not None:  # what is wrong may look like a lag
            otherwise = identify_payload(recording, robot, bias=bias, gravity=gravity, delay=0.0)
            if otherwise.refutation is None or _unexplained(otherwise) < _unexplained(found):
                lags = otherwise.refutation is None and otherwise.correction.low_pass is not None
                found, late = otherwise, late if lags else None
    except (IparamError, np.linalg.LinAlgError) as error:
        return Examination(None, reason=str(error))
    if late is None and isinstance(found.correction.delay, float):  # longer than what is looked for unasked
        late = Delay(found.correction.delay, 0.0)
    if not found.determined and all(cause.cause == "too-little-motion" for cause in found.causes):
        return Examination(None, late, found.status)
    return Examination(found, late)


def _unexplained(found: Estimate) -> float:
    """Residual of the force that the best cause of a refuted estimate leaves [N]."""
    return min((cause.residual_after for cause in found.causes[:1]), default=np.inf)


def _in_step(recording: Recording, late: Delay | None) -> Recording:
    """The recording without a lag, from the start on: the choice of how the angles are smoothed sees it, too."""
    if late is None:
        return recording
    wrench = recording.signal("wrench")
    earlier = replace(wrench, time=wrench.time - late.seconds)
    return replace(recording, signals={**recording.signals, "wrench": earlier})


def _delay(recording: Recording, robot: Robot, gravity: tuple[float, float, float]) -> Delay | None:
    """The lag of the wrench, if it shows one clearly; that of a low-pass is its mean delay."""
    motion = known_motion(recording, robot, KalmanMotion())
    aligned = align_motion(motion, recording.signal("wrench"), robot, gravity)
    in_step = aligned.motion is motion and not aligned.delay
    try:
        late = estimate_delay(recording, robot, LONGEST_DELAY if in_step else MAX_DELAY, gravity)
    except InputError:  # none of those that are looked for
        return None
    # In step, or so far out of it that it was not looked for.
    return late if not in_step or abs(late.seconds) > max(0.8 * MAX_DELAY, CLEAR * late.standard_deviation) else None
