"""Data that refute their own result, and data that do not."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import FileFormatError
from iparam.estimation import ConsistentLeastSquares, Estimate, RefutedResultError, WeightedLeastSquares
from iparam.estimation.assessment.refutation import (
    FARTHEST,
    MATERIAL,
    distance_from_possible,
    shows_no_body,
    too_little_explained,
    unexplained,
)
from iparam.estimation.assessment.verdict import verdict_on
from iparam.estimation.estimate import Cause, Refutation
from iparam.remarks import remark
from iparam.spatial import InertialParameters


@pytest.mark.parametrize("estimator", [ConsistentLeastSquares(), WeightedLeastSquares()])
def test_a_reversed_wrench_shows_no_body(make_problem: Any, estimator: Any) -> None:
    """Whether or not the method looks among possible bodies only."""
    problem = make_problem()
    found = estimator.fit(dataclasses.replace(problem, y=-problem.y))
    assert "The data show no possible load" in shows_no_body(found)
    assert not shows_no_body(estimator.fit(problem))


@pytest.mark.parametrize("level", [1e-3, 1.0])
def test_sound_data_are_not_refuted(make_problem: Any, level: float) -> None:
    rod = InertialParameters.box(1.0, (1e-4, 1e-4, 0.2)).phi
    for phi in (None, rod):
        for seed in range(10):
            problem = make_problem(level=level, seed=seed, samples=300, phi=phi)
            for estimator in (ConsistentLeastSquares(), WeightedLeastSquares()):
                found = estimator.fit(problem)
                assert not shows_no_body(found)
                assert not too_little_explained(problem, found)


def test_what_is_far_in_deviations_and_small_in_size_harms_nobody(make_problem: Any) -> None:
    """A slender rod and a very good sensor, turned a little: many deviations from any body, and right."""
    rod = InertialParameters.box(1.0, (1e-4, 1e-4, 0.2)).phi
    problem = make_problem(level=1e-4, phi=rod)
    less = np.zeros(10)
    less[9] = -0.02 * rod[4]  # about its axis it would have less than no inertia, by 2 % of that across
    bent = dataclasses.replace(problem, y=problem.y + problem.A @ less)
    found = WeightedLeastSquares().fit(bent)
    distance, change = distance_from_possible(found)
    assert distance > FARTHEST
    assert change < MATERIAL
    assert not shows_no_body(found)
    assert distance_from_possible(ConsistentLeastSquares().fit(bent))[0] == pytest.approx(distance, rel=0.02)


def test_a_wrench_that_has_nothing_to_do_with_the_load(make_problem: Any) -> None:
    """Another motion's wrench, whose body is possible and explains next to nothing."""
    problem = make_problem(level=0.1)
    mixed = dataclasses.replace(problem, y=problem.y @ np.roll(np.eye(6), 1, axis=0)[:, [3, 0, 1, 2, 4, 5]])
    found = ConsistentLeastSquares().fit(mixed)
    reason = shows_no_body(found) or too_little_explained(mixed, found)
    assert reason
    assert "Look at the sensor's sign, axes" in unexplained(reason).sentence


def test_the_mark_stays_with_the_result(make_problem: Any, tmp_path: Path) -> None:
    problem = make_problem()
    turned = dataclasses.replace(problem, y=-problem.y)
    found = ConsistentLeastSquares().fit(turned)
    causes = (Cause("wrench-sign", "Reversing the wrench explains it.", 20.0, 0.5, {"measures": "reaction"}),)
    found = dataclasses.replace(found, refutation=Refutation(shows_no_body(found), causes), causes=causes)
    assert found.assessment["verdict"] == "refuted"
    assert verdict_on(found).level == "refuted"
    found.save(tmp_path / "result.json")
    again = Estimate.load(tmp_path / "result.json")
    assert again.refutation == found.refutation
    assert again.causes == causes
    with pytest.raises(RefutedResultError, match="Reversing the wrench explains it"):
        iparam.fuse_estimates([again, found])
    text = (tmp_path / "result.json").read_text()
    (tmp_path / "result.json").write_text(text.replace('"causes": [', '"causes": [3, '))
    with pytest.raises(FileFormatError, match=r"assessment\.causes must be a list of objects"):
        Estimate.load(tmp_path / "result.json")


def test_verdicts_of_sound_results(make_problem: Any) -> None:
    found = ConsistentLeastSquares().fit(make_problem(level=0.1))
    good = verdict_on(found)
    assert found.assessment == {
        "verdict": "good",
        "sentence": good.sentence,
        "causes": [],
        "unseen": good.unseen,
        "rules": [rule.to_document() for rule in good.rules],
    }
    assert all(rule.passed for rule in good.rules)


@pytest.mark.parametrize(
    ("code", "values", "verdict"),
    [
        ("residuals-correlated", {"inflation": 2.0}, "good"),
        ("cause-corrected", {"finding": "A contact", "cause": "contact"}, "good"),
        ("few-samples", {"count": 31}, "usable"),
    ],
)
def test_only_a_doubt_lowers_a_verdict(code: str, values: dict[str, Any], verdict: str, make_problem: Any) -> None:
    found = ConsistentLeastSquares().fit(make_problem(level=0.1))
    said = dataclasses.replace(found, remarks=(remark(code, **values),))
    assert said.assessment["verdict"] == verdict
    failed = [rule["rule"] for rule in said.assessment["rules"] if not rule["passed"]]
    assert failed == ([] if verdict == "good" else ["doubts"])


def test_what_is_not_determined_is_usable(make_problem: Any) -> None:
    found = ConsistentLeastSquares().fit(make_problem(level=0.1))
    part = dataclasses.replace(found, phi=np.where(np.arange(10) < 4, found.phi, np.nan))
    assert part.assessment["verdict"] == "usable"
