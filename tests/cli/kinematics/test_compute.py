"""`iparam kinematics compute`, `dynamics compute`, `robots` and `demo`: the numbers, and the refusal of bad ones."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.cli.main import main

# Lengths of the UR5e's standard DH table, as the maker publishes it [m].
D1, A2, A3, D4, D5, D6 = 0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996
ZERO = ["0"] * 6
SLIDER = """<robot name="slider"><link name="base"/>
<link name="car"><inertial><mass value="3"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="arm"><inertial><mass value="2"/><origin xyz="0.5 0 0"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="lift" type="prismatic"><parent link="base"/><child link="car"/><axis xyz="0 0 1"/>
<limit lower="0" upper="1" velocity="1" effort="100"/></joint>
<joint name="turn" type="continuous"><parent link="car"/><child link="arm"/><axis xyz="0 0 1"/></joint>
</robot>"""


def result_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code = main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert err == ""
    assert out.count("\n") == 1
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def test_pose_of_the_zero_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    found = result_of(capsys, "kinematics", "compute", "--robot", "ur5e", "--q", *ZERO)
    # Stretched along -x; the offsets of the wrist along -y, and d5 down.
    np.testing.assert_allclose(found["position"], [A2 + A3, -(D4 + D6), D1 - D5], atol=1e-9)
    np.testing.assert_allclose(found["rotation"], [[1, 0, 0], [0, 0, -1], [0, 1, 0]], atol=1e-9)
    np.testing.assert_allclose(found["rpy"], [math.pi / 2, 0.0, 0.0], atol=1e-9)
    assert found["singular"] is True


def test_motion_of_the_first_joint_alone(capsys: pytest.CaptureFixture[str]) -> None:
    found = result_of(
        capsys,
        *("kinematics", "compute", "--robot", "UR5e", "--q", *ZERO, "--frame", "base"),
        *("--dq", "2", "0", "0", "0", "0", "0", "--ddq", "-0.5", "0", "0", "0", "0", "0"),
    )
    x, y = A2 + A3, -(D4 + D6)
    np.testing.assert_allclose(found["angular_velocity"], [0, 0, 2], atol=1e-9)
    np.testing.assert_allclose(found["linear_velocity"], [-2 * y, 2 * x, 0], atol=1e-9)
    np.testing.assert_allclose(found["angular_acceleration"], [0, 0, -0.5], atol=1e-9)
    np.testing.assert_allclose(found["linear_acceleration"], [0.5 * y - 4 * x, -0.5 * x - 4 * y, 0], atol=1e-9)


def test_tool_axes_are_the_base_axes_turned(capsys: pytest.CaptureFixture[str]) -> None:
    state = ("--q", "0.3", "-1.2", "1.1", "-0.4", "0.7", "-2e-1", "--dq", *"121212", "--ddq", *"654321")
    tool = result_of(capsys, "kinematics", "compute", "--robot", "ur10e", *state)
    base = result_of(capsys, "kinematics", "compute", "--robot", "ur10e", *state, "--frame", "base")
    assert (tool["axes"], base["axes"]) == ("tool", "base")
    for name in ("linear_velocity", "angular_velocity", "linear_acceleration", "angular_acceleration"):
        np.testing.assert_allclose(np.array(tool["rotation"]) @ tool[name], base[name], atol=1e-12)
    assert tool["singular"] is False
    assert tool["manipulability"] > tool["smallest_singular_value"] * 1e-3 > 0


def test_degrees_leave_prismatic_joints_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "slider.urdf"
    path.write_text(SLIDER, encoding="utf-8")
    found = result_of(capsys, "kinematics", "compute", "--robot", str(path), "--q", "0.5", "90", "--degrees")
    np.testing.assert_allclose(found["position"], [0, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(found["rpy"], [0, 0, math.pi / 2], atol=1e-12)


def test_tip_chooses_the_tool_frame(capsys: pytest.CaptureFixture[str]) -> None:
    found = result_of(capsys, "kinematics", "compute", "--robot", "ur5e", "--q", *ZERO, "--tip", "flange")
    assert found["tool_frame"] == "flange"
    np.testing.assert_allclose(np.array(found["rotation"])[:, 0], [0, -1, 0], atol=1e-9)  # x of the flange is forward


@pytest.mark.parametrize("columns", ["80", "200"])
def test_tables_fit_80_columns(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    state = ("--robot", "ur20", "--q", *ZERO, "--dq", "-2", *"22222", "--ddq", "-9", *"99999")
    wrench = ("--tip-wrench", *("-100",) * 6)
    for arguments in (("kinematics", "compute", *state), ("dynamics", "compute", *state, *wrench), ("robots",)):
        assert main(arguments) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert max(len(line) for line in out.splitlines()) <= 80
        assert out.isascii()
        assert "\x1b" not in out


def test_readable_output_has_the_numbers_and_units(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kinematics", "compute", "--robot", "ur5e", "--q", *ZERO]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["position", "[m]", "-0.817200", "-0.232900", "0.062800"] in lines
    assert ["rpy", "[deg]", "90.0000", "0.0000", "0.0000"] in lines
    assert ["linear", "velocity", "[m/s]", "0.000000", "0.000000", "0.000000", "0.000000"] in lines
    assert ["singular", "yes"] in lines


def test_torques_of_a_slider_by_hand(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "slider.urdf"
    path.write_text(SLIDER, encoding="utf-8")
    found = result_of(
        capsys,
        *("dynamics", "compute", "--robot", str(path), "--q", "0.2", "0.3", "--dq", "0", "2", "--ddq", "1", "3"),
        *("--payload-phi", "1", "0", "0", "0", "0.5", "0", "0", "0.5", "0", "0.5"),
        *("--tip-wrench", "0", "0", "7", "0", "0", "11"),
    )
    inertia = 0.1 + 2 * 0.5**2 + 0.5
    np.testing.assert_allclose(found["gravity_torque"], [6 * 9.81, 0], atol=1e-12)
    np.testing.assert_allclose(found["inertial_torque"], [6 * 1, inertia * 3], atol=1e-12)
    np.testing.assert_allclose(found["coriolis_torque"], [0, 0], atol=1e-12)
    np.testing.assert_allclose(found["tip_torque"], [11, 7], atol=1e-12)
    np.testing.assert_allclose(found["torque"], [6 * 10.81 + 11, inertia * 3 + 7], atol=1e-12)
    np.testing.assert_allclose(found["mass_matrix"], [[6.0, 0.0], [0.0, inertia]], atol=1e-12)
    assert found["torque_limit"] == [100.0, None]
    assert found["limit_share"] == pytest.approx([(6 * 10.81 + 11) / 100, 0.0])


def test_parts_of_the_torque_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    found = result_of(
        capsys,
        *("dynamics", "compute", "--robot", "ur5e", "--q", "0.1", "-1", "1", "0.5", "-0.5", "2"),
        *("--dq", *"121212", "--ddq", *"212121", "--gravity", "0", "-9.81", "0"),
        *("--tip-wrench", *"123456"),
    )
    parts = [found[f"{part}_torque"] for part in ("inertial", "coriolis", "gravity", "tip")]
    np.testing.assert_allclose(np.sum(parts, axis=0), found["torque"], rtol=1e-9, atol=1e-9)
    matrix = np.array(found["mass_matrix"])
    np.testing.assert_allclose(matrix @ found["ddq"], found["inertial_torque"], rtol=1e-9, atol=1e-9)
    assert np.abs(found["coriolis_torque"]).min() > 0


def test_the_share_of_the_limit_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dynamics", "compute", "--robot", "ur5e", "--q", *ZERO]) == 0
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if line.startswith("shoulder_lift_joint")).split()
    assert float(row[1]) == pytest.approx(float(row[4]))  # total = gravity
    assert row[5:] == ["150", f"{abs(float(row[1])) / 1.5:.1f}%"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kinematics", "compute", "--robot", "ur5e", "--q", *"12345"], "--q needs 6 numbers, one for each joint of"),
        (["kinematics", "compute", "--robot", "ur5e", "--q", *ZERO, "--dq", "1"], "--dq needs 6 numbers"),
        (["kinematics", "compute", "--robot", "ur5e", "--q", *ZERO[:5], "nan"], "--q must be finite, got nan"),
        (
            ["kinematics", "compute", "--robot", "ur5e", "--q", *ZERO, "--ddq", *ZERO[:5], "-inf"],
            "--ddq must be finite",
        ),
        (["kinematics", "compute", "--robot", "ur7", "--q", *ZERO], "unknown robot 'ur7'"),
        (["kinematics", "compute", "--robot", "ur5e", "--q", *ZERO, "--tip", "tcp"], "unknown tool frame 'tcp'"),
        (
            ["dynamics", "compute", "--robot", "ur5e", "--q", *ZERO, "--gravity", "0", "9.81"],
            "--gravity needs 3 numbers",
        ),
        (["dynamics", "compute", "--robot", "ur5e", "--q", *ZERO, "--tip-wrench", "1"], "--tip-wrench needs 6 numbers"),
        (["dynamics", "compute", "--robot", "ur5e", "--q", *ZERO, "--payload-phi", "1"], "--payload-phi needs 10"),
        (["dynamics", "compute", "--robot", "ur5e", "--q", *ZERO, "--tip-wrench", *ZERO[:5], "nan"], "must be finite"),
        (["robots", "ur7"], "unknown robot 'ur7'"),
    ],
)
def test_bad_numbers_and_names_are_bad_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("iparam: error: ")
    assert message in err
    assert "Traceback" not in err


def test_a_missing_or_wrong_urdf_is_a_failure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.urdf"
    wrong.write_text("<robot", encoding="utf-8")
    for path, message in ((tmp_path / "nowhere.urdf", "does not exist"), (wrong, "not well-formed XML")):
        assert main(["robots", str(path)]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert message in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--q", "0", "-90", "0", "0", "0", "0"], "for degrees add --degrees"),
        (
            ["--q", *ZERO, "--dq", "5", *ZERO[1:]],
            "joint 1 (shoulder_pan_joint) at a speed of 5 is above its limit of 3.142",
        ),
    ],
)
def test_a_state_beyond_the_limits_is_computed_with_a_note(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kinematics", "compute", "--robot", "ur5e", *options, "--json"]) == 0
    out, err = capsys.readouterr()
    json.loads(out)
    assert err.startswith("iparam: note: ")
    assert message in err


def test_an_impossible_payload_gets_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    phi = ["--payload-phi", "-1", *("0",) * 9]
    assert main(["dynamics", "compute", "--robot", "ur5e", "--q", *ZERO, *phi]) == 0
    assert "The mass must be positive" in capsys.readouterr().err


def test_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    listed = {robot["name"]: robot for robot in result_of(capsys, "robots")["robots"]}
    assert tuple(listed) == iparam.robot_names()
    assert listed["ur5e"] == result_of(capsys, "robots", "ur5e")
    assert listed["ur5e"]["limits"]["torque"] == [150.0, 150.0, 150.0, 28.0, 28.0, 28.0]
    assert main(["robots"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in listed)
