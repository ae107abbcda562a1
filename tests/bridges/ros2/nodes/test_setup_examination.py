"""Sensor and arm are examined with samples that belong together, and with enough of them."""

from __future__ import annotations

from typing import Any

import iparam
from iparam.bridges.ros2.matching.sample_matcher import MatchedSample
from iparam.bridges.ros2.nodes.setup_examination import FIRST, SetupExamination
from iparam.estimation.online.identifier import OnlineSettings
from iparam.sensing import noise_preset

PERIOD = 2_000_000


def test_after_stamps_out_of_line_it_waits_for_new_samples(simulated: Any, ur5e: iparam.Robot) -> None:
    """After a back-dated sample and one of the far future, what came before is forgotten."""
    recording = noise_preset("ur5e").apply(simulated.recording, 4)
    q, wrench = recording.signal("q").values, recording.signal("wrench").values
    setup, first, due = SetupExamination(ur5e, OnlineSettings()), 10**18, round(FIRST * 1e9 / PERIOD)
    for k in range(500, 3_400):
        stamps = [first + k * PERIOD]
        if k - 500 == due - 200:
            stamps += [stamps[0] - 10**10, 2**31 * 10**9]
        for stamp in stamps:
            setup.add(MatchedSample(stamp, q[k], None, wrench[k], None), moving=True, resting=False)
        if k - 500 < 2 * due - 205:
            assert setup.latest is None, k
        assert not (setup.stale and k - 500 in range(due - 199, due))
    assert setup.passed
    assert setup.latest is not None
    assert setup.latest.delay is None
