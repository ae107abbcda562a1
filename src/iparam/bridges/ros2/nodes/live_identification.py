"""`LiveIdentification`: the load from topics while the arm moves; all of the identification node but its messages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from iparam.bridges.ros2.sample_matcher import MatchedSample, SampleMatcher
from iparam.bridges.ros2.stamped_buffer import PeriodEstimate
from iparam.errors import InputError, IparamError
from iparam.estimation.combination import combine_estimates, in_frame
from iparam.estimation.estimate import Estimate, Refutation
from iparam.estimation.online.estimate import OnlineEstimate
from iparam.estimation.online.identifier import OnlineIdentifier, OnlineSettings
from iparam.estimation.online.result import OnlineQuality
from iparam.recording.alignment import MAX_GAP
from iparam.robot.model import Robot
from iparam.spatial.consistency import is_physically_consistent


def warm_up_identifier(robot: Robot, settings: OnlineSettings) -> None:
    """Run an identifier on an invented motion until every kernel has been called, that of a change of load too."""
    random = np.random.default_rng(0)
    for bias, speed, samples in ((settings.bias, 0.05, 60), ("none", 0.0, 120)):
        identifier = OnlineIdentifier(robot, replace(settings, bias=bias))
        for k in range(settings.lag + samples):
            angles = 0.5 * np.sin(speed * k + np.arange(robot.num_joints))
            wrench = np.asarray(settings.wrench_deviation) * random.standard_normal(6)
            identifier.step(settings.period * k, angles, wrench + (100.0 if k > settings.lag + 80 else 1.0))
        identifier.result()


JUDGE_EVERY = 200_000_000
"""Time between two judgements of the load: they take longer than a sample [ns]."""

MOST_RESIDUAL = 2.0
"""Residual in units of the stated noise up to which nothing is said, and a part of a load may be published."""

SURE = 3.0
"""Standard deviations by which the mass has to differ to call a change a grasp or a release."""

LEAST_SAMPLES = 25
"""Samples of the new load before its mass is compared with the old one's."""


@dataclass(frozen=True)
class LiveSettings:
    """How to identify from topics.

    Attributes:
        online: of the identifier; its period counts only if ``rate`` is positive.
        rate: of the wrench [Hz]; 0 to find it from the first stamps.
        tolerance, hold, accelerometer: see `SampleMatcher`.
        known_load: that the arm carries all the time, such as the gripper: what is published and saved is the load
            without it; None for none.
    """

    online: OnlineSettings = field(default_factory=OnlineSettings)
    rate: float = 0.0
    tolerance: float = 0.01
    hold: float = 0.0
    accelerometer: bool = False
    known_load: Estimate | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate >= 0.0):
            raise InputError(f"rate must be positive, or 0 to find it, got {self.rate!r} Hz")
        if self.known_load is not None:
            self.known_load.require_complete("a load is taken away with all ten parameters")
            self.known_load.require_credit("what is left of a load rests on the known one")


@dataclass(frozen=True)
class LoadChange:
    """That the load is another one than before.

    Attributes:
        kind: "changed" when it is noticed, then "grasp" or "release" once the new mass is known well enough.
        stamp: of the wrench at that moment [ns].
        count: changes so far.
        mass_before, mass_after: [kg]; the latter is NaN while unknown.
    """

    kind: Literal["changed", "grasp", "release"]
    stamp: int
    count: int
    mass_before: float
    mass_after: float = float("nan")


@dataclass(frozen=True, eq=False)
class Processed:
    """What came of one sample.

    Attributes:
        stamp: of the sample [ns].
        estimate: the present one, or None.
        change: of the load, if this sample showed one.
    """

    stamp: int
    estimate: OnlineEstimate | None
    change: LoadChange | None


@dataclass(frozen=True)
class LoadVerdict:
    """Whether a load may be published.

    Attributes:
        refutation: why the samples so far refute it, or None.
        residual: of the wrench, in units of the noise that it was said to have: 1 if all is well.
    """

    refutation: Refutation | None
    residual: float

    @property
    def remark(self) -> str:
        """A sentence if what the load leaves of the wrench is more than noise; "" otherwise."""
        if self.refutation is not None or self.residual <= MOST_RESIDUAL:
            return ""
        return (
            f"what the load leaves of the wrench is {self.residual:.1f} times the noise that wrench_deviation states: "
            "is that right, or the sensor's frame, the arm's model, gravity, or a delay wrong?"
        )


class LiveIdentification:
    """Matches messages and identifies from the samples.

    Args:
        robot: the arm.
        settings: how.
    """

    def __init__(self, robot: Robot, settings: LiveSettings) -> None:
        self._robot, self._settings = robot, settings
        known = settings.known_load
        self._known = None if known is None else in_frame(known, robot)
        self.matcher = SampleMatcher(settings.tolerance, settings.hold, settings.accelerometer)
        self.running = True
        self.used = self.idle = self.gaps = 0
        self.empty = False  # nothing is carried besides the known load
        self.estimate: OnlineEstimate | None = None
        self._period = PeriodEstimate(1e9 / settings.rate if settings.rate > 0.0 else None)
        self._identifier: OnlineIdentifier | None = None
        self._latest: int | None = None
        self._origin = 0
        self._changing: tuple[LoadChange, float] | None = None  # with the old mass's standard deviation
        self.verdict: LoadVerdict | None = None
        self._judged: int | None = None

    @property
    def rate(self) -> float:
        """Of the wrench [Hz]; 0 while unknown."""
        return 1e9 / self._period.period if self._period.period else 0.0

    @property
    def restarts(self) -> int:
        """Changes of load since the start or the last reset."""
        return 0 if self._identifier is None else self._identifier.restarts

    def start(self) -> None:
        """Use samples from now on."""
        if not self.running:
            self.running, self._latest = True, None  # as after a gap: the arm may have moved

    def stop(self) -> None:
        """Use no further samples; what is known stays."""
        self.running = False

    def reset(self) -> None:
        """Forget what is known of the load."""
        self._identifier, self.estimate, self._changing, self._latest = None, None, None, None
        self.verdict, self._judged = None, None

    def result(self) -> Estimate | None:
        """The present estimate, as `iparam identify payload` writes it, without the known load; None while there is
        none.

        Raises:
            IdentificationError: nothing is left without the known load.
        """
        whole = self._whole()
        return whole if whole is None or self._known is None else combine_estimates(whole, self._known, minus=True)

    def _whole(self) -> Estimate | None:
        """What the sensor carries, with the known load."""
        return None if self._identifier is None else self._identifier.result()

    def without_known(self, whole: OnlineEstimate) -> OnlineEstimate:
        """What the sensor carries besides the known load."""
        return whole if self._known is None else whole.without(self._known)

    def publishable(self, done: Processed) -> OnlineEstimate | None:
        """The load that may be published after a sample: one that a rigid body can have and that the samples do not
        refute; None if there is none, or nothing besides the known load. An estimate beyond the possible by no more
        than noise is moved to the nearest possible one, as often as it is judged. What of it is not known yet is NaN;
        its mass is.
        """
        if done.estimate is None or np.isnan(done.estimate.mass):
            self.verdict, self._judged = None, None
            return None
        judged = self._judged is None or not 0 <= done.stamp - self._judged < JUDGE_EVERY
        if judged:
            self._judged, self.verdict = done.stamp, self._judge()
        if self.verdict is None or self.verdict.refutation is not None:
            return None
        carried = self.without_known(done.estimate)
        self.empty = self._known is not None and carried.mass < SURE * float(np.sqrt(carried.covariance_phi[0, 0]))
        if self.empty:
            return None
        if not carried.complete:  # few samples fit many loads: they have to fit
            return carried.possible if self.verdict.residual <= MOST_RESIDUAL else None
        if is_physically_consistent(carried.phi):
            return carried
        return self._nearest(carried) if judged else None

    def _judge(self) -> LoadVerdict | None:
        result = self._whole()
        if result is None:
            return None
        rms = np.concatenate([result.residual_rms.force, result.residual_rms.torque])
        share = rms / np.asarray(self._settings.online.wrench_deviation)
        return LoadVerdict(result.refutation, float(share.max()))

    @staticmethod
    def _nearest(estimate: OnlineEstimate) -> OnlineEstimate | None:
        try:
            return estimate.possible
        except IparamError:  # too far from any body for the solver
            return None

    def quality(self) -> OnlineQuality | None:
        """How good the present estimate is; None while there is none."""
        return None if self._identifier is None else self._identifier.quality()

    def process(self) -> list[Processed]:
        """Use the samples that have become complete."""
        return [done for sample in self.matcher.take() if (done := self.use(sample)) is not None]

    def use(self, sample: MatchedSample) -> Processed | None:
        """Use a sample; None while the rate is not known, or stopped."""
        latest = self._latest
        if not self.running:
            self.idle += 1
            return None
        self._latest = sample.stamp
        if latest is not None:
            self._period.add(sample.stamp - latest)
        if self._period.period is None:
            return None
        identifier = self._prepared(sample.stamp, latest, self._period.period)
        before, restarts, starts = self.estimate, identifier.restarts, identifier.starts
        time = (sample.stamp - self._origin) * 1e-9
        found = identifier.step(time, sample.q, sample.wrench, sample.accelerometer)
        self.used += 1
        change = None
        if identifier.starts > starts:
            self.estimate, self.verdict, self._judged = None, None, None
        if identifier.restarts > restarts:
            change = self._changed(sample.stamp, identifier.restarts, before)
        elif found is not None:
            self.estimate = found
            change = self._named(sample.stamp, found)
        return Processed(sample.stamp, self.estimate, change)

    def _prepared(self, stamp: int, latest: int | None, period: float) -> OnlineIdentifier:
        """The identifier, told of the gap before this sample if there is one; the arm may move at the first one."""
        if self._identifier is None:
            self._identifier = OnlineIdentifier(self._robot, replace(self._settings.online, period=period * 1e-9))
            latest = None
        elif latest is not None and not 0 < stamp - latest <= MAX_GAP * period:
            self.gaps += 1
            latest = None
        if latest is None:
            self._identifier.interrupt()
            self._origin = stamp
        return self._identifier

    def _changed(self, stamp: int, count: int, before: OnlineEstimate | None) -> LoadChange:
        if self._changing is not None:
            old, deviation = self._changing  # changed again before the new load was known
            mass = old.mass_before
        else:
            mass = float("nan") if before is None else before.mass
            deviation = 0.0 if before is None else _mass_deviation(before)
        change = LoadChange("changed", stamp, count, mass)
        self._changing = change, deviation
        return change

    def _named(self, stamp: int, found: OnlineEstimate) -> LoadChange | None:
        if self._changing is None or found.samples < LEAST_SAMPLES:
            return None
        change, deviation = self._changing
        difference = found.mass - change.mass_before
        if not abs(difference) > SURE * float(np.hypot(deviation, _mass_deviation(found))):
            return None
        self._changing = None
        return LoadChange(
            "grasp" if difference > 0.0 else "release", stamp, change.count, change.mass_before, found.mass
        )


def _mass_deviation(found: OnlineEstimate) -> float:
    """Standard deviation of the mass of a load that has not changed unnoticed [kg]."""
    unnoticed = 0.0 if found.undetected is None else found.undetected[0, 0]
    return float(np.sqrt(max(found.covariance_phi[0, 0] - unnoticed, 0.0)))
