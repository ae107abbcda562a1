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
    refutation_of,
    shows_no_body,
)
from iparam.estimation.assessment.verdict import verdict_on
from iparam.spatial import InertialParameters


@pytest.mark.parametrize("estimator", [ConsistentLeastSquares(), WeightedLeastSquares()])
def test_a_reversed_wrench_is_refuted_and_named(make_problem: Any, load: np.ndarray, estimator: Any) -> None:
    """Whether or not the method looks among possible bodies only."""
    problem = make_problem()
    turned = dataclasses.replace(problem, y=-problem.y)
    found = estimator.fit(turned)
    refutation = refutation_of(turned, found, estimator)
    assert refutation is not None
    (cause,) = refutation.causes
    assert cause.cause == "wrench-sign"
    assert f"The reversed wrench gives {estimator.fit(problem).mass:.4f} +-" in cause.sentence
    assert "measures='reaction'" in refutation.sentence
    assert cause.residual_after == pytest.approx(np.sqrt(3) * 0.5, rel=0.1), "the noise of the force"
    assert cause.residual_after <= cause.residual_before
    # Somebody who had said reaction is told the opposite.
    other = refutation_of(turned, found, estimator, "reaction")
    assert other is not None
    assert "measures='action'" in other.sentence


@pytest.mark.parametrize("level", [1e-3, 1.0])
def test_sound_data_are_not_refuted(make_problem: Any, level: float) -> None:
    rod = InertialParameters.box(1.0, (1e-4, 1e-4, 0.2)).phi
    for phi in (None, rod):
        for seed in range(10):
            problem = make_problem(level=level, seed=seed, samples=300, phi=phi)
            for estimator in (ConsistentLeastSquares(), WeightedLeastSquares()):
                assert refutation_of(problem, estimator.fit(problem), estimator) is None


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
    refutation = refutation_of(mixed, found, ConsistentLeastSquares())
    assert refutation is not None
    assert refutation.causes == ()
    assert "Look at the sensor's sign, axes" in refutation.sentence


def test_the_mark_stays_with_the_result(make_problem: Any, tmp_path: Path) -> None:
    problem = make_problem()
    turned = dataclasses.replace(problem, y=-problem.y)
    found = ConsistentLeastSquares().fit(turned)
    found = dataclasses.replace(found, refutation=refutation_of(turned, found, ConsistentLeastSquares()))
    assert found.assessment["verdict"] == "refuted"
    assert verdict_on(found).level == "refuted"
    found.save(tmp_path / "result.json")
    again = Estimate.load(tmp_path / "result.json")
    assert again.refutation == found.refutation
    with pytest.raises(RefutedResultError, match="The reversed wrench gives"):
        iparam.fuse_estimates([again, found])
    text = (tmp_path / "result.json").read_text()
    (tmp_path / "result.json").write_text(text.replace('"causes": [', '"causes": [3, '))
    with pytest.raises(FileFormatError, match=r"assessment\.causes must be a list of objects"):
        Estimate.load(tmp_path / "result.json")


def test_verdicts_of_sound_results(make_problem: Any) -> None:
    found = ConsistentLeastSquares().fit(make_problem(level=0.1))
    assert found.assessment == {"verdict": "good", "sentence": verdict_on(found).sentence, "causes": []}
    warned = dataclasses.replace(found, warnings=("something",))
    assert warned.assessment["verdict"] == "usable"
    part = dataclasses.replace(found, phi=np.where(np.arange(10) < 4, found.phi, np.nan))
    assert part.assessment["verdict"] == "usable"
