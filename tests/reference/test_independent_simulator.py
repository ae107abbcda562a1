"""The simulator of the benchmarks against Pinocchio, closed forms and the catalogue: it shares no code with them."""

from __future__ import annotations

import ast
import dataclasses
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.fft import dct, idct
from scipy.linalg import toeplitz
from scipy.spatial.transform import Rotation

import iparam

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(BENCHMARKS)
    from independent import cases, free_spectrum, loads, mistakes, motions, noise, references, rig, rigid_body
    from independent.arms import ARMS

NAMES = list(ARMS)
OF_SIMULATOR = (
    "arms",
    "cases",
    "free_spectrum",
    "loads",
    "mistakes",
    "motions",
    "noise",
    "references",
    "rig",
    "rigid_body",
)
GIVEN = np.random.default_rng(3)


def moving(arm, count=20):
    """Joint positions, velocities and accelerations (T, n), anywhere."""
    return tuple(arm.home + scale * GIVEN.normal(size=(count, len(arm.kinds))) for scale in (0.5, 1.0, 3.0))


def load(arm):
    return loads.LOADS["gripper-with-part"](arm.loads[1], arm.loads[0], np.random.default_rng(5))


def in_pinocchio(arm, phi=None):
    """The model of the URDF, with the load at its flange."""
    model = pin.buildModelFromXML(arm.urdf)
    model.gravity.linear = np.array(arm.gravity)
    if phi is not None:
        m, c, (xx, xy, xz, yy, yz, zz) = phi[0], phi[1:4] / phi[0], loads.shown(phi)[4:]
        inertia = pin.Inertia(m, c, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        model.appendBodyToJoint(model.njoints - 1, inertia, pin.SE3(arm.tip))
    return model


@pytest.mark.reference
@pytest.mark.parametrize("name", NAMES)
def test_joint_torques_are_pinocchios(name):
    arm, phi = ARMS[name], load(ARMS[name])
    q, dq, ddq = moving(arm)
    own = rigid_body.joint_torques(arm, q, dq, ddq, np.array(arm.gravity), phi)
    model = in_pinocchio(arm, phi)
    theirs = [pin.rnea(model, model.createData(), *sample) for sample in zip(q, dq, ddq, strict=True)]
    np.testing.assert_allclose(own, theirs, rtol=1e-7, atol=1e-7)


@pytest.mark.reference
@pytest.mark.parametrize("name", NAMES)
def test_wrench_of_load_is_what_it_adds_to_the_last_joint_in_pinocchio(name):
    arm, phi = ARMS[name], load(ARMS[name])
    q, dq, ddq = moving(arm)
    own = rigid_body.load_wrench(rigid_body.flange_motion(arm, q, dq, ddq), np.array(arm.gravity), phi)
    added = []
    for sample in zip(q, dq, ddq, strict=True):
        forces = []
        for model in (in_pinocchio(arm, phi), in_pinocchio(arm)):
            data = model.createData()
            pin.rnea(model, data, *sample)
            forces.append(pin.SE3(arm.tip).actInv(data.f[model.njoints - 1]).vector)
        added.append(forces[0] - forces[1])
    np.testing.assert_allclose(own, added, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", [name for name, arm in ARMS.items() if arm.catalogue])
def test_arms_of_the_catalogue_are_where_iparam_has_them(name):
    q, dq, ddq = moving(ARMS[name])
    motion = rigid_body.flange_motion(ARMS[name], q, dq, ddq)
    poses = iparam.forward_kinematics(iparam.load_robot(name), q)
    np.testing.assert_allclose(motion.axes, poses[:, :3, :3], atol=1e-9)
    np.testing.assert_allclose(motion.place, poses[:, :3, 3], atol=1e-9)


@pytest.mark.parametrize("kind", list(motions.MOTIONS))
@pytest.mark.parametrize("seed", range(4))
def test_velocity_and_acceleration_belong_to_the_positions(kind, seed):
    arm = ARMS[NAMES[seed]]
    path = motions.MOTIONS[kind](arm, 10.0, np.random.default_rng(seed))
    time = np.linspace(0.0, 10.0, 40_001)
    q, dq, ddq = path(time)
    step = time[1]
    for summed, rate in ((q, dq), (dq, ddq)):  # also where an acceleration jumps
        found = np.concatenate([np.zeros((1, q.shape[1])), np.cumsum(0.5 * step * (rate[1:] + rate[:-1]), axis=0)])
        np.testing.assert_allclose(summed[0] + found, summed, atol=0.5 * motions.LIMIT * step * 40)
    assert np.all(np.abs(q - arm.home) <= arm.swing * (1.0 + 1e-3))
    assert np.all(np.abs(dq) <= arm.speed * (1.0 + 1e-3))


def test_moved_sensor_sees_the_load_from_elsewhere():
    arm = ARMS["ur5e"]
    place, turn, center = np.array([0.02, -0.03, 0.01]), np.array([0.2, 0.1, -0.3]), np.array([0.01, 0.02, 0.08])
    size, time = [0.1, 0.2, 0.05], np.arange(0.0, 8.0, 0.02)
    own = rig.Rig(arm, motions.excitation(arm, 8.0, np.random.default_rng(1)), time)
    moved = rig.Deviations(rig.Deviations.none(arm).parts | {"place": place, "turn": turn})
    R, pose = Rotation.from_rotvec(turn), np.eye(4)
    pose[:3, :3], pose[:3, 3] = R.as_matrix(), place
    there = dataclasses.replace(own, arm=dataclasses.replace(arm, tip=arm.tip @ pose))
    here = own.wrench_rows(moved) @ loads.box(1.5, size, center, np.zeros(3))
    from_there = loads.box(1.5, size, R.inv().apply(center - place), R.inv().as_rotvec())
    np.testing.assert_allclose(here, there.wrench_rows(rig.Deviations.none(arm)) @ from_there, atol=1e-9)


def test_soft_gears_turn_by_the_torque_over_their_stiffness():
    arm, phi, time = ARMS["panda7"], load(ARMS["panda7"]), np.arange(0.0, 8.0, 0.02)
    path = motions.excitation(arm, 8.0, np.random.default_rng(1))
    stiff, soft = (rig.Rig(arm, path, time, elastic=elastic).angles(phi) for elastic in (0.0, 2.0))
    torque = rigid_body.joint_torques(arm, *path(time), np.array(arm.gravity), phi)
    np.testing.assert_allclose((soft - stiff) * arm.stiffness, 2.0 * torque, atol=1e-9)


def test_whitening_undoes_the_covariance_of_coloured_noise():
    time, size = 0.01 * np.arange(80), 80
    values = np.zeros((size, 6))
    own = noise.Noise(values, np.full(6, 0.2), np.full(6, 1.0), values[None][:0], np.zeros((0, 6)))
    covariance = toeplitz(own.autocovariance(0.01)) + 0.04 * np.eye(size)
    white = references.whitened(np.eye(size), own, 0, time)
    np.testing.assert_allclose(white @ covariance @ white.T, np.eye(size), atol=1e-9)


def test_coloured_noise_has_the_covariance_that_the_oracle_is_told():
    time = 0.01 * np.arange(200)
    draws = [noise.noise("1/f", np.zeros((200, 6)), time, np.ones(6), np.random.default_rng(i)) for i in range(100)]
    values = np.concatenate([draw.values.T for draw in draws])
    told = draws[0].autocovariance(0.01) + 0.09 * (np.arange(200) == 0)
    found = [np.mean(values[:, : 200 - lag] * values[:, lag:]) for lag in (0, 5, 50)]
    np.testing.assert_allclose(found, told[[0, 5, 50]], atol=0.1)


@pytest.mark.thorough
def test_oracle_covers_the_truth():
    z = []
    for number in range(24):
        own = cases.case(number)
        best = references.oracle(own)
        z.append((best.values - loads.shown(own.phi)) / best.deviations)
    inside = np.mean(np.abs(z) <= 1.96)
    assert 0.88 <= inside <= 0.99


def test_case_and_mistake_come_from_their_number():
    one, again = cases.case(7), cases.case(7)
    np.testing.assert_array_equal(one.recorded[1], again.recorded[1])
    assert not np.allclose(one.phi, cases.case(12).phi)
    assert len({mistake.slug for mistake in mistakes.MISTAKES}) == len(mistakes.MISTAKES) == 30


@pytest.mark.parametrize("number", range(30))
def test_mistake_changes_the_log_alike_with_noise_and_without(number):
    own, mistake = cases.case(number, sound=False), mistakes.MISTAKES[number]
    noisy, exact = mistake.run(own), mistake.run(own, exact=True)
    assert noisy.time.shape == exact.time.shape
    assert np.isfinite(noisy.wrench).all()
    assert np.isfinite(noisy.q).all()
    if mistake.slug not in mistakes.ORIENTATIONS:
        sound = own.recorded
        parts = ((noisy.q, sound[0]), (noisy.wrench, sound[1]))
        assert any(changed.shape != kept.shape or not np.allclose(changed, kept) for changed, kept in parts)


@pytest.mark.parametrize("module", OF_SIMULATOR)
def test_simulator_uses_nothing_of_what_it_measures(module):
    tree = ast.parse((BENCHMARKS / "independent" / f"{module}.py").read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    assert found <= {"numpy", "scipy", "pyarrow", "independent", *sys.stdlib_module_names}


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_a_free_spectrum_costs_next_to_nothing(slope):
    """Noise whose power goes with 1/f^slope: widths and errors as those of somebody who knows it, coverage of 95 %."""
    random, time = np.random.default_rng(8), np.arange(500) / 50.0
    harmonics = np.sin(2.0 * np.pi * 0.1 * np.outer(time, np.arange(1, 21)) + random.uniform(0.0, 6.0, 20))
    design = np.einsum("th,hij->tij", harmonics, random.normal(size=(20, 6, 16)))
    frequency = np.maximum(np.arange(500), 1.0) / 500.0
    known = np.sqrt(frequency**-slope)
    waves = np.concatenate([dct(design[:, i], axis=0, norm="ortho") / known[:, None] for i in range(6)])
    best = np.linalg.inv(waves.T @ waves + np.diag(free_spectrum.WIDE))
    off, expected, covered, width = [], [], [], []
    for _ in range(25):
        noise = known[:, None] * random.normal(size=(500, 6))
        y = np.stack([idct(each, norm="ortho") for each in noise.T], axis=1)
        found, covariance = free_spectrum.fitted(time, design, y, free_spectrum.WIDE)
        sd = np.sqrt(np.diag(covariance))
        off.append(found / np.sqrt(np.diag(best)))
        expected.append(best @ waves.T @ (noise / known[:, None]).T.ravel() / np.sqrt(np.diag(best)))
        covered.append(np.abs(found) < 1.96 * sd)
        width.append(sd / np.sqrt(np.diag(best)))
    assert np.sqrt(np.mean(np.square(off)) / np.mean(np.square(expected))) < 1.06
    assert 0.90 < np.mean(covered) < 0.99
    assert 0.93 < np.mean(width) < 1.07
