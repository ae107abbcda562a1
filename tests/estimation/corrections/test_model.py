"""The derivatives of the corrected model are those of differences."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from iparam.estimation.corrections.model import DEVIATIONS, CorrectedModel, CorrectionState
from iparam.motion.motion import MotionEstimate
from iparam.spatial import exp_so3

STATE = CorrectionState(
    rotation=exp_so3([0.3, -0.5, 1.2]),
    offset=np.array([0.02, -0.03, 0.05]),
    log_gains=np.array([0.1, 0.0, -0.1, 0.2, 0.05, 0.0]),
    gravity=np.array([1.0, -2.0, -9.5]),
    log_clock=0.1,
    joint_offset=np.array([0.01, -0.02, 0.03, 0.0, 0.05, -0.04]),
    force=np.array([2.0, -3.0, 4.0]),
    point=np.array([0.03, -0.02, 0.08]),
    delay=0.01,
    lag=0.02,
    reference=1,
)


@pytest.mark.parametrize(
    ("name", "filtered"),
    [(name, filtered) for name in DEVIATIONS for filtered in (False, True) if filtered or name != "low_pass"],
)
def test_slopes_are_those_of_differences(name: str, filtered: bool, ur5e, excitation, load) -> None:
    rows = slice(100, 900, 7)
    moved = MotionEstimate(excitation.time, excitation.q, excitation.dq, excitation.ddq)
    known = np.kron(np.eye(2), np.eye(3)[[1, 0, 2]]) * -1.0
    model = CorrectedModel(moved, excitation.time[rows], ur5e, known)
    state = STATE if filtered else dataclasses.replace(STATE, lag=0.0)

    def recorded(at: CorrectionState) -> np.ndarray:
        return model.recorded(at, model.regressor(at) @ load - model.pull(at))

    slopes = model.slopes((name,), state, load)
    step = 1e-5
    for i in range(state.size(name)):
        ahead, behind = (state.moved((name,), sign * step * np.eye(state.size(name))[i]) for sign in (1.0, -1.0))
        change = (recorded(ahead) - recorded(behind)) / (2.0 * step)
        tolerance = 2e-6 * max(1.0, float(np.abs(change).max()))
        np.testing.assert_allclose(slopes[:, :, i], change, atol=tolerance, rtol=1e-5)
