"""`SetupExamination`: whether a load on this sensor and this arm explains the samples, tested now and then."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any

from iparam.bridges.ros2.matching.sample_matcher import MatchedSample
from iparam.estimation.online.examination import Examination, RecentSamples, examine_samples
from iparam.estimation.online.identifier import OnlineSettings
from iparam.estimation.payload.problem_from_recording import Bias
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot

FIRST = 2.0
"""Time in motion after which a load is examined for the first time; then after twice that, and so on [s]."""

SHORT = 0.5
"""Time in motion, and at rest after it, that is examined where no more of it comes [s]."""

SELDOM = 30.0
"""Time in motion between two examinations, at most [s]."""

UNSETTLED = 0.25
"""Latest time whose samples are left out: a change of load among them may not have been noticed yet [s]."""

REFUTED_SELDOM = 16.0
"""Time in motion between two examinations that refute, at most [s]."""


class SetupExamination:
    """Keeps the latest samples of a load, and has them examined.

    Args:
        robot: the arm.
        settings: of the identifier; its period is that of the samples.
        executor: that examines beside the samples; None examines at once.

    Attributes:
        latest: what came of the last examination; None before.
        of_load: whether it is about the load that is there now.
        motion: time in motion since the load is the same [s].
    """

    def __init__(self, robot: Robot, settings: OnlineSettings, executor: Executor | None = None) -> None:
        self._robot, self._settings, self._executor = robot, settings, executor
        self._recent = RecentSamples(settings.period, robot.num_joints)
        self._pending: tuple[Future[Examination], int] | None = None
        self.latest: Examination | None = None
        self.of_load = False
        self._load = 0  # how often it has changed
        self._refuted = 0  # examinations in a row
        self._begin()

    def _begin(self, first: float = FIRST) -> None:
        self._recent.clear()
        self.motion = self._examined = self._still = 0.0
        self._next = first

    def load_changed(self) -> None:
        """The samples from now on are of another load; what is known of sensor and arm stays."""
        self.of_load = False
        self._load += 1
        self._begin()

    @property
    def busy(self) -> bool:
        """Whether samples are being examined."""
        return self._pending is not None

    @property
    def passed(self) -> bool:
        """Whether a load on this sensor and this arm was seen to explain the samples."""
        return self.latest is not None and self.latest.passed

    @property
    def progress(self) -> Remark | None:
        """What is waited for; None once the samples were examined."""
        so_far: dict[str, Any] = {"motion": min(self.motion, self._next), "needed": self._next}
        if self.latest is None:
            return remark("setup-awaits-motion", **so_far)
        return remark("setup-not-shown", reason=self.latest.reason, **so_far) if self.latest.reason else None

    def add(self, sample: MatchedSample, *, moving: bool, resting: bool) -> Examination | None:
        """Take a sample in, of an arm that is known to move or to rest, or neither; what came of an examination that is
        done by now.
        """
        if self._recent.add(sample.stamp, sample.q, sample.wrench):  # few samples would show delays that are none
            self._examined, self._next = self.motion, max(self._next, self.motion + FIRST)
        period = self._settings.period
        self._still = self._still + period if resting else 0.0
        if moving:
            self.motion += period
        if self._pending is None and self._due:
            return self._start()
        return self._finished() if self._pending is not None else None

    @property
    def _due(self) -> bool:
        if self.motion >= self._next:
            return True
        return self._still > SHORT and self.motion - self._examined > SHORT and not self.of_load

    @property
    def stale(self) -> bool:
        """Whether there has been motion since the last examination that would tell more."""
        return self.motion - self._examined > SHORT

    def before_change(self) -> Examination | None:
        """What seems to be another load: examine the samples before it, if none were; what came of that, if it is done
        at once.
        """
        return self._start() if self.latest is None and self._pending is None and self.stale else None

    def now(self) -> Examination | None:
        """Examine what there is, and wait for it; None where there is nothing to examine."""
        if self._pending is None and len(self._recent):
            found = self._start()
            if not self.busy:
                return found
        return self._waited_for()

    def _waited_for(self) -> Examination | None:
        if self._pending is None:
            return None
        self._pending[0].exception()
        return self._finished()

    def _start(self) -> Examination | None:
        self._examined = self.motion
        bias: Bias = "none" if self._settings.bias == "none" else "estimate"
        given = self._recent.recording(UNSETTLED), self._robot, bias, self._settings.gravity
        if self._executor is None:
            return self._finish(examine_samples(*given), self._load)
        self._pending = self._executor.submit(examine_samples, *given), self._load
        return None

    def _finished(self) -> Examination | None:
        assert self._pending is not None
        future, load = self._pending
        if not future.done():
            return None
        self._pending = None
        try:
            found = future.result()
        except Exception as error:  # the process that examines was ended, or fails: the samples go on
            found = Examination(None, reason=str(error))
        return self._finish(found, load)

    def _finish(self, found: Examination, load: int) -> Examination | None:
        same = load == self._load
        if not found.passed and (not same or found.load_changed):  # of two loads
            if not same:
                return None
            self._begin()
            return found
        self.latest = found
        self.of_load = same
        if found.refutation is not None:  # once more, with other samples
            self._refuted += 1
            if same:
                self._begin(min(FIRST * 2.0 ** (self._refuted - 1), REFUTED_SELDOM))
            return found
        self._refuted = 0
        if same:
            self._next = max(self.motion, FIRST / 2.0) + min(max(self.motion, FIRST), SELDOM)
        return found
