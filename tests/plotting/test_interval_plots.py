from __future__ import annotations

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.plotting.interval_plots import IntervalGroup, interval_figure
from iparam.plotting.matplotlib_backend import VERMILLION


def bars(axes: object) -> np.ndarray:
    """(k, 2) the ends of the intervals that are drawn."""
    container = axes.containers[0]  # type: ignore[attr-defined]
    return np.array([segment[:, 1] for segment in container.lines[2][0].get_segments()])


def test_the_dots_and_intervals_are_the_numbers() -> None:
    group = IntervalGroup("force [N]", ("x", "y", "z"), np.array([1.0, np.nan, -3.0]), np.array([0.5, np.nan, 0.25]))
    axes = interval_figure([group]).axes[0]
    np.testing.assert_array_equal(axes.containers[0].lines[0].get_ydata(), [1.0, -3.0])
    np.testing.assert_array_equal(bars(axes), [[0.5, 1.5], [-3.25, -2.75]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["x", "y", "z"]
    assert [text.get_text() for text in axes.texts] == ["not known"]
    assert axes.get_title(loc="left") == "force [N]"


def test_a_number_alone_is_seen_against_its_interval() -> None:
    axes = interval_figure([IntervalGroup("mass [kg]", ("m",), np.array([2.0]), np.array([0.001]))]).axes[0]
    low, high = axes.get_ylim()
    assert 1.99 < low < 1.999
    assert 2.001 < high < 2.01


def test_doubtful_numbers_have_the_colour_of_a_warning() -> None:
    group = IntervalGroup("mass [kg]", ("m",), np.array([2.0]), np.array([0.001]))
    assert interval_figure([group], doubtful=True).axes[0].containers[0].lines[0].get_color() == VERMILLION


def test_numbers_that_do_not_fit_their_names_are_refused() -> None:
    with pytest.raises(InputError, match="mass needs 1 values"):
        IntervalGroup("mass", ("m",), np.zeros(2), np.zeros(1))
