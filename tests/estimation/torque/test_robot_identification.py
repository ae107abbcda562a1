"""Identifying an arm whose truth is known, and the physically consistent arm that comes out."""

from __future__ import annotations

import dataclasses
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError, InputError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.torque import joint_data
from iparam.estimation.torque.drives.drive_gains import torque_gains
from iparam.estimation.torque.friction import FrictionModel
from iparam.estimation.torque.joint_data import JointDataSource
from iparam.estimation.torque.robot_identification import (
    RobotEstimate,
    grouped,
    identify_robot,
    with_link_parameters,
)
from iparam.estimation.torque.torque_fit import fit_torques
from iparam.estimation.torque.torque_model import TorqueModel
from iparam.robot.urdf.writer import robot_to_urdf
from iparam.spatial.consistency import is_physically_consistent


def true_parameters(model: TorqueModel, truth: Any) -> np.ndarray:
    parameters = np.zeros(model.size)
    parameters[:60] = model.robot.body_parameters.ravel()
    parameters[60:66] = truth.rotors
    for term in ("viscous", "coulomb", "offset"):
        parameters[model.friction_columns(term)] = getattr(truth, term)
    return parameters


@pytest.mark.recovery
def test_base_parameters_are_within_their_standard_deviations(make_run: Any, truth: Any, robot: iparam.Robot) -> None:
    scores = []
    for seed in range(8):
        model = TorqueModel(robot, truth.friction)
        fit = fit_torques(model, [JointDataSource(make_run(seed), robot)], torque_gains(6))
        error = fit.solution.parameters[model.independent] - grouped(model) @ true_parameters(model, truth)
        scores.append(error / np.sqrt(np.diag(fit.covariance)))
    within = np.mean(np.abs(scores) < 3.0)
    assert within >= 0.99
    assert 0.7 < np.sqrt(np.mean(np.square(scores))) < 1.3


@pytest.fixture(scope="module")
def identified(make_run: Any, truth: Any, robot: iparam.Robot) -> RobotEstimate:
    """The arm from one run, without what is chosen or compared."""
    return identify_robot([make_run(0)], robot, friction=truth.friction, couplings=(), compare=False)


@pytest.fixture(scope="module")
def wrong_maker(robot: iparam.Robot) -> iparam.Robot:
    """The arm with figures of a maker who is off by up to 20 %, still consistent."""
    factors = np.random.default_rng(0).uniform(0.8, 1.2, (6, 1))
    return with_link_parameters(robot, robot.body_parameters * factors, np.zeros(6))


@pytest.mark.recovery
def test_the_arm_is_consistent_and_predicts_better_than_its_maker(
    make_run: Any, truth: Any, robot: iparam.Robot, wrong_maker: iparam.Robot, tmp_path: Path
) -> None:
    run, other = make_run(0), make_run(1, motion_seed=5)
    found = identify_robot([run], wrong_maker, friction=truth.friction)
    assert is_physically_consistent(found.link_parameters).all()
    assert (found.rotor_inertia >= -1e-9).all()
    assert ((found.data_share >= 0.0) & (found.data_share <= 1.0)).all()
    predictions = found.validate(other)
    noise = np.array([2.0, 2.5, 1.3, 0.4, 0.5, 0.4])
    np.testing.assert_allclose(predictions["identified"].rms, noise, rtol=0.1)
    assert (predictions["identified"].relative < predictions["maker"].relative).all()
    assert (predictions["identified"].relative < 1.02 * predictions["ols"].relative).all()
    assert predictions["identified"].moves.all()
    # Heavy links come out right even where the maker was wrong: the torques tell gravity.
    np.testing.assert_allclose(found.consistent_values[1], robot_base(robot, found.model)[1], rtol=0.02)

    path = tmp_path / "arm.urdf"
    path.write_text(robot_to_urdf(found.robot, {"damping": found.friction["viscous"]}), encoding="utf-8")
    again = iparam.load_robot(path, tip="tool0")
    q, dq, ddq = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 30, 6))
    regressor = iparam.joint_torque_regressor(wrong_maker, q, dq, ddq)
    expected = regressor @ found.parameters[:60]
    np.testing.assert_allclose(iparam.inverse_dynamics(again, q, dq, ddq), expected, atol=1e-9)

    found.save(tmp_path / "arm.json")
    document = json.loads((tmp_path / "arm.json").read_text(encoding="utf-8"))
    assert document["format"] == "iparam-robot/1"
    assert len(document["base_parameters"]) == 36 + 4 + 18
    assert len(document["links"]) == 6


def robot_base(robot: iparam.Robot, model: TorqueModel) -> np.ndarray:
    return model.base.values(robot.body_parameters.ravel())


def test_two_logs_say_more_than_one(make_run: Any, truth: Any, robot: iparam.Robot, identified: RobotEstimate) -> None:
    one, runs = identified, [make_run(0), make_run(1, motion_seed=3)]
    two = identify_robot(runs, robot, friction=truth.friction, couplings=(), compare=False)
    assert two.samples == 2 * one.samples
    assert np.median(two.base_deviation / one.base_deviation) < 0.85
    assert one.comparisons == {}


def test_a_joint_that_stands_still_is_reported(make_run: Any, truth: Any, robot: iparam.Robot) -> None:
    run = make_run()
    q = run.signal("q").values.copy()
    q[:, 5] = 0.3
    held = run.with_signal("q", time=run.signal("q").time, values=q)
    found = identify_robot([held], robot, friction=truth.friction, couplings=(), compare=False)
    assert [one.values["joint"] for one in found.remarks if one.code == "joint-still"] == [6]
    assert np.isnan([found.rotor_inertia[5], found.friction["viscous"][5], found.friction["coulomb"][5]]).all()
    assert np.isfinite(found.friction["offset"][5])
    assert found.robot.armature[5] == robot.armature[5], "nothing shows it: the maker's"
    named = dict(zip(found.base_names, found.base_values, strict=True))
    assert np.isnan(named["rotor6"])
    assert "viscous6" not in named
    assert is_physically_consistent(found.link_parameters).all()


def test_what_is_the_same_as_gravity_is_not_told_from_it(make_run: Any, truth: Any, robot: iparam.Robot) -> None:
    friction = dataclasses.replace(truth.friction, terms=("viscous", "coulomb", "offset", "sine", "cosine"))
    found = identify_robot([make_run(duration=8.0)], robot, friction=friction, couplings=(), compare=False)
    open_ = {
        name.split(" ")[0] for name, value in zip(found.base_names, found.base_values, strict=True) if value != value
    }
    assert open_ == {"mx2", "my2", "sine2", "cosine2"}
    (open_together,) = (one for one in found.remarks if one.code == "parameters-not-separable")
    assert open_together.values["parameters"] == "mx2, my2, sine2, cosine2"
    assert found.model.hidden_by_gravity("sine") == (1,)
    assert found.model.hidden_by_gravity("sine2") == ()


def test_segments_and_passes_change_nothing(
    make_run: Any, truth: Any, robot: iparam.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    model = TorqueModel(robot, FrictionModel(("viscous", "coulomb", "load"), "smooth"))
    whole = fit_torques(model, [JointDataSource(run, robot)], torque_gains(6))
    monkeypatch.setattr(joint_data, "SEGMENT", 700)
    parts = fit_torques(model, [JointDataSource(run, robot)], torque_gains(6))
    deviation = np.sqrt(np.diag(whole.covariance))
    difference = parts.solution.parameters[model.independent] - whole.solution.parameters[model.independent]
    assert (np.abs(difference) < 0.2 * deviation).all()


@pytest.mark.thorough
def test_memory_is_bounded_by_segments(
    make_run: Any, truth: Any, robot: iparam.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joint_data, "SEGMENT", 2000)
    model = TorqueModel(robot, truth.friction)
    peaks = []
    for duration in (40.0, 160.0):
        source = JointDataSource(make_run(duration=duration), robot)
        tracemalloc.start()
        fit_torques(model, [source], torque_gains(6))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.0 * peaks[0]


def test_what_is_wrong_with_the_angles_is_said(make_run: Any, truth: Any, robot: iparam.Robot) -> None:
    run = make_run(noise=0.1)
    angles = run.signal("q")
    held = np.repeat(angles.values[::4], 4, axis=0)[: len(angles.values)]
    settings: dict[str, Any] = {"friction": truth.friction, "couplings": (), "compare": False}
    found = identify_robot([run.with_signal("q", time=angles.time, values=held)], robot, **settings)
    assert "rows-repeat-angles" in [one.code for one in found.remarks]
    sound = identify_robot([run], robot, **settings)
    assert "rows-repeat-angles" not in [one.code for one in sound.remarks]


def test_stamps_that_are_late_are_put_on_an_even_clock(make_run: Any, truth: Any, robot: iparam.Robot) -> None:
    run = make_run(noise=0.1)
    stamps = run.signal("q").time
    late = np.sort(stamps + 0.3 * np.diff(stamps).mean() * np.random.default_rng(3).standard_normal(stamps.size))
    shaken = run
    for name, signal in run.signals.items():
        shaken = shaken.with_signal(name, dataclasses.replace(signal, time=late))
    even, uneven = JointDataSource(run, robot), JointDataSource(shaken, robot)
    assert "stamps-scatter" in [one.code for one in uneven.motion.remarks]
    assert np.std(uneven.motion.ddq - even.motion.ddq) < 0.02 * np.std(even.motion.ddq)


def test_a_run_counts_once_and_is_not_validated_with(
    make_run: Any, robot: iparam.Robot, identified: RobotEstimate
) -> None:
    one = make_run(0)
    with pytest.raises(ContradictionError, match="runs 1 and 2 are the same recording"):
        identify_robot([one, make_run(0)], robot)
    with pytest.raises(ContradictionError, match="is one that the arm was identified from"):
        identified.validate(one)


def test_bad_recordings_are_refused(make_run: Any, robot: iparam.Robot) -> None:
    run = make_run()
    with pytest.raises(InputError, match="at least one recording"):
        identify_robot([], robot)
    nothing = dataclasses.replace(run, signals={"q": run.signal("q")})
    with pytest.raises(IdentificationError, match="neither joint torques"):
        identify_robot([nothing], robot)
    with pytest.raises(IdentificationError, match="at least 160"):
        identify_robot([run.slice(0.0, 1.0)], robot)
    five = run.with_signal("tau", time=run.signal("tau").time, values=run.signal("tau").values[:, :5])
    with pytest.raises(IdentificationError, match="6 joints"):
        identify_robot([five], robot)


@pytest.mark.reference
def test_pinocchio_reads_the_identified_arm(robot: iparam.Robot, identified: RobotEstimate, tmp_path: Path) -> None:
    pinocchio = pytest.importorskip("pinocchio")
    found = identified
    path = tmp_path / "arm.urdf"
    path.write_text(robot_to_urdf(found.robot), encoding="utf-8")
    model = pinocchio.buildModelFromUrdf(str(path))
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    data = model.createData()
    q, dq, ddq = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 10, 6))
    reference = np.array([pinocchio.rnea(model, data, *state) for state in zip(q, dq, ddq, strict=True)])
    fitted = iparam.joint_torque_regressor(robot, q, dq, ddq) @ found.link_parameters.ravel()
    np.testing.assert_allclose(reference, fitted, atol=1e-9)
