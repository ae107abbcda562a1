"""Velocities and set points beside the angles: what is new helps by what theory says, what is not changes nothing."""

from __future__ import annotations

import dataclasses
import re
from functools import cache

import numpy as np
import pytest

import iparam
from iparam.estimation import problem_from_recording
from iparam.motion import JointProcess, KalmanMotion, MotionEstimate
from iparam.motion.choice.further_measurements import with_further_measurements
from iparam.recording import Recording

RATE = 250.0
NOISE = 3e-3  # rad: of a poor encoder, which leaves accelerations noisy
TIME = np.arange(2501) / RATE
FREQUENCIES = 0.25 * np.arange(1, 8)
INSIDE = slice(200, -200)  # where no sample is near an end


def harmonics(seed: int, time: np.ndarray = TIME) -> list[np.ndarray]:
    """(T, 2) and three derivatives of a motion that is zero beyond 1.75 Hz."""
    scale = 0.015 / FREQUENCIES[:, None]
    sine, cosine = scale * np.random.default_rng(seed).standard_normal((2, FREQUENCIES.size, 2))
    phase, omega = 2 * np.pi * np.outer(time, FREQUENCIES), 2 * np.pi * FREQUENCIES
    turned = [(np.sin(phase), np.cos(phase)), (np.cos(phase), -np.sin(phase))]
    turned += [(-a, -b) for a, b in turned]
    return [(s * omega**k) @ sine + (c * omega**k) @ cosine for k, (s, c) in enumerate(turned)]


Q, DQ, DDQ, DDDQ = harmonics(1)
MEASURED = Q + NOISE * np.random.default_rng(5).standard_normal(Q.shape)


def white(level: float) -> np.ndarray:
    return level * np.random.default_rng(6).standard_normal(Q.shape)


def recording(**signals: np.ndarray) -> Recording:
    made = Recording()
    for name, values in {"q": MEASURED, **signals}.items():
        made = made.with_signal(name, time=TIME, values=values)
    return made


@cache
def alone() -> MotionEstimate:
    return KalmanMotion(angles_alone=True).motion(recording(), planar())


def found(**signals: np.ndarray) -> MotionEstimate:
    """The motion of the angles, improved by other signals."""
    made = recording(**signals)
    return with_further_measurements(alone(), made.signal("q"), made, None)


def planar() -> iparam.Robot:
    links = tuple(iparam.Link(name) for name in ("base", "one", "two"))
    joints = tuple(
        iparam.Joint(f"j{i}", "revolute", links[i].name, links[i + 1].name, np.eye(4))  # type: ignore[arg-type]
        for i in range(2)
    )
    return iparam.Robot("xy", joints, links, iparam.JointLimits.unlimited(2), "two")


def error(motion: MotionEstimate) -> float:
    """Of the accelerations, root mean square."""
    return float(np.sqrt(np.mean((motion.ddq - DDQ)[INSIDE] ** 2)))


def stated(motion: MotionEstimate) -> float:
    assert motion.covariance is not None
    return float(np.sqrt(np.mean(motion.covariance[INSIDE, :, 2, 2])))


def unchanged(motion: MotionEstimate) -> bool:
    return np.array_equal(motion.ddq, alone().ddq) and motion.processes == alone().processes


def in_theory(process: JointProcess) -> float:
    """Variance of an acceleration that a smoother leaves far from the ends of its samples, by Wiener's filter."""
    omega = np.linspace(1e-3, np.pi * RATE, 400_000)
    information = 1.0 + (omega / process.omega) ** (2 * process.order)
    if process.velocity_noise:
        information += (omega / process.velocity_noise) ** 2
    return float(np.trapezoid(omega**4 / information, omega) / np.pi * process.noise**2 / RATE)


@pytest.mark.parametrize("level", [5e-3, 1e-2, 3e-2])
def test_velocities_with_errors_of_their_own_help_as_much_as_theory_says(level: float) -> None:
    with_velocities = found(dq=DQ + white(level))
    for process, before in zip(with_velocities.processes, alone().processes, strict=True):
        assert process.velocity_noise * before.noise == pytest.approx(level, rel=0.15)
    factor = stated(with_velocities) / stated(alone())
    processes = with_velocities.processes, alone().processes
    expected = [np.mean([in_theory(process) for process in some]) for some in processes]
    assert factor**2 == pytest.approx(expected[0] / expected[1], rel=0.02)
    assert error(with_velocities) < 1.2 * stated(with_velocities)
    assert error(with_velocities) < error(alone())


def test_a_short_delay_of_velocities_is_corrected() -> None:
    late = found(dq=DQ - 3e-3 * DDQ + white(5e-3))
    assert all(process.velocity_noise for process in late.processes)
    assert error(late) < 0.5 * error(alone())
    assert error(late) < 1.5 * stated(late)


def central(q: np.ndarray) -> np.ndarray:
    return np.gradient(q, TIME, axis=0)


def low_passed(q: np.ndarray, share: float) -> np.ndarray:
    """Through a first-order filter, as a controller does."""
    from scipy.signal import lfilter

    return np.asarray(lfilter([share], [1.0, share - 1.0], central(q), axis=0))


def zero_phase(q: np.ndarray, cutoff: float) -> np.ndarray:
    from scipy.signal import butter, sosfiltfilt

    return central(sosfiltfilt(butter(4, cutoff, fs=RATE, output="sos"), q, axis=0))


@pytest.mark.parametrize(
    "velocity",
    [
        central(MEASURED),
        low_passed(MEASURED, 0.5),
        low_passed(MEASURED, 0.2),
        zero_phase(MEASURED, 10.0),
        np.round(zero_phase(MEASURED, 3.0), 4),
    ],
    ids=["differences", "fast filter", "slow filter", "zero phase", "zero phase and rounded"],
)
def test_velocities_that_are_filtered_angles_change_nothing(velocity: np.ndarray) -> None:
    motion = found(dq=velocity)
    assert unchanged(motion)
    assert motion.remarks == ()


@pytest.mark.parametrize(
    ("velocity", "said"),
    [
        (np.degrees(DQ), r"56\d\d % in joint 1 \(57\.\d times as large\)"),
        (-DQ, r"200 % in joint 1 \(-1 times as large\)"),
        (harmonics(2)[1], r"% in joint 2 "),
        (harmonics(1, TIME - 0.2)[1], r"% in joint 1 .* ms late\)"),
    ],
    ids=["degrees", "sign", "another motion", "another clock"],
)
def test_velocities_that_contradict_the_angles_are_left_out_and_said(velocity: np.ndarray, said: str) -> None:
    motion = found(dq=velocity + white(5e-3))
    assert unchanged(motion)
    (remark,) = motion.remarks
    assert remark.code == "velocities-contradict-angles"
    assert re.search(said, str(remark.values["joints"])), remark.values


@pytest.mark.parametrize("factor", [1.05, 0.95])
def test_velocities_of_a_wrong_scale_are_left_out(factor: float) -> None:
    assert unchanged(found(dq=factor * DQ + white(1e-3)))


COMMANDED = Q + 0.01 * DQ + 0.002  # that the arm follows with a lag of 10 ms and an offset


@pytest.mark.parametrize(
    "target",
    [COMMANDED, COMMANDED[np.arange(TIME.size) // 4 * 4], np.round(COMMANDED, 5)],
    ids=["exact", "held over four rows", "rounded"],
)
def test_set_points_that_the_arm_follows_take_most_of_the_noise_away(target: np.ndarray) -> None:
    motion = found(target_q=target)
    assert all(process.tracking for process in motion.processes)
    assert error(motion) < 0.4 * error(alone())
    assert error(motion) < 1.5 * stated(motion)


@pytest.mark.parametrize(
    "target",
    [
        harmonics(2)[0],
        Q - 0.3 * DQ,
        COMMANDED[np.arange(TIME.size) // 250 * 250],
        np.round(COMMANDED, 2),
        np.zeros_like(Q),
    ],
    ids=["of another motion", "far behind", "once a second", "rounded to 10 mrad", "none"],
)
def test_set_points_that_tell_nothing_change_nothing_for_the_worse(target: np.ndarray) -> None:
    motion = found(target_q=target)
    assert motion.remarks == ()
    assert error(motion) <= 1.05 * error(alone())
    assert error(motion) < 1.5 * stated(motion)


def test_angles_that_are_good_enough_are_left_alone() -> None:
    fast = [20.0 * values for values in (Q, DQ, DDQ)]
    for noise in (1e-4, 0.0):
        made = Recording().with_signal("q", time=TIME, values=fast[0] + white(noise))
        motion = KalmanMotion(angles_alone=True).motion(made, planar())
        made = made.with_signal("dq", time=TIME, values=fast[1]).with_signal("target_q", time=TIME, values=fast[0])
        assert with_further_measurements(motion, made.signal("q"), made, None) is motion


def test_what_predicts_worse_is_not_used() -> None:
    """A judge that knows the truth, and set points with a jerk that the arm never makes."""
    shaken = COMMANDED + 2e-4 * np.sin(2 * np.pi * 20.0 * TIME)[:, None]
    made = recording(target_q=shaken)
    motion = with_further_measurements(alone(), made.signal("q"), made, _Truth())
    assert not any(process.tracking for process in motion.processes)


class _Truth:
    """The acceleration of each joint, as a sensor of it would tell."""

    time = TIME

    def channels(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray, rows: np.ndarray) -> list[object]:
        from iparam.motion.choice.effort_prediction import Channel

        return [Channel(np.array([j]), ddq[:, j : j + 1], DDQ[rows, j]) for j in range(2)]


def test_models_carry_what_they_were_made_for() -> None:
    made = recording(target_q=COMMANDED)
    motion = with_further_measurements(alone(), made.signal("q"), made, None)
    again = KalmanMotion(processes=motion.processes).motion(made, planar())
    assert error(again) < 0.4 * error(alone())
    without = KalmanMotion(processes=motion.processes).motion(recording(), planar())
    np.testing.assert_array_equal(without.ddq, alone().ddq)


def test_instruments_are_the_set_points_of_a_motion_that_does_not_know_them() -> None:
    robot = iparam.load_robot("ur5e")
    made = Recording("ur5e")
    still = np.tile([0.0, -1.2, 1.4, -1.6, -1.4, 0.0], (TIME.size, 1))
    q = still + np.tile(MEASURED, 3)
    for name, values in {"q": q, "target_q": still + np.tile(COMMANDED, 3), "wrench": np.tile(white(0.5), 3)}.items():
        made = made.with_signal(name, time=TIME, values=values)
    problem = problem_from_recording(made, robot, instruments=True, delay=0.0)
    measured = dataclasses.replace(made, signals={name: made.signal(name) for name in ("q", "wrench")})
    np.testing.assert_array_equal(problem.A, problem_from_recording(measured, robot, delay=0.0).A)
