"""The text of each format against figures worked out by hand, and what all formats have in common."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from defusedxml.ElementTree import fromstring

from iparam.errors import UnknownNameError
from iparam.export import (
    FORMATS,
    IdentifiedLoad,
    InconsistentLoadError,
    StaticLoad,
    export_load,
    to_franka,
    to_kuka,
    to_ros2_yaml,
    to_sdf_inertial,
    to_urdf_inertial,
    to_urscript,
)
from iparam.export.comment import MAX_LENGTH, decimal, plain_decimal
from iparam.remarks import Remark, Severity, remark
from iparam.spatial import principal_axes


def code_of(text: str, marker: str) -> list[str]:
    """The lines that are no comment."""
    return [line for line in text.splitlines() if not line.startswith(marker)]


def test_urdf(load: IdentifiedLoad) -> None:
    element = fromstring(to_urdf_inertial(load))
    assert element.tag == "inertial"
    assert [child.attrib for child in element] == [
        {"xyz": "0.07 0.06 0.09", "rpy": "0.0 0.0 0.0"},
        {"value": "2.0"},
        {"ixx": "0.0306", "ixy": "0.0004", "ixz": "0.0006", "iyy": "0.024", "iyz": "-0.0132", "izz": "0.013"},
    ]


def test_sdf(load: IdentifiedLoad) -> None:
    element = fromstring(to_sdf_inertial(load))
    assert element.tag == "inertial"
    assert element.findtext("pose") == "0.07 0.06 0.09 0.0 0.0 0.0"
    assert element.findtext("mass") == "2.0"
    moments = {child.tag: float(child.text) for child in element.find("inertia")}
    assert moments == {"ixx": 0.0306, "ixy": 0.0004, "ixz": 0.0006, "iyy": 0.024, "iyz": -0.0132, "izz": 0.013}


def test_urscript(load: IdentifiedLoad) -> None:
    text = to_urscript(load)
    assert code_of(text, "#") == [
        "set_target_payload(2.0, [0.07, 0.06, 0.09], [0.0306, 0.024, 0.013, 0.0004, 0.0006, -0.0132])"
    ]
    assert "# set_payload(2.0, [0.07, 0.06, 0.09])" in text
    assert "[Ixx, Iyy, Izz, Ixy, Ixz, Iyz] about the centre of gravity, in the flange's axes" in text


def test_franka(load: IdentifiedLoad) -> None:
    document = json.loads(to_franka(load))
    columns = [0.0306, 0.0004, 0.0006, 0.0004, 0.024, -0.0132, 0.0006, -0.0132, 0.013]
    assert document["setLoad"] == {"load_mass": 2.0, "F_x_Cload": [0.07, 0.06, 0.09], "load_inertia": columns}
    assert document["endEffector"] == {"mass": 2.0, "centerOfMass": [0.07, 0.06, 0.09], "inertia": columns}


def kuka_fields(text: str) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Mass [kg], centre [mm], A B C [deg] and J [kg m^2] of the assignment."""
    pattern = (
        r"LOAD_DATA\[1\]=\{M (\S+),CM \{X (\S+),Y (\S+),Z (\S+),A (\S+),B (\S+),C (\S+)\},"
        r"J \{X (\S+),Y (\S+),Z (\S+)\}\}"
    )
    (line,) = code_of(text, ";")
    match = re.fullmatch(pattern, line)
    assert match is not None, line
    values = np.array([float(value) for value in match.groups()])
    return values[0], values[1:4], values[4:7], values[7:]


def rotation_zyx(degrees: np.ndarray) -> np.ndarray:
    """KUKA's A about z, then B about the new y, then C about the new x, written out."""
    (ca, cb, cc), (sa, sb, sc) = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    about_z = np.array([[ca, -sa, 0], [sa, ca, 0], [0, 0, 1]])
    about_y = np.array([[cb, 0, sb], [0, 1, 0], [-sb, 0, cb]])
    about_x = np.array([[1, 0, 0], [0, cc, -sc], [0, sc, cc]])
    return about_z @ about_y @ about_x


def test_kuka_gives_the_tensor_back(load: IdentifiedLoad) -> None:
    mass, center, angles, moments = kuka_fields(to_kuka(load))
    assert mass == 2.0
    assert center.tolist() == [70.0, 60.0, 90.0]
    R = rotation_zyx(angles)
    np.testing.assert_allclose(R @ np.diag(moments) @ R.T, load.inertia_about_com, atol=1e-11)


def test_kuka_by_hand() -> None:
    """Turned by 30 deg about z: cos^2 = 3/4, sin^2 = 1/4, sin cos = sqrt(3)/4."""
    tilt = (0.03 - 0.02) * np.sqrt(3) / 4
    inertia = np.array([[0.0275, tilt, 0.0], [tilt, 0.0225, 0.0], [0.0, 0.0, 0.04]])
    _, _, angles, moments = kuka_fields(to_kuka(IdentifiedLoad(1.0, np.zeros(3), inertia)))
    np.testing.assert_allclose(angles, [30.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(moments, [0.03, 0.02, 0.04], atol=1e-12)


def test_abb_gives_the_tensor_back(load: IdentifiedLoad) -> None:
    (line,) = code_of(export_load(load, "abb"), "!")
    match = re.fullmatch(r"PERS loaddata iparam_load := \[(.*)\];", line)
    assert match is not None, line
    mass, *numbers = (float(word) for word in match[1].replace("[", "").replace("]", "").split(", "))
    assert (mass, numbers[:3]) == (2.0, [70.0, 60.0, 90.0])
    w, x, y, z = numbers[3:7]
    R = np.array(  # of a unit quaternion, written out
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )
    np.testing.assert_allclose(R @ np.diag(numbers[7:]) @ R.T, load.inertia_about_com, atol=1e-11)


def test_loads_without_inertia_are_points_to_abb_and_all_that_an_xarm_takes(load: IdentifiedLoad) -> None:
    static = StaticLoad(2.0, np.array([0.0, 0.01, 0.1]))
    assert code_of(export_load(static, "abb"), "!") == [
        "PERS loaddata iparam_load := [2.0, [0.0, 10.0, 100.0], [1.0, 0.0, 0.0, 0.0], 0.0, 0.0, 0.0];"
    ]
    assert code_of(export_load(static, "xarm"), "#") == ["arm.set_tcp_load(2.0, [0.0, 10.0, 100.0])"]
    assert code_of(export_load(load, "xarm"), "#") == ["arm.set_tcp_load(2.0, [70.0, 60.0, 90.0])"]
    assert "may take the load for undefined" in export_load(StaticLoad(2.0, np.zeros(3)), "abb")


@pytest.mark.parametrize("seed", range(20))
def test_principal_axes_are_right_handed_and_turn_little(seed: int) -> None:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(3, 3))
    inertia = half @ half.T
    R, moments = principal_axes(inertia)
    np.testing.assert_allclose(R @ np.diag(moments) @ R.T, inertia, atol=1e-12)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert np.trace(R) >= 1.0  # at most 90 deg: the least of 24 turns is below 63 deg
    angles = kuka_fields(to_kuka(IdentifiedLoad(1.0, np.zeros(3), inertia)))[2]
    np.testing.assert_allclose(rotation_zyx(angles), R, atol=1e-9)


def test_a_diagonal_tensor_is_not_turned() -> None:
    R, moments = principal_axes(np.diag([3.0, 1.0, 2.0]))
    assert R.tolist() == np.eye(3).tolist()
    assert moments.tolist() == [3.0, 1.0, 2.0]


def test_ros2(load: IdentifiedLoad) -> None:
    yaml = pytest.importorskip("yaml")
    parameters = yaml.safe_load(to_ros2_yaml(load))["/**"]["ros__parameters"]
    filtering = parameters["sensor_filter_chain"]["filter1"]
    assert filtering["type"] == "control_filters/GravityCompensationWrench"
    assert filtering["params"]["sensor_frame"] == "tool0"
    tool = filtering["params"]["tool"]
    assert tool == {"mass": 2.0, "CoG": [0.07, 0.06, 0.09], "pos": [0.07, 0.06, 0.09], "gravity_field": [0, 0, -9.81]}
    assert all(isinstance(value, float) for key in ("CoG", "pos", "gravity_field") for value in tool[key])
    section = parameters["gravity_compensation"]
    assert section == {"frame": {"id": "tool0"}, "CoG": {"pos": [0.07, 0.06, 0.09], "force": pytest.approx(19.62)}}
    assert parameters["payload"]["inertia_about_com"] == {
        "ixx": 0.0306,
        "ixy": 0.0004,
        "ixz": 0.0006,
        "iyy": 0.024,
        "iyz": -0.0132,
        "izz": 0.013,
    }


def test_ros2_keeps_small_numbers_and_odd_names() -> None:
    yaml = pytest.importorskip("yaml")
    load = IdentifiedLoad(1.0, np.array([1e-5, -0.0, 2e-7]), 1e-5 * np.eye(3), frame='a"b:#{')
    payload = yaml.safe_load(to_ros2_yaml(load))["/**"]["ros__parameters"]["payload"]
    assert payload["center_of_mass"] == [1e-5, 0.0, 2e-7]
    assert payload["inertia_about_com"]["ixx"] == 1e-5
    assert payload["frame"] == 'a"b:#{'


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_states_frame_units_and_remarks(name: str, load: IdentifiedLoad) -> None:
    if name == "usd":
        pytest.importorskip("pxr")
    text = export_load(replace(load, frame="my_flange", remarks=(remark("few-samples", count=12),)), name)
    for part in ("in the frame my_flange", "[kg]", "[kg m^2]", "about the centre of", "12 wrench samples"):
        assert part in text
    assert text.endswith("\n")
    assert "-0.0 " not in text


@pytest.mark.parametrize("name", FORMATS)
def test_a_frame_may_have_any_name_that_a_link_may_have(name: str, load: IdentifiedLoad) -> None:
    """Blanks, quotes, hyphens, marks of XML and YAML: a robot's file may call its tool so."""
    if name == "usd":
        pytest.importorskip("pxr")
    frame = 'Werkzeug "Flansch" --> & #1: ß'
    text, plain = export_load(replace(load, frame=frame), name), export_load(load, name)
    assert "in the frame 'Werkzeug" in text
    if name in ("urdf", "mjcf", "sdf"):
        assert [element.tag for element in fromstring(text).iter()] == [e.tag for e in fromstring(plain).iter()]
    elif name == "ros2":
        read = pytest.importorskip("yaml").safe_load(text)["/**"]["ros__parameters"]
        assert read["payload"]["frame"] == read["gravity_compensation"]["frame"]["id"] == frame
    elif name == "json":
        assert json.loads(text)["frame"] == frame
    elif name == "franka":
        assert json.loads(text)["setLoad"] == json.loads(plain)["setLoad"]
    elif name == "usd":
        assert text.split("{\n    point3f")[1] == plain.split("{\n    point3f")[1]
    else:
        marker = {"urscript": "#", "kuka": ";", "abb": "!", "xarm": "#", "csv": "#"}[name]
        assert code_of(text, marker) == code_of(plain, marker)


@pytest.mark.parametrize("name", FORMATS)
def test_what_no_body_can_be_like_is_refused_unless_forced(name: str, bad_load: IdentifiedLoad) -> None:
    if name == "usd":
        pytest.importorskip("pxr")
    with pytest.raises(InconsistentLoadError, match="triangle inequality"):
        export_load(bad_load, name)
    assert "NOT PHYSICALLY CONSISTENT" in export_load(bad_load, name, force=True)
    export_load(IdentifiedLoad(-1.0, np.ones(3), np.zeros((3, 3))), name, force=True)
    export_load(IdentifiedLoad(0.0, np.zeros(3), np.zeros((3, 3))), name, force=True)


HOSTILE = "harmless --> <x/>\nmovej([0,0,0,0,0,0])\r\u2028; M 99\x1b[31m --\x00" + "é" + "x" * 2 * MAX_LENGTH


def test_an_interval_is_readable_in_ascii(load: IdentifiedLoad) -> None:
    late = remark("wrench-delayed", milliseconds=0.25, half_width=0.01, ambiguous="")
    assert "±" in late.message
    for name in ("urscript", "kuka", "abb", "xarm"):
        text = export_load(replace(load, remarks=(late,)), name)
        assert text.isascii()
        assert "0.25 +- 0.01 ms" in text


def test_a_remark_cannot_leave_its_comment(load: IdentifiedLoad) -> None:
    yaml = pytest.importorskip("yaml")
    said = tuple(Remark("few-samples", Severity.DOUBT, text) for text in (HOSTILE, "-", "--", "---"))
    hostile = replace(load, remarks=said)
    for name in ("urdf", "mjcf", "sdf"):
        assert {element.tag for element in fromstring(export_load(hostile, name)).iter()} == {
            element.tag for element in fromstring(export_load(load, name)).iter()
        }
    for name, marker in (("urscript", "#"), ("kuka", ";"), ("abb", "!"), ("xarm", "#")):
        text = export_load(hostile, name)
        assert code_of(text, marker) == code_of(export_load(load, name), marker)
        assert text.isascii()
    assert yaml.safe_load(export_load(hostile, "ros2")) == yaml.safe_load(export_load(load, "ros2"))
    assert json.loads(export_load(hostile, "franka"))["setLoad"] == json.loads(export_load(load, "franka"))["setLoad"]
    assert json.loads(export_load(hostile, "json"))["remarks"][0]["message"] == HOSTILE
    pytest.importorskip("pxr")
    for name in FORMATS:
        assert "\x1b" not in export_load(hostile, name)


def test_an_unknown_format_lists_the_known(load: IdentifiedLoad) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'urdf'") as caught:
        export_load(load, "urfd")
    assert all(name in str(caught.value) for name in FORMATS)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (-0.0, "0.0"),
        (1e-5, "1.0e-05"),
        (1.5e-7, "1.5e-07"),
        (1e22, "1.0e+22"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_decimal(value: float, text: str) -> None:
    assert decimal(value) == text
    assert float(text) == value


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1.0"), (-1e-14, "0.0"), (1e-5, "0.00001"), (55.300000000000004, "55.3"), (-2.5, "-2.5")]
)
def test_plain_decimal(value: float, text: str) -> None:
    assert plain_decimal(value) == text
