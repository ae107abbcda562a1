"""The load from a bare and a loaded run; fusion with a wrist sensor."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError, InputError
from iparam.estimation.errors import IdentificationError, NotIdentifiableError
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.fusion import fuse_estimates
from iparam.estimation.torque.drives.drive_gains import DriveGains
from iparam.estimation.torque.payload_from_torque import TorquePayloadEstimate, identify_payload_from_torque
from iparam.recording import Recording


@pytest.fixture(scope="module")
def found(make_run: Any, load: Any, robot: iparam.Robot) -> TorquePayloadEstimate:
    """From two runs of the same motion, with all that is chosen by default."""
    return identify_payload_from_torque(make_run(0), make_run(1, load), robot)


@pytest.mark.recovery
def test_mass_and_centre_are_found(make_run: Any, load: Any, robot: iparam.Robot, found: TorquePayloadEstimate) -> None:
    other = identify_payload_from_torque(make_run(0), make_run(1, load, motion_seed=4), robot)
    for estimate in (found.estimate, other.estimate):  # of the same motion, and of another
        assert estimate.mass == pytest.approx(2.0, rel=0.01)
        np.testing.assert_allclose(estimate.center_of_mass, load.center_of_mass, atol=5e-3)
        assert estimate.physically_consistent
        assert estimate.samples == 4000


@pytest.mark.thorough
@pytest.mark.recovery
def test_errors_are_what_the_covariance_says(make_run: Any, load: Any, robot: iparam.Robot, truth: Any) -> None:
    scores = []
    exact = DriveGains(np.ones(6), np.zeros(6), 0.0, "These sensors have noise, and no error of scale.")
    for seed in range(4):
        bare, loaded = make_run(2 * seed), make_run(2 * seed + 1, load, motion_seed=2)
        found = identify_payload_from_torque(
            bare, loaded, robot, friction=truth.friction, couplings=(), drive_gains=exact
        )
        scores.append((found.unconstrained_phi - load.phi) / found.estimate.standard_deviation.phi)
    assert np.mean(np.abs(scores) < 2.5) >= 0.93
    assert 0.6 < np.sqrt(np.mean(np.square(scores))) < 1.4


def test_the_gains_uncertainty_is_carried_into_the_mass(
    make_run: Any, load: Any, robot: iparam.Robot, truth: Any
) -> None:
    bare, loaded = make_run(0, currents=True), make_run(1, load, currents=True)
    spreads = []
    settings: dict[str, Any] = {"friction": truth.friction, "couplings": ()}
    for tolerance in (0.0, 0.02):
        gains = DriveGains(truth.gains, np.zeros(6), tolerance, "Given.")
        found = identify_payload_from_torque(bare, loaded, robot, drive_gains=gains, **settings)
        spreads.append(found.estimate.standard_deviation.mass)
        assert found.estimate.mass == pytest.approx(2.0, rel=0.01)
    assert np.sqrt(spreads[1] ** 2 - spreads[0] ** 2) == pytest.approx(0.02 * 2.0 * 0.55, rel=0.5)
    # All gains 3 % too high make the load 3 % too heavy.
    high = identify_payload_from_torque(bare, loaded, robot, drive_gains=1.03 * truth.gains, **settings)
    assert high.unconstrained_phi[0] == pytest.approx(1.03 * found.unconstrained_phi[0], rel=2e-3)


def test_gains_come_from_the_targets(make_run: Any, load: Any, robot: iparam.Robot, truth: Any, tmp_path: Path) -> None:
    bare, loaded = (make_run(i, carried, currents=True, targets=True) for i, carried in ((0, None), (1, load)))
    found = identify_payload_from_torque(bare, loaded, robot)
    np.testing.assert_allclose(found.drive_gains.values, truth.gains, rtol=5e-3)
    low, high = found.mass_interval
    assert low < 2.0 < high
    assert found.estimate.mass == pytest.approx(2.0, rel=0.015)
    found.save(tmp_path / "result.json")
    again = Estimate.load(tmp_path / "result.json")
    assert again.method == "torque-payload"
    np.testing.assert_array_equal(again.phi, found.estimate.phi)


def test_a_log_with_damaged_rows_gives_the_same_and_says_so(
    make_run: Any, load: Any, robot: iparam.Robot, truth: Any, tmp_path: Path
) -> None:
    names = ("q", "dq", "current", "target_current", "target_torque")
    paths = []
    for seed, carried in ((0, None), (1, load)):
        run = make_run(seed, carried, currents=True, targets=True)
        table = np.column_stack([run.signal("q").time, *(run.signal(name).values for name in names)])
        path = tmp_path / f"log{seed}.csv"
        np.savetxt(path, table, fmt="%.7f", delimiter=",")
        paths.append(path)
    columns = "time,q,dq,current,target_current,target_torque"
    whole = [Recording.load(path, columns=columns, robot="ur10e") for path in paths]
    lines = paths[1].read_text().splitlines()
    lines[700] = "garbage"
    lines[900] = lines[900][:100]
    paths[1].write_text("\n".join(lines)[:-30])
    damaged = [Recording.load(path, columns=columns, robot="ur10e") for path in paths]
    first, second = (
        identify_payload_from_torque(*runs, robot, friction=truth.friction, couplings=()) for runs in (whole, damaged)
    )
    assert second.estimate.mass == pytest.approx(first.estimate.mass, rel=2e-3)
    codes = {one.code: one.values for one in second.estimate.remarks}
    assert codes["rows-of-other-width"]["lines"] == "701, 901"
    assert "row-cut" in codes


def test_runs_that_do_not_tell_the_load_are_refused(make_run: Any, load: Any, robot: iparam.Robot, truth: Any) -> None:
    bare, loaded = make_run(0, noise=0.0), make_run(1, load, noise=0.0)
    q = loaded.signal("q")
    held = loaded.with_signal("q", time=q.time, values=np.tile(q.values[0], (len(q.values), 1)))
    with pytest.raises(NotIdentifiableError, match="Ixx") as caught:
        identify_payload_from_torque(bare, held, robot, friction=truth.friction, couplings=())
    assert "Ixx" in caught.value.undetermined
    mixed = dataclasses.replace(loaded, signals={k: v for k, v in loaded.signals.items() if k != "tau"})
    with pytest.raises(InputError, match="does not"):
        identify_payload_from_torque(bare, mixed, robot)
    with pytest.raises(IdentificationError, match="neither"):
        identify_payload_from_torque(mixed, loaded, robot)


def scaled(run: Recording, factor: float, clock: float = 1.0) -> Recording:
    """A run whose torques, or whose time, are in another unit."""
    for name in ("q", "dq", "tau"):
        signal = run.signal(name)
        run = run.with_signal(name, time=clock * signal.time, values=signal.values * (factor if name == "tau" else 1.0))
    return run


def test_the_weight_of_the_arm_tells_sign_and_unit_of_the_torques(
    make_run: Any, load: Any, robot: iparam.Robot, truth: Any
) -> None:
    """Opposite torques in both runs give the same negative load as runs that are exchanged."""
    bare, loaded = make_run(0), make_run(1, load)
    settings: Any = {"friction": truth.friction, "couplings": ()}
    opposite = identify_payload_from_torque(scaled(bare, -1.0), scaled(loaded, -1.0), robot, **settings).estimate
    exchanged = identify_payload_from_torque(loaded, bare, robot, **settings).estimate
    for estimate, cause in ((opposite, "torque-sign"), (exchanged, "runs-exchanged")):
        assert estimate.refutation is not None
        assert [one.cause for one in estimate.refutation.causes] == [cause]
    assert "torques-reversed" in [one.code for one in opposite.remarks]
    with pytest.raises(ContradictionError, match="are they in N mm"):
        identify_payload_from_torque(scaled(bare, 1e3), scaled(loaded, 1e3), robot, **settings)
    with pytest.raises(ContradictionError, match=r"in ms, they come at 100 Hz"):
        identify_payload_from_torque(bare, scaled(loaded, 1.0, clock=1e3), robot, **settings)
    heavy = identify_payload_from_torque(scaled(bare, 10.0), scaled(loaded, 10.0), robot, **settings).estimate
    assert heavy.refutation is None
    said = {one.code: one.values for one in heavy.remarks}
    assert said["above-rated-load"]["rated"] == 12.5
    of_bare, of_loaded = [one.values["scale"] for one in heavy.remarks if one.code == "torques-scaled"]
    assert of_bare == pytest.approx(10.0, rel=0.1)
    assert of_loaded > of_bare, "the arm holds a load, too"


def test_one_run_is_not_both_and_says_its_arm(
    make_run: Any, load: Any, robot: iparam.Robot, found: TorquePayloadEstimate
) -> None:
    bare, loaded = make_run(0), make_run(1, load)
    with pytest.raises(ContradictionError, match="runs 1 and 2 are the same recording"):
        identify_payload_from_torque(bare, make_run(0), robot)
    with pytest.raises(ContradictionError, match="belongs to a ur5e, and ur10e is another arm"):
        identify_payload_from_torque(bare, dataclasses.replace(loaded, robot="ur5e"), robot)
    with pytest.raises(ContradictionError, match="gravity is"):
        identify_payload_from_torque(bare.with_metadata(gravity=9.81), loaded.with_metadata(gravity=1.62), robot)
    assert (found.estimate.frame, found.estimate.measurements) == ("tool0", (loaded.signal("tau").fingerprint,))


@pytest.mark.recovery
def test_fusion_is_no_worse_than_either(load: Any, found: TorquePayloadEstimate) -> None:
    torque = found.estimate
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(torque.covariance_phi)
    errors = {"torque": [], "other": [], "fused": []}
    for _ in range(200):
        pair = []
        for shape in (np.ones(10), np.linspace(0.2, 3.0, 10)):
            factor = shape[:, None] * root
            phi = load.phi + factor @ rng.normal(size=10)
            pair.append(dataclasses.replace(torque, phi=phi, covariance_phi=factor @ factor.T, measurements=()))
        fused = fuse_estimates(pair)
        assert fused.physically_consistent
        if "estimates-disagree" not in [one.code for one in fused.remarks]:
            for one in pair:
                assert (np.diag(fused.covariance_phi) <= np.diag(one.covariance_phi) * 1.0001).all()
        for name, one in zip(errors, (*pair, fused), strict=True):
            errors[name].append(one.phi - load.phi)
    rms = {name: np.sqrt(np.mean(np.square(values), axis=0)) for name, values in errors.items()}
    assert (rms["fused"] <= 1.1 * np.minimum(rms["torque"], rms["other"])).all()


def test_estimates_that_contradict_each_other_are_reported(found: TorquePayloadEstimate) -> None:
    one = found.estimate
    other = dataclasses.replace(one, phi=1.5 * one.phi, measurements=())
    fused = fuse_estimates([one, other])
    assert "estimates-disagree" in [one.code for one in fused.remarks]
    assert fused.standard_deviation.phi[0] > one.standard_deviation.phi[0]
    with pytest.raises(InputError, match="two"):
        fuse_estimates([one])
