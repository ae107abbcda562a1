from __future__ import annotations

import sys

import numpy as np
import pytest

from iparam.errors import InputError, MissingExtraError, UnknownNameError
from iparam.recording.display import MOST_PANELS
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.remarks import remark

TIME = np.linspace(0.0, 2.0, 1001)


@pytest.fixture
def recording() -> Recording:
    values = np.random.default_rng(3).normal(size=(1001, 6))
    signals = {
        "dq": Signal(TIME, values, "rad/s", "joint"),
        "wrench": Signal(TIME[::5], values[::5], "N, N m", "tool"),
        "q": Signal(TIME, 2.0 * values, "rad", "joint"),
    }
    return Recording("arm<b>", signals, {}, (remark("columns-unknown", columns="<i>fan</i>"),))


def test_a_wrench_is_a_force_and_a_torque(recording: Recording) -> None:
    force, torque = recording.plot("wrench").axes
    assert [force.get_ylabel(), torque.get_ylabel()] == ["wrench [N]", "wrench [N m]"]
    drawn = np.column_stack([line.get_ydata() for axes in (force, torque) for line in axes.lines])
    np.testing.assert_array_equal(drawn, recording.signal("wrench").values)
    np.testing.assert_array_equal(torque.lines[2].get_xdata(), TIME[::5])
    assert [text.get_text() for text in torque.get_legend().get_texts()] == ["tx", "ty", "tz"]


def test_what_tells_most_comes_first_and_no_more_than_fits(recording: Recording) -> None:
    labels = [axes.get_ylabel() for axes in recording.plot().axes]
    assert labels == ["q [rad]", "wrench [N]", "wrench [N m]", "dq [rad/s]"]
    many = Recording("", {f"extra_{letter}": Signal(TIME, TIME) for letter in "abcdefghi"})
    assert len(many.plot().axes) == MOST_PANELS
    assert len(many.plot(*many.signals).axes) == 9


def test_the_table_of_a_notebook(recording: Recording) -> None:
    shown = recording._repr_html_()
    assert "Recording of arm&lt;b&gt;, 2 s" in shown
    for cell in ("N, N m", "201", "100", "&lt;i&gt;fan&lt;/i&gt;", "<svg"):
        assert cell in shown
    assert repr(recording) == "Recording(arm<b>, 2 s: dq 500 Hz, wrench 100 Hz, q 500 Hz; 1 remark)"


def test_refusals(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="tau"):
        recording.plot("tau")
    with pytest.raises(InputError, match="no signals"):
        Recording("").plot()
    assert "<svg" not in Recording("")._repr_html_()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<svg" not in recording._repr_html_()
    with pytest.raises(MissingExtraError, match=r"iparam\[plot\]"):
        recording.plot()
