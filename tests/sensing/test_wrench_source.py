"""The sign of a stranger's sensor, by the weight on it."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.arrays import FloatArray
from iparam.recording import Recording
from iparam.sensing.wrench_source import weighed_wrench
from iparam.spatial.transforms import exp_so3

DOWN = np.array([0.0, 0.0, -9.81])
TIME = np.arange(0.0, 20.0, 0.01)


def weighed(sign: float, *, shaken: float = 0.0) -> Recording:
    """A load of 1.3 kg that is turned slowly, with a sensor that is not set to zero."""
    turns = np.column_stack([0.9 * np.sin(0.35 * TIME), 0.8 * np.sin(0.52 * TIME + 0.4), 0.7 * np.sin(0.27 * TIME)])
    turned: FloatArray = exp_so3(turns)
    rng = np.random.default_rng(0)
    force = 1.3 * np.swapaxes(turned, 1, 2) @ -DOWN + [1.0, -2.0, 0.5] + rng.normal(0.0, 0.05 + shaken, (TIME.size, 3))
    wrench = sign * np.column_stack([force, np.cross([0.02, -0.01, 0.08], force)])
    run = Recording().with_signal("rotation", time=TIME, values=turned.reshape(-1, 9))
    return run.with_signal("wrench", time=TIME, values=wrench)


@pytest.mark.parametrize("shaken", [0.0, 3.0])
def test_the_weight_shows_the_sign(shaken: float) -> None:
    assert weighed_wrench(weighed(1.0, shaken=shaken), DOWN)[0].measures == "action"
    source, (said,) = weighed_wrench(weighed(-1.0, shaken=shaken), DOWN)
    assert source.measures == "reaction"
    assert (said.code, said.fix) == ("sign-reversed", {"measures": "reaction"})
