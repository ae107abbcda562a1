"""`LiveIdentification`: the load from topics while the arm moves; all of the identification node but its messages."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.physical_bounds import Impossible, PhysicalBounds
from iparam.bridges.ros2.matching.sample_matcher import MatchedSample, SampleMatcher
from iparam.bridges.ros2.matching.stamped_buffer import PeriodEstimate
from iparam.bridges.ros2.nodes.setup_examination import SetupExamination
from iparam.errors import InputError, IparamError
from iparam.estimation.combination import combine_estimates, in_frame
from iparam.estimation.estimate import Estimate, Refutation
from iparam.estimation.online.estimate import OnlineEstimate
from iparam.estimation.online.examination import Examination
from iparam.estimation.online.identifier import OnlineIdentifier, OnlineSettings
from iparam.estimation.online.result import OnlineQuality
from iparam.estimation.payload.estimate_assembly import widened
from iparam.motion.delay import Delay
from iparam.recording.alignment import MAX_GAP
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95
from iparam.spatial.consistency import is_physically_consistent

JUDGE_EVERY = 200_000_000
"""Time between two judgements of the load: they take longer than a sample [ns]."""

MOST_RESIDUAL = 2.0
"""Residual in units of the stated noise up to which nothing is said, and a part of a load may be published."""

NOISY = 1.4
"""Noise of a channel, in that stated, from which on it is said."""

LEAST_DELAY = 1e-3
"""Delay of the wrench that is taken out [s]."""

FURTHER_DELAY = 0.2
"""The same of one that was taken out before, as a share of it: a low-pass is not a delay, and goes with the motion."""

SURE = 3.0
"""Standard deviations by which the mass has to differ to call a change a grasp or a release."""

BARELY_MOVED = 0.1
"""Time in motion up to which a load is only weighed [s]."""

LEAST_SAMPLES = 25
"""Samples of the new load before its mass is compared with the old one's."""


NEAREST = 0.5
"""Time between two samples, in the usual one, below which the second is left out: a source that sends faster than it
measures repeats itself, and the noise of samples has to be independent. Stamps that jitter by less stay apart."""


@dataclass(frozen=True)
class LiveSettings:
    """How to identify from topics.

    Attributes:
        online: of the identifier; its period counts only if ``rate`` is positive.
        rate: of the wrench [Hz]; 0 to find it from the first stamps.
        tolerance, hold, accelerometer: see `SampleMatcher`.
        wrench_delay: by which wrenches are stamped later than the joint states that they belong to [s].
        in_step: whether what is found beyond it is taken out, by the matcher; otherwise it is only said.
        known_load: that the arm carries all the time, such as the gripper: what is published and saved is the load
            without it; None for none.
    """

    online: OnlineSettings = field(default_factory=OnlineSettings)
    rate: float = 0.0
    tolerance: float = 0.01
    hold: float = 0.0
    accelerometer: bool = False
    known_load: Estimate | None = None
    wrench_delay: float = 0.0
    in_step: bool = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate >= 0.0):
            raise InputError(argument="rate", problem=f"must be positive, or 0 to find it, got {self.rate!r} Hz")
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
        residual: of the wrench, in units of its noise: 1 if all is well.
        noise: (6,) standard deviations of the noise, where they are clearly above those stated; None where not.
    """

    refutation: Refutation | None
    residual: float
    noise: tuple[float, ...] | None = None

    @property
    def remark(self) -> Remark | None:
        """A remark if the noise, or what the load leaves of the wrench, is more than stated."""
        if self.refutation is not None:
            return None
        if self.noise is not None:
            values = ", ".join(f"{value:.2g}" for value in self.noise)
            return remark("noisier-than-stated", noise=values, fix={"wrench_deviation": self.noise})
        return remark("residual-above-noise", ratio=self.residual) if self.residual > MOST_RESIDUAL else None


class LiveIdentification:
    """Matches messages and identifies from the samples.

    Args:
        robot: the arm.
        settings: how.
        executor: that examines samples beside those that come; None examines them at once.

    Attributes:
        setup: whether sensor and arm are what they are taken to be, once samples come.
        delay: of the wrench that was found and taken out; None for none.
        impossible: why the load that was found last is withheld; None if it is not.
    """

    def __init__(self, robot: Robot, settings: LiveSettings, executor: Executor | None = None) -> None:
        self._robot, self._settings, self._executor = robot, settings, executor
        self.setup: SetupExamination | None = None
        self.delay: Delay | None = None
        self._changes = 0
        self._noticed: list[LoadChange] = []  # that are not announced yet
        self._doubtful = False  # whether the change that was noticed last is none, maybe
        known = settings.known_load
        self._known = None if known is None else in_frame(known, robot)
        self.matcher = SampleMatcher(settings.tolerance, settings.hold, settings.accelerometer)
        self.matcher.delay = round(1e9 * settings.wrench_delay)
        self.running = True
        self.used = self.idle = self.gaps = self.crowded = 0
        self.empty = False  # nothing is carried besides the known load
        self.estimate: OnlineEstimate | None = None
        self._period = PeriodEstimate(1e9 / settings.rate if settings.rate > 0.0 else None)
        self._identifier: OnlineIdentifier | None = None
        self._latest: int | None = None
        self._origin = 0
        self._changing: tuple[LoadChange, float] | None = None  # with the old mass's standard deviation
        self.verdict: LoadVerdict | None = None
        self._judged: int | None = None
        self._residual_force = np.zeros(3)
        self._bounds = PhysicalBounds(robot, settings.online.gravity)
        self._pose = np.zeros(robot.num_joints)
        self.impossible: Impossible | None = None

    @property
    def rate(self) -> float:
        """Of the wrench [Hz]; 0 while unknown."""
        return 1e9 / self._period.period if self._period.period else 0.0

    @property
    def late(self) -> Remark | None:
        """What to say if the wrench was found not to be in step with the joints."""
        if self.delay is None:
            return None
        half = 1e3 * NORMAL_95 * self.delay.standard_deviation
        found: dict[str, Any] = {"milliseconds": 1e3 * self.delay.seconds, "half_width": half}
        if not self._settings.in_step:
            return remark("wrench-delay-seen", **found)
        total = self._settings.wrench_delay + self.delay.seconds
        return remark("wrench-delay-removed", **found, total=total, fix={"wrench_delay": total})

    @property
    def restarts(self) -> int:
        """Changes of load since the start or the last reset."""
        return self._changes

    def start(self) -> None:
        """Use samples from now on."""
        if not self.running:
            self.running, self._latest = True, None  # as after a gap: the arm may have moved

    def stop(self) -> None:
        """Use no further samples; what is known stays."""
        self.running = False

    def reset(self) -> None:
        """Forget what is known of load, sensor and arm."""
        self._begin()
        self._changes = 0

    def _begin(self, identifier: OnlineIdentifier | None = None, setup: SetupExamination | None = None) -> None:
        """Begin with a load of which nothing is known.

        Args:
            identifier: that has begun anew by itself, because it saw the load change; None for a new one.
            setup: what is known of sensor and arm; None if that, too, is void.
        """
        self._identifier, self.setup = identifier, setup
        self.estimate, self.verdict, self._judged = None, None, None
        if identifier is None:
            self._changing, self._latest = None, None
        if setup is None:
            self._noticed.clear()

    def result(self, examine: bool = True) -> Estimate | None:
        """The present estimate, as `iparam identify payload` writes and judges it, without the known load; None while
        there is none.

        Args:
            examine: whether samples that came since the last examination are examined first: some tenths of a second.

        Raises:
            IdentificationError: nothing is left without the known load.
        """
        if examine and self.setup is not None and self.setup.busy:  # with samples that came before
            self._examined(self.setup.now())
        if examine and self.setup is not None and self.setup.stale:
            self._examined(self.setup.now())
        whole = self._whole()
        return whole if whole is None or self._known is None else combine_estimates(whole, self._known, minus=True)

    def _whole(self) -> Estimate | None:
        """What the sensor carries, with the known load; with what is known of sensor and arm."""
        found = None if self._identifier is None else self._identifier.result()
        examined = None if self.setup is None else self.setup.latest
        if found is None or self.setup is None:
            return found
        if examined is None or examined.estimate is None:
            return replace(found, remarks=(*found.remarks, remark("setup-untested")))
        if examined.estimate.refutation is not None:
            return replace(found, refutation=examined.estimate.refutation, causes=examined.estimate.causes)
        shift = _disagreement(found.phi, found.covariance_phi, examined.estimate) if self.setup.of_load else None
        more = _setup_covariance(found.mass, examined.estimate, self.setup.of_load, shift)
        remarks = tuple(one for one in examined.estimate.remarks if one not in found.remarks)
        excess = self._residual_by_noise(found)
        said = LoadVerdict(None, excess).remark
        remarks += () if said is None else (said,)
        causes = examined.estimate.causes if self.setup.of_load else ()
        return replace(widened(found, more, "setup"), remarks=(*found.remarks, *remarks), causes=causes)

    def without_known(self, whole: OnlineEstimate) -> OnlineEstimate:
        """What the sensor carries besides the known load."""
        return whole if self._known is None else whole.without(self._known)

    def publishable(self, done: Processed) -> OnlineEstimate | None:
        """The load that may be published after a sample: one that a rigid body can have, that the samples do not refute
        and that the arm can hold; None if there is none, or nothing besides the known load. An estimate beyond the
        possible by no more than noise is moved to the nearest possible one, as often as it is judged. What of it is not
        known yet is NaN; its mass is.
        """
        found = self._believed(done)
        self.impossible = None if found is None else self._bounds.of_load(found.phi, self._pose)
        return None if self.impossible is not None else found

    def _believed(self, done: Processed) -> OnlineEstimate | None:
        if done.estimate is None or np.isnan(done.estimate.mass):
            self.verdict, self._judged = None, None
            return None
        judged = self._judged is None or not 0 <= done.stamp - self._judged < JUDGE_EVERY
        if judged:
            self._judged, self.verdict = done.stamp, self._judge()
        if self.verdict is None or self.verdict.refutation is not None:
            return None
        tested = self._with_setup(done.estimate)
        if tested is None:
            return None
        carried = self.without_known(tested)
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
        assert self._identifier is not None
        self._residual_force = result.residual_rms.force
        noise, stated = self._identifier.noise, np.asarray(self._settings.online.wrench_deviation)
        noisy = tuple(noise.tolist()) if (noise > NOISY * stated).any() else None
        return LoadVerdict(result.refutation, self._residual_by_noise(result), noisy)

    def _residual_by_noise(self, result: Estimate) -> float:
        """The largest residual of the six channels, in units of its noise."""
        assert self._identifier is not None
        rms = np.concatenate([result.residual_rms.force, result.residual_rms.torque])
        return float((rms / self._identifier.noise).max())

    def _with_setup(self, whole: OnlineEstimate) -> OnlineEstimate | None:
        """The estimate with how well sensor and arm are known; while they are not, the mass of an arm at rest alone."""
        if self.setup is None or self._identifier is None:
            return None
        latest = self.setup.latest
        if latest is None or latest.estimate is None:
            if self.setup.motion > BARELY_MOVED:
                return None
            return self._weighed(whole)
        known = ~np.isnan(latest.estimate.phi)
        phi, covariance = whole.phi, whole.covariance_phi
        if self.setup.of_load and whole.complete and not known.all():
            phi = np.where(known, phi, np.nan)
            covariance = np.where(known[:, None] & known, covariance, np.nan)
        shift = _disagreement(phi, covariance, latest.estimate) if self.setup.of_load else None
        more = _setup_covariance(whole.mass, latest.estimate, self.setup.of_load, shift)
        return replace(whole, phi=phi, covariance_phi=covariance + more)

    def _weighed(self, whole: OnlineEstimate) -> OnlineEstimate | None:
        """The mass alone, with what residuals would make of it if they came from a sensor, or a base, that is turned:
        by an angle of e it shows a mass of m cos e, and leaves m g sin e.
        """
        assert self._identifier is not None
        rms, noise = self._residual_force, self._identifier.noise[:3]
        gravity = float(np.linalg.norm(self._settings.online.gravity))
        excess = max(float(np.sum(rms**2) - np.sum(noise**2)), 0.0)
        doubt = excess / (max(abs(whole.mass), 1e-3) * gravity**2)
        phi, covariance = np.full(10, np.nan), np.full((10, 10), np.nan)
        phi[0], covariance[0, 0] = whole.phi[0], whole.covariance_phi[0, 0] + doubt**2
        return replace(whole, phi=phi, covariance_phi=covariance)

    @staticmethod
    def _nearest(estimate: OnlineEstimate) -> OnlineEstimate | None:
        try:
            return estimate.possible
        except IparamError:  # too far from any body for the solver
            return None

    def quality(self) -> OnlineQuality | None:
        """How good the present estimate is; None while there is none."""
        found = None if self._identifier is None else self._identifier.quality()
        if found is None or self.estimate is None:
            return None
        mass = self.estimate.mass
        of_setup = self._setup_deviation(mass) / max(abs(mass), 1e-12)
        share = float(np.hypot(found.relative_mass_deviation, of_setup))
        return found._replace(restarts=self._changes, relative_mass_deviation=share)

    def process(self) -> list[Processed]:
        """Use the samples that have become complete."""
        return [done for sample in self.matcher.take() if (done := self.use(sample)) is not None]

    def use(self, sample: MatchedSample) -> Processed | None:
        """Use a sample; None while the rate is not known, or stopped."""
        latest = self._latest
        if not self.running:
            self.idle += 1
            return None
        if latest is not None and 0 < sample.stamp - latest < NEAREST * (self._period.period or 0.0):
            self.crowded += 1
            return None
        self._latest, self._pose = sample.stamp, sample.q
        if latest is not None:
            self._period.add(sample.stamp - latest)
        if self._period.period is None:
            return None
        identifier = self._prepared(sample.stamp, latest, self._period.period)
        before, restarts, starts = self.estimate, identifier.restarts, identifier.starts
        time = (sample.stamp - self._origin) * 1e-9
        found = identifier.step(time, sample.q, sample.wrench, sample.accelerometer)
        self.used += 1
        setup = self.setup
        assert setup is not None
        # In motion a sensor, an arm or a clock that is not as stated looks like loads that change.
        credible, doubtful = identifier.resting or setup.passed, False
        if identifier.starts > starts:
            self._begin(identifier, setup)
            if not credible and self._examined(setup.before_change()):
                return Processed(sample.stamp, None, None)
            credible = credible or setup.passed
            doubtful = not identifier.resting and credible and not self._beyond_setup(identifier.changed_by, before)
            if credible and not doubtful:
                setup.load_changed()
        named = None
        if identifier.restarts > restarts and (credible or setup.busy):
            change = self._changed(sample.stamp, self._changes + len(self._noticed) + 1, before)
            self._doubtful = doubtful and (self._doubtful or not self._noticed)
            if not doubtful:
                self._noticed.append(change)
        elif found is not None:
            self.estimate = found
            named = None if self._noticed else self._named(sample.stamp, found)
        if self._examined(setup.add(sample, moving=identifier.moving, resting=identifier.resting)):
            return Processed(sample.stamp, None, None)
        return Processed(sample.stamp, self.estimate, named or self._announced(credible))

    def _beyond_setup(self, change: float, before: OnlineEstimate | None) -> bool:
        """Whether a change of mass [kg] is more than sensor and arm, as well as they are known, make of a load that
        stays the same in motion.
        """
        return before is None or abs(change) > SURE * self._setup_deviation(before.mass)

    def _setup_deviation(self, mass: float) -> float:
        """Of a mass, by what is not known of sensor and arm [kg]; 0 before they were examined."""
        if self.setup is None or self.setup.latest is None or self.setup.latest.estimate is None or np.isnan(mass):
            return 0.0
        more = _setup_covariance(mass, self.setup.latest.estimate, self.setup.of_load, None)
        return float(np.sqrt(more[0, 0]))

    def _announced(self, credible: bool) -> LoadChange | None:
        """The next change of load that was noticed and may be told: one in motion waits until sensor and arm are known
        to be what they are taken to be, if they are being examined with samples from before it.
        """
        setup = self.setup
        if not self._noticed or setup is None or (setup.busy and not credible):
            return None
        if not (credible or setup.passed):
            self._noticed.clear()
            self._changing = None
            return None
        first = self._noticed.pop(0)
        self._changes += first.kind == "changed"
        return first

    def _examined(self, found: Examination | None) -> bool:
        """Take note of an examination; whether the load is estimated anew, with a wrench that is in step now."""
        if found is None:
            return False
        self._judged = None
        if found.passed and self._noticed and self.setup is not None:  # the samples since then are of another load
            self.setup.load_changed()
        late, before = found.delay, 0.0 if self.delay is None else self.delay.seconds
        in_step = late is None or abs(late.seconds) < max(LEAST_DELAY, FURTHER_DELAY * abs(before))
        if found.load_changed or (in_step and self._of_another_load(found)):  # which went unnoticed
            self._begin(setup=self.setup)
            return True
        if not found.passed or late is None or in_step:
            return False
        if not self._settings.in_step:
            self.delay = late
            return False
        self.delay = Delay(before + late.seconds, late.standard_deviation)
        self.matcher.delay = round(1e9 * (self._settings.wrench_delay + self.delay.seconds))
        self._begin()
        return True

    def _of_another_load(self, found: Examination) -> bool:
        """Whether one load explains the latest samples, and the sums leave much more of theirs: they began with another
        load, which changed before anything was known of it.
        """
        whole = None if self._identifier is None else self._identifier.result()
        if whole is None or found.estimate is None or not found.passed or self.setup is None or not self.setup.of_load:
            return False
        of_all, of_latest = whole.residual_rms, found.estimate.residual_rms
        pairs = (of_all.force, of_latest.force), (of_all.torque, of_latest.torque)
        return any(float(np.linalg.norm(one)) > MOST_RESIDUAL * float(np.linalg.norm(other)) for one, other in pairs)

    def _prepared(self, stamp: int, latest: int | None, period: float) -> OnlineIdentifier:
        """The identifier, told of the gap before this sample if there is one; the arm may move at the first one."""
        if self._identifier is None:
            online = replace(self._settings.online, period=period * 1e-9)
            self._identifier = OnlineIdentifier(self._robot, online)
            if self.setup is None:
                self.setup = SetupExamination(self._robot, online, self._executor)
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
        deviations = [deviation, _mass_deviation(found)]
        if self._doubtful:  # it was not clear whether it is another load at all
            deviations.append(self._setup_deviation(found.mass))
        if not abs(difference) > SURE * float(np.linalg.norm(deviations)):
            return None
        self._changing = None
        named = LoadChange(
            "grasp" if difference > 0.0 else "release", stamp, change.count, change.mass_before, found.mass
        )
        if not self._doubtful:
            return named
        self._doubtful = False
        self._changes += 1
        self._noticed.append(named)
        return change


def _disagreement(phi: FloatArray, covariance: FloatArray, examined: Estimate) -> FloatArray:
    """(10,) by how much an estimate differs from that of an examination where that is more than both allow for."""
    shift = np.nan_to_num(phi - examined.phi)
    allowed = np.sqrt(np.nan_to_num(np.diag(covariance)) + np.nan_to_num(np.diag(examined.covariance_phi)))
    return np.asarray(np.where(np.abs(shift) > SURE * allowed, shift, 0.0))


def _setup_covariance(mass: float, examined: Estimate, same: bool, shift: FloatArray | None) -> FloatArray:
    """(10, 10) what is not known of sensor and arm makes of a load: what it made of the one that was examined, by
    their masses if it is not the same.
    """
    covariance = np.nan_to_num(examined.covariance_phi)
    if shift is not None:
        covariance = covariance + np.outer(shift, shift)
    if same or np.isnan(mass) or np.isnan(examined.mass):
        return np.asarray(covariance)
    return np.asarray(covariance * (mass / examined.mass) ** 2)


def _mass_deviation(found: OnlineEstimate) -> float:
    """Standard deviation of the mass of a load that has not changed unnoticed [kg]."""
    unnoticed = 0.0 if found.undetected is None else found.undetected[0, 0]
    return float(np.sqrt(max(found.covariance_phi[0, 0] - unnoticed, 0.0)))
