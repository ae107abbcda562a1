"""The set points of the twin's motions: they arrive, keep speed and acceleration, and never jump."""

from __future__ import annotations

import numpy as np
from doubles.ur_controller.arm import HOME, TwinArm
from doubles.ur_controller.motion import PERIOD, Brake, Hold, Motion, MoveJ, ServoJ, SetPoint, SpeedJ
from doubles.ur_controller.sensors import LiveSensors
from hypothesis import given, settings
from hypothesis import strategies as st

import iparam
from iparam.recording import Signal
from iparam.sensing.noise import NoiseModel, SensorNoise, noise_preset
from iparam.simulation import Payload

STEP = 0.0005
ANGLES = st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6).map(np.array)
SPEEDS = st.lists(st.floats(-2.0, 2.0), min_size=6, max_size=6).map(np.array)


def follow(motion: Motion, start: SetPoint, seconds: float) -> list[SetPoint]:
    points = [start]
    for _ in range(round(seconds / STEP)):
        points.append(motion.advance(points[-1], STEP))
        if motion.done:
            break
    return points


def assert_continuous(points: list[SetPoint], acceleration: float) -> None:
    """Positions follow from speeds, speeds from bounded accelerations."""
    q, dq = np.array([point.q for point in points]), np.array([point.dq for point in points])
    assert np.abs(np.diff(dq, axis=0)).max() <= acceleration * STEP * (1.0 + 1e-6) + 1e-12
    middle = 0.5 * (dq[1:] + dq[:-1])
    assert np.abs(np.diff(q, axis=0) - STEP * middle).max() <= acceleration * STEP**2


@settings(max_examples=15, deadline=None)
@given(start=ANGLES, goal=ANGLES, speed=st.floats(0.7, 3.0), acceleration=st.floats(1.0, 20.0))
def test_movej_arrives_at_rest_within_speed_and_acceleration(
    start: np.ndarray, goal: np.ndarray, speed: float, acceleration: float
) -> None:
    motion = MoveJ(start, goal, speed, acceleration)
    points = follow(motion, SetPoint.at_rest(start), 60.0)
    assert motion.done
    if len(points) > 1:
        np.testing.assert_allclose(points[-1].q, goal, atol=1e-12)
        assert not points[-1].dq.any()
        assert max(np.abs(point.dq).max() for point in points) <= speed * (1.0 + 1e-9)
        assert_continuous(points, acceleration)
    ways = np.array([point.q for point in points]) - start
    direction = (goal - start) / max(np.linalg.norm(goal - start), 1e-300)
    np.testing.assert_allclose(ways, np.outer(ways @ direction, direction), atol=1e-9)  # a straight line


@settings(max_examples=30, deadline=None)
@given(q=ANGLES, dq=SPEEDS, deceleration=st.floats(1.0, 30.0))
def test_a_brake_takes_the_way_that_its_deceleration_needs(q: np.ndarray, dq: np.ndarray, deceleration: float) -> None:
    motion = Brake(deceleration)
    points = follow(motion, SetPoint(q, dq, np.zeros(6)), 10.0)
    assert motion.done
    assert not points[-1].dq.any()
    way = 0.5 * np.abs(dq).max() / deceleration * dq
    np.testing.assert_allclose(points[-1].q - q, way, atol=1e-5 + 2.0 * STEP**2 * deceleration)
    assert_continuous(points, deceleration)


@settings(max_examples=20, deadline=None)
@given(q=ANGLES, dq=SPEEDS, target=SPEEDS, acceleration=st.floats(4.0, 30.0))
def test_speedj_reaches_its_speed_and_keeps_it(
    q: np.ndarray, dq: np.ndarray, target: np.ndarray, acceleration: float
) -> None:
    points = follow(SpeedJ(target, acceleration), SetPoint(q, dq, np.zeros(6)), 1.2)
    np.testing.assert_allclose(points[-1].dq, target, atol=1e-9)
    assert_continuous(points, acceleration)


def test_servoj_follows_an_even_motion_late_by_its_lookahead_time() -> None:
    motion, point, lookahead = ServoJ(np.zeros(6), 0.08, 400.0), SetPoint.at_rest(np.zeros(6)), 0.08
    speed = np.array([0.5, -0.3, 0.0, 0.2, 0.1, -0.4])
    for step in range(4000):
        motion.target = speed * step * STEP
        point = motion.advance(point, STEP)
    np.testing.assert_allclose(speed * 4000 * STEP - point.q, lookahead * speed, atol=1e-6)
    np.testing.assert_allclose(point.dq, speed, atol=1e-6)


def test_the_sensor_of_an_arm_under_servoj_reads_what_its_motion_says() -> None:
    """New targets come with the samples; what happens between them must not show in the wrench (it was 8 % once)."""
    robot, payload = iparam.load_robot("ur5e"), Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
    arm = TwinArm(robot, payload)
    arm.know_payload(payload.parameters)
    arm.motion = servo = ServoJ(HOME, 0.03, 600.0)
    samples = []
    for k in range(1500):
        share = np.sin(2.0 * np.pi * k * PERIOD) * min(1.0, k * PERIOD)
        servo.target = HOME + 0.3 * share * np.array([1.0, 0.5, -0.7, 0.8, 1.0, -1.0])
        samples.append(arm.advance())
    q, dq, wrench = (np.array([getattr(sample, name) for sample in samples]) for name in ("q", "dq", "wrench"))
    ddq = (q[2:] - 2.0 * q[1:-1] + q[:-2]) / PERIOD**2
    still = np.zeros_like(ddq)
    whole, weight = (
        iparam.wrench_regressor(robot, q[1:-1], *motion) @ payload.parameters.phi
        for motion in ((dq[1:-1], ddq), (still, still))
    )
    late = slice(600, None)
    error = np.linalg.norm((wrench[1:-1] - whole)[late]) / np.linalg.norm((whole - weight)[late])
    assert error < 0.01


def test_holding_stands_still() -> None:
    still = Hold().advance(SetPoint(np.arange(6.0), np.ones(6), np.ones(6)), STEP)
    np.testing.assert_array_equal(still.q, np.arange(6.0))
    assert not still.dq.any()


def test_live_noise_is_the_noise_of_a_recording_sample_by_sample() -> None:
    model, count, period = noise_preset("ur5e"), 1200, 0.002
    truth = np.random.default_rng(0).normal(size=(count, 6))
    live = LiveSensors(model, {"wrench": 6, "q": 6}, 7, period)
    times = period * np.arange(count)
    for name in ("wrench", "q"):
        whole = model.sensors[name].distort(name, Signal(times, truth, "", ""), 7)
        np.testing.assert_allclose([live.read(name, row) for row in truth], whole.values, atol=1e-12)


def test_live_faults_of_sensors() -> None:
    noise = SensorNoise(quantum=0.5, limit=2.0, delay=0.004, dropout=0.3, drift=0.0)
    live = LiveSensors(NoiseModel("test", {"q": noise}), {"q": 1, "dq": 1}, 3, 0.002)
    ramp = np.linspace(-3.0, 3.0, 600)[:, None]
    out = np.array([live.read("q", value) for value in ramp])[:, 0]
    assert set(np.unique(out)) <= set(np.arange(-2.0, 2.1, 0.5))
    assert abs(out[302] - ramp[300, 0]) <= 0.26 + 0.05  # two samples late, half a step rounded, some repeated
    repeated = np.diff(out) == 0.0
    assert repeated.mean() > 0.9
    np.testing.assert_array_equal(live.read("dq", ramp[5]), ramp[5])
    walk = LiveSensors(NoiseModel("test", {"q": SensorNoise(drift=1.0)}), {"q": 1}, 3, 0.01)
    path = np.array([walk.read("q", np.zeros(1))[0] for _ in range(4000)])
    assert abs(np.diff(path).std() - 0.1) < 0.01
