"""An arm that is mounted on its side, identified with the gravity that it has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from iparam.cli.main import main


def test_the_log_of_an_arm_on_its_side(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A 7-joint arm whose base has gravity along x: upright, 17 N m are left in its first joint."""
    folder = shared_data / "real_arms" / "ar5"
    files = [f"{folder}/log_50hz.csv", "--robot", f"{folder}/ar5.urdf"]
    assert main(["identify", "robot", *files, "--gravity", "9.81", "0", "0", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert np.max(found["torque_residual_rms"]) < 1.0
