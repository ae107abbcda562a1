"""The sign of a stranger's sensor, and which way round its orientation is, by the weight on it."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError
from iparam.recording import Recording
from iparam.sensing.wrench_source import weighed_wrench
from iparam.spatial.transforms import exp_so3, log_so3

DOWN = np.array([0.0, 0.0, -9.81])
TIME = np.arange(0.0, 20.0, 0.01)


def weighed(sign: float, *, inverse: bool = False, shaken: float = 0.0) -> Recording:
    """A load of 1.3 kg that is turned slowly, with a sensor that is not set to zero."""
    turns = np.column_stack([0.9 * np.sin(0.35 * TIME), 0.8 * np.sin(0.52 * TIME + 0.4), 0.7 * np.sin(0.27 * TIME)])
    turned: FloatArray = exp_so3(turns)
    rng = np.random.default_rng(0)
    force = 1.3 * np.swapaxes(turned, 1, 2) @ -DOWN + [1.0, -2.0, 0.5] + rng.normal(0.0, 0.05 + shaken, (TIME.size, 3))
    wrench = sign * np.column_stack([force, np.cross([0.02, -0.01, 0.08], force)])
    told = np.swapaxes(turned, 1, 2) if inverse else turned
    run = Recording().with_signal("rotation", time=TIME, values=told.reshape(-1, 9))
    return run.with_signal("wrench", time=TIME, values=wrench)


@pytest.mark.parametrize("shaken", [0.0, 3.0])
def test_the_weight_shows_the_sign(shaken: float) -> None:
    assert weighed_wrench(weighed(1.0, shaken=shaken), DOWN)[0].measures == "action"
    source, (said,) = weighed_wrench(weighed(-1.0, shaken=shaken), DOWN)
    assert source.measures == "reaction"
    assert (said.code, said.fix) == ("sign-reversed", {"measures": "reaction"})


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_inverse_orientation_is_refused(sign: float) -> None:
    with pytest.raises(ContradictionError, match=r"by its inverse .*transpose the matrix, or negate qx, qy, qz"):
        weighed_wrench(weighed(sign, inverse=True), DOWN)


@pytest.mark.parametrize("inverse", [False, True])
def test_a_quaternion_with_its_scalar_part_last_is_refused(inverse: bool) -> None:
    run = weighed(1.0, inverse=inverse)
    turned = run.signal("rotation").values.reshape(-1, 3, 3)
    half = 0.5 * log_so3(turned)
    angle = np.linalg.norm(half, axis=1)
    last = np.column_stack([half * np.sinc(angle / np.pi)[:, None], np.cos(angle)])
    named = Recording().with_signal("orientation", time=TIME, values=last)
    advice = "qx=qw,qy=qx,qz=qy,qw=qz"
    with pytest.raises(ContradictionError, match=advice + (r".*transpose the matrix" if inverse else "")):
        weighed_wrench(named.with_signal("wrench", time=TIME, values=run.signal("wrench").values), DOWN)
