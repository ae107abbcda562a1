"""Columns that are named as other programs name them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from iparam.recording import Recording
from iparam.recording.files.usual_names import usual_columns, usual_signal


def numbered(form: str, count: int, first: int = 0) -> list[str]:
    return [form.format(number) for number in range(first, first + count)]


@pytest.mark.parametrize(
    ("headers", "meant"),
    [
        (numbered("actual_q_{}", 6), numbered("q{}", 6)),
        (numbered("actual_qd_{}", 6), numbered("dq{}", 6)),
        (numbered("target_moment_{}", 6), numbered("target_torque{}", 6)),
        (numbered("Joint{}_pos", 6, 1), numbered("q{}", 6)),
        (numbered("JointPosition{}", 7, 1), numbered("q{}", 7)),
        (numbered("q{}", 6, 1), numbered("q{}", 6)),
        (numbered("state.tau_J[{}]", 7), numbered("tau{}", 7)),
        (numbered("state.q_d[{}]", 7), numbered("target_q{}", 7)),
        (numbered("field.effort{}", 6), numbered("tau{}", 6)),
        (numbered("joint_{}", 6, 1), numbered("q{}", 6)),
        (numbered("ft_raw_wrench_{}", 6), ["fx", "fy", "fz", "tx", "ty", "tz"]),
        (["wrench.force." + axis for axis in "xyz"] + ["wrench.torque." + axis for axis in "xyz"], "fx fy fz tx ty tz"),
        (["fx", "fy", "fz", "Mx", "My", "Mz"], [None, None, None, "tx", "ty", "tz"]),
        (["orientation." + axis for axis in "xyzw"], ["qx", "qy", "qz", "qw"]),
        (["imu.angular_velocity.x", "imu.angular_velocity.y", "imu.angular_velocity.z"], ["wx", "wy", "wz"]),
        (["TimeStamp"], ["time"]),
        (["header.stamp.sec", "header.stamp.nanosec"], ["time", "time_nanoseconds"]),
        (numbered("pos_A{}", 7, 1), numbered("q{}", 7)),
        (["pose.orientation." + axis for axis in "xyzw"], ["qx", "qy", "qz", "qw"]),
        ([*numbered("q{}", 6), "tau2", "tau4"], [None] * 8),  # torques of some joints, numbered as the angles are
        ([*numbered("q{}", 6, 1), "tau2", "tau4"], [*numbered("q{}", 6), "tau1", "tau3"]),
    ],
)
def test_usual_names_are_understood(headers: list[str], meant: list[str | None] | str) -> None:
    found = usual_columns(headers)
    expected = meant.split() if isinstance(meant, str) else meant
    assert [found.get(place) for place in range(len(headers))] == expected


@pytest.mark.parametrize(
    "headers",
    [
        numbered("q{}", 6),  # its own name
        numbered("actual_TCP_force_{}", 6),  # a word that is not known: the tool's, in the axes of the base
        numbered("tau_ext_hat_filtered_{}", 7),
        [*numbered("actual_q_{}", 3), "actual_q_5"],  # not complete
        numbered("q_{}", 6, 3),  # numbered from 3
        numbered("pos_{}", 6) + numbered("joint_{}", 6),  # which of them?
        numbered("q{}", 6) + numbered("joint_pos_{}", 6),  # stated already
        ["position.x", "position.y", "position.z"],
        ["force.x", "force.y", "force.z"],  # no torque: no wrench
        ["a.sec", "a.nsec", "b.sec", "b.nsec"],  # which of them?
    ],
)
def test_what_is_not_sure_is_left_alone(headers: list[str]) -> None:
    assert usual_columns(headers) == {}


def test_arrays_are_understood_by_the_names_of_signals() -> None:
    names = ("actual_q", "qd", "tau_J", "joint_torques", "q_des", "ft_raw_wrench", "F", "joint_states", "q1")
    expected = ["q", "dq", "tau", "tau", "target_q", "wrench", None, None, None]
    assert [usual_signal(name) for name in names] == expected


def test_a_table_of_a_recorder_is_read_with_a_note_that_discredits_nothing(tmp_path: Path) -> None:
    headers = ["timestamp_ms", *numbered("Joint{}_pos_deg", 6, 1), "Fx", "Fy", "Fz", "Mx", "My", "Mz"]
    values = np.column_stack([np.arange(50) * 2.0, *[np.arange(50.0) + j for j in range(12)]])
    path = tmp_path / "run.csv"
    np.savetxt(path, values, delimiter=";", header=";".join(headers), comments="")
    found = Recording.load(path)
    np.testing.assert_allclose(found.signal("q").time, np.arange(50) * 0.002)
    np.testing.assert_allclose(found.signal("q").values, np.radians(values[:, 1:7]))
    np.testing.assert_allclose(found.signal("wrench").values, values[:, 7:])
    (said,) = [one for one in found.remarks if one.code == "usual-names"]
    assert said.values["columns"] == "q = Joint1_pos_deg to Joint6_pos_deg, wrench = Mx to Mz"
    assert not any(one.lowers for one in found.remarks)


def test_a_map_goes_before_usual_names(tmp_path: Path) -> None:
    headers = ["time", *numbered("actual_q_{}", 2), *numbered("link_q_{}", 2)]
    path = tmp_path / "run.csv"
    np.savetxt(path, np.arange(100.0).reshape(20, 5) / 100.0, delimiter=",", header=",".join(headers), comments="")
    assert Recording.load(path).signal("q").values[0].tolist() == [0.01, 0.02]
    mapped = Recording.load(path, map="q=link_q_*")
    assert mapped.signal("q").values[0].tolist() == [0.03, 0.04]
    assert "usual-names" not in [one.code for one in mapped.remarks]


def test_arrays_of_other_names_are_read(tmp_path: Path) -> None:
    time = np.arange(100) / 100.0
    np.savez(tmp_path / "log.npz", t=time, joint_positions=np.ones((2, 100)), tau_J=np.zeros((100, 2)))
    found = Recording.load(tmp_path / "log.npz")
    assert {"q", "tau"} <= set(found.signals)
    (said,) = [one for one in found.remarks if one.code == "usual-names"]
    assert said.values["columns"] == "q = joint_positions, tau = tau_J"
