"""The box and the ellipsoid that stand for a load."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.spatial import rotation_from_rpy, transform_from
from iparam.spatial.equivalent_body import equivalent_body


def test_the_box_of_a_box_is_itself() -> None:
    pose = transform_from(rotation_from_rpy([0.1, -0.2, 0.15]), [0.01, 0.02, 0.1])
    body = equivalent_body(iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).transformed(pose))
    assert body is not None
    assert body.box_size == pytest.approx([0.1, 0.15, 0.2])
    assert body.rotation == pytest.approx(pose[:3, :3])
    assert body.center == pytest.approx([0.01, 0.02, 0.1])


def test_the_ellipsoid_of_a_sphere_is_itself() -> None:
    body = equivalent_body(iparam.InertialParameters.sphere(3.0, 0.07))
    assert body is not None
    assert body.ellipsoid == pytest.approx(0.07**2 * np.eye(3))


def test_what_no_body_has_gives_no_solid() -> None:
    assert equivalent_body(iparam.InertialParameters(1.0, np.zeros(3), np.diag([1.0, 0.1, 0.1]))) is None
    assert equivalent_body(iparam.InertialParameters(0.0, np.zeros(3), np.zeros((3, 3)))) is None
