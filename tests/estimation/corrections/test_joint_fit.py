"""Corrections estimated along with the load: the mistake is found, the load is back within its interval, which widens,
and what the motion cannot tell is said.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import iparam
from iparam.errors import InputError, IparamError
from iparam.estimation import compare_methods
from iparam.estimation.estimate import Estimate
from iparam.recording import Recording
from iparam.sensing import Correction
from iparam.sensing.correction import wrench_transform

SURE = 4.0
"""Standard deviations within which a truth lies."""


@pytest.fixture(scope="module")
def recorded(synthetic_recording, excitation) -> Recording:
    return synthetic_recording(excitation.q, excitation.dq, excitation.ddq, rate=100.0)


def spoilt(recording: Recording, wrench: Callable[[np.ndarray], np.ndarray], name: str = "wrench") -> Recording:
    signal = recording.signal(name)
    return recording.with_signal(name, time=signal.time, values=wrench(signal.values))


def deviations_off(estimate: Estimate, truth: np.ndarray) -> float:
    return float(np.abs((estimate.phi - truth) / estimate.standard_deviation.phi).max())


def found_within(estimate: Estimate, name: str, truth: np.ndarray) -> bool:
    value, deviation = np.atleast_1d(getattr(estimate.correction, name)), estimate.correction_deviations[name]
    return bool((np.abs(value - truth) <= SURE * np.maximum(deviation, 1e-9)).all())


@pytest.mark.thorough
def test_a_sensor_that_is_turned_by_a_quarter_and_sits_elsewhere(recorded, ur5e, load) -> None:
    angles, place = np.array([2.0, -3.0, 95.0]), np.array([0.01, -0.02, 0.04])
    back = np.linalg.inv(wrench_transform(angles, place))
    run = spoilt(recorded, lambda values: values @ back.T)
    assert iparam.identify_payload(run, ur5e).refutation is not None
    unknown = Correction(sensor_rotation="estimate", sensor_offset="estimate")
    estimate = iparam.identify_payload(run, ur5e, correction=unknown)
    assert deviations_off(estimate, load) < SURE
    assert found_within(estimate, "sensor_rotation", angles)
    assert found_within(estimate, "sensor_offset", place)
    known = Correction(sensor_rotation=tuple(angles), sensor_offset=tuple(place))
    given = iparam.identify_payload(run, ur5e, correction=known)
    # The spectrum of the noise is estimated in each fit by itself.
    assert (estimate.standard_deviation.phi >= 0.9 * given.standard_deviation.phi).all()
    assert given.correction_deviations == {}
    assert given.correction == known


def test_a_gain_of_one_channel(recorded, ur5e, load) -> None:
    estimate = iparam.identify_payload(
        spoilt(recorded, lambda values: values * [1.0, 1.0, 1.25, 1.0, 1.0, 1.0]),
        ur5e,
        correction=Correction(wrench_scale="estimate"),
    )
    assert found_within(estimate, "wrench_scale", np.array([1.0, 1.0, 0.8, 1.0, 1.0, 1.0]))
    assert deviations_off(estimate, load) < SURE
    assert "common-gain-unseen" in [one.code for one in estimate.remarks]


def test_a_tilted_base_a_fast_clock_and_a_zero_of_the_joints(recorded, ur5e, load) -> None:
    tilted = np.array([0.0, 9.81 * np.sin(0.3), -9.81 * np.cos(0.3)])
    q = recorded.signal("q")
    y = recorded.signal("wrench")
    motion = iparam.motion.KalmanMotion().motion(recorded, ur5e)
    change = (motion.regressor(ur5e, tilted) - motion.regressor(ur5e)) @ load
    estimate = iparam.identify_payload(
        recorded.with_signal("wrench", time=y.time, values=y.values + change),
        ur5e,
        correction=Correction(gravity="estimate"),
    )
    assert found_within(estimate, "gravity", tilted)
    assert deviations_off(estimate, load) < SURE

    fast = recorded
    for name, signal in recorded.signals.items():
        fast = fast.with_signal(name, time=1.1 * signal.time, values=signal.values)
    estimate = iparam.identify_payload(fast, ur5e, correction=Correction(clock="estimate"))
    assert found_within(estimate, "clock", np.array([1.0 / 1.1]))
    assert deviations_off(estimate, load) < SURE

    off = np.array([0.0, 1.0, -1.0, 2.0, -3.0, 4.0])
    turned = recorded.with_signal("q", time=q.time, values=q.values - np.radians(off)).without_signal("target_q")
    estimate = iparam.identify_payload(turned, ur5e, correction=Correction(joint_offset="estimate"))
    assert found_within(estimate, "joint_offset", off)
    assert deviations_off(estimate, load) < SURE
    # The base turns about the vertical: no load shows that.
    (still,) = (one for one in estimate.remarks if one.code == "correction-open")
    assert (still.values["field"], still.values["joints"]) == ("joint_offset", " of joint 1")


def test_a_pull_and_a_low_pass(recorded, ur5e, load) -> None:
    y, q = recorded.signal("wrench"), recorded.signal("q").values
    pull = np.array([3.0, -1.0, 5.0, 0.03, 0.02, 0.09])
    force = np.einsum("tji,j->ti", iparam.forward_kinematics(ur5e, q)[:, :3, :3], pull[:3])
    values = y.values.copy()
    values[:, :3] -= force
    values[:, 3:] -= np.cross(pull[3:], force)
    estimate = iparam.identify_payload(
        recorded.with_signal("wrench", time=y.time, values=values),
        ur5e,
        correction=Correction(external_force="estimate"),
    )
    assert found_within(estimate, "external_force", pull)
    assert deviations_off(estimate, load) < SURE

    clean = iparam.identify_payload(recorded, ur5e, correction=Correction(low_pass="estimate"))
    assert clean.correction.low_pass is None
    assert "no-low-pass" in [one.code for one in clean.remarks]


def test_dead_channels_and_a_bias_that_jumps(recorded, ur5e, load) -> None:
    y = recorded.signal("wrench")
    dead = y.values.copy()
    dead[:, 1] = 0.0
    run = recorded.with_signal("wrench", time=y.time, values=dead)
    assert iparam.identify_payload(run, ur5e).refutation is not None
    estimate = iparam.identify_payload(run, ur5e, correction=Correction(without=("fy",)))
    assert deviations_off(estimate, load) < SURE
    assert estimate.refutation is None
    methods = ("ls", "wls", "tls", "rls", "robust", "logchol")
    compared = compare_methods(run, ur5e, methods, correction=Correction(without=("fy", "tz")))
    assert tuple(compared.estimates) == methods
    for method, other in compared.estimates.items():
        assert deviations_off(other, load) < SURE, method
    forces = iparam.identify_payload(recorded, ur5e, correction=Correction(without=("tx", "ty", "tz")))
    assert "inertia_about_com" not in forces.determined
    unknown = Correction(without=("tx", "ty", "tz"), sensor_rotation="estimate")
    with pytest.raises(IparamError, match=r"all ten of its parameters|cannot be told"):
        iparam.identify_payload(recorded, ur5e, correction=unknown)

    jumped = y.values.copy()
    jumped[y.time > 4.0] += [5.0, -3.0, 2.0, 0.3, 0.2, -0.1]
    run = recorded.with_signal("wrench", time=y.time, values=jumped)
    estimate = iparam.identify_payload(run, ur5e, correction=Correction(rezeroed=(4.0,)))
    assert deviations_off(estimate, load) < SURE
    assert estimate.time_correlation < 1.5
    with pytest.raises(InputError, match="rezeroed must be within the run"):
        iparam.identify_payload(run, ur5e, correction=Correction(rezeroed=(40.0,)))
    with pytest.raises(InputError, match="rezeroed"):
        iparam.identify_payload(run, ur5e, bias="none", correction=Correction(rezeroed=(4.0,)))


def test_a_result_says_what_was_corrected_and_is_read_back(recorded, ur5e, tmp_path) -> None:
    wanted = Correction(sensor_offset="estimate", exclude=((2.0, 3.0),), without=("tx",))
    estimate = iparam.identify_payload(recorded, ur5e, correction=wanted)
    estimate.save(tmp_path / "result.json")
    again = Estimate.load(tmp_path / "result.json")
    assert again.correction == estimate.correction
    assert again.correction.exclude == ((2.0, 3.0),)
    assert again.correction_deviations == estimate.correction_deviations
    assert "correction" not in iparam.identify_payload(recorded, ur5e).to_document()


def test_what_cannot_be_estimated_is_refused(recorded, ur5e) -> None:
    with pytest.raises(InputError, match="identify_payload"):
        iparam.estimation.problem_from_recording(recorded, ur5e, correction=Correction(clock="estimate"))
    unknown = Correction(wrench_scale="estimate", wrench_frame="base")
    with pytest.raises(InputError, match="base axes"):
        iparam.identify_payload(recorded, ur5e, correction=unknown)
    with pytest.raises(InputError, match="twice"):
        iparam.identify_payload(recorded, ur5e, delay=0.01, correction=Correction(delay=0.02))
