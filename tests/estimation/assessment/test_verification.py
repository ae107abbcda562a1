"""`verify_estimate`: a true load passes, a wrong one fails, whatever the bias."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

import iparam
from iparam.errors import InputError
from iparam.estimation import Estimate, IdentificationError, compensate_wrench, verify_estimate
from iparam.estimation.estimate import Refutation
from iparam.estimation.payload.estimate_assembly import widened
from iparam.recording import Recording
from iparam.sensing.noise import noise_preset

DATA = Path(__file__).resolve().parents[2] / "data"


def heavier(estimate: Estimate, factor: float) -> Estimate:
    return dataclasses.replace(estimate, mass=factor * estimate.mass, phi=factor * estimate.phi)


def test_a_good_estimate_predicts_another_motion(run: Any, other_run: Any) -> None:
    found = verify_estimate(run.estimate, other_run.recording, run.robot)
    assert found.passed
    assert found.by_noise == pytest.approx(np.ones(6), abs=0.25)
    assert found.noise_source == "noise preset ur5e"
    assert found.noise == pytest.approx([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])
    assert (found.by_signal[:5] < 0.2).all()
    assert found.offset_fitted
    assert found.samples == 401
    assert "predicts this run" in found.sentence


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_a_wrong_mass_fails(run: Any, other_run: Any, factor: float) -> None:
    found = verify_estimate(heavier(run.estimate, factor), other_run.recording, run.robot)
    assert not found.passed
    assert "does not predict" in found.sentence
    assert found.as_json()["passed"] is False
    assert found.best_scale == pytest.approx(1.0 / factor, rel=0.02)


def test_the_bias_of_another_run_is_another(run: Any, other_run: Any) -> None:
    assert verify_estimate(run.estimate, run.recording, run.robot, keep_bias=True).passed
    kept = verify_estimate(run.estimate, other_run.recording, run.robot, keep_bias=True)
    fitted = verify_estimate(run.estimate, other_run.recording, run.robot)
    assert (kept.rms >= fitted.rms).all()
    assert kept.rms[:3].max() > 1.5 * fitted.rms[:3].max()
    assert not kept.offset_fitted


def test_the_noise_is_estimated_where_nobody_tells_it(run: Any, other_run: Any) -> None:
    unnamed = dataclasses.replace(other_run.recording, metadata={})
    found = verify_estimate(run.estimate, unnamed, run.robot)
    assert found.noise_source.startswith("estimated")
    assert found.noise == pytest.approx([0.5, 0.5, 0.5, 0.05, 0.05, 0.05], rel=0.25)
    given = verify_estimate(run.estimate, unnamed, run.robot, wrench_noise=np.full(6, 0.01))
    assert given.noise_source == "given"
    assert not given.passed


def test_a_signal_without_noise_needs_no_perfect_prediction(run: Any, other_run: Any) -> None:
    found = verify_estimate(run.estimate, other_run.recording, run.robot, wrench_noise=np.zeros(6))
    floor = 3e-3 * np.repeat([found.signal[:3].max(), found.signal[3:].max()], 3)
    assert found.by_noise == pytest.approx(found.rms / np.maximum(floor, found.expected))
    assert (found.expected < floor).any()


def with_other_load(run: Any, phi: np.ndarray) -> Recording:
    """The run with a load phi (10,) in place of its own, and the same noise."""
    wrench = run.recording.signal("wrench")
    motion = run.trajectory.trajectory.evaluate(wrench.time)
    added = iparam.wrench_regressor(run.robot, motion.q, motion.dq, motion.ddq) @ (phi - run.truth.phi)
    return run.recording.with_signal("wrench", time=wrench.time, values=wrench.values + added)


def test_a_light_load_is_verified_as_well_as_it_is_known(run: Any, other_run: Any) -> None:
    """50 g in the noise of a UR5e: the run tells about as much as the result claims, and says how much."""
    phi = 0.025 * run.truth.phi
    estimate = iparam.identify_payload(with_other_load(run, phi), run.robot)
    other = with_other_load(other_run, phi)
    found = verify_estimate(estimate, other, run.robot)
    assert found.passed, found.sentence
    assert found.scale_deviation > 0.02
    assert "heavier or lighter would predict it as well" in found.sentence
    certain = dataclasses.replace(estimate, covariance_phi=1e-4 * estimate.covariance_phi)
    with pytest.raises(IdentificationError, match=r"cannot tell whether the load is right.*at most 6 %"):
        verify_estimate(certain, other, run.robot)
    assert not verify_estimate(heavier(estimate, 2.0), other, run.robot).passed
    vague = dataclasses.replace(estimate, covariance_phi=100.0 * estimate.covariance_phi)
    with pytest.raises(IdentificationError, match=r"nothing to verify.*\(at most 50 %\)"):
        verify_estimate(vague, other, run.robot)


def test_errors_of_motion_and_estimate_are_expected_in_the_residual(run: Any, other_run: Any) -> None:
    found = verify_estimate(run.estimate, other_run.recording, run.robot)
    assert (found.expected > found.noise).all()
    vague = dataclasses.replace(run.estimate, covariance_phi=25.0 * run.estimate.covariance_phi)
    widened = verify_estimate(vague, other_run.recording, run.robot)
    assert (widened.expected > found.expected).all()
    assert widened.scale_deviation > found.scale_deviation
    # Two tons: what the angles are off counts for more than the sensor's noise.
    certain = dataclasses.replace(run.estimate, phi=1000.0 * run.truth.phi, covariance_phi=1e-12 * np.eye(10))
    tons = verify_estimate(certain, with_other_load(other_run, certain.phi), run.robot)
    assert (tons.expected > 2.0 * found.noise).all()
    assert tons.by_noise.max() < 2.0


def still(run: Any, seconds: float = 4.0) -> Recording:
    """The arm holds its first pose."""
    count = round(100 * seconds)
    q = np.repeat(run.recording.signal("q").values[:1], count, axis=0)
    wrench = iparam.wrench_regressor(run.robot, q, 0 * q, 0 * q) @ run.truth.phi
    exact = Recording(robot="ur5e", metadata={"source": "simulation"}).with_signal(
        "q", time=np.arange(count) / 100, values=q
    )
    exact = exact.with_signal("wrench", time=np.arange(count) / 100, values=wrench)
    return noise_preset("ur5e").apply(exact, 5)


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_an_arm_that_stands_still_verifies_nothing(run: Any, factor: float) -> None:
    with pytest.raises(IdentificationError, match="cannot tell whether the load is right"):
        verify_estimate(heavier(run.estimate, factor), still(run), run.robot)


@pytest.mark.parametrize("corner", [20.0, 10.0])
def test_a_filtered_sensor_is_no_fault_of_the_load(run: Any, other_run: Any, corner: float) -> None:
    """Noise behind a low-pass: its second differences are far smaller than itself."""
    robot, truth = run.robot, run.truth
    trajectory = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    motion = trajectory.sample(500.0)
    pole = np.exp(-2 * np.pi * corner / 500.0)
    white = np.random.default_rng(0).standard_normal((motion.num_samples, 6)) * [2.0, 2.0, 2.0, 0.2, 0.2, 0.2]
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ truth.phi
    wrench = wrench + lfilter([1 - pole], [1, -pole], white, axis=0)
    recording = Recording(robot="ur5e", metadata={"source": "simulation"}).with_signal(
        "q", time=motion.time, values=motion.q
    )
    recording = recording.with_signal("wrench", time=motion.time, values=wrench)
    found = verify_estimate(run.estimate, recording, robot)
    assert found.passed, found.sentence
    assert found.by_noise == pytest.approx(np.ones(6), abs=0.35)
    assert not verify_estimate(heavier(run.estimate, 1.1), recording, robot).passed


def test_a_mass_that_is_ten_percent_off_fails_below_the_noise(run: Any, other_run: Any) -> None:
    found = verify_estimate(heavier(run.estimate, 1.1), other_run.recording, run.robot)
    assert not found.passed
    assert found.scale_deviation < 0.01


def test_a_wrench_that_comes_late_is_put_in_step(run: Any, other_run: Any) -> None:
    """As it is in the identification; so in what is left when the load is taken out."""
    wrench = other_run.recording.signal("wrench")
    late = other_run.recording.with_signal("wrench", dataclasses.replace(wrench, time=wrench.time + 0.03))
    found = verify_estimate(run.estimate, late, run.robot)
    assert found.passed, found.sentence
    assert [round(one.values["milliseconds"]) for one in found.remarks if one.code == "wrench-delayed"] == [30]
    assert not verify_estimate(run.estimate, late, run.robot, delay=0.0).passed
    clean, raw = (compensate_wrench(late, run.robot, run.estimate, delay=delay) for delay in (None, 0.0))
    assert "wrench-delayed" in [one.code for one in clean.remarks]
    assert clean.signal("wrench").values.std(axis=0)[:3].max() < 0.7 * raw.signal("wrench").values.std(axis=0)[:3].max()


def test_stamps_that_are_late_are_put_on_an_even_clock(run: Any, other_run: Any) -> None:
    source = other_run.recording
    stamps = source.signal("q").time
    late = np.sort(stamps + 5e-4 * np.random.default_rng(3).standard_normal(stamps.size))
    jittered = source
    for name, signal in source.signals.items():
        if np.array_equal(signal.time, stamps):
            jittered = jittered.with_signal(name, dataclasses.replace(signal, time=late))
    found = verify_estimate(run.estimate, jittered, run.robot)
    assert "stamps-scatter" in [one.code for one in found.remarks]
    assert found.rms == pytest.approx(verify_estimate(run.estimate, source, run.robot).rms, rel=0.02)


def test_bad_arguments(run: Any) -> None:
    with pytest.raises(InputError, match="threshold must be positive"):
        verify_estimate(run.estimate, run.recording, run.robot, threshold=0.0)
    with pytest.raises(InputError, match="no sensor bias to keep"):
        verify_estimate(dataclasses.replace(run.estimate, sensor_bias=None), run.recording, run.robot, keep_bias=True)
    with pytest.raises(InputError, match="6 standard deviations"):
        verify_estimate(run.estimate, run.recording, run.robot, wrench_noise=-np.ones(6))


def test_the_same_motion_again_is_told(run: Any, other_run: Any) -> None:
    """With other noise, cut, and played backwards; another motion is another."""
    assert verify_estimate(run.estimate, other_run.recording, run.robot).same_motion is False
    angles, wrench = run.recording.signal("q"), run.recording.signal("wrench")
    random = np.random.default_rng(5)
    again = run.recording.with_signal(
        "wrench", time=wrench.time, values=wrench.values + 0.01 * random.standard_normal(wrench.values.shape)
    )
    again = again.with_signal(
        "q", time=angles.time, values=angles.values + 1e-4 * random.standard_normal(angles.values.shape)
    )
    for repeated in (again, again.slice(0.5, float(angles.time[-1]))):
        found = verify_estimate(run.estimate, repeated, run.robot)
        assert found.same_motion
        assert "same-motion" in [one.code for one in found.remarks]
        assert found.as_json()["same_motion"] is True
    unknown = dataclasses.replace(run.estimate, path=None)
    assert verify_estimate(unknown, again, run.robot).shared_motion is None


def test_only_a_known_mass_shows_a_gain_that_all_channels_share(run: Any, other_run: Any) -> None:
    """Both runs with 10 % too much of everything: every residual is noise, and the mass is wrong."""

    def louder(recording: Recording) -> Recording:
        wrench = recording.signal("wrench")
        return recording.with_signal("wrench", time=wrench.time, values=1.1 * wrench.values)

    estimate = iparam.identify_payload(louder(run.recording), run.robot)
    other = louder(other_run.recording)
    assert verify_estimate(estimate, other, run.robot).passed
    weighed = verify_estimate(estimate, other, run.robot, known_mass=run.estimate.mass)
    assert not weighed.passed
    assert "1.1" in weighed.sentence
    assert "No residual shows that" in weighed.sentence
    assert verify_estimate(estimate, other, run.robot, known_mass=1.1 * run.estimate.mass).passed
    loose = verify_estimate(estimate, other, run.robot, known_mass=run.estimate.mass, mass_tolerance=0.2)
    assert loose.passed
    with pytest.raises(InputError, match="known_mass"):
        verify_estimate(estimate, other, run.robot, known_mass=-1.0)


def test_a_scale_verifies_what_is_wide_for_doubt_of_the_scale(run: Any, other_run: Any) -> None:
    """All forces may be twice too large, say the intervals: to weigh the load settles that, as the advice says."""
    doubt = np.outer(run.estimate.phi, run.estimate.phi)
    wide = widened(run.estimate, doubt, "doubt")
    with pytest.raises(IdentificationError, match="nothing to verify"):
        verify_estimate(wide, other_run.recording, run.robot)
    weighed = verify_estimate(wide, other_run.recording, run.robot, known_mass=run.truth.mass)
    assert weighed.passed, weighed.sentence
    assert weighed.scale_deviation < 0.02
    assert not verify_estimate(wide, other_run.recording, run.robot, known_mass=1.5 * run.truth.mass).passed


def test_a_refuted_result_passes_nothing(run: Any, other_run: Any) -> None:
    refuted = dataclasses.replace(run.estimate, refutation=Refutation("A sensor that is turned in both runs."))
    found = verify_estimate(refuted, other_run.recording, run.robot)
    assert not found.passed
    assert found.as_json()["refuted"] is True
    assert "the same mistake" in found.sentence
