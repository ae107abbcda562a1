"""Data that determine only some of the parameters give those, and no number for the others."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import FileFormatError, InputError
from iparam.estimation import Estimate, NotIdentifiableError, identify_payload
from iparam.estimation.checkup.examination import LEVELS, examine_recording
from iparam.estimation.errors import RefutedResultError
from iparam.estimation.payload.partial_estimate import partial_estimate
from iparam.estimation.payload.problem_from_recording import problem_from_recording
from iparam.estimation.payload.weighted_fit import require_identifiable
from iparam.export import IdentifiedLoad, StaticLoad, export_load, read_load
from iparam.recording import Recording
from iparam.report import ReportInput
from iparam.report.page import report_page
from iparam.trajectory import WindowedFourierTrajectory

UR5E = iparam.load_robot("ur5e")
START = np.radians([90.0, -90.0, 90.0, 0.0, 90.0, 90.0])  # the axis of the last joint is level
POSE = np.eye(4)
POSE[:3, 3] = 0.02, -0.01, 0.1
LOAD = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).transformed(POSE)
DEVIATIONS = np.array([0.5] * 3 + [0.05] * 3)


def run(seed: int, joints: tuple[int, ...], noise: float = 1.0) -> Recording:
    """4 s at 250 Hz in which only some joints move."""
    moved = np.zeros((2, 6, 3))
    moved[:, joints] = np.random.default_rng(100).normal(0.0, 0.5, (2, len(joints), 3))
    motion = WindowedFourierTrajectory(START, moved[0], moved[1], base_freq=0.25, duration=4.0).sample(250.0)
    rng = np.random.default_rng(seed)
    wrench = iparam.wrench_regressor(UR5E, motion.q, motion.dq, motion.ddq) @ LOAD.phi + [1.0, -2.0, 0.5, 0.1, 0.2, 0.0]
    wrench = wrench + noise * rng.normal(size=wrench.shape) * DEVIATIONS
    angles = motion.q + noise * rng.normal(0.0, 5e-5, motion.q.shape)
    made = Recording("ur5e", metadata={"source": "simulation"}).with_signal("q", time=motion.time, values=angles)
    return made.with_signal("wrench", time=motion.time, values=wrench)


TRUTH = np.array([LOAD.mass, *LOAD.center_of_mass, *LOAD.inertia_about_com[np.triu_indices(3)]])


def derived(estimate: Estimate) -> tuple[np.ndarray, np.ndarray]:
    deviation, upper = estimate.standard_deviation, np.triu_indices(3)
    values = [estimate.mass, *estimate.center_of_mass, *estimate.inertia_about_com[upper]]
    return np.array(values), np.array([deviation.mass, *deviation.center_of_mass, *deviation.inertia_about_com[upper]])


@pytest.fixture(scope="module")
def partial() -> Estimate:
    return identify_payload(run(0, (5,)), UR5E)


def test_turning_about_one_axis_shows_mass_centre_and_the_moment_about_it(partial: Estimate) -> None:
    assert partial.determined == ("mass", "center_of_mass", "inertia_xz", "inertia_yz", "inertia_zz")
    assert not partial.complete
    values, deviations = derived(partial)
    known = [True] * 4 + [False, False, True, False, True, True]
    np.testing.assert_array_equal(~np.isnan(values), known)
    np.testing.assert_array_equal(~np.isnan(deviations), known)
    assert partial.mass == pytest.approx(2.0, rel=0.01)
    (part,) = (one for one in partial.remarks if one.code == "only-a-part")
    assert "about x and y" in part.values["advice"]
    assert "xx, xy, yy" in part.values["advice"]
    assert partial.sensor_bias is not None


@pytest.mark.thorough
def test_intervals_of_what_is_determined_hold_the_truth() -> None:
    inside = []
    for seed in range(6):
        values, deviations = derived(identify_payload(run(seed, (5,)), UR5E))
        known = ~np.isnan(values)
        inside += list(np.abs(values - TRUTH)[known] < 1.96 * deviations[known])
    assert 0.85 < np.mean(inside) <= 1.0


def test_a_delay_that_the_wrench_shows_is_compensated(partial: Estimate) -> None:
    late = run(0, (5,))
    late = late.with_signal("wrench", time=late.signal("wrench").time + 0.03, values=late.signal("wrench").values)
    found = identify_payload(late, UR5E)
    assert [round(one.values["milliseconds"]) for one in found.remarks if one.code == "wrench-delayed"] == [30]
    assert found.determined == partial.determined
    values, deviations = derived(found)
    known = ~np.isnan(values)
    assert (np.abs(values - TRUTH)[known] < 4.0 * deviations[known]).all()


def test_the_deviation_of_a_delay_is_in_that_of_the_load() -> None:
    """It adds by how much the result moves where the delay is off by that: 0.6 standard deviations for an inertia."""
    recording, off, reason = run(0, (5,)), 2e-3, NotIdentifiableError("one axis")
    early, on, late = (problem_from_recording(recording, UR5E, delay=delay) for delay in (-off, 0.0, off))
    moved = 0.5 * (partial_estimate(late, reason).phi - partial_estimate(early, reason).phi)
    plain = partial_estimate(on, reason).standard_deviation.phi
    wide = partial_estimate(dataclasses.replace(on, delay_deviation=off), reason).standard_deviation.phi
    known = ~np.isnan(plain)
    added = np.sqrt((wide**2 - plain**2)[known])
    np.testing.assert_allclose(added / plain[known], np.abs(moved[known]) / plain[known], atol=0.05)
    assert (added / plain[known]).max() > 0.5


def test_exact_data_give_exact_values_for_what_they_determine() -> None:
    values, _ = derived(identify_payload(run(0, (5,), noise=0.0), UR5E))
    known = ~np.isnan(values)
    np.testing.assert_allclose(values[known], TRUTH[known], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", ["ls", "wls", "consistent", "robust"])
def test_every_method_falls_back_on_the_same(partial: Estimate, method: str) -> None:
    found = identify_payload(run(0, (5,)), UR5E, method)
    np.testing.assert_array_equal(found.phi, partial.phi)
    with pytest.raises(NotIdentifiableError):
        identify_payload(run(0, (5,)), UR5E, method, partial=False)


def test_a_run_that_shows_everything_is_not_touched() -> None:
    found = identify_payload(run(0, (0, 1, 2, 3, 4, 5)), UR5E)
    assert found.complete
    assert found.determined == ("mass", "center_of_mass", "inertia_about_com")
    assert "determined" not in found.to_document()


def test_an_arm_that_stands_still_shows_nothing() -> None:
    with pytest.raises(NotIdentifiableError, match="determines only"):
        identify_payload(run(0, ()), UR5E, partial=False)
    found = identify_payload(run(0, ()), UR5E)
    assert found.determined == ()
    assert np.isnan(found.mass)
    assert found.assessment["verdict"] == "refuted"
    assert "determines only" in found.assessment["sentence"]
    assert [cause["cause"] for cause in found.assessment["causes"]] == ["too-little-motion"]


def test_a_result_of_nothing_is_written_read_and_refused(tmp_path: Path) -> None:
    identify_payload(run(0, ()), UR5E).save(tmp_path / "result.json")
    found = Estimate.load(tmp_path / "result.json")
    assert found.refutation is not None
    assert found.causes[0].cause == "too-little-motion"
    assert "nothing; from" in str(found)
    with pytest.raises(InputError, match="none of them"):
        found.require_complete("a body has all ten parameters")
    with pytest.raises(RefutedResultError):
        found.require_credit("the arm would be told")


def test_a_negative_mass_of_a_part_is_refuted_and_explained() -> None:
    reversed_run = run(0, (5,))
    wrench = reversed_run.signal("wrench")
    found = identify_payload(reversed_run.with_signal("wrench", time=wrench.time, values=-wrench.values), UR5E)
    assert found.assessment["verdict"] == "refuted"
    assert "wrench-sign" in [cause["cause"] for cause in found.assessment["causes"]][:2]


def test_a_motion_that_is_known_too_badly_is_told_from_one_that_shows_too_little() -> None:
    problem = problem_from_recording(run(0, (0, 1, 2, 3, 4, 5)), UR5E)
    assert problem.uncertainty is not None
    worse = dataclasses.replace(problem.uncertainty, factors=3e3 * problem.uncertainty.factors)
    with pytest.raises(NotIdentifiableError, match=r"all 10 parameters.*butterworth") as caught:
        require_identifiable(dataclasses.replace(problem, uncertainty=worse))
    little = dataclasses.replace(problem.uncertainty, factors=3e2 * problem.uncertainty.factors)
    found = partial_estimate(dataclasses.replace(problem, uncertainty=little), caught.value)
    (part,) = (one for one in found.remarks if one.code == "only-a-part")
    assert "butterworth" in part.values["advice"]
    assert "turn the load" not in part.values["advice"]


@pytest.mark.parametrize("seed", [1, 8])
def test_a_part_of_a_sound_run_is_not_refuted(seed: int) -> None:
    """Noise of the angles makes moments of tons of what the motion does not show, and no load is like that."""
    found = identify_payload(run(seed, (5,)), UR5E)
    assert found.refutation is None
    assert found.causes[0].cause == "too-little-motion"


def test_a_file_has_null_and_gives_it_back(partial: Estimate, tmp_path: Path) -> None:
    partial.save(tmp_path / "part.json")
    document = json.loads((tmp_path / "part.json").read_text())
    assert document["determined"] == list(partial.determined)
    assert document["phi"][4:] == [None, None, document["phi"][6], None, *document["phi"][8:]]
    assert document["inertia_about_com"][0][:2] == [None, None]
    assert "NaN" not in (tmp_path / "part.json").read_text()
    again = Estimate.load(tmp_path / "part.json")
    for name in ("phi", "center_of_mass", "inertia_about_com", "inertia_about_origin", "covariance_phi"):
        np.testing.assert_array_equal(getattr(again, name), getattr(partial, name))
    assert again.determined == partial.determined


def test_a_value_that_lost_its_deviation_is_refused(partial: Estimate, tmp_path: Path) -> None:
    document = partial.to_document()
    document["standard_deviation"]["mass"] = None
    (tmp_path / "part.json").write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=r"standard_deviation\.mass does not agree"):
        Estimate.load(tmp_path / "part.json")


def test_what_needs_all_of_it_says_so_and_what_would_show_it(partial: Estimate, tmp_path: Path) -> None:
    partial.save(tmp_path / "part.json")
    load = read_load(tmp_path / "part.json")
    assert isinstance(load, StaticLoad)
    for use in (
        lambda: partial.parameters,
        lambda: IdentifiedLoad.from_estimate(partial),
        lambda: export_load(load, "franka"),
        lambda: export_load(load, "mjcf"),
    ):
        with pytest.raises(InputError, match=r"turn the load, with acceleration, about x and y of the sensor"):
            use()


def test_what_needs_mass_and_centre_refuses_less(partial: Estimate) -> None:
    phi = np.array(partial.phi)
    phi[3] = np.nan
    for use in (
        lambda less: iparam.estimation.compensate_wrench(run(1, (5,)), UR5E, less),
        lambda less: iparam.combine_estimates(less, LOAD, minus=True),
    ):
        with pytest.raises(InputError, match="mass"):
            use(dataclasses.replace(partial, phi=phi))


@pytest.mark.parametrize("joints", [(5,), (3, 4, 5)])
def test_a_part_is_taken_out_of_the_wrench(partial: Estimate, joints: tuple[int, ...]) -> None:
    """All that the motion shows where it turns the load as before; the weight at least where it does not."""
    clean = iparam.estimation.compensate_wrench(run(1, joints), UR5E, partial)
    said = [one for one in clean.remarks if one.code == "inertia-left-in-torque"]
    rms = np.sqrt(np.mean(clean.signal("wrench").values ** 2, axis=0))
    np.testing.assert_allclose(rms[:3], DEVIATIONS[:3], rtol=0.1)
    if joints == (5,):
        assert said == []
        np.testing.assert_allclose(rms[3:], DEVIATIONS[3:], rtol=0.1)
    else:
        assert len(said) == 1
        assert np.isfinite(rms).all()


def test_parts_are_fused(partial: Estimate) -> None:
    """What both know is known better, what one knows stays, and what neither does stays open."""
    again = identify_payload(run(1, (5,)), UR5E)
    whole = identify_payload(run(2, (0, 1, 2, 3, 4, 5)), UR5E)
    fused = iparam.fuse_estimates([partial, again])
    assert fused.determined == partial.determined
    assert fused.standard_deviation.mass < 0.8 * partial.standard_deviation.mass
    (told,) = (one for one in fused.remarks if one.code == "only-a-part")
    assert "about x and y" in told.values["advice"]
    every = iparam.fuse_estimates([whole, fused])
    assert every.complete
    assert "only-a-part" not in [one.code for one in every.remarks]
    assert (np.diag(every.covariance_phi) <= np.diag(whole.covariance_phi) * (1.0 + 1e-9)).all()
    for found in (fused, every):
        values, deviations = derived(found)
        known = ~np.isnan(values)
        assert (np.abs(values - TRUTH) < 4.0 * deviations)[known].all()


def test_a_part_without_the_gripper(partial: Estimate) -> None:
    gripper = iparam.InertialParameters.box(0.5, (0.05, 0.05, 0.05))
    rest = iparam.combine_estimates(partial, gripper, minus=True)
    assert rest.determined == partial.determined
    known = ~np.isnan(partial.phi)
    np.testing.assert_allclose(rest.phi[known], (partial.phi - gripper.phi)[known], rtol=0, atol=1e-12)
    # Seen from a frame that is turned, what is open has a part in all of the inertia.
    turned = np.eye(4)
    turned[:3, :3] = iparam.spatial.rotation_from_rpy([0.3, 0.4, 0.5])
    other = dataclasses.replace(partial, measurements=("other",))
    both = iparam.combine_estimates(identify_payload(run(2, (0, 1, 2, 3, 4, 5)), UR5E), other, pose=turned)
    assert both.determined == ("mass", "center_of_mass")


def test_the_load_alone_is_written_with_nulls_and_read_again(partial: Estimate, tmp_path: Path) -> None:
    partial.save(tmp_path / "part.json")
    load = read_load(tmp_path / "part.json")
    assert isinstance(load, StaticLoad)
    (tmp_path / "load.json").write_text(export_load(load, "json"), encoding="utf-8")
    assert json.loads((tmp_path / "load.json").read_text())["phi"][4:] == [None] * 6
    again = read_load(tmp_path / "load.json")
    assert isinstance(again, StaticLoad)
    assert (again.mass, again.frame, again.remarks) == (load.mass, load.frame, load.remarks)
    np.testing.assert_array_equal(again.center_of_mass, load.center_of_mass)


def seen_from(joints: tuple[int, ...], estimate: Estimate, seed: int = 9) -> iparam.estimation.Verification:
    return iparam.estimation.verify_estimate(estimate, run(seed, joints), UR5E)


@pytest.mark.parametrize("joints", [(5,), (3, 4, 5)])
def test_what_is_determined_is_verified(partial: Estimate, joints: tuple[int, ...]) -> None:
    """Also by a motion that shows the rest, which is fitted to it and judges nothing."""
    found = seen_from(joints, partial)
    assert found.passed
    np.testing.assert_allclose(found.by_noise, 1.0, atol=0.1)
    assert abs(found.best_scale - 1.0) < 3.0 * found.scale_deviation < 0.02
    (told,) = (one for one in found.remarks if one.code == "parameters-not-verified")
    assert told.values["parameters"] == "Ixx, Ixy, Iyy"
    # A wrong value of what is determined is not made up for by what is fitted.
    for factor, entry in ((1.2, 0), (3.0, 9)):
        phi = np.array(partial.phi)
        phi[entry] *= factor
        assert not seen_from(joints, dataclasses.replace(partial, phi=phi)).passed


def test_a_report_shows_what_is_determined(partial: Estimate) -> None:
    pytest.importorskip("matplotlib")
    page = report_page(ReportInput(estimate=partial, recording=run(0, (5,)), robot=UR5E, truth=LOAD))
    assert page.count("not determined") == 3
    assert "7 intervals hold the truth" in page
    assert "The motion shows 7 of ten directions" in page
    assert not re.search(r">\s*[-+±]?nan\b", page, re.IGNORECASE)


AXES = {"scara": "zzpz", "gantry": "pppz", "level": "y"}


@pytest.mark.parametrize("name", AXES)
def test_an_arm_is_not_advised_to_do_what_it_cannot(name: str, tmp_path: Path) -> None:
    """A SCARA cannot turn its tool about x and y, and no motion of it shows the moments about them."""
    kinds = {"z": ("continuous", "0 0 1"), "y": ("continuous", "0 1 0"), "p": ("prismatic", "0 0 1")}
    slides = iter(["1 0 0", "0 1 0", "0 0 1"]) if name == "gantry" else iter(["0 0 1"])
    links = "".join(f'<link name="l{i}"/>' for i in range(len(AXES[name]) + 1))
    joints = ""
    for i, letter in enumerate(AXES[name]):
        kind, axis = kinds[letter]
        axis = next(slides) if letter == "p" else axis
        joints += (
            f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/><origin xyz=".3 0 0"/>'
            f'<axis xyz="{axis}"/><limit lower="-1" upper="1" velocity="1" effort="100"/></joint>'
        )
    (tmp_path / "arm.urdf").write_text(f'<robot name="{name}">{links}{joints}</robot>', encoding="utf-8")
    robot = iparam.load_robot(tmp_path / "arm.urdf")
    count = robot.num_joints
    a, b = np.random.default_rng(3).normal(0.0, 0.3, (2, count, 3))
    motion = WindowedFourierTrajectory(np.zeros(count), a, b, base_freq=0.25, duration=4.0).sample(250.0)
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ LOAD.phi
    wrench = wrench + np.random.default_rng(4).normal(size=wrench.shape) * 0.1 * DEVIATIONS
    recording = Recording(name).with_signal("q", time=motion.time, values=motion.q)
    loaded = recording.with_signal("wrench", time=motion.time, values=wrench)
    found = identify_payload(loaded, robot)
    (part,) = (one for one in found.remarks if one.code == "only-a-part")
    sentence = str(part.values["advice"])
    unseen = "yy" if name != "level" else "xx"
    assert re.search(rf"No motion shows inertia .*{unseen}.*, as {name} turns its tool about one axis only", sentence)
    assert sentence.endswith("that takes the load hung on at another angle, another arm, or its shape.")
    assert "excite optimize" not in sentence
    assert not any(one.lowers for one in found.remarks)
    checks = {check.name: check for check in examine_recording(loaded, robot, estimate=found).checks}
    assert checks["load"].level == LEVELS[found.assessment["verdict"]]
    assert "shows mass" in checks["excitation"].finding


def test_exports_that_do_without_an_inertia_take_it(partial: Estimate, tmp_path: Path) -> None:
    partial.save(tmp_path / "part.json")
    load = read_load(tmp_path / "part.json")
    assert isinstance(load, StaticLoad)
    assert "set_payload(2.0" in export_load(load, "urscript") or "set_payload(1.9" in export_load(load, "urscript")
    with pytest.raises(InputError, match="needs an inertia"):
        export_load(load, "urdf")
    document = partial.to_document()
    document["center_of_mass"][1] = None
    (tmp_path / "less.json").write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match="center_of_mass does not agree with phi"):
        read_load(tmp_path / "less.json")
