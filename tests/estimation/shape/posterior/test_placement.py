"""Where a shape is in the hand: found where the data tell it, and said where they do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.arrays import FloatArray
from iparam.cli.options.shape import ShapeOptions
from iparam.estimation import PayloadProblem, Shape, ShapeEstimator
from iparam.estimation.shape.posterior.placement import _starts, placed_posterior
from iparam.estimation.shape.posterior.rows import DataRows
from iparam.spatial import exp_se3, inverse_transform, log_so3

AWAY = exp_se3([0.2, -0.25, 0.3, 0.02, -0.01, 0.015])
PRECISE = np.array([1e-4, *[1e-5] * 3, *[1e-5] * 6])


def rows_of(body: iparam.InertialParameters, deviations: FloatArray) -> DataRows:
    rows = np.zeros((len(deviations), 10))
    rows[:, : len(deviations)] = np.diag(1.0 / deviations)
    return DataRows(rows, rows @ body.phi + np.random.default_rng(0).standard_normal(len(deviations)))


def test_a_shape_that_is_roughly_placed_is_found(hammer: Shape) -> None:
    body = hammer.body(0.6, [1.0, 5.0])
    given = hammer.placed(inverse_transform(AWAY))
    found, placement = placed_posterior(given.roughly(0.02, 0.35), rows_of(body, PRECISE), 0.6)
    assert placement is not None
    # The true pose of the file's frame is that of the tool.
    assert (np.abs(placement.pose[:3, 3]) < 3.0 * placement.deviation[:3]).all()
    assert (np.abs(log_so3(placement.pose[:3, :3])) < 3.0 * placement.deviation[3:]).all()
    assert np.linalg.norm(log_so3(placement.pose[:3, :3])) < 0.3 * np.linalg.norm(log_so3(AWAY[:3, :3]))
    moved = np.abs(found.phi - body.phi) / np.sqrt(np.diag(found.covariance))
    assert moved.max() < 4.0
    assert "estimated along" in placement.remark
    fixed, none = placed_posterior(given, rows_of(body, PRECISE), 0.6)
    assert none is None
    assert fixed.wrong > 0.5  # there, it is not


def test_rests_do_not_tell_the_turn_and_it_is_said(hammer: Shape) -> None:
    body = hammer.body(0.6, [1.0, 5.0])
    rest = rows_of(body, np.array([1e-3, *[1e-4] * 3]))
    given = hammer.placed(inverse_transform(AWAY)).roughly(0.02, 0.35)
    found, placement = placed_posterior(given, rest, 0.6)
    assert placement is not None
    assert "do not tell how it is turned" in placement.remark
    assert (placement.deviation[3:] > 0.2).all()
    inertia = slice(4, 10)
    sure = placed_posterior(hammer, rest, 0.6)[0]
    assert (np.sqrt(np.diag(found.covariance))[inertia] > np.sqrt(np.diag(sure.covariance))[inertia]).all()
    assert (np.abs(found.phi - body.phi)[inertia] < 3.0 * np.sqrt(np.diag(found.covariance))[inertia]).all()


def test_a_turn_of_which_nothing_is_known_is_begun_from_all_sides(hammer: Shape) -> None:
    starts = _starts(hammer.roughly())
    assert len(starts) == 24
    assert np.allclose([np.linalg.det(T[:3, :3]) for T in starts], 1.0)
    angles = [np.linalg.norm(log_so3(starts[0][:3, :3].T @ T[:3, :3])) for T in starts]
    assert np.ptp(angles) == pytest.approx(np.pi)
    assert len(_starts(hammer.roughly(0.02, 0.3))) == 1


def test_the_result_holds_the_pose(hammer: Shape, make_problem: Callable[..., PayloadProblem], tmp_path: Path) -> None:
    given = hammer.placed(inverse_transform(AWAY)).roughly(0.02, 0.35)
    found = ShapeEstimator(given).fit(make_problem(hammer.body(0.6), speed=2.0, noise=0.1))
    assert any(text.startswith("Where the shape is") for text in found.warnings)
    found.save(tmp_path / "r.json")
    again = iparam.Estimate.load(tmp_path / "r.json").shape
    assert again is not None
    assert again.pose is not None
    assert again.pose.shape == (4, 4)
    assert "shape turned" in str(found)


@pytest.mark.parametrize(
    ("typed", "words"), [(("guess",), "'estimate'"), (("estimate", "1"), "6 numbers"), (("1", "2"), "6 numbers")]
)
def test_a_pose_that_cannot_be_is_refused(typed: tuple[str, ...], words: str, tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    lines = [f"{x},{y},{z},1e-6" for x in (0.0, 0.1) for y in (0.0, 0.1) for z in (0.0, 0.1)]
    file.write_text("\n".join(["x,y,z,volume", *lines]), encoding="utf-8")
    with pytest.raises(iparam.IparamError, match=words):
        ShapeOptions(shape=file, shape_pose=typed).known_shape()
    movable = ShapeOptions(shape=file, shape_pose=("estimate", "0", "0", "0.1", "0", "0", "90")).known_shape()
    assert movable is not None
    assert movable.movable
    assert movable.pose[2, 3] == 0.1
