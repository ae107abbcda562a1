"""The information about a payload, and units for its parameters."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.excitation.constraints.constraint import MotionArrays
from iparam.excitation.information.information import WrenchInformation, payload_scales


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


def test_the_derivatives_of_the_gram_matrix_are_central_differences_of_it() -> None:
    rng = np.random.default_rng(0)
    weights, scales = rng.uniform(0.5, 2.0, 6), rng.uniform(0.5, 2.0, 10)
    information = WrenchInformation(iparam.load_robot("ur5e"), weights, scales)
    motion, step = MotionArrays(*rng.normal(size=(4, 5, 6))), 1e-6
    gram, changes = information.gram_changes(motion)
    np.testing.assert_allclose(gram, information.gram(motion), rtol=1e-12, atol=1e-12)
    assert changes.shape == (5, 3, 6, 10, 10)
    for sample, order, joint in np.ndindex(5, 3, 6):
        ends = []
        for sign in (1.0, -1.0):
            arrays = [np.array(part) for part in (motion.q, motion.dq, motion.ddq)]
            arrays[order][sample, joint] += sign * step
            ends.append(information.gram(MotionArrays(*arrays, np.zeros((5, 6)))))
        difference = (ends[0] - ends[1]) / (2.0 * step)
        np.testing.assert_allclose(changes[sample, order, joint], difference, atol=1e-7 * (1.0 + np.abs(gram).max()))
