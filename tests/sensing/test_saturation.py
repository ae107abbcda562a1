"""Channels that end at a limit are seen in the signal; tops of a smooth curve, noise and rounding are not."""

from __future__ import annotations

import numpy as np

from iparam.recording import Signal
from iparam.sensing.saturation import clipped_samples, saturated_entries

TIME = np.linspace(0.0, 10.0, 2001)
SMOOTH = np.stack([np.sin((1.0 + 0.3 * channel) * TIME + channel) for channel in range(6)], axis=1)


def test_a_sound_signal_has_no_limit() -> None:
    noise = 0.05 * np.random.default_rng(1).standard_normal(SMOOTH.shape)
    for values in (SMOOTH, SMOOTH + noise, np.round(SMOOTH + noise, 2)):
        assert not clipped_samples(values).any()


def test_the_channel_at_its_limit_is_told_with_a_margin() -> None:
    values = SMOOTH + 0.05 * np.random.default_rng(1).standard_normal(SMOOTH.shape)
    values[:, 2] = np.clip(values[:, 2], -2.0, 0.7)
    found, said = saturated_entries(Signal(TIME, values))
    at = values[:, 2] == 0.7
    assert found[at, 2].all()
    assert not np.delete(found, 2, axis=1).any()
    assert np.count_nonzero(found[:, 2]) < 2 * np.count_nonzero(at)
    values_said = {"channels": "fz", "count": np.count_nonzero(at), "samples": 2001}
    assert [(one.code, one.values) for one in said] == [("wrench-saturated", values_said)]
