"""Bodies at the limit of what bodies can be: in which directions they can change and stay there."""

from __future__ import annotations

import numpy as np

import iparam
from iparam.estimation.torque.consistent_robot import changes_within_limits, link_units
from iparam.spatial.phi import pseudo_inertia_from_phi

BOX = iparam.InertialParameters.box(3.0, [0.2, 0.3, 0.4]).phi
SHEET = iparam.InertialParameters.box(2.0, [0.2, 0.3, 1e-9]).phi
ROD = iparam.InertialParameters.box(1.0, [0.5, 1e-9, 1e-9]).phi


def test_bodies_within_the_limits_change_in_all_directions() -> None:
    links = np.array([BOX, 2.0 * BOX])
    basis = changes_within_limits(links, links)
    assert basis.shape == (20, 20)


def test_a_sheet_stays_flat_and_a_rod_stays_thin() -> None:
    links, makers = np.array([BOX, SHEET, ROD]), np.array([BOX, BOX, BOX])
    basis = changes_within_limits(links, makers)
    # A sheet has one way of being no body, which is one limit; a rod has two, and their product.
    assert basis.shape == (30, 10 + 9 + 7)
    changes = pseudo_inertia_from_phi(basis.T.reshape(-1, 3, 10))
    scale = np.abs(changes).max()
    assert np.abs(changes[:, 1, 2, 2]).max() < 1e-6 * scale
    assert np.abs(changes[:, 2, 1:3, 1:3]).max() < 1e-6 * scale
    units = link_units(makers).ravel()[:, None]
    np.testing.assert_allclose((basis / units).T @ (basis / units), np.eye(26), atol=1e-12)
