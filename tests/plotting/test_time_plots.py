from __future__ import annotations

import pickle

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.plotting.time_plots import MOST_NAMES, SMALL_BINS, Panel, thinned, time_figure

TIME = np.linspace(2.0, 12.0, 5001)
VALUES = np.column_stack([np.sin(TIME), 3.0 * np.cos(TIME)])


def test_the_curves_are_the_numbers() -> None:
    figure = time_figure([Panel("a [N]", TIME, VALUES, ("x", "y")), Panel("b [m]", TIME[::5], VALUES[::5, :1], ("z",))])
    above, below = figure.axes
    for axes, time, values in ((above, TIME, VALUES), (below, TIME[::5], VALUES[::5, :1])):
        for line, column in zip(axes.lines, values.T, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), time)
            np.testing.assert_array_equal(line.get_ydata(), column)
    assert [above.get_ylabel(), below.get_ylabel(), below.get_xlabel()] == ["a [N]", "b [m]", "time [s]"]
    assert below.get_xlim() == (2.0, 12.0)
    assert [text.get_text() for text in above.get_legend().get_texts()] == ["x", "y"]


def test_a_small_plot_has_few_points_and_every_extreme() -> None:
    spiked = VALUES.copy()
    spiked[1234, 0] = 40.0
    line = time_figure([Panel("a", TIME, spiked, ("x", "y"))], small=True).axes[0].lines[0]
    assert len(line.get_xdata()) == 2 * SMALL_BINS
    assert max(line.get_ydata()) == 40.0


def test_many_curves_are_told_apart_and_the_rest_counted() -> None:
    panel = Panel("a", TIME, np.tile(VALUES[:, :1], 10), tuple(f"c{i}" for i in range(10)))
    axes = time_figure([panel]).axes[0]
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 10
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(shown) == MOST_NAMES
    assert shown[-1] == "and 4"


def test_a_name_from_a_file_is_no_formula_and_one_sample_is_enough() -> None:
    figure = time_figure([Panel("$\\frac{1}{", np.array([1.0]), np.array([[2.0]]), ("$x_",))])
    assert "$\\frac{1}{" in figure._repr_svg_()


def test_shapes_that_do_not_fit_and_nothing_at_all_are_refused() -> None:
    with pytest.raises(InputError, match=r"a \[N\] needs values \(5001, 1\)"):
        Panel("a [N]", TIME, VALUES, ("x",))
    with pytest.raises(InputError, match="no signals"):
        time_figure([])


def test_a_figure_is_like_any_other_of_matplotlib() -> None:
    figure = time_figure([Panel("a", TIME, VALUES, ("x", "y"))])
    again = pickle.loads(pickle.dumps(figure))  # noqa: S301  of our own making
    np.testing.assert_array_equal(again.axes[0].lines[0].get_ydata(), VALUES[:, 0])


def test_thinning_keeps_every_extreme_and_the_order_of_times() -> None:
    rng = np.random.default_rng(0)
    time = np.linspace(0.0, 60.0, 30_001)
    values = rng.normal(size=(30_001, 3))
    values[12_345, 1] = 50.0
    times, rows = thinned(time, values, bins=200)
    assert len(times) == 400
    assert (np.diff(times) > 0).all()
    assert times[-1] == 60.0
    np.testing.assert_array_equal(rows.max(axis=0), values.max(axis=0))
    np.testing.assert_array_equal(rows.min(axis=0), values.min(axis=0))
    assert abs(times[np.argmax(rows[:, 1])] - time[12_345]) < 60.0 / 200
    np.testing.assert_array_equal(thinned(time[:100], values[:100])[1], values[:100])
