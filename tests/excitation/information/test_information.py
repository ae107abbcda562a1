"""Units for the parameters of a payload."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.excitation.information.information import payload_scales


def test_the_units_of_a_payload_are_of_its_size() -> None:
    pose = np.eye(4)
    pose[2, 3] = 0.1
    box = iparam.InertialParameters.box(2.0, [0.1, 0.15, 0.2]).transformed(pose)
    scales = payload_scales(box)
    assert scales[0] == 2.0
    length = np.sqrt(scales[4] / scales[0])
    np.testing.assert_allclose(scales, 2.0 * np.array([1.0, *[length] * 3, *[length**2] * 6]))
    # Every parameter of the guess is of the order of its unit.
    assert np.abs(box.phi / scales).max() < 3.0
    with pytest.raises(iparam.InputError, match="payload with mass"):
        payload_scales(iparam.InertialParameters(0.0, np.zeros(3), np.zeros((3, 3))))
