"""A result at rest is loaded as an estimate of which the inertia is not known, and goes where such an estimate goes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, t

import iparam
from iparam.errors import FileFormatError, IparamError
from iparam.estimation.estimate import Refutation

CENTER = np.array([0.01, -0.02, 0.08])


def static(seed: int = 0, **changes: Any) -> iparam.StaticEstimate:
    """Of a load of 2 kg at rest in five poses of a UR5e, by the command's own code."""
    rng = np.random.default_rng(seed)
    robot = iparam.load_robot("ur5e")
    poses = np.radians([90, -90, 90, 0, 0, 0]) + np.radians(
        [
            [0, 0, 0, -90, -90, 90],
            [0, 0, 0, 0, -85, 150],
            [0, 0, 0, -105, 30, 175],
            [0, 0, 0, -210, -95, 115],
            [0, 0, 0, -165, -20, 35],
        ]
    )
    time = np.arange(0.0, 5.0, 0.01)
    q = poses[(time // 1.0).astype(int)]
    still = np.zeros_like(q)
    load = iparam.InertialParameters(2.0, CENTER, np.diag([0.01, 0.01, 0.01]))
    wrench = iparam.wrench_regressor(robot, q, still, still) @ load.phi + rng.normal(0.0, 0.05, (len(time), 6))
    recording = iparam.Recording(robot="ur5e").with_signal("q", time=time, values=q)
    recording = recording.with_signal("wrench", time=time, values=wrench)
    return dataclasses.replace(iparam.identify_static(recording, robot), **changes)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    static().save(tmp_path / "rests.json")
    return tmp_path / "rests.json"


def test_what_rests_tell_is_in_the_estimate_and_the_inertia_is_not(saved: Path) -> None:
    at_rest, found = static(), iparam.Estimate.load(saved)
    assert (found.method, found.frame, found.robot) == ("static", "tool0", "ur5e")
    assert found.determined == ("mass", "center_of_mass")
    assert found.mass == at_rest.mass
    np.testing.assert_array_equal(found.center_of_mass, at_rest.center_of_mass)
    assert np.isnan(found.inertia_about_com).all()
    assert np.isnan(found.covariance_phi[4:]).all()
    # the same 95 % interval as Student's, whatever its degrees of freedom
    assert 1.96 * found.standard_deviation.mass == pytest.approx(
        at_rest.interval_factor * at_rest.standard_deviation.mass, rel=1e-4
    )
    assert at_rest.interval_factor == pytest.approx(t.ppf(0.975, 3 * len(at_rest.rests) - 6))
    np.testing.assert_allclose(
        norm.ppf(0.975) * np.sqrt(np.diag(found.covariance_phi)[:4]),
        at_rest.interval_factor * np.sqrt(np.diag(at_rest.covariance)[:4]),
        rtol=1e-6,
    )
    assert found.samples == sum(rest.samples for rest in at_rest.rests)
    assert "The inertia cannot be seen at rest" in found.to_see_the_rest
    assert found.assessment["verdict"] == "usable"


def test_it_is_saved_and_loaded_as_any_other_part(saved: Path, tmp_path: Path) -> None:
    found = iparam.Estimate.load(saved)
    found.save(tmp_path / "part.json")
    again = iparam.Estimate.load(tmp_path / "part.json")
    np.testing.assert_array_equal(again.covariance_phi, found.covariance_phi)
    assert again.determined == found.determined


def test_two_days_of_rests_are_fused_and_one_of_them_twice_is_refused(saved: Path, tmp_path: Path) -> None:
    static(seed=1).save(tmp_path / "other.json")
    one, other = iparam.Estimate.load(saved), iparam.Estimate.load(tmp_path / "other.json")
    fused = iparam.fuse_estimates([one, other])
    assert fused.standard_deviation.mass < one.standard_deviation.mass
    assert abs(fused.mass - 2.0) < 4.0 * fused.standard_deviation.mass
    with pytest.raises(IparamError, match="come from the same measured signal"):
        iparam.fuse_estimates([one, one])


def test_rests_that_refute_their_load_refute_the_estimate(tmp_path: Path) -> None:
    static(refutation=Refutation("The rests contradict each other.")).save(tmp_path / "rests.json")
    refuted = iparam.Estimate.load(tmp_path / "rests.json").refutation
    assert refuted is not None
    assert refuted.reason == "The rests contradict each other."


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mass", None),
        ("center_of_mass", [1.0, 2.0]),
        ("covariance_mass_first_moment_bias", [[1.0]]),
        ("interval_95_factor", "two"),
        ("rests", [{"samples": None}]),
        ("residual_rms", None),
    ],
)
def test_a_damaged_file_says_where(key: str, value: object, saved: Path) -> None:
    document = json.loads(saved.read_text(encoding="utf-8"))
    document[key] = value
    saved.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(FileFormatError, match=key):
        iparam.Estimate.load(saved)
