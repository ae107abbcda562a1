"""How an arm is mounted becomes gravity in its base's axes, and statements of it agree or are refused."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.errors import ContradictionError, InputError, UnknownNameError
from iparam.robot.gravity import agreed_gravity, mounted_gravity, stated_gravity


@pytest.mark.parametrize("tilt", [0.0, 30.0, 90.0, 135.0, 180.0])
def test_a_tilt_is_that_of_ur_controllers(tilt: float) -> None:
    """Their manual: set_gravity([0, 9.82 sin t, 9.82 cos t]) for a base turned by t about its x; it points upwards."""
    upwards = 9.82 * np.array([0.0, np.sin(np.radians(tilt)), np.cos(np.radians(tilt))])
    np.testing.assert_allclose(mounted_gravity((tilt, 0.0, 0.0), 9.82), -upwards, atol=1e-11)


def test_the_named_mountings() -> None:
    assert mounted_gravity("floor").tolist() == [0.0, 0.0, -9.81]
    assert mounted_gravity("ceiling").tolist() == [0.0, 0.0, 9.81]
    assert mounted_gravity("wall").tolist() == [0.0, -9.81, 0.0]
    assert mounted_gravity("wall", 9.82).tolist() == [0.0, -9.82, 0.0]
    with pytest.raises(UnknownNameError, match="did you mean 'ceiling'"):
        mounted_gravity("cieling")
    with pytest.raises(InputError, match="must be a positive number"):
        mounted_gravity("wall", -9.81)


def test_pitch_then_yaw_turn_about_the_worlds_axes() -> None:
    assert mounted_gravity((0.0, 90.0, 0.0)).tolist() == [9.81, 0.0, 0.0]
    assert mounted_gravity((0.0, 90.0, 77.0)).tolist() == [9.81, 0.0, 0.0]  # about the vertical nothing changes


def test_two_statements_agree_or_are_refused_with_the_way_out() -> None:
    file = stated_gravity([0.0, 0.0, 9.81], "the file says")
    assert agreed_gravity(None, None, "t.json") is None
    assert agreed_gravity(None, file, "t.json") is file
    agreed = agreed_gravity([0.0, 0.0, 9.82], file, "t.json")
    assert agreed is not None
    assert agreed.tolist() == [0.0, 0.0, 9.82]
    with pytest.raises(ContradictionError, match=r"t\.json") as refused:
        agreed_gravity([0.0, 0.0, -9.81], file, "t.json")
    assert refused.value.argument == "gravity"
