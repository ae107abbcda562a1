"""What is stated and true changes nothing: a recording with a known peculiarity, and the value that undoes it, give the
load, the standard deviations and the verdict of the recording without it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.estimation import Estimate, identify_payload
from iparam.recording import Recording, Signal
from iparam.sensing import Correction

DATA = Path(__file__).resolve().parents[1] / "data"
ROBOT = iparam.load_robot("ur5e")
UPRIGHT = (0.0, 0.0, -9.81)
NEUTRAL = Correction(gravity=UPRIGHT, delay=0.0)
"""Both sides of the law state it: a delay that nobody states is looked for."""


def gripper() -> np.ndarray:
    """A gripper of 0.95 kg, its centre of mass on the axis of the flange: twice as far as a sensor 30 mm in front."""
    return iparam.Payload.box(size=(0.10, 0.16, 0.12), mass=0.95, offset=(0.0, 0.0, 0.061)).parameters.phi


def recorded(gravity: tuple[float, ...] = UPRIGHT) -> Recording:
    motion = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory.sample(fps=125.0)
    wrench = iparam.wrench_regressor(ROBOT, motion.q, motion.dq, motion.ddq, gravity) @ gripper()
    clean = Recording("ur5e", {"q": Signal(motion.time, motion.q), "wrench": Signal(motion.time, wrench)})
    return iparam.noise_preset("ur5e").apply(clean, seed=1)


def with_wrench(matrix: np.ndarray) -> Callable[[Recording], Recording]:
    def change(run: Recording) -> Recording:
        signal = run.signal("wrench")
        return run.with_signal("wrench", dataclasses.replace(signal, values=signal.values @ matrix.T))

    return change


def with_angles(turns: np.ndarray) -> Callable[[Recording], Recording]:
    def change(run: Recording) -> Recording:
        signal = run.signal("q")
        return run.with_signal("q", dataclasses.replace(signal, values=signal.values - np.radians(turns)))

    return change


def by_clock(factor: float) -> Callable[[Recording], Recording]:
    def change(run: Recording) -> Recording:
        for name, signal in run.signals.items():
            run = run.with_signal(name, dataclasses.replace(signal, time=signal.time / factor))
        return run

    return change


def late(run: Recording) -> Recording:
    signal = run.signal("wrench")
    return run.with_signal("wrench", dataclasses.replace(signal, time=signal.time + 0.02))


def mounted(place: tuple[float, ...] | None, turn: tuple[float, ...] | None) -> tuple[Callable, Correction]:
    stated = Correction(sensor_offset=place, sensor_rotation=turn)
    return with_wrench(np.linalg.inv(stated.frame_matrix())), stated


def scaled(*factors: float) -> tuple[Callable, Correction]:
    return with_wrench(np.diag(1.0 / np.array(factors))), Correction(wrench_scale=factors)


STATEMENTS: dict[str, tuple[Callable[[Recording], Recording], Correction]] = {
    "sensor 30 mm in front": mounted((0.0, 0.0, 0.03), None),
    "sensor behind and aside": mounted((0.02, -0.01, -0.04), None),
    "sensor turned": mounted(None, (0.0, 0.0, 35.0)),
    "sensor turned and elsewhere": mounted((0.0, 0.0, 0.03), (3.0, -4.0, 90.0)),
    "reaction": (with_wrench(-np.eye(6)), Correction(measures="reaction")),
    "millinewtons": scaled(*[1e-3] * 6),
    "torques in N mm": scaled(*[1.0] * 3, *[1e-3] * 3),
    "axes": (with_wrench(np.kron(np.eye(2), np.eye(3)[[1, 2, 0]])), Correction(wrench_axes=("z", "x", "y"))),
    "delay": (late, Correction(delay=0.02)),
    "clock": (by_clock(1.25), Correction(clock=1.25)),
    "zero of a joint": (
        with_angles(np.array([0, 0, 0, 4.0, 0, 0])),
        Correction(joint_offset=(0.0, 0.0, 0.0, 4.0, 0.0, 0.0)),
    ),
}


@pytest.fixture(scope="module")
def plain() -> Estimate:
    return identify_payload(recorded(), ROBOT, correction=NEUTRAL, tolerances="exact")


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_true_statement_changes_nothing(name: str, plain: Estimate) -> None:
    change, stated = STATEMENTS[name]
    found = identify_payload(change(recorded()), ROBOT, correction=NEUTRAL.merged(stated), tolerances="exact")
    assert np.abs(found.phi - plain.phi).max() <= 1e-6 * np.abs(plain.phi).max()
    np.testing.assert_allclose(found.standard_deviation.phi, plain.standard_deviation.phi, rtol=1e-6)
    assert found.assessment["verdict"] == plain.assessment["verdict"] == "good"
    assert (found.causes, found.remarks) == ((), ())


@pytest.mark.parametrize("name", ["sensor turned and elsewhere", "reaction", "axes", "delay", "zero of a joint"])
def test_nor_does_it_where_the_rig_has_tolerances(name: str) -> None:
    """But for what gains of single channels mean about another origin, in other axes."""
    change, stated = STATEMENTS[name]
    plain = identify_payload(recorded(), ROBOT, correction=NEUTRAL, tolerances="lab")
    found = identify_payload(change(recorded()), ROBOT, correction=NEUTRAL.merged(stated), tolerances="lab")
    assert (np.abs(found.phi - plain.phi) < 0.5 * plain.standard_deviation.phi).all()
    np.testing.assert_allclose(found.standard_deviation.phi, plain.standard_deviation.phi, rtol=0.25)
    assert found.assessment["verdict"] == plain.assessment["verdict"] == "good"
    assert found.causes == ()


@pytest.mark.parametrize("gravity", [(0.9, 0.0, -9.77), (9.81, 0.0, 0.0), (0.0, 0.0, 9.81)])
def test_a_mounting_that_is_stated_is_as_good_as_the_usual_one(gravity: tuple[float, ...], plain: Estimate) -> None:
    """The same poses turn another gravity, so that the intervals are others, but not by much."""
    stated = dataclasses.replace(NEUTRAL, gravity=gravity)
    found = identify_payload(recorded(gravity), ROBOT, correction=stated, tolerances="exact")
    assert found.assessment["verdict"] == plain.assessment["verdict"] == "good"
    assert (found.causes, found.remarks) == ((), ())
    assert (found.standard_deviation.phi < 1.3 * plain.standard_deviation.phi).all()
    assert np.abs((found.phi - gripper()) / found.standard_deviation.phi).max() < 4.0
