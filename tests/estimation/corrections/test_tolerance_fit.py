"""Tolerances in the model: shown deviations are corrected, others are in the intervals, and nobody is accused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.estimation import Estimate
from iparam.recording import Recording, Signal
from iparam.sensing import Correction, Tolerances
from iparam.sensing.tolerances import PRESETS
from iparam.spatial.transforms import exp_so3

LAB = PRESETS["lab"]
DEVIATION = np.array([0.3] * 3 + [0.02] * 3)


@pytest.fixture(scope="module")
def arm() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="module")
def load() -> iparam.InertialParameters:
    mount = np.eye(4)
    mount[:3, 3] = (0.02, -0.01, 0.08)
    return iparam.InertialParameters.box(2.0, [0.08, 0.12, 0.16]).transformed(mount)


def recorded(arm: iparam.Robot, phi: np.ndarray, seed: int, off: dict[str, np.ndarray]) -> Recording:
    """12 s at 100 Hz of a rig that is off by so many of the laboratory's tolerances."""
    random = np.random.default_rng(7)
    motion = iparam.WindowedFourierTrajectory(
        q0=np.radians([20.0, -80.0, 90.0, -100.0, -70.0, 10.0]),
        a=random.uniform(-0.35, 0.35, (6, 4)),
        b=random.uniform(-0.35, 0.35, (6, 4)),
        base_freq=0.15,
        duration=12.0,
    )
    time = np.arange(1200) / 100.0
    moved = motion.evaluate(np.clip(time - LAB.delay * off["delay"][0], 0.0, 12.0))
    gravity = exp_so3(LAB.gravity * np.array([*off["gravity"], 0.0])) @ [0.0, 0.0, -9.81]
    wrench = (
        iparam.wrench_regressor(arm, moved.q + LAB.joint_zero * off["joint_zero"], moved.dq, moved.ddq, gravity) @ phi
    )
    force, torque = wrench[:, :3], wrench[:, 3:] - np.cross(LAB.place * off["place"], wrench[:, :3])
    turn = exp_so3(LAB.turn * off["turn"])
    wrench = np.hstack([force @ turn, torque @ turn])
    wrench *= (1.0 + LAB.gain * off["gain"][0]) * (1.0 + LAB.channel_gain * off["channel_gain"])
    noise = np.random.default_rng(seed).normal(size=wrench.shape) * DEVIATION
    angles = motion.evaluate(time).q + np.random.default_rng(seed + 1000).normal(size=(1200, 6)) * 3e-5
    return Recording("ur5e", {"q": Signal(time, angles), "wrench": Signal(time, wrench + noise + 1.0)})


def deviations(seed: int | None = None, **given: Any) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    sizes = {"place": 3, "turn": 3, "gain": 1, "channel_gain": 6, "gravity": 2, "joint_zero": 6, "delay": 1}
    drawn = {name: random.normal(size=size) if seed is not None else np.zeros(size) for name, size in sizes.items()}
    return {**drawn, **{name: np.asarray(value, float) for name, value in given.items()}}


def errors(found: Estimate, load: iparam.InertialParameters) -> np.ndarray:
    return (found.phi - load.phi) / found.standard_deviation.phi


def test_intervals_cover_rigs_within_their_tolerances(arm: iparam.Robot, load: iparam.InertialParameters) -> None:
    found = [iparam.identify_payload(recorded(arm, load.phi, seed, deviations(seed)), arm) for seed in range(12)]
    off = np.array([errors(one, load) for one in found])
    assert [one.refutation for one in found] == [None] * len(found)
    assert 0.7 < np.sqrt(np.mean(off**2)) < 1.3
    assert np.abs(off).max() < 4.0


@pytest.mark.parametrize("name", ["place", "turn", "gravity", "joint_zero", "channel_gain"])
def test_a_deviation_that_the_data_show_is_corrected(
    arm: iparam.Robot, load: iparam.InertialParameters, name: str
) -> None:
    """Alone, with all others known."""
    signs = (-1.0) ** np.arange(deviations()[name].size)
    recording = recorded(arm, load.phi, 1, deviations(**{name: 2.0 * signs}))
    alone = dataclasses.replace(Tolerances(), **{name: getattr(LAB, name)})
    found = iparam.identify_payload(recording, arm, tolerances=alone)
    assert found.assessment["verdict"] == "good"
    assert np.abs(errors(found, load)).max() < 4.0
    assert set(found.covariance_terms) == {"noise", "motion", "sampling", name}


def test_the_terms_add_up_and_a_common_gain_is_all_in_the_intervals(
    arm: iparam.Robot, load: iparam.InertialParameters
) -> None:
    found = iparam.identify_payload(recorded(arm, load.phi, 1, deviations()), arm)
    terms = found.covariance_terms
    assert set(terms) == {"noise", "motion", "sampling", *deviations()}
    assert all(np.linalg.eigvalsh(term)[0] >= -1e-9 * np.trace(term) for term in terms.values())
    np.testing.assert_allclose(sum(terms.values()), found.covariance_phi, rtol=1e-9, atol=1e-18)
    alone = iparam.identify_payload(recorded(arm, load.phi, 1, deviations()), arm, tolerances=Tolerances(gain=0.01))
    np.testing.assert_allclose(alone.covariance_terms["gain"], 1e-4 * np.outer(alone.phi, alone.phi), rtol=1e-6)


def test_what_would_help_most_does_help(arm: iparam.Robot, load: iparam.InertialParameters) -> None:
    recording = recorded(arm, load.phi, 1, deviations())
    wide = dataclasses.replace(LAB, gain=0.05)
    before = iparam.identify_payload(recording, arm, tolerances=wide)
    (said,) = (one for one in before.remarks if one.values.get("quantity") == "mass")
    assert (said.code, said.severity, said.values["tolerance"]) == ("tolerance-dominates", "info", "gain")
    better = dataclasses.replace(wide, gain=0.01 * float(str(said.values["wanted"])))
    after = iparam.identify_payload(recording, arm, tolerances=better)
    assert after.standard_deviation.mass == pytest.approx(0.5 * before.standard_deviation.mass, rel=0.02)


def test_an_exact_rig_is_as_if_nobody_had_heard_of_tolerances(
    arm: iparam.Robot, load: iparam.InertialParameters
) -> None:
    recording = recorded(arm, load.phi, 1, deviations())
    plain = iparam.estimation.make_estimator("consistent").fit(iparam.estimation.problem_from_recording(recording, arm))
    found = iparam.identify_payload(recording, arm, tolerances="exact")
    np.testing.assert_allclose(found.phi, plain.phi, rtol=1e-9)
    own = found.covariance_terms["noise"] + found.covariance_terms["motion"]
    np.testing.assert_allclose(own, plain.covariance_phi, rtol=1e-9, atol=1e-18)
    assert set(found.covariance_terms) == {"noise", "motion", "sampling"}
    simulated = iparam.identify_payload(recording.with_metadata(source="simulation"), arm)
    np.testing.assert_array_equal(simulated.covariance_phi, found.covariance_phi)


def test_a_true_statement_narrows_intervals(arm: iparam.Robot, load: iparam.InertialParameters) -> None:
    recording = recorded(arm, load.phi, 1, deviations())
    unsaid = iparam.identify_payload(recording, arm)
    said = iparam.identify_payload(
        recording, arm, gravity=(0.0, 0.0, -9.81), correction=Correction(sensor_offset=(0.0, 0.0, 0.0))
    )
    assert (said.standard_deviation.phi < unsaid.standard_deviation.phi).all()
    assert np.trace(said.covariance_terms["place"]) < 0.25 * np.trace(unsaid.covariance_terms["place"])


def test_what_no_tolerance_allows_is_left_to_the_diagnosis(arm: iparam.Robot, load: iparam.InertialParameters) -> None:
    found = iparam.identify_payload(recorded(arm, load.phi, 1, deviations(place=[0.0, 0.0, 40.0])), arm)
    assert found.causes[0].cause == "sensor-offset"
    assert found.assessment["verdict"] == "refuted" or np.abs(errors(found, load)).max() < 4.0


def test_poses_at_rest_have_those_of_the_sensor_and_of_gravity(tmp_path: Path) -> None:
    """A weight alone, in 24 orientations: mass and centre of mass."""
    random = np.random.default_rng(2)
    turned = exp_so3(random.normal(size=(24, 3)))
    force = 1.8 * np.swapaxes(turned, 1, 2) @ [0.0, 0.0, 9.81]
    wrench = np.hstack([force, np.cross([0.02, -0.03, 0.09], force)]) + random.normal(size=(24, 6)) * 0.1 * DEVIATION
    path, names = tmp_path / "poses.csv", [f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]
    header = ",".join([*names, "fx", "fy", "fz", "tx", "ty", "tz"])
    np.savetxt(path, np.hstack([turned.reshape(24, 9), wrench]), delimiter=",", header=header, comments="")
    recording = Recording.load(path)
    found, known = (iparam.identify_payload(recording, tolerances=name) for name in ("lab", "exact"))
    assert found.determined == ("mass", "center_of_mass")
    assert {"gain", "channel_gain", "place", "turn", "gravity"} == set(found.covariance_terms) - {"noise", "motion"}
    assert abs(found.mass - 1.8) < 3.0 * found.standard_deviation.mass
    assert LAB.gain * found.mass < found.standard_deviation.mass
    assert known.standard_deviation.mass < 0.5 * found.standard_deviation.mass
