"""A load with an offset centre of mass and products of inertia, so that a wrong point or order shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_results import made_result

from iparam.export import IdentifiedLoad
from iparam.remarks import Remark

ARM = """<?xml version="1.0" encoding="utf-8"?>
<!-- before the robot -->
<robot name="arm">
  <link name="base"/>
  <link name="wrist" >  <!-- kept -->
    <inertial><mass value="3"/><origin xyz="0.1 0 -0.2" rpy="0.2 -0.3 0.4"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="-0.02" izz="0.15"/></inertial>
    <visual name="inertial"><geometry><box size='1  1 1'/></geometry></visual>
  </link>
  <link  name='tool0' /><link name="ring"></link>
  <joint name="swing" type="continuous">
    <parent link="base"/><child link="wrist"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="flange" type="fixed"><parent link="wrist"/><child link="tool0"/>
    <origin xyz="0 0.1 1" rpy="1 0.5 0"/></joint>
  <joint name="side" type="fixed"><parent link="wrist"/><child link="ring"/><origin xyz="0.2 0 0" rpy="0 0 -2"/></joint>
</robot>
"""

# A rod of 1.2 kg from (0, 0, 0) to (0.1, 0.2, 0.3) m, a point of 0.8 kg at (0.1, 0, 0) m, and 0.002 kg m^2 all round.
# By hand: first moment 1.2 (0.05, 0.1, 0.15) + 0.8 (0.1, 0, 0) = (0.14, 0.12, 0.18) kg m. Second moments about the
# origin: of the rod m/3 a a^T = 0.4 a a^T, of the point 0.8 * 0.01 in xx.
MASS = 2.0
CENTER = [0.07, 0.06, 0.09]
XX, YY, ZZ = 0.4 * 0.01 + 0.8 * 0.01, 0.4 * 0.04, 0.4 * 0.09
XY, XZ, YZ = 0.4 * 0.02, 0.4 * 0.03, 0.4 * 0.06
ABOUT_ORIGIN = np.array([[YY + ZZ, -XY, -XZ], [-XY, XX + ZZ, -YZ], [-XZ, -YZ, XX + YY]]) + 0.002 * np.eye(3)
# minus m (c^T c E - c c^T) with m c c^T = [[9.8, 8.4, 12.6], [8.4, 7.2, 10.8], [12.6, 10.8, 16.2]] e-3
ABOUT_COM = np.array([[0.0306, 0.0004, 0.0006], [0.0004, 0.024, -0.0132], [0.0006, -0.0132, 0.013]])


@pytest.fixture
def load() -> IdentifiedLoad:
    return IdentifiedLoad(MASS, np.array(CENTER), ABOUT_COM, "tool0")


@pytest.fixture
def bad_load() -> IdentifiedLoad:
    """Its moments break the triangle inequality."""
    return IdentifiedLoad(MASS, np.array(CENTER), np.diag([0.1, 0.01, 0.01]), "tool0", physically_consistent=False)


@pytest.fixture
def document() -> dict[str, Any]:
    """A result as an identification writes it."""
    return made_result(MASS, CENTER, ABOUT_COM.tolist(), inertia_about_origin=ABOUT_ORIGIN.tolist())


@pytest.fixture
def write_result(tmp_path: Path) -> Callable[..., Path]:
    """Writes result.json, with changes; a value of ... leaves the key out."""

    def write(said: tuple[Remark, ...] = (), **changes: Any) -> Path:
        content = made_result(MASS, CENTER, ABOUT_COM.tolist(), said) | changes
        content = {key: value for key, value in content.items() if value is not ...}
        path = tmp_path / "result.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM, encoding="utf-8")
    return path
