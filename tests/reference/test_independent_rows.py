"""The rows and the table of `benchmarks/bench_independent.py`: what they count, and what they say of two sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(Path(__file__).resolve().parents[2] / "benchmarks")
    from independent import rows, summary


def row(**changes):
    ones = [1.0] * 10
    plain = {"verdict": "good", "truth": ones, "value": ones, "sd": [0.01] * 10, "error": 0.0, "mass_error": 0.0}
    return rows.EMPTY | plain | changes


def test_sound_case_is_examined_beside_its_references():
    found = rows.sound_row(2)
    assert found["corpus"] == "random"
    assert found["seconds"] > 0.0
    z = (found["value"] - found["truth"]) / found["sd"]
    assert found["error"] == pytest.approx(np.nanmax(np.abs(z)))
    assert np.all(np.abs(found["oracle"] - found["truth"]) <= 5.0 * found["oracle_sd"])


@pytest.mark.thorough
def test_mistake_that_no_load_explains_is_visible_and_its_cause_followed():
    turned = next(i for i, mistake in enumerate(rows.MISTAKES) if mistake.slug == "sensor-turned")
    found = rows.mistaken_row(turned)
    assert found["visible"]
    assert found["causes"][0] == "sensor-rotation"
    assert found["rank"] == 1
    assert found["fixed_verdict"] in summary.TRUSTED
    assert found["fixed_error"] <= summary.FAR


def test_wrong_and_confident_is_trusted_and_far_off():
    assert summary.is_wrong_and_confident(row(error=4.1))
    assert not summary.is_wrong_and_confident(row(error=3.9))
    assert not summary.is_wrong_and_confident(row(error=4.1, verdict="refuted"))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"verdict": "refuted"}, True),
        ({"verdict": "good"}, False),
        ({"verdict": "refuted", "mass_error": 0.06}, False),
        ({"verdict": "refuted", "value": [1.03, *[1.0] * 9]}, False),
        ({"verdict": "refuted", "value": [float("nan")] * 10, "mass_error": float("nan")}, False),
    ],
)
def test_needlessly_refused_is_refused_though_mass_and_center_are_right(changes, expected):
    assert summary.is_needlessly_refused(row(**changes)) is expected


def test_accused_is_told_what_it_does_not_have():
    assert not summary.is_accused(row(group="hysteretic", preset="exact", causes=["hysteresis"]))
    assert summary.is_accused(row(group="white", preset="exact", causes=["hysteresis"]))
    assert not summary.is_accused(row(group="white", preset="lab", causes=["sensor-offset"]))
    assert summary.is_accused(row(group="white", preset="exact", causes=["sensor-offset"]))


def test_differences_are_listed_case_by_case():
    old = [row(corpus="a", name="same"), row(corpus="a", name="changed"), row(corpus="a", name="gone")]
    new = [old[0], row(corpus="a", name="changed", verdict="refuted", error=3.0, sd=[0.02] * 10)]
    found = summary.differences(old, new)
    assert [line[:3] for line in found] == [
        ["a", "gone", "only in one of them"],
        ["a", "changed", "verdict"],
        ["a", "changed", "error [sd]"],
        ["a", "changed", "width, new over old"],
    ]


def test_widths_and_errors_are_those_over_the_oracle():
    own = row(oracle=[1.01] * 10, oracle_sd=[0.005] * 10, value=[1.03] * 10)
    np.testing.assert_allclose(summary.widths(own), 2.0)
    assert summary.rms_over_oracle([own]) == pytest.approx(3.0)
