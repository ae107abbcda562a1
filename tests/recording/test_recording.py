"""Signals and recordings check what they are given, and cannot be changed afterwards."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from iparam.errors import InputError, UnknownNameError
from iparam.recording import Recording, Signal
from iparam.recording.channels import column_names, expand_columns, signal_of_column
from iparam.remarks import remark


def recording(**more: object) -> Recording:
    time = np.arange(100) / 100
    made = Recording("ur5e", metadata={"seed": 3}).with_signal("q", time=time, values=np.zeros((100, 6)))
    return dataclasses.replace(made.with_signal("wrench", time=time[::2], values=np.ones((50, 6))), **more)


def test_a_signal_keeps_its_own_read_only_copy() -> None:
    values = np.ones((3, 2))
    signal = Signal(np.arange(3), values, "rad", "joint")
    values[:] = 7
    assert (signal.values == 1).all()
    assert (signal.num_samples, signal.width, signal.rate) == (3, 2, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        signal.values[0] = 0


@pytest.mark.parametrize(
    ("time", "values", "message"),
    [
        ([0, 1, 1], np.zeros((3, 1)), "strictly increasing"),
        ([0, 2, 1], np.zeros((3, 1)), "strictly increasing, got 2.0 and then 1.0 at 2"),
        ([0, 1, 1e22], np.zeros((3, 1)), r"from -1e\+21 to 1e\+21, got 1e\+22 at 2"),
        ([0, 1], np.zeros((3, 1)), "time \\(T,\\) and values"),
        ([], np.zeros((0, 1)), "at least 1"),
        ([0, 1], [[0.0], [math.nan]], "finite"),
        ([0, math.inf], [[0.0], [0.0]], "finite"),
        ([0, 1], np.zeros((2, 0)), "at least 1"),
        ([[0, 1]], np.zeros((2, 1)), "time"),
    ],
)
def test_a_signal_refuses(time: object, values: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Signal(time, values)  # type: ignore[arg-type]


def test_a_recording_knows_its_rates_joints_and_length() -> None:
    made = recording()
    assert made.rate("q") == pytest.approx(100)
    assert made.rate("wrench") == pytest.approx(50)
    assert made.num_joints == 6
    assert made.duration == pytest.approx(0.99)
    assert made.has("q")
    assert not made.has("tau")
    assert made.signal("wrench").frame == "tool"
    assert "wrench 50 Hz" in repr(made)


def test_an_unknown_signal_lists_the_known_ones_and_says_why_it_is_missing() -> None:
    with pytest.raises(UnknownNameError, match=r"known: q, wrench"):
        recording().signal("tau")
    with pytest.raises(UnknownNameError, match="tau3"):
        recording(remarks=(remark("signal-incomplete", signal="tau", columns="tau3"),)).signal("tau")


def test_a_recording_is_read_only() -> None:
    made = recording()
    with pytest.raises(TypeError):
        made.signals["q"] = made.signals["wrench"]  # type: ignore[index]
    with pytest.raises(TypeError):
        made.metadata["seed"] = 4  # type: ignore[index]
    one, two, three = (remark("row-cut", line=line) for line in (1, 2, 3))
    longer = made.with_remarks(one).with_remarks(two, three).with_metadata(noise="ur5e")
    assert longer.remarks == (one, two, three)
    assert longer.warnings == (one.message, two.message, three.message)
    assert dict(longer.metadata) == {"seed": 3, "noise": "ur5e"}
    assert made.remarks == ()


@pytest.mark.parametrize("name", ["time", "q1", "1q", "", "a b", "é", 3])
def test_names_that_would_make_ambiguous_columns_are_refused(name: object) -> None:
    with pytest.raises(InputError, match="signal's name"):
        Recording("", {name: Signal([0], [[1.0]])})  # type: ignore[dict-item]


def test_a_wrench_has_six_components() -> None:
    with pytest.raises(InputError, match="6 components fx, fy"):
        Recording().with_signal("wrench", time=[0], values=[[1.0, 2.0]])


@pytest.mark.parametrize("metadata", [{"x": math.nan}, {"x": object()}, {"x": np.zeros(2)}, {3: 1}])
def test_metadata_is_what_json_holds(metadata: dict) -> None:  # type: ignore[type-arg]
    with pytest.raises(InputError, match="metadata"):
        Recording(metadata=metadata)


def test_slices_keep_what_lies_inside() -> None:
    made = recording()
    part = made.slice(0.1, 0.2)
    assert part.signal("q").time[0] == 0.1
    assert part.signal("q").time[-1] == 0.2
    assert part.robot == "ur5e"
    short = made.slice(0.009, 0.011)
    assert list(short.signals) == ["q"]
    values = {"signal": "wrench", "start": 0.009, "stop": 0.011}
    assert [(one.code, one.values) for one in short.remarks] == [("signal-outside-range", values)]
    with pytest.raises(InputError, match="start < stop"):
        made.slice(1, 1)
    with pytest.raises(InputError, match="no signal has a sample"):
        made.slice(5, 6)


def test_column_names_lead_back_to_their_signals() -> None:
    for name, width in (("q", 7), ("wrench", 6), ("accelerometer", 3), ("gyro", 3), ("target_ddq", 2), ("custom", 12)):
        assert [signal_of_column(c) for c in column_names(name, width)] == [(name, i) for i in range(width)]
    for nothing in ("temperature", "q01", "wrench0", "time0", "q-1", "", "7"):
        assert signal_of_column(nothing) is None


def test_column_groups_are_expanded_by_the_number_of_columns() -> None:
    names = expand_columns("time, q,dq,current,target_current,target_torque", 31)
    assert names[:8] == ["time", "q0", "q1", "q2", "q3", "q4", "q5", "dq0"]
    assert len(names) == 31
    assert expand_columns(["time", "q", "_", "wrench"], 10) == [
        "time", "q0", "q1", "_", "fx", "fy", "fz", "tx", "ty", "tz",
    ]  # fmt: skip
    assert expand_columns("time,q0,fx", 3) == ["time", "q0", "fx"]


@pytest.mark.parametrize(
    ("columns", "found", "joints", "message"),
    [
        ("q,dq", 12, None, "must name time"),
        ("time,q,dq", 12, None, "no whole number of joints"),
        ("time,q,dq", 13, 7, "are 15 for 7 joints, but the file has 13"),
        ("time,q,q0", 4, None, "q0 more than once"),
        ("time,q!", 4, None, "no name"),
        ("time,q", 1, None, "no whole number"),
    ],
)
def test_column_lists_that_do_not_fit(columns: str, found: int, joints: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        expand_columns(columns, found, joints)
