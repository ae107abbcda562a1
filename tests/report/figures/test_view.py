"""Projections onto the page, and outlines of solids in them."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.report.figures.view import View, box_faces, stadium


def test_a_view_is_a_rotation() -> None:
    axes = View(-50.0, 20.0).axes
    assert axes @ axes.T == pytest.approx(np.eye(3))
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert View(-90.0, 0.0).on_page(np.array([0.2, 5.0, 0.3])) == pytest.approx([0.2, 0.3])


def test_outlines() -> None:
    outline = stadium(np.zeros(2), np.array([0.0, 2.0]), 0.5)
    assert outline.min(axis=0) == pytest.approx([-0.5, -0.5])
    assert outline.max(axis=0) == pytest.approx([0.5, 2.5])
    faces = box_faces(np.zeros(3), np.eye(3), np.array([1.0, 2.0, 3.0]), View(-90.0, 0.0))
    assert len(faces) == 1
    assert np.ptp(faces[0][0], axis=0) == pytest.approx([1.0, 3.0])
    assert len(box_faces(np.zeros(3), np.eye(3), np.ones(3), View(-50.0, 20.0))) == 3
