"""Mass, centre of mass and bias from rests: the truth is recovered, the intervals hold, poor data are refused."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.arrays import FloatArray
from iparam.errors import InputError, UnknownNameError
from iparam.estimation.errors import IdentificationError, NotIdentifiableError
from iparam.estimation.static.identify import StaticEstimate, identify_static
from iparam.estimation.static.rests import find_rests
from iparam.excitation.search.start_pose import default_start
from iparam.sensing.correction import Correction
from iparam.spatial.transforms import exp_so3

UR5E = iparam.load_robot("ur5e")
START = default_start(UR5E)
POSES = np.radians(
    [
        [90, -90, 90, -90, -90, 90],
        [90, -90, 90, 0, -85, 150],
        [90, -90, 90, -105, 30, 175],
        [90, -90, 90, -210, -95, 115],
        [90, -90, 90, -165, -20, 35],
        [90, -90, 90, -120, -40, 140],
    ]
)
RATE, REST, MOVE = 250.0, 1.0, 1.2
BIAS = np.array([3.0, -2.0, 1.5, 0.2, -0.1, 0.15])
NOISE = np.array([0.5] * 3 + [0.05] * 3)
LOAD = iparam.InertialParameters.box(1.8, [0.1, 0.15, 0.2]).transformed(
    np.array([[1, 0, 0, 0.02], [0, 1, 0, -0.03], [0, 0, 1, 0.09], [0, 0, 0, 1.0]])
)


def motion_through(poses: FloatArray, rest: float = REST) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Time and q, dq, ddq of rests joined by moves of least jerk."""
    stay, move = round(rest * RATE), round(MOVE * RATE)
    s = np.arange(1, move) / move
    parts = [[poses[0] + np.zeros((stay, 6)), np.zeros((stay, 6)), np.zeros((stay, 6))]]
    for first, last in pairwise(poses):
        shapes = (
            10 * s**3 - 15 * s**4 + 6 * s**5,
            (30 * s**2 - 60 * s**3 + 30 * s**4) / MOVE,
            (60 * s - 180 * s**2 + 120 * s**3) / MOVE**2,
        )
        parts.append([(i == 0) * first + shape[:, None] * (last - first) for i, shape in enumerate(shapes)])
        parts.append([last + np.zeros((stay, 6)), np.zeros((stay, 6)), np.zeros((stay, 6))])
    q, dq, ddq = (np.vstack([part[i] for part in parts]) for i in range(3))
    return np.arange(len(q)) / RATE, q, dq, ddq


def recording_of(
    poses: FloatArray, seed: int = 0, noise: float = 1.0, rest: float = REST, between: float = 0.0
) -> iparam.Recording:
    time, q, dq, ddq = motion_through(poses, rest)
    rng = np.random.default_rng(seed)
    wrench = iparam.wrench_regressor(UR5E, q, dq, ddq) @ LOAD.phi + BIAS
    wrench += noise * NOISE * rng.standard_normal(wrench.shape)
    cycle = (rest + MOVE) * RATE
    offsets = between * NOISE * rng.standard_normal((len(poses) + 1, 6))
    wrench += offsets[((np.arange(len(time)) + 0.5 * MOVE * RATE) // cycle).astype(int)]
    angles = q + noise * 5e-5 * rng.standard_normal(q.shape)
    empty = iparam.Recording(robot="ur5e")
    return empty.with_signal("q", time=time, values=angles).with_signal("wrench", time=time, values=wrench)


def scores(estimate: StaticEstimate) -> FloatArray:
    """Errors of mass and centre of mass in standard deviations."""
    deviation = estimate.standard_deviation
    errors = np.append(estimate.mass - LOAD.mass, estimate.center_of_mass - LOAD.center_of_mass)
    ratio: FloatArray = errors / np.append(deviation.mass, deviation.center_of_mass)
    return ratio


def test_without_noise_the_truth_comes_out() -> None:
    estimate = identify_static(recording_of(POSES, noise=0.0), UR5E)
    assert estimate.mass == pytest.approx(LOAD.mass, rel=1e-5)
    np.testing.assert_allclose(estimate.center_of_mass, LOAD.center_of_mass, atol=1e-6)
    np.testing.assert_allclose(estimate.sensor_bias.force, BIAS[:3], atol=1e-4)
    np.testing.assert_allclose(estimate.sensor_bias.torque, BIAS[3:], atol=1e-5)
    assert estimate.num_poses == len(estimate.rests) == 6


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("count", [4, 6])
@pytest.mark.parametrize("between", [0.0, 0.5])
def test_the_intervals_hold_the_truth_as_often_as_they_say(count: int, between: float) -> None:
    found = [identify_static(recording_of(POSES[:count], seed, between=between), UR5E) for seed in range(40)]
    inside = np.array([np.abs(scores(estimate)) <= estimate.interval_factor for estimate in found])
    assert (inside.sum(axis=0) >= 33).all()  # fewer have a probability of 1e-3 at 95 %
    # Nor are they too wide. With t-distributed scores the median is robust; that of |N(0, 1)| is 0.67.
    assert 0.4 < np.median([np.abs(scores(estimate)) for estimate in found]) < 0.95


def test_scatter_between_the_rests_widens_the_intervals_and_is_said() -> None:
    calm = identify_static(recording_of(POSES, 1), UR5E)
    rough = identify_static(recording_of(POSES, 1, between=1.0), UR5E)
    assert calm.remarks == ()
    assert rough.standard_deviation.mass > 3.0 * calm.standard_deviation.mass
    said = [one.values for one in rough.remarks if one.code == "rests-disagree"]
    assert "forces" in [values["quantity"] for values in said]
    assert all(values["factor"] > 1.0 for values in said)


def test_a_load_above_the_rating_is_remarked_and_not_refuted() -> None:
    recording = recording_of(POSES)
    signal = recording.signal("wrench")
    heavy = recording.with_signal("wrench", time=signal.time, values=4.5 * signal.values)
    found = identify_static(heavy, UR5E)
    assert [one.code for one in found.remarks] == ["above-rated-load"]
    assert found.refutation is None
    assert found.mass == pytest.approx(8.1, rel=0.05)


def test_vibration_after_an_arrival_is_left_out() -> None:
    recording = recording_of(POSES, noise=0.0)
    signal = recording.signal("wrench")
    since = np.mod(signal.time, REST + MOVE)  # every rest begins with it
    shaking = 20.0 * np.exp(-since / 0.03) * np.cos(60.0 * since)
    shaken = recording.with_signal("wrench", time=signal.time, values=signal.values + shaking[:, None] * NOISE)
    assert identify_static(shaken, UR5E).mass == pytest.approx(LOAD.mass, rel=1e-4)


def test_rests_are_found_where_they_are() -> None:
    recording = recording_of(POSES)
    rests = find_rests(recording.signal("q"), recording.signal("wrench"))
    assert len(rests) == 6
    for i, rest in enumerate(rests):
        begin = i * (REST + MOVE)
        assert begin <= rest.start < rest.stop <= begin + REST + 0.02
        assert rest.stop - rest.start > 0.5
        np.testing.assert_allclose(rest.q, POSES[i], atol=2e-5)


def test_short_rests_are_enough_and_shorter_ones_are_none() -> None:
    assert identify_static(recording_of(POSES, rest=0.32), UR5E).num_poses == 6
    with pytest.raises(IdentificationError, match="no rest"):
        identify_static(recording_of(POSES, rest=0.1), UR5E)


def test_the_wrench_may_have_its_own_rate() -> None:
    recording = recording_of(POSES, noise=0.0)
    signal = recording.signal("wrench")
    slow = recording.with_signal("wrench", time=signal.time[::5] + 0.001, values=signal.values[::5])
    assert identify_static(slow, UR5E).mass == pytest.approx(LOAD.mass, rel=1e-4)


def test_three_poses_are_refused_with_the_direction_that_is_missing() -> None:
    poses = np.radians([[90, -90, 90, -90, -90, 90], [90, -90, 90, 0, -90, 90], [90, -90, 90, -180, -90, 90]])
    with pytest.raises(
        NotIdentifiableError, match=r"only 3 different directions.* gravity along [+-][xyz] of the tool frame"
    ):
        identify_static(recording_of(poses), UR5E)
    with pytest.raises(NotIdentifiableError, match="has 6 rests, and gravity has only 3"):
        identify_static(recording_of(np.vstack([poses, poses])), UR5E)


def test_poses_that_differ_about_the_vertical_only_are_refused() -> None:
    poses = np.array([START] * 5)
    poses[:, 0] += [0.0, 0.5, 1.0, 1.5, -0.5]
    with pytest.raises(NotIdentifiableError, match="same direction in the tool in all") as caught:
        identify_static(recording_of(poses), UR5E)
    assert "along -z" in str(caught.value)  # the tool points down: gravity is along +z


def test_a_recording_in_motion_has_no_rest() -> None:
    time = np.arange(2500) / RATE
    q = START + 0.3 * np.sin(2 * np.pi * time[:, None] * np.array([0.2, 0.3, 0.4, 0.5, 0.6, 0.7]) + np.arange(6))
    moving = iparam.Recording().with_signal("q", time=time, values=q)
    moving = moving.with_signal("wrench", time=time, values=np.ones((2500, 6)))
    with pytest.raises(IdentificationError, match=r"no rest.*excite poses"):
        identify_static(moving, UR5E)


def test_what_no_sensor_with_a_load_shows_is_refused() -> None:
    recording = recording_of(POSES)
    signal = recording.signal("wrench")

    def showing(values: FloatArray) -> iparam.Recording:
        return recording.with_signal("wrench", time=signal.time, values=values)

    with pytest.raises(IdentificationError, match="connected"):
        identify_static(showing(np.ones_like(signal.values)), UR5E)
    with pytest.raises(IdentificationError, match="negative mass"):
        identify_static(showing(-signal.values), UR5E)
    with pytest.raises(IdentificationError, match="not above zero"):
        identify_static(showing(np.random.default_rng(3).standard_normal(signal.values.shape)), UR5E)
    with pytest.raises(InputError, match="gravity must not be zero"):
        identify_static(recording, UR5E, gravity=[0, 0, 0])
    with pytest.raises(UnknownNameError, match="wrench"):
        identify_static(iparam.Recording(signals={"q": recording.signal("q")}), UR5E)


def test_the_file_says_that_the_inertia_is_unknown(tmp_path: Path) -> None:
    estimate = identify_static(recording_of(POSES), UR5E)
    estimate.save(tmp_path / "static.json")
    document = json.loads((tmp_path / "static.json").read_text())
    assert document["format"] == "iparam-static-result/1"
    assert document["inertia_about_com"] is None
    assert "inertia cannot be seen at rest" in document["status"]
    assert document["mass"] == estimate.mass
    assert len(document["rests"]) == document["num_poses"] == 6


def test_a_sensor_that_is_turned_on_the_tool_is_told_with_its_load_in_tool_axes() -> None:
    recording = recording_of(POSES)
    wrench = recording.signal("wrench")
    turn = exp_so3(np.radians([0.0, 0.0, -30.0]))  # from tool axes into those of the sensor
    values = np.hstack([wrench.values[:, :3] @ turn.T, wrench.values[:, 3:] @ turn.T])
    turned = recording.with_signal("wrench", time=wrench.time, values=values)
    found = identify_static(turned, UR5E)
    assert found.assessment["verdict"] == "usable"  # by intervals that have the truth in them
    assert found.causes[0].cause == "sensor-rotation"
    off = np.abs(np.array([found.mass, *found.center_of_mass]) - [LOAD.mass, *LOAD.center_of_mass])
    assert (off < 2.0 * np.array([found.standard_deviation.mass, *found.standard_deviation.center_of_mass])).all()
    assert "rests-hold-more" in [one.code for one in found.remarks]
    assert list(found.causes[0].fix) == ["sensor_rotation"]
    correction = Correction.from_document(found.causes[0].fix)
    right = identify_static(correction.applied(turned, UR5E), UR5E)
    assert right.causes == ()
    np.testing.assert_allclose(right.center_of_mass, LOAD.center_of_mass, atol=2e-3)
