"""The recursive estimators over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from iparam.estimation import identify_payload, problem_from_recording
from iparam.estimation.assessment.convergence import recursive_convergence
from iparam.estimation.assessment.derived_values import derived_values
from iparam.sensing import Correction

MOUNTED = Correction(sensor_rotation=(0.0,) * 3, sensor_offset=(0.0,) * 3, gravity=(0.0, 0.0, -9.81))
"""What the recursive estimators take for granted; without it, the batch ones count how wrong it may be."""


def test_the_recursive_estimates_end_where_the_batch_ones_are(run: Any) -> None:
    problem = problem_from_recording(run.recording, run.robot)
    for track in recursive_convergence(problem):
        final = derived_values(identify_payload(run.recording, run.robot, track.method, correction=MOUNTED))
        assert np.abs(track.values[-1] - final.values) == pytest.approx(0.0, abs=0.02 * final.half_widths.max())
        assert (track.half_widths[-1] < track.half_widths[len(track.time) // 2]).all()
        assert track.half_widths[-1] == pytest.approx(final.half_widths, rel=0.5)
        assert track.time[-1] == pytest.approx(4.0)
