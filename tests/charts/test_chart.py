from __future__ import annotations

import json

import numpy as np
import pytest

from iparam.charts.chart import Chart, Line, chart_document, chart_script, chart_style, lines_of, thinned
from iparam.errors import InputError


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
    assert thinned(time[:100], values[:100])[1] is not None
    np.testing.assert_array_equal(thinned(time[:100], values[:100])[1], values[:100])


def test_the_document_is_json_that_cannot_end_its_script() -> None:
    line = Line("</script><b>&", "#000000", np.array([1.0 / 3.0, 2.0]))
    text = chart_document([Chart("a", "force [N]", np.array([0.0, 1.0]), (line,))])
    assert not set("<>&") & set(text)
    found = json.loads(text)["a"]
    assert found["lines"][0]["label"] == "</script><b>&"
    assert found["lines"][0]["values"] == [0.33333, 2.0]


def test_values_and_bounds() -> None:
    chart = Chart("q", "q", np.array([0.0, 1.0]), lines_of(["a", "b"], ["#111111"], np.array([[0.0, 1.0], [1.0, 3.0]])))
    assert chart.at(0.5) == [0.5, 2.0]
    low, high = chart.bounds
    assert low < 0.0
    assert high > 3.0
    with pytest.raises(InputError, match=r"b of q has \(3,\) values for \(2,\) times"):
        Chart("q", "q", np.array([0.0, 1.0]), (Line("b", "#111111", np.zeros(3)),))


def test_the_script_asks_for_nothing_from_elsewhere() -> None:
    for text in (chart_script(), chart_style()):
        assert text.count("http") == text.count("https://github.com/leeoniya/uPlot")  # its name, in a comment
        assert "fetch(" not in text
        assert "</script" not in text
