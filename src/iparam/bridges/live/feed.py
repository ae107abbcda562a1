"""`LiveFeed`: a thread that takes samples from a source and finds the load on the way; both go into a `LiveState`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from iparam.bridges.live.source import LiveSource
from iparam.bridges.ros2.matching.sample_matcher import MatchedSample
from iparam.bridges.ros2.nodes.live_identification import (
    LiveIdentification,
    LiveSettings,
    LoadChange,
    Processed,
)
from iparam.errors import IparamError
from iparam.estimation.online.identifier import OnlineSettings
from iparam.viewer.live.state import LiveEvent, LiveState

POLL = 0.05
"""How long a source is waited for before looking whether to end [s]."""

JUDGE_EVERY = 0.5
"""Time between two results, for the picture of the load and to see whether the samples refute it [s]."""

WORDS = {
    "changed": "the load changed, and is identified anew",
    "grasp": "grasped: {before:.3f} -> {after:.3f} kg",
    "release": "released: {before:.3f} -> {after:.3f} kg",
}


class LiveFeed:
    """Identifies while the arm moves. `start` it, look at ``state``, and `stop` it.

    Args:
        source: of the samples.
        clock: that the source's ``there`` is on [s].

    Attributes:
        state: what is known.
        failure: why it ended by itself, or None.
        notes: what there was to say so far, for whoever takes them out.
    """

    def __init__(self, source: LiveSource, clock: Callable[[], float] = time.monotonic) -> None:
        self._source, self._clock = source, clock
        online = OnlineSettings(period=1.0 / source.rate, gravity=source.gravity)
        settings = LiveSettings(online, source.rate, in_step=False)
        self._identification = LiveIdentification(source.robot, settings)
        self.state = LiveState(source.robot.num_joints)
        self.failure: IparamError | None = None
        self.notes: list[str] = []
        self.ended = threading.Event()
        self._stop = threading.Event()
        self._refuted = False
        self._judged = -np.inf
        self._thread = threading.Thread(target=self.run, name="live feed", daemon=True)

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and the source."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(5.0)
        self._source.close()

    def run(self) -> None:
        """Take samples until there are no more, or `stop` is called."""
        try:
            while not self._stop.is_set():
                samples = self._source.read(POLL)
                self.notes += self._source.notes()
                if samples is None:
                    break
                for row in zip(samples.time.tolist(), samples.q, samples.wrench, samples.there.tolist(), strict=True):
                    self._take(*row)
        except IparamError as error:
            self.failure = error
        finally:
            self._end()

    def _take(self, at: float, q: np.ndarray, wrench: np.ndarray, there: float) -> None:
        gaps = self._identification.gaps
        done = self._identification.use(MatchedSample(round(1e9 * at), q, None, wrench, None))
        if self._identification.gaps > gaps:
            self._tell(at, "gap", "samples are missing: the motion is estimated anew, the load is kept")
        if done is not None:
            self._judge(at, done)
        self.state.put(at, q, wrench, None if done is None else done.estimate, self._clock() - there)

    def _judge(self, at: float, done: Processed) -> None:
        """Say what happened to the load, and now and then whether the samples refute it: that takes longer."""
        if done.change is not None:
            self._tell(at, done.change.kind, change_text(done.change))
        if done.estimate is None:
            self.state.put_result(None)
            self._refuted = False
            return
        if not 0.0 <= at - self._judged < JUDGE_EVERY:
            self._judged = at
            result = self._identification.result(examine=False)
            self.state.put_result(result)
            refutation = None if result is None else result.refutation
            if refutation is not None and not self._refuted:
                self._tell(at, "refuted", f"REFUTED: {refutation.reason}")
            self._refuted = refutation is not None

    def _tell(self, at: float, kind: str, text: str) -> None:
        self.state.put_event(LiveEvent(at, kind, text))

    def _end(self) -> None:
        last = self.state.newest()[0]
        self.state.put_result(self._identification.result())
        reason = "the samples have come to an end" if self.failure is None else str(self.failure)
        self._tell(last, "end", reason)
        self.ended.set()


def change_text(change: LoadChange) -> str:
    """A change of load, for people."""
    return WORDS[change.kind].format(before=change.mass_before, after=change.mass_after)
