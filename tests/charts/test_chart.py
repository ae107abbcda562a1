from __future__ import annotations

import json

import numpy as np
import pytest

from iparam.charts.chart import Chart, Line, chart_document, chart_script, chart_style, lines_of
from iparam.errors import InputError


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
